import { plural } from "../../format.ts";

/** How far a version is behind another. */
export const behind = {
  major: (count: number) => plural("en", count, { one: "major", other: "majors" }),
  minor: (count: number) => plural("en", count, { one: "minor", other: "minors" }),
  patch: (count: number) => plural("en", count, { one: "patch", other: "patches" }),
  releases: (count: number) => plural("en", count, { one: "release", other: "releases" }),
  both: (first: string, second: string) => `${first}, ${second}`,
  at_least: (words: string) => `at least ${words}`,
  title: (words: string) => `Behind by ${words}`,
  with_days: (title: string, days: number) =>
    `${title}; published ${plural("en", days, { one: "day", other: "days" })} apart`,
};
