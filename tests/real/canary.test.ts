import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import { openDatabase } from "../../src/db/client.ts";
import { createSealer } from "../../src/secrets/sealed.ts";
import { secretTexts, storeSecrets } from "../keys/key-house.ts";
import {
  type ApiClient,
  apiClient,
  firstSignIn,
  type RunningServer,
  startServer,
  testPassword,
} from "../support/server.ts";

// One of each secret is stored, everything is looked at and made to fail, and then nothing that anybody can read has one.

const canaries: Record<string, string> = {
  ...secretTexts,
  forge_token: "ghp_CANARYforge0007CANARYforge0007abcd",
  registry_password: "canary-registry-pass-0008",
  webhook: "canary-webhook-path-0009",
  webhook_secret: "canary-webhook-signing-0010",
  client_secret: "canary-client-secret-0011",
  mistyped_password: "canary-mistyped-password-0012",
  metrics_token: "canary-metrics-token-0013",
  tls_key: "canary-tls-private-key-0014",
};

/** A secret in every dress in which a program may print it. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const inBase64 = [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64url");
    const inner = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    return [inner, inner.replaceAll("-", "+").replaceAll("_", "/")];
  });
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), bytes.toString("hex"), ...inBase64];
}

let server: RunningServer;
let api: ApiClient;
let cookie = "";
/** Everything that anybody was answered, by where it came from. */
const answers = new Map<string, string>();
/** How each request that changes something ended: the refused ones are part of the exercise. */
const outcomes: string[] = [];

async function ask(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`${server.url}${path}`, { method, redirect: "manual", ...init });
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  // A session's own cookie is meant for its browser.
  if (method !== "GET") outcomes.push(`${method} ${path} ${response.status}`);
  const text = `${headers.replaceAll(/set-cookie: .*/g, "")}\n${path.endsWith("/stream") ? "" : await response.text()}`;
  answers.set(`${method} ${path}`, `${answers.get(`${method} ${path}`) ?? ""}${text}`);
  return response;
}
const call = (method: string, path: string, body?: unknown) =>
  ask(method, `/api${path}`, {
    headers: { authorization: `Bearer ${api.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

beforeAll(async () => {
  const first = await startServer();
  await firstSignIn(first);
  await first.kill("SIGTERM");
  const { primary } = JSON.parse(readFileSync(join(first.data_dir, "keys.json"), "utf8")).encryption;
  const db = await openDatabase({ url: `file:${join(first.data_dir, "tidemark.db")}` });
  const sealer = createSealer({ keys: { primary }, clock: systemClock, onOpen: () => undefined });
  await storeSecrets({ db, sealer });
  await db.close();
  const env = { LOG_LEVEL: "debug", METRICS_TOKEN: canaries.metrics_token ?? "", BASE_URL: "http://127.0.0.1:1" };
  server = await startServer({ data_dir: first.data_dir, env: { ...env, BASE_URL: "" } });
  api = apiClient(server.url);
  const signedIn = await api.post("/session", { username: "admin", password: testPassword });
  api.token = String(signedIn.body.token);
  cookie = `tidemark_session=${api.token}`;
}, 120_000);
afterAll(async () => {
  await server.kill("SIGKILL");
  rmSync(server.data_dir, { recursive: true, force: true });
}, 60_000);

async function exercise(): Promise<void> {
  const { forge_token, registry_password, webhook, webhook_secret, client_secret, mistyped_password, tls_key } =
    canaries;
  const created = await fetch(`${server.url}/api/credentials`, {
    method: "POST",
    headers: { authorization: `Bearer ${api.token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "forge", kind: "github", secret: { token: forge_token } }),
  });
  const forge = (await created.json()) as { id: string };
  await call("POST", "/credentials", {
    name: "reg",
    kind: "oci",
    secret: { username: "u", password: registry_password },
  });
  await call("POST", "/credentials", {
    name: "bad",
    kind: "oci",
    secret: { username: 5, password: registry_password },
  });
  await call("POST", "/credentials", { name: "bad", kind: "none", secret: { token: forge_token } });
  const pem = `-----BEGIN PRIVATE KEY-----\n${tls_key}\n-----END PRIVATE KEY-----`;
  await call("POST", "/credentials", {
    name: "tls",
    kind: "docker",
    secret: { ca_certificate: pem, client_certificate: pem, client_key: pem },
  });
  await call("PATCH", "/credentials/credential-1", { secret: { password: registry_password } });
  const notifier = { language: "en", trigger_events: ["new_release"], signing_secret: webhook_secret };
  for (const url of [`https://127.0.0.1:1/${webhook}`, `https://hooks.example/${webhook}`, `ftp://${webhook}`]) {
    await call("POST", "/notifiers", { name: `n${url.length}`, url, ...notifier });
  }
  await call("POST", "/notifiers/notifier-1/deliveries");
  await call("POST", "/session", { username: "admin", password: mistyped_password });
  await call("PUT", "/account/password", { current_password: mistyped_password, new_password: mistyped_password });
  await call("PATCH", "/oidc-providers/provider-1", { client_secret });
  await call("POST", "/oidc-providers", {
    slug: "two",
    display_name: "x",
    client_id: "c",
    client_secret,
    issuer_url: "https://idp.example",
  });
  await call("POST", "/trackers", {
    name: "web",
    sources: [
      {
        key: "s",
        kind: "github",
        config: { repository: "a/b", instance_url: "http://127.0.0.1:1" },
        credential_id: forge.id,
        channels: [{ type: "stable" }],
      },
    ],
  });
  await call("POST", "/trackers/web/checks");
  await call("POST", "/runtime-connections", { name: "c2", kind: "docker", config: { address: "tcp://127.0.0.1:1" } });
  await call("POST", "/runtime-connections/connection-1/checks");
  await ask("GET", "/oidc/idp/start");
  await ask("GET", "/metrics", { headers: { authorization: `Bearer ${canaries.metrics_token}` } });
  await ask("GET", `/api/account?${forge_token}`, { headers: { authorization: `Bearer ${forge_token}` } });
  await ask("POST", "/api/credentials", {
    headers: { authorization: `Bearer ${api.token}`, "content-type": "application/json" },
    body: `{"secret": "${forge_token}`,
  });
  await call("POST", "/backups", { with_keys: true });
  await call("POST", "/backups", { with_keys: false });
}

/** Every GET of the document, with the ids of what is stored. */
async function readEverything(): Promise<number> {
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  answers.set("GET /openapi.json", JSON.stringify(document));
  const ids = ["credential-1", "notifier-1", "connection-1", "executor-1", "snapshot-1", "provider-1", "idp", "web"];
  let read = 0;
  for (const [path, methods] of Object.entries(document.paths)) {
    if (methods.get === undefined) continue;
    for (const id of path.includes("{") ? ids : [""]) {
      await call("GET", path.slice("/api".length).replaceAll(/\{\w+\}/g, id));
      read += 1;
    }
  }
  return read;
}

/** Every page that links lead to, and the questions behind them. */
async function walkPages(): Promise<number> {
  const seen = new Set<string>();
  const waiting = [
    "/",
    "/settings",
    "/settings/keys",
    "/settings/backups",
    "/settings/audit",
    "/settings/sign-in-provider",
    "/account",
  ];
  for (let next = waiting.shift(); next !== undefined && seen.size < 200; next = waiting.shift()) {
    if (seen.has(next)) continue;
    seen.add(next);
    await ask("GET", next, { headers: { cookie } });
    const html = answers.get(`GET ${next}`) ?? "";
    for (const [, href = ""] of html.matchAll(/href="(\/[^"#]*)"/g)) {
      const path = href.replaceAll("&amp;", "&");
      if (!path.startsWith("/assets") && !path.includes("/stream")) waiting.push(path);
    }
  }
  return seen.size;
}

function hits(text: string, secrets: Record<string, string>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).some((form) => text.includes(form)) ? [name] : [],
  );
}

describe("with one of each secret stored, after everything was tried", () => {
  const keys: Record<string, string> = {};
  const readKeys = (when: string) => {
    const { session, encryption } = JSON.parse(readFileSync(join(server.data_dir, "keys.json"), "utf8"));
    keys[`session key ${when}`] = session;
    keys[`encryption key ${when}`] = encryption.primary;
  };

  test("the exercise reaches what it is meant to reach", async () => {
    readKeys("before");
    await exercise();
    expect(await readEverything()).toBeGreaterThan(40);
    expect(await walkPages()).toBeGreaterThan(20);
    const rotated = await call("POST", "/security-keys/encryption/rotations", { current_password: testPassword });
    expect(rotated.status).toBe(201);
    await readEverything();
    await call("POST", "/security-keys/session/rotations", { current_password: testPassword });
    readKeys("after");
    expect(answers.size).toBeGreaterThan(80);
    // Accepted ones: without them nothing of theirs was ever stored.
    for (const [accepted, times] of [
      ["POST /api/credentials 201", 2],
      ["PATCH /api/credentials/credential-1 200", 1],
      ["POST /api/notifiers 201", 1],
      ["PATCH /api/oidc-providers/provider-1 200", 1],
      ["POST /api/trackers 201", 1],
      ["POST /api/trackers/web/checks 202", 1],
      ["POST /api/backups 201", 2],
    ] as const) {
      expect([accepted, outcomes.filter((outcome) => outcome === accepted).length]).toEqual([accepted, times]);
    }
  }, 240_000);

  test("no answer, page or header has one, and no key", () => {
    for (const [where, text] of answers)
      expect([where, hits(text, { ...canaries, ...keys, password: testPassword })]).toEqual([where, []]);
  });

  test("no line of the log has one at debug level, and no key", () => {
    const log = server.lines.join("\n");
    expect(server.lines.length).toBeGreaterThan(20);
    expect(log).toContain("DEBUG");
    expect(hits(log, { ...canaries, ...keys, password: testPassword, token: api.token ?? "" })).toEqual([]);
  });

  test("no file of the data directory has one, and no key but the key files", () => {
    const files = readdirSync(server.data_dir, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const paths = files.map((entry) => join(entry.parentPath, entry.name));
    for (const name of ["tidemark.db", "tidemark.db-wal", "tidemark.db-shm"])
      expect(paths).toContain(join(server.data_dir, name));
    expect(paths.filter((path) => path.includes("/backups/")).length).toBeGreaterThanOrEqual(5);
    for (const path of paths) {
      const isKeyFile = path.endsWith("keys.json");
      const text = readFileSync(path).toString("latin1");
      expect([path, hits(text, isKeyFile ? canaries : { ...canaries, ...keys, password: testPassword })]).toEqual([
        path,
        [],
      ]);
    }
  });

  test("the search itself finds what is there", () => {
    expect(hits("x canary-webhook-path-0009 y", canaries)).toEqual(["webhook"]);
    expect(hits(Buffer.from(`ab ${canaries.forge_token} cd`).toString("base64"), canaries)).toEqual(["forge_token"]);
  });
});
