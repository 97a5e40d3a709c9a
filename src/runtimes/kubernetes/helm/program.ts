import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync, rmSync } from "node:fs";
import { chmod, mkdir, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../clock.ts";
import { PluginError } from "../../../errors.ts";
import { type Message, plain, say } from "../../../messages/message.ts";
import { RecentMap } from "../../../recent-map.ts";
import { cutTo } from "../../engine/hide-secrets.ts";
import type { RuntimeContext } from "../../runtime.ts";
import type { ClusterAccess } from "../access.ts";
import type { Driver } from "./storage.ts";

/** `--reset-then-reuse-values` came with it. */
const oldest = { major: 3, minor: 14 };
/** A dry run prints the whole release. */
const maxOutputBytes = 64 * 1024 * 1024;
const maxWords = 1500;
/** Of the output of a helm that may outlive this process. */
const maxReadBytes = 64 * 1024;
/** How long helm has to end after it was asked to. */
const graceMs = 10_000;
/** How often a helm that a killed process left running is checked for its end. */
const endPauseMs = 2_000;

/** Folders of calls in this process: no process has them among its arguments before helm starts. */
const ours = new Set<string>();

/** When a program was last found usable; every reading of a release asks, and each start of helm takes a third of a second. */
const usable = new RecentMap<string, number>(8);
const usableMs = 5 * 60 * 1000;

/** What helm printed; never its arguments, which must not contain secrets anyway. */
export interface HelmResult {
  is_done: boolean;
  stdout: string;
  /** Why it failed, in its own words; null if it was killed. */
  said: Message | null;
}

export interface Helm {
  /** Why it cannot be used: it is missing or too old. Null if it can. */
  findProblem(): Promise<Message | null>;
  /**
   * Runs helm on the release's storage, in a folder that only this call uses. `files`: written there, and named in `args` by `{folder}`.
   * `folder`: its name, by which a later process finds a running helm; with it, a stop leaves helm running, and without it ends helm.
   */
  run(call: HelmCall): Promise<HelmResult>;
  /** Resolves when no helm of this folder runs any more, and removes the folder. Rejects with the signal's reason. */
  awaitEnd(folder: string, signal: AbortSignal): Promise<void>;
}

interface HelmCall {
  args: readonly string[];
  driver: Driver;
  files?: Readonly<Record<string, Uint8Array>>;
  folder?: string;
  timeout_ms: number;
  stop?: AbortSignal | undefined;
}

interface Options {
  access: ClusterAccess;
  clock: Clock;
  signal: AbortSignal;
  self: RuntimeContext["self"];
}

/** The helm program of this machine, with nothing of its user's: no configuration, plug-ins, cache or kubeconfig. */
export function openHelm({ access, clock, signal, self }: Options): Helm {
  const base = baseOf(self);

  const environment = (folder: string, driver: Driver): Record<string, string> => ({
    PATH: self.helm?.search_path ?? "",
    HOME: folder,
    KUBECONFIG: join(folder, "kubeconfig"),
    HELM_DRIVER: driver,
    HELM_CONFIG_HOME: folder,
    HELM_CACHE_HOME: folder,
    HELM_DATA_HOME: folder,
    HELM_PLUGINS: join(folder, "plugins"),
  });
  const start = (args: readonly string[], env: Record<string, string>, stdio: StdioOptions): ChildProcess =>
    // In its own process group: a Ctrl-C at our terminal is not for it.
    spawn(self.helm?.program ?? "helm", args, { env, stdio, detached: true });
  /** Pipes close when this process ends, and helm's next warning would then end helm in the middle of its work. */
  const startOnItsOwn = (args: readonly string[], env: Record<string, string>, words: string): ChildProcess => {
    const file = openSync(words, "w", 0o600);
    try {
      return start(args, env, ["ignore", "ignore", file]);
    } finally {
      closeSync(file);
    }
  };

  /** `words`: the file for helm's output if it outlives this process; null if it ends with it. */
  const execute = async (
    args: readonly string[],
    env: Record<string, string>,
    timeoutMs: number,
    { stop, words = null }: { stop?: AbortSignal | undefined; words?: string | null } = {},
  ): Promise<HelmResult> => {
    const asked = [signal, ...(stop === undefined ? [] : [stop])];
    const refuse = () => {
      for (const each of asked) each.throwIfAborted();
    };
    refuse();
    const child = words === null ? start(args, env, ["ignore", "pipe", "pipe"]) : startOnItsOwn(args, env, words);
    const ended = endOf(child, words);
    const over = new AbortController();
    const endAfter = async (ms: number) => {
      await clock.sleep(ms, over.signal);
      endGroup(child, "SIGTERM");
      await clock.sleep(graceMs, over.signal);
      endGroup(child, "SIGKILL");
    };
    void endAfter(timeoutMs).catch(() => undefined);
    const stopped = Promise.withResolvers<never>();
    const onStop = () => {
      if (words !== null) stopped.reject(asked.find((each) => each.aborted)?.reason);
      else void endAfter(0).catch(() => undefined);
    };
    for (const each of asked) each.addEventListener("abort", onStop, { once: true });
    try {
      const result = toResult(await Promise.race([ended, stopped.promise]), access);
      if (words === null) refuse();
      return result;
    } finally {
      over.abort();
      for (const each of asked) each.removeEventListener("abort", onStop);
    }
  };

  const requireUsable = async () => {
    const result = await execute(["version", "--template", "{{.Version}}"], environment(base, "secret"), 20_000);
    const [, major = "", minor = "", rest = ""] = /^v(\d+)\.(\d+)(\.\S*)/.exec(result.stdout.trim()) ?? [];
    if (major === "") throw rejected(say("kubernetes.helm_strange", { said: result.said ?? plain("") }));
    const isOld = Number(major) < oldest.major || (Number(major) === oldest.major && Number(minor) < oldest.minor);
    if (!isOld) return;
    const found = { version: `${major}.${minor}${rest}`, oldest: `${oldest.major}.${oldest.minor}` };
    throw rejected(say("kubernetes.helm_old", found));
  };

  return {
    findProblem: async () => {
      const { program = "helm", search_path = "" } = self.helm ?? {};
      const key = `${program}\0${search_path}`;
      const usableAt = usable.get(key);
      if (usableAt !== undefined && clock.elapsed() - usableAt < usableMs) return null;
      try {
        await requireUsable();
        usable.set(key, clock.elapsed());
        return null;
      } catch (error) {
        if (error instanceof PluginError) return error.said;
        throw error;
      }
    },
    run: async ({ args, driver, files = {}, folder: own, timeout_ms, stop }) => {
      await sweep(base);
      const folder = join(base, own ?? randomUUID());
      ours.add(folder);
      let isLeft = false;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await chmod(folder, 0o700);
        await access.renew?.();
        const contents = { ...files, kubeconfig: new TextEncoder().encode(JSON.stringify(kubeconfigOf(access))) };
        for (const [file, content] of Object.entries(contents))
          await writeFile(join(folder, file), content, { mode: 0o600 });
        const filled = args.map((arg) => arg.replaceAll("{folder}", folder));
        // The environment names it too; as an argument it identifies the helm.
        const all = [...filled, "--kubeconfig", join(folder, "kubeconfig")];
        const words = own === undefined ? null : join(folder, "words");
        return await execute(all, environment(folder, driver), timeout_ms, { stop, words });
      } catch (error) {
        isLeft = await isInUse(folder);
        throw error;
      } finally {
        ours.delete(folder);
        if (!isLeft) await rm(folder, { recursive: true, force: true });
      }
    },
    awaitEnd: async (name, stop) => {
      const folder = join(base, name);
      while (await isInUse(folder)) await clock.sleep(500, stop);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const rejected = (said: Message, cause?: unknown) => new PluginError("rejected", said, { cause });

function baseOf({ data_dir }: RuntimeContext["self"]): string {
  return join(data_dir, "helm");
}

/** Removes the folders of killed processes, which hold logins, each once no helm works in it. */
export async function clearFolders({ clock, signal, self }: Omit<Options, "access">): Promise<void> {
  while (await sweep(baseOf(self))) await clock.sleep(endPauseMs, signal);
}

/** Removes the folders that nobody uses; whether a helm of a killed process still works in another. */
async function sweep(base: string): Promise<boolean> {
  let isAnyLeft = false;
  for (const name of await readdir(base).catch(() => [])) {
    const folder = join(base, name);
    if (ours.has(folder)) continue;
    const isLeft = await isInUse(folder);
    isAnyLeft ||= isLeft;
    // Looked up again and removed at once: a call may have begun to use it meanwhile.
    if (!isLeft && !ours.has(folder)) rmSync(folder, { recursive: true, force: true });
  }
  return isAnyLeft;
}

/** Whether a process has a file of this folder among its arguments, as every helm that we start has. */
async function isInUse(folder: string): Promise<boolean> {
  const ids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = ids.map((id) => readFile(`/proc/${id}/cmdline`, "latin1").catch(() => ""));
  return (await Promise.all(lines)).some((line) => line.includes(`${folder}/`));
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** With everything that it started: helm may be a script around the program, which would continue and hold the output open. */
function endGroup(child: ChildProcess, how: "SIGTERM" | "SIGKILL"): void {
  try {
    // It leads a group of its own.
    if (child.pid !== undefined) process.kill(-child.pid, how);
  } catch {
    child.kill(how);
  }
  if (how === "SIGTERM") return;
  child.stdout?.destroy();
  child.stderr?.destroy();
}

async function endOf(child: ChildProcess, words: string | null): Promise<Ended> {
  const ended = await pipedEndOf(child);
  return words === null ? ended : { ...ended, stderr: await readEnd(words) };
}

/** The error comes last; the text before it is not read, however long. */
async function readEnd(file: string): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, maxReadBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    const text = buffer.toString("utf8", 0, bytesRead);
    // The first line may lack its beginning, such as that of a secret.
    return length === size ? text : text.slice(text.indexOf("\n") + 1);
  } finally {
    await handle.close();
  }
}

function pipedEndOf(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const parts: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] };
    let bytes = 0;
    for (const name of ["stdout", "stderr"] as const) {
      child[name]?.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= maxOutputBytes) parts[name].push(chunk);
        else endGroup(child, "SIGKILL");
      });
    }
    child.on("error", (cause: NodeJS.ErrnoException) => {
      const isMissing = cause.code === "ENOENT" || cause.code === "EACCES";
      reject(
        isMissing
          ? rejected(say("kubernetes.helm_missing"), cause)
          : rejected(say("kubernetes.helm_strange", { said: plain(cause.message) }), cause),
      );
    });
    child.on("close", (code) => {
      const text = (name: "stdout" | "stderr") => Buffer.concat(parts[name]).toString("utf8");
      resolve({ code: bytes > maxOutputBytes ? null : code, stdout: text("stdout"), stderr: text("stderr") });
    });
  });
}

function toResult({ code, stdout, stderr }: Ended, { authorization }: ClusterAccess): HelmResult {
  if (code === 0) return { is_done: true, stdout, said: null };
  const login = authorization?.split(" ")[1] ?? "";
  const words = (login === "" ? stderr : stderr.replaceAll(login, "***")).trim();
  // Warnings come first; the error is the last line.
  const error = words.lastIndexOf("Error: ");
  const said = cutTo(error === -1 ? words : words.slice(error + "Error: ".length), maxWords);
  return { is_done: false, stdout: "", said: code === null ? null : plain(said) };
}

/** As helm reads it, from the access of the session. */
function kubeconfigOf({ server, ca, cert, key, authorization, tls_server_name }: ClusterAccess) {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const [scheme = "", login = ""] = authorization?.split(" ") ?? [];
  const [username = "", ...password] = Buffer.from(login, "base64").toString("utf8").split(":");
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "tidemark",
        cluster: {
          server: server.href,
          ...(ca === null ? {} : { "certificate-authority-data": base64(ca) }),
          ...(tls_server_name === null ? {} : { "tls-server-name": tls_server_name }),
        },
      },
    ],
    users: [
      {
        name: "tidemark",
        user: {
          ...(cert === null ? {} : { "client-certificate-data": base64(cert) }),
          ...(key === null ? {} : { "client-key-data": base64(key) }),
          ...(scheme === "Bearer" ? { token: login } : {}),
          ...(scheme === "Basic" ? { username, password: password.join(":") } : {}),
        },
      },
    ],
    contexts: [{ name: "tidemark", context: { cluster: "tidemark", user: "tidemark" } }],
    "current-context": "tidemark",
  };
}
