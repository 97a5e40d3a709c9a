import type { Area } from "./types.ts";

type Executor = { executor: string };
type Move = { from: string; to: string };

/** Why one of several executors is not acted on, and why its update is not safe to make unseen. */
export const bulk = {
  too_many: ({ limit }: { limit: number }) => `At most ${limit} can be changed at once; narrow the filters`,
  awaits_approval: ({ executor }: Executor) =>
    `"${executor}" is waiting for approval; approve or refuse its run instead`,
  not_awaiting: ({ executor }: Executor) => `"${executor}" is not waiting for approval`,
  late: ({ executor }: Executor) => `The plan of "${executor}" was not ready in time; open its page to run it`,
  plan_changed: ({ executor }: Executor) => `The plan of "${executor}" has changed since you saw it; review it again`,
  major: ({ from, to }: Move) => `"${from}" to "${to}" is a new major version`,
  unmeasured: ({ from, to }: Move) => `Whether "${from}" to "${to}" is a major update cannot be determined`,
  not_onward: "It is a downgrade, leaves the variant or line, or cannot be compared",
  breaking: ({ tracker, versions }: { tracker: string; versions: readonly string[] }) =>
    `The release notes of "${tracker}" announce breaking changes: ${versions.join(", ")}`,
  notes_unread: ({ tracker }: { tracker: string }) => `The release notes of "${tracker}" could not be read yet`,
  last_failed: ({ executor }: Executor) => `The last run of "${executor}" failed`,
  no_rollback: ({ target }: { target: string }) => `"${target}" cannot be rolled back`,
} satisfies Area;
