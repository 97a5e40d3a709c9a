import type { ReleaseStage } from "../source.ts";

/** The form of the memory between checks; another name means that nothing is remembered. */
const memoForm = "gitlab-list-1";
/** Most characters of it: what does not fit is forgotten from the old end, and listed again when it is needed. */
const maxCharacters = 1_000_000;

/** A release that an earlier check listed, in upstream's order. */
export interface Listed {
  tag: string;
  stage: ReleaseStage;
  /** It was returned to the caller, who has it or has let go of it. */
  isReturned: boolean;
}

export interface Memo {
  /** The newest first, as upstream lists them. */
  listed: readonly Listed[];
  /** Nothing lies behind the last one, or nothing that is looked at. */
  isWhole: boolean;
  /** How many upstream counted; null where it did not say. */
  total: number | null;
}

const letters: Readonly<Record<ReleaseStage, string>> = { release: "r", prerelease: "p", tag: "t" };
const stages: ReadonlyMap<string, ReleaseStage> = new Map([
  ["r", "release"],
  ["p", "prerelease"],
  ["t", "tag"],
]);

/** Tags have no blanks, so the memory is a line of words; upper case is for those that were returned. */
export function formatMemo(memo: Memo): string {
  const words = [memoForm, memo.isWhole ? "whole" : "part", memo.total === null ? "-" : String(memo.total)];
  let characters = words.join(" ").length;
  for (const { tag, stage, isReturned } of memo.listed) {
    characters += tag.length + 2;
    if (characters > maxCharacters) {
      words[1] = "part";
      break;
    }
    words.push(`${isReturned ? letters[stage].toUpperCase() : letters[stage]}${tag}`);
  }
  return words.join(" ");
}

/** The memory of the previous check; null when there is none. */
export function parseMemo(text: string | null): Memo | null {
  const [form, extent, total = "", ...words] = text?.split(" ") ?? [];
  if (form !== memoForm) return null;
  const listed = words.flatMap((word): Listed[] => {
    const letter = word.charAt(0);
    const stage = stages.get(letter.toLowerCase());
    return stage === undefined ? [] : [{ tag: word.slice(1), stage, isReturned: letter !== letter.toLowerCase() }];
  });
  return { listed, isWhole: extent === "whole", total: /^\d{1,9}$/.test(total) ? Number(total) : null };
}
