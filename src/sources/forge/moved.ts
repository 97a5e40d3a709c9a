import { type Message, say } from "../../messages/message.ts";
import { webUrl } from "../../net/web-url.ts";
import type { PluginContext } from "../../plugin.ts";
import { failure } from "../failure.ts";

/** A renamed repository redirects once, or twice if it was also transferred. */
const maxMoves = 3;

export interface Moved {
  response: Response;
  /** The address that answered. */
  url: URL;
  has_moved: boolean;
}

/**
 * Follows the redirects of a renamed repository: at most 3, on the same origin, with the same method and body, even if the status would
 * turn a POST into a GET. Another origin is refused, so that no credential goes there.
 */
export async function fetchMoved(context: PluginContext, url: URL, init: RequestInit, action: Message): Promise<Moved> {
  let place = url;
  for (let moves = 0; ; moves++) {
    const response = await context.fetch(place, { ...init, redirect: "manual" });
    const location = response.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) {
      return { response, url: place, has_moved: moves > 0 };
    }
    if (!URL.canParse(location, place)) throw failure("malformed", action, say("sources.redirect_invalid"));
    const next = webUrl(location, place);
    next.hash = "";
    // An instance behind a TLS proxy calls itself http.
    const isItself = next.hostname === place.hostname && ["", "80", "443", place.port].includes(next.port);
    if (isItself && next.protocol === "http:" && place.protocol === "https:") {
      next.protocol = "https:";
      next.port = place.port;
    }
    if (next.origin !== place.origin) {
      const reason = say("sources.redirect_elsewhere", { host: place.host, to: next.origin });
      throw failure("rejected", action, reason);
    }
    if (moves === maxMoves) {
      const reason = say("net.too_many_redirects", { host: place.host, limit: maxMoves });
      throw failure("rejected", action, reason);
    }
    place = next;
  }
}
