import { stringAt } from "../raw.ts";
import type { Word } from "./conceal.ts";

/** A text for compose, which takes variables from the environment and refuses to continue without them. */
export function composeText(word: Word): string {
  return word
    .map((part) => {
      if (typeof part === "string") return part.replaceAll("$", "$$$$");
      return `\${${part.variable}?Set ${part.variable} to what it was}`;
    })
    .join("");
}

/** A text without variables. */
export const text = (value: string): string => composeText([value]);

/** A text of the engine; undefined for none. */
export const given = (value: unknown): string | undefined =>
  stringAt(value) === "" ? undefined : text(stringAt(value));
