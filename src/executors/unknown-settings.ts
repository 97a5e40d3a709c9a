import { inEnglish, type Message, say, toText } from "../messages/message.ts";
import { type Refusal, untoldSettings } from "../runtimes/target.ts";
import type { Unmet } from "./observation-schema.ts";
import type { ExecutorSettings } from "./settings.ts";

/** Settings that a runtime does not report, from the warnings of a target's inspection or of a plan. */
export function unknownSettingsIn(warnings: readonly Refusal[]): readonly Message[] {
  const messages = warnings.flatMap(({ code, message }) => (code === untoldSettings ? [message] : []));
  return [...new Map(messages.map((each) => [toText(each), each])).values()];
}

/** Entries accepted by their English, in their stored form: an acceptance outlives a better wording. */
export function acceptedAs(accepted: readonly string[], known: readonly Message[]): readonly string[] {
  return accepted.map((text) => {
    const setting = known.find((each) => inEnglish(each) === text);
    return setting === undefined ? text : toText(setting);
  });
}

/** Why no automatic run starts: settings that would be lost and are not accepted. */
export function unacceptedSettings(
  settings: Pick<ExecutorSettings, "requires_approval" | "accepted_unknown_settings">,
  unknown: readonly Message[],
): Unmet | null {
  const accepted = settings.accepted_unknown_settings;
  const [first] = unknown.filter((each) => !accepted.includes(toText(each)) && !accepted.includes(inEnglish(each)));
  if (first === undefined || settings.requires_approval) return null;
  const message = say("executors.settings_unknown", { cause: first });
  return { code: "settings_unknown", message };
}
