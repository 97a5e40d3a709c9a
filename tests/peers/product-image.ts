import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { busybox } from "./engine-calls.ts";

const root = join(import.meta.dir, "../..");
const base = "tidemark-test-base:1";

/** The libraries that a program is linked with, by the loader's own words. */
function librariesOf(program: string): readonly string[] {
  const said = execFileSync("ldd", [program], { encoding: "utf8" });
  return [...said.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = ""]) => path);
}

/** Packages bring their parts for other C libraries too. */
function isForThisMachine(file: string): boolean {
  return !file.includes("musl");
}

/**
 * What the Dockerfile's base has that it needs: Bun, a shell, and the packages of the lock file in Bun's cache, so that the image
 * is built without a network.
 */
function makeBase(folder: string): string {
  const at = (path: string) => join(folder, "base", path);
  for (const each of ["bin", "tmp", "etc", "root"]) mkdirSync(at(each), { recursive: true });
  cpSync(process.execPath, at("bin/bun"), { dereference: true });
  cpSync(busybox, at("bin/busybox"), { dereference: true });
  for (const applet of ["sh", "mkdir", "chown", "touch", "cat"]) symlinkSync("busybox", at(`bin/${applet}`));
  const work = join(folder, "install");
  mkdirSync(work);
  for (const each of ["package.json", "bun.lock", "bunfig.toml"]) cpSync(join(root, each), join(work, each));
  execFileSync(process.execPath, ["install", "--frozen-lockfile", "--production", "--ignore-scripts"], {
    cwd: work,
    env: { ...process.env, BUN_INSTALL_CACHE_DIR: at("packages") },
    stdio: "pipe",
  });
  const native = [...new Bun.Glob("**/*.node").scanSync({ cwd: work, absolute: true })].filter(isForThisMachine);
  for (const library of new Set([process.execPath, ...native].flatMap(librariesOf))) {
    mkdirSync(at(dirname(library)), { recursive: true });
    cpSync(library, at(library), { dereference: true });
  }
  const archive = join(folder, "base.tar");
  // As a distribution has them, whatever the umask of whoever runs this.
  const modes = ["--owner=0", "--group=0", "--mode=u=rwX,go=rX"];
  execFileSync("tar", ["-C", at(""), ...modes, "-cf", archive, "."]);
  return archive;
}

/** What a client sends to be built: the Dockerfile, and what `.dockerignore` lets through. */
function makeContext(folder: string): string {
  const ignore = readFileSync(join(root, ".dockerignore"), "utf8").split("\n");
  const allowed = ignore.flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));
  const archive = join(folder, "context.tar");
  execFileSync("tar", ["-C", root, "-cf", archive, "Dockerfile", ...allowed]);
  return archive;
}

async function send(socket: string, path: string, archive: string): Promise<void> {
  const response = await fetch(`http://localhost${path}`, {
    method: "POST",
    unix: socket,
    headers: { "content-type": "application/x-tar" },
    body: Bun.file(archive),
  });
  const said = await response.text();
  if (!response.ok || said.includes('"error"')) throw new Error(`${path}: ${response.status} ${said.slice(-3_000)}`);
}

/** Builds the image of our own Dockerfile on an engine, under the name that compose.yaml has. */
export async function buildProductImage(socket: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-image-"));
  try {
    const changes = "ENV BUN_INSTALL_CACHE_DIR=/packages";
    const imported = new URLSearchParams({ fromSrc: "-", repo: base, changes });
    await send(socket, `/images/create?${imported}`, makeBase(folder));
    const built = new URLSearchParams({
      t: "tidemark",
      buildargs: JSON.stringify({ BASE: base }),
      networkmode: "none",
    });
    await send(socket, `/build?${built}`, makeContext(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Deployment {
  /** Of 127.0.0.1, in place of 8080. */
  port: number;
  /** The engine's socket, in place of the usual one. */
  socket: string;
  /** The group that owns it. */
  group: number;
}

/** compose.yaml as it stands, as the project `tide`, but for the port and the socket, which other things on this machine may have. */
export function writeDeployment(folder: string, { port, socket, group }: Deployment): void {
  const text = readFileSync(join(root, "compose.yaml"), "utf8");
  const changed = text
    .replace("    build: .\n", "")
    .replace("127.0.0.1:8080:8080", `127.0.0.1:${port}:8080`)
    .replace("/var/run/docker.sock:/var", `${socket}:/var`);
  writeFileSync(join(folder, "compose.yaml"), changed);
  writeFileSync(join(folder, ".env"), `COMPOSE_PROJECT_NAME=tide\nDOCKER_GID=${group}\n`);
}
