import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { run_steps, runs, snapshots } from "../../src/db/tables.ts";
import { apiRoutes } from "../../src/http/api/index.ts";
import { FakeEngine, fakeRuntimes } from "../support/fake-runtime.ts";
import { addSurroundings } from "../support/surroundings.ts";
import { goodPassword, type TestApp, testApp } from "../support/test-app.ts";

// Whatever the administrator changes or triggers leaves an entry. Each operation that is not a GET stands in one of two tables:
// what it leaves, by doing it, or why it leaves nothing. One that is added and stands in neither fails the first test.

let app: TestApp;
let token = "";
const engine = new FakeEngine();
const secrets = ["a password of a registry", "another password of a registry", "/hook/of-secret"];

/** They change nothing that is kept. */
const silent = new Map([
  ["preview_executor", "plans what would be done"],
  ["preview_tracker", "shows what a form would find"],
  ["propose_trackers", "reads a text"],
]);

/** Told in the tests of their own feature, which make what they need: a provider, a binding, a backup, a second key. */
const elsewhere =
  /^(?:(?:create|update|delete|start|begin)_(?:oidc|binding)|(?:un)?bind|.*(?:oidc|binding)|.*(?:key|rotat)|.*(?:backup|restore)|remove_unused_image)/;

interface Change {
  /** A whole path, ids in their places. */
  path: () => string | Promise<string>;
  method: string;
  body?: () => unknown;
  status: number;
  event: string;
  outcome?: string;
  subject?: unknown;
}

const oci = { key: "main", kind: "oci", config: { image: "app", registry: "http://127.0.0.1:9" } };
const tracker = () => ({ name: `tracker-${randomUUID()}`, sources: [{ ...oci, channels: [{ type: "stable" }] }] });
const credential = () => ({
  name: `credential ${randomUUID()}`,
  kind: "oci",
  secret: { username: "someone", password: secrets[0] },
});
const connection = () => ({ name: `engine ${randomUUID()}`, kind: "docker", config: { address: "fake://home" } });
const notifier = () => ({
  name: `notifier ${randomUUID()}`,
  kind: "webhook",
  url: `https://hooks.example.org${secrets[2]}`,
  language: "en",
  trigger_events: ["new_release"],
});
const executor = (target: string) => ({
  name: `executor ${target}`,
  connection_id: "connection-1",
  target: { kind: "container", id: target },
  bindings: [{ tracker: "app", source: "main", channel: "stable" }],
  trigger: "manual",
});

async function call(method: string, path: string, body?: unknown) {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await app.send(`/api${path}`, { method, headers, ...content });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? {} : JSON.parse(text), headers: answer.headers };
}

async function signIn(password: string): Promise<string> {
  const { body } = await call("POST", "/session", { username: "admin", password });
  return String(body.token);
}

async function made(path: string, body: unknown): Promise<string> {
  const answer = await call("POST", path, body);
  if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return String(answer.body.id ?? answer.body.name);
}

const madeTracker = async () => {
  const body = tracker();
  await made("/trackers", body);
  return body.name;
};
const madeExecutor = () => made("/executors", executor(`web-${randomUUID()}`));

async function madeRun(values: Partial<typeof runs.$inferInsert>): Promise<string> {
  const [id, executor_id, now] = [randomUUID(), await madeExecutor(), app.clock.now()];
  await app.db.write(async (tx) => {
    const run = {
      id,
      executor_id,
      kind: "update",
      state: "failed",
      trigger: "manual",
      due_at: now,
      created_at: now,
    } as const;
    await tx.insert(runs).values({ ...run, ...values });
    await tx.insert(run_steps).values({ run_id: id, seq: 1, step: "queue", phase: "finish", facts: {}, at: now });
  });
  return id;
}

async function madeSnapshot(): Promise<string> {
  const [id, executor_id] = [randomUUID(), await madeExecutor()];
  const image = { reference: "registry.test/app:1.0", image_id: "sha256:a", size_bytes: 2 };
  const sealed_content = app.sealer.seal("{}");
  await app.db.write((tx) =>
    tx.insert(snapshots).values({ id, executor_id, sealed_content, ...image, created_at: app.clock.now() }),
  );
  return id;
}

const hash = "a".repeat(64);
const awaiting = () => ({
  state: "pending" as const,
  approval: "awaiting" as const,
  approval_until: app.clock.now() + 3_600_000,
  // Nothing takes it up before it is answered.
  due_at: app.clock.now() + 3_600_000,
  plan_hash: hash,
  plan: { services: [], diff: [], carried: {}, warnings: [] },
  desired_revision: "r",
});

const changes: Record<string, Change> = {
  create_session: {
    ...{ method: "POST", path: () => "/session", status: 201, event: "login" },
    body: () => ({ username: "admin", password: goodPassword }),
  },
  update_account: {
    method: "PATCH",
    path: () => "/account",
    body: () => ({ username: "admin" }),
    status: 200,
    event: "account_renamed",
  },
  create_api_token: {
    ...{ method: "POST", path: () => "/api-tokens", status: 201, event: "api_token_created" },
    body: () => ({ name: `token ${randomUUID()}`, current_password: goodPassword }),
  },
  revoke_api_token: {
    ...{ method: "DELETE", status: 204, event: "api_token_revoked" },
    path: async () =>
      `/api-tokens/${await made("/api-tokens", { name: `token ${randomUUID()}`, current_password: goodPassword })}`,
  },
  end_session: {
    ...{ method: "DELETE", status: 204, event: "session_ended" },
    path: async () => {
      await call("POST", "/session", { username: "admin", password: goodPassword });
      const { items } = (await call("GET", "/sessions")).body as { items: { id: string; is_current: boolean }[] };
      return `/sessions/${items.find((item) => !item.is_current)?.id}`;
    },
  },
  end_other_sessions: { method: "DELETE", path: () => "/sessions", status: 200, event: "other_sessions_ended" },
  update_settings: {
    method: "PATCH",
    path: () => "/settings",
    body: () => ({ timezone: "Asia/Tokyo" }),
    status: 200,
    event: "settings_updated",
  },
  create_credential: {
    method: "POST",
    path: () => "/credentials",
    body: credential,
    status: 201,
    event: "credential_created",
  },
  update_credential: {
    ...{ method: "PATCH", status: 200, event: "credential_updated" },
    path: async () => `/credentials/${await made("/credentials", credential())}`,
    body: () => ({ secret: { username: "someone", password: secrets[1] } }),
  },
  delete_credential: {
    ...{ method: "DELETE", status: 204, event: "credential_deleted" },
    path: async () => `/credentials/${await made("/credentials", credential())}`,
  },
  create_runtime_connection: {
    method: "POST",
    path: () => "/runtime-connections",
    body: connection,
    status: 201,
    event: "connection_created",
  },
  update_runtime_connection: {
    ...{ method: "PATCH", status: 200, event: "connection_updated", body: () => ({ description: "changed" }) },
    path: async () => `/runtime-connections/${await made("/runtime-connections", connection())}`,
  },
  delete_runtime_connection: {
    ...{ method: "DELETE", status: 204, event: "connection_deleted" },
    path: async () => `/runtime-connections/${await made("/runtime-connections", connection())}`,
  },
  check_runtime_connection: {
    ...{ method: "POST", status: 201, event: "connection_checked" },
    path: async () => `/runtime-connections/${await made("/runtime-connections", connection())}/checks`,
  },
  create_tracker: { method: "POST", path: () => "/trackers", body: tracker, status: 201, event: "tracker_created" },
  update_tracker: {
    ...{ method: "PATCH", status: 200, event: "tracker_updated", body: () => ({ description: "changed" }) },
    path: async () => `/trackers/${await madeTracker()}`,
  },
  delete_tracker: {
    method: "DELETE",
    path: async () => `/trackers/${await madeTracker()}`,
    status: 204,
    event: "tracker_deleted",
  },
  check_tracker: {
    method: "POST",
    path: async () => `/trackers/${await madeTracker()}/checks`,
    status: 202,
    event: "tracker_checked",
  },
  create_executor: {
    ...{ method: "POST", path: () => "/executors", status: 201, event: "executor_created" },
    body: () => executor(`web-${randomUUID()}`),
  },
  update_executor: {
    ...{ method: "PATCH", status: 200, event: "executor_updated", body: () => ({ name: `renamed ${randomUUID()}` }) },
    path: async () => `/executors/${await madeExecutor()}`,
  },
  delete_executor: {
    method: "DELETE",
    path: async () => `/executors/${await madeExecutor()}`,
    status: 204,
    event: "executor_deleted",
  },
  create_run: {
    method: "POST",
    path: async () => `/executors/${await madeExecutor()}/runs`,
    body: () => ({}),
    status: 202,
    event: "run_started",
  },
  create_approval: {
    ...{ method: "POST", status: 200, event: "run_refused", body: () => ({ decision: "refuse", plan_hash: hash }) },
    path: async () => {
      // Else the service looks at the target, which is not there, and takes the question back.
      engine.isUnreachable = true;
      return `/runs/${await madeRun(awaiting())}/approvals`;
    },
  },
  create_notifier: { method: "POST", path: () => "/notifiers", body: notifier, status: 201, event: "notifier_created" },
  update_notifier: {
    ...{ method: "PATCH", status: 200, event: "notifier_updated", body: () => ({ description: "changed" }) },
    path: async () => `/notifiers/${await made("/notifiers", notifier())}`,
  },
  delete_notifier: {
    ...{ method: "DELETE", status: 204, event: "notifier_deleted" },
    path: async () => `/notifiers/${await made("/notifiers", notifier())}`,
  },
  send_test: {
    ...{ method: "POST", status: 201, event: "notifier_tested" },
    path: async () => `/notifiers/${await made("/notifiers", notifier())}/deliveries`,
  },
  update_snapshot: {
    ...{ method: "PATCH", status: 200, event: "snapshot_locked", body: () => ({ is_locked: true }) },
    path: async () => `/snapshots/${await madeSnapshot()}`,
  },
  delete_snapshot: {
    method: "DELETE",
    path: async () => `/snapshots/${await madeSnapshot()}`,
    status: 204,
    event: "snapshot_deleted",
  },
  // At the end: they end the session that the others use.
  change_password: {
    ...{ method: "PUT", path: () => "/account/password", status: 200, event: "password_changed" },
    body: () => ({ current_password: goodPassword, new_password: "reed-heron-lagoon" }),
  },
  delete_session: {
    ...{ method: "DELETE", status: 204, event: "logout" },
    path: async () => {
      token = await signIn("reed-heron-lagoon");
      return "/session";
    },
  },
};

const lastEntries = async (limit = 5) => {
  const { items } = await app.services.audit_entries.list({ limit });
  return items;
};

beforeAll(async () => {
  app = await testApp({ runtimes: fakeRuntimes(engine) });
  await app.signedIn();
  token = await signIn(goodPassword);
  await addSurroundings(app);
});
afterAll(() => app.close());

test("every operation that is not a GET is in a table", () => {
  const operations = apiRoutes(app.services).filter(({ method }) => method !== "GET");
  const unknown = operations
    .map(({ operation_id }) => operation_id)
    .filter((id) => !(id in changes) && !silent.has(id) && !elsewhere.test(id));
  expect(unknown).toEqual([]);
  const gone = Object.keys(changes).filter((id) => !operations.some(({ operation_id }) => operation_id === id));
  expect(gone).toEqual([]);
});

describe("leaves one entry with who, from where and which request, and no secret:", () => {
  test.each(Object.entries(changes))("%s", async (_id, change) => {
    const path = await change.path();
    await app.clock.advance(1);
    const before = new Set((await lastEntries(100)).map((entry) => entry.id));
    const answer = await call(change.method, path, change.body?.());
    expect([answer.status, answer.body]).toEqual([change.status, expect.anything()]);
    const added = (await lastEntries(100)).filter((entry) => !before.has(entry.id));
    expect(added).toMatchObject([
      {
        event: change.event,
        outcome: change.outcome ?? "ok",
        actor: "admin",
        address: "198.51.100.7",
        request_id: answer.headers.get("x-request-id"),
      },
    ]);
    const text = JSON.stringify(added);
    for (const secret of [...secrets, goodPassword]) expect(text).not.toContain(secret);
  });
});

describe("of what fails:", () => {
  test.each<[string, string, string, unknown, string, Record<string, unknown>]>([
    [
      "a wrong password",
      "POST",
      "/session",
      { username: "admin", password: "wrong-password-1" },
      "login",
      { reason: "wrong_password" },
    ],
    [
      "an unknown name",
      "POST",
      "/session",
      { username: "root\n", password: "wrong-password-1" },
      "login",
      { reason: "wrong_password" },
    ],
  ])("%s", async (_name, method, path, body, event, detail) => {
    const headers = { "content-type": "application/json" };
    await app.send(`/api${path}`, { method, headers, body: JSON.stringify(body) });
    expect((await lastEntries(1))[0]).toMatchObject({ event, outcome: "failed", actor: null, detail });
  });
});
