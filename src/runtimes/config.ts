import type * as v from "valibot";
import { PluginError } from "../errors.ts";
import { judgeInput, parseOr } from "../forms/issues.ts";
import { say } from "../messages/message.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a stored configuration that this version of Tidemark has, and those that another version stored. */
export function splitConfig(schema: v.GenericSchema, stored: Fields): { own: Fields; foreign: Fields } {
  const own = new Map(Object.entries(stored));
  // A schema names one unknown field at a time.
  for (;;) {
    const { errors } = judgeInput(schema, Object.fromEntries(own));
    const unknown = [...own.keys()].find((name) => errors?.[name]?.code === "fields.unknown_field");
    if (unknown === undefined) break;
    own.delete(unknown);
  }
  const foreign = Object.entries(stored).filter(([name]) => !own.has(name));
  return { own: Object.fromEntries(own), foreign: Object.fromEntries(foreign) };
}

/**
 * Fields of another version count for nothing beside all fields of this one, as an edit leaves them. Before that, one of them may be the
 * address.
 */
function withoutForeign(schema: v.GenericSchema, stored: unknown): unknown {
  if (typeof stored !== "object" || stored === null) return stored;
  const { own } = splitConfig(schema, { ...stored });
  const { output } = judgeInput(schema, own);
  const isWhole = typeof output === "object" && Object.keys(output ?? {}).every((name) => name in own);
  return isWhole ? own : stored;
}

/** A stored configuration or secret; it may be damaged, or of another version of Tidemark. Throws `PluginError`. */
export function parseConfig<S extends v.GenericSchema>(schema: S, stored: unknown): v.InferOutput<S> {
  return parseOr(schema, withoutForeign(schema, stored), (path, cause) => {
    return new PluginError("rejected", say("connections.setting_unusable", { path, cause }));
  });
}

/** The same for what is shown beside it: null if it cannot be used. */
export function readConfig<S extends v.GenericSchema>(schema: S, stored: unknown): v.InferOutput<S> | null {
  return judgeInput(schema, withoutForeign(schema, stored)).output;
}
