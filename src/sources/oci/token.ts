import { Buffer } from "node:buffer";
import * as v from "valibot";
import { type Message, say } from "../../messages/message.ts";
import type { PluginContext } from "../../plugin.ts";
import { failure } from "../failure.ts";
import type { Access, Method } from "./access-cache.ts";
import { readJson, refusal } from "./answer.ts";
import { explainRegistry } from "./refused-access.ts";
import type { Repository } from "./repository.ts";
import type { OciSecret } from "./schema.ts";

type Bearer = Extract<Method, { kind: "bearer" }>;

/** The default of the token specification. */
const defaultLifetimeSeconds = 60;
/** Longer lifetimes are cut; a 401 would end them earlier anyway. */
const maxLifetimeSeconds = 24 * 60 * 60;
/** A token is not used in its last seconds: it must be valid when the registry reads it. */
const marginMs = 5_000;
/** Of a token; registries accept 8 to 16 KiB of headers. */
const maxTokenCharacters = 16_384;

const TokenAnswer = v.object({
  token: v.optional(v.nullable(v.string())),
  access_token: v.optional(v.nullable(v.string())),
  expires_in: v.optional(v.nullable(v.number())),
});

export function basicHeader({ username, password }: OciSecret): string {
  return `Basic ${Buffer.from(`${username}:${password}`, "utf8").toString("base64")}`;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/**
 * Why a credential may not be sent to this realm; null if it may. Over HTTPS, it goes to any realm that the registry names. Over plain
 * HTTP, only if the registry itself uses plain HTTP, and only to its own host (or if both are on loopback).
 */
export function realmObjection(realm: URL, registry: URL): Message | null {
  if (realm.username !== "" || realm.password !== "") return say("sources.realm_with_user");
  if (realm.protocol === "https:") return null;
  if (realm.protocol !== "http:") return say("sources.realm_scheme", { scheme: realm.protocol });
  if (registry.protocol !== "http:") return say("sources.realm_plain");
  const isSameHost =
    realm.hostname === registry.hostname || (isLoopback(realm.hostname) && isLoopback(registry.hostname));
  return isSameHost ? null : say("sources.realm_on_another_host");
}

/** The address of the token request. The realm's own query parameters stay; each scope is a parameter. */
function tokenUrl(method: Bearer): URL {
  const url = new URL(method.realm);
  if (method.service !== null) url.searchParams.set("service", method.service);
  for (const scope of method.scope.split(" ").filter((part) => part !== "")) url.searchParams.append("scope", scope);
  return url;
}

function readToken(response: Response, body: string, action: Message, askedAt: number): NonNullable<Access["token"]> {
  const answer = readJson(TokenAnswer, response, body, action);
  const value = answer.token || answer.access_token || "";
  if (!/^[\x21-\x7e]+$/.test(value) || value.length > maxTokenCharacters) {
    throw failure("malformed", action, say("sources.token_unusable"));
  }
  const promised = answer.expires_in ?? defaultLifetimeSeconds;
  const lifetimeMs = Math.min(Math.max(promised, 0), maxLifetimeSeconds) * 1_000;
  return { value, expires_at: askedAt + lifetimeMs - Math.min(marginMs, lifetimeMs / 2) };
}

/**
 * Requests a token from the realm, with the credential if there is one.
 * @throws PluginError `unauthorized` if the realm may not see the credential, or refuses it.
 */
export async function requestToken(
  method: Bearer,
  repository: Repository,
  secret: OciSecret | null,
  context: PluginContext,
): Promise<NonNullable<Access["token"]>> {
  const url = tokenUrl(method);
  const action = say("sources.get_token", { name: `${repository.registry}/${repository.name}`, host: url.host });
  const headers = new Headers({ accept: "application/json" });
  if (secret !== null) {
    const objection = realmObjection(url, new URL(repository.origin));
    if (objection !== null) {
      throw failure("unauthorized", action, say("sources.credential_withheld", { cause: objection }));
    }
    headers.set("authorization", basicHeader(secret));
  }
  const askedAt = context.clock.elapsed();
  // A token is secret and new each time: it must not be stored for conditional requests.
  const response = await context.fetch(url, { headers, cache: "no-store" });
  const body = await response.text();
  if (!response.ok) throw refusal(response, body, action, explainRegistry(repository, secret).login);
  return readToken(response, body, action, askedAt);
}
