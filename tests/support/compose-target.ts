import type { ExecutorSettings } from "../../src/executors/settings.ts";
import { say } from "../../src/messages/message.ts";

/** A compose project as the target of an executor. */
export function composeTarget(id: string): ExecutorSettings["target"] {
  return {
    kind: "compose",
    title: "Compose group",
    title_data: say("engine.compose_group"),
    id,
    is_group: true,
    is_declarative: false,
    artifact: "image",
  };
}
