import { tellers } from "../../src/messages/languages.ts";
import { type Message, withTexts } from "../../src/messages/message.ts";
import type { Language } from "../page.ts";
import { isolate } from "./isolate.ts";

/** A message in the page's language. Quoted text of others stays as it is. */
export function translateMessage(language: Language, said: Message): string {
  return tellers[language](withTexts(said, isolate));
}
