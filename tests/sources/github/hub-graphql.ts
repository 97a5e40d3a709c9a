import { schema as published } from "@octokit/graphql-schema";
import { buildSchema, execute, GraphQLError, type GraphQLSchema, parse, validate } from "graphql";
import type { HubRelease, HubRepository } from "./hub-content.ts";

let built: GraphQLSchema | null = null;

/** GitHub's published schema: a query that it refuses is refused here. */
function hubSchema(): GraphQLSchema {
  // The published text defines two fields twice, which `graphql` would refuse to read.
  built ??= buildSchema(published.idl, { assumeValidSDL: true });
  return built;
}

function failure(type: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { type } });
}

interface ConnectionArguments {
  first?: number | null;
  after?: string | null;
}

function connection<T, N>(name: string, items: readonly T[], given: ConnectionArguments, toNode: (item: T) => N) {
  const { first, after } = given;
  if (first === undefined || first === null) {
    throw failure(
      "MISSING_PAGINATION_BOUNDARIES",
      `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`,
    );
  }
  if (first > 100) {
    throw failure(
      "EXCESSIVE_PAGINATION",
      `Requesting ${first} records on the \`${name}\` connection exceeds the \`first\` limit of 100 records.`,
    );
  }
  const start = after ? Number(Buffer.from(after, "base64url").toString().split(":")[2]) : 0;
  const nodes = items.slice(start, start + first);
  const end = start + nodes.length;
  return {
    totalCount: items.length,
    nodes: nodes.map(toNode),
    pageInfo: {
      hasNextPage: end < items.length,
      hasPreviousPage: start > 0,
      startCursor: null,
      endCursor: nodes.length === 0 ? null : Buffer.from(`cursor:v2:${end}`).toString("base64url"),
    },
  };
}

function gitObject(
  tag: { objects: readonly string[]; committed_at: string; tagged_at: string | null },
  level = 0,
): Record<string, unknown> {
  const isCommit = level === tag.objects.length - 1;
  return isCommit
    ? { __typename: "Commit", oid: tag.objects[level], committedDate: tag.committed_at }
    : {
        __typename: "Tag",
        oid: tag.objects[level],
        tagger: tag.tagged_at === null ? null : { date: tag.tagged_at },
        target: () => gitObject(tag, level + 1),
      };
}

function tagNode(repository: HubRepository, name: string): Record<string, unknown> | null {
  const tag = repository.tags.get(name);
  return tag === undefined ? null : { __typename: "Ref", name, prefix: "refs/tags/", target: () => gitObject(tag) };
}

interface HubView {
  repositories: readonly HubRepository[];
  seesPrivate: boolean;
  origin: string;
  /** Thrown by a release's tag, as GitHub does when only a part of an answer fails. */
  brokenTags: ReadonlySet<string>;
}

function releaseNode(repository: HubRepository, release: HubRelease, view: HubView): Record<string, unknown> {
  const newest = repository.releases.filter((one) => one.is_draft !== true && one.is_prerelease !== true);
  return {
    tagName: release.tag,
    isDraft: release.is_draft ?? false,
    isPrerelease: release.is_prerelease ?? false,
    isLatest: newest.at(-1) === release,
    createdAt: release.published_at ?? release.created_at,
    publishedAt: release.published_at,
    url: `${view.origin}/${repository.owner}/${repository.name}/releases/tag/${encodeURIComponent(release.tag)}`,
    description: release.notes ?? null,
    name: `Release ${release.tag}`,
    tag: () => {
      if (view.brokenTags.has(release.tag))
        throw failure("INTERNAL", "Something went wrong while executing your query.");
      return tagNode(repository, release.tag);
    },
  };
}

function repositoryNode(repository: HubRepository, view: HubView): Record<string, unknown> {
  const visible = repository.releases.filter((release) => release.is_draft !== true || view.seesPrivate);
  const byCreation = visible.toSorted(
    (a, b) => Date.parse(b.published_at ?? b.created_at) - Date.parse(a.published_at ?? a.created_at),
  );
  return {
    nameWithOwner: `${repository.owner}/${repository.name}`,
    isArchived: repository.is_archived,
    releases: (given: ConnectionArguments) =>
      connection("releases", byCreation, given, (release) => releaseNode(repository, release, view)),
    release: ({ tagName }: { tagName: string }) => {
      const release = visible.find((one) => one.tag === tagName);
      return release === undefined ? null : releaseNode(repository, release, view);
    },
    refs: ({ refPrefix, ...given }: ConnectionArguments & { refPrefix: string }) => {
      if (refPrefix !== "refs/tags/") return null;
      const names = [...repository.tags].toSorted(
        ([, a], [, b]) => Date.parse(b.committed_at) - Date.parse(a.committed_at),
      );
      return connection("refs", names, given, ([name]) => tagNode(repository, name));
    },
    ref: ({ qualifiedName }: { qualifiedName: string }) =>
      tagNode(repository, qualifiedName.replace(/^refs\/tags\//, "")),
  };
}

/** Executes one query as GitHub does: its errors carry `type` beside `message`, and a broken query has no data at all. */
export async function answerGraphql(
  body: { query: string; variables?: Record<string, unknown> },
  view: HubView,
): Promise<Record<string, unknown>> {
  const toAnswer = (error: GraphQLError) => {
    const { extensions, ...rest } = error.toJSON();
    return { ...(typeof extensions?.type === "string" ? { type: extensions.type } : {}), ...rest };
  };
  const document = parse(body.query);
  const mistakes = validate(hubSchema(), document);
  if (mistakes.length > 0) return { errors: mistakes.map(toAnswer) };
  const repository = ({ owner, name }: { owner: string; name: string }) => {
    const wanted = `${owner}/${name}`.toLowerCase();
    const found = view.repositories.find(
      (one) => `${one.owner}/${one.name}`.toLowerCase() === wanted || one.former.includes(wanted),
    );
    if (found === undefined || (found.is_private && !view.seesPrivate)) {
      throw failure("NOT_FOUND", `Could not resolve to a Repository with the name '${owner}/${name}'.`);
    }
    return repositoryNode(found, view);
  };
  const result = await execute({
    schema: hubSchema(),
    document,
    rootValue: { repository },
    variableValues: body.variables ?? {},
  });
  const { errors, data } = result;
  return { ...(data === undefined ? {} : { data }), ...(errors === undefined ? {} : { errors: errors.map(toAnswer) }) };
}
