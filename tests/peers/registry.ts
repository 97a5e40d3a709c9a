import { execFileSync } from "node:child_process";
import { createPrivateKey, type KeyObject, randomUUID, sign, X509Certificate } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RegistryAuth } from "../support/oci-image.ts";
import { freePort } from "./free-port.ts";
import { startPeerProcess } from "./peer-process.ts";

const program = "/usr/bin/docker-registry";
/** The only account of a registry with sign-in. */
export const account = { username: "ci", password: "reg-pass" } as const;

/** The account may not pull from here, where the token server decides. */
export const closedRepository = "closed/app";

/** Why Debian's registry cannot run here, or null when it can. */
export function registryMissing(): string | null {
  if (!existsSync(program)) return `${program} is not installed (apt-get install docker-registry)`;
  return existsSync("/usr/bin/openssl") ? null : "/usr/bin/openssl is not installed (apt-get install openssl)";
}

export interface RegistryOptions {
  /** `token` also starts the token server. Anonymous people may then pull below `public/`, and nothing else. */
  auth?: "none" | "basic" | "token";
  /** Seconds that a token lives. */
  token_lifetime?: number;
  /** Where its folder is made. Default: among the temporary files. */
  parent?: string;
}

export interface Registry {
  /** `http://127.0.0.1:PORT`, to be written into the source's registry address. */
  url: string;
  /** `127.0.0.1:PORT`, as image references have it. */
  host: string;
  /** What `pushImage` needs to push here; null without sign-in. */
  auth: RegistryAuth | null;
  /** Where the registry keeps its content, for tests that lay thousands of tags down without the API. */
  directory: string;
  /** Every request to the token server so far, as `GET /token?…`; empty without one. */
  tokenRequests: { line: string; authorization: string | null }[];
  /** Stops the processes that were started and removes the folder. */
  stop(): Promise<void>;
}

interface Access {
  type: string;
  name: string;
  actions: string[];
}

const issuer = "tidemark-tests";
const service = "tidemark-registry";

function grantedAccess(scopes: readonly string[], user: string): Access[] {
  return scopes.flatMap((scope) => {
    const match = /^([a-z]+):(.*):([^:]*)$/.exec(scope);
    if (match === null) return [];
    const [, type = "", name = "", actions = ""] = match;
    const allowed = actions
      .split(",")
      .filter((action) => (user === "" ? action === "pull" && name.startsWith("public/") : name !== closedRepository));
    return [{ type, name, actions: allowed }];
  });
}

function base64url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function issueToken(key: KeyObject, certificate: Buffer, user: string, access: Access[], lifetime: number): string {
  const now = Math.floor(Date.now() / 1000);
  const header = base64url({ typ: "JWT", alg: "RS256", x5c: [certificate.toString("base64")] });
  const times = { exp: now + lifetime, nbf: now - 5, iat: now };
  const text = `${header}.${base64url({ iss: issuer, sub: user, aud: service, ...times, jti: randomUUID(), access })}`;
  return `${text}.${sign("RSA-SHA256", Buffer.from(text), key).toString("base64url")}`;
}

/** A token server by the distribution's token specification: `GET` with Basic or nobody, `POST` by OAuth 2 as engines do it. */
function startTokenServer(directory: string, lifetime: number, requests: Registry["tokenRequests"]) {
  const [keyFile, certificateFile] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=tidemark-tests"];
  execFileSync("/usr/bin/openssl", [...request, "-keyout", keyFile, "-out", certificateFile], { stdio: "ignore" });
  const key = createPrivateKey(readFileSync(keyFile));
  const certificate = new X509Certificate(readFileSync(certificateFile)).raw;
  const known = `${account.username}:${account.password}`;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(incoming) {
      const url = new URL(incoming.url);
      const form = new URLSearchParams(incoming.method === "POST" ? await incoming.text() : "");
      const authorization = incoming.headers.get("authorization");
      requests.push({ line: `${incoming.method} ${url.pathname}${url.search}`, authorization });
      const basic = Buffer.from(authorization?.split(" ")[1] ?? "", "base64").toString();
      const isPassword = form.get("grant_type") === "password";
      const who = isPassword ? `${form.get("username")}:${form.get("password")}` : basic;
      if (who !== "" && who !== known) {
        return Response.json({ details: "incorrect username or password" }, { status: 401 });
      }
      const scopes = [...url.searchParams.getAll("scope"), ...form.getAll("scope")].flatMap((scope) =>
        scope.split(" "),
      );
      const user = who === "" ? "" : account.username;
      const token = issueToken(key, certificate, user, grantedAccess(scopes, user), lifetime);
      return Response.json({ ...(isPassword ? { access_token: token } : { token }), expires_in: lifetime });
    },
  });
  return { realm: `http://127.0.0.1:${server.port}/token`, certificateFile, stop: () => server.stop(true) };
}

/**
 * Starts a real registry on a free port of loopback with a folder of its own; ready when this resolves. The token server lives
 * in this process: a test that waits for a child synchronously (`execFileSync`) while it signs in keeps it from answering.
 */
export async function startRegistry(options: RegistryOptions = {}): Promise<Registry> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      // Another process may take the free port before the registry does.
      if (attempt === 5 || !String(error).includes("address already in use")) throw error;
    }
  }
}

async function startOnce(options: RegistryOptions): Promise<Registry> {
  const directory = mkdtempSync(join(options.parent ?? tmpdir(), "tidemark-registry-"));
  const kind = options.auth ?? "none";
  const port = await freePort();
  const tokenRequests: Registry["tokenRequests"] = [];
  const tokens = kind === "token" ? startTokenServer(directory, options.token_lifetime ?? 300, tokenRequests) : null;
  const htpasswd = join(directory, "htpasswd");
  if (kind === "basic") {
    const hash = await Bun.password.hash(account.password, { algorithm: "bcrypt", cost: 4 });
    writeFileSync(htpasswd, `${account.username}:${hash}\n`);
  }
  const content = join(directory, "content");
  mkdirSync(content);
  const config = {
    version: 0.1,
    log: { level: "warn" },
    storage: { filesystem: { rootdirectory: content }, delete: { enabled: true } },
    http: { addr: `127.0.0.1:${port}` },
    ...(kind === "basic" ? { auth: { htpasswd: { realm: "tidemark", path: htpasswd } } } : {}),
    ...(tokens === null
      ? {}
      : { auth: { token: { realm: tokens.realm, service, issuer, rootcertbundle: tokens.certificateFile } } }),
  };
  // JSON is YAML.
  const file = join(directory, "config.yml");
  writeFileSync(file, JSON.stringify(config));
  const url = `http://127.0.0.1:${port}`;
  const release = async () => {
    await tokens?.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  const isServing = async () => (await fetch(`${url}/v2/`)).status > 0;
  try {
    const child = await startPeerProcess([program, "serve", file], { env: {}, isServing });
    const auth = kind === "none" ? null : account;
    const stop = () => child.stop().finally(release);
    return { url, host: `127.0.0.1:${port}`, auth, directory: content, tokenRequests, stop };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Lays tags down beside an existing one, pointing to the same manifest; thousands take a second. */
export function layTags(registry: Registry, repository: string, existing: string, tags: readonly string[]): void {
  const root = join(registry.directory, "docker/registry/v2/repositories", repository, "_manifests/tags");
  const link = readFileSync(join(root, existing, "current/link"), "utf8");
  for (const tag of tags) {
    mkdirSync(join(root, tag, "current"), { recursive: true });
    writeFileSync(join(root, tag, "current/link"), link);
  }
}
