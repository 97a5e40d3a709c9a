import type { PluginError } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import { webUrl } from "../../net/web-url.ts";
import type { PluginContext } from "../../plugin.ts";
import { type Explain, failure, oneLine } from "../failure.ts";
import type { Access, AccessCache, Method } from "./access-cache.ts";
import { refusal } from "./answer.ts";
import { type Challenge, parseChallenges } from "./challenge.ts";
import { explainRegistry } from "./refused-access.ts";
import type { Repository } from "./repository.ts";
import type { OciSecret } from "./schema.ts";
import { basicHeader, realmObjection, requestToken } from "./token.ts";

export interface RegistryRequest {
  method: "GET" | "HEAD";
  /** On the registry's own origin; another one is an error of the caller. */
  url: URL;
  accept: string;
  /** `no-store`: not stored for conditional requests. */
  cache?: "no-store";
  /** What is attempted, for messages. */
  action: Message;
}

export interface RegistrySession {
  /** What a refusal of the registry may mean. */
  explain: Explain;
  /** Sends with the authorization that the registry wants, renewed once after a 401. Other statuses are up to the caller. */
  send(request: RegistryRequest): Promise<Response>;
}

function bearerOf(challenge: Challenge, repository: Repository): Method | null {
  const realm = challenge.parameters.get("realm") ?? "";
  if (!URL.canParse(realm, repository.origin)) return null;
  const named = challenge.parameters.get("scope") ?? "";
  // Some servers name no scope, or one without a repository (`repository::pull`): ours is the narrowest that works.
  const scope = named === "" || named.includes("::") ? `repository:${repository.name}:pull` : named;
  const service = challenge.parameters.get("service") ?? null;
  return { kind: "bearer", realm: webUrl(realm, repository.origin).href, service, scope };
}

/** The best way to authenticate: a token, or Basic with the credential; null if the registry offers neither. */
function chooseMethod(
  challenges: readonly Challenge[],
  repository: Repository,
  secret: OciSecret | null,
): Method | null {
  const registry = new URL(repository.origin);
  const bearers = challenges
    .filter((challenge) => challenge.scheme === "bearer")
    .map((challenge) => bearerOf(challenge, repository))
    .filter((method) => method?.kind === "bearer");
  const usable = bearers.find((method) => secret === null || realmObjection(new URL(method.realm), registry) === null);
  if (usable !== undefined) return usable;
  if (secret !== null && challenges.some((challenge) => challenge.scheme === "basic")) return { kind: "basic" };
  // The token request then reports why the credential is not sent there.
  return bearers[0] ?? null;
}

function unanswerable(challenges: readonly Challenge[], secret: OciSecret | null, action: Message): PluginError {
  const offered = challenges.map((challenge) => oneLine(challenge.scheme, 30)).slice(0, 5);
  const reason =
    offered.length === 0
      ? say("sources.sign_in_unexplained")
      : secret === null && offered.includes("basic")
        ? say("sources.sign_in_wanted")
        : say("sources.sign_in_unsupported", { offered });
  return failure("unauthorized", action, reason);
}

/**
 * Requests to one repository of a registry. The first refusal shows how to sign in; `cache` keeps that and the token, so that later
 * requests, also of other sessions, are authorized at once. The credential is sent only to the registry's origin and to the realm that
 * it names.
 */
export function registrySession(
  repository: Repository,
  secret: OciSecret | null,
  context: PluginContext,
  cache: AccessCache,
): RegistrySession {
  let access: Access = cache.find(repository, secret) ?? { method: { kind: "none" }, token: null };
  const meaning = explainRegistry(repository, secret);
  let renewal: Promise<string> | null = null;

  const learn = (next: Access) => {
    access = next;
    cache.store(repository, secret, next);
  };
  // Parallel lookups share one token.
  const renew = (method: Extract<Method, { kind: "bearer" }>): Promise<string> => {
    renewal ??= requestToken(method, repository, secret, context)
      .then((token) => {
        learn({ method, token });
        return `Bearer ${token.value}`;
      })
      .catch((error: unknown) => {
        // The realm may have moved: the next request asks the registry again.
        learn({ method: { kind: "none" }, token: null });
        throw error;
      })
      .finally(() => {
        renewal = null;
      });
    return renewal;
  };
  const proof = async (): Promise<string | null> => {
    const { method, token } = access;
    if (method.kind === "none") return null;
    if (method.kind === "basic") return secret === null ? null : basicHeader(secret);
    if (token !== null && token.expires_at > context.clock.elapsed()) return `Bearer ${token.value}`;
    return await renew(method);
  };
  const fetchWith = (request: RegistryRequest, authorization: string | null): Promise<Response> => {
    if (request.url.origin !== repository.origin) throw new Error(`Refused to send to "${request.url.origin}"`);
    const headers = new Headers({ accept: request.accept });
    if (authorization !== null) headers.set("authorization", authorization);
    const { method, cache: mode = "default" } = request;
    return context.fetch(request.url, { method, headers, cache: mode });
  };
  // After a 401. Another lookup may have renewed the token in the meantime.
  const renewedProof = async (response: Response, shown: string | null, action: Message): Promise<string> => {
    const challenges = parseChallenges(response.headers.get("www-authenticate"));
    const method = chooseMethod(challenges, repository, secret);
    const body = await response.text();
    if (method === null || method.kind === "none") throw unanswerable(challenges, secret, action);
    if (method.kind === "basic" && secret !== null) {
      const authorization = basicHeader(secret);
      if (shown === authorization) throw refusal(response, body, action, meaning.login);
      learn({ method, token: null });
      return authorization;
    }
    if (method.kind === "basic") throw unanswerable(challenges, secret, action);
    const current = access.token === null ? null : `Bearer ${access.token.value}`;
    return current !== null && current !== shown ? current : await renew(method);
  };
  return {
    // Behind Basic, a 401 is about the credential; behind a token, about what it may pull.
    explain: (status) => (access.method.kind === "basic" ? meaning.login : meaning.explain)(status),
    async send(request) {
      const shown = await proof();
      const response = await fetchWith(request, shown);
      if (response.status !== 401) return response;
      return await fetchWith(request, await renewedProof(response, shown, request.action));
    },
  };
}
