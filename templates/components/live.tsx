import { type PageContext, url } from "../page.ts";

interface LiveProps {
  ctx: PageContext;
  id: string;
  /**
   * A local path that streams `text/event-stream`. Each message is HTML made of `Partial`s that name what they replace; give each an `id:`
   * so that a broken stream resumes, and send a comment or `event: ping` every 10 seconds.
   */
  events: string;
  /** A local path that returns the same partials at once; requested every 5 seconds while the stream is silent. */
  poll: string;
}

/**
 * Keeps part of an open page up to date: one stream per page, and only while there is something to wait for (leave it out once a run has
 * ended). Needs `<Layout live>`, which loads the stream extension.
 */
export function Live({ ctx, id, events, poll }: LiveProps) {
  return <div id={id} hx-sse:connect={url(ctx, events)} hx-swap="none" data-poll={url(ctx, poll)} />;
}

/**
 * Keeps a part of an open page, and `others` by their ids, as the server shows them: requests the page every 15 seconds. What is unfolded
 * or busy stays so.
 */
export function refreshedPart(ctx: PageContext, path: string, id: string, others: readonly string[] = []) {
  return {
    "hx-get": url(ctx, path),
    "hx-trigger": "every 15s",
    "hx-select": `#${id}`,
    "hx-select-oob": others.map((each) => `#${each}:outerMorph`).join(","),
    "hx-swap": "outerMorph",
  };
}
