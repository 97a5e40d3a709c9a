import { createHash } from "node:crypto";

export interface StandInRelease {
  tag: string;
  released_at: string;
  created_at?: string;
  description?: string;
  upcoming?: boolean;
  /** Null where the repository is not open to the reader. */
  commit?: string | null;
}

export interface StandInTag {
  name: string;
  commit: string;
  committed_at: string;
  /** Of an annotated tag. */
  created_at?: string | null;
}

export interface StandInProject {
  id: number;
  path: string;
  /** Paths that it had before it was moved. */
  former: string[];
  releases: StandInRelease[];
  tags: StandInTag[];
  /** By `ref:path`; `HEAD` is the default branch. */
  files: Map<string, string>;
  /** Answers 404 to everybody without the token, as GitLab does. */
  is_private: boolean;
  releases_enabled: boolean;
  /** Whoever reads is a guest: releases come without tag and commit. */
  hides_code: boolean;
}

export interface SeenByGitLab {
  line: string;
  status: number;
  headers: Record<string, string>;
}

export interface StandInGitLab extends AsyncDisposable {
  url: string;
  host: string;
  projects: StandInProject[];
  seen: SeenByGitLab[];
  /** What no client may send; has to be empty at the end of each test. */
  violations: string[];
  /** Requests so far, without the part that all have. */
  take(): string[];
  /** Answers in place of GitLab while it returns something. */
  fault: (request: Request, url: URL) => Response | null;
  /** Without the `Link` header, as behind some proxies. */
  strips_links: boolean;
  /** Instances before 14.6 page tags by number alone. */
  knows_keyset: boolean;
  /** What the instance calls itself in links, where that is not its address. */
  external_url: string | null;
}

export const token = "glpat-stand-in_0123456789";
const rateLimit = 2_000;

export function commitId(seed: string): string {
  return createHash("sha1").update(seed).digest("hex");
}

export function project(given: Partial<StandInProject> = {}): StandInProject {
  return {
    id: 24,
    path: "acme/tools/app",
    former: [],
    releases: [],
    tags: [],
    files: new Map(),
    is_private: false,
    releases_enabled: true,
    hides_code: false,
    ...given,
  };
}

/** `count` releases, the newest first: `v<count>.0.0` down to `v1.0.0`, a day apart. */
export function releasesOf(count: number, name = (number: number) => `v${number}.0.0`): StandInRelease[] {
  return Array.from({ length: count }, (_, index) => {
    const number = count - index;
    return { tag: name(number), released_at: new Date(Date.UTC(2024, 0, number)).toISOString() };
  });
}

export function tagsOf(count: number): StandInTag[] {
  return releasesOf(count).map(({ tag, released_at }) => ({
    name: tag,
    commit: commitId(tag),
    committed_at: released_at,
    created_at: null,
  }));
}

/** Which parameters each part of the API documents, with what each takes. */
const documented: readonly { path: RegExp; parameters: Readonly<Record<string, RegExp>> }[] = [
  {
    path: /^\/releases$/,
    parameters: {
      order_by: /^(?:released_at|created_at)$/,
      sort: /^(?:asc|desc)$/,
      page: /^[1-9]\d*$/,
      per_page: /^(?:[1-9]\d?|100)$/,
    },
  },
  {
    path: /^\/repository\/tags$/,
    parameters: {
      order_by: /^(?:name|updated|version)$/,
      sort: /^(?:asc|desc)$/,
      pagination: /^keyset$/,
      page: /^[1-9]\d*$/,
      page_token: /^.+$/,
      per_page: /^(?:[1-9]\d?|100)$/,
    },
  },
  { path: /^\/repository\/files\/[^/]+\/raw$/, parameters: { ref: /^.+$/ } },
];

function violationsOf(request: Request, url: URL, rest: string, id: string): string[] {
  const found: string[] = [];
  const part = documented.find(({ path }) => path.test(rest));
  if (part === undefined) return [`no such part of the API: ${rest}`];
  if (request.method !== "GET") found.push(`method ${request.method}`);
  if (encodeURIComponent(decodeURIComponent(id)) !== id) found.push(`the id is not encoded: ${id}`);
  for (const [name, value] of url.searchParams) {
    const takes = Object.entries(part.parameters).find(([known]) => known === name)?.[1];
    if (takes === undefined) found.push(`undocumented parameter ${name}`);
    else if (!takes.test(value)) found.push(`${name}=${value}`);
    if (url.searchParams.getAll(name).length > 1) found.push(`${name} twice`);
  }
  if (request.headers.get("accept") !== "application/json") found.push(`accept: ${request.headers.get("accept")}`);
  for (const name of ["authorization", "cookie", "job-token"]) {
    if (request.headers.has(name)) found.push(`header ${name}`);
  }
  const etag = request.headers.get("if-none-match");
  if (etag !== null && !/^W\/"[0-9a-f]{32}"$/.test(etag)) found.push(`if-none-match: ${etag}`);
  return found;
}

function commitAnswer(id: string, at: string, page: string) {
  return {
    id,
    short_id: id.slice(0, 8),
    created_at: at.replace("Z", "+00:00"),
    parent_ids: [commitId(`before ${id}`)],
    title: "Prepare the release",
    message: "Prepare the release",
    author_name: "Administrator",
    author_email: "admin@example.com",
    authored_date: at,
    committer_name: "Administrator",
    committer_email: "admin@example.com",
    committed_date: at,
    trailers: {},
    web_url: `${page}/-/commit/${id}`,
  };
}

function releaseAnswer(owner: StandInProject, release: StandInRelease, base: string) {
  const { tag, released_at, description = `Notes of ${tag}`, upcoming = false } = release;
  const commit = release.commit === undefined ? commitId(tag) : release.commit;
  const page = `${base}/${owner.path}/-/releases/${encodeURIComponent(tag)}`;
  return {
    name: `App ${tag}`,
    ...(owner.hides_code ? {} : { tag_name: tag }),
    description,
    created_at: release.created_at ?? released_at,
    released_at,
    author: { id: 1, username: "root", name: "Administrator", state: "active", web_url: `${base}/root` },
    ...(owner.hides_code
      ? {}
      : { commit: commit === null ? null : commitAnswer(commit, released_at, `${base}/${owner.path}`) }),
    upcoming_release: upcoming,
    commit_path: `/${owner.path}/-/commit/${commit}`,
    tag_path: `/${owner.path}/-/tags/${tag}`,
    assets: {
      count: 1,
      ...(owner.hides_code
        ? {}
        : { sources: [{ format: "zip", url: `${base}/${owner.path}/-/archive/${tag}/app.zip` }] }),
      links: [],
    },
    evidences: [],
    _links: {
      closed_issues_url: `${base}/${owner.path}/-/issues?release_tag=${tag}`,
      self: page,
    },
  };
}

function tagAnswer(tag: StandInTag, page: string) {
  return {
    name: tag.name,
    message: tag.created_at ? "Annotated" : "",
    // Of an annotated tag this is the tag's own object, never the commit.
    target: tag.created_at ? commitId(`object of ${tag.name}`) : tag.commit,
    commit: commitAnswer(tag.commit, tag.committed_at, page),
    release: null,
    protected: false,
    created_at: tag.created_at ?? null,
  };
}

function message(text: string, status: number): Response {
  return Response.json({ message: text }, { status });
}

/** GitLab's REST API as far as it is used, with its paging, validators, limits and refusals. */
export function standInGitLab(...projects: StandInProject[]): StandInGitLab {
  const issued = new Set<string>();
  let remaining = rateLimit;

  const paged = (url: URL, list: readonly unknown[], nameOf: (index: number) => string): Response => {
    const perPage = Number(url.searchParams.get("per_page") ?? 20);
    const linkTo = (parameters: Record<string, string>) => {
      const target = new URL(`${gitlab.external_url ?? url.origin}${url.pathname}${url.search}`);
      target.searchParams.set("id", "24");
      for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
      return target.href;
    };
    const headers = new Headers();
    if (gitlab.knows_keyset && url.searchParams.get("pagination") === "keyset") {
      const after = url.searchParams.get("page_token");
      const start = after === null ? 0 : list.findIndex((_, index) => nameOf(index) === after) + 1;
      const page = list.slice(start, start + perPage);
      // GitLab names a next page after every full one, though it may be empty.
      if (page.length === perPage) {
        headers.set("link", `<${linkTo({ page_token: nameOf(start + perPage - 1) })}>; rel="next"`);
      }
      return Response.json(page, { headers });
    }
    const number = Number(url.searchParams.get("page") ?? 1);
    const pages = Math.max(Math.ceil(list.length / perPage), 1);
    const links = [
      ...(number > 1 ? [`<${linkTo({ page: String(number - 1) })}>; rel="prev"`] : []),
      ...(number < pages ? [`<${linkTo({ page: String(number + 1) })}>; rel="next"`] : []),
      `<${linkTo({ page: "1" })}>; rel="first"`,
      `<${linkTo({ page: String(pages) })}>; rel="last"`,
    ];
    headers.set("link", links.join(", "));
    headers.set("x-page", String(number));
    headers.set("x-per-page", String(perPage));
    headers.set("x-prev-page", number > 1 ? String(number - 1) : "");
    headers.set("x-next-page", number < pages ? String(number + 1) : "");
    headers.set("x-total", String(list.length));
    headers.set("x-total-pages", String(pages));
    return Response.json(list.slice((number - 1) * perPage, number * perPage), { headers });
  };

  const partOf = (owner: StandInProject, rest: string, url: URL): Response => {
    const base = gitlab.external_url ?? url.origin;
    if (rest === "/releases") {
      if (!owner.releases_enabled) return message("403 Forbidden", 403);
      const list = owner.releases.toSorted((a, b) => b.released_at.localeCompare(a.released_at));
      return paged(
        url,
        list.map((release) => releaseAnswer(owner, release, base)),
        (index) => list[index]?.tag ?? "",
      );
    }
    if (rest === "/repository/tags") {
      if (owner.hides_code) return message("403 Forbidden", 403);
      const list = owner.tags.toSorted((a, b) =>
        (b.created_at ?? b.committed_at).localeCompare(a.created_at ?? a.committed_at),
      );
      return paged(
        url,
        list.map((tag) => tagAnswer(tag, `${base}/${owner.path}`)),
        (index) => list[index]?.name ?? "",
      );
    }
    const file = decodeURIComponent(/^\/repository\/files\/([^/]+)\/raw$/.exec(rest)?.[1] ?? "");
    const ref = url.searchParams.get("ref") ?? "HEAD";
    if (![...owner.files.keys()].some((key) => key.startsWith(`${ref}:`))) return message("404 Commit Not Found", 404);
    const text = owner.files.get(`${ref}:${file}`);
    return text === undefined
      ? message("404 File Not Found", 404)
      : new Response(text, { headers: { "content-type": "text/plain; charset=utf-8" } });
  };

  /** Git's own listing of tags; the question was checked where it is made. */
  const upload = (request: Request, url: URL): Response => {
    if (request.method !== "POST" || request.headers.get("git-protocol") !== "version=2") {
      gitlab.violations.push(`${request.method} to git without version 2`);
    }
    if (request.headers.has("private-token")) gitlab.violations.push("git does not take a private-token");
    const owner = gitlab.projects.find((one) => url.pathname === `/${one.path}.git/git-upload-pack`);
    if (owner === undefined || owner.is_private) return new Response("HTTP Basic: Access denied", { status: 401 });
    const lines = owner.tags.map((tag) => `${tag.commit} refs/tags/${tag.name}\n`);
    const packets = lines.map((line) => `${(line.length + 4).toString(16).padStart(4, "0")}${line}`);
    const headers = { "content-type": "application/x-git-upload-pack-result", "cache-control": "no-cache" };
    return new Response(`${packets.join("")}0000`, { headers });
  };

  const answer = (request: Request, url: URL): Response => {
    const faulty = gitlab.fault(request, url);
    if (faulty !== null) return faulty;
    if (url.pathname.endsWith(".git/git-upload-pack")) return upload(request, url);
    const [, id = "", rest = ""] = /^\/api\/v4\/projects\/([^/]+)(\/.*)$/.exec(url.pathname) ?? [];
    const violations = violationsOf(request, url, rest, id);
    if (violations.length > 0) {
      gitlab.violations.push(...violations);
      return Response.json({ error: violations.join(", ") }, { status: 400 });
    }
    const sent = request.headers.get("private-token");
    if (sent !== null && sent !== token) return message("401 Unauthorized", 401);
    const name = decodeURIComponent(id);
    const owner = gitlab.projects.find((one) => [String(one.id), one.path, ...one.former].includes(name));
    if (owner === undefined || (owner.is_private && sent === null)) return message("404 Project Not Found", 404);
    if (owner.former.includes(name)) {
      const place = new URL(url);
      place.pathname = `/api/v4/projects/${owner.id}${rest}`;
      return new Response(`This resource has been moved permanently to ${place.href}`, {
        status: 301,
        headers: { location: `${gitlab.external_url ?? url.origin}${place.pathname}${place.search}` },
      });
    }
    return partOf(owner, rest, url);
  };

  /** A weak validator over the body, as Rack makes it, and 304 where the client has it. */
  const validated = async (request: Request, url: URL, response: Response): Promise<Response> => {
    if (response.status !== 200 || request.method !== "GET") return response;
    const body = await response.text();
    const etag = `W/"${createHash("md5").update(`${url.href}\n${body}`).digest("hex")}"`;
    const asked = request.headers.get("if-none-match");
    if (asked !== null && !issued.has(asked)) gitlab.violations.push(`a validator that was never given: ${asked}`);
    issued.add(etag);
    const headers = new Headers(response.headers);
    headers.set("etag", etag);
    headers.set("cache-control", "max-age=0, private, must-revalidate");
    headers.set("vary", "Origin");
    if (gitlab.strips_links) headers.delete("link");
    if (asked !== etag) return new Response(body, { headers });
    headers.delete("content-type");
    // A 304 of Rack keeps no paging headers that a proxy would need to repeat.
    headers.delete("link");
    return new Response(null, { status: 304, headers });
  };

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const response = await validated(request, url, answer(request, url));
      gitlab.seen.push({
        line: `${request.method} ${url.pathname}${url.search}`,
        status: response.status,
        headers: Object.fromEntries(request.headers),
      });
      if (!response.headers.has("ratelimit-limit")) {
        remaining = Math.max(remaining - 1, 1);
        response.headers.set("ratelimit-name", "throttle_authenticated_api");
        response.headers.set("ratelimit-limit", String(rateLimit));
        response.headers.set("ratelimit-observed", String(rateLimit - remaining));
        response.headers.set("ratelimit-remaining", String(remaining));
        response.headers.set("ratelimit-reset", "4102444800");
      }
      return response;
    },
  });
  const host = `127.0.0.1:${server.port}`;
  const gitlab: StandInGitLab = {
    url: `http://${host}`,
    host,
    projects,
    seen: [],
    violations: [],
    take: () => gitlab.seen.splice(0).map(({ line }) => line.replace("/api/v4/projects/", "")),
    fault: () => null,
    strips_links: false,
    knows_keyset: true,
    external_url: null,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
  return gitlab;
}
