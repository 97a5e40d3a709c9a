import { type Message, say } from "../../messages/message.ts";
import { webUrl } from "../../net/web-url.ts";
import { failure, oneLine } from "../failure.ts";
import { nextLink } from "../next-link.ts";
import type { GitLabAnswer } from "./api.ts";

/** The parameters of GitLab's kinds of paging. */
const pageParameters = ["page", "page_token", "id_after", "cursor"] as const;

/**
 * The address of the next page: from `Link`, or from `x-next-page` if a proxy removed that. Only the parameters of the page are taken
 * from it. A `Link` to another host is refused.
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
  // An instance behind a proxy may write the wrong scheme or port, but the host must be its own.
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

/** The total count; GitLab omits it beyond 10,000. */
export function totalOf({ response }: GitLabAnswer): number | null {
  const text = response.headers.get("x-total")?.trim() ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
