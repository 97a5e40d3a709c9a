import * as v from "valibot";
import { parseBaseUrl } from "../base-url.ts";
import { issue, toText } from "../messages/message.ts";

/** True for a name in this runtime's time zone database. */
function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    // An offset such as "+05:30" also formats, but has no daylight-saving rules and is not what people mean.
    return /^[A-Za-z]/.test(name);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

const count = (title: string, description: string) =>
  v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000), v.title(title), v.description(description));

export const Settings = v.strictObject({
  base_url: v.pipe(
    v.string(),
    v.trim(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      if (dataset.value === "") return "";
      const parsed = parseBaseUrl(dataset.value);
      if ("url" in parsed) return parsed.url;
      addIssue({ message: toText(parsed.problem) });
      return NEVER;
    }),
    v.title("Base URL"),
    v.description("The address of this instance, used in notification links and for sign-in through a provider"),
    v.metadata({ placeholder: "https://tidemark.example.org" }),
  ),
  timezone: v.pipe(
    v.string(),
    v.trim(),
    v.check(isTimeZone, issue("settings.time_zone")),
    v.title("Time zone"),
    v.description("Used to group entries by date and to schedule maintenance windows"),
  ),
  log_level: v.pipe(v.picklist(["info", "warning", "error", "debug"]), v.title("Log level")),
  version_history_count: count(
    "Versions to keep",
    "Versions kept per source and channel. Older ones are removed when a new one is discovered",
  ),
  snapshot_history_count: count(
    "Snapshots to keep",
    "Snapshots kept per executor. Older ones are removed when a new one is saved",
  ),
  audit_retention_days: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(30),
    v.maxValue(3650),
    v.title("Audit log retention (days)"),
    v.description(
      "Older entries are removed when new ones are written. Entries younger than 30 days are never removed",
    ),
  ),
});
export type Settings = v.InferOutput<typeof Settings>;
export type SettingName = keyof Settings;

export const defaultSettings: Settings = {
  base_url: "",
  timezone: "UTC",
  log_level: "info",
  version_history_count: 20,
  snapshot_history_count: 10,
  audit_retention_days: 365,
};

export const SettingsPatch = v.partial(Settings);

export const SettingsView = v.object({
  ...Settings.entries,
  /** Settings from the environment, which overrides the stored value; they cannot be changed here. */
  from_environment: v.array(v.picklist(["base_url", "log_level"])),
});
export type SettingsView = v.InferOutput<typeof SettingsView>;
