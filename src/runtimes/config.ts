import type * as v from "valibot";
import { PluginError } from "../errors.ts";
import { parseOr } from "../forms/issues.ts";
import { say } from "../messages/message.ts";

/** A stored configuration or secret; it may be damaged, or of another version of Tidemark. Throws `PluginError`. */
export function parseConfig<S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  return parseOr(schema, value, (path, cause) => {
    return new PluginError("rejected", say("connections.setting_unusable", { path, cause }));
  });
}
