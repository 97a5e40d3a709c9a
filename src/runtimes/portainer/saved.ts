import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { parseBoundedJson } from "../../net/bounded-json.ts";
import type { Found } from "./stacks.ts";
import { runningServices } from "./target.ts";

const Saved = v.object({
  format: v.literal(1),
  stack: v.string(),
  file: v.string(),
  env: v.array(v.object({ name: v.string(), value: v.string() })),
  /** The services that ran. */
  running: v.array(v.string()),
});
export type SavedStack = v.InferOutput<typeof Saved>;

/** A stack's file and environment as text; both may hold secrets, so the caller encrypts it. Throws `not_found`. */
export function writeSaved({ stack, content, members }: Found): string {
  if (content === null) throw new PluginError("not_found", say("portainer.nothing_to_save", { stack: stack.Name }));
  const saved: SavedStack = {
    format: 1,
    stack: stack.Name,
    file: content.file,
    env: content.env.map(({ name, value }) => ({ name, value })),
    running: [...runningServices(members)],
  };
  return JSON.stringify(saved);
}

export function readSaved(text: string): SavedStack {
  try {
    return v.parse(Saved, parseBoundedJson(text));
  } catch (cause) {
    throw new PluginError("malformed", say("portainer.saved_unreadable"), { cause });
  }
}
