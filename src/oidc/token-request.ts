import * as oauth from "oauth4webapi";
import * as v from "valibot";
import type { ProviderMetadata } from "./provider-metadata.ts";
import { Refusal } from "./refusal.ts";
import type { Upstream } from "./upstream.ts";

const MAXIMUM_ANSWER_BYTES = 128 * 1024;

const Answer = v.object({
  id_token: v.optional(v.pipe(v.string(), v.minLength(1))),
  access_token: v.optional(v.string()),
});

interface TokenRequest {
  metadata: ProviderMetadata;
  client_id: string;
  client_secret: string;
  redirect_uri: string;
  code: string;
  code_verifier: string;
}

export interface Tokens {
  id_token: string;
  access_token: string | null;
}

/** One part of the header in form encoding (RFC 6749, 2.3.1). */
function encodeForm(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

/**
 * Basic with the client's id and secret. oauth4webapi also escapes "-", "_" and ".", which form encoding leaves alone; Gitea never decodes
 * the header and would refuse its own client ids (UUIDs) and secrets.
 */
function basicAuthentication(secret: string): oauth.ClientAuth {
  return (_server, client, _body, headers) => {
    const credentials = `${encodeForm(client.client_id)}:${encodeForm(secret)}`;
    headers.set("authorization", `Basic ${Buffer.from(credentials).toString("base64")}`);
  };
}

/**
 * The code exchange as oauth4webapi writes it, intercepted before it is sent: our upstream sends it and checks the response, which the
 * library would do with the system clock and without a size limit.
 */
async function writeRequest(request: TokenRequest): Promise<RequestInit> {
  const { metadata, client_id, client_secret, code } = request;
  const server: oauth.AuthorizationServer = { issuer: metadata.issuer, token_endpoint: metadata.token_endpoint };
  const client: oauth.Client = { client_id };
  const isPost = metadata.client_authentication === "client_secret_post";
  const authentication = isPost ? oauth.ClientSecretPost(client_secret) : basicAuthentication(client_secret);
  const parameters = oauth.validateAuthResponse(server, client, new URLSearchParams({ code }), oauth.expectNoState);
  const written = Promise.withResolvers<RequestInit>();
  await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    parameters,
    request.redirect_uri,
    request.code_verifier,
    {
      // Our upstream decides which addresses are allowed.
      [oauth.allowInsecureRequests]: true,
      [oauth.customFetch]: async (_url, { method, headers, body }) => {
        written.resolve({ method, headers, body: String(body) });
        return new Response();
      },
    },
  );
  return await written.promise;
}

/** Exchanges the code for tokens, which stay in memory for this sign-in only. Throws `Refusal`. */
export async function exchangeCode(upstream: Upstream, request: TokenRequest): Promise<Tokens> {
  const init = await writeRequest(request);
  const body = await upstream({
    url: request.metadata.token_endpoint,
    init,
    max_bytes: MAXIMUM_ANSWER_BYTES,
    failure: "token_endpoint_refused",
  });
  const parsed = v.safeParse(Answer, body);
  if (!parsed.success) throw new Refusal("token_response_invalid");
  const { id_token, access_token } = parsed.output;
  if (id_token === undefined) throw new Refusal("id_token_missing");
  return { id_token, access_token: access_token ?? null };
}
