import type { Area } from "./types.ts";

/** Texts to import trackers from: why one cannot be read, and why part of it gives no tracker. */
export const imports = {
  text_wanted: "Paste a compose file, a list of image references, or a Diun, Argus or ReleaseTracker configuration",
  no_compose_file: 'This is not a compose file: it needs "services" with images',
  no_diun_file: 'This is not a Diun file: it needs a list of entries with a "name"',
  no_argus_file: 'This is not an Argus configuration: it needs a "service" with a "latest_version" for each',
  no_release_tracker_file: 'This is not a ReleaseTracker export: it needs trackers with "sources"',
  no_yaml: ({ reason, line, column }: { reason: string; line: number; column: number }) =>
    `This cannot be parsed as YAML: ${reason} at line ${line}, column ${column}`,
  key_twice: ({ key }: { key: string }) => `This cannot be parsed as YAML: "${key}" appears twice in one place`,
  too_many_aliases: "This YAML cannot be used: its aliases expand it too far",
  too_large: ({ limit }: { limit: number }) =>
    `This is too large or too deeply nested for a configuration; at most ${limit} values are read`,

  built: "Built locally, not pulled from a registry",
  no_image: "No image",
  label_off: "A label excludes it from tracking",
  value_wanted: ({ variables }: { variables: readonly string[] }) =>
    `The image needs a value for ${variables.join(", ")}; enter it under "Variables"`,
  web_page: ({ url }: { url: string | null }) =>
    `It follows ${url ?? "a web page"}; only repositories, registries and charts can be tracked`,
  no_channel: "None of its sources has an enabled channel",
  too_many: ({ limit }: { limit: number }) => `At most ${limit} trackers can be imported at once`,
  none_chosen: "Select at least one tracker",
} satisfies Area;
