import { type Message, say } from "../../messages/message.ts";
import { IndexError, type IndexReader, type IndexSink, maxEntryCharacters, maxLineCharacters } from "./index-reader.ts";
import { nothingOpen, skimLine, unskimmed } from "./skim-line.ts";
import { continueLine, indentOf, type LineHead, type Open, readLine } from "./yaml-line.ts";

/** The keys of a version that are read; the others are dropped before parsing. */
const wantedKeys = new Set(["version", "appVersion", "digest", "created", "urls", "home", "deprecated", "annotations"]);

const closed: Open = { kind: "none" };
const plainTexts: Open[] = [];

/** One object for each column, because there are a million texts. */
function plainAt(column: number): Open {
  const known = plainTexts[column];
  if (known !== undefined || column > 200) return known ?? { kind: "plain", column };
  const made: Open = { kind: "plain", column };
  plainTexts[column] = made;
  return made;
}

/** The version that is being collected. */
interface Item {
  lines: string[];
  characters: number;
  /** Column of its keys; null if it is not a mapping in block style. */
  column: number | null;
  /** The last key was a wanted one. */
  is_kept: boolean;
}

/**
 * Reads an index in block style line by line. It only looks at indentation and open texts; it passes on the entries of the wanted
 * chart and drops everything else at once.
 */
export function yamlReader(chart: string, sink: IndexSink): IndexReader {
  let rest = "";
  let lineNumber = 0;
  let open: Open = closed;
  let rootColumn = -1;
  let chartColumn = -1;
  let itemColumn = -1;
  let hasEntries = false;
  let isInEntries = false;
  let isInChart = false;
  let isOver = false;
  let hasChart = false;
  let item: Item | null = null;

  const fail = (cause: Message) => new IndexError(say("charts.at_line", { cause, line: lineNumber }));

  const noMapping = () => fail(say("charts.entries_no_block"));

  const keep = (line: string) => {
    if (item === null || !item.is_kept) return;
    item.characters += line.length + 1;
    if (item.characters > maxEntryCharacters) {
      throw fail(say("charts.version_too_large", { chart, kib: maxEntryCharacters / 1024 }));
    }
    item.lines.push(line);
  };
  const finishItem = () => {
    if (item !== null && item.lines.length > 0) sink.onEntry(item.lines.join("\n"));
    item = null;
  };

  const beginChart = (head: LineHead, line: string) => {
    if (head.key === null) throw fail(say("charts.chart_name_expected"));
    finishItem();
    isInChart = head.key === chart;
    itemColumn = -1;
    sink.onChart(head.key);
    if (!isInChart) return;
    if (hasChart) throw fail(say("charts.chart_twice", { chart }));
    hasChart = true;
    const value = line.slice(head.value);
    if (value === "" || value.startsWith("#")) return;
    // A list in brackets, possibly over several lines.
    item = { lines: [], characters: 0, column: null, is_kept: true };
    keep(value);
  };
  const beginItem = (head: LineHead, line: string) => {
    finishItem();
    itemColumn = head.indent;
    const column = head.key === null ? null : head.column;
    item = { lines: [], characters: 0, column, is_kept: column === null || isWanted(head.key) };
    // The dash becomes a space, so that all keys of the version are in one column.
    keep(`${line.slice(0, head.indent)} ${line.slice(head.indent + 1)}`);
  };
  const inChart = (head: LineHead, line: string) => {
    if (head.is_item && (itemColumn === -1 || head.indent === itemColumn)) return beginItem(head, line);
    if (head.indent <= itemColumn || itemColumn === -1) throw fail(say("charts.versions_no_list", { chart }));
    if (item !== null && item.column === null && item.lines.length === 1 && item.lines[0]?.trim() === "") {
      item.column = head.indent;
    }
    if (item?.column === head.indent && !head.is_item) item.is_kept = isWanted(head.key);
    keep(line);
  };
  const beginRootKey = (head: LineHead, line: string) => {
    if (head.is_item) {
      // A list in the column of its key.
      if (isInEntries) throw noMapping();
      return;
    }
    finishItem();
    isInChart = false;
    isInEntries = head.key === "entries";
    if (head.key === null) throw fail(say("charts.index_no_mapping"));
    if (!isInEntries) return;
    if (hasEntries) throw fail(say("charts.entries_twice"));
    hasEntries = true;
    const value = line.slice(head.value).replace(/\s+#.*$/, "");
    const isBare = value === "" || /^(?:[#&!]\S*|\{\s*\}|null|~)$/.test(value);
    if (!isBare) throw noMapping();
  };
  const inEntries = (head: LineHead, line: string) => {
    if (chartColumn === -1 && head.is_item) throw noMapping();
    if (chartColumn === -1) chartColumn = head.indent;
    if (head.indent < chartColumn) throw fail(say("charts.charts_uneven"));
    if (head.indent === chartColumn && !head.is_item) beginChart(head, line);
    else if (isInChart) inChart(head, line);
  };

  const structure = (line: string, indent: number) => {
    const head = readLine(line, indent);
    open = head.open;
    if (rootColumn === -1) {
      rootColumn = indent;
      if (head.is_item) throw fail(say("charts.index_is_list"));
    }
    if (indent < rootColumn) throw fail(say("charts.index_uneven"));
    if (indent === rootColumn) beginRootKey(head, line);
    else if (isInEntries) inEntries(head, line);
  };

  const take = (line: string) => {
    lineNumber++;
    if (isOver) return;
    const indent = indentOf(line);
    const isQuoted = open.kind === "quoted" || open.kind === "flow";
    if (indent === line.length || (line[indent] === "\t" && line.trim() === "")) return keep("");
    if (!isQuoted && indent === 0 && isBoundary(line)) {
      // `---` starts the document, or ends it if there was something before.
      isOver = rootColumn !== -1 || line.startsWith("...");
      if (isOver) finishItem();
      return;
    }
    const isContent = open.kind === "block" && indent > open.column;
    if (!isQuoted && !isContent && (line[indent] === "#" || (line[0] === "%" && rootColumn === -1))) return;
    const next = continueLine(open, line, indent);
    if (next === null) return structure(line, indent);
    open = next;
    keep(line);
  };

  /** Takes a line of another chart without copying it; false if it needs a full read. */
  const skim = (text: string, from: number, end: number): boolean => {
    if (isInChart || chartColumn === -1 || !isInEntries || isOver) return false;
    if (open.kind === "quoted" || open.kind === "flow") return false;
    let at = from;
    while (at < end && text.charCodeAt(at) === 0x20) at++;
    const indent = at - from;
    const first = text[at];
    if (at >= end || first === "\t" || first === "\r" || indent < chartColumn) return false;
    const goesOn = open.kind !== "none" && indent > open.column;
    if (!goesOn) {
      // A chart's name, or a comment, which does not end anything.
      if (first === "#" || (indent === chartColumn && first !== "-")) return false;
      const column = skimLine(text, from, end, indent);
      if (column === unskimmed) return false;
      open = column === nothingOpen ? closed : plainAt(column);
    }
    lineNumber++;
    return true;
  };

  return {
    push(text) {
      let from = 0;
      let at = text.indexOf("\n");
      if (at === -1) rest += text;
      while (at !== -1) {
        const isWhole = from > 0 || rest === "";
        if (!isWhole || !skim(text, from, at)) {
          const line = isWhole ? text.slice(from, at) : rest + text.slice(0, at);
          take(line.endsWith("\r") ? line.slice(0, -1) : line);
        }
        rest = "";
        from = at + 1;
        at = text.indexOf("\n", from);
        if (at === -1) rest = text.slice(from);
      }
      if (rest.length > maxLineCharacters)
        throw fail(say("charts.line_too_long", { mib: maxLineCharacters / 1024 / 1024 }));
    },
    end() {
      if (rest !== "") take(rest.endsWith("\r") ? rest.slice(0, -1) : rest);
      if (!isOver && (open.kind === "quoted" || open.kind === "flow")) throw fail(say("charts.quotes_open"));
      finishItem();
      if (rootColumn === -1) throw new IndexError(say("sources.answer_empty"));
      if (!hasEntries) throw new IndexError(say("charts.no_entries"));
    },
  };
}

function isWanted(key: string | null): boolean {
  return key === null || wantedKeys.has(key);
}

function isBoundary(line: string): boolean {
  return /^(?:---|\.\.\.)(?:\s|$)/.test(line);
}
