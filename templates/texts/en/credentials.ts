import { credentialKindTitles } from "../../../src/credentials/schema.ts";
import { plural } from "../../format.ts";

export const credentials = {
  title: "Credentials",
  lead: (count: number) => `${plural("en", count, { one: "credential", other: "credentials" })}, stored encrypted`,
  add: "Add credential",
  kinds: credentialKindTitles,
  states: { unreadable: "Unreadable", refused: "Refused", used: "In use", unused: "Unused" },
  unreadable_title: "This credential cannot be used",
  unreadable_text:
    "Enter the whole secret again below. Until you save it, the stored one is kept; you can still rename or delete the credential.",
  refused_title: "This credential is refused",
  refused_text:
    "Enter a valid secret below. Sources are checked again as soon as you save it; test a connection on its page.",
  stored: "Stored",
  changed: "Changed",
  save: "Save credential",
  delete: "Delete credential",
  delete_text: "The secret is deleted. Nothing uses this credential.",
  in_use_text: "These use it. Choose another credential for them first.",
  empty_title: "No credentials yet",
  empty_text:
    "Tokens and passwords for private registries, forges and engines. They are stored encrypted and never shown again.",
  empty_example: "A registry login: type “OCI or Docker registry”, with your user name and an access token.",
  user_kind: { connection: "connection", tracker: "tracker" },
};
