import type { Area, Message } from "./types.ts";

/** Refused fields and changes of trackers. */
export const trackers = {
  name_form: "Use letters, digits, dots, hyphens and underscores, and start with a letter or digit",
  name_new: 'The name "new" is reserved for the page that adds trackers',
  name_import: 'The name "import" is reserved for the page that imports trackers',
  name_kept: ({ name }: { name: string }) => `A tracker cannot be renamed; this one is "${name}"`,
  sources_wanted: "Add at least one source",
  source_key_form: 'Use lowercase letters, digits and hyphens, for example "docker-hub"',
  source_key_taken: ({ key }: { key: string }) => `This tracker already has a source "${key}"`,
  source_kind_kept: ({ key, kind }: { key: string; kind: string }) =>
    `The source "${key}" is of type ${kind}; to change the type, add a source under another key`,
  channels_wanted: "Add at least one release channel",
  channel_name_form:
    'Use lowercase letters, digits, dots and hyphens, and start with a letter or digit, for example "16" or "lts"',
  channel_name_of_type: ({ type }: { type: string }) =>
    `Only channels of type ${type} can be named "${type}"; choose another name`,
  channel_name_taken: ({ name }: { name: string }) =>
    `This source already has a release channel "${name}"; choose another name`,
  channel_in_use: ({ channel, source, users }: { channel: string; source: string; users: readonly Message[] }, tell) =>
    `The release channel "${channel}" of source "${source}" is used by ${users.map(tell).join(", ")}`,
  credential_id_invalid: "This is not the ID of a credential",
  tag_wanted: "Enter the tag",
  check_unfinished: ({ name }: { name: string }) =>
    `The check of "${name}" has not ended yet; its result will appear on the tracker's page`,
} satisfies Area;
