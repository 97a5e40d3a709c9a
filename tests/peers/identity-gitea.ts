import { startGitea } from "./gitea.ts";
import type { IdentityOptions, IdentityProvider } from "./identity.ts";

const people = [
  { login: "keeper", password: "Keeper-pass-1" },
  { login: "stranger", password: "Stranger-pass-1" },
] as const;

/** Starts a real Gitea over TLS as an OpenID provider: an application for us, and two people who are nobody special. */
export async function startGiteaIdentity(options: IdentityOptions): Promise<IdentityProvider> {
  const { authority, redirect_uris } = options;
  const gitea = await startGitea({ tls: { ...authority.issue("localhost"), ca: authority.ca } });
  try {
    for (const { login, password } of people) gitea.createAccount(login, password);
    const client = await gitea.api<{ client_id: string; client_secret: string }>("POST", "/user/applications/oauth2", {
      name: "Tidemark",
      redirect_uris,
      confidential_client: true,
    });
    const { client_id, client_secret } = client;
    return { name: "gitea", issuer: gitea.url, client_id, client_secret, people, stop: gitea.stop };
  } catch (error) {
    await gitea.stop();
    throw error;
  }
}
