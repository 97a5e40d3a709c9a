import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const programs = { nginx: "/usr/sbin/nginx", caddy: "/usr/bin/caddy" } as const;
export type ProxyKind = keyof typeof programs;

/** Why Debian's nginx and Caddy cannot run here, or null when they can. */
export function proxiesMissing(): string | null {
  for (const [name, program] of Object.entries(programs)) {
    if (!existsSync(program)) return `${program} is not installed (apt-get install ${name})`;
  }
  return existsSync("/usr/bin/openssl") ? null : "/usr/bin/openssl is not installed (apt-get install openssl)";
}

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

/** An authority of our own and a certificate that it gave for one name. */
export interface PrivateCa {
  directory: string;
  /** PEM text of the authority. */
  ca: string;
  certificate: string;
  key: string;
}

export function createPrivateCa(name: string): PrivateCa {
  const directory = mkdtempSync(join(tmpdir(), "tidemark-ca-"));
  const file = (each: string) => join(directory, each);
  const openssl = (...args: string[]) => execFileSync("/usr/bin/openssl", args, { stdio: "ignore" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const authority = ["-subj", "/CN=Tidemark tests", "-keyout", file("ca.key"), "-out", file("ca.pem")];
  openssl("req", "-x509", ...newKey, "-days", "30", ...authority);
  openssl("req", ...newKey, "-subj", `/CN=${name}`, "-keyout", file("leaf.key"), "-out", file("leaf.csr"));
  writeFileSync(file("leaf.ext"), `subjectAltName=DNS:${name}\n`);
  const signer = ["-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-CAcreateserial", "-extfile", file("leaf.ext")];
  openssl("x509", "-req", "-in", file("leaf.csr"), "-days", "30", ...signer, "-out", file("leaf.pem"));
  return {
    directory,
    ca: readFileSync(file("ca.pem"), "utf8"),
    certificate: file("leaf.pem"),
    key: file("leaf.key"),
  };
}

export interface ReverseProxy {
  kind: ProxyKind;
  port: number;
  stop(): Promise<void>;
}

/** What nginx wants around a `server` block when it runs as a plain child with a folder of its own. */
function nginxFile(directory: string, site: string): string {
  const bodies = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((each) => `${each}_temp_path ${join(directory, each)};`)
    .join("\n");
  return `daemon off;
worker_processes 1;
pid ${join(directory, "nginx.pid")};
error_log stderr warn;
events { worker_connections 128; }
http {
access_log off;
${bodies}
${site}
}
`;
}

/** Caddy without its administration port and without looking for certificates. */
function caddyFile(directory: string, site: string): string {
  return `{
  admin off
  auto_https disable_redirects
  storage file_system ${join(directory, "caddy")}
}
${site}
`;
}

/** Starts a real proxy with one site, as its documentation has it; answers when this resolves. */
export async function startReverseProxy(kind: ProxyKind, port: number, site: string): Promise<ReverseProxy> {
  const directory = mkdtempSync(join(tmpdir(), `tidemark-${kind}-`));
  // As root, nginx gives its workers to another user, who keeps large bodies in folders in here.
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, "home"));
  const file = join(directory, kind === "nginx" ? "nginx.conf" : "Caddyfile");
  writeFileSync(file, kind === "nginx" ? nginxFile(directory, site) : caddyFile(directory, site));
  const args =
    kind === "nginx"
      ? ["-p", directory, "-c", file, "-e", "stderr"]
      : ["run", "--config", file, "--adapter", "caddyfile"];
  const child = spawn(programs[kind], args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: "/usr/bin:/bin", HOME: join(directory, "home") },
  });
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
    await ended(child);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await answering(child, port, () => log);
  } catch (error) {
    await stop();
    throw error;
  }
  return { kind, port, stop };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}

async function answering(child: ChildProcess, port: number, log: () => string): Promise<void> {
  for (let attempt = 0; attempt < 1_200; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`The proxy ended with ${child.exitCode}: ${log().slice(-2_000)}`);
    try {
      const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => undefined } });
      socket.end();
      return;
    } catch {
      await Bun.sleep(50);
    }
  }
  throw new Error(`The proxy did not listen at ${port} in a minute: ${log().slice(-2_000)}`);
}
