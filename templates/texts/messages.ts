import { asMessage, inEnglish, type Message, teller } from "../../src/messages/message.ts";
import type { Tell } from "../../src/messages/types.ts";
import { catalogue } from "../../src/messages/zh/catalogue.ts";
import type { Language } from "../page.ts";
import { messages as zh } from "./zh/sentences.ts";

/** English messages of services and schemas, with `{}` where a value stands, and the same in another language. */
export type MessageDictionary = readonly (readonly [english: string, translated: string])[];

interface Translation {
  /** The fixed parts of the English message, around its values. */
  parts: readonly string[];
  words: readonly string[];
}

const dictionaries: Readonly<Record<Language, readonly Translation[]>> = {
  en: [],
  zh: zh.map(([english, translated]) => ({ parts: english.split("{}"), words: translated.split("{}") })),
};

const tellers: Readonly<Record<Language, Tell>> = {
  en: inEnglish,
  zh: teller({ ...catalogue, text: { plain: ({ text }: { text: string }) => translated("zh", text) } }),
};

/** A message in the language of the page. What others wrote stays as it is. */
export function translateMessage(language: Language, said: Message | string): string {
  return tellers[language](asMessage(said));
}

/** Of an English sentence that is not data yet; one that the dictionary does not know is shown as it is. */
function translated(language: Language, message: string): string {
  for (const { parts, words } of dictionaries[language]) {
    const values = valuesBetween(message, parts);
    // A value can be a sentence itself: "… did not pass its health check: It ended with exit code 3".
    const own = (values ?? []).map((value) => translated(language, value));
    if (values !== null) return words.map((part, index) => part + (own[index] ?? "")).join("");
  }
  return message;
}

/** The values between fixed parts, each as short as it can be; null when the message has not these parts. */
function valuesBetween(message: string, parts: readonly string[]): readonly string[] | null {
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return message === first ? [] : null;
  if (!message.startsWith(first) || !message.endsWith(last) || message.length < first.length + last.length) return null;
  const end = message.length - last.length;
  const values: string[] = [];
  let start = first.length;
  for (const part of parts.slice(1, -1)) {
    const next = message.indexOf(part, start);
    if (next === -1 || next + part.length > end) return null;
    values.push(message.slice(start, next));
    start = next + part.length;
  }
  return [...values, message.slice(start, end)];
}
