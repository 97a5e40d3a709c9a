import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { systemActor } from "../../../src/auth/schema.ts";
import {
  connections,
  executor_bindings,
  executors,
  releases,
  seen_versions,
  tracker_sources,
} from "../../../src/db/tables.ts";
import { say, told } from "../../../src/messages/message.ts";
import { FakeEngine, fakeRuntimes } from "../../support/fake-runtime.ts";
import { digest } from "../../support/run-world.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

const engine = new FakeEngine();
let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let group: string;

beforeAll(async () => {
  app = await testApp({ runtimes: fakeRuntimes(engine) });
  person = await app.signedIn();
  await addSurroundings(app);
  for (const service of ["web", "worker"]) {
    engine.add(`shop-${service}-1`, "registry.test/app:1.0.0", digest("a"), { project: "shop", service });
  }
  const now = app.clock.now();
  const release = (tag: string, letter: string, notes: string, size_bytes: number) => ({
    ...{ id: tag, source_id: "s", version: tag, tag, stage: "tag" as const, revision: digest(letter), size_bytes },
    ...{ size_platform: "linux/amd64", first_observed_at: now, published_at: now, notes, notes_digest: tag },
  });
  await app.db.write(async (tx) => {
    await tx.update(connections).set({ config: { address: "fake://home" } });
    await tx.update(tracker_sources).set({ baseline_at: now }).where(eq(tracker_sources.id, "s"));
    await tx
      .insert(releases)
      .values([
        release("1.0.0", "a", "BREAKING: what runs already", 380_000_000),
        release("2.0.0", "b", "## Breaking changes\n\n- the <i>port</i> is 80 now", 412_000_000),
      ]);
  });
  const created = await app.services.executors.create(systemActor, {
    name: "shop",
    connection_id: "connection-1",
    target: { kind: "compose", id: "shop" },
    bindings: ["web", "worker"].map((service) => ({ service, tracker: "app", source: "main", channel: "stable" })),
    trigger: "manual",
  });
  group = `/executors/${created.id}`;
});
afterAll(() => app.close());

test("the question before a manual run begins with what breaks, and tells what is downloaded, each image once", async () => {
  const { text } = await person.get(`${group}/run`, { htmx: true });
  expect(text).toContain("This update contains 1 breaking change");
  expect(text).toContain("port");
  expect(text).not.toContain("<i>port");
  expect(text).not.toContain("what runs already");
  expect(text).toContain("412 MB");
  expect(text).toContain("32 MB more");
  expect(text.match(/412 MB/g)).toHaveLength(1);
  expect(text).toContain("If any of them does not become healthy");
  expect(text.match(/not become healthy/g)).toHaveLength(1);
});

test("the question about a container that is stopped says that it stays so", async () => {
  engine.add("job", "registry.test/app:1.0.0", digest("a"), { running: false });
  const { id } = await app.services.executors.create(systemActor, {
    ...{ name: "job", connection_id: "connection-1", target: { kind: "container", id: "job" }, trigger: "manual" },
    bindings: [{ service: "main", tracker: "app", source: "main", channel: "stable" }],
  });
  const question = async () => (await person.get(`/executors/${id}/run`, { htmx: true })).text;
  expect(await question()).toContain("The container is stopped and stays stopped");
  engine.setRunning("job", true);
  expect(await question()).not.toContain("stays stopped");
  await app.services.executors.remove(systemActor, id);
});

test("a run is the page's main action only while there is something to run", async () => {
  const kindOf = async () => /class="btn( main)?" href="[^"]*\/run"/.exec((await person.get(group)).text)?.[1];
  const found = {
    name: "web",
    containers: [],
    image: "registry.test/app:2",
    image_id: "",
    platform: "",
    state: "running",
  };
  const service = { service: "web", tracker: "app", source: "main", channel: "stable", desired: null };
  const observe = async (difference: string) => {
    const services = [{ ...service, found: { ...found, digest: null, tag: "2" }, difference }];
    const observed = { services, problem: null, waiting: null, desired_revision: null };
    await app.db.write((tx) => tx.update(executors).set({ observed, observed_at: app.clock.now() }));
  };
  await observe("other_version");
  expect(await kindOf()).toBe(" main");
  for (const difference of ["current", "unknown"]) {
    await observe(difference);
    expect(await kindOf()).toBeUndefined();
  }
  await app.db.write((tx) => tx.update(executors).set({ observed: null, observed_at: null }));
});

test("of a connection that is disabled nothing can be run, and the question says so beside the plan", async () => {
  const enable = (is_enabled: boolean) => app.db.write((tx) => tx.update(connections).set({ is_enabled }));
  await enable(false);
  const { text } = await person.get(`${group}/run`, { htmx: true });
  await enable(true);
  expect(text).toContain("Nothing to run");
  expect(text.match(/connection [^.]*is disabled/gi)).toEqual(["connection is disabled"]);
  expect(text).toContain("registry.test/app:");
  expect(text).not.toContain('type="submit"');
});

test("the page of an executor whose connection is disabled says so once", async () => {
  const said = told(say("executors.connection_disabled", { connection: "Home" }));
  const problem = { code: "connection_disabled", ...said };
  const observed = { services: [], unbound: [], problem, waiting: null, desired_revision: null };
  await app.db.write(async (tx) => {
    await tx.update(connections).set({ is_enabled: false });
    await tx.update(executors).set({ observed, observed_at: app.clock.now() });
  });
  const { text } = await person.get(group);
  await app.db.write(async (tx) => {
    await tx.update(connections).set({ is_enabled: true });
    await tx.update(executors).set({ observed: null, observed_at: null });
  });
  expect(text.match(/is disabled</g)).toHaveLength(1);
  // Where an open page looks for what changed.
  expect(text.split('id="executor-problem"')[1]).toContain("The connection is disabled");
});

test("the executor's plan tells what is downloaded", async () => {
  expect((await person.get(`${group}/plan`, { htmx: true })).text).toContain("412 MB");
});

test("the executor's page shows which version ran when, with its run, and escapes what others named", async () => {
  const at = app.clock.now();
  const seen = { executor_id: group.split("/").at(-1) ?? "", from_at: at };
  await app.db.write((tx) =>
    tx.insert(seen_versions).values([
      { id: "v1", ...seen, service: "web", reference: "app:1.0.0", tag: "1.0.0", cause: "run", run_id: "run-1" },
      { id: "v2", ...seen, service: "<b>worker", reference: "app:<i>", tag: "<i>", cause: "outside" },
      { id: "v3", ...seen, service: "web", reference: null, cause: "outside" },
    ]),
  );
  const { text } = await person.get(group);
  const section = text.slice(text.indexOf('id="timeline"'));
  expect(section).toContain("Changed outside Tidemark");
  expect(section).toContain("Not present");
  expect(section).toContain('href="/runs/run-1"');
  expect(section).toContain("&lt;b&gt;worker");
  expect(section).not.toMatch(/<b>worker|<i>/);
});

test("the tracker's page shows the same of every service that follows it, and draws those that changed last", async () => {
  const executor_id = group.split("/").at(-1) ?? "";
  const names = Array.from({ length: 9 }, (_, place) => `added-${place}`);
  const from_at = app.clock.now();
  await app.db.write(async (tx) => {
    const bound = { executor_id, tracker_id: "t", source_id: "s", channel: "stable" };
    await tx.insert(executor_bindings).values(names.map((service) => ({ ...bound, service })));
    const seen = { executor_id, reference: "app:3", tag: "3", cause: "first_seen" as const, from_at };
    await tx.insert(seen_versions).values(names.map((service) => ({ id: service, ...seen, service })));
  });
  const { text } = await person.get("/trackers/app");
  const section = text.slice(text.indexOf('id="timeline"'));
  const [drawing = "", table = ""] = section.split("</figure>");
  expect(drawing.match(/class="strip"/g)).toHaveLength(8);
  expect(drawing).toContain(`href="${group}">shop · added-8</a>`);
  expect(drawing).not.toContain("shop · added-0");
  expect(table).toContain("shop · added-0");
});
