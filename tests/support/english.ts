import { inEnglish, type Message } from "../../src/messages/message.ts";

/** What a message says, for tests of what stands in it. */
export function english(said: Message | null | undefined): string | null {
  return said == null ? null : inEnglish(said);
}
