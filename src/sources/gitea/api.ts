import { Buffer } from "node:buffer";
import * as v from "valibot";
import { type Message, say } from "../../messages/message.ts";
import type { PluginContext } from "../../plugin.ts";
import { explainForge, readForgeError, readForgeJson } from "../forge/answer.ts";
import { listTagCommits } from "../forge/git-refs.ts";
import type { ForgePage } from "../forge/listing.ts";
import { fetchMoved } from "../forge/moved.ts";
import { encodeFilePath, type Place } from "../forge/place.ts";
import { RestRelease, readRestRelease } from "../forge/rest-release.ts";
import { pageAt, tagPath, tagRange } from "../forge/web-pages.ts";
import type { UpstreamRelease, WebPages } from "../source.ts";

const FileContents = v.object({ type: v.literal("file"), encoding: v.literal("base64"), content: v.string() });

/** The API of one repository, at its present place. */
export interface GiteaApi {
  /** The newest page of releases; all pages have this size. */
  listReleases(size: number): Promise<ForgePage>;
  /** Null if no published release has this tag. */
  findRelease(tag: string): Promise<UpstreamRelease | null>;
  /** The commit of each tag, requested once. */
  listCommits(): Promise<ReadonlyMap<string, string>>;
  readFile(path: string, ref: string | null): Promise<string | null>;
  tagPage(tag: string): string | null;
  /** The `owner/name` that answered, if it is another than was requested. */
  movedTo(): string | null;
}

function readCount(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** The files at a bare tag. */
function tagPage({ instance, path }: Place, tag: string): string | null {
  return pageAt(`${instance}/${path}/src/tag`, tagPath(tag));
}

export function webPages(repository: Place): WebPages {
  const web = `${repository.instance}/${repository.path}`;
  return {
    version: ({ tag, stage }) =>
      stage === "tag" ? tagPage(repository, tag) : pageAt(`${web}/releases/tag`, tagPath(tag)),
    comparison: (from, to) => pageAt(`${web}/compare`, tagRange(from.tag, to.tag)),
  };
}

export function giteaApi(repository: Place, token: string | null, context: PluginContext): GiteaApi {
  const { instance } = repository;
  const host = instance.slice(instance.indexOf("//") + 2);
  const explain = explainForge(token, say("sources.gitea_unreadable"));
  let path = repository.path;
  let commits: Promise<ReadonlyMap<string, string>> | null = null;

  const send = async (rest: string, action: Message): Promise<Response> => {
    const url = new URL(`${instance}/api/v1/repos/${path}${rest}`);
    const headers: Record<string, string> = { accept: "application/json" };
    if (token !== null) headers.authorization = `token ${token}`;
    const moved = await fetchMoved(context, url, { headers }, action);
    if (moved.has_moved && moved.response.ok) {
      const prefix = `${new URL(instance).pathname.replace(/\/$/, "")}/api/v1/repos/`;
      const [, owner, name] = /^([^/]+)\/([^/]+)\//.exec(moved.url.pathname.slice(prefix.length)) ?? [];
      if (moved.url.pathname.startsWith(prefix) && owner !== undefined && name !== undefined) path = `${owner}/${name}`;
    }
    return moved.response;
  };

  const listPage = async (page: number, size: number, before: number): Promise<ForgePage> => {
    const action = say("sources.list_releases", { name: `${host}/${path}` });
    // With a token, drafts would be listed and counted.
    const response = await send(`/releases?draft=false&page=${page}&limit=${size}`, action);
    const list = await readForgeJson(response, v.array(RestRelease), action, explain);
    const total = readCount(response.headers.get("x-total-count"));
    const count = before + list.length;
    const isLast = list.length === 0 || (total !== null && count >= total);
    return {
      releases: list.map(readRestRelease).filter((release) => release !== null),
      count: list.length,
      total,
      next: isLast ? null : () => listPage(page + 1, size, count),
    };
  };

  return {
    listReleases: (size) => listPage(1, size, 0),
    async findRelease(tag) {
      const action = say("sources.read_release", { tag, name: `${host}/${path}` });
      const response = await send(`/releases/tags/${encodeURIComponent(tag)}`, action);
      return response.status === 404
        ? null
        : readRestRelease(await readForgeJson(response, RestRelease, action, explain));
    },
    listCommits() {
      // The token is the password of any user name.
      const basic = token === null ? null : `Basic ${Buffer.from(`oauth2:${token}`).toString("base64")}`;
      commits ??= listTagCommits(new URL(`${instance}/${path}`), context, basic, explain);
      return commits;
    },
    async readFile(file, ref) {
      const action = say("sources.read_file", { path: file.slice(0, 200), name: `${host}/${path}` });
      // Not the raw file: for a ref that does not exist, Gitea returns the default branch's.
      const query = ref === null ? "" : `?ref=${encodeURIComponent(ref)}`;
      const response = await send(`/contents/${encodeFilePath(file, action)}${query}`, action);
      if (response.status === 404) return null;
      if (!response.ok) throw await readForgeError(response, action, explain);
      const contents = v.safeParse(FileContents, await readForgeJson(response, v.unknown(), action, explain));
      // A folder, a link or a submodule.
      return contents.success ? Buffer.from(contents.output.content, "base64").toString("utf8") : null;
    },
    tagPage: (tag) => tagPage({ instance, path }, tag),
    movedTo: () => (path.toLowerCase() === repository.path.toLowerCase() ? null : path),
  };
}
