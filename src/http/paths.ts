/** The path of the base URL, without a final slash: `""`, or `"/sub/path"`. */
export function basePath(baseUrl: string): string {
  return baseUrl === "" ? "" : new URL(baseUrl).pathname.replace(/\/+$/, "");
}

/**
 * What is routed: the path below the base path. Proxies either pass the prefix on or take it away, and both must work, so
 * a path without the prefix is taken as it is.
 */
export function belowBasePath(path: string, prefix: string): string {
  if (prefix === "") return path;
  if (path === prefix) return "/";
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
}

/** Paths that answer JSON, also when something fails; `path` is below the base path. */
export function isApiPath(path: string): boolean {
  return path === "/api" || path.startsWith("/api/") || path === "/openapi.json" || path.startsWith("/health/");
}

/** A path as it may be written down: the token of a one-time link is left out of it. */
export function shownPath(path: string): string {
  return path.replace(/^(\/approvals\/[^/]*)\/.*$/s, "$1/…");
}
