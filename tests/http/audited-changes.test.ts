import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { run_logs, run_steps, runs, snapshots } from "../../src/db/tables.ts";
import { apiRoutes } from "../../src/http/api/index.ts";
import { goodPassword } from "../support/test-app.ts";
import { type AuditHouse, auditHouse, type Change, clientSecret, unusedImage } from "./audit-house.ts";

// Whatever the administrator changes or triggers leaves an entry. Each operation that is not a GET stands in one of two tables:
// what it leaves, by doing it, or why it leaves nothing. One that is added and stands in neither fails the first test.

let house: AuditHouse;
const secrets = ["a password of a registry", "another password of a registry", "/hook/of-secret", clientSecret];
const newPassword = "reed-heron-lagoon";

/** They change nothing that is kept. */
const silent = new Map([
  ["preview_executor", "plans what would be done"],
  ["plan_executors", "plans what would be done"],
  ["preview_tracker", "shows what a form would find"],
  ["propose_trackers", "reads a text"],
]);

/** By the operation on several. */
let actedOn = "";

const oci = { key: "main", kind: "oci", config: { image: "app", registry: "http://127.0.0.1:9" } };
const tracker = () => ({ name: `tracker-${randomUUID()}`, sources: [{ ...oci, channels: [{ type: "stable" }] }] });
const credential = () => ({
  name: `credential ${randomUUID()}`,
  kind: "oci",
  secret: { username: "someone", password: secrets[0] },
});
const connection = () => {
  const id = randomUUID();
  return { name: `engine ${id}`, kind: "docker", config: { address: `fake://${id}` } };
};
const current = { current_password: goodPassword };
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

const made = (path: string, body: unknown) => house.made(path, body);
const madeTracker = async () => {
  const body = tracker();
  await made("/trackers", body);
  return body.name;
};
const madeExecutor = () => made("/executors", executor(`web-${randomUUID()}`));

async function madeRun(values: Partial<typeof runs.$inferInsert>): Promise<string> {
  const [id, executor_id, now] = [randomUUID(), await madeExecutor(), house.app.clock.now()];
  await house.app.db.write(async (tx) => {
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
  const sealed_content = house.app.sealer.seal("{}");
  await house.app.db.write((tx) =>
    tx.insert(snapshots).values({ id, executor_id, sealed_content, ...image, created_at: house.app.clock.now() }),
  );
  return id;
}

const adopted = { id: `adopted-${randomUUID()}`, hash: "" };
const hash = "a".repeat(64);
const awaiting = () => ({
  state: "pending" as const,
  approval: "awaiting" as const,
  approval_until: house.app.clock.now() + 3_600_000,
  // Nothing takes it up before it is answered.
  due_at: house.app.clock.now() + 3_600_000,
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
      await house.call("POST", "/session", { username: "admin", password: goodPassword });
      const { items } = (await house.call("GET", "/sessions")).body as { items: { id: string; is_current: boolean }[] };
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
  adopt_targets: {
    ...{ method: "POST", status: 200, event: "executor_created", also: ["tracker_created"] },
    path: async () => {
      house.engine.isUnreachable = false;
      house.engine.add(adopted.id, `registry.test/${adopted.id}:1.0.0`, `sha256:${"a".repeat(64)}`);
      const path = `/runtime-connections/${await house.madeConnection()}`;
      const { body } = await house.call("GET", `${path}/adoption-proposals?search=${adopted.id}`);
      adopted.hash = (body as { targets: { hash: string }[] }).targets[0]?.hash ?? "";
      return `${path}/adoptions`;
    },
    body: () => ({ targets: [{ kind: "container", ...adopted }] }),
  },
  ignore_targets: {
    ...{ method: "POST", status: 200, event: "targets_ignored" },
    path: async () => `/runtime-connections/${await house.madeConnection()}/ignored-targets`,
    body: () => ({ targets: [{ kind: "container", id: "web" }] }),
  },
  stop_ignoring_target: {
    ...{ method: "DELETE", status: 204, event: "target_unignored" },
    path: async () => {
      const path = `/runtime-connections/${await house.madeConnection()}/ignored-targets`;
      const { body } = await house.call("POST", path, { targets: [{ kind: "container", id: "web" }] });
      return `${path}/${(body as { items: { id: string }[] }).items[0]?.id}`;
    },
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
  act_on_executor: {
    ...{ method: "POST", status: 200, event: "executor_held", body: () => ({ action: "hold" }) },
    path: async () => `/executors/${await madeExecutor()}/actions`,
  },
  act_on_executors: {
    ...{ method: "POST", status: 200, event: "executor_held" },
    path: async () => {
      actedOn = await madeExecutor();
      return "/executor-actions";
    },
    body: () => ({ action: "hold", executors: [{ id: actedOn }] }),
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
      house.engine.isUnreachable = true;
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
  delete_run_log: {
    ...{ method: "DELETE", status: 204, event: "run_log_deleted" },
    path: async () => {
      const [id, run_id] = [randomUUID(), await madeRun({})];
      const log = { id, run_id, key: "web", pod: "", container: "web", is_previous: false, at: house.app.clock.now() };
      const sealed_lines = house.app.sealer.sealJson([]);
      await house.app.db.write((tx) => tx.insert(run_logs).values({ ...log, sealed_lines }));
      return `/runs/${run_id}/logs/${id}`;
    },
  },
  delete_snapshot: {
    method: "DELETE",
    path: async () => `/snapshots/${await madeSnapshot()}`,
    status: 204,
    event: "snapshot_deleted",
  },
  remove_unused_image: {
    ...{ method: "DELETE", status: 204, event: "image_removed" },
    path: async () => {
      house.engine.isUnreachable = false;
      return `/runtime-connections/${await house.madeConnection()}/images/${unusedImage}`;
    },
  },
  create_oidc_provider: {
    ...{ method: "POST", status: 201, event: "oidc_provider_created", body: () => house.provider() },
    path: async () => {
      await house.withoutProvider();
      return "/oidc-providers";
    },
  },
  update_oidc_provider: {
    ...{ method: "PATCH", status: 200, event: "oidc_provider_updated", body: () => ({ client_secret: clientSecret }) },
    path: async () => `/oidc-providers/${await house.madeProvider()}`,
  },
  delete_oidc_provider: {
    ...{ method: "DELETE", status: 204, event: "oidc_provider_deleted" },
    path: async () => `/oidc-providers/${await house.madeProvider()}`,
  },
  authorize_admin_binding: {
    ...{ method: "POST", status: 200, event: "oidc_binding_started", body: () => current },
    path: async () => `/oidc-providers/${await house.madeProvider()}/admin-binding/authorize`,
  },
  unbind_admin_binding: {
    ...{ method: "POST", status: 200, event: "oidc_unbound", body: () => current },
    path: async () => {
      await house.madeBinding();
      return "/oidc-providers/admin-binding/unbind";
    },
  },
  create_backup: { method: "POST", path: () => "/backups", body: () => ({}), status: 201, event: "backup_created" },
  delete_backup: {
    ...{ method: "DELETE", status: 204, event: "backup_deleted" },
    path: async () => `/backups/${await made("/backups", {})}`,
  },
  rotate_encryption_key: {
    ...{ method: "POST", path: () => "/security-keys/encryption/rotations", body: () => current },
    ...{ status: 201, event: "encryption_key_rotated", also: ["backup_created"] },
  },
  // At the end: they end the session that the others use.
  change_password: {
    ...{ method: "PUT", path: () => "/account/password", status: 200, event: "password_changed" },
    body: () => ({ ...current, new_password: newPassword }),
  },
  rotate_session_key: {
    ...{ method: "POST", status: 201, event: "session_key_rotated", body: () => ({ current_password: newPassword }) },
    path: async () => {
      await house.signIn(newPassword);
      return "/security-keys/session/rotations";
    },
  },
  delete_session: {
    ...{ method: "DELETE", status: 204, event: "logout" },
    path: async () => {
      await house.signIn(newPassword);
      return "/session";
    },
  },
};

beforeAll(async () => {
  house = await auditHouse();
});
afterAll(() => house.close());

test("every operation that is not a GET is in a table", () => {
  const operations = apiRoutes(house.app.services).filter(({ method }) => method !== "GET");
  const unknown = operations
    .map(({ operation_id }) => operation_id)
    .filter((id) => !(id in changes) && !silent.has(id));
  expect(unknown).toEqual([]);
  const gone = Object.keys(changes).filter((id) => !operations.some(({ operation_id }) => operation_id === id));
  expect(gone).toEqual([]);
});

const who = { actor: "admin", address: "198.51.100.7" };

describe("leaves one entry with who, from where and which request, and no secret:", () => {
  test.each(Object.entries(changes))("%s", async (_id, change) => {
    const path = await change.path();
    const { result, left } = await house.leftBy(() => house.call(change.method, path, change.body?.()));
    expect([result.status, result.body]).toEqual([change.status, expect.anything()]);
    const request_id = result.headers.get("x-request-id");
    expect(left).toMatchObject(
      [change.event, ...(change.also ?? [])].map((event) => ({ event, outcome: "ok", request_id, ...who })),
    );
    expect(left).toHaveLength(1 + (change.also?.length ?? 0));
    const text = JSON.stringify(left);
    for (const secret of [...secrets, goodPassword, newPassword]) expect(text).not.toContain(secret);
  });
});
