import { chinese } from "./catalogue.ts";
import { inEnglish, teller } from "./message.ts";
import type { Tell } from "./types.ts";

export const languages = ["en", "zh"] as const;
export type Language = (typeof languages)[number];

/** How messages are rendered in each language. */
export const tellers: Readonly<Record<Language, Tell>> = {
  en: inEnglish,
  zh: teller(chinese, false),
};
