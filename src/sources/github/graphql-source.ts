import { type Message, say } from "../../messages/message.ts";
import type { PluginContext } from "../../plugin.ts";
import { failure } from "../failure.ts";
import { type ForgePage, listIncrementally, newestPageSize } from "../forge/listing.ts";
import type { Memo } from "../forge/memo.ts";
import type { Listing, ListRequest } from "../source.ts";
import { type GraphqlAnswer, readGraphqlAnswer } from "./graphql-answer.ts";
import { buildQuery, type QueryWish } from "./graphql-query.ts";
import { movedTo, type Places } from "./instance.ts";
import { explainGithub } from "./rest.ts";

/** The largest page of GitHub. */
const maxPageSize = 100;
/** A query has no validator, so its notes are transferred each time: a short page costs less. */
const newestPage = { each: 2, least: 20, most: maxPageSize };
/** Releases that one query requests by name; each one makes it slower, and few are ever watched. */
const maxNamed = 20;

/** Why GraphQL-first needs a token. */
export const graphqlNeedsToken = say("sources.graphql_needs_token");

/** The watched tags. Those that are probably not on the newest page come first. */
function watchedNames(request: ListRequest, memory: Memo | null): readonly string[] {
  const newest = memory?.entries.slice(0, newestPageSize(request, memory, newestPage)) ?? [];
  const near = new Set(newest.map(({ tag }) => tag));
  const far = request.watch.filter((tag) => !near.has(tag));
  return [...new Set([...far, ...request.watch])].slice(0, maxNamed);
}

/** GraphQL-first: releases with their commits in one query. */
export function graphqlSource(places: Places, token: string | null, context: PluginContext) {
  /** The first page of tags, if it came with the query for releases. */
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
    return await readGraphqlAnswer(response, action, { web: places.page, explain: explainGithub(token) });
  };

  /** A page, and how to read the next one. */
  const pageOf = (answer: GraphqlAnswer, list: Memo["list"], action: Message): ForgePage => {
    const { releases, count, cursor } = answer[list] ?? { releases: [], count: 0, cursor: null };
    const named = answer.named.filter(({ stage }) => (stage === "tag") === (list === "tags"));
    const wish = { first: maxPageSize, after: cursor };
    const next = async () => pageOf(await ask({ [list]: wish }, action), list, action);
    return { releases, count, total: null, named, next: cursor === null ? null : next };
  };

  /** Where this check found the repository, if it has moved. */
  let moved: string | null = null;
  const askFirst = async (wish: Partial<QueryWish>, action: Message): Promise<GraphqlAnswer> => {
    const answer = await ask(wish, action);
    moved = movedTo(places.name, answer.name_with_owner);
    return answer;
  };

  return {
    async listReleases(request: ListRequest): Promise<Listing> {
      const action = say("sources.list_releases", { name: places.name });
      const first = async (memory: Memo | null) => {
        const page = { first: newestPageSize(request, memory, newestPage), after: null };
        const names = watchedNames(request, memory);
        if (memory?.list !== "tags") {
          return pageOf(await askFirst({ releases: page, release_tags: names }, action), "releases", action);
        }
        // There were no releases last time: the tags that stand in for them come with the same request.
        early = await askFirst({ releases: page, tags: page, bare_tags: names }, action);
        return pageOf(early, "releases", action);
      };
      return { ...(await listIncrementally({ list: "releases", first }, request)), moved_to: moved };
    },

    async listTags(request: ListRequest): Promise<Listing> {
      const action = say("sources.list_tags", { name: places.name });
      const first = async (memory: Memo | null) => {
        const page = { first: newestPageSize(request, memory, newestPage), after: null };
        const answer = early ?? (await askFirst({ tags: page, bare_tags: watchedNames(request, memory) }, action));
        early = null;
        return pageOf(answer, "tags", action);
      };
      return { ...(await listIncrementally({ list: "tags", first }, request)), moved_to: moved };
    },
  };
}
