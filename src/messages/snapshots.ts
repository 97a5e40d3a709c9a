import type { Area, Message } from "./types.ts";

type Snapshot = { reference: string };

export const snapshots = {
  locked: ({ reference }: Snapshot) => `The snapshot of "${reference}" is locked; unlock it first`,
  unreadable: ({ reference, cause }: Snapshot & { cause: Message }, tell) =>
    `The snapshot of "${reference}" cannot be used: ${tell(cause)}. Delete it, or choose another one`,
  in_use: ({ reference }: Snapshot) =>
    `A run may still roll back to the snapshot of "${reference}"; wait until it has ended`,
} satisfies Area;
