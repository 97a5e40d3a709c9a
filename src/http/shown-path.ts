/** A path as it may be written down: the token of a one-time link is left out of it. */
export function shownPath(path: string): string {
  return path.replace(/^(\/approvals\/[^/]*)\/.*$/s, "$1/…");
}
