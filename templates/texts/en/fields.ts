import type { FieldDictionary } from "../fields.ts";

/** Only what the schemas cannot say: the name of one entry of a list. Titles and help are in the schemas. */
export const fields: FieldDictionary = {
  "settings.log_level": { options: { info: "Info", warning: "Warning", error: "Error", debug: "Debug" } },
  "api_tokens.scope": { options: { read: "Read only", full: "Full" } },
  "trackers.sources": { item: "source" },
  "trackers.sources.channels": { item: "channel" },
  "executors.bindings": { item: "binding" },
};
