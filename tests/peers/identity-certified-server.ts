// A process of its own, started by identity-certified.ts: the certified `oidc-provider` behind node:https.
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { Provider } from "oidc-provider";
import * as v from "valibot";

const Options = v.object({
  port: v.number(),
  issuer: v.string(),
  cert_file: v.string(),
  key_file: v.string(),
  client_id: v.string(),
  client_secret: v.string(),
  redirect_uris: v.array(v.string()),
});
const options = v.parse(Options, JSON.parse(process.argv[2] ?? "{}"));

const provider = new Provider(options.issuer, {
  clients: [
    {
      client_id: options.client_id,
      client_secret: options.client_secret,
      redirect_uris: options.redirect_uris,
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  claims: { openid: ["sub"], email: ["email"], profile: ["name"] },
  scopes: ["openid", "email", "profile"],
  cookies: { keys: ["only for tests"] },
  pkce: { required: () => true },
  // Whatever is typed as login is the subject; the form is the package's own.
  findAccount: (_context: unknown, id: string) => ({
    accountId: id,
    claims: () => ({ sub: id, email: "same@example.test", email_verified: true, name: id }),
  }),
});

const certificate = { cert: readFileSync(options.cert_file), key: readFileSync(options.key_file) };
createServer(certificate, provider.callback()).listen(options.port, "127.0.0.1");
