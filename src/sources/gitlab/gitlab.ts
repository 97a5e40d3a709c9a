import { say } from "../../messages/message.ts";
import { readText } from "../../net/read-json.ts";
import type { PluginContext } from "../../plugin.ts";
import { failure, parseConfig } from "../failure.ts";
import { readForgeJson, readRefusal } from "../forge/answer.ts";
import { listTagCommits } from "../forge/git-refs.ts";
import { type ForgePage, listIncrementally } from "../forge/listing.ts";
import { decodePath } from "../forge/place.ts";
import { parseToken } from "../forge/token.ts";
import type { Listing, ListRequest, OpenSource, Source } from "../source.ts";
import { ownPage, projectOfPage, Releases, Tags, toRelease, toTag } from "./answers.ts";
import { type GitLabAnswer, type GitLabApi, gitLabApi, refused } from "./api.ts";
import { nextPage, totalOf } from "./pages.ts";
import { apiUrl, isNumericId, type Project, parseProject } from "./project.ts";
import { GitLabConfig } from "./schema.ts";
import { webPages } from "./web-pages.ts";

/** Releases on one page: GitLab reads a commit for each, and a large page would be too large to store for the next check. */
const releasesPerPage = { usual: 20, deep: 50 };
const tagsPerPage = 100;
/** Requests for the names of all tags. */
const maxNamePages = 100;
/** Of a changelog, in characters. */
const maxFileCharacters = 4 * 1024 * 1024;

const releasesClosed = say("sources.releases_closed");
const codeClosed = say("sources.repository_closed");

function projectOf(input: unknown): Project {
  const { project, instance_url } = parseConfig(GitLabConfig, input);
  return parseProject(project, instance_url);
}

interface Opened {
  project: Project;
  is_anonymous: boolean;
  api: GitLabApi;
  context: PluginContext;
}

/** The ID in an address of a project's API. */
function idOf(url: URL): string | null {
  const id = /\/api\/v4\/projects\/([^/]+)/.exec(url.pathname)?.[1];
  return id === undefined ? null : decodePath(id);
}

/**
 * Where a renamed or moved project is now, in the form of the configuration: its path if a release or commit page shows it, or the ID
 * that GitLab redirects to. An ID in the configuration stays valid.
 */
function placeOf(project: Project, pages: readonly (string | null)[], answer: GitLabAnswer | null): string | null {
  if (isNumericId(project.id) || answer === null) return null;
  const isSame = (path: string) => path.toLowerCase() === project.id.toLowerCase();
  const path = pages.map((page) => projectOfPage(page, project.instance)).find((found) => found !== null) ?? null;
  const id = idOf(answer.url);
  const isRedirected = id !== null && !isSame(id);
  if (path !== null && !isSame(path)) {
    // Below a path that only the instance knows, the project's path has ours at its end.
    return isRedirected || !path.toLowerCase().endsWith(`/${project.id.toLowerCase()}`) ? path : null;
  }
  return isRedirected && path === null ? id : null;
}

/** Reads one page; `next` is the address of the page after it. */
type Read = (url: URL) => Promise<Omit<ForgePage, "next"> & { next: URL | null }>;

/** Follows the addresses of pages until one leads back or repeats what was read: some servers never name a last page. */
function pagesFrom(first: URL, read: Read): Promise<ForgePage> {
  const visited = new Set<string>();
  const tags = new Set<string>();
  const readPage = async (url: URL): Promise<ForgePage> => {
    visited.add(url.href);
    const { next, ...page } = await read(url);
    const before = tags.size;
    for (const { tag } of page.releases) tags.add(tag);
    const isRepeated = page.releases.length > 0 && tags.size === before;
    const isLast = next === null || page.count === 0 || isRepeated || visited.has(next.href);
    return { ...page, next: isLast ? null : () => readPage(next) };
  };
  return readPage(first);
}

async function listReleases({ project, api, context }: Opened, request: ListRequest): Promise<Listing> {
  const { explain } = api;
  const action = say("sources.list_releases", { name: project.id });
  const now = context.clock.now();
  const { usual, deep } = releasesPerPage;
  let moved: string | null = null;
  const read: Read = async (url) => {
    const answer = await api.get(url, action);
    const { response } = answer;
    if (!response.ok) throw refused(await readRefusal(response), action, { closed: releasesClosed, explain });
    const entries = await readForgeJson(response, Releases, action, explain);
    if (entries.length > 0 && entries.every((entry) => typeof entry.tag_name !== "string")) {
      throw failure("unauthorized", action, say("sources.releases_without_tags"));
    }
    const releases = entries.flatMap((entry) => toRelease(entry, project.instance, now) ?? []);
    moved ??= placeOf(
      project,
      releases.map(({ url }) => url),
      answer,
    );
    return { releases, count: entries.length, next: nextPage(answer, action), total: totalOf(answer) };
  };
  const first = apiUrl(project, "/releases", {
    order_by: "released_at",
    sort: "desc",
    per_page: String(request.limit <= usual ? usual : deep),
  });
  const listing = await listIncrementally({ list: "releases", first: () => pagesFrom(first, read) }, request);
  return { ...listing, moved_to: moved };
}

/** Pages of bare tags. A project without a repository has none: GitLab returns a 404 that names nothing. */
function tagPages({ project, api }: Opened) {
  const url = apiUrl(project, "/repository/tags", {
    order_by: "updated",
    sort: "desc",
    pagination: "keyset",
    per_page: String(tagsPerPage),
  });
  const action = say("sources.list_tags", { name: project.id });
  const pageOf = (tag: string) => webPages(project).version({ tag, stage: "tag", url: null });
  let moved: string | null = null;
  const read: Read = async (url) => {
    const answer = await api.get(url, action);
    const { response } = answer;
    if (!response.ok) {
      const refusal = await readRefusal(response);
      if (refusal.status !== 404 || refusal.words !== "404 Not Found")
        throw refused(refusal, action, { closed: codeClosed, explain: api.explain });
      return { releases: [], count: 0, next: null, total: 0 };
    }
    const entries = await readForgeJson(response, Tags, action, api.explain);
    const pages = entries.slice(0, 1).map(({ commit }) => ownPage(commit?.web_url, project.instance));
    moved ??= placeOf(project, pages, answer);
    const releases = entries.flatMap((entry) => toTag(entry, pageOf) ?? []);
    return { releases, count: entries.length, next: nextPage(answer, action), total: totalOf(answer) };
  };
  return { first: () => pagesFrom(url, read), moved: () => moved };
}

async function listTags(opened: Opened, request: ListRequest): Promise<Listing> {
  const pages = tagPages(opened);
  const listing = await listIncrementally({ list: "tags", first: pages.first }, request);
  return { ...listing, moved_to: pages.moved() };
}

/**
 * The names of all tags. Git lists them with one request that counts against no limit. A token may be valid only for the API, so with
 * a token the API is read page by page.
 */
async function listNames(opened: Opened): Promise<readonly string[]> {
  const { project, context, is_anonymous } = opened;
  if (is_anonymous && !isNumericId(project.id)) {
    const page = new URL(`${project.instance}/${project.id}`);
    return [...(await listTagCommits(page, context, null, opened.api.explain)).keys()];
  }
  const names = new Set<string>();
  let next: ForgePage["next"] = tagPages(opened).first;
  for (let pages = 0; next !== null && pages < maxNamePages; pages++) {
    const page: ForgePage = await next();
    for (const { tag } of page.releases) names.add(tag);
    next = page.next;
  }
  return [...names];
}

async function readFile({ project, api }: Opened, path: string, ref: string | null): Promise<string | null> {
  const action = say("sources.read_file", { path: path.slice(0, 200), name: project.id });
  // "HEAD" is the default branch.
  const url = apiUrl(project, `/repository/files/${encodeURIComponent(path)}/raw`, { ref: ref ?? "HEAD" });
  const { response } = await api.get(url, action);
  if (!response.ok) {
    const refusal = await readRefusal(response);
    const isMissing = refusal.status === 404 && /^404 (?:File|Commit|Tree|Ref) Not Found$/.test(refusal.words);
    if (!isMissing) throw refused(refusal, action, { closed: codeClosed, explain: api.explain });
    return null;
  }
  const text = await readText(response);
  if (text.length <= maxFileCharacters) return text;
  const values = { characters: text.length, limit: maxFileCharacters };
  throw failure("malformed", action, say("sources.file_too_long", values));
}

function openGitLab(config: unknown, secret: unknown, context: PluginContext): OpenSource {
  const project = projectOf(config);
  const token = parseToken(secret);
  const opened = { project, context, is_anonymous: token === null, api: gitLabApi(project, token, context) };
  return {
    listReleases: (request) => listReleases(opened, request),
    listTags: (request) => listTags(opened, request),
    listNames: () => listNames(opened),
    readFile: (path, ref) => readFile(opened, path, ref),
  };
}

/**
 * Projects on gitlab.com and on other instances, by the REST API of version 4. The revision of a release is the commit in its entry, so
 * an unchanged project costs one conditional request. GitLab stores this commit when the release is made: a tag that moves later only
 * shows in the list of bare tags.
 */
export const gitlab: Source<"gitlab"> = {
  kind: "gitlab",
  title: "GitLab",
  Config: GitLabConfig,
  has_release_types: true,
  reads_files: true,
  tells_publish_times: true,
  open: openGitLab,
  host: (config) => new URL(projectOf(config).instance).host,
  pages: (config) => webPages(projectOf(config)),
  place_field: "project",
  // Each instance has its own limits, and reports them. Tags are a second list, requested if there are no releases.
  cost: (_config, { has_fallback }) => {
    const requests = has_fallback ? 2 : 1;
    return { requests, quota: requests, hourly_limit: null };
  },
};
