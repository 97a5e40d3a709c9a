import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { importJWK, type JWTPayload, SignJWT } from "jose";
import { httpLoopback, type SeenRequest } from "../support/loopback.ts";
import { makeKey, type PublishedKey } from "./signing.ts";

type Members = Record<string, unknown>;

/** What the person does at the provider, and what the provider then sends back. */
interface Consent {
  sub?: string;
  /** Changes of the ID token's claims; undefined leaves one out. */
  claims?: Members;
}

interface Grant {
  consent: Consent;
  client_id: string;
  redirect_uri: string;
  nonce: string;
  challenge: string;
}

type Answer = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}

let first: PublishedKey | null = null;

/** Made once in a process: an RSA key takes longer than most tests. */
function firstKey(): PublishedKey {
  first ??= makeKey("RS256", "first");
  return first;
}

/**
 * An identity provider over HTTP on loopback that keeps the rules: a code is good once, for its client, its redirect URI and
 * the verifier of its challenge. Every answer can be replaced by a hostile one.
 */
export async function standIn(options: { now: () => number; client_secret: string }) {
  let keys: PublishedKey[] = [firstKey()];
  const grants = new Map<string, Grant>();
  let codes = 0;
  /** Of its clock, which its tokens and the `Date` of its answers show. */
  let ahead = 0;
  const now = () => options.now() + ahead;
  const overrides: Record<string, Answer> = {};
  let metadata: Members = {};

  const signToken = async (grant: Grant) => {
    const key = keys[0];
    if (key === undefined) throw new Error("The stand-in has no key to sign with");
    const seconds = Math.floor(now() / 1000);
    const claims: Members = {
      iss: provider.issuer,
      sub: grant.consent.sub ?? "person-1",
      aud: grant.client_id,
      iat: seconds,
      exp: seconds + 300,
      nonce: grant.nonce,
      ...grant.consent.claims,
    };
    const present: JWTPayload = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
    const signer = await importJWK(key.private_key.export({ format: "jwk" }), key.alg);
    return await new SignJWT(present)
      .setProtectedHeader({ alg: key.alg, ...(key.kid === undefined ? {} : { kid: key.kid }) })
      .sign(signer);
  };

  const exchange: Answer = async (request, response) => {
    const form = new URLSearchParams(request.body);
    const grant = grants.get(form.get("code") ?? "");
    grants.delete(form.get("code") ?? "");
    const basic = Buffer.from((request.headers.authorization ?? "").replace("Basic ", ""), "base64").toString();
    const [id = "", secret = ""] = basic.split(":").map((part) => decodeURIComponent(part.replaceAll("+", " ")));
    if (id !== grant?.client_id || secret !== options.client_secret)
      return json(response, 401, { error: "invalid_client" });
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (form.get("redirect_uri") !== grant.redirect_uri || challenge !== grant.challenge) {
      return json(response, 400, { error: "invalid_grant" });
    }
    const id_token = await signToken(grant);
    provider.issued.push(id_token);
    json(response, 200, { token_type: "Bearer", access_token: "access-canary-1", expires_in: 60, id_token });
  };

  const answers: Record<string, Answer> = {
    "/.well-known/openid-configuration": (_, response) =>
      json(response, 200, {
        issuer: provider.issuer,
        authorization_endpoint: `${provider.issuer}/authorize?policy=strict`,
        token_endpoint: `${provider.issuer}/token`,
        jwks_uri: `${provider.issuer}/jwks`,
        id_token_signing_alg_values_supported: ["RS256", "ES256"],
        authorization_response_iss_parameter_supported: true,
        ...metadata,
      }),
    "/jwks": (_, response) => json(response, 200, { keys: keys.map(({ jwk }) => jwk) }),
    "/token": exchange,
  };

  const serve: Answer = async (request, response) => {
    const path = request.path.split("?")[0] ?? "";
    const answer = overrides[path] ?? answers[path];
    response.setHeader("date", new Date(now()).toUTCString());
    if (answer === undefined) return json(response, 404, {});
    await answer(request, response);
  };
  const server = await httpLoopback((request, response) => {
    Promise.resolve(serve(request, response)).catch(() => response.destroy());
  });

  const provider = {
    issuer: `http://127.0.0.1:${server.port}`,
    /** Every ID token that was given out. */
    issued: [] as string[],
    codes: [] as string[],
    /** Changes members of the discovery document; undefined leaves one out. */
    setMetadata: (changes: Members) => {
      metadata = changes;
    },
    /** Answers a path otherwise from now on; null as before. */
    answer: (path: string, answer: Answer | null) => {
      if (answer === null) delete overrides[path];
      else overrides[path] = answer;
    },
    setClockAhead: (ms: number) => {
      ahead = ms;
    },
    /** As it answers now. */
    serve,
    publicKeys: () => keys.map(({ jwk }) => jwk),
    setKeys: (next: PublishedKey[]) => {
      keys = next;
    },
    asked: (path: string) => server.seen.filter((request) => request.path.split("?")[0] === path).length,
    lastTokenRequest: () => server.seen.findLast((request) => request.path === "/token"),
    /** What a person does: opens the address, signs in, and is sent back with this query. */
    consent: (authorizationUrl: string, consent: Consent = {}): Record<string, string> => {
      const { searchParams } = new URL(authorizationUrl);
      const get = (name: string) => searchParams.get(name) ?? "";
      if (get("response_type") !== "code" || get("code_challenge_method") !== "S256") throw new Error("Not our flow");
      codes += 1;
      const code = `code-canary-${codes}`;
      provider.codes.push(code);
      grants.set(code, {
        consent,
        client_id: get("client_id"),
        redirect_uri: get("redirect_uri"),
        nonce: get("nonce"),
        challenge: get("code_challenge"),
      });
      return { code, state: get("state"), iss: provider.issuer };
    },
    close: () => server[Symbol.asyncDispose](),
  };
  return provider;
}
