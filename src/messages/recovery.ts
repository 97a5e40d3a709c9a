import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

type Named = { name: string };
type Caused = { cause: Message };

const moves = {
  stop: "stop",
  start: "start",
  remove: "remove",
  rename: "rename",
  policy: "set the restart policy of",
};

function newOnes(names: readonly string[]): string {
  return names.length === 1
    ? `The new container ${quotedList(names)} is`
    : `The new containers ${quotedList(names)} are`;
}

/** The state of a run's containers on the way forward or back, and of those it left. */
export const recovery = {
  nothing_touched: ({ name }: Named) => `"${name}" was not changed`,
  in_place: ({ names }: { names: readonly string[] }) => `${newOnes(names)} in place`,
  in_place_kept: ({ names }: { names: readonly string[] }) =>
    `${newOnes(names)} in place; ${names.length === 1 ? "the previous one is kept as a backup" : "the previous ones are kept as backups"}`,
  in_place_gone: ({ names }: { names: readonly string[] }) =>
    `${newOnes(names)} in place; ${names.length === 1 ? "the previous one no longer exists" : "the previous ones no longer exist"}`,
  as_before: ({ name }: Named) => `The container "${name}" is as it was before the run`,
  absent_as_before: ({ name }: Named) => `There is no container "${name}", as before the run`,
  not_removed: ({ name, cause }: Named & Caused, tell) =>
    `The run created "${name}" and could not remove it: ${tell(cause)}`,
  previous_gone: ({ name }: Named) => `The previous container no longer exists; the new one is in place as "${name}"`,
  previous_unfinished: ({ name, is_running, cause }: Named & Caused & { is_running: boolean }, tell) =>
    `The previous container "${name}" is ${is_running ? "running" : "in place"}; the remaining steps failed: ${tell(cause)}`,
  unfinished: ({ said, cause }: Caused & { said: Message }, tell) =>
    `${tell(said)}; the remaining steps failed: ${tell(cause)}`,
  previous_refused: ({ cause }: Caused, tell) =>
    `The previous container could not be restored (${tell(cause)}); the new one is in its place`,
  new_does_not_start: ({ name, cause }: Named & Caused, tell) =>
    `The new container "${name}" does not start: ${tell(cause)}`,
  neither_starts: ({ cause }: Caused, tell) =>
    `The previous container no longer exists and the new one does not start: ${tell(cause)}`,
  down: ({ name, cause }: Named & Caused, tell) => `"${name}" is down: ${tell(cause)}`,
  kept_not_running: ({ kept, name }: Named & { kept: string }) =>
    `"${kept}" is kept: "${name}", which replaced it, is not running`,
  kept_needed: ({ kept, user }: { kept: string; user: string }) =>
    `"${kept}" is kept: "${user}" cannot be started without it`,
  kept_alone: ({ kept }: { kept: string }) => `"${kept}" is kept: its replacement no longer exists`,
  move: ({ move, name }: Named & { move: keyof typeof moves }) => `${moves[move]} ${name}`,
  remove_broken: ({ name }: Named) => `remove ${name}, which cannot be started`,
  make_again: ({ name }: Named) => `create ${name} again from the snapshot`,
  wait_for: ({ name }: Named) => `wait for ${name}`,
  move_failed: ({ move, name, cause }: Named & Caused & { move: keyof typeof moves }, tell) =>
    `could not ${moves[move]} ${name}: ${tell(cause)}`,
  too_many_moves: ({ limit }: { limit: number }) => `gave up after ${limit} steps`,
  settings_missing: ({ settings }: { settings: readonly string[] }) =>
    `The engine did not apply every setting: ${settings.join(", ")}`,

  gone: ({ name }: Named) => `The container "${name}" no longer exists`,
  name_taken: ({ name }: Named) => `Another container took the name "${name}"`,
  name_taken_kept: ({ name, kept }: Named & { kept: string }) =>
    `Another container took the name "${name}"; the previous one is kept as "${kept}"`,
  removed: ({ name }: Named) => `The container "${name}" was removed`,
  renamed: ({ name, to }: Named & { to: string }) => `The container "${name}" was renamed to "${to}"`,
  paused: ({ name }: Named) => `The container "${name}" was paused`,
  started: ({ name }: Named) => `The container "${name}" was started`,
  started_and_stopped: ({ name }: Named) => `The container "${name}" was started and stopped`,
} satisfies Area;
