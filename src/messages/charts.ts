import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

type Chart = { chart: string };

function others(count: number, similar: readonly string[]): string {
  if (count === 0) return "the repository has no charts";
  const names = similar.length === 0 ? "" : `, such as ${quotedList(similar)}`;
  return `the repository has ${count} other ${count === 1 ? "chart" : "charts"}${names}`;
}

/** Faults of a chart repository's index, or of a chart in it. */
export const charts = {
  missing: ({ chart, count, similar }: Chart & { count: number; similar: readonly string[] }) =>
    `there is no chart "${chart}"; ${others(count, similar)}`,
  tags_are_no_versions: ({ count, name, example }: { count: number; name: string; example: string }) =>
    `none of the ${count} tags of "${name}" is a version (the first is "${example}")`,

  version_gone: "the repository no longer has this version",
  archive_too_large: ({ bytes }: { bytes: number }) => `the archive is larger than ${bytes / 1024 / 1024} MiB`,
  no_archive: "the response is not the archive of a chart (tar.gz)",
  no_chart_layer: "the manifest has no archive of a chart",
  no_archive_address: "the index has no usable address for its archive",
  republished: ({ digest, wanted }: { digest: string; wanted: string }) =>
    `the version was published again since the last check: its digest is "${digest}", and "${wanted}" was expected`,
  login_withheld: ({ status, host }: { status: number; host: string }) =>
    `the response was ${status}; the credential is sent only to "${host}"`,
  no_charts: ({ kind }: { kind: string }) => `Sources of type "${kind}" have no charts`,

  at_line: ({ cause, line }: { cause: Message; line: number }, tell) => `${tell(cause)} (line ${line} of the index)`,
  web_page: "the response is a web page; the address may not be a chart repository",
  no_entries: 'it has no "entries", so the address may not be a chart repository',
  index_is_list: "the index is a list; a mapping was expected",
  index_no_mapping: "the index is not a mapping of keys to values",
  index_too_deep: ({ levels }: { levels: number }) => `the index is nested deeper than ${levels} levels`,
  index_uneven: "the indentation is uneven",
  charts_uneven: "the indentation of the charts is uneven",
  entries_no_mapping: '"entries" is not a mapping of charts',
  entries_no_block: '"entries" is not a mapping with a line for each chart',
  entries_twice: '"entries" appears twice',
  chart_name_expected: "the name of a chart is expected here",
  chart_twice: ({ chart }: Chart) => `the chart "${chart}" appears twice`,
  versions_no_list: ({ chart }: Chart) => `the versions of "${chart}" are not a list`,
  version_too_large: ({ chart, kib }: Chart & { kib: number }) => `a version of "${chart}" has more than ${kib} KiB`,
  too_many_versions: ({ chart, limit }: Chart & { limit: number }) =>
    `the chart "${chart}" has more than ${limit} versions`,
  first_version_no_yaml: ({ chart, reason }: Chart & { reason: string }) =>
    `the first version of "${chart}" cannot be parsed as YAML: ${reason}`,
  version_no_yaml: ({ chart, after, reason }: Chart & { after: string; reason: string }) =>
    `the version after "${after}" of "${chart}" cannot be parsed as YAML: ${reason}`,
  no_usable_version: ({ chart, first }: Chart & { first: string }) =>
    `"${chart}" has no usable version: the first is "${first}"`,
  line_too_long: ({ mib }: { mib: number }) => `a line has more than ${mib} MiB`,
  quotes_open: "a quoted or bracketed value is not closed",
  brackets_mismatched: "its brackets do not match",
  json_cut: "the response ends in the middle of its JSON",
  name_no_json: "a name in it is not valid JSON",
} satisfies Area;
