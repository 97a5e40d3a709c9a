import type { Area, Message } from "./types.ts";

type Named = { name: string };

function restarts(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

/** The state of a started container, and what others waited for. */
export const readiness = {
  removed: "Container was removed",
  renamed: ({ name }: Named) => `Container was renamed to "${name}"`,
  no_container: ({ name }: Named) => `There is no container "${name}"`,
  never_started: "Container was never started",
  out_of_memory: "Container was killed because it used too much memory",
  restarted: ({ count, exit_code }: { count: number; exit_code: number | null }) =>
    `The engine restarted it ${restarts(count)}${exit_code === null ? "" : `; the last exit code was ${exit_code}`}`,
  exited: ({ exit_code, reason }: { exit_code: number; reason: string | null }) =>
    `Container exited (code ${exit_code})${reason === null ? "" : `: ${reason}`}`,
  paused: "Container is paused",
  check_passes: "Health check passed",
  check_fails: ({ output }: { output: string | null }) => `Health check failed${output === null ? "" : `: ${output}`}`,
  check_not_run: "Health check has not run yet",
  check_not_passed: "Health check has not passed yet",
  running: ({ seconds }: { seconds: number }) => `Running for ${seconds} s without a restart`,
  running_of: ({ seconds, needed }: { seconds: number; needed: number }) => `Running for ${seconds} of ${needed} s`,
  nothing_runs: ({ name }: Named) => `No container of "${name}" is running`,

  needs_healthy: ({ name, needed, cause }: Named & { needed: string; cause: Message }, tell) =>
    `"${name}" requires "${needed}" to be healthy, and it is not: ${tell(cause)}`,
  changed_while_waiting: ({ name }: Named) =>
    `"${name}" changed while the run waited for its dependencies; review the plan again`,
  job_failed: ({ name, exit_code }: Named & { exit_code: number }) =>
    `"${name}" exited (code ${exit_code}); the containers that wait for its completion were not started`,
  job_endless: ({ name }: Named) => `"${name}" did not complete within an hour`,
  not_ready_beside: ({ name, cause }: Named & { cause: Message }, tell) =>
    `The new "${name}" did not become ready beside the old one: ${tell(cause)}`,
  not_stable_beside: ({ name, cause }: Named & { cause: Message }, tell) =>
    `The new "${name}" did not stay ready beside the old one: ${tell(cause)}`,
} satisfies Area;
