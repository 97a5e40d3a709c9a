import { PluginError } from "../../../errors.ts";
import { say } from "../../../messages/message.ts";
import type { SnapshotReader } from "../../runtime.ts";
import { composeNotes, writeCompose } from "./compose.ts";
import { ownSettings, type RestorableSnapshot } from "./member.ts";
import type { Note } from "./notes.ts";
import { scriptNotes, writeScript } from "./script.ts";

/** What every engine allows as a container's name; anything else did not come from one. */
const containerName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}$/;

/**
 * What restores a snapshot without us: a shell script for the engine's command line, or a compose file. Secrets stay out, as variables
 * that it demands, unless they are asked for. Throws `malformed` for a snapshot that no engine can have given.
 */
export function writeExport(snapshot: RestorableSnapshot, options: Parameters<SnapshotReader["write"]>[1]): string {
  const strange = snapshot.members.find(({ name }) => !containerName.test(name));
  if (strange !== undefined) throw new PluginError("malformed", say("restoring.odd_name"));
  const { format, with_secrets } = options;
  return format === "script" ? writeScript(snapshot, with_secrets) : writeCompose(snapshot, with_secrets);
}

/** What the head of such a file says that it does not restore. */
export function exportNotes(
  snapshot: RestorableSnapshot,
  { format, with_secrets }: Parameters<SnapshotReader["write"]>[1],
): readonly Note[] {
  const all = ownSettings(snapshot);
  return all.flatMap((each) => (format === "script" ? scriptNotes(each, all, with_secrets) : composeNotes(each, all)));
}
