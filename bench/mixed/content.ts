// What the upstreams say: of the size and form that ordinary projects have, 40 releases with notes, and assets where the forge
// lists them. Every project has its own text, so that nothing is shared by accident.
import { createHash } from "node:crypto";

const releaseCount = 40;
const dayMs = 86_400_000;
const newestAt = Date.UTC(2026, 9, 1);

export const versions: readonly string[] = Array.from(
  { length: releaseCount },
  (_, step) => `2.${Math.floor((releaseCount - 1 - step) / 5)}.${(releaseCount - 1 - step) % 5}`,
);

const shaOf = (text: string): string => createHash("sha1").update(text).digest("hex");
const timeOf = (step: number): string => new Date(newestAt - step * 9 * dayMs).toISOString().replace(".000Z", "Z");

/** About 1.5 kB, as release notes of pull requests are. */
function notesOf(name: string, version: string): string {
  const lines = Array.from({ length: 18 }, (_, line) => {
    const id = shaOf(`${name} ${version} ${line}`).slice(0, 12);
    return `* Change ${id} of what ${name} does by @author-${line} in https://example.com/${name}/pull/${1000 + line}`;
  });
  return `## What's Changed\n${lines.join("\n")}\n`;
}

function person(origin: string, login: string) {
  const url = `${origin}/api/v3/users/${login}`;
  const links = ["followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events"];
  return {
    ...{ login, id: 4_223_100, node_id: "MDQ6VXNlcjQyMjMxMDA=", avatar_url: `${origin}/avatars/u/4223100?v=4` },
    ...{
      gravatar_id: "",
      url,
      html_url: `${origin}/${login}`,
      type: "User",
      user_view_type: "public",
      site_admin: false,
    },
    ...Object.fromEntries(links.map((link) => [`${link}_url`, `${url}/${link}`])),
  };
}

function asset(origin: string, name: string, version: string, file: string) {
  const api = `${origin}/api/v3/repos/${name}/releases/assets/93482`;
  return {
    ...{ url: api, id: 93_482, node_id: "RA_kwDOAbc", name: file, label: "", uploader: person(origin, "builder") },
    ...{ content_type: "application/octet-stream", state: "uploaded", size: 9_381_221, download_count: 4_321 },
    ...{ created_at: timeOf(0), updated_at: timeOf(0), digest: `sha256:${shaOf(file)}${shaOf(file).slice(0, 24)}` },
    browser_download_url: `${origin}/${name}/releases/download/v${version}/${file}`,
  };
}

export function githubReleases(origin: string, name: string, count: number): string {
  const files = ["linux_amd64.tar.gz", "linux_arm64.tar.gz", "checksums.txt"];
  const list = versions.slice(0, count).map((version, step) => ({
    ...{
      url: `${origin}/api/v3/repos/${name}/releases/${step}`,
      html_url: `${origin}/${name}/releases/tag/v${version}`,
    },
    ...{ id: 1_000 + step, author: person(origin, "author"), node_id: "RE_kwDOAbc", tag_name: `v${version}` },
    ...{ target_commitish: "main", name: `v${version}`, draft: false, prerelease: false, immutable: false },
    ...{ created_at: timeOf(step), updated_at: timeOf(step), published_at: timeOf(step) },
    assets: files.map((file) => asset(origin, name, version, file)),
    ...{ tarball_url: `${origin}/tarball/v${version}`, zipball_url: `${origin}/zipball/v${version}` },
    body: notesOf(name, version),
  }));
  return JSON.stringify(list);
}

export function githubGraphql(origin: string, name: string, count: number): string {
  const nodes = versions.slice(0, count).map((version, step) => ({
    ...{ tagName: `v${version}`, isDraft: false, isPrerelease: false, publishedAt: timeOf(step) },
    ...{ url: `${origin}/${name}/releases/tag/v${version}`, description: notesOf(name, version) },
    tag: {
      target: { oid: shaOf(`${name} v${version}`), __typename: "Commit", committedDate: timeOf(step) },
    },
  }));
  const pageInfo = { hasNextPage: count < releaseCount, endCursor: "Y3Vyc29yOnYy" };
  const releases = { totalCount: releaseCount, pageInfo, nodes };
  return JSON.stringify({ data: { repository: { nameWithOwner: name, releases } } });
}

export function gitlabReleases(origin: string, name: string, count: number): string {
  const list = versions.slice(0, count).map((version, step) => ({
    ...{ name: `v${version}`, tag_name: `v${version}`, description: notesOf(name, version) },
    ...{ created_at: timeOf(step), released_at: timeOf(step), upcoming_release: false },
    author: { id: 7, username: "author", name: "Author", state: "active", web_url: `${origin}/author` },
    commit: {
      ...{ id: shaOf(`${name} v${version}`), short_id: shaOf(`${name} v${version}`).slice(0, 8), title: "Release" },
      ...{ created_at: timeOf(step), parent_ids: [shaOf(version)], message: "Release", author_name: "Author" },
    },
    ...{ commit_path: `/${name}/-/commit/${version}`, tag_path: `/${name}/-/tags/v${version}` },
    assets: {
      count: 4,
      sources: ["zip", "tar.gz", "tar.bz2", "tar"].map((format) => ({ format, url: origin })),
      links: [],
    },
    _links: { self: `${origin}/${name}/-/releases/v${version}` },
  }));
  return JSON.stringify(list);
}

export function giteaReleases(origin: string, name: string, count: number): string {
  const list = versions.slice(0, count).map((version, step) => ({
    ...{
      id: step,
      tag_name: `v${version}`,
      target_commitish: "main",
      name: `v${version}`,
      body: notesOf(name, version),
    },
    ...{
      url: `${origin}/api/v1/repos/${name}/releases/${step}`,
      html_url: `${origin}/${name}/releases/tag/v${version}`,
    },
    ...{ tarball_url: `${origin}/t`, zipball_url: `${origin}/z`, draft: false, prerelease: false },
    ...{ created_at: timeOf(step), published_at: timeOf(step), author: person(origin, "author"), assets: [] },
  }));
  return JSON.stringify(list);
}

/** An index of five charts, of which one is tracked. */
export function helmIndex(origin: string, name: string): string {
  const lines = ["apiVersion: v1", "entries:"];
  for (const chart of ["app", "agent", "gateway", "operator", "worker"]) {
    lines.push(`  ${chart}:`);
    for (const [step, version] of versions.entries())
      lines.push(
        "  - apiVersion: v2",
        `    appVersion: "${version}"`,
        `    created: "${timeOf(step)}"`,
        `    description: The ${chart} of ${name}`,
        `    digest: ${shaOf(name + chart + version)}${shaOf(version).slice(0, 24)}`,
        `    name: ${chart}`,
        "    urls:",
        `    - ${origin}/${name}/${chart}-${version}.tgz`,
        `    version: ${version}`,
      );
  }
  lines.push(`generated: "${timeOf(0)}"`, "");
  return lines.join("\n");
}

/** Every tag with its commit, as git's `ls-refs` says it. */
export function gitRefs(name: string): string {
  const packet = (line: string) => `${(line.length + 4).toString(16).padStart(4, "0")}${line}`;
  const tags = versions.map((version) => packet(`${shaOf(`${name} v${version}`)} refs/tags/v${version}\n`));
  return `${tags.join("")}0000`;
}
