/** What every repository of the bench has; the newest first. */
export const benchTags: readonly string[] = ["1.5.0", "1.4.1", "1.4.0", "1.3.0", "1.2.0", "latest"];
export const newestTag = "1.5.0";
export const repositoryOf = (index: number): string => `bench/app-${index}`;

/** As the scheduler does it: four checks at once. */
export const checksAtOnce = 4;
