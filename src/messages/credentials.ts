import type { Area, Message } from "./types.ts";

/** Credentials and their content. */
export const credentials = {
  token_prefix: ({ prefixes }: { prefixes: readonly string[] }) =>
    `A token of this platform begins with ${prefixes.map((prefix) => `"${prefix}"`).join(" or ")}`,
  token_with_spaces: "A token has no spaces",
  basic_auth: 'Enter it as "username:password"',
  other_kind: ({ name, kind, wanted }: { name: string; kind: string; wanted: string }) =>
    `The credential "${name}" is of type "${kind}"; choose one of type "${wanted}"`,
  unreadable: ({ name, cause }: { name: string; cause: Message }, tell) =>
    `The credential "${name}" cannot be used: ${tell(cause)}. Enter it again under Credentials`,
} satisfies Area;
