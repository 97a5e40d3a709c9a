const masked = "••••••";
const maxDepth = 32;
/** Masked as a whole: the files that compose wrote into a container, and Podman's command line, which may include `--env`. */
const wholeSecrets: ReadonlySet<string> = new Set(["files", "CreateCommand"]);

function envValues(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    const at = typeof item === "string" ? item.indexOf("=") : -1;
    return typeof item === "string" && at !== -1 ? [item.slice(at + 1)] : [];
  });
}

/** Every environment value in a configuration, at any depth: none may appear in a log. */
export function environmentValues(value: unknown, depth = 0): string[] {
  if (typeof value !== "object" || value === null || depth > maxDepth) return [];
  if (Array.isArray(value)) return value.flatMap((item) => environmentValues(item, depth + 1));
  return Object.entries(value).flatMap(([key, item]) =>
    key.toLowerCase() === "env" ? envValues(item) : environmentValues(item, depth + 1),
  );
}

/** The configuration for display: names of environment variables stay; their values and all of `wholeSecrets` are masked. */
export function maskEnvironment(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth) return null;
  if (Array.isArray(value)) return value.map((item) => maskEnvironment(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key.toLowerCase() === "env" && Array.isArray(item)
        ? item.map((line) =>
            typeof line === "string" && line.includes("=") ? `${line.split("=")[0]}=${masked}` : line,
          )
        : wholeSecrets.has(key) && item !== null
          ? masked
          : maskEnvironment(item, depth + 1),
    ]),
  );
}
