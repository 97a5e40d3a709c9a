import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import type { PluginContext } from "../../plugin.ts";
import type { Listing, ListRequest, OpenSource, Source, UpstreamRelease } from "../source.ts";
import { projectOfPage, Releases, Tags, toRelease, toTag } from "./answers.ts";
import { failure, type GitLabAnswer, type GitLabApi, gitLabApi, parseAnswer, refusal } from "./api.ts";
import { nextPage, totalOf } from "./pages.ts";
import { apiUrl, decodePath, isNumericId, type Project, parseProject } from "./project.ts";
import { GitLabConfig, GitLabSecret } from "./schema.ts";
import { listByPages, type Page } from "./walk.ts";

/** Releases in one page: GitLab reads a commit for each, and a large page would be too much to keep for the next check. */
const releasesPerPage = { usual: 20, deep: 50 };
const tagsPerPage = 100;
/** Most requests for the names of all tags. */
const maxNamePages = 100;
/** Of a changelog, in characters. */
const maxFileCharacters = 4 * 1024 * 1024;

function parseConfig(input: unknown): Project {
  const parsed = v.safeParse(GitLabConfig, input);
  if (parsed.success) return parseProject(parsed.output.project, parsed.output.instance_url);
  const [issue] = parsed.issues;
  throw new PluginError(
    "rejected",
    `The source has an error in "${v.getDotPath(issue) ?? "itself"}": ${issue.message}`,
  );
}

interface Opened {
  project: Project;
  api: GitLabApi;
  context: PluginContext;
}

/** The id in an address of a project's API. */
function idOf(url: URL): string | null {
  const id = /\/api\/v4\/projects\/([^/]+)/.exec(url.pathname)?.[1];
  return id === undefined ? null : decodePath(id);
}

/**
 * Where a renamed or moved project is now, as a configuration would name it: its path where a release says it, else the id that GitLab
 * redirects to. An id in the configuration is right for ever.
 */
function placeOf(project: Project, releases: readonly UpstreamRelease[], answer: GitLabAnswer | null): string | null {
  if (isNumericId(project.id) || answer === null) return null;
  const isSame = (path: string) => path.toLowerCase() === project.id.toLowerCase();
  const path = releases.map(({ url }) => projectOfPage(url, project.instance)).find((found) => found !== null) ?? null;
  const id = idOf(answer.url);
  const isRedirected = id !== null && !isSame(id);
  if (path !== null && !isSame(path)) {
    // Below a path that only the instance knows of, a project ends as we name it.
    return isRedirected || !path.toLowerCase().endsWith(`/${project.id.toLowerCase()}`) ? path : null;
  }
  return isRedirected && path === null ? id : null;
}

async function listReleases({ project, api, context }: Opened, request: ListRequest): Promise<Listing> {
  const action = `list the releases of "${project.id}"`;
  const now = context.clock.now();
  const { usual, deep } = releasesPerPage;
  let moved: string | null = null;
  const read = async (url: URL): Promise<Page> => {
    const answer = await api.get(url, action);
    if (!answer.response.ok) {
      throw refusal(answer, action, "its releases are turned off, or closed to those who are not members");
    }
    const entries = await parseAnswer(answer, Releases, action);
    if (entries.length > 0 && entries.every((entry) => typeof entry.tag_name !== "string")) {
      const reason = "its releases come without their tags: the credential may not read the repository";
      throw failure("unauthorized", action, reason);
    }
    const releases = entries.flatMap((entry) => toRelease(entry, project.instance, now) ?? []);
    moved ??= placeOf(project, releases, answer);
    return { releases, isEmpty: entries.length === 0, next: nextPage(answer, action), total: totalOf(answer) };
  };
  const first = apiUrl(project, "/releases", {
    order_by: "released_at",
    sort: "desc",
    per_page: String(request.limit <= usual ? usual : deep),
  });
  const listing = await listByPages(first, read, request);
  return { ...listing, moved_to: moved };
}

function tagsUrl(project: Project): URL {
  return apiUrl(project, "/repository/tags", {
    order_by: "updated",
    sort: "desc",
    pagination: "keyset",
    per_page: String(tagsPerPage),
  });
}

/** Pages of bare tags. A project whose repository was never made has none, which GitLab says with a 404 that names nothing. */
function tagPages({ project, api, context }: Opened, action: string) {
  const now = context.clock.now();
  const pageOf = (tag: string) =>
    isNumericId(project.id) ? null : `${project.instance}/${project.id}/-/tags/${encodeURIComponent(tag)}`;
  let moved: string | null = null;
  const read = async (url: URL): Promise<Page> => {
    const answer = await api.get(url, action);
    if (answer.response.status === 404 && /"404 Not Found"/.test(answer.body)) {
      return { releases: [], isEmpty: true, next: null, total: 0 };
    }
    if (!answer.response.ok) throw refusal(answer, action, "its repository is closed to those who are not members");
    const entries = await parseAnswer(answer, Tags, action);
    moved ??= placeOf(project, [], answer);
    const releases = entries.flatMap((entry) => toTag(entry, pageOf, now) ?? []);
    return { releases, isEmpty: entries.length === 0, next: nextPage(answer, action), total: totalOf(answer) };
  };
  return { read, moved: () => moved };
}

async function listTags(opened: Opened, request: ListRequest): Promise<Listing> {
  const pages = tagPages(opened, `list the tags of "${opened.project.id}"`);
  const listing = await listByPages(tagsUrl(opened.project), pages.read, request);
  return { ...listing, moved_to: pages.moved() };
}

async function listNames(opened: Opened): Promise<readonly string[]> {
  const pages = tagPages(opened, `list the tags of "${opened.project.id}"`);
  const names = new Set<string>();
  let url: URL | null = tagsUrl(opened.project);
  for (let page = 0; url !== null && page < maxNamePages; page++) {
    const { releases, isEmpty, next } = await pages.read(url);
    const before = names.size;
    for (const { tag } of releases) names.add(tag);
    url = isEmpty || (releases.length > 0 && names.size === before) ? null : next;
  }
  return [...names];
}

async function readFile({ project, api }: Opened, path: string, ref: string | null): Promise<string | null> {
  const action = `read "${path.slice(0, 200)}" of "${project.id}"`;
  // GitLab takes "HEAD" for the default branch.
  const url = apiUrl(project, `/repository/files/${encodeURIComponent(path)}/raw`, { ref: ref ?? "HEAD" });
  const answer = await api.get(url, action);
  const { response, body } = answer;
  if (response.status === 404 && /"404 (?:File|Commit|Tree|Ref) /i.test(body)) return null;
  if (!response.ok) throw refusal(answer, action, "its repository is closed to those who are not members");
  if (body.length > maxFileCharacters) {
    throw failure("malformed", action, `it has ${body.length} characters, at most ${maxFileCharacters} are read`);
  }
  return body;
}

function openGitLab(config: unknown, secret: unknown, context: PluginContext): OpenSource {
  const project = parseConfig(config);
  // Never the issue's own text: it would quote the secret.
  if (secret !== null && !v.is(GitLabSecret, secret)) {
    throw new PluginError("rejected", 'The credential has no "token" that a request can carry');
  }
  const opened = { project, context, api: gitLabApi(project, secret, context) };
  return {
    listReleases: (request) => listReleases(opened, request),
    listTags: (request) => listTags(opened, request),
    listNames: () => listNames(opened),
    readFile: (path, ref) => readFile(opened, path, ref),
  };
}

/**
 * Projects on gitlab.com and on instances of one's own, by the REST API of version 4. A release's revision is the commit that GitLab
 * says with it, so that an unchanged project costs one conditional request.
 */
export const gitlab: Source<"gitlab"> = {
  kind: "gitlab",
  title: "GitLab",
  Config: GitLabConfig,
  has_release_types: true,
  open: openGitLab,
  host: (config) => new URL(parseConfig(config).instance).host,
  // Each instance has limits of its own, gitlab.com's depend on the plan; its answers say them.
  cost: () => ({ requests: 1, quota: 1, hourly_limit: null }),
};
