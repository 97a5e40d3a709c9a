import { english as catalogue } from "../../src/messages/catalogue.ts";
import { type Message, teller } from "../../src/messages/message.ts";

/** A copy, which stays English where the catalogue speaks in scrambled words. */
const tell = teller(
  Object.fromEntries(Object.entries(catalogue).map(([area, sentences]) => [area, { ...sentences }])),
  true,
);

/** What a message says, for tests of what stands in it. */
export function english(said: Message | null | undefined): string | null {
  return said == null ? null : tell(said);
}
