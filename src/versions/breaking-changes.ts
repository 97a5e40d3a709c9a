import { findMarkedLines, type MarkedLine } from "./marked-lines.ts";

const phrases = [
  "breaking",
  "action required",
  "action needed",
  "migration required",
  "manual migration",
  "requires migration",
  "requires a migration",
  "manual intervention",
  "incompatible change",
  "backwards incompatible",
  "backward incompatible",
  "backwards-incompatible",
  "backward-incompatible",
  "不兼容",
  "破坏性",
  "需要手动",
  "需要迁移",
];
/** Phrases for "none", or for something else that breaks. */
const denials = [
  "no breaking",
  "no known breaking",
  "not breaking",
  "non-breaking",
  "non breaking",
  "nonbreaking",
  "without breaking",
  "avoid breaking",
  "avoids breaking",
  "stop breaking",
  "from breaking",
  "was breaking",
  "were breaking",
  "line breaking",
  "line-breaking",
  "word breaking",
  "word-breaking",
  "page breaking",
  "record-breaking",
  "ground-breaking",
  "groundbreaking",
  "no action required",
  "no action needed",
  "no migration required",
  "no manual migration",
  "no manual intervention",
  "无不兼容",
  "没有不兼容",
  "无破坏性",
  "没有破坏性",
];

/** `feat(api)!: text`, anywhere in the line. A word that begins with a capital is prose. */
function hasMarkedCommit(line: string): boolean {
  for (let at = line.indexOf("!:"); at !== -1; at = line.indexOf("!:", at + 2)) {
    let end = at;
    if (line[end - 1] === ")") end = line.lastIndexOf("(", end);
    let start = end;
    while (start > 0 && /[a-z]/.test(line[start - 1] ?? "")) start -= 1;
    if (start < end && (start === 0 || !/[\p{L}\p{N}]/u.test(line[start - 1] ?? ""))) return true;
  }
  return false;
}

/** In a sentence the bare word is mostly a verb: "stops breaking the page". */
const breakingAsMark =
  /\bbreaking[- ](?:api |config(?:uration)? |database |schema )?(?:change|fix|release|removal|update)|^\W*breaking\b|[[(*_`]breaking\b|\bbreaking(?:[\])*_`]|:)/;
const capital = /\bBREAKING\b/;

function saysSo(line: string, isHeading: boolean): boolean {
  if (hasMarkedCommit(line)) return true;
  const lower = line.toLowerCase();
  if (!phrases.some((phrase) => lower.includes(phrase))) return false;
  const rest = denials.reduce((text, denial) => text.replaceAll(denial, " "), lower);
  if (phrases.some((phrase) => phrase !== "breaking" && rest.includes(phrase))) return true;
  return rest.includes("breaking") && (isHeading || capital.test(line) || breakingAsMark.test(rest));
}

/**
 * The lines of release notes that announce required action or lost functionality, at most 50: lines that say so, commits marked with
 * `!`, and the text under a heading that says so.
 */
export function findBreakingChanges(notes: string): readonly MarkedLine[] {
  return findMarkedLines(notes, {
    isMeant: (line) => saysSo(line, false),
    isMeantHeading: (line) => saysSo(line, true),
  });
}
