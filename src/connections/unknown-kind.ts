import * as v from "valibot";
import { PluginError } from "../errors.ts";
import { say } from "../messages/message.ts";
import type { Runtime, TargetKind } from "../runtimes/runtime.ts";

/** Stands for a stored kind that this version does not have: it is listed and can be deleted, and everything else is refused. */
export function unknownRuntime(kind: string): Runtime {
  return {
    kind,
    title: kind,
    Config: v.record(v.string(), v.unknown()),
    target_kinds: [],
    open: () => Promise.reject(new PluginError("rejected", say("connections.kind_unknown", { kind }))),
    place: (config) => `${kind} ${JSON.stringify(config)}`,
    warnings: () => [{ code: "kind_unknown", message: say("connections.kind_unknown", { kind }) }],
  };
}

export function unknownTargetKind(kind: string): TargetKind {
  return { kind, is_group: false, artifact: "image", steps: [], parts: () => [] };
}
