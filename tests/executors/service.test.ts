import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import { audit_entries } from "../../src/db/tables.ts";
import { AppError, PluginError } from "../../src/errors.ts";
import { ExecutorInput } from "../../src/executors/settings-schema.ts";
import { decodeForm } from "../../src/forms/decode.ts";
import { fields } from "../../src/forms/fields.ts";
import { plain, say, toldAs } from "../../src/messages/message.ts";
import { createWorld, digest, leadTo, release, type World } from "../support/run-world.ts";

const live = new AbortController().signal;
let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const input = () => ({
  name: "web",
  connection_id: world.connectionId,
  target: { kind: "container", id: "web" },
  bindings: [{ tracker: "app", source: "main", channel: "stable" }],
  trigger: "manual",
});

async function refused(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error(`Not refused: ${String(error)}`);
  return error;
}
const refusedFields = async (work: Promise<unknown>) => (await refused(work)).field_messages ?? {};

describe("create()", () => {
  test("fills in the defaults of the specification", async () => {
    const view = await world.main.executors.create(systemActor, input());
    expect(view).toMatchObject({
      is_enabled: true,
      image_selection: "keep_name",
      reference_mode: "tag",
      restore_on_failure: true,
      allow_downgrade: false,
      minimum_age_hours: 0,
      window: null,
      state: "unknown",
      bindings: [{ service: "main", tracker: "app", source: "main", channel: "stable" }],
      health_check: { strategy: "auto" },
    });
    await world.main.executors.update(systemActor, view.id, { health_check: { strategy: "native" } });
    expect((await world.main.executors.get(view.id)).health_check).toEqual({
      strategy: "native",
      on_failure: "failed",
      initial_delay_seconds: 15,
      single_timeout_seconds: 10,
      probe_interval_seconds: 5,
      total_probe_duration_seconds: 180,
    });
  });

  const window = { days: ["monday"], start: "22:00", end: "02:00" };
  const http = { protocol: "https", host: "example.org", port: 443, path: "/", method: "GET" };
  test.each([
    ["an unknown connection", { connection_id: "unknown" }, "connection_id"],
    ["an unknown tracker", { bindings: [{ tracker: "x", source: "main", channel: "stable" }] }, "bindings.0.tracker"],
    ["an unknown source", { bindings: [{ tracker: "app", source: "x", channel: "stable" }] }, "bindings.0.source"],
    [
      "a channel that the source lacks",
      { bindings: [{ tracker: "app", source: "main", channel: "beta" }] },
      "bindings.0.channel",
    ],
    ["a service bound twice", { bindings: [input0(), input0()] }, "bindings.1.service"],
    ["no binding", { bindings: [] }, "bindings"],
    ["window mode without a window", { trigger: "window" }, "window"],
    ["no days", { trigger: "window", window: { ...window, days: [] } }, "window.days"],
    ["a day twice", { trigger: "window", window: { ...window, days: ["monday", "monday"] } }, "window.days"],
    ["24:00", { trigger: "window", window: { ...window, end: "24:00" } }, "window.end"],
    ["7:5", { trigger: "window", window: { ...window, start: "7:5" } }, "window.start"],
    ["an unknown day", { trigger: "window", window: { ...window, days: ["caturday"] } }, "window.days.0"],
    ["an unknown strategy", { health_check: { strategy: "hope" } }, "health_check.strategy"],
    ["a probe without its fields", { health_check: { strategy: "tcp" } }, "health_check.probe"],
    [
      "a blocked probe",
      { health_check: { strategy: "http", probe: { ...http, host: "blocked.test" } } },
      "health_check.probe.host",
    ],
    [
      "a blocked probe over tcp",
      { health_check: { strategy: "tcp", probe: { host: "blocked.test", port: 5432 } } },
      "health_check.probe.host",
    ],
    [
      "timings of a check that is off",
      { health_check: { strategy: "disabled", on_failure: "failed" } },
      "health_check.on_failure",
    ],
    ["half an hour of age", { minimum_age_hours: 0.5 }, "minimum_age_hours"],
    ["an unknown field", { colour: "red" }, "colour"],
    ["no target", { target: { kind: "container", id: "" } }, "target.id"],
    ["a kind of target that the connection has not", { target: { kind: "release", id: "web" } }, "target.kind"],
  ])("refuses %s", async (_name, changes, field) => {
    expect(
      Object.keys(await refusedFields(world.main.executors.create(systemActor, { ...input(), ...changes }))),
    ).toEqual([field]);
    expect((await world.main.executors.list({})).items).toEqual([]);
  });

  test("leaves an entry of a probe that is blocked, at an edit too, and keeps what is stored", async () => {
    const entries = async () => {
      const all = await world.db.read.select().from(audit_entries).orderBy(asc(audit_entries.id));
      return all
        .filter(({ event }) => event === "destination_blocked")
        .map(({ outcome, detail }) => ({ outcome, detail }));
    };
    const health_check = { strategy: "tcp", probe: { host: "blocked.test", port: 5432 } };
    await refused(world.main.executors.create(systemActor, { ...input(), health_check }));
    const detail = { ...toldAs("reason", say("net.destination_blocked", { entry: null })), executor: "web" };
    const entry = { outcome: "refused" as const, detail };
    expect(await entries()).toEqual([entry]);
    const { id } = await world.main.executors.create(systemActor, input());
    await refused(world.main.executors.update(systemActor, id, { health_check }));
    expect(await entries()).toEqual([entry, entry]);
    expect((await world.main.executors.get(id)).health_check).toMatchObject({ strategy: "auto" });
  });

  test("refuses the id of a container in place of its name, and says the name", async () => {
    const { id } = world.engine.get("web");
    const target = { kind: "container", id };
    const wrong = { "target.id": say("executors.id_for_name", { name: "web" }) };
    expect(await refusedFields(world.main.executors.create(systemActor, { ...input(), target }))).toEqual(wrong);
    expect(await refusedFields(world.main.executors.preview({ ...input(), target }, live))).toEqual(wrong);
    expect((await world.main.executors.list({})).items).toEqual([]);
    const { id: executor } = await world.main.executors.create(systemActor, input());
    expect(await refusedFields(world.main.executors.update(systemActor, executor, { target }))).toEqual(wrong);
  });

  test("takes the name of a target that is not there, and says at once that it is not", async () => {
    const target = { kind: "container", id: "wbe" };
    const problem = { code: "target_missing", message_data: say("executors.target_missing", { target: "wbe" }) };
    const created = await world.main.executors.create(systemActor, { ...input(), target });
    expect(created).toMatchObject({ state: "unknown", observed_at: world.clock.now(), problem });
    await world.main.executors.update(systemActor, created.id, { target: input().target });
    const moved = await world.main.executors.update(systemActor, created.id, { target });
    expect(moved).toMatchObject({ observed_at: world.clock.now(), problem });
    world.engine.isUnreachable = true;
    const unseen = { ...input(), name: "later", target: { kind: "container", id: "later" } };
    expect(await world.main.executors.create(systemActor, unseen)).toMatchObject({ observed_at: null, problem: null });
  });

  const taken = {
    status: 409,
    code: "in_use",
    field_messages: { "target.id": say("executors.target_taken", { target: "web", executor: "web" }) },
  };

  test("refuses a name and a target that are taken", async () => {
    await world.main.executors.create(systemActor, input());
    const sameName = { ...input(), target: { kind: "container", id: "db" } };
    expect(await refusedFields(world.main.executors.create(systemActor, sameName))).toEqual({
      name: say("request.name_taken", { what: say("thing.executor"), name: "web" }),
    });
    expect(await refused(world.main.executors.create(systemActor, { ...input(), name: "other" }))).toMatchObject(taken);
    const db = { ...input(), name: "other", target: { kind: "container", id: "db" } };
    const { id } = await world.main.executors.create(systemActor, db);
    const { target } = input();
    expect(await refused(world.main.executors.update(systemActor, id, { target }))).toMatchObject(taken);
  });

  test("refuses a target that is taken on another connection to the same engine", async () => {
    await world.main.executors.create(systemActor, input());
    const add = async (name: string, address: string) =>
      await world.main.connections.create(systemActor, { name, kind: "docker", config: { address } });
    const twin = await add("Home again", "fake://twin");
    await leadTo(world, twin.id, "fake://home");
    const elsewhere = await add("Elsewhere", "fake://elsewhere");
    const other = { ...input(), name: "other" };
    const twice = world.main.executors.create(systemActor, { ...other, connection_id: twin.id });
    expect(await refused(twice)).toMatchObject(taken);
    await world.main.executors.create(systemActor, { ...other, connection_id: elsewhere.id });
  });

  test("takes what its own form sends", async () => {
    const form = new FormData();
    const sent = {
      name: "web",
      connection_id: world.connectionId,
      "target.kind": "container",
      "target.id": "web",
      "bindings.0.service": "main",
      "bindings.0.tracker": "app",
      "bindings.0.source": "main",
      "bindings.0.channel": "stable",
      trigger: "window",
      "window.start": "22:00",
      "window.end": "02:00",
      image_selection: "keep_name",
      reference_mode: "digest",
      "health_check.strategy": "tcp",
      "health_check.probe.host": "db.internal",
      "health_check.probe.port": "5432",
      "health_check.on_failure": "degraded",
      restore_on_failure: "on",
      is_enabled: "on",
    };
    for (const [name, value] of Object.entries(sent)) form.append(name, value);
    for (const day of ["monday", "friday"]) form.append("window.days", day);
    const decoded = decodeForm(form, (values) => fields(ExecutorInput, values));
    const view = await world.main.executors.create(systemActor, decoded);
    expect(view).toMatchObject({
      trigger: "window",
      window: { days: ["monday", "friday"], start: "22:00", end: "02:00" },
      health_check: { strategy: "tcp", probe: { host: "db.internal", port: 5432 }, on_failure: "degraded" },
      reference_mode: "digest",
    });
  });
});

function input0() {
  return { tracker: "app", source: "main", channel: "stable" };
}

describe("update()", () => {
  test("keeps what is left out", async () => {
    const { id } = await world.main.executors.create(systemActor, {
      ...input(),
      description: "Front",
      minimum_age_hours: 3,
    });
    const view = await world.main.executors.update(systemActor, id, { name: "front" });
    expect(view).toMatchObject({ name: "front", description: "Front", minimum_age_hours: 3 });
    expect(view.bindings).toHaveLength(1);
  });

  test("judges the whole: window mode needs a window, also when only the trigger is sent", async () => {
    const { id } = await world.main.executors.create(systemActor, input());
    expect(
      Object.keys(await refusedFields(world.main.executors.update(systemActor, id, { trigger: "window" }))),
    ).toEqual(["window"]);
  });

  test("refuses another target while a run is going on, and takes everything else", async () => {
    const { id } = await world.main.executors.create(systemActor, input());
    const run = await world.main.runs.create(systemActor, id, {});
    const moving = world.main.executors.update(systemActor, id, { target: { kind: "container", id: "db" } });
    expect(await refused(moving)).toMatchObject({ code: "run_active", status: 409, fields: { active_run_id: run.id } });
    expect((await world.main.executors.update(systemActor, id, { description: "New" })).description).toBe("New");
  });

  test("forgets what was observed of another target", async () => {
    const { id } = await world.main.executors.create(systemActor, input());
    await world.tick();
    world.engine.add("db", "registry.test/app:1.0", digest("a"));
    const view = await world.main.executors.update(systemActor, id, { target: { kind: "container", id: "db" } });
    expect(view).toMatchObject({ state: "unknown", observed_at: null, services: [] });
  });
});

describe("remove()", () => {
  test("is refused while a run is going on", async () => {
    const { id } = await world.main.executors.create(systemActor, input());
    await world.main.runs.create(systemActor, id, {});
    expect((await refused(world.main.executors.remove(systemActor, id))).code).toBe("run_active");
  });

  test("is refused while an ended run keeps something aside, unless its connection is disabled", async () => {
    const { id } = await world.main.executors.create(systemActor, input());
    world.engine.failures.set("remove_old", new PluginError("rejected", plain("Remove: device or resource busy")));
    const run = await world.update(id);
    expect(run).toMatchObject({ state: "succeeded" });
    expect(run.cleanup_due_at).not.toBeNull();
    const refusal = await refused(world.main.executors.remove(systemActor, id));
    expect(refusal).toMatchObject({ code: "run_active", status: 409, fields: { active_run_id: run.id } });
    await world.main.connections.update(systemActor, world.connectionId, { is_enabled: false });
    await world.main.executors.remove(systemActor, id);
    expect((await world.main.executors.list({})).items).toEqual([]);
  });

  test("takes runs and snapshots with it and leaves the target alone", async () => {
    const { id } = await world.main.executors.create(systemActor, input());
    await world.update(id);
    await world.main.executors.remove(systemActor, id);
    expect((await world.main.runs.list({})).items).toEqual([]);
    expect((await world.main.snapshots.list({})).items).toEqual([]);
    expect(world.engine.running()).toEqual(["web"]);
  });
});

describe("plan()", () => {
  test("tells what would be done, with a hash, and touches nothing", async () => {
    const { id } = await world.main.executors.create(systemActor, input());
    const view = await world.main.executors.plan(id, live);
    expect(view).toMatchObject({
      unmet: null,
      is_downgrade: false,
      plan: {
        is_noop: false,
        diff: [{ path: "Image", before: "registry.test/app:1.0", after: "registry.test/app:1.1" }],
        carried: { mounts: 1 },
      },
    });
    expect(view.plan?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(world.engine.calls).toEqual([]);
    expect((await world.main.executors.plan(id, live)).plan?.hash).toBe(view.plan?.hash ?? "");
  });

  test("distinguishes another version, a republish, another mode and what is current", async () => {
    const { id } = await world.main.executors.create(systemActor, input());
    const difference = async () => (await world.main.executors.plan(id, live)).services[0]?.difference;
    expect(await difference()).toBe("other_version");
    world.upstream.choice = { release: release("1.0", "c"), ready_at: null };
    expect(await difference()).toBe("new_digest");
    world.upstream.choice = { release: release("1.0", "a"), ready_at: null };
    expect(await difference()).toBe("current");
    await world.main.executors.update(systemActor, id, { reference_mode: "digest" });
    expect(await difference()).toBe("other_mode");
    world.upstream.image = "other.test/app";
    await world.main.executors.update(systemActor, id, { image_selection: "use_tracker" });
    expect(await difference()).toBe("other_name");
  });

  test("names the condition that is not met", async () => {
    const { id } = await world.main.executors.create(systemActor, input());
    world.upstream.choice = { release: null, ready_at: null };
    expect(await world.main.executors.plan(id, live)).toMatchObject({ plan: null, unmet: { code: "no_release" } });
    world.engine.containers.clear();
    expect(await world.main.executors.plan(id, live)).toMatchObject({ plan: null, unmet: { code: "target_missing" } });
  });

  test("keeps the current name or takes the tracker's, as the policy says", async () => {
    world.upstream.image = "mirror.test/team/app";
    const { id } = await world.main.executors.create(systemActor, input());
    const to = async () => (await world.main.executors.plan(id, live)).plan?.services[0]?.to.reference;
    expect(await to()).toBe("registry.test/app:1.1");
    await world.main.executors.update(systemActor, id, { image_selection: "use_tracker" });
    expect(await to()).toBe("mirror.test/team/app:1.1");
  });

  test("of an input that is not stored is made without storing it", async () => {
    const view = await world.main.executors.preview(input(), live);
    expect(view.plan?.services[0]?.to.reference).toBe("registry.test/app:1.1");
    expect((await world.main.executors.list({})).items).toEqual([]);
    expect(Object.keys(await refusedFields(world.main.executors.preview({ ...input(), bindings: [] }, live)))).toEqual([
      "bindings",
    ]);
  });
});

describe("the state that is shown", () => {
  test("is the one observed: running, failed for this version, then what it is", async () => {
    const { id } = await world.main.executors.create(systemActor, input());
    const state = async () => (await world.main.executors.get(id)).state;
    expect(await state()).toBe("unknown");
    await world.tick();
    expect(await state()).toBe("update");
    await world.main.runs.create(systemActor, id, {});
    expect(await state()).toBe("running");
    world.engine.judge = (each) => ({ ready: false, detail: plain(each.name), final: true });
    await world.tick();
    await world.tick();
    expect(await state()).toBe("failed");
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    await world.clock.advance(16 * 60_000);
    await world.tick();
    expect(await state()).toBe("update");
  });

  test("has the last run with its downtime", async () => {
    const { id } = await world.main.executors.create(systemActor, input());
    const run = await world.update(id);
    const view = await world.main.executors.get(id);
    expect(view.last_run).toMatchObject({ id: run.id, state: "succeeded", downtime_ms: 0, to_tag: "1.1" });
    expect(view.active_run_id).toBeNull();
  });

  test("names the very version behind a digest", async () => {
    await world.db.client.execute({
      sql: "insert into releases (id, source_id, version, tag, stage, revision, first_observed_at) values ('r', 'source', '1.0.3', '1.0.3', 'tag', ?, 1)",
      args: [digest("a")],
    });
    world.engine.add("web", `registry.test/app@${digest("a")}`, digest("a"));
    const { id } = await world.main.executors.create(systemActor, input());
    await world.tick();
    expect((await world.main.executors.get(id)).services[0]?.found?.tag).toBe("1.0.3");
  });
});
