import type { Area } from "./types.ts";

type Snapshot = { reference: string };

export const snapshots = {
  locked: ({ reference }: Snapshot) => `The snapshot of "${reference}" is locked; unlock it first`,
  in_use: ({ reference }: Snapshot) =>
    `A run may still roll back to the snapshot of "${reference}"; wait until it has ended`,
} satisfies Area;
