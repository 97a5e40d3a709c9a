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
 * compares with: scheme and host in lower case, no default port, no final slash; or a sentence that says what is right.
 */
export function parseBaseUrl(text: string): { url: string } | { problem: string } {
  if (text.length > maxLength || !URL.canParse(text)) {
    return {
      problem: `The base URL "${text.slice(0, 100)}" is not a URL; write for example "https://tidemark.example.org"`,
    };
  }
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return { problem: `The base URL has the scheme "${url.protocol}"; it must be http or https` };
  }
  if (url.username !== "" || url.password !== "" || /[?#]/.test(text)) {
    return { problem: "The base URL must have no user, query or fragment" };
  }
  // As it was typed: a URL's parser takes away "..", line breaks and backslashes without a word.
  const [, path] = /^https?:\/\/[^\s/@\\]+((?:\/.*)?)$/is.exec(text) ?? [];
  const isPlain = path !== undefined && plainPath.test(withoutFinalSlashes(path));
  if (!isPlain || path.split("/").some((part) => part === "." || part === "..")) {
    return {
      problem: `The base URL "${text.slice(0, 100)}" has a path that cannot be used; each part of it may have the letters a to z and A to Z, digits, ".", "_", "~" and "-", for example "https://example.org/tidemark"`,
    };
  }
  return { url: canonical(url) };
}

/** What an earlier version stored as it was typed, in the form of `parseBaseUrl`; null when nothing could be reached there. */
export function storedBaseUrl(text: unknown): string | null {
  if (typeof text !== "string" || !URL.canParse(text)) return null;
  const parsed = parseBaseUrl(canonical(new URL(text)));
  return "url" in parsed ? parsed.url : null;
}
