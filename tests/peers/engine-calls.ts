import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";

export const busybox = "/usr/bin/busybox";
const readyTimeoutMs = 60_000;

/** PID 1 that ends at once on TERM, so that a stop costs nothing. */
export const trapCommand = "trap exit TERM; sleep 86400 & wait";

/** An account at a registry. */
export interface RegistryLogin {
  username: string;
  password: string;
}

/** One call to an engine's own API, unversioned; JSON where it answers JSON. Throws with the engine's text when it refuses. */
export async function callEngine(socket: string, method: string, path: string, body?: unknown): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await callOnce(socket, method, path, body);
    } catch (error) {
      // Podman looks at every link of the machine, and those of other engines come and go while it does.
      if (attempt >= 10 || !String(error).includes("no such network interface")) throw error;
    }
  }
}

async function callOnce(socket: string, method: string, path: string, body: unknown): Promise<unknown> {
  const init: BunFetchRequestInit = { method, unix: socket, keepalive: false };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "content-type": "application/json", "x-registry-auth": "e30=" };
  }
  const response = await fetch(`http://localhost${path}`, init);
  const text = await response.text();
  if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Waits until the engine answers on its socket; throws with the end of its log when it ends before, or never does. */
export async function untilItAnswers(socket: string, hasEnded: () => boolean, log: string): Promise<void> {
  const deadline = Date.now() + readyTimeoutMs;
  while (Date.now() < deadline && !hasEnded()) {
    const answer = await callEngine(socket, "GET", "/_ping").catch(() => null);
    if (answer === "OK") return;
    await Bun.sleep(50);
  }
  throw new Error(`The engine did not answer; the end of its log:\n${readFileSync(log, "utf8").slice(-2000)}`);
}

/** Removes every container and every network of an engine, so that nothing of them outlives it on this machine. */
export async function emptyEngine(socket: string): Promise<void> {
  const found = await callEngine(socket, "GET", "/containers/json?all=1").catch(() => []);
  for (const { Id } of Array.isArray(found) ? found : []) {
    await callEngine(socket, "DELETE", `/containers/${Id}?force=1&v=1`).catch(() => undefined);
  }
  await callEngine(socket, "POST", "/networks/prune").catch(() => undefined);
}

/**
 * Imports an image of busybox and nothing else, and answers its id; `changes` are Dockerfile instructions. `folder` keeps the
 * image's content between calls.
 */
export async function importImage(socket: string, folder: string, reference: string, changes: readonly string[]) {
  // Podman takes no notice of `tag`; both take the whole reference as the repository.
  const query = new URLSearchParams({ fromSrc: "-", repo: reference });
  const withCommand = changes.some((change) => change.startsWith("CMD"))
    ? changes
    : [...changes, `CMD ["/bin/sh","-c","${trapCommand}"]`];
  for (const change of withCommand) query.append("changes", change);
  await createImage(socket, query, { body: Bun.file(await imageContent(folder)) });
  const found = await callEngine(socket, "GET", `/images/${reference}/json`);
  return String((found as { Id: string }).Id);
}

/** Pulls an image as `docker pull` does; throws with the engine's text when it refuses, also within the stream. */
export async function pullImage(socket: string, reference: string, login: RegistryLogin | null): Promise<void> {
  const serveraddress = reference.slice(0, reference.indexOf("/"));
  const auth = Buffer.from(JSON.stringify(login === null ? {} : { ...login, serveraddress })).toString("base64url");
  const padded = auth.padEnd(Math.ceil(auth.length / 4) * 4, "=");
  await createImage(socket, new URLSearchParams({ fromImage: reference }), { headers: { "x-registry-auth": padded } });
}

async function createImage(socket: string, query: URLSearchParams, init: BunFetchRequestInit): Promise<void> {
  const all: BunFetchRequestInit = { ...init, method: "POST", unix: socket };
  const response = await fetch(`http://localhost/images/create?${query}`, all);
  const text = await response.text();
  if (!response.ok || text.includes('"error"'))
    throw new Error(`Image ${query}: ${response.status} ${text.slice(-500)}`);
}

async function imageContent(folder: string): Promise<string> {
  const tar = join(folder, "busybox.tar");
  if (existsSync(tar)) return tar;
  const root = join(folder, "root");
  mkdirSync(join(root, "bin"), { recursive: true });
  await copyFile(busybox, join(root, "bin", "busybox"));
  for (const applet of execFileSync(busybox, ["--list"], { encoding: "utf8" }).split("\n")) {
    if (applet !== "" && applet !== "busybox") symlinkSync("busybox", join(root, "bin", applet));
  }
  for (const each of ["tmp", "etc", "var", "www"]) mkdirSync(join(root, each));
  execFileSync("tar", ["-C", root, "-cf", tar, "."]);
  return tar;
}
