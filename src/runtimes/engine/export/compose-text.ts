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
