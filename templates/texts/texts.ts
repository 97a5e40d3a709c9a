import type { Language } from "../page.ts";
import * as en from "./en.ts";
import { isolating } from "./isolate.ts";
import * as zh from "./zh.ts";

/** The keys that every language must have, by the English texts. */
export type Texts = typeof en;

const languages: Readonly<Record<Language, Texts>> = { en: isolating(en), zh: isolating(zh) };

/**
 * All texts of the interface in the page's language: `const t = texts(ctx); t.trackers.title`.
 *
 * To add a text, put the key into `en/<area>.ts` and its translation into `zh/<area>.ts`. English defines the keys; `zh/<area>.ts` must
 * `satisfies` the English shape, so that a missing, surplus or mistyped key fails the type check. A text with a number or a name in it is a
 * function, whose values are isolated (`isolate.ts`); use `plural()` and `formatNumber()` of `../format.ts` inside it. Keys are snake_case,
 * so that a code (`reason`, state, event kind) can be the key of its own text.
 */
export function texts(ctx: { language: Language }): Texts {
  return languages[ctx.language];
}
