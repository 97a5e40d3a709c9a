import type { Area, Message } from "./types.ts";

/** How messages are put together, whatever they say. */
export const phrases = {
  /** Several sentences as one. */
  joined: ({ items }: { items: readonly Message[] }, tell) => items.map(tell).join("; "),
  /** What is said of one of several. */
  about: ({ name, said }: { name: string; said: Message }, tell) => `"${name}": ${tell(said)}`,
} satisfies Area;
