import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPeerProcess } from "./peer-process.ts";

const programs = { nginx: "/usr/sbin/nginx", caddy: "/usr/bin/caddy" } as const;
export type ProxyKind = keyof typeof programs;

/** Why Debian's nginx and Caddy cannot run here, or null when they can. */
export function proxiesMissing(): string | null {
  for (const [name, program] of Object.entries(programs)) {
    if (!existsSync(program)) return `${program} is not installed (apt-get install ${name})`;
  }
  return null;
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
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const isServing = async () => {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => undefined } });
    socket.end();
    return true;
  };
  try {
    const env = { PATH: "/usr/bin:/bin", HOME: join(directory, "home") };
    const child = await startPeerProcess([programs[kind], ...args], { env, isServing });
    return { kind, port, stop: () => child.stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}
