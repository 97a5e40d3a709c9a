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

/** One part of the header, as forms encode it (RFC 6749, 2.3.1). */
function encodeForm(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

/**
 * Basic with the client's id and secret. oauth4webapi also escapes "-", "_" and ".", which forms leave as they are: Gitea, which
 * never decodes the header, would refuse its own client ids (UUIDs) and secrets.
 */
function basicAuthentication(secret: string): oauth.ClientAuth {
  return (_server, client, _body, headers) => {
    const credentials = `${encodeForm(client.client_id)}:${encodeForm(secret)}`;
    headers.set("authorization", `Basic ${Buffer.from(credentials).toString("base64")}`);
  };
}

/**
 * The request that exchanges the code, as oauth4webapi writes it; it is caught before it is sent, so that our own upstream
 * sends it and judges the answer, which the library would measure by the system's clock and without a size.
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
      // Which addresses may be asked is judged by our upstream.
      [oauth.allowInsecureRequests]: true,
      [oauth.customFetch]: async (_url, { method, headers, body }) => {
        written.resolve({ method, headers, body: String(body) });
        return new Response();
      },
    },
  );
  return await written.promise;
}

/** Exchanges the code for tokens, which are held in memory for the time of this sign-in alone. Throws `Refusal`. */
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
