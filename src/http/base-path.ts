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
