import { type Message, say } from "./messages/message.ts";

const maxLength = 2048;
/**
 * What a sub-path may be made of: what a cookie's path, a router that decodes and a browser that does not all read alike.
 * `;` ends a cookie's path, and `%` stands for something else once it is decoded.
 */
const plainPath = /^(?:\/[A-Za-z0-9._~-]+)*$/;

const withoutFinalSlashes = (text: string) => text.replace(/\/+$/, "");

function canonical({ origin, pathname }: URL): string {
  return `${origin}${withoutFinalSlashes(pathname)}`;
}

/**
 * Judges a base URL: http or https, no user, query or fragment, a sub-path of plain letters. Gives the form that everything else
 * compares with: scheme and host in lower case, no default port, no final slash; or what is wrong with it.
 */
export function parseBaseUrl(text: string): { url: string } | { problem: Message } {
  if (text.length > maxLength || !URL.canParse(text)) {
    return { problem: say("settings.base_url_unusable", { text: text.slice(0, 100) }) };
  }
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return { problem: say("settings.base_url_scheme", { scheme: url.protocol }) };
  }
  if (url.username !== "" || url.password !== "" || /[?#]/.test(text)) {
    return { problem: say("settings.base_url_surplus") };
  }
  // As it was typed: a URL's parser takes away "..", line breaks and backslashes without a word.
  const [, path] = /^https?:\/\/[^\s/@\\]+((?:\/.*)?)$/is.exec(text) ?? [];
  const isPlain = path !== undefined && plainPath.test(withoutFinalSlashes(path));
  if (!isPlain || path.split("/").some((part) => part === "." || part === "..")) {
    return { problem: say("settings.base_url_path", { text: text.slice(0, 100) }) };
  }
  return { url: canonical(url) };
}

/** What an earlier version stored as it was typed, in the form of `parseBaseUrl`; null when nothing could be reached there. */
export function storedBaseUrl(text: unknown): string | null {
  if (typeof text !== "string" || !URL.canParse(text)) return null;
  const parsed = parseBaseUrl(canonical(new URL(text)));
  return "url" in parsed ? parsed.url : null;
}
