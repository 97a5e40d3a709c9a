import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { type IdentityOptions, type IdentityProvider, startIdentityProcess } from "./identity.ts";

const version = "2.45.1";
const program = join(process.env.TIDEMARK_PEERS ?? join(homedir(), ".cache/tidemark-peers"), `dex-${version}`, "dex");

/** Why a real dex cannot run here, or null when it can. */
export function dexMissing(): string | null {
  return existsSync(program) ? null : `${program} is not there (run tests/peers/build-dex.sh, some minutes)`;
}

const people = [
  { login: "keeper@example.test", password: "Keeper-pass-1" },
  { login: "stranger@example.test", password: "Stranger-pass-1" },
] as const;

/** Starts a real dex with its password form; keys and sessions are in memory, so a restart has new keys. */
export async function startDex(options: IdentityOptions): Promise<IdentityProvider> {
  const directory = mkdtempSync(join(tmpdir(), "tidemark-dex-"));
  const port = await freePort();
  const issuer = `https://localhost:${port}/dex`;
  const client = { client_id: "tidemark", client_secret: "dex-client-secret-0123456789" };
  const { cert_file, key_file } = options.authority.issue("localhost");
  const config = {
    issuer,
    storage: { type: "memory" },
    web: { https: `127.0.0.1:${port}`, tlsCert: cert_file, tlsKey: key_file },
    expiry: { idTokens: "10m" },
    enablePasswordDB: true,
    staticPasswords: await Promise.all(
      people.map(async ({ login, password }, index) => ({
        email: login,
        // dex takes bcrypt only.
        hash: await Bun.password.hash(password, { algorithm: "bcrypt", cost: 10 }),
        username: login.split("@")[0],
        userID: `person-${index}`,
      })),
    ),
    staticClients: [
      {
        id: client.client_id,
        secret: client.client_secret,
        name: "Tidemark",
        redirectURIs: options.redirect_uris,
      },
    ],
  };
  const file = join(directory, "dex.yaml");
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(config));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  try {
    const { stop } = await startIdentityProcess([program, "serve", file], {
      url: `${issuer}/.well-known/openid-configuration`,
      ca: options.authority.ca,
    });
    return { name: "dex", issuer, ...client, people, stop: () => stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}
