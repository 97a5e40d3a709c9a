import type { SourceKind } from "../../src/sources/source.ts";
import { instant, standInGitea } from "../sources/gitea/stand-in-gitea.ts";
import { token as githubToken, type Mode } from "../sources/github/github-world.ts";
import { addTag, hubRepository, oid } from "../sources/github/hub-content.ts";
import { startGithub } from "../sources/github/stand-in-github.ts";
import { commitId, project, standInGitLab } from "../sources/gitlab/stand-in-gitlab.ts";
import { addImage, emptyContent, manifestType, serve, sha256, standIn } from "../sources/oci/stand-in-registry.ts";

export interface Published {
  stage?: "prerelease" | "draft";
  /** Its commit or digest cannot be found out. */
  is_unresolved?: boolean;
}

export interface Fault {
  status: number;
  type: string;
  body: string;
}

/** An upstream of one kind on loopback, in the words that all kinds share. */
export interface KindWorld extends AsyncDisposable {
  config: Record<string, unknown>;
  secret: Record<string, unknown> | null;
  /** The tracker's own settings. */
  preferences?: Record<string, unknown>;
  publish(tag: string, at: number, given?: Published): void;
  /** Gives a tag another commit or digest; on an unresolved one, its first. Left out where upstream pins it for ever. */
  move?: (tag: string, seed: string) => void;
  /** Makes an unresolved one known; left out where the kind always knows. */
  resolve?: (tag: string) => void;
  /** Takes everything away; what it returns brings it back as it was. */
  empty(): () => void;
  /** Renames the repository; the place that a configuration names leads to it. Left out where nothing can be renamed. */
  rename?: (path: string) => void;
  fail(fault: Fault | null): void;
  /** How many requests came since the last call, and how many of them were answered with 304. */
  taken(): { requests: number; unchanged: number };
  /** What the stand-in found wrong about requests. */
  violations(): readonly string[];
}

export interface KindCase {
  name: string;
  kind: SourceKind;
  /** Requests of a check that finds nothing new, with one channel (requirement 8). */
  cost: number;
  /** How many of these are conditional and answered so. */
  conditional: number;
  /** Releases and pre-releases are upstream's own words. */
  has_types: boolean;
  open(now: () => number): Promise<KindWorld>;
}

const iso = (at: number) => new Date(at).toISOString();

function failing(fault: Fault | null): Response | null {
  return fault === null
    ? null
    : new Response(fault.body, { status: fault.status, headers: { "content-type": fault.type } });
}

async function github(mode: Mode, now: () => number): Promise<KindWorld> {
  const hub = await startGithub(now);
  hub.tokens.add(githubToken);
  hub.limits = { anonymous: 100_000, token: 100_000 };
  const repository = hubRepository("acme", "app");
  hub.repositories.push(repository);
  return {
    config: { repository: "acme/app", fetch_mode: mode, instance_url: hub.url },
    secret: mode === "graphql" ? { token: githubToken } : null,
    publish: (tag, at, { stage, is_unresolved = false } = {}) => {
      const is_draft = stage === "draft";
      const published_at = is_draft ? null : iso(at);
      repository.releases = repository.releases.filter((release) => release.tag !== tag);
      const is_prerelease = stage === "prerelease";
      repository.releases.push({
        tag,
        created_at: iso(at),
        published_at,
        is_draft,
        is_prerelease,
        notes: `Notes ${tag}`,
      });
      if (!is_unresolved) addTag(repository, tag, iso(at));
    },
    move: (tag, seed) => {
      addTag(repository, tag, iso(now()), 0, oid(seed));
    },
    resolve: (tag) => {
      addTag(repository, tag, iso(now()));
    },
    empty: () => {
      const { releases } = repository;
      repository.releases = [];
      return () => {
        repository.releases = releases;
      };
    },
    rename: (path) => {
      const [owner = "", name = ""] = path.split("/");
      const former = path === "acme/app" ? [] : ["acme/app"];
      Object.assign(repository, { owner, name, former });
    },
    fail: (fault) => {
      hub.fault = () =>
        fault === null ? null : { status: fault.status, headers: { "content-type": fault.type }, body: fault.body };
    },
    taken: () => {
      const seen = hub.seen.splice(0);
      return { requests: seen.length, unchanged: seen.filter(({ status }) => status === 304).length };
    },
    violations: () => hub.violations,
    [Symbol.asyncDispose]: () => hub[Symbol.asyncDispose](),
  };
}

async function gitlab(usesTags: boolean): Promise<KindWorld> {
  const acme = project({ path: "acme/app" });
  const hub = standInGitLab(acme);
  const change = (tag: string, commit: string) => {
    acme.releases = acme.releases.map((release) => (release.tag === tag ? { ...release, commit } : release));
    acme.tags = acme.tags.map((known) => (known.name === tag ? { ...known, commit } : known));
  };
  return {
    config: { project: "acme/app", instance_url: hub.url },
    secret: null,
    ...(usesTags ? { preferences: { release_fallback: true } } : {}),
    publish: (tag, at, { stage, is_unresolved = false } = {}) => {
      // GitLab has no drafts: what is announced for later stands for them nowhere.
      if (stage === "draft") return;
      const commit = is_unresolved ? null : commitId(tag);
      acme.tags.unshift({ name: tag, commit: commitId(tag), committed_at: iso(at), created_at: null });
      if (usesTags) return;
      acme.releases = acme.releases.filter((release) => release.tag !== tag);
      acme.releases.unshift({ tag, released_at: iso(at), upcoming: stage === "prerelease", commit });
    },
    ...(usesTags ? { move: (tag: string, seed: string) => change(tag, commitId(seed)) } : {}),
    ...(usesTags ? {} : { resolve: (tag: string) => change(tag, commitId(tag)) }),
    empty: () => {
      const { releases, tags } = acme;
      acme.releases = [];
      if (usesTags) acme.tags = [];
      return () => Object.assign(acme, { releases, tags });
    },
    rename: (path) => {
      Object.assign(acme, { path, former: [acme.path] });
    },
    fail: (fault) => {
      hub.fault = () => failing(fault);
    },
    taken: () => {
      const seen = hub.seen.splice(0);
      return { requests: seen.length, unchanged: seen.filter(({ status }) => status === 304).length };
    },
    violations: () => hub.violations,
    [Symbol.asyncDispose]: () => hub[Symbol.asyncDispose](),
  };
}

async function gitea(hidesTotal: boolean): Promise<KindWorld> {
  const stand = standInGitea();
  stand.hides_total = hidesTotal;
  let fault: Fault | null = null;
  let requests = 0;
  const server = standIn(async (request, url) => {
    requests += 1;
    const body = request.method === "POST" ? { method: "POST", body: await request.text() } : {};
    const place = new URL(`${url.pathname}${url.search}`, "https://gitea.example");
    return failing(fault) ?? (await stand.fetch(place, { headers: request.headers, ...body }));
  });
  const minuteOf = (at: number) => (at - instant(0)) / 60_000;
  return {
    config: { repository: "owner/app", instance_url: `${server.url}/forge` },
    secret: null,
    publish: (tag, at, { stage, is_unresolved = false } = {}) => {
      stand.releases = stand.releases.filter((release) => release.tag !== tag);
      stand.add(tag, minuteOf(at), { draft: stage === "draft", prerelease: stage === "prerelease" });
      if (is_unresolved) stand.tags.delete(tag);
    },
    move: (tag, seed) => stand.tags.set(tag, oid(seed)),
    resolve: (tag) => stand.tags.set(tag, oid(tag)),
    empty: () => {
      const { releases } = stand;
      stand.releases = [];
      return () => {
        stand.releases = releases;
      };
    },
    rename: (path) => {
      stand.path = path === "acme/app" ? "owner/app" : path;
    },
    fail: (given) => {
      fault = given;
    },
    taken: () => {
      stand.take();
      const count = requests;
      requests = 0;
      return { requests: count, unchanged: 0 };
    },
    violations: () => [],
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

function counted(server: ReturnType<typeof standIn>): KindWorld["taken"] {
  return () => {
    const seen = server.seen.splice(0);
    return { requests: seen.length, unchanged: seen.filter(({ status }) => status === 304).length };
  };
}

async function helmIndex(): Promise<KindWorld> {
  const versions = new Map<string, { at: number; digest: string | null }>();
  let fault: Fault | null = null;
  const server = standIn((request) => {
    const entries = [...versions].map(([version, { at, digest }]) => [
      `  - name: app\n    version: ${version}\n    appVersion: "${version}"\n    created: "${iso(at)}"`,
      `    urls: [app-${version}.tgz]${digest === null ? "" : `\n    digest: ${digest}`}`,
    ]);
    const charts = entries.length === 0 ? "  app: []" : `  app:\n${entries.flat().join("\n")}`;
    const body = `apiVersion: v1\nentries:\n${charts}\n`;
    const etag = `"${sha256(body)}"`;
    if (fault === null && request.headers.get("if-none-match") === etag) return new Response(null, { status: 304 });
    return failing(fault) ?? new Response(body, { headers: { etag, "content-type": "text/yaml" } });
  });
  const digestOf = (seed: string) => sha256(seed).slice("sha256:".length);
  const change = (tag: string, seed: string) => {
    versions.set(tag, { at: versions.get(tag)?.at ?? 0, digest: digestOf(seed) });
  };
  return {
    config: { chart: "app", repository_url: `${server.url}/charts` },
    secret: null,
    publish: (tag, at, { stage, is_unresolved = false } = {}) => {
      if (stage !== "draft") versions.set(tag, { at, digest: is_unresolved ? null : digestOf(tag) });
    },
    move: change,
    resolve: (tag) => change(tag, tag),
    empty: () => {
      const before = [...versions];
      versions.clear();
      return () => {
        for (const [version, entry] of before) versions.set(version, entry);
      };
    },
    fail: (given) => {
      fault = given;
    },
    taken: counted(server),
    violations: () => [],
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** A registry of images or of charts. */
async function registry(isChart: boolean): Promise<KindWorld> {
  const content = emptyContent();
  const unresolved = new Set<string>();
  let fault: Fault | null = null;
  const server = standIn((request, url) => {
    const tag = /\/manifests\/(.+)$/.exec(url.pathname)?.[1] ?? "";
    return (
      failing(fault) ??
      (unresolved.has(tag) ? new Response(null, { status: 404 }) : serve(content, "acme/app", request, url))
    );
  });
  const build = (tag: string, at: number, seed: string) => {
    if (!isChart) {
      addImage(content, tag, { created: iso(at), config: { Labels: { seed } } });
      return;
    }
    const chart = JSON.stringify({ apiVersion: "v2", name: "app", version: tag, appVersion: tag, description: seed });
    content.blobs.set(sha256(chart), chart);
    const mediaType = "application/vnd.cncf.helm.config.v1+json";
    const config = { mediaType, digest: sha256(chart), size: chart.length };
    const annotations = { "org.opencontainers.image.created": iso(at) };
    const body = JSON.stringify({ schemaVersion: 2, mediaType: manifestType, config, layers: [], annotations });
    content.manifests.set(sha256(body), { type: manifestType, body });
    content.tags.set(tag, { type: manifestType, body });
  };
  return {
    config: isChart
      ? { chart: "app", repository_url: `${server.url.replace("http://", "oci+http://")}/acme` }
      : { image: "acme/app", registry: server.url },
    secret: null,
    publish: (tag, at, { stage, is_unresolved = false } = {}) => {
      if (stage === "draft") return;
      build(tag, at, tag);
      if (is_unresolved) unresolved.add(tag);
    },
    move: (tag, seed) => {
      build(tag, 1_767_000_000_000, seed);
    },
    resolve: (tag) => {
      unresolved.delete(tag);
    },
    empty: () => {
      const before = [...content.tags];
      content.tags.clear();
      return () => {
        for (const [tag, manifest] of before) content.tags.set(tag, manifest);
      };
    },
    fail: (given) => {
      fault = given;
    },
    taken: counted(server),
    violations: () => [],
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

export const kindCases: readonly KindCase[] = [
  {
    name: "github by GraphQL",
    kind: "github",
    cost: 1,
    conditional: 0,
    has_types: true,
    open: (now) => github("graphql", now),
  },
  {
    name: "github by REST",
    kind: "github",
    cost: 2,
    conditional: 1,
    has_types: true,
    open: (now) => github("rest", now),
  },
  { name: "gitlab", kind: "gitlab", cost: 1, conditional: 1, has_types: true, open: () => gitlab(false) },
  { name: "gitlab's bare tags", kind: "gitlab", cost: 2, conditional: 2, has_types: false, open: () => gitlab(true) },
  { name: "gitea", kind: "gitea", cost: 2, conditional: 0, has_types: true, open: () => gitea(false) },
  {
    name: "gitea that does not count",
    kind: "gitea",
    cost: 2,
    conditional: 0,
    has_types: true,
    open: () => gitea(true),
  },
  { name: "helm", kind: "helm", cost: 1, conditional: 1, has_types: false, open: helmIndex },
  { name: "oci", kind: "oci", cost: 2, conditional: 0, has_types: false, open: () => registry(false) },
  { name: "helm by a registry", kind: "helm", cost: 2, conditional: 0, has_types: false, open: () => registry(true) },
];
