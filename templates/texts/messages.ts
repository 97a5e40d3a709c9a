import { tellers } from "../../src/messages/languages.ts";
import { type Message, withTexts } from "../../src/messages/message.ts";
import { asPart } from "../../src/messages/nested.ts";
import { endSentence } from "../format.ts";
import type { Language } from "../page.ts";
import { isolate } from "./isolate.ts";

/** A message in the page's language; of several sentences, the last one is ended too. Quoted text of others stays as it is. */
export function translateMessage(language: Language, said: Message): string {
  const text = tellers[language](withTexts(said, isolate));
  const hasSeveral = said.code !== "text.plain" && /[.?!] [A-Z"]|。./.test(text);
  return hasSeveral ? endSentence(language, text) : text;
}

/** The same as a sentence of its own, such as the text of a banner. */
export function translateSentence(language: Language, said: Message): string {
  const text = translateMessage(language, said);
  return said.code === "text.plain" ? text : endSentence(language, text);
}

/** The same inside a sentence of the page, as behind a colon. */
export function translatePart(language: Language, said: Message): string {
  const text = translateMessage(language, said);
  return language === "en" ? asPart(text, said) : text;
}
