import { isMessage, type Message, type MessageValue } from "./types.ts";

/** Where a nested message begins, until the sentence around it is complete: no character, so that no text has it. */
const mark = "\uFFFF";
const begins = /(^|[.!?] )?\uFFFF(\S*)/g;
/** Words that keep their capital: a message may begin with them. */
const names = /^(?:Docker|Helm|Kubernetes|Podman|Portainer|Tidemark)\b/;
const plainWord = /^[A-Z]?[a-z]*\b(?![\w-]*[A-Z_])/;

/** Whether a text begins with a value, so that its case is not ours: a name, or what others wrote. */
function beginsWith(text: string, value: MessageValue | undefined): boolean {
  if (typeof value === "string") return value !== "" && text.startsWith(value);
  if (typeof value !== "object" || value === null) return false;
  const values: readonly MessageValue[] = isMessage(value) ? Object.values(value.params) : (value as MessageValue[]);
  return values.some((each) => beginsWith(text, each));
}

/** Words of ours as part of a sentence: in lower case, unless they begin with a name or an abbreviation. */
export function lowered(text: string): string {
  return plainWord.test(text) && !names.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** A message as part of a sentence that is not of the catalogue. */
export function asPart(text: string, said: Message): string {
  return beginsWith(text, said) ? text : lowered(text);
}

/** A nested message for `fitted`. */
export function marked(text: string, said: Message): string {
  return text === "" || beginsWith(text, said) ? text : mark + text;
}

/** A sentence in which each nested message begins with a capital where it begins a sentence, and in lower case elsewhere. */
export function fitted(sentence: string): string {
  return sentence.replaceAll(begins, (_, end: string | undefined, word: string, at: number) =>
    end === undefined && at > 0 ? lowered(word) : `${end ?? ""}${word.charAt(0).toUpperCase()}${word.slice(1)}`,
  );
}
