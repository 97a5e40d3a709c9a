import type { Area, Message } from "./types.ts";

/** How messages are combined. */
export const phrases = {
  /** Several messages as one. */
  joined: ({ items }: { items: readonly Message[] }, tell) => items.map(tell).join("; "),
  /** A message about one of several. */
  about: ({ name, said }: { name: string; said: Message }, tell) => `"${name}": ${tell(said)}`,
} satisfies Area;
