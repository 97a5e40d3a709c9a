import { type Message, say } from "../messages/message.ts";
import { type Opened, opened } from "../secrets/opened.ts";
import type { Sealer } from "../secrets/sealed.ts";
import type { SnapshotRow } from "./snapshot-queries.ts";

type Stored = Pick<SnapshotRow, "reference" | "sealed_content">;

/** Why a snapshot cannot be used, and what to do. */
export function snapshotProblem({ reference }: Stored): (cause: Message) => Message {
  return (cause) => say("snapshots.unreadable", { reference, cause });
}

/** As the runtime captured it. */
export function snapshotContent(sealer: Sealer, row: Stored): Opened<string> {
  return opened(() => sealer.open(row.sealed_content), snapshotProblem(row));
}
