import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { connectionService } from "../../src/connections/service.ts";
import { audit_entries, executors } from "../../src/db/tables.ts";
import { AppError, PluginError } from "../../src/errors.ts";
import { fields } from "../../src/forms/fields.ts";
import { plain, told } from "../../src/messages/message.ts";
import { FakeEngine, fakeRuntime, fakeRuntimes } from "../support/fake-runtime.ts";
import { noOutages, temporaryGround } from "../support/ground.ts";

const input = { name: "Home", kind: "docker", config: { address: "fake://home" } };
const signal = new AbortController().signal;

let temporary: Awaited<ReturnType<typeof temporaryGround>>;
let engine: FakeEngine;
let opened: { secret: unknown }[];
let whenOpened: () => void;
let connections: ReturnType<typeof connectionService>;
let credentials: typeof temporary.credentials;

beforeEach(async () => {
  temporary = await temporaryGround();
  engine = new FakeEngine();
  opened = [];
  whenOpened = () => undefined;
  credentials = temporary.credentials;
  const docker = fakeRuntime(engine);
  connections = connectionService({
    ...temporary,
    instance_id: "here",
    outages: noOutages,
    openFetch: () => () => Promise.reject(new Error("Nothing is fetched here")),
    runtimes: {
      ...fakeRuntimes(engine),
      docker: {
        ...docker,
        open: async (config, secret, context) => {
          opened.push({ secret });
          whenOpened();
          return await docker.open(config, secret, context);
        },
      },
    },
    judgeHost: () => null,
    self: { hostname: "me", data_dir: temporary.dir },
  });
});
afterEach(() => temporary.close());

async function refusal(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error(`Not refused: ${String(error)}`);
  return error;
}

async function addExecutor(connectionId: string): Promise<void> {
  await temporary.db.write((tx) =>
    tx.insert(executors).values({
      id: "e1",
      name: "web",
      connection_id: connectionId,
      target_kind: "container",
      target_id: "web",
      trigger: "manual",
      image_selection: "keep_name",
      reference_mode: "tag",
      health_check: {},
      restore_on_failure: true,
      created_at: 1,
      updated_at: 1,
    }),
  );
}

describe("create()", () => {
  test("stores the plug-in's configuration with its defaults", async () => {
    const created = await connections.create(systemActor, input);
    expect(created).toMatchObject({ name: "Home", kind: "docker", is_enabled: true, last_check: null, executors: [] });
    expect(created.config).toEqual({ address: "fake://home", api_version: "" });
    expect((await connections.list({})).items).toHaveLength(1);
  });

  test.each([
    [{ ...input, config: { address: "http://home" } }, "config.address"],
    [{ ...input, config: {} }, "config.address"],
    [{ ...input, config: { address: "fake://home", extra: 1 } }, "config.extra"],
    [{ ...input, kind: "floppy" }, "kind"],
    [{ ...input, name: " " }, "name"],
    [{ ...input, credential_id: "unknown" }, "credential_id"],
  ])("refuses %j naming the field %s", async (bad, field) => {
    const error = await refusal(connections.create(systemActor, bad));
    expect(error.code).toBe("invalid_input");
    expect(Object.keys(error.fields ?? {})).toEqual([field]);
  });

  test("refuses a name that is taken", async () => {
    await connections.create(systemActor, input);
    expect((await refusal(connections.create(systemActor, input))).fields).toEqual({
      name: 'Another connection is already named "Home"',
    });
  });

  test("refuses a credential of another kind", async () => {
    const other = await credentials.create(systemActor, {
      name: "registry",
      kind: "oci",
      secret: { username: "u", password: "p" },
    });
    const error = await refusal(connections.create(systemActor, { ...input, credential_id: other.id }));
    expect(error.fields).toEqual({
      credential_id: 'The credential "registry" is of type "oci"; choose one of type "docker"',
    });
  });

  test("describes its own form", () => {
    expect(fields(connections.Input).map((field) => field.name)).toEqual([
      "name",
      "kind",
      "description",
      "is_enabled",
      "config",
      "credential_id",
      "concurrent_runs",
    ]);
  });
});

describe("update()", () => {
  test("keeps what is left out, members of the configuration too", async () => {
    const { id } = await connections.create(systemActor, {
      ...input,
      config: { ...input.config, api_version: "1.41" },
    });
    const changed = await connections.update(systemActor, id, { config: { address: "fake://other" } });
    expect(changed.config).toEqual({ address: "fake://other", api_version: "1.41" });
    expect(changed.name).toBe("Home");
  });

  test("forgets the last test when the address changes and keeps it for a new name", async () => {
    const { id } = await connections.create(systemActor, input);
    await connections.check(systemActor, id, signal);
    expect((await connections.update(systemActor, id, { name: "House" })).last_check?.ok).toBe(true);
    expect((await connections.update(systemActor, id, { config: { address: "fake://x" } })).last_check).toBeNull();
  });

  test("refuses a member that the plug-in refuses and stores nothing", async () => {
    const { id } = await connections.create(systemActor, input);
    const error = await refusal(connections.update(systemActor, id, { name: "New", config: { address: "x" } }));
    expect(error.fields).toEqual({ "config.address": 'Begin with "fake://"' });
    expect((await connections.get(id)).name).toBe("Home");
  });
});

describe("check()", () => {
  test("stores what answered", async () => {
    const { id } = await connections.create(systemActor, input);
    const found = await connections.check(systemActor, id, signal);
    expect(found).toMatchObject({ ok: true, code: null, version: "27.1", message: "Connected to Docker engine 27.1" });
    expect((await connections.get(id)).last_check).toEqual(found);
  });

  test("stores a failure as a result and leaves an audit entry", async () => {
    const { id } = await connections.create(systemActor, input);
    engine.isUnreachable = true;
    const found = await connections.check(systemActor, id, signal);
    expect(found).toMatchObject({ ok: false, code: "unreachable", message: "Reach the engine: connection refused" });
    expect((await connections.get(id)).last_check?.ok).toBe(false);
    const entries = await temporary.db.read.select().from(audit_entries);
    expect(entries.map((entry) => [entry.event, entry.outcome])).toContainEqual(["connection_checked", "failed"]);
  });

  test("stores nothing when whoever asked is gone before the answer", async () => {
    const { id } = await connections.create(systemActor, input);
    const before = await connections.check(systemActor, id, signal);
    const entries = await temporary.db.read.select().from(audit_entries);
    const asking = new AbortController();
    whenOpened = () => {
      asking.abort();
      engine.isUnreachable = true;
    };
    await expect(connections.check(systemActor, id, asking.signal)).rejects.toThrow(PluginError);
    expect((await connections.get(id)).last_check).toEqual(before);
    expect(await temporary.db.read.select().from(audit_entries)).toEqual(entries);
  });

  test("opens with the credential's secret", async () => {
    const secret = await credentials.create(systemActor, {
      name: "tls",
      kind: "docker",
      secret: { username: "u", password: "p" },
    });
    const { id } = await connections.create(systemActor, { ...input, credential_id: secret.id });
    opened.length = 0;
    await connections.check(systemActor, id, signal);
    expect(opened).toEqual([{ secret: { username: "u", password: "p" } }]);
  });
});

describe("targets()", () => {
  test("lists each target with its refusals and the executor that has it", async () => {
    engine.add("web", "nginx:1.27", "sha256:aa");
    engine.add("db", "postgres:17", "sha256:bb");
    engine.refusals = [{ code: "auto_remove", message: plain("Removes itself") }];
    const { id } = await connections.create(systemActor, input);
    await addExecutor(id);
    const { items } = await connections.targets(id, signal);
    expect(items.map((item) => [item.id, item.executor?.name ?? null])).toEqual([
      ["web", "web"],
      ["db", null],
    ]);
    expect(items[0]?.refusals).toEqual([{ code: "auto_remove", ...told(plain("Removes itself")) }]);
  });

  test("is refused while the connection is disabled", async () => {
    const { id } = await connections.create(systemActor, { ...input, is_enabled: false });
    expect((await refusal(connections.targets(id, signal))).code).toBe("connection_disabled");
    expect(opened).toEqual([]);
  });

  test("passes on that the runtime does not answer", async () => {
    const { id } = await connections.create(systemActor, input);
    engine.isUnreachable = true;
    await expect(connections.targets(id, signal)).rejects.toBeInstanceOf(PluginError);
  });
});

describe("remove()", () => {
  test("is refused with the names of the executors that use it", async () => {
    const { id } = await connections.create(systemActor, input);
    await addExecutor(id);
    const error = await refusal(connections.remove(systemActor, id));
    expect(error.message).toBe('The connection "Home" is used by executor "web"');
  });

  test("deletes what nobody uses", async () => {
    const { id } = await connections.create(systemActor, input);
    await connections.remove(systemActor, id);
    expect((await refusal(connections.get(id))).status).toBe(404);
  });
});
