import { createHash } from "node:crypto";
import type { HubRelease, HubRepository } from "./hub-content.ts";

/** What the stand-in answers: tests validate these documents against GitHub's own description. */
export interface HubAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export function jsonAnswer(status: number, value: unknown, headers: Record<string, string> = {}): HubAnswer {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(value),
  };
}

export function refusalAnswer(status: number, message: string, headers: Record<string, string> = {}): HubAnswer {
  return jsonAnswer(
    status,
    { message, documentation_url: "https://docs.github.com/rest", status: String(status) },
    headers,
  );
}

function nodeId(kind: string, id: number): string {
  return `${kind}_${Buffer.from(String(id)).toString("base64url")}`;
}

function simpleUser(login: string, origin: string): Record<string, unknown> {
  const api = `${origin}/api/v3/users/${login}`;
  return {
    login,
    id: 7,
    node_id: nodeId("U", 7),
    avatar_url: `${origin}/avatars/u/7`,
    gravatar_id: "",
    url: api,
    html_url: `${origin}/${login}`,
    followers_url: `${api}/followers`,
    following_url: `${api}/following{/other_user}`,
    gists_url: `${api}/gists{/gist_id}`,
    starred_url: `${api}/starred{/owner}{/repo}`,
    subscriptions_url: `${api}/subscriptions`,
    organizations_url: `${api}/orgs`,
    repos_url: `${api}/repos`,
    events_url: `${api}/events{/privacy}`,
    received_events_url: `${api}/received_events`,
    type: "User",
    site_admin: false,
  };
}

function asset(repository: HubRepository, release: HubRelease, index: number, origin: string): Record<string, unknown> {
  const name = `app-${index}.tar.gz`;
  return {
    url: `${origin}/api/v3/repos/${repository.owner}/${repository.name}/releases/assets/${index}`,
    browser_download_url: `${origin}/${repository.owner}/${repository.name}/releases/download/${release.tag}/${name}`,
    id: index,
    node_id: nodeId("RA", index),
    name,
    label: "",
    state: "uploaded",
    content_type: "application/gzip",
    size: 1_024,
    digest: null,
    download_count: 42,
    created_at: release.created_at,
    updated_at: release.created_at,
    uploader: simpleUser(repository.owner, origin),
  };
}

/** A release with every field that GitHub's description requires. */
function releaseDocument(repository: HubRepository, release: HubRelease, origin: string): Record<string, unknown> {
  const id = repository.id * 1_000 + repository.releases.indexOf(release);
  const api = `${origin}/api/v3/repos/${repository.owner}/${repository.name}`;
  const page = release.is_draft === true ? `untagged-${id}` : encodeURIComponent(release.tag);
  return {
    url: `${api}/releases/${id}`,
    assets_url: `${api}/releases/${id}/assets`,
    upload_url: `${origin}/api/uploads/repos/${repository.owner}/${repository.name}/releases/${id}/assets{?name,label}`,
    html_url: `${origin}/${repository.owner}/${repository.name}/releases/tag/${page}`,
    id,
    author: simpleUser(repository.owner, origin),
    node_id: nodeId("RE", id),
    tag_name: release.tag,
    // A branch name, as GitHub gives it whenever the tag was made with the release: no identity.
    target_commitish: "main",
    name: `Release ${release.tag}`,
    draft: release.is_draft ?? false,
    immutable: false,
    prerelease: release.is_prerelease ?? false,
    created_at: release.created_at,
    updated_at: release.created_at,
    published_at: release.published_at,
    assets: Array.from({ length: release.assets ?? 0 }, (_, index) => asset(repository, release, index, origin)),
    tarball_url: `${api}/tarball/${release.tag}`,
    zipball_url: `${api}/zipball/${release.tag}`,
    body: release.notes ?? null,
  };
}

const linkNames = [
  "archive",
  "assignees",
  "blobs",
  "branches",
  "collaborators",
  "comments",
  "commits",
  "compare",
  "contents",
  "contributors",
  "deployments",
  "downloads",
  "events",
  "forks",
  "git_commits",
  "git_refs",
  "git_tags",
  "hooks",
  "issue_comment",
  "issue_events",
  "issues",
  "keys",
  "labels",
  "languages",
  "merges",
  "milestones",
  "notifications",
  "pulls",
  "releases",
  "stargazers",
  "statuses",
  "subscribers",
  "subscription",
  "tags",
  "teams",
  "trees",
] as const;
const countNames = ["forks", "forks_count", "open_issues", "open_issues_count", "size", "stargazers_count"] as const;
const moreCountNames = ["watchers", "watchers_count", "network_count", "subscribers_count"] as const;
const flagNames = [
  "fork",
  "has_issues",
  "has_projects",
  "has_wiki",
  "has_pages",
  "has_discussions",
  "disabled",
] as const;

/** A repository with every field that GitHub's description requires. */
function repositoryDocument(repository: HubRepository, origin: string): Record<string, unknown> {
  const full_name = `${repository.owner}/${repository.name}`;
  const url = `${origin}/api/v3/repos/${full_name}`;
  const at = "2026-01-01T00:00:00Z";
  return {
    ...Object.fromEntries(linkNames.map((name) => [`${name}_url`, `${url}/${name}`])),
    ...Object.fromEntries([...countNames, ...moreCountNames].map((name) => [name, 0])),
    ...Object.fromEntries(flagNames.map((name) => [name, false])),
    id: repository.id,
    node_id: nodeId("R", repository.id),
    name: repository.name,
    full_name,
    owner: simpleUser(repository.owner, origin),
    private: repository.is_private,
    html_url: `${origin}/${full_name}`,
    description: null,
    url,
    clone_url: `${origin}/${full_name}.git`,
    git_url: `git://${full_name}.git`,
    ssh_url: `git@example.test:${full_name}.git`,
    svn_url: `${origin}/${full_name}`,
    mirror_url: null,
    homepage: null,
    language: null,
    license: null,
    default_branch: "main",
    archived: repository.is_archived,
    pushed_at: at,
    created_at: at,
    updated_at: at,
  };
}

function releasesPage(repository: HubRepository, url: URL, seesDrafts: boolean, origin: string): HubAnswer {
  const perPage = Math.min(Number(url.searchParams.get("per_page") ?? "30"), 100);
  const page = Number(url.searchParams.get("page") ?? "1");
  const visible = repository.releases
    .filter((release) => release.is_draft !== true || seesDrafts)
    .toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  const last = Math.max(Math.ceil(visible.length / perPage), 1);
  const base = `${origin}/api/v3/repositories/${repository.id}/releases?per_page=${perPage}`;
  const links = page < last ? [`<${base}&page=${page + 1}>; rel="next"`, `<${base}&page=${last}>; rel="last"`] : [];
  const documents = visible.slice((page - 1) * perPage, page * perPage);
  return jsonAnswer(
    200,
    documents.map((release) => releaseDocument(repository, release, origin)),
    links.length === 0 ? {} : { link: links.join(", ") },
  );
}

/** The part of the REST API behind `/api/v3` for one repository; `rest` is the path after its name or number. */
export function answerRest(
  repository: HubRepository,
  rest: string,
  url: URL,
  view: { seesDrafts: boolean; origin: string; accept: string },
): HubAnswer {
  const { seesDrafts, origin } = view;
  if (rest === "") return jsonAnswer(200, repositoryDocument(repository, origin));
  if (rest === "/releases") return releasesPage(repository, url, seesDrafts, origin);
  const [, byTag] = /^\/releases\/tags\/(.+)$/.exec(rest) ?? [];
  if (byTag !== undefined) {
    const tag = decodeURIComponent(byTag);
    const release = repository.releases.find((one) => one.tag === tag && one.is_draft !== true);
    return release === undefined
      ? refusalAnswer(404, "Not Found")
      : jsonAnswer(200, releaseDocument(repository, release, origin));
  }
  const [, path] = /^\/contents\/(.+)$/.exec(rest) ?? [];
  if (path === undefined) return refusalAnswer(404, "Not Found");
  const ref = url.searchParams.get("ref") ?? "main";
  const file = decodeURIComponent(path);
  const text = repository.files.get(`${ref}:${file}`);
  if (text !== undefined) {
    return { status: 200, headers: { "content-type": "application/vnd.github.raw+json; charset=utf-8" }, body: text };
  }
  const isFolder = [...repository.files.keys()].some((key) => key.startsWith(`${ref}:${file}/`));
  if (isFolder) return jsonAnswer(200, []);
  const isRef = [...repository.files.keys()].some((key) => key.startsWith(`${ref}:`));
  return refusalAnswer(404, isRef ? "Not Found" : `No commit found for the ref ${ref}`);
}

export function etagOf(answer: HubAnswer, who: string): string {
  return `W/"${createHash("sha256").update(`${who} ${answer.body}`).digest("hex")}"`;
}
