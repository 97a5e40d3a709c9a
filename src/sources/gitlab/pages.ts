import { type Message, say } from "../../messages/message.ts";
import { webUrl } from "../../net/web-url.ts";
import { failure, oneLine } from "../failure.ts";
import type { GitLabAnswer } from "./api.ts";

/** The parameters by which GitLab's kinds of paging name a page. */
const pageParameters = ["page", "page_token", "id_after", "cursor"] as const;

/** The target of `rel="next"` in a `Link` header; null when there is none. */
function nextLink(header: string | null): string | null {
  // A target may have commas of its own, so entries are cut only where another target begins.
  for (const entry of (header ?? "").slice(0, 16_384).split(/,\s*(?=<)/)) {
    const [, target = "", rest = ""] = /^\s*<([^>]*)>(.*)$/.exec(entry) ?? [];
    const rel = /;\s*rel\s*=\s*"?([^";,]*)"?/i.exec(rest)?.[1] ?? "";
    if (rel.trim().toLowerCase().split(/\s+/).includes("next")) return target;
  }
  return null;
}

/**
 * Where the page after an answer is: by its `Link`, or by `x-next-page` where a proxy took that away. Only the name of the page is
 * taken from it; everything else of the address is our own. A `Link` to another host is refused.
 */
export function nextPage({ response, url }: GitLabAnswer, action: Message): URL | null {
  const next = new URL(url);
  const link = nextLink(response.headers.get("link"));
  if (link === null) {
    const page = response.headers.get("x-next-page")?.trim() ?? "";
    if (!/^\d{1,9}$/.test(page)) return null;
    next.searchParams.set("page", page);
    return next;
  }
  const fail = (reason: Message) => failure("malformed", action, reason);
  const shown = oneLine(link, 200);
  if (!URL.canParse(link, url)) throw fail(say("sources.next_page_invalid", { link: shown }));
  const target = webUrl(link, url);
  // An instance behind a proxy writes its own name with the wrong scheme or port; its name it must be.
  if (target.hostname !== url.hostname)
    throw fail(say("sources.next_page_elsewhere", { link: shown, origin: url.hostname }));
  if (target.username !== "" || target.password !== "") throw fail(say("sources.next_page_with_user", { link: shown }));
  for (const name of pageParameters) {
    const value = target.searchParams.get(name);
    if (value === null) next.searchParams.delete(name);
    else next.searchParams.set(name, value);
  }
  return next;
}

/** How many there are in all; GitLab leaves it out beyond 10,000. */
export function totalOf({ response }: GitLabAnswer): number | null {
  const text = response.headers.get("x-total")?.trim() ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
