import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { executors, runs } from "../../../src/db/tables.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
  await addSurroundings(app);
});
afterAll(() => app.close());

const form = {
  connection_id: "connection-1",
  "target.kind": "container",
  "bindings.0.service": "main",
  "bindings.0.tracker": "app",
  "bindings.0.source": "main",
  "bindings.0.channel": "stable",
  trigger: "manual",
  image_selection: "keep_name",
  reference_mode: "tag",
  "health_check.strategy": "auto",
  is_enabled: "on",
  restore_on_failure: "on",
};

async function create(name: string, changes: Record<string, string | readonly string[]> = {}): Promise<string> {
  const answer = await person.post("/executors", { ...form, name, "target.id": name, ...changes });
  expect([answer.status, answer.text]).toEqual([303, ""]);
  return answer.location ?? "";
}

test("an empty list teaches, and a filter that matches nothing does not", async () => {
  expect((await person.get("/executors")).text).toContain("No executors yet");
  const filtered = await person.get("/executors?state=failed");
  expect(filtered.text).toContain("Nothing matches these filters");
  expect(filtered.text).toContain('aria-current="true"');
});

test("the form proposes the only connection, and a target from the address stays chosen though nobody answers", async () => {
  const page = await person.get("/executors/new?connection=connection-1&target=web");
  expect(page.text).toContain("The targets could not be listed");
  expect(page.text).toMatch(/<option value="connection-1" selected/);
  expect(page.text).toContain(`name="target.choice" value="container:web" checked`);
  expect(page.text).toContain("web");
});

test("the summary of errors names each field, and what depends on a missing choice is not asked for before it", async () => {
  const errorsOf = async (fields: Record<string, string>) => {
    const bindings = { "bindings.0.service": "main", "bindings.0.tracker": "" };
    const { status, text } = await person.post("/executors", { trigger: "manual", ...bindings, ...fields });
    expect(status).toBe(422);
    const [summary = ""] = /<div class="error-summary"[\s\S]*?<\/div>/.exec(text) ?? [];
    return [...summary.matchAll(/<li>(.*?)<\/li>/g)].map(([, entry]) => entry?.replaceAll(/<(?!a)[^>]*>/g, ""));
  };
  expect(await errorsOf({ name: "web", connection_id: "connection-1" })).toEqual([
    '<a href="#f-target-id">Target: this field is required',
    '<a href="#f-bindings-0-tracker">Tracker: this field is required',
  ]);
  expect(await errorsOf({ name: "web" })).toEqual([
    '<a href="#f-connection_id">Connection: this field is required',
    '<a href="#f-bindings-0-tracker">Tracker: this field is required',
  ]);
});

test("a tracker from the address is chosen with its source and channel, as the link from a tracker's page wants it", async () => {
  const { text } = await person.get("/executors/new?tracker=app");
  expect(text).toMatch(/<option value="app" selected/);
  expect(text).toMatch(/<option value="main" selected/);
});

test("choosing a tracker by plain POST brings its source and channel, and nothing is stored", async () => {
  const answer = await person.post("/executors", {
    _action: "redraw",
    connection_id: "connection-1",
    name: "kept",
    "bindings.0.tracker": "app",
    trigger: "manual",
  });
  expect(answer.status).toBe(200);
  expect(answer.text).toMatch(/<option value="main" selected/);
  expect(answer.text).toMatch(/<option value="stable" selected/);
  expect(answer.text).toContain('value="kept"');
  expect((await person.get("/executors")).text).toContain("No executors yet");
});

test("window mode asks for days and times and shows the next three openings", async () => {
  const answer = await person.post("/executors", {
    ...form,
    _action: "redraw",
    trigger: "window",
    "window.days": ["monday", "saturday"],
    "window.start": "22:00",
    "window.end": "02:00",
  });
  const openings = /id="openings"(.*?)<\/div><\/div>/s.exec(answer.text)?.[1] ?? "";
  expect(openings.match(/22:00 to 02:00/g)).toHaveLength(3);
  const other = await person.post("/executors", { ...form, _action: "redraw", trigger: "manual" });
  expect(other.text).not.toContain('name="window.start"');
});

test("each health check strategy has its own fields", async () => {
  const http = await person.post("/executors", { ...form, _action: "redraw", "health_check.strategy": "http" });
  expect(http.text).toContain('name="health_check.probe.path"');
  const none = await person.post("/executors", { ...form, _action: "redraw", "health_check.strategy": "disabled" });
  expect(none.text).not.toContain('name="health_check.on_failure"');
  // Not asked, and not forgotten: with a health check again it is as it was.
  expect(none.text).toContain('<input type="hidden" name="restore_on_failure" value="on"/>');
});

test("a stored executor shows its policy in sentences, its target and that nobody has looked yet", async () => {
  const path = await create("shop", {
    trigger: "window",
    "window.days": ["sunday"],
    "window.start": "02:00",
    "window.end": "02:00",
    "health_check.on_failure": "degraded",
  });
  const { text } = await person.get(path);
  expect(text).toContain("Runs only in its maintenance window: Sun, the whole day (UTC).");
  expect(text).toContain("Follows the Stable channel of app, source main.");
  expect(text).toContain("the new version keeps running and the run is marked as degraded");
  expect(text).toContain("shop on Home");
  expect(text).toContain("Checking");
  expect((await person.get("/executors")).text).toContain(`href="${path}"`);
});

test("saving and running at once leads to the run", async () => {
  const path = await create("runner", { _action: "save_and_run" });
  expect(path).toMatch(/^\/runs\//);
  expect((await person.get(path)).text).toContain("runner");
});

test("a plan that cannot be made says why, also in the question before a run", async () => {
  const path = await create("quiet");
  expect((await person.get(`${path}/plan`, { htmx: true })).text).toContain("The plan could not be created");
  const question = await person.get(`${path}/run`, { htmx: true });
  expect(question.text).toContain("The plan could not be created");
  expect(question.text).not.toContain("Nothing to run");
  expect(question.text).not.toContain('type="submit"');
});

/** A run that somebody else works on, so that it goes on for as long as the test needs it. */
async function occupy(path: string): Promise<void> {
  const now = app.clock.now();
  const run = { id: `run-of-${path}`, executor_id: path.split("/").at(-1) ?? "", created_at: now, due_at: now };
  const held = { state: "updating", lease_owner: "somebody else", lease_until: now + 1e9 } as const;
  await app.db.write(async (tx) => {
    await tx.insert(runs).values({ ...run, ...held, kind: "update", trigger: "manual" });
  });
}

test("a second run is refused while one is going on, with the question again", async () => {
  const path = await create("busy");
  await occupy(path);
  const again = await person.post(`${path}/runs`);
  expect(again.status).toBe(409);
  expect((await person.get(path)).text).toContain("Open the run");
});

test("the address that takes a run shows the runs that there are", async () => {
  const path = await create("asked");
  await occupy(path);
  const { location } = await person.get(`${path}/runs`);
  expect(location).toBe(`/runs?executor_id=${path.split("/").at(-1)}`);
  expect((await person.get(location ?? "")).text).toContain(`/runs/run-of-${path}`);
  expect((await person.get((await person.get("/executors/nowhere/runs")).location ?? "")).status).toBe(404);
});

test("editing keeps what is not changed, and a blank number goes back to its default", async () => {
  const path = await create("edited", { minimum_age_hours: "7", description: "Kept" });
  const page = await person.get(`${path}/edit`);
  expect(page.text).toContain('value="7"');
  await person.post(path, {
    ...form,
    name: "edited",
    "target.id": "edited",
    description: "Kept",
    minimum_age_hours: "",
  });
  const id = path.split("/").at(-1) ?? "";
  const stored = await person.api("GET", `/executors/${id}`);
  expect(stored.body).toMatchObject({ description: "Kept", minimum_age_hours: 0, restore_on_failure: true });
});

test("an executor is deleted after a question; one with a run going on is not", async () => {
  const held = await create("held");
  await occupy(held);
  const refused = await person.post(`${held}/delete`);
  expect([refused.status, refused.text.includes("in progress")]).toEqual([409, true]);
  const free = await create("gone");
  expect((await person.get(`${free}/delete`, { htmx: true })).text).toStartWith("<form");
  expect((await person.post(`${free}/delete`)).location).toBe("/executors");
  expect((await person.get(free)).status).toBe(404);
});

test("every page of an executor is complete in Chinese, without anything inline", async () => {
  const path = await create("lang");
  for (const address of ["/executors", "/executors/new", path, `${path}/plan`, `${path}/edit`, `${path}/run`]) {
    const page = await person.get(address, { headers: { "accept-language": "zh" } });
    expect([address, page.status]).toEqual([address, 200]);
    expect(page.text).toContain('lang="zh-CN"');
    expect(page.text).not.toMatch(/ (style|on\w+)="|\[object |>undefined|undefined</);
  }
});

test("what the runtime does not report is named, accepted as it stands there, and asked about again", async () => {
  const path = await create("vague", { trigger: "immediate" });
  const says = async (...unknown_settings: readonly string[]) =>
    await app.temporary.db.write((tx) =>
      tx.update(executors).set({ unknown_settings }).where(eq(executors.name, "vague")),
    );
  await says("Podman does not report kernel parameters");
  const saved = await person.post(path, { ...form, name: "vague", "target.id": "vague", trigger: "immediate" });
  expect(saved.status).toBe(303);
  const { text } = await person.get(path);
  expect(text).toContain("Saved vague, but it will not be updated automatically: some settings are unknown");
  expect(text).toContain("Not updated automatically");
  expect(text).toContain("Podman does not report kernel parameters");
  expect(text).not.toContain("You accepted the settings");
  // What came up since the page was drawn is not accepted with it.
  const shown = JSON.stringify(["Podman does not report kernel parameters"]);
  await says("Podman does not report kernel parameters", "Podman does not report rights on devices");
  expect((await person.post(`${path}/accept-unknown`, { unknown_settings: shown })).status).toBe(303);
  expect((await person.get(path)).text).toContain("Podman does not report rights on devices");
  await says("Podman does not report kernel parameters");
  const accepted = (await person.get(path)).text;
  expect(accepted).not.toContain("Not updated automatically");
  expect(accepted).toContain("You accepted the settings that the engine does not report");
  // The form leaves alone what it does not ask for.
  await person.post(path, { ...form, name: "vague", "target.id": "vague", trigger: "immediate" });
  expect((await person.get(path)).text).not.toContain("Not updated automatically");
});
