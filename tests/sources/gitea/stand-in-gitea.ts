import { createHash } from "node:crypto";
import { systemClock } from "../../../src/clock.ts";
import type { PluginContext } from "../../../src/plugin.ts";
import { gitea } from "../../../src/sources/gitea/gitea.ts";
import type { KnownRelease, Listing, ListRequest, OpenSource } from "../../../src/sources/source.ts";

/** A release in the forge; times in minutes after 2026. */
export interface StoredRelease {
  tag: string;
  minute: number;
  prerelease?: boolean;
  draft?: boolean;
  notes?: string;
}

export const instant = (minute: number): number => Date.UTC(2026, 0, 1) + minute * 60_000;
export const commitOf = (name: string): string => createHash("sha1").update(name).digest("hex");

const question = "0014command=ls-refs\n00010009peel\n001aref-prefix refs/tags/\n0000";
const packet = (line: string) => `${(Buffer.byteLength(line) + 4).toString(16).padStart(4, "0")}${line}`;

export interface StandInGitea {
  releases: StoredRelease[];
  /** Commit by tag. */
  tags: Map<string, string>;
  files: Map<string, string>;
  /** Where the repository is; asked elsewhere, the answer is a redirect. */
  path: string;
  /** Anonymous requests see nothing when there is one. */
  token: string | null;
  /** Of an administrator who allows less. */
  largest_page: number;
  /** Answers are without `X-Total-Count`. */
  hides_total: boolean;
  /** The requests so far, and forgets them. */
  take(): string[];
  open(token?: string | null): OpenSource;
  /** As it answers at `https://gitea.example/forge`. */
  fetch(url: URL, init?: RequestInit): Promise<Response>;
  /** Adds a release with its tag. */
  add(tag: string, minute: number, more?: Partial<StoredRelease>): void;
}

/**
 * What a Gitea 1.26 answers, as `tests/real/gitea.test.ts` sees it of a real one. Every request is judged: address, parameters, headers
 * and body; one that a real forge would not understand fails the test.
 */
export function standInGitea(): StandInGitea {
  const seen: string[] = [];
  const prefix = "/forge";
  const stand: StandInGitea = {
    releases: [],
    tags: new Map(),
    files: new Map(),
    path: "owner/app",
    token: null,
    largest_page: 50,
    hides_total: false,
    take: () => seen.splice(0),
    open: (token = null) => {
      const config = { repository: "owner/app", instance_url: `https://gitea.example${prefix}` };
      return gitea.open(config, token === null ? null : { token }, context);
    },
    fetch: (url, init) => fetch(url, init),
    add: (tag, minute, more = {}) => {
      stand.releases.push({ tag, minute, ...more });
      stand.tags.set(tag, commitOf(tag));
    },
  };

  const refuse = (status: number, message: string) => Response.json({ errors: null, message }, { status });
  const wireOf = ({ tag, minute, prerelease = false, draft = false, notes = "" }: StoredRelease) => ({
    id: minute,
    tag_name: tag,
    target_commitish: "main",
    draft,
    prerelease,
    published_at: new Date(instant(minute)).toISOString(),
    html_url: `https://gitea.example${prefix}/${stand.path}/releases/tag/${tag}`,
    body: notes,
  });

  const listReleases = (query: URLSearchParams, isSignedIn: boolean): Response => {
    const names = [...query.keys()].toSorted();
    if (names.join() !== "draft,limit,page") throw new Error(`Unexpected parameters ${names}`);
    const size = Math.min(Number(query.get("limit")), stand.largest_page);
    const start = (Number(query.get("page")) - 1) * size;
    const drafts = query.get("draft") === "false" || !isSignedIn;
    const all = stand.releases.filter(({ draft }) => !drafts || draft !== true).toSorted((a, b) => b.minute - a.minute);
    const headers: Record<string, string> = stand.hides_total ? {} : { "x-total-count": String(all.length) };
    return Response.json(all.slice(start, start + size).map(wireOf), { headers });
  };

  const answerApi = (rest: string, query: URLSearchParams, isSignedIn: boolean): Response => {
    if (rest === "/releases") return listReleases(query, isSignedIn);
    const [, tag] = /^\/releases\/tags\/([^/]+)$/.exec(rest) ?? [];
    if (tag !== undefined) {
      const release = stand.releases.find((one) => one.tag === decodeURIComponent(tag));
      return release === undefined ? refuse(404, "not found") : Response.json(wireOf(release));
    }
    const [, file] = /^\/contents\/(.+)$/.exec(rest) ?? [];
    if (file === undefined) throw new Error(`Unexpected path ${rest}`);
    const text = stand.files.get(`${query.get("ref") ?? ""}:${decodeURIComponent(file)}`);
    if (text === undefined) return refuse(404, "not found");
    const content = Buffer.from(text).toString("base64");
    return Response.json({ type: "file", encoding: "base64", content });
  };

  const answerGit = (headers: Headers, body: unknown): Response => {
    const isRight = headers.get("git-protocol") === "version=2" && body === question;
    if (!isRight) throw new Error(`Unexpected question ${body}`);
    const lines = [...stand.tags].map(([tag, commit]) =>
      packet(`${commitOf(`object ${tag}`)} refs/tags/${tag} peeled:${commit}\n`),
    );
    return new Response(`${lines.join("")}0000`, {
      headers: { "content-type": "application/x-git-upload-pack-result" },
    });
  };

  const fetch = async (url: URL, init: RequestInit = {}): Promise<Response> => {
    seen.push(`${init.method ?? "GET"} ${url.pathname.slice(prefix.length)}${url.search}`);
    if (url.origin !== "https://gitea.example" || !url.pathname.startsWith(`${prefix}/`))
      throw new Error(`Sent to ${url}`);
    const path = url.pathname.slice(prefix.length);
    const [, api, owner, name, rest = ""] = /^(\/api\/v1\/repos)?\/([^/]+)\/([^/]+)(\/.*)$/.exec(path) ?? [];
    const headers = new Headers(init.headers);
    const basic = `Basic ${btoa(`oauth2:${stand.token}`)}`;
    const authorization = headers.get("authorization");
    const isSignedIn = stand.token !== null && authorization === (api === undefined ? basic : `token ${stand.token}`);
    if (authorization !== null && !isSignedIn) return refuse(401, "invalid username, password or token");
    if (stand.token !== null && !isSignedIn) return refuse(404, "not found");
    const asked = `${owner}/${name?.replace(/\.git$/, "")}`;
    if (asked === "owner/app" && stand.path !== asked) {
      const location = url.pathname.replace("/owner/app", `/${stand.path}`) + url.search;
      return new Response(null, { status: 301, headers: { location } });
    }
    if (asked !== stand.path) return refuse(404, "not found");
    if (api !== undefined && init.method === undefined) return answerApi(rest, url.searchParams, isSignedIn);
    if (rest === "/git-upload-pack" && init.method === "POST") return answerGit(headers, init.body);
    throw new Error(`Unexpected request ${init.method} ${url}`);
  };
  const context: PluginContext = { fetch, signal: new AbortController().signal, clock: systemClock };
  return stand;
}

export function request(more: Partial<ListRequest> = {}): ListRequest {
  return { limit: 20, accepts: [() => true], known: new Map(), watch: [], memo: null, ...more };
}

/** The next request after a listing, as a check makes it: what was returned is known, its first is watched. */
export function after(
  before: Listing,
  more: Partial<ListRequest> = {},
  stored: ListRequest["known"] = new Map(),
): ListRequest {
  const known = new Map<string, KnownRelease>(stored);
  for (const { tag, revision, published_at } of before.releases) known.set(tag, { revision, published_at });
  return request({ known, memo: before.memo, watch: before.releases.slice(0, 1).map(({ tag }) => tag), ...more });
}

export function tagsOf(listing: Listing | undefined): string[] {
  return (listing?.releases ?? []).map(({ tag }) => tag);
}
