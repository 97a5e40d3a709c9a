import * as v from "valibot";
import { type Message, say } from "../../messages/message.ts";
import { readText } from "../../net/read-json.ts";
import type { PluginContext } from "../../plugin.ts";
import { type Explain, failure } from "../failure.ts";
import { explainForge, readForgeError, readForgeJson } from "../forge/answer.ts";
import { fetchMoved } from "../forge/moved.ts";
import { encodeFilePath } from "../forge/place.ts";
import { RestRelease, readRestRelease } from "../forge/rest-release.ts";
import type { UpstreamRelease } from "../source.ts";

/** The version of the REST API. */
const apiVersion = "2022-11-28";

const RepositoryAnswer = v.object({ full_name: v.string() });

/** A repository in the REST API. */
export interface RestRepository {
  /** `https://api.github.com/repos/owner/name` */
  url: string;
  /** `owner/name`, for messages. */
  name: string;
}

/** One page of the releases. */
export interface RestPage {
  releases: readonly UpstreamRelease[];
  /** Entries of all kinds. */
  count: number;
  has_more: boolean;
  /** The response came from another location: the repository was renamed or moved. */
  has_moved: boolean;
}

/** What a refusal of GitHub may mean, by API or git. */
export function explainGithub(token: string | null): Explain {
  return explainForge(token, say("sources.github_unreadable"));
}

/** The requests of REST-first, and the files of both modes. */
export function restApi(repository: RestRepository, token: string | null, context: PluginContext) {
  const explain = explainGithub(token);
  const get = async (path: string, accept: string, action: Message) => {
    const headers = new Headers({ accept, "x-github-api-version": apiVersion });
    if (token !== null) headers.set("authorization", `Bearer ${token}`);
    return await fetchMoved(context, new URL(`${repository.url}${path}`), { headers }, action);
  };

  const getJson = async (path: string, action: Message) => await get(path, "application/vnd.github+json", action);

  return {
    async listReleases(page: number, perPage: number): Promise<RestPage> {
      const action = say("sources.list_releases", { name: repository.name });
      const query = page === 1 ? `per_page=${perPage}` : `per_page=${perPage}&page=${page}`;
      const { response, has_moved } = await getJson(`/releases?${query}`, action);
      const list = await readForgeJson(response, v.array(RestRelease), action, explain);
      const has_more = /;\s*rel="next"/.test(response.headers.get("link") ?? "");
      const releases = list.map(readRestRelease).filter((release) => release !== null);
      return { releases, count: list.length, has_more, has_moved };
    },

    /** The current name of the repository, which also responds under former names. */
    async readName(): Promise<string> {
      const action = say("sources.read_name", { name: repository.name });
      const { response } = await getJson("", action);
      return (await readForgeJson(response, RepositoryAnswer, action, explain)).full_name;
    },

    /** A release by its tag; null if there is none. */
    async findRelease(tag: string): Promise<UpstreamRelease | null> {
      const action = say("sources.read_release", { tag, name: repository.name });
      const { response } = await getJson(`/releases/tags/${encodeURIComponent(tag)}`, action);
      if (response.status === 404) return null;
      return readRestRelease(await readForgeJson(response, RestRelease, action, explain));
    },

    /** A file at a ref (null: the default branch); null if it does not exist. Throws `rejected` for a folder. */
    async readFile(path: string, ref: string | null): Promise<string | null> {
      const action = say("sources.read_file", { path: path.slice(0, 200), name: repository.name });
      const query = ref === null ? "" : `?ref=${encodeURIComponent(ref)}`;
      const address = `/contents/${encodeFilePath(path, action)}${query}`;
      const { response } = await get(address, "application/vnd.github.raw+json", action);
      if (response.status === 404) return null;
      if (!response.ok) throw await readForgeError(response, action, explain);
      // A folder has no raw form: GitHub responds with ordinary JSON.
      if (/^application\/json\b/i.test(response.headers.get("content-type") ?? "")) {
        throw failure("rejected", action, say("sources.folder"));
      }
      return await readText(response);
    },
  };
}

export type RestApi = ReturnType<typeof restApi>;
