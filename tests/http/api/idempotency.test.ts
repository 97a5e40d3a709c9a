import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { keyFilePath, writeKeyFile } from "../../../src/secrets/keys.ts";
import { eventually } from "../../support/eventually.ts";
import { goodPassword, type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let token = "";
beforeEach(async () => {
  app = await testApp();
  await app.signedIn();
  const signedIn = await post("/session", { username: "admin", password: goodPassword });
  token = String(signedIn.body.token);
});
afterEach(() => app.close());

const day = 24 * 3_600_000;

async function post(path: string, body: unknown, key?: string) {
  const answer = await app.send(`/api${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, body: JSON.parse(text) as Record<string, unknown>, headers: answer.headers };
}

const credential = (name: string) => ({ name, kind: "github", secret: { token: "ghp_example" } });
const codeOf = (answer: { body: Record<string, unknown> }) => (answer.body.error as { code: string }).code;
const rows = async (query: string) => (await app.db.client.execute(query)).rows;
const credentials = async () => (await rows("select name from credentials order by name")).map((row) => row.name);

describe("a request with an Idempotency-Key", () => {
  test("is done once, and its first answer is given again, byte for byte", async () => {
    const first = await post("/credentials", credential("one"), "key-1");
    const second = await post("/credentials", credential("one"), "key-1");
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect([first, second].map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([null, "true"]);
    expect(await credentials()).toEqual(["one"]);
    expect(await rows("select id from audit_entries where event = 'credential_created'")).toHaveLength(1);
  });

  test("is refused when the key was sent with another body or to another path", async () => {
    await post("/credentials", credential("one"), "key-1");
    const others = [
      await post("/credentials", credential("two"), "key-1"),
      await post("/backups", credential("one"), "key-1"),
    ];
    expect(others.map((answer) => [answer.status, codeOf(answer)])).toEqual([
      [422, "idempotency_key_reused"],
      [422, "idempotency_key_reused"],
    ]);
    expect(await credentials()).toEqual(["one"]);
  });

  test("is known to be done, also when its answer cannot be read any more", async () => {
    await post("/credentials", credential("one"), "key-1");
    await app.db.client.execute(
      "update idempotency_keys set sealed_outcome = replace(sealed_outcome, substr(sealed_outcome, 60, 4), 'AAAA')",
    );
    const again = await post("/credentials", credential("one"), "key-1");
    expect([again.status, codeOf(again)]).toEqual([409, "already_done"]);
    expect(await credentials()).toEqual(["one"]);
  });

  test("is done by one of many that come at once; the others hear when to ask again", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post("/credentials", credential("one"), "key-1")),
    );
    const later = answers.filter(({ status }) => status === 409);
    expect(answers.filter(({ status }) => status === 201).length + later.length).toBe(10);
    expect(later.length).toBeGreaterThan(0);
    expect(new Set(later.map(({ headers }) => headers.get("retry-after")))).toEqual(new Set(["1"]));
    expect(await credentials()).toEqual(["one"]);
  });

  test("leaves the key free where it was refused", async () => {
    await post("/credentials", credential("one"));
    expect((await post("/credentials", credential("one"), "key-1")).status).toBe(422);
    await app.db.client.execute("delete from credentials");
    expect((await post("/credentials", credential("one"), "key-1")).status).toBe(201);
  });

  test("is another one after a day", async () => {
    await post("/credentials", credential("one"), "key-1");
    await app.clock.advance(day - 1);
    expect((await post("/credentials", credential("one"), "key-1")).status).toBe(201);
    await app.clock.advance(2);
    expect((await post("/credentials", credential("one"), "key-1")).status).toBe(422);
  });

  test.each([
    ["no character", ""],
    ["a blank", "a b"],
    ["two keys", "a, b"],
    ["256 characters", "k".repeat(256)],
    ["a letter beyond ASCII", "é"],
  ])("answers 400 to %s", async (_what, key) => {
    const answer = await post("/credentials", credential("one"), key);
    expect([answer.status, codeOf(answer)]).toEqual([400, "invalid_idempotency_key"]);
    expect(await credentials()).toEqual([]);
  });

  test("gives a new API token's text again, which is stored sealed, and the key hashed", async () => {
    const input = { name: "ci", scope: "read", expires_in_days: 1, current_password: goodPassword };
    const first = await post("/api-tokens", input, "key-of-the-token");
    const second = await post("/api-tokens", input, "key-of-the-token");
    expect(first.status).toBe(201);
    expect(second.text).toBe(first.text);
    const stored = JSON.stringify(await rows("select * from idempotency_keys"));
    for (const text of ["key-of-the-token", String(first.body.token), goodPassword]) expect(stored).not.toContain(text);
  });

  test("gives an API token no answer that a sign-in got", async () => {
    const input = (name: string, scope: string) => ({ name, scope, current_password: goodPassword });
    const made = await post("/api-tokens", input("ci", "full"), "key-1");
    token = String(made.body.token);
    const again = await post("/api-tokens", input("ci", "full"), "key-1");
    expect([again.status, codeOf(again)]).toEqual([422, "idempotency_key_reused"]);
    expect(codeOf(await post("/api-tokens", input("more", "full"), "key-2"))).toBe("session_required");
  });

  test("leaves no key behind where what it makes is not stored", async () => {
    await app.db.client.execute(
      "create trigger full before insert on idempotency_keys begin select raise(abort, 'no room'); end",
    );
    expect((await post("/credentials", credential("one"), "key-1")).status).toBe(500);
    expect(await credentials()).toEqual([]);
  });
});

/** As a process leaves it that ends between the commit and the answer. */
const withoutAnswers = () =>
  app.db.client.execute(
    "create trigger unanswered before update on idempotency_keys begin select raise(abort, 'ended'); end",
  );

describe("an answer that was never given", () => {
  test("is given from what is stored", async () => {
    await withoutAnswers();
    const first = await post("/credentials", credential("one"), "key-1");
    const second = await post("/credentials", credential("one"), "key-1");
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
  });

  test("is named as lost where only the first one has it", async () => {
    await withoutAnswers();
    const input = { name: "ci", scope: "read", expires_in_days: 1, current_password: goodPassword };
    const first = await post("/api-tokens", input, "key-1");
    const second = await post("/api-tokens", input, "key-1");
    expect([second.status, codeOf(second)]).toEqual([409, "already_done"]);
    expect(second.body.error).toMatchObject({ fields: { api_token_id: first.body.id } });
  });
});

test("every operation that takes a key keeps it", async () => {
  const document = (await (await app.send("/openapi.json")).json()) as {
    paths: Record<string, Record<string, { operationId: string; parameters: { name: string }[] }>>;
  };
  const taking = Object.values(document.paths)
    .flatMap((operations) => Object.values(operations))
    .filter(({ parameters }) => parameters.some(({ name }) => name === "Idempotency-Key"))
    .map(({ operationId }) => operationId);
  const asked: string[] = [];
  /** Twice with one key; the second answer is the first one. */
  const twice = async (id: string, path: string, body?: unknown) => {
    const first = await post(path, body, `key-${id}`);
    const second = await post(path, body, `key-${id}`);
    expect([id, first.status < 300 || first.text, second.headers.get("idempotency-replayed")]).toEqual([
      id,
      true,
      "true",
    ]);
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    asked.push(id);
    return first.body;
  };
  const planHash = "a".repeat(64);
  const password = { current_password: goodPassword };
  await twice("create_credential", "/credentials", credential("one"));
  const connection = await twice("create_runtime_connection", "/runtime-connections", {
    name: "engine",
    kind: "docker",
    config: { address: "unix:///nowhere/docker.sock" },
  });
  await twice("create_tracker", "/trackers", {
    name: "app",
    sorting: "semantic",
    sources: [
      {
        key: "main",
        kind: "oci",
        config: { image: "app", registry: "http://127.0.0.1:9" },
        channels: [{ type: "stable" }],
      },
    ],
  });
  await twice("check_tracker", "/trackers/app/checks");
  const executor = await twice("create_executor", "/executors", {
    name: "web",
    connection_id: connection.id,
    target: { kind: "container", id: "web" },
    bindings: [{ tracker: "app", source: "main", channel: "stable" }],
    trigger: "manual",
  });
  const act = { action: "hold", executors: [{ id: executor.id }] };
  await twice("act_on_executors", "/executor-actions", act);
  const run = await twice("create_run", `/executors/${executor.id}/runs`, {});
  // It fails, because there is no engine; and waits for consent once more.
  await eventually("the end of the run", async () => {
    await app.services.scheduler.tick();
    await app.services.scheduler.idle();
    return (await app.services.runs.get(String(run.id))).state === "failed";
  });
  await app.db.client.execute("delete from events");
  await app.db.client.execute({
    sql: "update runs set state = 'pending', ended_at = null, approval = 'awaiting', approval_until = ?, plan_hash = ? where id = ?",
    args: [app.clock.now() + day, planHash, String(run.id)],
  });
  await twice("create_approval", `/runs/${run.id}/approvals`, { decision: "refuse", plan_hash: planHash });
  const notifier = await twice("create_notifier", "/notifiers", {
    name: "chat",
    kind: "webhook",
    url: "https://hooks.example.org/a",
    language: "en",
    trigger_events: ["new_release"],
  });
  await twice("send_test", `/notifiers/${notifier.id}/deliveries`);
  await twice("create_oidc_provider", "/oidc-providers", {
    display_name: "Provider",
    slug: "provider",
    issuer_url: "https://id.example.org",
    client_id: "tidemark",
    client_secret: "a secret of the client",
  });
  await twice("create_api_token", "/api-tokens", { name: "ci", scope: "read", expires_in_days: 1, ...password });
  await twice("create_backup", "/backups", { with_keys: false });
  writeKeyFile(keyFilePath(app.services.places.data_dir), {
    format: 1,
    session: Buffer.from(app.keys.session).toString("base64url"),
    encryption: { primary: app.keys.encryption.primary },
  });
  await twice("rotate_encryption_key", "/security-keys/encryption/rotations", password);
  expect(asked.toSorted()).toEqual(taking.toSorted());
});
