import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { SourceKind } from "../../src/sources/source.ts";
import type { SeenRequest } from "../support/loopback.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** What a check and its other verbs are answered with, by a name for each document. */
export interface Documents {
  readonly [name: string]: Json;
}

/** What the hostile suite needs to know of a kind, in one of its ways to ask. */
export interface HostileSample {
  name: string;
  config(origin: string): Record<string, unknown>;
  secret: unknown;
  /** What must never reach another host, in each form in which it is sent. */
  secret_words: readonly string[];
  /** Good answers. */
  documents: Documents;
  /** Which document answers a request; a text is sent as it is, null is a 404. */
  route(request: SeenRequest): { document: string } | { text: string | Uint8Array; type: string } | null;
  /** The `number`-th page of an endless list, from 1: a document in place of the listed one. Left out where lists have no pages. */
  page?(number: number): { document: string; value: Json };
  /** How a request says which page it wants; 1 for the first. */
  pageOf(request: SeenRequest): number;
  /** The header or nothing by which an answer names its next page. */
  link(request: SeenRequest, origin: string, next: number): string | null;
  /** What a list comes with beside its own documents. */
  headers?(value: Json): Record<string, string>;
  /** A document as it is when everything was deleted. */
  emptied: { document: string; value: Json };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function sha(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}

function digest(text: string | Uint8Array): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function packet(line: string): string {
  return `${(line.length + 4).toString(16).padStart(4, "0")}${line}`;
}

/** What git answers to `ls-refs`. */
const refs = {
  text: `${packet(`${sha("1")} refs/tags/v1.0.0\n`)}${packet(`${sha("2")} refs/tags/v2.0.0 peeled:${sha("3")}\n`)}0000`,
  type: "application/x-git-upload-pack-result",
};

function query(request: SeenRequest, name: string): string | null {
  return new URL(request.path, "http://host").searchParams.get(name);
}

function numberedLink(request: SeenRequest, origin: string, next: number): string {
  const url = new URL(request.path, origin);
  url.searchParams.set("page", String(next));
  return `<${url.href}>; rel="next"`;
}

const numbered = (request: SeenRequest) => Number(query(request, "page") ?? 1);

const githubRelease = (tag: string) => ({
  tag_name: tag,
  draft: false,
  prerelease: false,
  published_at: "2025-01-02T03:04:05Z",
  html_url: `https://github.example/owner/app/releases/tag/${tag}`,
  body: "Notes",
});
const githubToken = "ghp_hostile-suite-0123456789";

const githubRest: HostileSample = {
  name: "github by REST",
  config: (origin) => ({ repository: "owner/app", fetch_mode: "rest", instance_url: origin }),
  secret: { token: githubToken },
  secret_words: [githubToken, base64(`x-access-token:${githubToken}`)],
  documents: { releases: [githubRelease("v2.0.0"), githubRelease("v1.0.0")], release: githubRelease("v1.0.0") },
  route: ({ path }) => {
    if (path.includes("/releases/tags/")) return { document: "release" };
    if (path.includes("/releases?")) return { document: "releases" };
    if (path.endsWith("/git-upload-pack")) return refs;
    return path.includes("/contents/") ? { text: "# Changes", type: "application/vnd.github.raw+json" } : null;
  },
  page: (number) => ({
    document: "releases",
    value: [githubRelease(`v${number}.0.0`), githubRelease(`v${number}.1.0`)],
  }),
  pageOf: numbered,
  link: numberedLink,
  emptied: { document: "releases", value: [] },
};

const graphqlTarget = { oid: sha("1"), __typename: "Commit", committedDate: "2025-01-02T03:04:05Z" };
const graphqlRelease = (tag: string) => ({
  tagName: tag,
  isDraft: false,
  isPrerelease: false,
  publishedAt: "2025-01-02T03:04:05Z",
  url: `https://github.example/owner/app/releases/tag/${tag}`,
  description: "Notes",
  tag: {
    target: { oid: sha("0"), __typename: "Tag", tagger: { date: "2025-01-02T03:04:05Z" }, target: graphqlTarget },
  },
});
const graphqlAnswer = (nodes: readonly Json[], cursor: string | null): Json => ({
  data: {
    repository: {
      nameWithOwner: "owner/app",
      releases: { totalCount: nodes.length, pageInfo: { hasNextPage: cursor !== null, endCursor: cursor }, nodes },
      refs: {
        totalCount: 1,
        pageInfo: { hasNextPage: false, endCursor: null },
        nodes: [{ name: "v1.0.0", target: graphqlTarget }],
      },
    },
  },
});

const githubGraphql: HostileSample = {
  ...githubRest,
  name: "github by GraphQL",
  config: (origin) => ({ repository: "owner/app", fetch_mode: "graphql", instance_url: origin }),
  documents: { answer: graphqlAnswer([graphqlRelease("v2.0.0"), graphqlRelease("v1.0.0")], null) },
  route: (request) => (request.path.endsWith("/graphql") ? { document: "answer" } : githubRest.route(request)),
  page: (number) => ({
    document: "answer",
    value: graphqlAnswer([graphqlRelease(`v${number}.0.0`)], `c${number + 1}`),
  }),
  pageOf: ({ body }) => Number(/"after":"c(\d+)"/.exec(body)?.[1] ?? 1),
  link: () => null,
  emptied: { document: "answer", value: graphqlAnswer([], null) },
};

const gitlabRelease = (tag: string) => ({
  tag_name: tag,
  description: "Notes",
  created_at: "2025-01-02T03:04:05.000Z",
  released_at: "2025-01-02T03:04:05.000Z",
  upcoming_release: false,
  commit: { id: sha(tag), created_at: "2025-01-02T03:04:05.000+00:00" },
  _links: { self: `https://gitlab.example/group/app/-/releases/${tag}` },
});
const gitlabTag = (tag: string) => ({ name: tag, created_at: null, commit: gitlabRelease(tag).commit });
const gitlabToken = "glpat-hostile-suite-0123456789";

const gitlab: HostileSample = {
  name: "gitlab",
  config: (origin) => ({ project: "group/app", instance_url: origin }),
  secret: { token: gitlabToken },
  secret_words: [gitlabToken, base64(`oauth2:${gitlabToken}`)],
  documents: {
    releases: [gitlabRelease("v2.0.0"), gitlabRelease("v1.0.0")],
    tags: [gitlabTag("v2.0.0"), gitlabTag("v1.0.0")],
  },
  route: ({ path }) => {
    if (path.includes("/releases?")) return { document: "releases" };
    if (path.includes("/repository/tags?")) return { document: "tags" };
    if (path.endsWith("/git-upload-pack")) return refs;
    return path.includes("/repository/files/") ? { text: "# Changes", type: "text/plain" } : null;
  },
  page: (number) => ({
    document: "releases",
    value: [gitlabRelease(`v${number}.0.0`), gitlabRelease(`v${number}.1.0`)],
  }),
  pageOf: numbered,
  link: numberedLink,
  emptied: { document: "releases", value: [] },
};

const ociConfig = {
  os: "linux",
  architecture: "amd64",
  created: "2025-01-02T03:04:05Z",
  config: { Env: ["A=b"], Labels: {} },
};
const ociConfigText = JSON.stringify(ociConfig);
const ociManifest = {
  schemaVersion: 2,
  mediaType: "application/vnd.oci.image.manifest.v1+json",
  config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: digest(ociConfigText), size: 100 },
  layers: [],
  annotations: { "org.opencontainers.image.revision": sha("1") },
};
const ociIndex = {
  schemaVersion: 2,
  mediaType: "application/vnd.oci.image.index.v1+json",
  manifests: [
    {
      mediaType: ociManifest.mediaType,
      digest: digest(JSON.stringify(ociManifest)),
      size: 100,
      platform: { os: "linux", architecture: "amd64" },
    },
  ],
};
const ociPassword = "hostile-suite-password-0123456789";

const oci: HostileSample = {
  name: "oci",
  config: (origin) => ({ image: "acme/app", registry: origin, published_at_mode: "build_time" }),
  secret: { username: "ci", password: ociPassword },
  secret_words: [ociPassword, base64(`ci:${ociPassword}`)],
  documents: {
    tags: { name: "acme/app", tags: ["1.0.0", "2.0.0"] },
    index: ociIndex,
    manifest: ociManifest,
    config: ociConfig,
  },
  route: ({ path }) => {
    if (path.includes("/tags/list")) return { document: "tags" };
    if (path.includes("/blobs/")) return { document: "config" };
    if (path.includes("/manifests/sha256:")) return { document: "manifest" };
    return path.includes("/manifests/") ? { document: "index" } : null;
  },
  page: (number) => ({ document: "tags", value: { name: "acme/app", tags: [`${number}.0.0`, `${number}.1.0`] } }),
  pageOf: (request) => Number(query(request, "last") ?? 1),
  link: (_request, _origin, next) => `</v2/acme/app/tags/list?n=1000&last=${next}>; rel="next"`,
  emptied: { document: "tags", value: { name: "acme/app", tags: [] } },
};

const giteaToken = "gitea-hostile-suite-0123456789";
const giteaRelease = (tag: string) => ({
  ...githubRelease(tag),
  html_url: `https://gitea.example/owner/app/releases/tag/${tag}`,
});

const gitea: HostileSample = {
  name: "gitea",
  config: (origin) => ({ repository: "owner/app", instance_url: origin }),
  secret: { token: giteaToken },
  secret_words: [giteaToken, base64(`oauth2:${giteaToken}`)],
  documents: {
    releases: [giteaRelease("v2.0.0"), giteaRelease("v1.0.0")],
    release: giteaRelease("v1.0.0"),
    contents: { type: "file", encoding: "base64", content: base64("# Changes") },
  },
  route: ({ path }) => {
    if (path.includes("/releases/tags/")) return { document: "release" };
    if (path.includes("/releases?")) return { document: "releases" };
    if (path.endsWith("/git-upload-pack")) return refs;
    return path.includes("/contents/") ? { document: "contents" } : null;
  },
  headers: (value) => (Array.isArray(value) ? { "x-total-count": String(value.length) } : {}),
  page: (number) => ({
    document: "releases",
    value: Array.from({ length: 50 }, (_, index) => giteaRelease(`v${number}.${index}.0`)),
  }),
  pageOf: numbered,
  link: numberedLink,
  emptied: { document: "releases", value: [] },
};

const helmAuth = "ci:hostile-suite-password-0123456789";
const helmWords = ["hostile-suite-password-0123456789", base64(helmAuth)];
const chartArchive = { text: gzipSync("A chart"), type: "application/gzip" };
const chart = (version: string) => ({
  name: "app",
  version,
  appVersion: "1.10",
  created: "2025-01-02T03:04:05Z",
  digest: digest(chartArchive.text),
  urls: [`app-${version}.tgz`],
  deprecated: false,
  description: "A chart",
});

const helmIndex: HostileSample = {
  name: "helm by its index",
  config: (origin) => ({ chart: "app", repository_url: origin }),
  secret: { basic_auth: helmAuth },
  secret_words: helmWords,
  documents: {
    index: { apiVersion: "v1", entries: { app: [chart("2.0.0"), chart("1.0.0")], other: [chart("3.0.0")] } },
  },
  route: ({ path }) => {
    if (path === "/index.yaml") return { document: "index" };
    return path.endsWith(".tgz") ? chartArchive : null;
  },
  pageOf: () => 1,
  link: () => null,
  emptied: { document: "index", value: { apiVersion: "v1", entries: { app: [] } } },
};

const chartConfig = { name: "app", version: "1.0.0", appVersion: "1.10", apiVersion: "v2", deprecated: false };
const chartManifest = {
  schemaVersion: 2,
  mediaType: ociManifest.mediaType,
  config: {
    mediaType: "application/vnd.cncf.helm.config.v1+json",
    digest: digest(JSON.stringify(chartConfig)),
    size: 100,
  },
  layers: [
    { mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", digest: digest(chartArchive.text), size: 27 },
  ],
  annotations: { "org.opencontainers.image.created": "2025-01-02T03:04:05Z" },
};

const helmRegistry: HostileSample = {
  ...oci,
  name: "helm by a registry",
  config: (origin) => ({ chart: "app", repository_url: `${origin.replace("http://", "oci+http://")}/acme` }),
  secret: { basic_auth: helmAuth },
  secret_words: helmWords,
  documents: { tags: { name: "acme/app", tags: ["1.0.0", "2.0.0"] }, index: chartManifest, config: chartConfig },
  route: ({ path }) => {
    if (path.includes("/tags/list")) return { document: "tags" };
    if (path.endsWith(`/blobs/${digest(chartArchive.text)}`)) return chartArchive;
    if (path.includes("/blobs/")) return { document: "config" };
    return path.includes("/manifests/") ? { document: "index" } : null;
  },
};

/** The compiler asks for a sample when a kind is added. */
export const hostileSamples: { readonly [K in SourceKind]: readonly HostileSample[] } = {
  gitea: [gitea],
  github: [githubRest, githubGraphql],
  gitlab: [gitlab],
  helm: [helmIndex, helmRegistry],
  oci: [oci],
};
