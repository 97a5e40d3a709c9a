import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

/** Credentials and their content. */
export const credentials = {
  kind_unknown: ({ kind }: { kind: string }) =>
    `This version of Tidemark does not support credentials of type "${kind}"; update Tidemark, or delete the credential`,
  token_prefix: ({ prefixes }: { prefixes: readonly string[] }) =>
    `A token of this platform begins with ${quotedList(prefixes, " or ")}`,
  token_with_spaces: "A token must not contain spaces",
  certificate_half: "A client certificate needs its key, and a key its certificate",
  certificate_unreadable: ({ member }: { member: string }) =>
    `"${member}" cannot be read: paste the whole PEM text, from BEGIN to END`,
  key_of_another: "This key does not belong to the client certificate; enter the key that it was issued for",
  basic_auth: 'Enter it as "username:password"',
  other_kind: ({ name, kind, wanted }: { name: string; kind: string; wanted: string }) =>
    `The credential "${name}" is of type "${kind}"; choose one of type "${wanted}"`,
  unreadable: ({ name, cause }: { name: string; cause: Message }, tell) =>
    `The credential "${name}" cannot be used: ${tell(cause)}. Enter it again under Credentials`,
} satisfies Area;
