import * as v from "valibot";
import type { Clock } from "../clock.ts";
import { asSigningAlgorithm, type SigningAlgorithm, signingAlgorithms } from "./compact-jws.ts";
import { chooseKey, type KeySet, parseKeySet } from "./keys.ts";
import type { ProviderRow } from "./queries.ts";
import { Refusal, type RefusalReason } from "./refusal.ts";
import { isAllowedAddress, type Upstream } from "./upstream.ts";

const CACHED_FOR_MS = 10 * 60_000;
/** A token that no known key fits triggers a refresh, at most this often. */
const REFETCH_EVERY_MS = 30_000;
/** A changed key appears under a new `kid`, beside another without one, or under the previous `kid`. */
const stale: readonly RefusalReason[] = ["token_key_unknown", "token_key_ambiguous", "token_signature_wrong"];
const MAXIMUM_DOCUMENT_BYTES = 256 * 1024;

const names = v.pipe(v.array(v.string()), v.maxLength(200));

const Document = v.object({
  issuer: v.string(),
  authorization_endpoint: v.string(),
  token_endpoint: v.string(),
  jwks_uri: v.string(),
  id_token_signing_alg_values_supported: v.optional(names, ["RS256"]),
  token_endpoint_auth_methods_supported: v.optional(names, ["client_secret_basic"]),
  response_types_supported: v.optional(names, ["code"]),
  authorization_response_iss_parameter_supported: v.optional(v.boolean(), false),
});

/** The provider's endpoints, from its discovery document or as entered. */
export interface ProviderMetadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  jwks_uri: string;
  algorithms: readonly SigningAlgorithm[];
  client_authentication: "client_secret_basic" | "client_secret_post";
  /** The provider promises `iss` in each response (RFC 9207). */
  is_iss_promised: boolean;
}

/** Without discovery nothing declares the provider's algorithm: any algorithm of the list that fits a key of its JWKS. */
function enteredMetadata(row: Provider): ProviderMetadata {
  const { authorization_url, token_url, jwks_url } = row;
  if (authorization_url === null || token_url === null || jwks_url === null) throw new Refusal("metadata_invalid");
  return {
    issuer: row.issuer_url,
    authorization_endpoint: authorization_url,
    token_endpoint: token_url,
    jwks_uri: jwks_url,
    algorithms: signingAlgorithms,
    client_authentication: "client_secret_basic",
    is_iss_promised: false,
  };
}

function readMetadata(document: unknown, issuer: string): ProviderMetadata {
  const parsed = v.safeParse(Document, document);
  if (!parsed.success) throw new Refusal("metadata_invalid");
  const found = parsed.output;
  if (found.issuer !== issuer) throw new Refusal("metadata_issuer_wrong");
  if (!found.response_types_supported.includes("code")) throw new Refusal("metadata_invalid");
  const methods = found.token_endpoint_auth_methods_supported;
  const method = (["client_secret_basic", "client_secret_post"] as const).find((name) => methods.includes(name));
  const algorithms = found.id_token_signing_alg_values_supported
    .map(asSigningAlgorithm)
    .filter((algorithm) => algorithm !== null);
  if (method === undefined || algorithms.length === 0) throw new Refusal("metadata_invalid");
  return {
    issuer,
    authorization_endpoint: found.authorization_endpoint,
    token_endpoint: found.token_endpoint,
    jwks_uri: found.jwks_uri,
    algorithms,
    client_authentication: method,
    is_iss_promised: found.authorization_response_iss_parameter_supported,
  };
}

/** The part of the provider's row with its addresses. */
type Provider = Pick<
  ProviderRow,
  "id" | "revision" | "issuer_url" | "is_discovery_enabled" | "authorization_url" | "token_url" | "jwks_url"
>;

interface Cached<T> {
  value: Promise<T>;
  at: number;
}

interface Known {
  /** From the provider's row: a change drops the cache. */
  key: string;
  metadata: Cached<ProviderMetadata> | null;
  keys: Cached<KeySet> | null;
  refetched_at: number;
}

interface MetadataOptions {
  clock: Clock;
  upstream: Upstream;
  isLoopbackHttpAllowed: boolean;
}

/**
 * What the provider publishes, cached for ten minutes. Concurrent reads share one request, and failures are not cached. Everything throws
 * `Refusal`.
 */
export function providerDocuments({ clock, upstream, isLoopbackHttpAllowed }: MetadataOptions) {
  let known: Known | null = null;

  const of = (row: Provider): Known => {
    const key = `${row.id} ${row.revision}`;
    if (known === null || known.key !== key) {
      known = { key, metadata: null, keys: null, refetched_at: Number.NEGATIVE_INFINITY };
    }
    return known;
  };
  const isFresh = (cached: Cached<unknown> | null): cached is Cached<unknown> =>
    cached !== null && clock.elapsed() - cached.at < CACHED_FOR_MS;

  const discover = async (row: Provider): Promise<ProviderMetadata> => {
    const document = await upstream({
      url: `${row.issuer_url.replace(/\/$/, "")}/.well-known/openid-configuration`,
      init: { headers: { accept: "application/json" } },
      max_bytes: MAXIMUM_DOCUMENT_BYTES,
      failure: "metadata_invalid",
    });
    return readMetadata(document, row.issuer_url);
  };

  const load = async (row: Provider): Promise<ProviderMetadata> => {
    const metadata = row.is_discovery_enabled ? await discover(row) : enteredMetadata(row);
    const endpoints = [metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri];
    if (!endpoints.every((url) => isAllowedAddress(url, isLoopbackHttpAllowed))) {
      throw new Refusal("endpoint_not_https");
    }
    return metadata;
  };

  const metadata = (row: Provider): Promise<ProviderMetadata> => {
    const own = of(row);
    if (own.metadata !== null && isFresh(own.metadata)) return own.metadata.value;
    const asked: Cached<ProviderMetadata> = { value: load(row), at: clock.elapsed() };
    own.metadata = asked;
    asked.value.catch(() => {
      if (own.metadata === asked) own.metadata = null;
    });
    return asked.value;
  };

  const fetchKeys = (own: Known, url: string): Promise<KeySet> => {
    const work = upstream({
      url,
      init: { headers: { accept: "application/json, application/jwk-set+json" } },
      max_bytes: MAXIMUM_DOCUMENT_BYTES,
      failure: "jwks_invalid",
    }).then(parseKeySet);
    const asked: Cached<KeySet> = { value: work, at: clock.elapsed() };
    own.keys = asked;
    work.catch(() => {
      if (own.keys === asked) own.keys = null;
    });
    return work;
  };

  /** Keys newer than `used`, or null when they were refreshed a moment ago. */
  const newerKeys = (own: Known, url: string, used: Promise<KeySet>): Promise<KeySet> | null => {
    // Another sign-in noticed the change first.
    if (own.keys !== null && own.keys.value !== used) return own.keys.value;
    if (clock.elapsed() - own.refetched_at < REFETCH_EVERY_MS) return null;
    own.refetched_at = clock.elapsed();
    return fetchKeys(own, url);
  };

  return {
    metadata,

    /**
     * Calls `verify` with the key for a token. If there is none, more than one, or a wrong one, refreshes the set once: providers change
     * keys at any time, and not all give the new key its own `kid`.
     */
    withKey: async (
      row: Provider,
      { alg, kid }: { alg: SigningAlgorithm; kid: string | null },
      verify: (key: CryptoKey) => Promise<void>,
    ): Promise<void> => {
      const { jwks_uri } = await metadata(row);
      const own = of(row);
      const attempt = async (keys: Promise<KeySet>) => await verify(await chooseKey(await keys, alg, kid));
      const known = own.keys !== null && isFresh(own.keys) ? own.keys.value : fetchKeys(own, jwks_uri);
      try {
        await attempt(known);
      } catch (error) {
        const isStale = error instanceof Refusal && stale.includes(error.reason);
        const newer = isStale ? newerKeys(own, jwks_uri, known) : null;
        if (newer === null) throw error;
        await attempt(newer);
      }
    },
  };
}

export type ProviderDocuments = ReturnType<typeof providerDocuments>;
