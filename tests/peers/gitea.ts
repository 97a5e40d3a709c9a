import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { startPeerProcess } from "./peer-process.ts";

const version = "1.26.0";
const home = join(process.env.TIDEMARK_PEERS ?? join(homedir(), ".cache/tidemark-peers"), `gitea-${version}`);
const program = join(home, "gitea");

/** Why a real Gitea cannot run here, or null when it can. */
export function giteaMissing(): string | null {
  if (!existsSync(program)) return `${program} is not there (run tests/peers/build-gitea.sh, some minutes)`;
  return existsSync("/usr/bin/git") ? null : "/usr/bin/git is not installed (apt-get install git)";
}

export interface Gitea {
  /** `http://127.0.0.1:PORT`, or `https://localhost:PORT` with TLS. */
  url: string;
  host: string;
  /** Of its only account `owner`, an administrator. */
  token: string;
  /** One call to its API as that account; throws with the answer unless it is a success. */
  api<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
  /** The bare repository on the disk, for what Gitea shall not notice; `path` is `owner/name`. */
  folderOf(path: string): string;
  /** Another person, without any right of an administrator. */
  createAccount(name: string, password: string): void;
  /** A token that may do only this, such as `read:repository`. */
  createToken(scopes: string): string;
  stop(): Promise<void>;
}

const account = { name: "owner", password: "Test-pass-1" } as const;

/** Gitea ends TLS itself, as `localhost`. */
export interface GiteaTls {
  cert_file: string;
  key_file: string;
  /** PEM, that checks it. */
  ca: string;
}

function configOf(directory: string, port: number, tls: GiteaTls | undefined): string {
  const protocol =
    tls === undefined
      ? `DOMAIN = 127.0.0.1\nROOT_URL = http://127.0.0.1:${port}/`
      : `DOMAIN = localhost\nROOT_URL = https://localhost:${port}/\nPROTOCOL = https\nCERT_FILE = ${tls.cert_file}\nKEY_FILE = ${tls.key_file}`;
  return `
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
RUN_USER = ${process.env.USER ?? "root"}
RUN_MODE = prod
WORK_PATH = ${directory}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
${protocol}
STATIC_ROOT_PATH = ${home}
APP_DATA_PATH = ${directory}/data
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = ${directory}/data/gitea.db
[repository]
ROOT = ${directory}/data/repositories
[security]
INSTALL_LOCK = true
PASSWORD_HASH_ALGO = pbkdf2
[service]
DISABLE_REGISTRATION = true
[cron]
ENABLED = false
[cron.update_checker]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
[actions]
ENABLED = false
[log]
MODE = console
LEVEL = Warn
ROOT_PATH = ${directory}/log
`;
}

/** Starts a real Gitea on a free port of loopback with a folder of its own; ready when this resolves. */
export async function startGitea(options: { tls?: GiteaTls } = {}): Promise<Gitea> {
  const { tls } = options;
  const directory = mkdtempSync(join(tmpdir(), "tidemark-gitea-"));
  const port = await freePort();
  const file = join(directory, "custom/conf/app.ini");
  mkdirSync(join(directory, "custom/conf"), { recursive: true });
  mkdirSync(join(directory, "data"));
  writeFileSync(file, configOf(directory, port, tls));
  const env = { PATH: "/usr/bin:/bin", HOME: directory, USER: process.env.USER ?? "root", GITEA_WORK_DIR: directory };
  const run = (...args: string[]) =>
    execFileSync(program, ["--config", file, ...args], { env, encoding: "utf8", stdio: "pipe" });
  const admin = (...args: string[]) => run("admin", "user", ...args);
  let count = 0;
  const createToken = (scopes: string) => {
    const name = `token-${++count}`;
    const said = admin(
      "generate-access-token",
      "--username",
      account.name,
      "--token-name",
      name,
      "--scopes",
      scopes,
      "--raw",
    );
    // Warnings stand around it.
    const token = /^[0-9a-f]{40}$/m.exec(said)?.[0];
    if (token === undefined) throw new Error(`Gitea made no token: ${said}`);
    return token;
  };
  const createAccount = (name: string, password: string) => {
    const who = ["--username", name, "--password", password, "--email", `${name}@example.test`];
    admin("create", ...who, "--must-change-password=false");
  };
  const remove = () => rmSync(directory, { recursive: true, force: true });
  try {
    run("migrate");
    const mail = `${account.name}@example.test`;
    const who = ["--username", account.name, "--password", account.password, "--email", mail];
    admin("create", "--admin", ...who, "--must-change-password=false");
    const token = createToken("all");
    const host = `${tls === undefined ? "127.0.0.1" : "localhost"}:${port}`;
    const url = `${tls === undefined ? "http" : "https"}://${host}`;
    const trust = tls === undefined ? {} : { tls: { ca: tls.ca } };
    const folderOf = (path: string) => join(directory, "data/repositories", `${path.toLowerCase()}.git`);
    const isServing = async () => (await fetch(`${url}/api/v1/version`, trust)).ok;
    const child = await startPeerProcess([program, "--config", file, "web"], { env, isServing });
    const stop = () => child.stop().finally(remove);
    const api = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const response = await fetch(`${url}/api/v1${path}`, {
        ...trust,
        method,
        headers: { authorization: `token ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
      return (text === "" ? null : JSON.parse(text)) as T;
    };
    return { url, host, token, api, folderOf, createToken, createAccount, stop };
  } catch (error) {
    remove();
    throw error;
  }
}
