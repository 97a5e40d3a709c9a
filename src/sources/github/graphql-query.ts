/**
 * A tag may point to another tag: three levels are followed, and a longer chain has no revision.
 */
const peeled = `oid __typename
      ... on Commit { committedDate }
      ... on Tag { tagger { date } target { oid __typename
        ... on Commit { committedDate }
        ... on Tag { target { oid __typename
          ... on Commit { committedDate }
          ... on Tag { target { oid __typename ... on Commit { committedDate } } } } } } }`;

const releaseFacts = `fragment ReleaseFacts on Release {
  tagName isDraft isPrerelease publishedAt url description
  tag { target { ...Peeled } }
}`;
const tagFacts = `fragment TagFacts on Ref {
  name
  target { ...Peeled }
}`;
const peeledFacts = `fragment Peeled on GitObject { ${peeled} }`;

/** One page of a list. */
export interface PageWish {
  first: number;
  after: string | null;
}

export interface QueryWish {
  owner: string;
  name: string;
  releases: PageWish | null;
  tags: PageWish | null;
  /** Requested by name, wherever they are in the list. */
  release_tags: readonly string[];
  bare_tags: readonly string[];
}

interface Query {
  query: string;
  variables: Record<string, string | number | null>;
}

const page = "pageInfo { hasNextPage endCursor }";

/** The only query of a check. Names are variables: a tag's name never becomes part of the query text. */
export function buildQuery(wish: QueryWish): Query {
  const variables: Query["variables"] = { owner: wish.owner, name: wish.name };
  const types = ["$owner: String!", "$name: String!"];
  const declare = (name: string, type: string, value: string | number | null) => {
    types.push(`$${name}: ${type}`);
    variables[name] = value;
  };
  const fields = ["nameWithOwner"];
  if (wish.releases !== null) {
    declare("first", "Int!", wish.releases.first);
    declare("after", "String", wish.releases.after);
    const order = "orderBy: { field: CREATED_AT, direction: DESC }";
    fields.push(`releases(first: $first, after: $after, ${order}) { totalCount ${page} nodes { ...ReleaseFacts } }`);
  }
  if (wish.tags !== null) {
    declare("firstTags", "Int!", wish.tags.first);
    declare("afterTags", "String", wish.tags.after);
    const order = "orderBy: { field: TAG_COMMIT_DATE, direction: DESC }";
    const range = `refPrefix: "refs/tags/", first: $firstTags, after: $afterTags`;
    fields.push(`refs(${range}, ${order}) { totalCount ${page} nodes { ...TagFacts } }`);
  }
  for (const [index, tag] of wish.release_tags.entries()) {
    declare(`release${index}`, "String!", tag);
    fields.push(`release${index}: release(tagName: $release${index}) { ...ReleaseFacts }`);
  }
  for (const [index, tag] of wish.bare_tags.entries()) {
    declare(`tag${index}`, "String!", `refs/tags/${tag}`);
    fields.push(`tag${index}: ref(qualifiedName: $tag${index}) { ...TagFacts }`);
  }
  const isAskingReleases = wish.releases !== null || wish.release_tags.length > 0;
  const isAskingTags = wish.tags !== null || wish.bare_tags.length > 0;
  const body = `query Tidemark(${types.join(", ")}) {
  repository(owner: $owner, name: $name) {
    ${fields.join("\n    ")}
  }
}`;
  // GraphQL refuses unused fragments.
  const fragments = [...(isAskingReleases ? [releaseFacts] : []), ...(isAskingTags ? [tagFacts] : []), peeledFacts];
  return { query: [body, ...fragments].join("\n"), variables };
}
