import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const git = "/usr/bin/git";
/** No settings of this machine, so that a test means the same everywhere. */
const environment = { PATH: "/usr/bin:/bin", HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
const author = { name: "A", email: "a@example.test", date: "2026-01-02T03:04:05Z" };

/** Why git's own server cannot run here, or null when it can. */
export function gitMissing(): string | null {
  return existsSync(git) ? null : `${git} is not installed (apt-get install git)`;
}

/** Runs git in a folder and returns what it says. */
export function runGit(directory: string, ...args: string[]): string {
  const who = { GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email, GIT_AUTHOR_DATE: author.date };
  const by = { GIT_COMMITTER_NAME: author.name, GIT_COMMITTER_EMAIL: author.email, GIT_COMMITTER_DATE: author.date };
  const env = { ...environment, ...who, ...by };
  return execFileSync(git, args, { cwd: directory, env, encoding: "utf8", stdio: "pipe" }).trim();
}

export interface GitRequest {
  line: string;
  git_protocol: string | null;
  authorization: string | null;
  status: number;
}

export interface GitServer {
  /** `http://127.0.0.1:PORT` */
  url: string;
  /** Where repositories lie: `NAME.git` below it is served at `/NAME.git`. */
  directory: string;
  seen: GitRequest[];
  /** Makes an empty bare repository and returns its folder. */
  create(name: string, format?: "sha1" | "sha256"): string;
  stop(): Promise<void>;
}

export interface GitServerOptions {
  /** False: as behind a proxy that drops the header by which version 2 is asked for. */
  passes_version?: boolean;
  /** The only `Authorization` that is let in. */
  authorization?: string;
}

function readCgi(output: Buffer): Response {
  const end = output.indexOf("\r\n\r\n");
  const headers = new Headers();
  for (const line of output.subarray(0, end).toString("latin1").split("\r\n")) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const status = Number.parseInt(headers.get("status") ?? "200", 10);
  headers.delete("status");
  return new Response(new Uint8Array(output.subarray(end + 4)), { status, headers });
}

async function serve(request: Request, directory: string, passesVersion: boolean): Promise<Response> {
  const url = new URL(request.url);
  const body = Buffer.from(await request.arrayBuffer());
  const version = passesVersion ? request.headers.get("git-protocol") : null;
  const child = spawn(git, ["http-backend"], {
    env: {
      ...environment,
      GIT_PROJECT_ROOT: directory,
      GIT_HTTP_EXPORT_ALL: "1",
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers.get("content-type") ?? "",
      CONTENT_LENGTH: String(body.length),
      ...(version === null ? {} : { GIT_PROTOCOL: version }),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => "it answers without reading the question to its end");
  child.stdin.end(body);
  const parts: Buffer[] = [];
  for await (const part of child.stdout) parts.push(Buffer.from(part));
  return readCgi(Buffer.concat(parts));
}

/** Git's own server program (`git http-backend`) behind a small CGI server on loopback, with a folder of its own. */
export function startGitServer(options: GitServerOptions = {}): GitServer {
  const directory = mkdtempSync(join(tmpdir(), "tidemark-git-"));
  const seen: GitRequest[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const authorization = request.headers.get("authorization");
      const isLetIn = options.authorization === undefined || options.authorization === authorization;
      const response = isLetIn
        ? await serve(request, directory, options.passes_version ?? true)
        : new Response("Sign in first", { status: 401, headers: { "www-authenticate": 'Basic realm="git"' } });
      const git_protocol = request.headers.get("git-protocol");
      const line = `${request.method} ${url.pathname}${url.search}`;
      seen.push({ line, git_protocol, authorization, status: response.status });
      return response;
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    directory,
    seen,
    create(name, format = "sha1") {
      const place = join(directory, `${name}.git`);
      mkdirSync(place, { recursive: true });
      runGit(place, "init", "--quiet", "--bare", `--object-format=${format}`, "--initial-branch=main");
      return place;
    },
    async stop() {
      await server.stop(true);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Puts a commit with one file onto a branch of a bare repository and returns its id. */
export function commitFile(repository: string, path: string, text: string, branch = "main"): string {
  const blob = execFileSync(git, ["hash-object", "-w", "--stdin"], { cwd: repository, env: environment, input: text })
    .toString()
    .trim();
  const tree = execFileSync(git, ["mktree"], {
    cwd: repository,
    env: environment,
    input: `100644 blob ${blob}\t${path}\n`,
  })
    .toString()
    .trim();
  const commit = runGit(repository, "commit-tree", "-m", text.slice(0, 40), tree);
  runGit(repository, "update-ref", `refs/heads/${branch}`, commit);
  return commit;
}
