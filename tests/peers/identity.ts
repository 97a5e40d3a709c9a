import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Authority } from "./authority.ts";

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

/** A port of loopback that nothing uses at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("The system gave no port");
  return address.port;
}

export interface IdentityProcess {
  child: ChildProcess;
  stop(): Promise<void>;
}

/** Starts a provider's program; resolves when `url` answers over TLS with a certificate of the authority. */
export async function startIdentityProcess(
  [program, ...args]: readonly [string, ...string[]],
  options: { url: string; ca: string; env?: Readonly<Record<string, string>> },
): Promise<IdentityProcess> {
  const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...options.env };
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      log = (log + String(chunk)).slice(-20_000);
    });
  }
  const killAtExit = () => child.kill("SIGKILL");
  process.once("exit", killAtExit);
  const stop = async () => {
    process.removeListener("exit", killAtExit);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  };
  let last: unknown = null;
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${log.slice(-2_000)}`);
    try {
      const answer = await fetch(options.url, { tls: { ca: options.ca } });
      if (answer.ok) return { child, stop };
      last = answer.status;
    } catch (error) {
      last = error;
    }
    await Bun.sleep(100);
  }
  await stop();
  throw new Error(`${program} did not answer at ${options.url} in a minute (${String(last)}): ${log.slice(-2_000)}`);
}
