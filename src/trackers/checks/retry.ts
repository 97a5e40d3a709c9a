/** The pause after the first failure; it doubles with each further one. */
const firstPauseMs = 60_000;
/** The longest pause between two attempts, unless upstream asks for a longer one. */
export const longestPauseMs = 15 * 60_000;

/** Whether a failure may be over in minutes: the network, a timeout, a 5xx. A refused rate that says when it ends waits for that end. */
export function isPassing({ code, retry_after_ms }: { code: string; retry_after_ms: number | null }): boolean {
  return code === "unreachable" || (code === "rate_limited" && retry_after_ms === null);
}

/** The pause after this many failures in a row: 1, 2, 4, 8 and then 15 minutes. */
export function pauseAfter(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(Math.max(failures - 1, 0), 20));
}

/** The pause of a source that fails alone: as long as it has failed, which doubles the time at each attempt. */
export function pauseAlone(failingForMs: number): number {
  return Math.min(longestPauseMs, Math.max(firstPauseMs, failingForMs));
}
