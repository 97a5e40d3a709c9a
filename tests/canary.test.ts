import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { systemClock } from "../src/clock.ts";
import { openDatabase } from "../src/db/client.ts";
import { run_steps, runs } from "../src/db/tables.ts";
import { createSealer } from "../src/secrets/sealed.ts";
import { secretTexts, storeSecrets } from "./keys/key-house.ts";
import { canaries } from "./support/canaries.ts";
import {
  type ApiClient,
  apiClient,
  firstSignIn,
  type RunningServer,
  startServer,
  testPassword,
} from "./support/server.ts";
import { closeWholly } from "./support/temporary-database.ts";

// One of each secret is stored and used in every way that needs no engine, against an upstream that says everything back; everything is
// looked at and made to fail, both keys are rotated. Then all that the process left behind or showed is searched for them.

const canary = (name: string) => `kanarie-${name}-7f3a9c52e1d84b06`;
const pem = (name: string) =>
  `-----BEGIN PRIVATE KEY-----\n${Buffer.from(canary(name)).toString("base64")}\n-----END PRIVATE KEY-----\n`;

const kubeconfig = JSON.stringify({
  "current-context": "home",
  clusters: [{ name: "home", cluster: { server: "https://home.invalid" } }],
  users: [{ name: "home", user: {} }],
  contexts: [{ name: "home", context: { cluster: "home", user: "home" } }],
  preferences: { note: canary("kubeconfig") },
});

const credentials: readonly [kind: string, secret: Record<string, string>][] = [
  ["github", { token: `ghp_${canary("github")}` }],
  ["gitlab", { token: `glpat-${canary("gitlab")}` }],
  ["gitea", { token: canary("gitea") }],
  ["helm", { basic_auth: `someone:${canary("helm")}` }],
  ["oci", { username: "someone", password: canary("oci") }],
  // Beside a certificate, because one that no connection can use is refused.
  ["docker", { ca_certificate: pem("docker-key") + rootCertificates[0] }],
  ["podman", { username: "someone", password: canary("podman") }],
  ["kubernetes", { token: canary("kubernetes"), kubeconfig }],
  ["portainer", { api_key: `ptr_${canary("portainer")}` }],
];

const { remember, hits, count } = canaries();
let server: RunningServer;
let api: ApiClient;
let upstream: ReturnType<typeof Bun.serve>;
let asked = 0;
/** What was shown, by where. */
const shown: [place: string, text: string][] = [];
/** How each request that changes something ended: the refused ones are part of the exercise. */
const outcomes: string[] = [];

async function ask(method: string, path: string, init: RequestInit = {}) {
  const response = await fetch(`${server.url}${path}`, { method, redirect: "manual", ...init });
  const text = await response.text();
  // A session's own cookie is meant for its browser.
  const headers = [...response.headers].filter(([name]) => name !== "set-cookie");
  shown.push([`${method} ${path}`, text + JSON.stringify(headers)]);
  if (method !== "GET") outcomes.push(`${method} ${path} ${response.status}`);
  const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
  const body: Record<string, unknown> = isJson ? JSON.parse(text) : {};
  return { status: response.status, body, text };
}

const call = (method: string, path: string, body?: unknown) =>
  ask(method, `/api${path}`, {
    headers: { authorization: `Bearer ${api.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const view = (path: string) => ask("GET", path, { headers: { cookie: `tidemark_session=${api.token}` } });

async function made(path: string, body: unknown): Promise<string> {
  const answer = await call("POST", path, body);
  if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
  return String(answer.body.id ?? answer.body.name);
}

const keyFile = () => JSON.parse(readFileSync(join(server.data_dir, "keys.json"), "utf8"));
function rememberKeys(when: string): void {
  remember(`the session key ${when}`, keyFile().session);
  remember(`the encryption key ${when}`, keyFile().encryption.primary);
}
const keyNames = ["before", "after"].flatMap((when) => [`the session key ${when}`, `the encryption key ${when}`]);

/** What the interface does not make by itself without an engine and a provider: a snapshot, an attempt, a run. */
async function seed(dir: string): Promise<void> {
  const { primary } = JSON.parse(readFileSync(join(dir, "keys.json"), "utf8")).encryption;
  const db = await openDatabase({ url: `file:${join(dir, "tidemark.db")}` });
  const sealer = createSealer({ keys: { primary }, clock: systemClock, onOpen: () => undefined });
  await storeSecrets({ db, sealer });
  const run = { id: "run-1", executor_id: "executor-1", kind: "update", state: "failed", trigger: "manual" } as const;
  await db.write(async (tx) => {
    await tx.insert(runs).values({ ...run, due_at: 1, created_at: 1, ended_at: 2 });
    await tx.insert(run_steps).values({ run_id: "run-1", seq: 1, step: "queue", phase: "finish", facts: {}, at: 1 });
  });
  await closeWholly({ db, dir });
}

/** Answers with all that it was told, and asks for what is stored first. */
function echo() {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      asked += 1;
      const said = `${request.url} ${JSON.stringify([...request.headers])} ${await request.text()}`;
      const authorization = request.headers.get("authorization") ?? "";
      const pair = Buffer.from(authorization.replace(/^Basic /, ""), "base64").toString();
      const headers = { "www-authenticate": 'Basic realm="x"', "x-said": encodeURIComponent(said).slice(0, 2_000) };
      return new Response(`You said: ${said} ${pair}`, { status: authorization === "" ? 401 : 500, headers });
    },
  });
}

beforeAll(async () => {
  upstream = echo();
  const first = await startServer();
  await firstSignIn(first);
  await first.kill("SIGTERM");
  await seed(first.data_dir);
  const METRICS_TOKEN = remember("the metrics token", canary("metrics"));
  const env = { LOG_LEVEL: "debug", OUTBOUND_ALLOW: `127.0.0.1:${upstream.port}`, METRICS_TOKEN };
  server = await startServer({ data_dir: first.data_dir, env });
  api = apiClient(server.url);
  api.token = String((await api.post("/session", { username: "admin", password: testPassword })).body.token);
  remember("the password", testPassword);
  remember("the session", String(api.token).split(".")[2] ?? "");
  rememberKeys("before");
  for (const [table, secret] of Object.entries(secretTexts)) remember(`a secret of ${table}`, secret);
}, 240_000);
afterAll(async () => {
  await server?.kill("SIGKILL");
  await upstream?.stop(true);
  if (server !== undefined) rmSync(server.data_dir, { recursive: true, force: true });
});

/** Stores one of each secret; the ids of the credentials by their kind. */
async function store(host: string): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const [kind, secret] of credentials) {
    for (const [field, value] of Object.entries(secret)) {
      const own = value.includes("PRIVATE KEY") ? canary("docker-key") : (/kanarie-[\w-]+/.exec(value)?.[0] ?? "");
      if (field !== "username") remember(`${kind} ${field}`, own);
    }
    ids.set(kind, await made("/credentials", { name: kind, kind, secret }));
  }
  const url = `http://${host}/hook/${remember("the webhook", canary("webhook"))}`;
  const signing_secret = remember("the signing secret", canary("signing"));
  const notifier = {
    name: "chat",
    kind: "webhook",
    url,
    signing_secret,
    language: "en",
    trigger_events: ["new_release"],
  };
  await call("POST", `/notifiers/${await made("/notifiers", notifier)}/deliveries`);
  for (const bad of [`ftp://${canary("webhook")}`, `https://127.0.0.1:1/${canary("webhook")}`]) {
    await call("POST", "/notifiers", { ...notifier, name: bad.slice(0, 8), url: bad });
  }
  await call("PATCH", "/oidc-providers/provider-1", { client_secret: remember("a client secret", canary("client")) });
  const second = { slug: "two", display_name: "x", client_id: "c", client_secret: canary("client") };
  await call("POST", "/oidc-providers", { ...second, issuer_url: "https://idp.example" });
  return ids;
}

/** Lets upstreams and engines hear them. */
async function use(host: string, ids: ReadonlyMap<string, string>): Promise<void> {
  for (const [kind, config] of [
    ["oci", { image: "acme/app", registry: `http://${host}` }],
    ["helm", { repository_url: `http://${host}`, chart: "app" }],
    ["gitea", { base_url: `http://${host}`, repository: "acme/app" }],
    ["github", { instance_url: `http://${host}`, repository: "acme/app" }],
  ] as const) {
    const credential_id = ids.get(kind);
    const source = { key: "main", kind, config, credential_id, channels: [{ type: "stable" }] };
    const created = await call("POST", "/trackers", { name: `app-${kind}`, sorting: "semantic", sources: [source] });
    await call("POST", "/tracker-previews", { kind, config, credential_id, channels: [{ type: "stable" }] });
    if (created.status === 201) await call("POST", `/trackers/app-${kind}/checks`);
  }
  for (const kind of ["docker", "podman"] as const) {
    const connection = { name: kind, kind, config: { address: `tcp://${host}` }, credential_id: ids.get(kind) };
    const created = await call("POST", "/runtime-connections", connection);
    if (created.status === 201) await call("POST", `/runtime-connections/${created.body.id}/checks`);
  }
}

/** Sends them to the wrong places, in every way that is refused. */
async function misuse(): Promise<void> {
  const token = canary("github");
  const typed = remember("a password that was typed", canary("typed"));
  await call("POST", "/credentials", { name: "bad", kind: "oci", secret: { username: 5, password: canary("oci") } });
  await call("POST", "/credentials", { name: "bad", kind: "none", secret: { token } });
  await call("POST", "/session", { username: "admin", password: typed });
  await call("PUT", "/account/password", { current_password: typed, new_password: typed });
  await ask("POST", "/api/credentials", {
    headers: { authorization: `Bearer ${api.token}`, "content-type": "application/json" },
    body: `{"secret": "${token}`,
  });
  await ask("GET", "/metrics", { headers: { authorization: `Bearer ${canary("metrics")}` } });
  // A path is shown in logs and pages; its query is not.
  await ask("GET", `/api/account?${token}`, { headers: { authorization: `Bearer ${token}` } });
  const code = remember("a provider's code", canary("code"));
  const state = remember("a state", canary("state"));
  await ask("GET", "/auth/oidc/idp/start");
  await ask("GET", `/auth/oidc/idp/callback?${new URLSearchParams({ code, state })}`);
}

/** Every GET of the document, with the ids of what is stored. */
async function readEverything(): Promise<number> {
  const { paths } = (await ask("GET", "/openapi.json")).body as { paths: Record<string, Record<string, unknown>> };
  const ids = [
    "credential-1",
    "notifier-1",
    "connection-1",
    "executor-1",
    "snapshot-1",
    "provider-1",
    "run-0",
    "run-1",
    "app-oci",
  ];
  let read = 0;
  for (const path of Object.keys(paths).filter((each) => paths[each]?.get !== undefined)) {
    for (const id of path.includes("{") ? ids : [""]) {
      await call("GET", path.slice("/api".length).replaceAll(/\{\w+\}/g, id));
      read += 1;
    }
  }
  return read;
}

/** Every page that links lead to. */
async function walkPages(): Promise<number> {
  const seen = new Set<string>();
  const waiting = ["/", "/settings", "/settings/keys", "/settings/backups", "/settings/audit", "/account"];
  waiting.push("/settings/sign-in-provider", "/runs/run-1/stream", "/snapshots/snapshot-1");
  for (let next = waiting.shift(); next !== undefined && seen.size < 250; next = waiting.shift()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const [, href = ""] of (await view(next)).text.matchAll(/href="(\/[^"#]*)"/g)) {
      const path = href.replaceAll("&amp;", "&");
      if (!path.startsWith("/assets")) waiting.push(path);
    }
  }
  return seen.size;
}

test("the exercise reaches what could say something back", async () => {
  const host = `127.0.0.1:${upstream.port}`;
  const ids = await store(host);
  await use(host, ids);
  await misuse();
  const token = { name: "script", scope: "read", expires_in_days: 1, current_password: testPassword };
  // Shown once, in this answer; its signature is what nobody else may ever see.
  remember("an API token", String((await api.post("/api-tokens", token)).body.token).split(".")[2] ?? "");
  expect(await readEverything()).toBeGreaterThan(60);
  expect(await walkPages()).toBeGreaterThan(40);
  for (const with_keys of [true, false]) await made("/backups", { with_keys });
  spawnSync(process.execPath, ["src/commands/backup.ts", join(server.data_dir, "backups", "by-command")], {
    env: { PATH: process.env.PATH ?? "", DATA_DIR: server.data_dir },
  });
  const rotations = ["encryption", "session"].map((key) => `/security-keys/${key}/rotations`);
  for (const path of rotations) expect((await call("POST", path, { current_password: testPassword })).status).toBe(201);
  rememberKeys("after");
  await readEverything();
  expect([asked > 10, count() > 25, shown.length > 200]).toEqual([true, true, true]);
  expect(shown.some(([, text]) => text.includes("You said"))).toBe(true);
  expect(shown.some(([place, text]) => place === "GET /api/runs/run-0" && text.includes(secretTexts.run_logs))).toBe(
    true,
  );
  expect(shown.find(([place]) => place.endsWith("/runs/run-1/stream"))?.[1]).toContain("event-stream");
  // Accepted ones: without them nothing of theirs was ever stored.
  for (const [accepted, least] of [
    ["POST /api/credentials 201", credentials.length],
    ["POST /api/notifiers 201", 1],
    ["PATCH /api/oidc-providers/provider-1 200", 1],
    ["POST /api/trackers 201", 3],
    ["POST /api/backups 201", 2],
  ] as const) {
    expect([accepted, outcomes.filter((each) => each === accepted).length >= least]).toEqual([accepted, true]);
  }
}, 480_000);

test("no secret and no key is found again in answers, pages, events and errors", () => {
  // Whoever opens the run reads what its container wrote.
  const isRun = (place: string) => /^GET (?:\/api)?\/runs\/run-0/.test(place);
  const found = shown.flatMap(([place, text]) =>
    hits(text, isRun(place) ? ["a secret of run_logs"] : []).map((name) => `${name}: ${place}`),
  );
  expect(found).toEqual([]);
}, 240_000);

test("nor in the log at debug level", () => {
  const log = server.lines.join("\n");
  expect(log).toContain("DEBUG");
  expect(hits(log)).toEqual([]);
}, 240_000);

test("nor in the database, its files beside it and the backups; the keys are in key files alone", () => {
  const entries = readdirSync(server.data_dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const name of ["tidemark.db", "tidemark.db-wal", "tidemark.db-shm"]) {
    expect(files).toContain(join(server.data_dir, name));
  }
  // Two by request, one by command, one before the rotation; with their keys but for one.
  expect(files.filter((path) => path.includes("/backups/")).length).toBeGreaterThanOrEqual(7);
  const found = files.flatMap((path) =>
    hits(readFileSync(path, "latin1"), path.endsWith("/keys.json") ? keyNames : []).map((name) => `${name}: ${path}`),
  );
  expect(found).toEqual([]);
}, 240_000);

test("the search finds what is there, however it is written", () => {
  const secret = canary("webhook");
  for (const text of [
    `x ${secret} y`,
    Buffer.from(`ab ${secret} cd`).toString("base64"),
    Buffer.from(`a ${secret} cd`).toString("base64url"),
    Buffer.from(secret).toString("hex"),
    [...secret].reverse().join(""),
  ]) {
    expect(hits(text)).toEqual(["the webhook"]);
  }
});
