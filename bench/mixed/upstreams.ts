// Five upstreams in a process of their own, each on an origin of its own. They answer from memory, packed as the real ones pack,
// with a 304 where the real one has validators, and keep a record of what was asked.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { answerParent } from "../child.ts";
import {
  giteaReleases,
  githubGraphql,
  githubReleases,
  gitlabReleases,
  gitRefs,
  helmIndex,
  versions,
} from "./content.ts";
import type { Addresses, MixedKind, Recorded } from "./plan.ts";

interface Traffic {
  requests: number;
  unchanged: number;
  bytes: number;
}

let recorded: Recorded[] = [];
const traffic = new Map<MixedKind, Traffic>();

interface Packed {
  body: Uint8Array<ArrayBuffer>;
  etag: string;
}
const packed = new Map<string, Packed>();

function pack(key: string, text: () => string): Packed {
  const known = packed.get(key);
  if (known !== undefined) return known;
  const body = new Uint8Array(gzipSync(text()));
  const made = { body, etag: `"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"` };
  packed.set(key, made);
  return made;
}

interface Asked {
  request: Request;
  url: URL;
  body: string | null;
}

interface Reply {
  kind: MixedKind;
  key: string;
  text: () => string;
  type: string;
  headers?: Readonly<Record<string, string>>;
  has_validator: boolean;
}

/** Headers that a bare loop has to repeat to get the same answer. */
const repeated = ["accept", "content-type", "git-protocol", "authorization", "if-none-match"];

function note(kind: MixedKind, { request, url, body }: Asked, status: number, bytes: number): void {
  const sum = traffic.get(kind) ?? { requests: 0, unchanged: 0, bytes: 0 };
  sum.requests += 1;
  sum.bytes += bytes;
  if (status === 304) sum.unchanged += 1;
  traffic.set(kind, sum);
  const headers = Object.fromEntries(repeated.flatMap((name) => [[name, request.headers.get(name) ?? ""]]));
  const present = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""));
  recorded.push({ kind, method: request.method, url: url.href, headers: present, body });
}

function send(asked: Asked, reply: Reply): Response {
  const { body, etag } = pack(reply.key, reply.text);
  const headers: Record<string, string> = { ...reply.headers, "content-type": reply.type };
  if (reply.has_validator) headers.etag = etag;
  const isUnchanged = reply.has_validator && asked.request.headers.get("if-none-match") === etag;
  note(reply.kind, asked, isUnchanged ? 304 : 200, isUnchanged ? 0 : body.byteLength);
  if (isUnchanged) return new Response(null, { status: 304, headers });
  return new Response(body, { headers: { ...headers, "content-encoding": "gzip" } });
}

const json = "application/json; charset=utf-8";

function answerRegistry(asked: Asked): Response {
  const path = asked.url.pathname;
  const digestOf = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
  const config = JSON.stringify({ created: "2026-01-01T00:00:00Z", os: "linux", architecture: "amd64", config: {} });
  const type = "application/vnd.oci.image.manifest.v1+json";
  const layer = {
    mediaType: "application/vnd.oci.image.config.v1+json",
    digest: digestOf(config),
    size: config.length,
  };
  const manifest = JSON.stringify({ schemaVersion: 2, mediaType: type, config: layer, layers: [] });
  const answer = (body: string | null, headers: Record<string, string>) => {
    note("oci", asked, 200, body?.length ?? 0);
    return new Response(body, { headers });
  };
  if (path.endsWith("/tags/list")) {
    const name = path.slice("/v2/".length, -"/tags/list".length);
    return answer(JSON.stringify({ name, tags: [...versions, "latest"] }), { "content-type": json });
  }
  const named = { "content-type": type, "docker-content-digest": digestOf(manifest) };
  if (path.includes("/manifests/")) {
    if (asked.request.method !== "HEAD") return answer(manifest, named);
    return answer(null, { ...named, "content-length": String(manifest.length) });
  }
  return answer(path.includes("/blobs/") ? config : "{}", { "content-type": json });
}

function answerGit(kind: MixedKind, asked: Asked): Response {
  const name = asked.url.pathname.slice(1).replace(/\.git\/.*$/, "");
  const type = "application/x-git-upload-pack-result";
  return send(asked, { kind, key: `git ${name}`, text: () => gitRefs(name), type, has_validator: false });
}

function answerGithub(asked: Asked): Response {
  const { pathname, searchParams, origin } = asked.url;
  if (pathname.endsWith("/git-upload-pack")) return answerGit("github_rest", asked);
  const reset = String(Math.ceil(Date.now() / 3_600_000) * 3_600);
  const headers = { "x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4321", "x-ratelimit-reset": reset };
  if (pathname === "/api/graphql") {
    const { variables } = JSON.parse(asked.body ?? "{}");
    const [name, count] = [`${variables.owner}/${variables.name}`, Number(variables.first)];
    const key = `graphql ${name} ${count}`;
    const text = () => githubGraphql(origin, name, count);
    return send(asked, { kind: "github_graphql", key, text, type: json, headers, has_validator: false });
  }
  const name = pathname.split("/").slice(4, 6).join("/");
  const count = Number(searchParams.get("per_page"));
  const more = count < versions.length ? { link: `<${origin}${pathname}?per_page=${count}&page=2>; rel="next"` } : {};
  const text = () => githubReleases(origin, name, count);
  const key = `rest ${name} ${count}`;
  return send(asked, {
    kind: "github_rest",
    key,
    text,
    type: json,
    headers: { ...headers, ...more },
    has_validator: true,
  });
}

function answerGitlab(asked: Asked): Response {
  const { pathname, searchParams, origin } = asked.url;
  const name = decodeURIComponent(pathname.split("/")[4] ?? "");
  const count = Number(searchParams.get("per_page"));
  const next = new URL(asked.url);
  next.searchParams.set("page", "2");
  const headers = { "x-total": String(versions.length), link: `<${next.href}>; rel="next"` };
  const text = () => gitlabReleases(origin, name, count);
  return send(asked, {
    kind: "gitlab",
    key: `gitlab ${name} ${count}`,
    text,
    type: json,
    headers,
    has_validator: true,
  });
}

function answerGitea(asked: Asked): Response {
  const { pathname, searchParams, origin } = asked.url;
  if (pathname.endsWith("/git-upload-pack")) return answerGit("gitea", asked);
  const name = pathname.split("/").slice(4, 6).join("/");
  const count = Number(searchParams.get("limit"));
  const text = () => giteaReleases(origin, name, count);
  const headers = { "x-total-count": String(versions.length) };
  return send(asked, { kind: "gitea", key: `gitea ${name} ${count}`, text, type: json, headers, has_validator: false });
}

function answerCharts(asked: Asked): Response {
  const { pathname, origin } = asked.url;
  const name = pathname.split("/")[1] ?? "";
  const text = () => helmIndex(origin, name);
  return send(asked, { kind: "helm", key: `helm ${name}`, text, type: "application/yaml", has_validator: true });
}

function serve(answer: (asked: Asked) => Response): string {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const body = request.method === "POST" ? await request.text() : null;
      return answer({ request, url: new URL(request.url), body });
    },
  });
  return `http://127.0.0.1:${server.port}`;
}

const addresses: Addresses = {
  oci: serve(answerRegistry),
  github: serve(answerGithub),
  gitlab: serve(answerGitlab),
  gitea: serve(answerGitea),
  helm: serve(answerCharts),
};

answerParent(async () => {
  const answer = { addresses, recorded, traffic: Object.fromEntries(traffic) };
  recorded = [];
  traffic.clear();
  return answer;
});
