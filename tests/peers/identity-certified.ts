import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { type IdentityOptions, type IdentityProvider, startIdentityProcess } from "./identity.ts";

const program = join(import.meta.dir, "identity-certified-server.ts");

/** Starts the certified `oidc-provider` in a process of its own; its keys and sessions are gone with it. */
export async function startCertifiedProvider(options: IdentityOptions): Promise<IdentityProvider> {
  const port = await freePort();
  const issuer = `https://localhost:${port}`;
  const client = { client_id: "tidemark", client_secret: "certified-client-secret-0123456789" };
  const settings = {
    port,
    issuer,
    ...options.authority.issue("localhost"),
    ...client,
    redirect_uris: options.redirect_uris,
  };
  const { stop } = await startIdentityProcess([process.execPath, program, JSON.stringify(settings)], {
    url: `${issuer}/.well-known/openid-configuration`,
    ca: options.authority.ca,
  });
  return {
    name: "oidc-provider",
    issuer,
    ...client,
    people: [
      { login: "keeper", password: "any" },
      { login: "stranger", password: "any" },
    ],
    stop,
  };
}
