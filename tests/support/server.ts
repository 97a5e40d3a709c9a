import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "./eventually.ts";

const root = join(import.meta.dir, "../..");

export interface RunningServer {
  url: string;
  data_dir: string;
  pid: number;
  /** Every line so far, of both streams. */
  lines: readonly string[];
  /** The one-time password, on the first start; null on later ones. */
  bootstrapPassword(): string | null;
  /** Resolves with the first line that has `text`, also when it came before. */
  waitForLine(text: string): Promise<string>;
  /** Sends a signal and resolves with the exit code when the process is gone. */
  kill(signal: "SIGTERM" | "SIGKILL"): Promise<number>;
  exited: Promise<number>;
}

interface ServerOptions {
  data_dir?: string;
  env?: Readonly<Record<string, string>>;
  /** Default: this Bun with `src/main.ts`. */
  command?: readonly string[];
}

export function temporaryDir(): string {
  return mkdtempSync(join(tmpdir(), "tidemark-server-"));
}

/** Far longer than a start takes on a machine that does other things beside; what hangs is told with its last lines. */
const readyLimitMs = 120_000;

/**
 * Starts the real process on a free port and resolves when it listens; rejects with its output when it ends before, or has not said
 * by then that it is ready.
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const dataDir = options.data_dir ?? temporaryDir();
  const lines: string[] = [];
  const waiting: { text: string; resolve: (line: string) => void }[] = [];
  const child = Bun.spawn([...(options.command ?? [process.execPath, "src/main.ts"])], {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      TMPDIR: tmpdir(),
      DATA_DIR: dataDir,
      PORT: "0",
      ...options.env,
    },
    stdout: "pipe",
    stderr: "pipe",
    stdin: "ignore",
  });
  const onLine = (line: string) => {
    lines.push(line);
    for (const waiter of waiting.filter(({ text }) => line.includes(text))) waiter.resolve(line);
  };
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of stream) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) onLine(part);
    }
    if (rest !== "") onLine(rest);
  };
  const drained = Promise.all([read(child.stdout), read(child.stderr)]);
  const waitForLine = (text: string) => {
    const found = lines.find((line) => line.includes(text));
    if (found !== undefined) return Promise.resolve(found);
    return Promise.race([
      new Promise<string>((resolve) => waiting.push({ text, resolve })),
      Promise.all([child.exited, drained]).then(([code]) => {
        throw new Error(`The server ended with ${code} before it said "${text}":\n${lines.join("\n")}`);
      }),
    ]);
  };
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    late.reject(new Error(`The server was not ready after ${readyLimitMs} ms; it said:\n${lines.join("\n")}`));
  }, readyLimitMs);
  const ready = await Promise.race([waitForLine("Tidemark is ready"), late.promise]).finally(() => clearTimeout(timer));
  return {
    url: / address=(\S+)/.exec(ready)?.[1] ?? "",
    data_dir: dataDir,
    pid: child.pid,
    lines,
    bootstrapPassword: () => {
      const line = lines.find((text) => text.includes("bootstrap password"));
      return line?.split(" ").at(-1) ?? null;
    },
    waitForLine,
    kill: async (signal) => {
      child.kill(signal);
      return await child.exited;
    },
    exited: child.exited,
  };
}

export interface ApiAnswer {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}

export interface ApiClient {
  token: string | null;
  request(method: string, path: string, body?: unknown): Promise<ApiAnswer>;
  get(path: string): Promise<ApiAnswer>;
  post(path: string, body?: unknown): Promise<ApiAnswer>;
  /** The body of what is answered; an error, with the answer, unless the request succeeds. */
  ok(method: string, path: string, body?: unknown): Promise<ApiAnswer["body"]>;
}

/** Speaks to the API as a program would. */
export function apiClient(url: string, token: string | null = null): ApiClient {
  const client: ApiClient = {
    token,
    request: async (method, path, body) => {
      const response = await fetch(`${url}/api${path}`, {
        method,
        headers: {
          ...(client.token === null ? {} : { authorization: `Bearer ${client.token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? {} : JSON.parse(text), headers: response.headers };
    },
    get: (path) => client.request("GET", path),
    post: (path, body) => client.request("POST", path, body),
    ok: async (method, path, body) => {
      const answer = await client.request(method, path, body);
      if (answer.status < 300) return answer.body;
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    },
  };
  return client;
}

/** Checks a tracker and waits until a tag is among its releases. */
export async function checkUntil(api: ApiClient, tracker: string, tag: string): Promise<void> {
  await api.ok("POST", `/trackers/${tracker}/checks`);
  await eventually(`${tracker} to find ${tag}`, async () => {
    const { items } = await api.ok("GET", `/trackers/${tracker}/releases`);
    return (items as { tag: string }[]).some((each) => each.tag === tag);
  });
}

export const testPassword = "correct horse battery staple 42";

/** Signs in with the bootstrap password, changes it to `testPassword`, and returns a client with the new session. */
export async function firstSignIn(server: RunningServer): Promise<ApiClient> {
  const client = apiClient(server.url);
  const password = server.bootstrapPassword();
  client.token = String((await client.ok("POST", "/session", { username: "admin", password })).token);
  const passwords = { current_password: password, new_password: testPassword };
  client.token = String((await client.ok("PUT", "/account/password", passwords)).token);
  return client;
}
