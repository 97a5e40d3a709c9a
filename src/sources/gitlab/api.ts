import { PluginError } from "../../errors.ts";
import type { PluginContext } from "../../plugin.ts";
import { forgeFailure, oneLine, readForgeError } from "../forge/answer.ts";
import { fetchMoved } from "../forge/moved.ts";
import type { Project } from "./project.ts";
import type { GitLabSecret } from "./schema.ts";

/** Longest message of an error, in characters. */
const maxMessageCharacters = 500;

export interface GitLabAnswer {
  response: Response;
  /** Where it came from in the end. */
  url: URL;
}

export interface GitLabApi {
  /** Sends a GET and follows a moved project within the instance. Answers of every status are returned. */
  get(url: URL, what: string): Promise<GitLabAnswer>;
}

/** The API of one instance. The token is sent to the instance's origin and to no other. */
export function gitLabApi(project: Project, secret: GitLabSecret | null, context: PluginContext): GitLabApi {
  const root = `${project.instance}/api/v4/`;
  return {
    async get(url, what) {
      const headers: Record<string, string> = { accept: "application/json" };
      if (secret !== null) headers["private-token"] = secret.token;
      const { response, url: place } = await fetchMoved(context, url, { headers }, what);
      if (place.href.startsWith(root)) return { response, url: place };
      await response.body?.cancel();
      if (place.pathname.endsWith("/users/sign_in")) {
        throw forgeFailure("unauthorized", what, "GitLab asks to sign in: store a token as a credential");
      }
      throw forgeFailure("rejected", what, `it redirects to "${place.pathname.slice(0, 100)}", beside the API`);
    },
  };
}

/** What an answer that is no success means. `closed` says what a 403 means here, where GitLab names no other reason. */
export async function refusal(response: Response, what: string, closed: string): Promise<PluginError> {
  const error = await readForgeError(response, what);
  if (response.status !== 403 || /scope|privileges/i.test(error.message)) return error;
  return new PluginError(error.code, oneLine(`${error.message}; ${closed}`, maxMessageCharacters), { cause: error });
}
