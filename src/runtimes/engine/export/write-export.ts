import { PluginError } from "../../../errors.ts";
import type { SnapshotReader } from "../../runtime.ts";
import { writeCompose } from "./compose.ts";
import type { RestorableSnapshot } from "./member.ts";
import { writeScript } from "./script.ts";

/** What every engine allows as a container's name; anything else did not come from one. */
const containerName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}$/;

/**
 * What restores a snapshot without us: a shell script for the engine's command line, or a compose file. Secrets stay out, as variables
 * that it demands, unless they are asked for. Throws `malformed` for a snapshot that no engine can have given.
 */
export function writeExport(snapshot: RestorableSnapshot, options: Parameters<SnapshotReader["write"]>[1]): string {
  const strange = snapshot.members.find(({ name }) => !containerName.test(name));
  if (strange !== undefined) throw new PluginError("malformed", "The snapshot names a container as no engine would");
  const { format, with_secrets } = options;
  return format === "script" ? writeScript(snapshot, with_secrets) : writeCompose(snapshot, with_secrets);
}
