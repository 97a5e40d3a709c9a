import { PluginError } from "../../../errors.ts";
import { say } from "../../../messages/message.ts";
import type { SnapshotReader } from "../../runtime.ts";
import { composeNotes, writeCompose } from "./compose.ts";
import { ownSettings, type RestorableSnapshot } from "./member.ts";
import type { Note } from "./notes.ts";
import { scriptNotes, writeScript } from "./script.ts";

/** The container names that every engine allows; any other name did not come from an engine. */
const containerName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}$/;

/**
 * A file that restores a snapshot without Tidemark: a shell script for the engine's command line, or a compose file. Secrets are
 * replaced by required variables unless requested. Throws `malformed` for a snapshot that cannot have come from an engine.
 */
export function writeExport(snapshot: RestorableSnapshot, options: Parameters<SnapshotReader["write"]>[1]): string {
  const strange = snapshot.members.find(({ name }) => !containerName.test(name));
  if (strange !== undefined) throw new PluginError("malformed", say("restoring.odd_name"));
  const { format, with_secrets } = options;
  return format === "script" ? writeScript(snapshot, with_secrets) : writeCompose(snapshot, with_secrets);
}

/** The notes at the top of such a file: what it does not restore. */
export function exportNotes(
  snapshot: RestorableSnapshot,
  { format, with_secrets }: Parameters<SnapshotReader["write"]>[1],
): readonly Note[] {
  const all = ownSettings(snapshot);
  return all.flatMap((each) => (format === "script" ? scriptNotes(each, all, with_secrets) : composeNotes(each, all)));
}
