import type { Authority } from "./authority.ts";
import { type PeerProcess, startPeerProcess } from "./peer-process.ts";

export interface IdentityAccount {
  /** What is typed into the provider's own form. */
  login: string;
  password: string;
}

export interface IdentityOptions {
  authority: Authority;
  /** Registered at the provider, byte by byte. */
  redirect_uris: readonly string[];
}

/** A real identity provider over TLS, with one client and two people. */
export interface IdentityProvider {
  name: "oidc-provider" | "dex" | "gitea";
  /** `https://localhost:PORT…`, as its tokens name it. */
  issuer: string;
  client_id: string;
  client_secret: string;
  /** Two people: whoever is bound, and somebody else whom the provider knows as well. */
  people: readonly [IdentityAccount, IdentityAccount];
  stop(): Promise<void>;
}

/** Starts a provider's program; resolves when `url` answers over TLS with a certificate of the authority. */
export async function startIdentityProcess(
  command: readonly [string, ...string[]],
  options: { url: string; ca: string },
): Promise<PeerProcess> {
  const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" };
  const isServing = async () => (await fetch(options.url, { tls: { ca: options.ca } })).ok;
  return await startPeerProcess(command, { env, isServing });
}
