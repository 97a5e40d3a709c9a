import type { Language } from "../src/messages/languages.ts";

export type { Language } from "../src/messages/languages.ts";
export type Theme = "system" | "light" | "dark";

/** The six meanings of a colour, plus `quiet` for words without judgement. */
export type Tone = "current" | "update" | "running" | "attention" | "failed" | "unknown" | "quiet";

/** The result of an action, shown once as a toast; `href` is a local path to see it. */
export interface Notice {
  tone: Tone;
  text: string;
  href?: string | undefined;
  /** The action on an executor, or on several, that takes it back: where it is sent, and its fields. */
  undo?: { path: string; fields: Readonly<Record<string, string>> } | undefined;
}

/**
 * What every template gets beside its own props. Templates are pure: the time, the time zone, the language and the addresses of static
 * files come from here, so the same props always give the same HTML.
 */
export interface PageContext {
  language: Language;
  theme: Theme;
  /** IANA name from the settings: every time on every page is in this zone. */
  time_zone: string;
  /** Milliseconds UTC. */
  now: number;
  /** The path of the base URL without a final slash: `""`, or `"/sub/path"`. */
  base_path: string;
  user: { name: string } | null;
  csrf_token: string;
  /** The path of this request below the base path, with its query: `/trackers?state=failed`. */
  path: string;
  /** The content-hashed address of a file in `public/` or of a served package file, base path included. */
  assets(name: string): string;
  /** The addresses of the service worker and of what the browser keeps for it, base path included; not for the page that it keeps. */
  away?: { worker: string; kept: readonly string[] } | undefined;
  notices: readonly Notice[];
  /** htmx asks for a part: a question then comes alone, for the dialog of the open page. */
  is_fragment?: boolean | undefined;
  /** Numbers beside navigation entries; nothing for 0 or a missing key. */
  counts?: { overview?: number; runs?: number } | undefined;
  /** The line at the top right that says how recent the data is; the time `at` follows the text. */
  status?: { tone: Tone; text: string; at?: number | undefined; href?: string | undefined } | undefined;
}

/** The address of a local page; `path` starts with `/` and comes from our code, never from data. */
export function url(ctx: Pick<PageContext, "base_path">, path: string, query?: QueryChanges): string {
  return ctx.base_path + (query === undefined ? path : withQuery(path, query));
}

export type QueryChanges = Readonly<Record<string, string | number | boolean | null | undefined>>;

/**
 * Sets query parameters on a path and keeps the others and the fragment; null, undefined and "" remove one. Filters, sort, page and tabs live
 * in the query string, so every view can be reloaded and shared.
 */
export function withQuery(path: string, changes: QueryChanges): string {
  const { bare, query, fragment } = partsOf(path);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") query.delete(name);
    else query.set(name, String(value));
  }
  const text = query.toString();
  return `${bare}${text === "" ? "" : `?${text}`}${fragment}`;
}

/** `fragment` with its `#`, or "". */
export function partsOf(path: string): { bare: string; query: URLSearchParams; fragment: string } {
  const [address = "", id] = path.split("#", 2);
  const [bare = "", query] = address.split("?", 2);
  return { bare, query: new URLSearchParams(query), fragment: id === undefined ? "" : `#${id}` };
}

/** True for an address from data that may become an `href` or `src`. */
export function isSafeUrl(address: string): boolean {
  return /^https?:\/\//i.test(address);
}

/** Joins class names and leaves out what is false. */
export function classes(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter((name) => typeof name === "string" && name !== "").join(" ");
}
