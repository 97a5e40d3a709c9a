import * as v from "valibot";
import { parseInstant } from "../../clock.ts";
import type { PluginErrorCode } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import { type Explain, explained, failure, oneLine } from "../failure.ts";
import { readForgeJson } from "../forge/answer.ts";
import { believable, isObjectId, isUsableTag } from "../forge/believable.ts";
import { readRestRelease } from "../forge/rest-release.ts";
import type { UpstreamRelease } from "../source.ts";
import { tagPage } from "./instance.ts";

interface GitObject {
  oid?: string | undefined;
  __typename?: string | undefined;
  committedDate?: string | null | undefined;
  tagger?: { date?: string | null | undefined } | null | undefined;
  target?: GitObject | null | undefined;
}

const GitObject: v.GenericSchema<GitObject> = v.object({
  oid: v.optional(v.string()),
  __typename: v.optional(v.string()),
  committedDate: v.nullish(v.string()),
  tagger: v.nullish(v.object({ date: v.nullish(v.string()) })),
  target: v.nullish(v.lazy(() => GitObject)),
});

const ReleaseNode = v.object({
  tagName: v.string(),
  isDraft: v.boolean(),
  isPrerelease: v.boolean(),
  publishedAt: v.nullable(v.string()),
  url: v.string(),
  description: v.nullable(v.string()),
  tag: v.nullable(v.object({ target: v.nullable(GitObject) })),
});
const TagNode = v.object({ name: v.string(), target: v.nullable(GitObject) });

function connection<S extends v.GenericSchema>(node: S) {
  return v.object({
    totalCount: v.number(),
    pageInfo: v.object({ hasNextPage: v.boolean(), endCursor: v.nullable(v.string()) }),
    // A node that failed is null.
    nodes: v.array(v.nullable(node)),
  });
}

const Answer = v.object({
  data: v.nullish(
    v.object({
      repository: v.nullable(
        v.objectWithRest(
          {
            nameWithOwner: v.string(),
            releases: v.optional(connection(ReleaseNode)),
            refs: v.nullish(connection(TagNode)),
          },
          // The releases and tags requested by name, each under its own alias.
          v.unknown(),
        ),
      ),
    }),
  ),
  errors: v.optional(
    v.array(
      v.object({
        type: v.nullish(v.string()),
        message: v.optional(v.string(), ""),
        path: v.nullish(v.array(v.union([v.string(), v.number()]))),
      }),
    ),
  ),
});
type Answer = v.InferOutput<typeof Answer>;
type AnswerError = NonNullable<Answer["errors"]>[number];

const codes: Readonly<Record<string, PluginErrorCode>> = {
  NOT_FOUND: "not_found",
  FORBIDDEN: "unauthorized",
  INSUFFICIENT_SCOPES: "unauthorized",
  UNAUTHORIZED: "unauthorized",
  RATE_LIMITED: "rate_limited",
  RATE_LIMIT: "rate_limited",
  INTERNAL: "unreachable",
  SERVICE_UNAVAILABLE: "unreachable",
};

/** The status that the REST API returns for the same, so that both are explained alike. */
const statusOf: Readonly<Partial<Record<PluginErrorCode, number>>> = { not_found: 404, unauthorized: 403 };

function codeOf({ type, message }: AnswerError): PluginErrorCode {
  const known = codes[type ?? ""];
  if (known !== undefined) return known;
  // A query that timed out has no type.
  return /something went wrong|timed? ?out|timeout/i.test(message) ? "unreachable" : "rejected";
}

/** Part of one release or tag could not be read; the rest of the answer is valid. */
function isPartial({ path }: AnswerError): boolean {
  if (path?.[0] !== "repository") return false;
  const [, field, , node] = path;
  if (field === "releases" || field === "refs") return path.length > 4 && typeof node === "number";
  return typeof field === "string" && /^(?:release|tag)\d+$/.test(field) && path.length > 2;
}

interface Peeled {
  revision: string | null;
  dated_at: number | null;
}

/** The commit at the end of a chain of tags, and the date of the tag, or of the commit for a lightweight tag. */
function peel(target: GitObject | null | undefined): Peeled {
  let last = target ?? null;
  let date = last?.tagger?.date ?? null;
  while (last?.target !== null && last?.target !== undefined) last = last.target;
  date ??= last?.committedDate ?? null;
  const oid = last === null || last.__typename === "Tag" ? null : last.oid;
  return {
    revision: isObjectId(oid) ? oid : null,
    dated_at: date === null ? null : believable(parseInstant(date)),
  };
}

function readRelease(node: v.InferOutput<typeof ReleaseNode> | null): UpstreamRelease[] {
  if (node === null) return [];
  const release = readRestRelease({
    tag_name: node.tagName,
    draft: node.isDraft,
    prerelease: node.isPrerelease,
    published_at: node.publishedAt,
    html_url: node.url,
    body: node.description,
  });
  return release === null ? [] : [{ ...release, revision: peel(node.tag?.target).revision }];
}

function readTag(node: v.InferOutput<typeof TagNode> | null, web: string): UpstreamRelease[] {
  if (node === null || !isUsableTag(node.name)) return [];
  const { name } = node;
  const { revision, dated_at } = peel(node.target);
  return [
    { version: name, tag: name, stage: "tag", published_at: dated_at, revision, url: tagPage(web, name), notes: null },
  ];
}

export interface GraphqlPage {
  releases: readonly UpstreamRelease[];
  /** Entries of all kinds. */
  count: number;
  /** Where the next page begins; null after the last one. */
  cursor: string | null;
}

export interface GraphqlAnswer {
  name_with_owner: string;
  releases: GraphqlPage | null;
  tags: GraphqlPage | null;
  /** What was requested by name and exists. */
  named: readonly UpstreamRelease[];
}

type Connection<T> = { pageInfo: { hasNextPage: boolean; endCursor: string | null }; nodes: (T | null)[] };

function readPage<T>(
  list: Connection<T> | null | undefined,
  read: (node: T | null) => UpstreamRelease[],
): GraphqlPage | null {
  if (list === null || list === undefined) return null;
  const { hasNextPage, endCursor } = list.pageInfo;
  return { releases: list.nodes.flatMap(read), count: list.nodes.length, cursor: hasNextPage ? endCursor : null };
}

/**
 * Reads a GraphQL answer, which has status 200 even for errors. If only the tag of a release failed, the release has no revision this
 * time. Any other error, and an answer without the repository, is thrown with GitHub's own text. `web` is the repository's page.
 */
export async function readGraphqlAnswer(
  response: Response,
  action: Message,
  { web, explain }: { web: string; explain: Explain },
): Promise<GraphqlAnswer> {
  const { data, errors = [] } = await readForgeJson(response, Answer, action, explain);
  const serious = errors.filter((error) => !isPartial(error));
  const [first] = serious;
  if (first !== undefined) {
    const words = oneLine(serious.map((error) => error.message).join("; "), 300);
    const code = codeOf(first);
    const reason = say("sources.github_error", { said: words || (first.type ?? "") });
    throw failure(code, action, explained(reason, explain(statusOf[code] ?? 400)));
  }
  const repository = data?.repository ?? null;
  if (repository === null) {
    throw failure("malformed", action, say("sources.neither_repository_nor_error"));
  }
  const named = Object.entries(repository).flatMap(([field, value]) => {
    if (value === null || !/^(?:release|tag)\d+$/.test(field)) return [];
    const release = v.safeParse(ReleaseNode, value);
    if (release.success) return readRelease(release.output);
    const tag = v.safeParse(TagNode, value);
    return tag.success ? readTag(tag.output, web) : [];
  });
  return {
    name_with_owner: repository.nameWithOwner,
    releases: readPage(repository.releases, readRelease),
    tags: readPage(repository.refs, (node) => readTag(node, web)),
    named,
  };
}
