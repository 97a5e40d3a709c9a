/** The path of the base URL, without a final slash: `""`, or `"/sub/path"`. */
export function basePath(baseUrl: string): string {
  return baseUrl === "" ? "" : new URL(baseUrl).pathname.replace(/\/+$/, "");
}

/**
 * The path below the base path, for routing. Proxies may pass the prefix on or remove it; both work, so a path without the prefix is used
 * as it is.
 */
export function belowBasePath(path: string, prefix: string): string {
  if (prefix === "") return path;
  if (path === prefix) return "/";
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
}

/** Paths with JSON responses, including errors; `path` is below the base path. */
export function isApiPath(path: string): boolean {
  return path === "/api" || path.startsWith("/api/") || path === "/openapi.json" || path.startsWith("/health/");
}

/** A path for the log: without the token of a one-time link. */
export function shownPath(path: string): string {
  return path.replace(/^(\/approvals\/[^/]*)\/.*$/s, "$1/…");
}
