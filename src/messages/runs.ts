import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

type Kind = "update" | "rollback";
type Serving = "desired" | "previous" | "mixed" | "none" | "unknown";
type Cause = { cause: Message };
type Executor = { executor: string };
type Target = { target: string };
/** For programs and links: no sentence shows an ID. */
type Run = { run: string };

/** A rollback leads to no new version. */
const words = {
  update: { failed: "The update failed", version: "The new version" },
  rollback: { failed: "The rollback failed", version: "The snapshot version" },
};

const serving: Readonly<Record<Kind, Readonly<Record<Serving, string>>>> = {
  update: {
    desired: "The new version is kept running",
    previous: "The previous version is running",
    mixed: "Some services run the new version, others the previous one",
    none: "Target down: neither version is running",
    unknown: "The running version is unknown",
  },
  rollback: {
    desired: "The snapshot version is kept running",
    previous: "The version before the rollback is running",
    mixed: "Some services run the snapshot version, others the version before the rollback",
    none: "Target down: neither version is running",
    unknown: "The running version is unknown",
  },
};

/** For a target that is not supposed to run. */
const resting: Readonly<Record<Kind, Partial<Record<Serving, string>>>> = {
  update: {
    desired: "The new version is kept, stopped",
    previous: "The previous version is in place, stopped as it was",
  },
  rollback: {
    desired: "The snapshot version is kept, stopped",
    previous: "The version before the rollback is in place, stopped as it was",
  },
};

/** Runs: why they ended as they did, what they wait for, and what cannot be done to one. */
export const runs = {
  unhealthy: ({ kind, cause }: { kind: Kind } & Cause, tell) =>
    `${words[kind].version} did not pass its health check: ${tell(cause)}`,
  failed: ({ kind, container, cause }: { kind: Kind; container: string | null } & Cause, tell) => {
    const why = tell(cause);
    const where = container === null || why.includes(`"${container}"`) ? "" : ` at "${container}"`;
    return `${words[kind].failed}${where}: ${why}`;
  },
  interrupted: ({ recovery }: { recovery: Message }, tell) => `The run was interrupted. ${tell(recovery)}`,
  process_ended: "Tidemark stopped each time this run was started",
  unfinished: ({ cause }: Cause, tell) => `The run could not be completed within a day: ${tell(cause)}`,
  with_serving: (
    {
      reason,
      kind,
      serving: state,
      is_resting,
    }: { reason: Message; kind: Kind; serving: Serving; is_resting: boolean },
    tell,
  ) => `${tell(reason)}. ${(is_resting ? resting[kind][state] : undefined) ?? serving[kind][state]}`,
  not_undone: ({ reason, kind, cause }: { reason: Message; kind: Kind } & Cause, tell) =>
    `${tell(reason)}. ${kind === "update" ? "The update" : "The rollback"} could not be undone: ${tell(cause)}`,
  partly_down: ({ reason, services }: { reason: Message; services: readonly string[] }, tell) =>
    `${tell(reason)}. Target down: ${quotedList(services)} ${services.length === 1 ? "is" : "are"} not running in either version; the other services are running`,

  left_stopped: "The target was stopped and stays stopped; it was updated without a health check",
  started_for_snapshot: "The target was down and was started, because it was running when its snapshot was saved",
  started_after_outage: "The target was down and was started, because an earlier run had left it down",

  target_changed: "The target or its desired version has changed since the plan was reviewed; review the plan again",
  snapshot_removed: "The snapshot was removed in the meantime",
  without_snapshots: "This kind of target has no snapshots",
  snapshot_failed: ({ cause }: Cause, tell) => `The configuration could not be saved: ${tell(cause)}`,
  not_restorable: ({ target, cause }: Target & Cause, tell) => `"${target}" cannot be restored: ${tell(cause)}`,
  restore_unreviewed: ({ target, cause }: Target & Cause, tell) =>
    `"${target}" is restored only with the hash of the reviewed plan: ${tell(cause)}`,
  matches_snapshot: ({ target }: Target) => `"${target}" already matches the snapshot`,
  same_image: ({ target }: Target) => `"${target}" already runs the pulled image`,
  window_closed: ({ executor }: Executor) =>
    `The maintenance window of "${executor}" is closed, and the run does not ignore it`,
  window_closed_meanwhile: ({ executor }: Executor) =>
    `The maintenance window closed while the image of "${executor}" was being pulled`,
  connection_disabled: "The connection is disabled",
  executor_disabled: "The executor is disabled",

  waits_for_run: ({ executor, connection }: Run & Executor & { connection: string }) =>
    `Waiting for the run of "${executor}" on "${connection}"`,
  waits_for_container: ({ executor, container }: Run & Executor & { container: string }) =>
    `Waiting for the run of "${executor}", which is changing "${container}"`,
  waits_for_window: ({ executor }: Executor) => `Waiting for the maintenance window of "${executor}"`,
  retrying_after: ({ cause }: Cause, tell) => `Retrying after: ${tell(cause)}`,

  approval_timed_out: ({ executor }: Executor) => `The plan of "${executor}" was not approved in time`,
  refused: "The run was refused",
  refused_by_link: "The run was refused through its link",
  replaced_by_manual: "A manual run replaced it",
  manual_only: ({ executor }: Executor) => `"${executor}" is now updated only manually`,
  nothing_left: ({ cause }: Cause, tell) => `The plan has nothing left to do: ${tell(cause)}`,
  other_version: "Another version is desired now",
  target_changed_since_plan: "The target has changed since the plan was made; review the plan again",
  already_approved: "The run is already approved",
  not_awaiting: "The run is not waiting for approval",
  run_since: "Another run was started after you opened this; nothing was started again",
  plan_hash_wanted: "Enter the hash of a plan: 64 hexadecimal digits",
  plan_changed: "The plan has changed; review it and decide again",
  approval_expired: "The approval period of this run has expired",
  decided_meanwhile: "Another decision on this run was made in the meantime",

  in_progress: (_: Run) => "A run is already in progress",
  no_such_snapshot: ({ executor, snapshot }: Executor & { snapshot: string }) =>
    `The executor "${executor}" has no snapshot "${snapshot}"`,

  replaced_by_run: (_: Run) => "A later run replaced it",
  tried_for_a_day: ({ cause }: Cause, tell) => `Given up after a day of retries: ${tell(cause)}`,
  up_by_itself: "It was already running again",
} satisfies Area;
