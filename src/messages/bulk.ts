import type { Area } from "./types.ts";

type Move = { from: string; to: string };

/** Why one of several executors is not acted on, and why its update is not safe to make unseen: said beside its name. */
export const bulk = {
  too_many: ({ limit }: { limit: number }) => `At most ${limit} can be changed at once; narrow the filters`,
  awaits_approval: "A run is waiting for approval; approve or refuse it instead",
  not_awaiting: "No run is waiting for approval",
  late: "The plan was not ready in time; open the executor's page to run it",
  plan_changed: "The plan has changed since you saw it; review it again",
  major: ({ from, to }: Move) => `"${from}" to "${to}" is a new major version`,
  early: ({ from, to }: Move) =>
    `"${from}" to "${to}" may contain breaking changes: before version 1.0, each minor version may`,
  unmeasured: ({ from, to }: Move) => `It cannot be determined whether "${from}" to "${to}" is a major update`,
  not_onward: "It is a downgrade, leaves the variant or line, or cannot be compared",
  breaking: ({ tracker, versions }: { tracker: string; versions: readonly string[] }) =>
    `The release notes of "${tracker}" announce breaking changes: ${versions.join(", ")}`,
  notes_unread: ({ tracker }: { tracker: string }) => `The release notes of "${tracker}" could not be read yet`,
  last_failed: "The last run failed",
  rolled_back: "The last run rolled it back",
  no_rollback: "The update cannot be rolled back",
} satisfies Area;
