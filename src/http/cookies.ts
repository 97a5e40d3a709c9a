import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import * as v from "valibot";
import type { AppContext } from "./context.ts";

const noticeCookie = "tidemark_notice";

/** True for a path below our base path: never another host, not even by `//` or a backslash. */
export function isLocalPath(path: string): boolean {
  return /^\/(?![/\\])[^\\\s\p{Cc}]*$/u.test(path) && path.length <= 2048;
}

/** A browser drops a cookie of more than 4 kB. */
const maxUndoCharacters = 1500;

const StoredNotice = v.object({
  tone: v.picklist(["current", "update", "running", "attention", "failed", "unknown", "quiet"]),
  text: v.pipe(v.string(), v.maxLength(500)),
  href: v.optional(v.pipe(v.string(), v.check(isLocalPath))),
  undo: v.optional(
    v.object({
      path: v.pipe(v.string(), v.regex(/^\/(executors\/([\w-]{1,64}\/actions|bulk)|trackers\/-\/bulk)$/)),
      fields: v.record(v.string(), v.pipe(v.string(), v.maxLength(maxUndoCharacters))),
    }),
  ),
});
export type StoredNotice = v.InferOutput<typeof StoredNotice>;

/** Whether the browser reaches us over https, which decides the cookies' flags. */
export function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith("https:");
}

/** Where and how pages keep cookies; the session's cookie has its own rules. */
export function placeOf(c: AppContext, prefix: string) {
  return { path: prefix === "" ? "/" : prefix, sameSite: "Lax", secure: c.get("is_secure") ?? false } as const;
}

/** Whether a notice keeps it; what does not fit is not offered. */
export function fitsNotice(undo: NonNullable<StoredNotice["undo"]>): boolean {
  return JSON.stringify(undo).length <= maxUndoCharacters;
}

/** Shows on the next page what this request did. `prefix` is the base path. */
export function setNotice(c: AppContext, prefix: string, notice: StoredNotice): void {
  const { undo, ...said } = notice;
  const kept = {
    ...said,
    text: notice.text.slice(0, 500),
    ...(undo !== undefined && fitsNotice(undo) ? { undo } : {}),
  };
  const value = Buffer.from(JSON.stringify(kept), "utf8").toString("base64url");
  setCookie(c, noticeCookie, value, { ...placeOf(c, prefix), httpOnly: true, maxAge: 60 });
}

/** Takes the notice of the previous request; drops anything malformed. */
export function readNotice(c: AppContext, prefix: string): StoredNotice | null {
  const value = getCookie(c, noticeCookie);
  if (value === undefined) return null;
  deleteCookie(c, noticeCookie, placeOf(c, prefix));
  const parsed = v.safeParse(
    v.pipe(v.string(), v.parseJson(), StoredNotice),
    Buffer.from(value, "base64url").toString("utf8"),
  );
  return parsed.success ? parsed.output : null;
}
