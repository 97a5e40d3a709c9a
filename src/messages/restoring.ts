import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

type Named = { name: string };
type Caused = { cause: Message };

/** Unreadable snapshots, and why a container cannot be restored from one. */
export const restoring = {
  not_json: "The snapshot is not JSON",
  unreadable: ({ reason }: { reason: string }) => `The snapshot cannot be read: ${reason}`,
  other_format: "This snapshot was made by another version of Tidemark",
  odd_name: "The snapshot has an invalid container name",
  image_not_saved: ({ name }: Named) => `The image of the container "${name}" is no longer on the engine`,

  inexact: ({ cause }: Caused, tell) => `The snapshot cannot be restored exactly: ${tell(cause)}`,
  present_not_saved: ({ cause }: Caused, tell) =>
    `The current container cannot be saved, so it could not be restored: ${tell(cause)}`,
  image_gone: ({ reference }: { reference: string }) =>
    `The image "${reference}" of the snapshot is no longer on the engine and was never pulled by a digest`,
  other_target: ({ name, target }: Named & { target: string }) => `The snapshot is of "${name}", not of "${target}"`,
  other_container: ({ name }: Named) =>
    `"${name}" is now a different container, neither the one in the snapshot nor one created by a run. It would be replaced`,
  name_taken: ({ name, target }: Named & { target: string }) =>
    `"${name}" is now a container outside "${target}"; rename or remove it first`,
  volume_gone: ({ name, users, command }: Named & { users: readonly string[]; command: string }) =>
    `The volume "${name}" of ${quotedList(users)} no longer exists; restore it with its data first, or create an empty one with \`${command}\``,
  network_gone: ({ name, users }: Named & { users: readonly string[] }) =>
    `The network "${name}" of ${quotedList(users)} no longer exists; create it again first`,
  owner_gone: ({ name, owner, setting }: Named & { owner: string; setting: string }) =>
    `In the snapshot "${name}" depends on the container "${owner}" (${setting}), which no longer exists`,
} satisfies Area;
