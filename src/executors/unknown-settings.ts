import { inEnglish } from "../messages/message.ts";
import { type Refusal, untoldSettings } from "../runtimes/runtime.ts";
import type { Unmet } from "./schema.ts";
import type { ExecutorSettings } from "./settings.ts";

/** What a runtime does not report of a target, among the warnings of its inspection or of a plan. */
export function unknownSettingsIn(warnings: readonly Refusal[]): readonly string[] {
  const messages = warnings.flatMap(({ code, message }) => (code === untoldSettings ? [inEnglish(message)] : []));
  return [...new Set(messages)];
}

/** Why no automatic run starts: settings that would be lost and that nobody accepted as they are worded now. */
export function unacceptedSettings(
  settings: Pick<ExecutorSettings, "target" | "requires_approval" | "accepted_unknown_settings">,
  unknown: readonly string[],
): Unmet | null {
  const [first] = unknown.filter((each) => !settings.accepted_unknown_settings.includes(each));
  if (first === undefined || settings.requires_approval) return null;
  const message = `"${settings.target.id}" is updated only manually or with approval: ${first}`;
  return { code: "settings_unknown", message };
}
