/** A text of the source as people would read it, with `{}` where a value stands. */
export interface Sentence {
  text: string;
  line: number;
}

const valueRead = /[\w$)\]"'`]$/;
/** What is no message: headings and help of fields have a dictionary of their own, the log and faults of ours stay English. */
const otherUse = /(?:\b(?:title|description)\(|\btitle: |\blog\.\w+\(|\bnew Error\(|\bsql)\s*$/;

/**
 * The sentences among a source's string literals: three words or more, beginning like a sentence or with a value. Literals that
 * are joined by `+` are one. It knows comments, templates within templates and regular expressions, and nothing else of the language.
 */
export function sentencesIn(source: string): readonly Sentence[] {
  const found: (Sentence & { isOther: boolean; end: number })[] = [];
  let at = 0;

  const endOf = (mark: string) => {
    const end = source.indexOf(mark, at);
    return end === -1 ? source.length : end + mark.length;
  };

  /** Room for a literal, before what stands within it; the one that it is joined to where there is one. */
  const slot = (start: number) => {
    const joined = found.findLast(({ end }) => start - end < 40 && /^\s*\+\s*$/.test(source.slice(end, start)));
    if (joined !== undefined) return joined;
    const line = source.slice(0, start).split("\n").length;
    const isOther = otherUse.test(source.slice(Math.max(0, start - 40), start));
    const added = { text: "", line, isOther, end: start };
    found.push(added);
    return added;
  };

  const add = (read: () => string) => {
    const room = slot(at);
    room.text += read();
    room.end = at;
  };

  const quoted = (quote: string) => {
    let text = "";
    for (at += 1; source[at] !== quote && at < source.length; at += 1) {
      if (source[at] === "\\") at += 1;
      text += source[at] ?? "";
    }
    at += 1;
    return text;
  };

  const template = () => {
    let text = "";
    at += 1;
    while (source[at] !== "`" && at < source.length) {
      if (source.startsWith("${", at)) {
        at += 2;
        code(true);
        text += "{}";
        continue;
      }
      if (source[at] === "\\") at += 1;
      text += source[at] ?? "";
      at += 1;
    }
    at += 1;
    return text;
  };

  const regularExpression = () => {
    let isClass = false;
    for (at += 1; (source[at] !== "/" || isClass) && source[at] !== "\n" && at < source.length; at += 1) {
      if (source[at] === "\\") at += 1;
      else if (source[at] === "[") isClass = true;
      else if (source[at] === "]") isClass = false;
    }
    at += 1;
  };

  const code = (isWithin: boolean) => {
    let depth = 0;
    while (at < source.length) {
      const letter = source[at];
      if (source.startsWith("//", at)) at = endOf("\n");
      else if (source.startsWith("/*", at)) at = endOf("*/");
      else if (letter === '"' || letter === "'") add(() => quoted(letter));
      else if (letter === "`") add(template);
      else if (letter === "/" && !valueRead.test(source.slice(Math.max(0, at - 20), at).trimEnd())) regularExpression();
      else {
        if (letter === "{") depth += 1;
        if (letter === "}") depth -= 1;
        at += 1;
        if (isWithin && depth < 0) return;
      }
    }
  };
  code(false);
  return found
    .filter(({ text, isOther }) => !isOther && /^(?:[A-Z]|"?\{\})/.test(text) && /[a-z]+ .*[a-z]+ .*[a-z]/.test(text))
    .map(({ text, line }) => ({ text, line }));
}
