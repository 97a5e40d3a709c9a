import type { PluginError } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import type { PluginContext } from "../../plugin.ts";
import { codeOfStatus, type Explain, explained, failure } from "../failure.ts";
import { explainForge, type Refusal } from "../forge/answer.ts";
import { fetchMoved } from "../forge/moved.ts";
import type { Project } from "./project.ts";

export interface GitLabAnswer {
  response: Response;
  /** The address that answered. */
  url: URL;
}

export interface GitLabApi {
  /** What a refusal of the instance may mean, by API or git. */
  explain: Explain;
  /** Sends a GET and follows a moved project within the instance. Returns responses of every status. */
  get(url: URL, action: Message): Promise<GitLabAnswer>;
}

/** The API of one instance. The token is sent only to its origin. */
export function gitLabApi(project: Project, token: string | null, context: PluginContext): GitLabApi {
  const root = `${project.instance}/api/v4/`;
  return {
    explain: explainForge(token, say("sources.gitlab_unreadable")),
    async get(url, action) {
      const headers: Record<string, string> = { accept: "application/json" };
      if (token !== null) headers["private-token"] = token;
      const { response, url: place } = await fetchMoved(context, url, { headers }, action);
      if (place.href.startsWith(root)) return { response, url: place };
      await response.body?.cancel();
      if (place.pathname.endsWith("/users/sign_in")) {
        throw failure("unauthorized", action, say("sources.gitlab_sign_in"));
      }
      throw failure("rejected", action, say("sources.redirect_beside_api", { path: place.pathname.slice(0, 100) }));
    },
  };
}

/** The error for a refusal. `closed` explains a 403 for which GitLab gives no other reason. */
export function refused(
  { status, words, reason }: Refusal,
  action: Message,
  { closed, explain }: { closed: Message; explain: Explain },
): PluginError {
  const isClosed = status === 403 && !/scope|privileges/i.test(words);
  return failure(codeOfStatus(status), action, explained(reason, isClosed ? closed : explain(status)));
}
