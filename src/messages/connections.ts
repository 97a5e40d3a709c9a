import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

export const connections = {
  answered: ({ runtime, version }: { runtime: string; version: string }) => `Connected to ${runtime} ${version}`,
  disabled: ({ connection }: { connection: string }) => `The connection "${connection}" is disabled; enable it first`,
  kind_unknown: ({ kind }: { kind: string }) =>
    `This version of Tidemark does not support connections of type "${kind}"; update Tidemark, or delete the connection`,
  setting_unusable: ({ path, cause }: { path: string; cause: Message }, tell) =>
    `The connection's setting "${path}" cannot be used: ${tell(cause)}. Edit the connection to correct it`,
  choose_one: ({ options }: { options: readonly string[] }) =>
    `There are several; choose one of ${quotedList(options)}`,
  silent: ({ seconds }: { seconds: number }) => `No response within ${seconds} seconds`,
  look_failed: "It could not be checked because of an internal error; the log has the details",
  not_checked: "Not checked recently",
  place_taken: ({ connection, is_divisible }: { connection: string; is_divisible: boolean }) =>
    `The connection "${connection}" already reaches the same targets. Edit that connection instead of adding another${is_divisible ? ", or enter namespaces that it does not have" : ""}`,
  place_shared: ({ names }: { names: readonly string[] }) =>
    `This connection reaches the same targets as ${quotedList(names)}. Keep one of them and delete the others, so that nothing is listed twice`,
  place_changed:
    "The address of this connection now leads to another engine or cluster than when it was saved. Its executors act on that one now. Check them, then save the connection again to confirm the change",
} satisfies Area;
