import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free-port.ts";
import { startPeerProcess } from "./peer-process.ts";

const peers = process.env.TIDEMARK_PEERS || join(homedir(), ".cache/tidemark-peers");
/** Both of its major versions. */
export const helmVersions = ["3.22.0", "4.3.1"] as const;
export type HelmVersion = (typeof helmVersions)[number];
const museumProgram = join(peers, "chartmuseum-0.13.1/chartmuseum");
const run = promisify(execFile);

/** The only account of every repository here; its password has a colon. */
export const repositoryAccount = { username: "ci", password: "cm:pass" } as const;

/** Why the real helm and chartmuseum cannot run here, or null when they can. */
export function helmMissing(): string | null {
  const missing = [...helmVersions.map(helmProgram), museumProgram].find((program) => !existsSync(program));
  return missing === undefined ? null : `${missing} is not built (tests/peers/build-helm.sh)`;
}

export function helmProgram(version: HelmVersion): string {
  return join(peers, `helm-${version}/helm`);
}

/** What a chart is made of beside its Chart.yaml; YAML or JSON by path. */
interface ChartFiles {
  values?: Readonly<Record<string, unknown>>;
  /** Below the chart's folder, such as `templates/web.yaml`. */
  files?: Readonly<Record<string, string>>;
}

/** Helm with folders of its own, so that nothing of the machine's user is read or changed. */
export interface Helm extends Disposable {
  directory: string;
  /** Runs helm; throws with its words when it fails. */
  run(...args: string[]): Promise<string>;
  /** Starts helm and leaves it to the caller. */
  start(...args: string[]): ChildProcess;
  /** Writes a chart and packs it; returns the path of its archive. */
  pack(
    chart: Readonly<Record<string, unknown>> & { name: string; version: string },
    folder: string,
    content?: ChartFiles,
  ): Promise<string>;
}

export function createHelm(version: HelmVersion = helmVersions[0]): Helm {
  const directory = mkdtempSync(join(tmpdir(), "tidemark-helm-"));
  const env: Record<string, string> = { PATH: process.env.PATH ?? "", HOME: directory };
  for (const kind of ["CONFIG", "CACHE", "DATA"]) env[`HELM_${kind}_HOME`] = join(directory, kind.toLowerCase());
  const helm = async (...args: string[]) =>
    (await run(helmProgram(version), args, { env, timeout: 60_000, maxBuffer: 16 * 1024 * 1024 })).stdout;
  return {
    directory,
    run: helm,
    start: (...args) => spawn(helmProgram(version), args, { env, stdio: "ignore" }),
    async pack(chart, folder, { values = {}, files = {} } = {}) {
      const source = join(directory, "source", `${chart.name}-${chart.version}`, chart.name);
      mkdirSync(join(source, "templates"), { recursive: true });
      // JSON is YAML.
      writeFileSync(join(source, "Chart.yaml"), JSON.stringify({ apiVersion: "v2", ...chart }));
      writeFileSync(join(source, "values.yaml"), `${JSON.stringify(values)}\n`);
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(source, path)), { recursive: true });
        writeFileSync(join(source, path), text);
      }
      mkdirSync(folder, { recursive: true });
      await helm("package", source, "-d", folder);
      return join(folder, `${chart.name}-${chart.version}.tgz`);
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

export interface Repository {
  url: string;
  /** Requests so far as `200 /index.yaml`, and forgets them; of a chartmuseum always empty. */
  take(): string[];
  stop(): Promise<void>;
}

function isAllowed(header: string | null): boolean {
  const { username, password } = repositoryAccount;
  return header === `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** A folder behind Basic auth as any web server would give it: with ETag and Last-Modified. */
export function serveFolder(folder: string): Repository {
  const seen: string[] = [];
  const answer = (request: Request): Response => {
    if (!isAllowed(request.headers.get("authorization"))) {
      return new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="charts"' } });
    }
    const file = join(folder, decodeURIComponent(new URL(request.url).pathname));
    if (!existsSync(file) || !statSync(file).isFile()) return new Response("", { status: 404 });
    const { size, mtime } = statSync(file);
    const etag = `"${mtime.getTime().toString(16)}-${size.toString(16)}"`;
    const headers = { etag, "last-modified": mtime.toUTCString() };
    if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers });
    return new Response(readFileSync(file), { headers });
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const response = answer(request);
      seen.push(`${response.status} ${new URL(request.url).pathname}`);
      return response;
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, take: () => seen.splice(0), stop: () => server.stop(true) };
}

/** Starts a real chartmuseum behind Basic auth, on a free port of loopback with a folder of its own. */
export async function startChartmuseum(): Promise<Repository & { upload(archive: string): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), "tidemark-museum-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { username, password } = repositoryAccount;
  const flags = [
    `--port=${port}`,
    "--listen-host=127.0.0.1",
    "--storage=local",
    `--storage-local-rootdir=${directory}`,
  ];
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const upload = async (archive: string) => {
    const authorization = `Basic ${btoa(`${username}:${password}`)}`;
    const response = await fetch(`${url}/api/charts`, {
      method: "POST",
      headers: { authorization },
      body: readFileSync(archive),
    });
    if (response.status !== 201) throw new Error(`Upload: ${response.status} ${await response.text()}`);
  };
  try {
    const child = await startPeerProcess([museumProgram, ...flags, `--chart-url=${url}`], {
      env: { BASIC_AUTH_USER: username, BASIC_AUTH_PASS: password },
      isServing: async () => (await fetch(`${url}/health`)).ok,
    });
    return { url, take: () => [], upload, stop: () => child.stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}
