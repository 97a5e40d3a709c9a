import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as v from "valibot";
import { run_steps, runs, snapshots } from "../../src/db/tables.ts";
import { goodPassword, type TestApp, testApp } from "../support/test-app.ts";

// What must hold for every operation that changes something is asked of every one that the OpenAPI document has, also of those that
// are added later: nobody has to remember it.

const Operation = v.object({
  operationId: v.string(),
  requestBody: v.optional(v.unknown()),
  security: v.array(v.unknown()),
  responses: v.record(v.string(), v.unknown()),
});
const Document = v.object({ paths: v.record(v.string(), v.record(v.string(), Operation)) });

interface Change {
  method: string;
  path: string;
  id: string;
  takes_body: boolean;
  is_public: boolean;
}

let app: TestApp;
let changes: readonly Change[] = [];
let full = "";
let read = "";
let cookie = "";
/** What stands for `{id}` and `{name}`: a resource that is there, so that the body is what is refused. */
const ids: Record<string, string> = {};

const json = { "content-type": "application/json" };

async function sent(change: Pick<Change, "method" | "path">, headers: Record<string, string>, body?: BodyInit) {
  const answer = await app.send(change.path, {
    method: change.method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  const parsed = text.startsWith("{") ? JSON.parse(text) : {};
  return { status: answer.status, code: parsed.error?.code ?? null, fields: parsed.error?.fields ?? {}, text };
}

const asFull = (extra: Record<string, string> = json) => ({ authorization: `Bearer ${full}`, ...extra });

function placed(path: string): string {
  const resource = path.split("/")[2] ?? "";
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[`${resource} ${name}`] ?? ids[resource] ?? "none");
}

const credential = {
  name: "other",
  kind: "oci",
  secret: { username: "someone", password: "a password of a registry" },
};
const connection = { name: "other", kind: "docker", config: { address: "unix:///nowhere/docker.sock" } };
const oci = { key: "main", kind: "oci", config: { image: "app", registry: "http://127.0.0.1:9" } };
const tracker = { name: "other", sorting: "semantic", sources: [{ ...oci, channels: [{ type: "stable" }] }] };
const url = "https://hooks.example.org/a";
const notifier = { name: "other", kind: "webhook", url, language: "en", trigger_events: ["new_release"] };

/** Bodies that would be taken as they are; those of an operation that is not here are judged by what it refuses alone. */
const bodies = new Map<string, Record<string, object | string | boolean>>([
  ["create_session", { username: "admin", password: "not the password" }],
  ["update_account", { username: "keeper" }],
  ["update_settings", { timezone: "Asia/Tokyo" }],
  ["create_credential", credential],
  ["update_credential", { name: "renamed", secret: credential.secret }],
  ["create_runtime_connection", connection],
  ["update_runtime_connection", { name: "renamed", config: connection.config }],
  ["create_tracker", tracker],
  ["update_tracker", { description: "changed" }],
  ["update_executor", { name: "renamed" }],
  ["create_notifier", notifier],
  ["update_notifier", { name: "renamed" }],
  ["update_snapshot", { is_locked: true }],
]);

/** One resource of every kind. */
async function furnish(): Promise<void> {
  const post = async (path: string, body: unknown) => {
    const answer = await sent({ method: "POST", path: `/api${path}` }, asFull(), JSON.stringify(body));
    if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
    return String(JSON.parse(answer.text).id);
  };
  ids.credentials = await post("/credentials", { ...credential, name: "registry" });
  ids["runtime-connections"] = await post("/runtime-connections", { ...connection, name: "engine" });
  await post("/trackers", { ...tracker, name: "app" });
  ids.trackers = "app";
  const executor = await post("/executors", {
    name: "web",
    connection_id: ids["runtime-connections"],
    target: { kind: "container", id: "web" },
    bindings: [{ tracker: "app", source: "main", channel: "stable" }],
    trigger: "manual",
  });
  ids.executors = executor;
  ids.notifiers = await post("/notifiers", { ...notifier, name: "chat" });
  [ids.runs, ids.snapshots] = ["run-1", "snapshot-1"];
  const now = app.clock.now();
  await app.db.write(async (tx) => {
    const run = { id: "run-1", executor_id: executor, kind: "update", state: "failed", trigger: "manual" } as const;
    await tx.insert(runs).values({ ...run, due_at: now, created_at: now, ended_at: now });
    const step = { step: "queue", phase: "finish", facts: {}, at: now } as const;
    await tx.insert(run_steps).values({ run_id: "run-1", seq: 1, ...step });
    const image = { reference: "registry.test/app:1.0", image_id: "sha256:a", size_bytes: 2 };
    const sealed_content = app.sealer.seal("{}");
    await tx
      .insert(snapshots)
      .values({ id: "snapshot-1", executor_id: executor, sealed_content, ...image, created_at: now });
  });
}

beforeAll(async () => {
  app = await testApp();
  const person = await app.signedIn();
  cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  // A session and no API token: some operations are for whoever signed in with the password.
  const sessionToken = async () => {
    const body = JSON.stringify({ username: "admin", password: goodPassword });
    return String(JSON.parse((await sent({ method: "POST", path: "/api/session" }, json, body)).text).token);
  };
  const readToken = async () => {
    const body = { name: "a token", scope: "read", expires_in_days: 1, current_password: goodPassword };
    return String((await person.api("POST", "/api-tokens", body)).body.token);
  };
  full = await sessionToken();
  read = await readToken();
  await furnish();
  const { paths } = v.parse(Document, await (await app.send("/openapi.json")).json());
  changes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => method !== "get")
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: placed(path),
        id: operation.operationId,
        takes_body: operation.requestBody !== undefined,
        is_public: operation.security.length === 0,
      })),
  );
});
afterAll(() => app.close());

/** The same question to each operation; what it wants is compared as a whole, so that every exception is in the message. */
async function each<T>(which: (change: Change) => boolean, ask: (change: Change) => Promise<T>, wanted: T) {
  const asked = changes.filter(which);
  const answers: [string, T][] = [];
  for (const change of asked) answers.push([change.id, await ask(change)]);
  expect(answers).toEqual(asked.map((change) => [change.id, wanted]));
  return asked.length;
}

const all = () => true;
const withBody = (change: Change) => change.takes_body;

test("the document has many operations that change something", () => {
  expect(changes.length).toBeGreaterThan(25);
  expect(changes.filter(withBody).length).toBeGreaterThan(15);
});

describe("every operation that changes something", () => {
  test("answers 401 to nobody", async () => {
    await each(
      (change) => !change.is_public,
      async (change) => (await sent(change, json, "{}")).status,
      401,
    );
  });

  test.each([
    ["another scheme", "Basic YWRtaW46YWRtaW4="],
    ["an empty token", "Bearer "],
    ["nonsense", "Bearer a.b.c"],
    ["an unsigned token", "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0."],
  ])("answers 401 to %s, also with a good cookie beside it", async (_what, authorization) => {
    await each(
      (change) => !change.is_public,
      async (change) =>
        (await sent(change, { ...json, authorization, cookie, "sec-fetch-site": "same-origin" }, "{}")).status,
      401,
    );
  });

  test.each<[string, Record<string, string>]>([
    ["a cross-site page", { "sec-fetch-site": "cross-site" }],
    ["a page of a sister host", { "sec-fetch-site": "same-site" }],
    ["an address bar", { "sec-fetch-site": "none" }],
    ["a foreign origin", { origin: "https://evil.test" }],
    ["an opaque origin", { origin: "null" }],
    ["our host over another scheme", { origin: "https://tidemark.test" }],
    ["our host at another port", { origin: "http://tidemark.test:8081" }],
    ["a name that begins as ours does", { origin: "http://tidemark.test.evil.test" }],
    ["an origin that two headers contradict", { origin: "http://tidemark.test", "sec-fetch-site": "cross-site" }],
    ["nowhere at all", {}],
  ])("answers 403 to a cookie from %s, whatever the content type", async (_what, headers) => {
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      await each(
        all,
        async (change) => (await sent(change, { ...headers, cookie, "content-type": type }, "{}")).code,
        "csrf_refused",
      );
    }
    await each(all, async (change) => (await sent(change, { ...headers, cookie })).code, "csrf_refused");
  });

  test("answers 403 to a token that may only read, before it looks at the body", async () => {
    const harmless = ["create_session", "delete_session"];
    const headers = { ...json, authorization: `Bearer ${read}` };
    const asked = await each(
      (change) => !harmless.includes(change.id) && !/preview|proposal|propose/.test(change.id),
      async (change) => (await sent(change, headers, "{")).code,
      "scope_too_small",
    );
    expect(asked).toBeGreaterThan(25);
  });

  test("answers 413 to a body of more than 1 MiB, before anything else", async () => {
    const body = `{"name":"${"a".repeat(1024 * 1024)}"}`;
    await each(withBody, async (change) => (await sent(change, asFull(), body)).code, "body_too_large");
  });

  test("answers 413 to one that says nothing of its length", async () => {
    const endless = () => {
      let left = 20;
      return new ReadableStream<Uint8Array>({
        pull: (controller) => {
          left -= 1;
          if (left < 0) controller.close();
          else controller.enqueue(new Uint8Array(128 * 1024).fill(0x20));
        },
      });
    };
    await each(withBody, async (change) => (await sent(change, asFull(), endless())).code, "body_too_large");
  });

  test.each([
    ["objects", `${'{"a":'.repeat(33)}1${"}".repeat(33)}`],
    ["lists", `${"[".repeat(33)}${"]".repeat(33)}`],
    ["lists without an end in sight", `${"[".repeat(200_000)}${"]".repeat(200_000)}`],
  ])("answers 400 to %s within each other", async (_what, body) => {
    await each(withBody, async (change) => (await sent(change, asFull(), body)).code, "invalid_json");
  });

  test.each([
    ["half a body", "{"],
    ["a trailing comma", '{"a":1,}'],
    ["single quotes", "{'a':1}"],
    ["a comment", "{/**/}"],
    ["NaN", '{"a":NaN}'],
    ["two values", "{}{}"],
    ["a byte order mark in the middle", '{"a":\ufeff1}'],
    ["a form", "a=b&c=d"],
  ])("answers 400 to what is no JSON: %s", async (_what, body) => {
    await each(withBody, async (change) => (await sent(change, asFull(), body)).code, "invalid_json");
  });

  test.each([
    ["a byte of Latin-1", [0x22, 0x63, 0x61, 0x66, 0xe9, 0x22]],
    ["half a character", [0x22, 0xc3, 0x22]],
    ["an overlong form", [0x22, 0xc0, 0xaf, 0x22]],
    ["a surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ])("answers 400 to %s, which is no UTF-8", async (_what, value) => {
    const body = new Uint8Array([...Buffer.from('{"name":'), ...value, ...Buffer.from("}")]);
    await each(withBody, async (change) => (await sent(change, asFull(), body)).code, "invalid_json");
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "",
  ])("answers 415 to JSON that is declared as %p", async (type) => {
    const headers = asFull({ "content-type": type });
    await each(withBody, async (change) => (await sent(change, headers, "{}")).code, "unsupported_media_type");
  });

  test.each(["[]", '"text"', "1", "true", "null", "[{}]", '[["name","x"]]'])(
    "answers 422 to %s in place of an object",
    async (body) => {
      await each(withBody, async (change) => (await sent(change, asFull(), body)).code, "invalid_input");
    },
  );

  test.each(["surprise", "is_admin", "id", "created_at", "toString", "valueOf", "hasOwnProperty", "constructor"])(
    "answers 422 to the unknown field %p",
    async (name) => {
      const body = JSON.stringify({ [name]: "x" });
      await each(withBody, async (change) => (await sent(change, asFull(), body)).code, "invalid_input");
    },
  );

  test.each([
    ["__proto__", '{"__proto__":{"polluted":true,"is_admin":true}}'],
    ["__proto__ below a field", '{"config":{"__proto__":{"polluted":true}},"name":{"__proto__":{"polluted":true}}}'],
    ["constructor.prototype", '{"constructor":{"prototype":{"polluted":true}}}'],
    ["a prototype within a list", '{"sources":[{"__proto__":{"polluted":true}}],"bindings":[{"__proto__":[]}]}'],
    ["__defineGetter__", '{"__defineGetter__":"polluted"}'],
  ])("answers 422 to %s, and no object learns anything from it", async (_what, body) => {
    await each(withBody, async (change) => (await sent(change, asFull(), body)).code, "invalid_input");
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    expect("polluted" in {}).toBe(false);
  });

  test.each([...bodies])(
    "%s refuses a field too many beside good ones, and below them, by its path",
    async (id, good) => {
      const change = changes.find((each) => each.id === id);
      if (change === undefined) throw new Error(`There is no operation "${id}"`);
      const tried: [string, unknown][] = [["surprise", { ...good, surprise: "x" }]];
      for (const [name, value] of Object.entries(good)) {
        if (typeof value !== "object" || Array.isArray(value)) continue;
        tried.push([`${name}.surprise`, { ...good, [name]: { ...value, surprise: "x" } }]);
      }
      for (const [path, body] of tried) {
        const { status, fields } = await sent(change, asFull(), JSON.stringify(body));
        expect([id, status, fields]).toEqual([id, 422, { [path]: "There is no such field" }]);
      }
    },
  );

  test("changed nothing in all of this", async () => {
    const found = await Promise.all(
      ["credentials", "runtime-connections", "trackers", "executors", "notifiers"].map(async (resource) => {
        const answer = await sent({ method: "GET", path: `/api/${resource}` }, asFull());
        return JSON.parse(answer.text).items.map(({ name }: { name: string }) => name);
      }),
    );
    expect(found).toEqual([["registry"], ["engine"], ["app"], ["web"], ["chat"]]);
    expect((await sent({ method: "GET", path: "/api/account" }, asFull())).text).toContain('"admin"');
  });
});
