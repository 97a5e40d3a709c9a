import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { tracker_channels, tracker_sources, trackers } from "../../../src/db/tables.ts";
import { plain } from "../../../src/messages/message.ts";
import { FakeEngine, fakeRuntimes } from "../../support/fake-runtime.ts";
import { digest } from "../../support/run-world.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let engine: FakeEngine;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let connection = "";

beforeAll(async () => {
  engine = new FakeEngine();
  app = await testApp({ runtimes: fakeRuntimes(engine) });
  person = await app.signedIn();
  for (const name of ["web", "worker"]) await addTracker(name);
  const made = await person.api("POST", "/runtime-connections", {
    name: "Home",
    kind: "docker",
    config: { address: "fake://home" },
  });
  connection = made.body.id ?? "";
});
afterAll(() => app.close());
beforeEach(() => {
  engine.containers.clear();
  engine.refusals = [];
  const add = (name: string, service: string, image: string) =>
    engine.add(name, image, digest("a"), { project: "shop", service });
  add("shop-web-1", "web", "registry.test/web:1.0");
  add("shop-web-2", "web", "registry.test/web:1.0");
  add("shop-worker-1", "worker", "registry.test/worker:1.0");
  add("shop-db-1", "db", "registry.test/db:9");
  engine.add("alone", "registry.test/web:1.0", digest("a"));
});

async function addTracker(name: string, config: Record<string, string> = { image: `registry.test/${name}` }) {
  const now = app.clock.now();
  const times = { created_at: now, updated_at: now };
  const depth = { check_interval_minutes: 360, fetch_depth: 10, request_timeout_seconds: 15 };
  const source = { key: "main", kind: "oci", config, host: "registry.test" };
  await app.db.write(async (tx) => {
    await tx.insert(trackers).values({ id: `t-${name}`, name, ...depth, sorting: "publish_time", ...times });
    await tx
      .insert(tracker_sources)
      .values({ id: `s-${name}`, tracker_id: `t-${name}`, ...source, position: 0, next_check_at: now });
    for (const [position, type] of (["stable", "beta"] as const).entries()) {
      await tx
        .insert(tracker_channels)
        .values({ id: `c-${name}-${type}`, source_id: `s-${name}`, name: type, type, position });
    }
  });
}

const form = () => ({
  connection_id: connection,
  trigger: "manual",
  image_selection: "keep_name",
  reference_mode: "tag",
  "health_check.strategy": "auto",
  is_enabled: "on",
  restore_on_failure: "on",
});
const row = (position: number, service: string, tracker: string, channel = "stable") => ({
  [`bindings.${position}.service`]: service,
  [`bindings.${position}.tracker`]: tracker,
  ...(tracker === "" ? {} : { [`bindings.${position}.source`]: "main", [`bindings.${position}.channel`]: channel }),
});
/** The values of the selects for trackers, by service in the order of the page. */
function chosen(html: string): [string, string][] {
  return [...html.matchAll(/<select id="f-bindings-(\d+)-tracker".*?<\/select>/gs)].map(([select, position]) => {
    const service = new RegExp(`name="bindings.${position}.service" value="([^"]*)"`).exec(html)?.[1] ?? "";
    return [service, /<option value="([^"]*)" selected/.exec(select)?.[1] ?? ""];
  });
}

test("groups stand before containers, those of a group are folded under it, and each reason is told", async () => {
  engine.refusals = [{ code: "stack", message: plain("It belongs to a stack") }];
  const { text } = await person.get("/executors/new");
  const order = ["compose:shop", "container:shop-web-1", "container:shop-db-1", "container:alone"];
  const places = order.map((value) => text.indexOf(`value="${value}"`));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places.every((place) => place > 0)).toBe(true);
  expect(text).toContain("Compose group, 3 services");
  expect(text).toContain("2 replicas");
  expect(text).toContain("It belongs to a stack");
  expect(text).toMatch(/value="compose:shop" disabled/);
  expect(text).toContain("2 cannot be updated");
});

test("of the targets to choose from only the chosen one warns", async () => {
  engine.warnings = [{ code: "odd", message: plain("It is odd") }];
  const open = async (query: string) => (await person.get(`/executors/new?connection=${connection}${query}`)).text;
  expect(await open("")).not.toContain("It is odd");
  expect(await open("&kind=container&target=alone")).toContain("It is odd");
  engine.warnings = [];
});

test("choosing a group by plain POST brings a row for each service, with the tracker that watches its image", async () => {
  const answer = await person.post("/executors", {
    ...form(),
    _action: "redraw",
    "target.choice": "compose:shop",
    "target.drawn": "none",
  });
  expect(answer.status).toBe(200);
  expect(chosen(answer.text)).toEqual([
    ["web", "web"],
    ["worker", "worker"],
    ["db", ""],
  ]);
  expect(answer.text).toContain("Left unchanged. No tracker follows this image.");
});

test("of many services the first are open and the others folded, in words; what an error is at is open", async () => {
  for (let count = 0; count < 60; count++) {
    engine.add(`shop-part-${count}-1`, "registry.test/part:1.0", digest("a"), {
      project: "shop",
      service: `part-${count}`,
    });
  }
  const chosenGroup = { ...form(), "target.choice": "compose:shop", "target.drawn": "compose:shop" };
  const folds = (text: string) => {
    const [open = "", folded = ""] = text.split('id="f-group_services"');
    return [open, folded].map((part) => part.match(/<select id="f-bindings-\d+-tracker"/g)?.length ?? 0);
  };
  const drawn = await person.post("/executors", { ...chosenGroup, _action: "redraw" });
  expect(drawn.text).toContain("<b>57 more services</b>");
  expect(drawn.text).toContain("and 57 more services");
  expect(folds(drawn.text)).toEqual([6, 57]);
  const refused = await person.post("/executors", { ...chosenGroup, ...row(0, "part-40", "gone"), _action: "save" });
  expect(refused.status).toBe(422);
  expect(folds(refused.text)).toEqual([1, 62]);
});

test("without a connection there is one thing to do, and nothing to fill in", async () => {
  const bare = await testApp({ runtimes: fakeRuntimes(new FakeEngine()) });
  const { text } = await (await bare.signedIn()).get("/executors/new");
  expect(text.match(/class="btn main"/g)).toHaveLength(1);
  expect(text).toContain('href="/connections/new"');
  expect(text).not.toContain('id="executor-form"');
  await bare.close();
});

test.each([
  ["whole", "registry.test/cache", "registry.test", "registry.test/cache:7"],
  [
    "whole with a tag",
    `registry.test/cart:7@sha256:${"a".repeat(64)}`,
    "https://registry.test/",
    "registry.test/cart:7",
  ],
  ["split", "team/queue", "registry.test", "registry.test/team/queue:3"],
  ["hub", "docker.io/library/redis", "docker.io", "redis:8-alpine"],
  ["hub-short", "redis-stack", "", "docker.io/library/redis-stack"],
])("a source that names its image as %s watches what runs of it", async (name, image, registry, running) => {
  await addTracker(name.replaceAll(" ", "-"), { image, registry });
  engine.add(`it-${name}`, running, digest("a"));
  const answer = await person.post("/executors", {
    ...form(),
    _action: "redraw",
    "target.choice": `container:it-${name}`,
    "target.drawn": "none",
  });
  expect(chosen(answer.text).map(([, tracker]) => tracker)).toEqual([name.replaceAll(" ", "-")]);
});

test("a row that somebody unbound stays unbound, and another group starts anew", async () => {
  const rows = { ...row(0, "web", ""), ...row(1, "worker", "worker", "beta"), ...row(2, "db", "") };
  const same = {
    ...form(),
    ...rows,
    _action: "redraw",
    "target.choice": "compose:shop",
    "target.drawn": "compose:shop",
  };
  const answer = await person.post("/executors", same);
  expect(chosen(answer.text).map(([, tracker]) => tracker)).toEqual(["", "worker", ""]);
  expect(answer.text).toMatch(/<option value="beta" selected/);
  const other = await person.post("/executors", { ...same, "target.drawn": "container:alone" });
  expect(chosen(other.text).map(([, tracker]) => tracker)).toEqual(["web", "worker", ""]);
});

test("saving stores the bound services alone, and the edit form shows all of them again", async () => {
  const saved = await person.post("/executors", {
    ...form(),
    name: "shop",
    "target.choice": "compose:shop",
    "target.drawn": "compose:shop",
    ...row(0, "web", ""),
    ...row(1, "worker", "worker", "beta"),
    ...row(2, "db", ""),
  });
  expect([saved.status, saved.text]).toEqual([303, ""]);
  const id = saved.location?.split("/").at(-1) ?? "";
  const { body } = await person.api("GET", `/executors/${id}`);
  expect(body).toMatchObject({
    target: { kind: "compose", id: "shop" },
    bindings: [{ service: "worker", tracker: "worker", source: "main", channel: "beta" }],
  });
  const edit = await person.get(`/executors/${id}/edit`);
  expect(edit.text).toMatch(/value="compose:shop" checked/);
  expect(chosen(edit.text)).toEqual([
    ["web", ""],
    ["worker", "worker"],
    ["db", ""],
  ]);
  const page = await person.get(`/executors/${id}`);
  expect(page.text).toContain("Checking");
  expect((await person.get("/executors")).text).toContain('shop</span> <span class="quiet">· ');
  await person.post(`/executors/${id}/delete`, {});
});

test("what is refused stands at the row of its service, whatever was left out above it", async () => {
  const refused = await person.post("/executors", {
    ...form(),
    name: "shop",
    "target.choice": "compose:shop",
    "target.drawn": "compose:shop",
    ...row(0, "web", ""),
    ...row(1, "worker", "worker", "canary"),
    ...row(2, "db", ""),
  });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('id="f-bindings-1-channel-error"');
  const nothing = await person.post("/executors", {
    ...form(),
    name: "shop",
    "target.choice": "compose:shop",
    "target.drawn": "compose:shop",
    ...row(0, "web", ""),
  });
  expect(nothing.status).toBe(422);
  expect(nothing.text).toContain("bind at least one service");
  expect(nothing.text).toContain('id="f-bindings-error"');
});

test("a container of a group that has an executor is refused at the target, with the executor's name", async () => {
  const made = await person.api("POST", "/executors", {
    name: "whole",
    connection_id: connection,
    target: { kind: "compose", id: "shop" },
    bindings: [{ service: "web", tracker: "web", source: "main", channel: "stable" }],
    trigger: "manual",
  });
  expect(made.status).toBe(201);
  const refused = await person.post("/executors", {
    ...form(),
    name: "one",
    "target.choice": "container:shop-db-1",
    ...row(0, "main", "web"),
  });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('id="f-target-id-error"');
  expect(refused.text).toContain("which the executor &quot;whole&quot; updates as a whole");
  const { text } = await person.get("/executors/new");
  const taken = text.slice(text.indexOf('id="taken-targets"'));
  for (const words of [
    "1 already has an executor",
    'value="compose:shop" disabled',
    "Already used by executor whole",
  ]) {
    expect(taken).toContain(words);
  }
  expect(taken).not.toContain('value="container:alone"');
});

test("a chosen container of a group stands once, within its group", async () => {
  const { text } = await person.get(`/executors/new?connection=${connection}&kind=container&target=shop-db-1`);
  const picked = text.slice(0, text.indexOf('id="other-targets"'));
  expect(text.split('value="container:shop-db-1" checked').length).toBe(2);
  expect(text.split('id="pick-container:shop-db-1"').length).toBe(2);
  expect(picked).toContain('id="target-compose:shop"');
  expect(picked).toMatch(/<details class="pick-members" open/);
});

test("discovery lists groups with their services and folds their containers", async () => {
  const { text } = await person.get(`/connections/${connection}/targets`);
  expect(text).toContain("2 targets, 2 supported");
  expect(text).toContain("4 containers of these groups");
  expect(text).toMatch(/kind=container&amp;target=alone/);
  // In the row's menu, which narrow rows have too.
  expect(text).toMatch(/class="menu-item" href="\/trackers\/new\?image=/);
});

test("the first save without a name takes the target's, as the form would have shown it", async () => {
  const fields = { ...form(), "target.choice": "container:alone", ...row(0, "main", "web"), name: "" };
  const saved = await person.post("/executors", { ...fields, "target.kind": "container", "target.id": "alone" });
  expect([saved.status, saved.text]).toEqual([303, ""]);
  expect((await person.get(saved.location ?? "")).text).toContain(">alone");
  const unknown = { "target.choice": "container:none", "target.kind": "container", "target.id": "none" };
  expect((await person.post("/executors", { ...fields, ...unknown })).status).toBe(422);
});
