import { type Message, say } from "./messages/message.ts";

const maxLength = 2048;
/**
 * Characters of a sub-path that cookie paths, decoding routers and browsers all treat alike. `;` ends a cookie's path, and `%` changes
 * meaning when decoded.
 */
const plainPath = /^(?:\/[A-Za-z0-9._~-]+)*$/;

const withoutFinalSlashes = (text: string) => text.replace(/\/+$/, "");

function canonical({ origin, pathname }: URL): string {
  return `${origin}${withoutFinalSlashes(pathname)}`;
}

/**
 * Validates a base URL: http or https, no user, query or fragment, a sub-path of plain letters. Returns the canonical form for comparisons
 * (scheme and host in lower case, no default port, no final slash), or what is wrong with it.
 */
export function parseBaseUrl(text: string): { url: string } | { problem: Message } {
  if (text.length > maxLength || !URL.canParse(text)) {
    return { problem: say("settings.base_url_unusable", { text: text.slice(0, 100) }) };
  }
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return { problem: say("settings.base_url_scheme", { scheme: url.protocol.slice(0, -1) }) };
  }
  if (url.username !== "" || url.password !== "" || /[?#]/.test(text)) {
    return { problem: say("settings.base_url_surplus") };
  }
  // The text as typed: the URL parser silently removes "..", line breaks and backslashes.
  const [, path] = /^https?:\/\/[^\s/@\\]+((?:\/.*)?)$/is.exec(text) ?? [];
  const isPlain = path !== undefined && plainPath.test(withoutFinalSlashes(path));
  if (!isPlain || path.split("/").some((part) => part === "." || part === "..")) {
    return { problem: say("settings.base_url_path", { text: text.slice(0, 100) }) };
  }
  return { url: canonical(url) };
}

/** A value stored as typed by an earlier version, in the form of `parseBaseUrl`; null when it is invalid. */
export function storedBaseUrl(text: unknown): string | null {
  if (typeof text !== "string" || !URL.canParse(text)) return null;
  const parsed = parseBaseUrl(canonical(new URL(text)));
  return "url" in parsed ? parsed.url : null;
}
