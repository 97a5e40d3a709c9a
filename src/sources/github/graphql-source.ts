import { type Message, say } from "../../messages/message.ts";
import type { PluginContext } from "../../plugin.ts";
import { failure } from "../failure.ts";
import type { Listing, ListRequest } from "../source.ts";
import { type GraphqlAnswer, type GraphqlPage, readGraphqlAnswer } from "./graphql-answer.ts";
import { buildQuery, type QueryWish } from "./graphql-query.ts";
import { movedTo, type Places } from "./instance.ts";
import { type Memo, parseMemo } from "./memo.ts";
import { createWindow } from "./window.ts";

/** GitHub gives no more in one page. */
const maxPageSize = 100;
/** Releases that are asked by name in one query; each makes it dearer for GitHub, and few are ever watched. */
const maxNamed = 20;

/** Why GraphQL-first cannot do without a token. */
export const graphqlNeedsToken = say("sources.graphql_needs_token");

/**
 * Entries of the newest page. Every check transfers it with its notes, for a query has no validator, so it is short; what lies
 * beyond it is remembered. A first check reads long pages at once.
 */
function pageSize(request: ListRequest, memory: Memo | null): number {
  return memory === null ? maxPageSize : Math.min(Math.max(request.limit * 2, 20), maxPageSize);
}

/** Watched names that were not on the newest page last time, as long as it is asked to be now. */
function farWatched(request: ListRequest, memory: Memo | null): readonly string[] {
  if (memory === null) return [];
  const near = new Set([...memory.seen.keys()].slice(0, Math.min(memory.page, pageSize(request, memory))));
  return request.watch.filter((tag) => !near.has(tag)).slice(0, maxNamed);
}

const emptyPage: GraphqlPage = { found: [], hasMore: false, cursor: null };

/** GraphQL-first: the releases with their commits in one query. */
export function graphqlSource(places: Places, token: string | null, context: PluginContext) {
  /** The first page of tags that came with the releases' query. */
  let early: GraphqlAnswer | null = null;

  const ask = async (wish: Partial<QueryWish>, action: Message): Promise<GraphqlAnswer> => {
    if (token === null) throw failure("unauthorized", action, graphqlNeedsToken);
    const [owner = "", name = ""] = places.name.split("/");
    const query = buildQuery({ owner, name, releases: null, tags: null, release_tags: [], bare_tags: [], ...wish });
    const headers = {
      accept: "application/vnd.github+json",
      "content-type": "application/json",
      authorization: `Bearer ${token}`,
    };
    const init = { method: "POST", headers, body: JSON.stringify(query), redirect: "manual" } as const;
    const response = await context.fetch(new URL(places.graphql), init);
    return await readGraphqlAnswer(response, action, places.page);
  };

  return {
    async listReleases(request: ListRequest): Promise<Listing> {
      const action = say("sources.list_releases", { name: places.name });
      const memory = parseMemo(request.memo);
      const window = createWindow("releases", request, memory);
      const first = pageSize(request, memory);
      const usesTags = memory?.kind === "tags";
      const answer = await ask(
        {
          releases: { first, after: null },
          // There were none last time: the tags that stand in for them come in the same request.
          ...(usesTags
            ? { tags: { first, after: null }, bare_tags: farWatched(request, memory) }
            : { release_tags: farWatched(request, memory) }),
        },
        action,
      );
      early = usesTags ? answer : null;
      let page = answer.releases ?? emptyPage;
      window.add(page);
      while (window.needsMore()) {
        const next = await ask({ releases: { first: maxPageSize, after: page.cursor } }, action);
        page = next.releases ?? emptyPage;
        window.add(page);
      }
      const moved_to = movedTo(places.name, answer.name_with_owner);
      const listing = window.listing(answer.named.filter((found) => found.stage !== "tag"));
      // What is remembered of the tags stays until there are releases.
      return { ...listing, memo: listing.total === 0 ? request.memo : listing.memo, moved_to };
    },

    async listTags(request: ListRequest): Promise<Listing> {
      const action = say("sources.list_tags", { name: places.name });
      const memory = parseMemo(request.memo);
      // Tags stand in for releases where there never were any: an emptied list is no reason to announce them.
      if (memory?.kind === "releases") return { releases: [], total: 0, memo: request.memo };
      const window = createWindow("tags", request, memory);
      const first = pageSize(request, memory);
      const answer = early ?? (await ask({ tags: { first, after: null } }, action));
      early = null;
      let page = answer.tags ?? emptyPage;
      window.add(page);
      while (window.needsMore()) {
        const next = await ask({ tags: { first: maxPageSize, after: page.cursor } }, action);
        page = next.tags ?? emptyPage;
        window.add(page);
      }
      return { ...window.listing(answer.named), moved_to: movedTo(places.name, answer.name_with_owner) };
    },
  };
}
