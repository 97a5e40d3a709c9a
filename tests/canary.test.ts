import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ApiClient, firstSignIn, type RunningServer, startServer, testPassword } from "./support/server.ts";

// One of each secret is stored and used in every way that needs no engine, against an upstream that says everything back; then all
// that the process left behind or showed is searched for it.

const canary = (name: string) => `kanarie-${name}-7f3a9c52e1d84b06`;
const pem = (name: string) =>
  `-----BEGIN PRIVATE KEY-----\n${Buffer.from(canary(name)).toString("base64")}\n-----END PRIVATE KEY-----\n`;

const credentials: readonly [kind: string, secret: Record<string, string>][] = [
  ["github", { token: `ghp_${canary("github")}` }],
  ["gitlab", { token: `glpat-${canary("gitlab")}` }],
  ["gitea", { token: canary("gitea") }],
  ["helm", { basic_auth: `someone:${canary("helm")}` }],
  ["oci", { username: "someone", password: canary("oci") }],
  [
    "docker",
    {
      client_key: pem("docker-key"),
      client_certificate: "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n",
    },
  ],
  ["podman", { username: "someone", password: canary("podman") }],
  ["kubernetes", { token: canary("kubernetes"), kubeconfig: `token: ${canary("kubeconfig")}` }],
  ["portainer", { api_key: `ptr_${canary("portainer")}` }],
];

let server: RunningServer;
let api: ApiClient;
let upstream: ReturnType<typeof Bun.serve>;
/** What was shown, by where. */
const shown: [place: string, text: string][] = [];
/** Every form of a secret by which it could be known again. */
const forms = new Map<string, string>();
let asked = 0;

function remember(name: string, value: string): void {
  const encoded = Buffer.from(value).toString("base64").replace(/=+$/, "");
  // All but its ends, which depend on what stands beside it.
  const within = (shift: number) =>
    Buffer.from(`${"x".repeat(shift)}${value}`)
      .toString("base64")
      .replace(/=+$/, "")
      .slice(4, -4);
  forms.set(name, value);
  forms.set(`${name} in base64`, encoded);
  for (const shift of [1, 2]) forms.set(`${name} within base64, shifted by ${shift}`, within(shift));
  forms.set(`${name} in a URL`, encodeURIComponent(value));
  forms.set(`${name} backwards`, [...value].reverse().join(""));
  forms.set(`${name} in hex`, Buffer.from(value).toString("hex"));
}

async function show(method: string, path: string, body?: unknown) {
  const response = await fetch(`${server.url}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${api.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  shown.push([`${method} /api${path}`, text + JSON.stringify([...response.headers])]);
  // Exports are files of their own kinds.
  const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
  const parsed: Record<string, unknown> = isJson ? JSON.parse(text) : {};
  return { status: response.status, body: parsed };
}

async function made(path: string, body: unknown): Promise<string> {
  const answer = await show("POST", path, body);
  if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return String(answer.body.id);
}

beforeAll(async () => {
  upstream = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      asked += 1;
      const said = `${request.url} ${JSON.stringify([...request.headers])} ${await request.text()}`;
      const authorization = request.headers.get("authorization") ?? "";
      const pair = Buffer.from(authorization.replace(/^Basic /, ""), "base64").toString();
      // A challenge first, so that what is stored comes along.
      const headers = { "www-authenticate": 'Basic realm="x"', "x-said": encodeURIComponent(said).slice(0, 2_000) };
      return new Response(`You said: ${said} ${pair}`, { status: authorization === "" ? 401 : 500, headers });
    },
  });
  const host = `127.0.0.1:${upstream.port}`;
  server = await startServer({ env: { LOG_LEVEL: "debug", OUTBOUND_ALLOW: host } });
  api = await firstSignIn(server);
  remember("the password", testPassword);

  for (const [kind, secret] of credentials) {
    for (const [field, value] of Object.entries(secret)) {
      if (field !== "username" && field !== "client_certificate")
        remember(`${kind} ${field}`, value.split(":").at(-1)?.trim() ?? "");
    }
  }
  remember("docker key", canary("docker-key"));
  const ids = new Map<string, string>();
  for (const [kind, secret] of credentials) ids.set(kind, await made("/credentials", { name: kind, kind, secret }));

  const secretPath = canary("webhook");
  remember("webhook", secretPath);
  remember("signing", canary("signing"));
  const notifier = await made("/notifiers", {
    name: "chat",
    kind: "webhook",
    url: `http://${host}/hook/${secretPath}`,
    signing_secret: canary("signing"),
    language: "en",
    trigger_events: ["new_release"],
  });
  await show("POST", `/notifiers/${notifier}/deliveries`);

  remember("client secret", canary("client-secret"));
  const provider = await show("POST", "/oidc-providers", {
    display_name: "Home",
    slug: "home",
    client_id: "tidemark",
    client_secret: canary("client-secret"),
    issuer_url: "https://id.example.test",
  });
  expect(provider.status).toBe(201);

  for (const [kind, config] of [
    ["oci", { image: "acme/app", registry: `http://${host}` }],
    ["helm", { repository_url: `http://${host}`, chart: "app" }],
    ["gitea", { base_url: `http://${host}`, repository: "acme/app" }],
  ] as const) {
    const credential_id = ids.get(kind);
    const source = { key: "main", kind, config, credential_id, channels: [{ type: "stable" }] };
    const created = await show("POST", "/trackers", { name: `app-${kind}`, sorting: "semantic", sources: [source] });
    await show("POST", "/tracker-previews", { kind, config, credential_id, channels: [{ type: "stable" }] });
    if (created.status === 201) await show("POST", `/trackers/app-${kind}/checks`);
  }
  for (const kind of ["docker", "podman"] as const) {
    const config = { address: `tcp://${host}` };
    const connection = await show("POST", "/runtime-connections", {
      name: kind,
      kind,
      config,
      credential_id: ids.get(kind),
    });
    if (connection.status === 201) await show("POST", `/runtime-connections/${connection.body.id}/checks`);
  }
  const token = await api.post("/api-tokens", {
    name: "script",
    scope: "read",
    expires_in_days: 1,
    current_password: testPassword,
  });
  // Shown once, in this answer; its signature is what nobody else may ever see.
  remember("the API token", String(token.body.token).split(".")[2] ?? "");
  remember("the session", String(api.token).split(".")[2] ?? "");
  const wrong = { username: "admin", password: canary("typed") };
  remember("a password that was typed", canary("typed"));
  await show("POST", "/session", wrong);
  await show("POST", "/backups", { with_keys: false, current_password: testPassword });
  const copy = join(server.data_dir, "backups", "by-command");
  spawnSync(process.execPath, ["src/commands/backup.ts", copy], {
    env: { PATH: process.env.PATH ?? "", DATA_DIR: server.data_dir },
  });
  const keys = JSON.parse(readFileSync(join(server.data_dir, "keys.json"), "utf8"));
  remember("the session key", keys.session);
  remember("the encryption key", keys.encryption.primary);

  const { paths } = (await api.get("/../openapi.json")).body as { paths: Record<string, Record<string, unknown>> };
  const found = new Map<string, string>();
  for (const path of Object.keys(paths).filter((each) => paths[each]?.get !== undefined && !each.includes("{"))) {
    const answer = await show("GET", path.slice("/api".length));
    const [first] = Array.isArray(answer.body.items) ? answer.body.items : [];
    const key = path.slice("/api/".length);
    if (first !== undefined)
      found.set(key, String(first.name !== undefined && key === "trackers" ? first.name : first.id));
  }
  for (const path of Object.keys(paths).filter((each) => paths[each]?.get !== undefined && each.includes("{"))) {
    const [, , resource = ""] = path.split("/");
    const placed = path.slice("/api".length).replaceAll(/\{\w+\}/g, found.get(resource) ?? "none");
    await show("GET", placed);
  }
  const cookie = `tidemark_session=${api.token}`;
  const pages = [
    "/",
    "/account",
    "/settings",
    "/settings/audit",
    "/credentials",
    "/notifiers",
    "/connections",
    "/trackers",
    "/upstreams",
  ];
  const details = [
    `/notifiers/${notifier}`,
    `/notifiers/${notifier}/edit`,
    "/trackers/app-oci",
    `/credentials/${ids.get("oci")}/edit`,
  ];
  for (const path of [...pages, ...details]) {
    const answer = await fetch(`${server.url}${path}`, { headers: { cookie }, redirect: "manual" });
    shown.push([`GET ${path}`, (await answer.text()) + JSON.stringify([...answer.headers])]);
  }
}, 240_000);
afterAll(async () => {
  await server?.kill("SIGTERM");
  await upstream?.stop(true);
  if (server !== undefined) rmSync(server.data_dir, { recursive: true, force: true });
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

test("the exercise reached what could say something back", () => {
  expect(asked).toBeGreaterThan(5);
  expect(shown.length).toBeGreaterThan(60);
  expect(shown.some(([, text]) => text.includes("You said"))).toBe(true);
  expect(server.lines.some((line) => line.includes("DEBUG"))).toBe(true);
});

test("no secret is found again in files, logs, answers or pages", () => {
  const files = filesBelow(server.data_dir).filter((path) => !path.endsWith("keys.json"));
  expect(files.some((path) => path.endsWith("tidemark.db"))).toBe(true);
  expect(files.some((path) => path.includes("/backups/"))).toBe(true);
  const places: [string, string][] = [
    ...files.map((path): [string, string] => [path.slice(server.data_dir.length), readFileSync(path, "latin1")]),
    ["the log", server.lines.join("\n")],
    ...shown,
  ];
  const hits = places.flatMap(([place, text]) =>
    [...forms].filter(([, form]) => form !== "" && text.includes(form)).map(([name]) => `${name}: ${place}`),
  );
  expect(hits).toEqual([]);
}, 120_000);
