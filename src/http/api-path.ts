/** Paths that answer JSON, also when something fails; `path` is below the base path. */
export function isApiPath(path: string): boolean {
  return path === "/api" || path.startsWith("/api/") || path === "/openapi.json" || path.startsWith("/health/");
}
