import type { Variables } from "../../src/compose-file/interpolate.ts";

export const templateVariables: Variables = new Map([
  ["TAG", "1.0"],
  ["EMPTY", ""],
  ["REPO", "reg/app"],
]);

/** Written so that no linter takes it for a template. */
export const v = (inner: string) => `$\{${inner}}`;

/** What compose makes of a text with these variables; null when a required one is missing, and "refused" for what it cannot parse. */
export const templates: readonly (readonly [text: string, value: string | null])[] = [
  ["app:1.0", "app:1.0"],
  [`app:${v("TAG")}`, "app:1.0"],
  ["app:$TAG", "app:1.0"],
  ["app:$TAG-x", "app:1.0-x"],
  [`${v("REPO")}:${v("TAG")}`, "reg/app:1.0"],
  [`app:${v("NONE:-2.0")}`, "app:2.0"],
  [`app:${v("NONE-2.0")}`, "app:2.0"],
  [`app:${v("EMPTY:-2.0")}`, "app:2.0"],
  [`app:${v("EMPTY-2.0")}`, "app:"],
  [`app:${v("TAG:+set")}`, "app:set"],
  [`app:${v("TAG:+")}`, "app:"],
  [`app:${v("EMPTY:+set")}`, "app:"],
  [`app:${v("EMPTY+set")}`, "app:set"],
  [`app:${v("NONE+set")}`, "app:"],
  [`app:${v("NONE")}`, "app:"],
  [`app:${v("TAG:?needed")}`, "app:1.0"],
  [`app:${v("EMPTY?needed")}`, "app:"],
  [`app:${v("NONE?needed")}`, null],
  [`app:${v("EMPTY:?needed")}`, null],
  [`app:${v(`NONE:-${v("TAG")}`)}`, "app:1.0"],
  [`app:${v(`NONE:-a${v("NONE:-b")}c`)}d`, "app:abcd"],
  [`app:${v(`TAG:-${v("NONE:?needed")}`)}`, "app:1.0"],
  [`app:${v("NONE:-{x}")}`, "app:{x}"],
  [`app:${v("NONE:-{}")}`, "app:{}"],
  [`app:${v("NONE:-{{}")}-${v("TAG")}`, "app:{{}-1.0"],
  [`app:${v("NONE:-x")}}`, "app:x}"],
  [`app:${v("NONE:-a\nb")}`, "refused"],
  [`${v("NONE:-a")}${v("NONE:-b")}`, "ab"],
  ["a$$b", "a$b"],
  [`$$${v("TAG")}`, "$1.0"],
  [`$$$$${v("TAG")}`, "$$1.0"],
  [`$$\{TAG}`, v("TAG")],
  ["app:$", "app:$"],
  ["$-", "$-"],
  ["$1", "$1"],
  ["^(sys|proc)($$|/)", "^(sys|proc)($|/)"],
  ["app:${", "refused"],
  [`app:${v("")}`, "refused"],
  [`app:${v("1A")}`, "refused"],
  [`app:${v("A B")}`, "refused"],
  ["app:${TAG", "refused"],
  ["app:${TAG:-x", "refused"],
  [`app:${v(`NONE:-${v("")}`)}`, "refused"],
];
