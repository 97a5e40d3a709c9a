import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { runtimes } from "../../../src/runtimes/index.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";
import { fileRuntime } from "./runtime.ts";

/** A target that is no container goes through the whole life of a run, with nothing but its own folder and a line in the registry. */
let folder: string;
let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let upstream: ReturnType<typeof Bun.serve>;
let versions: Map<string, string>;
/** In the repository, with the same versions. */
let charts: string[];
let executor: string;
let beforeStep: (name: string) => Promise<void>;

const file = (name = "motd") => readFileSync(join(folder, name), "utf8");
const indexOf = () =>
  [
    "apiVersion: v1",
    "entries:",
    ...charts.flatMap((name) => [
      `  ${name}:`,
      ...[...versions.keys()].map((version) => `  - {name: ${name}, version: ${version}, urls: [motd-${version}.tgz]}`),
    ]),
  ].join("\n");

function publish(version: string, text: string): void {
  versions.set(version, `motd ${version}\n${text}\n`);
}

const allRuntimes = () => ({ ...runtimes, files: fileRuntime((name) => beforeStep(name)) });

/** Lets everything that is due come to its end. */
async function settle(on: TestApp = app): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await on.services.scheduler.tick();
    await on.clock.runUntil(on.services.scheduler.idle());
  }
}

async function update(input: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  await person.api("POST", "/trackers/motd/checks");
  await settle();
  const made = await person.api("POST", `/executors/${executor}/runs`, input);
  expect([made.status, made.body]).toMatchObject([202, {}]);
  await settle();
  return await runOf(made.body.id ?? "");
}

async function runOf(id: string): Promise<Record<string, unknown>> {
  return (await person.api("GET", `/runs/${id}`)).body;
}

beforeEach(async () => {
  beforeStep = async () => undefined;
  folder = mkdtempSync(join(tmpdir(), "files-"));
  versions = new Map();
  charts = ["motd"];
  publish("1.0.0", "Welcome");
  publish("1.1.0", "Welcome back");
  upstream = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/index.yaml") return new Response(indexOf());
      const text = versions.get(pathname.replace("/motd-", ""));
      return text === undefined ? new Response("", { status: 404 }) : new Response(text);
    },
  });
  writeFileSync(join(folder, "motd"), versions.get("1.0.0") ?? "");
  app = await testApp({ runtimes: allRuntimes() });
  person = await app.signedIn();
  const url = `http://127.0.0.1:${upstream.port}`;
  const tracker = await person.api("POST", "/trackers", {
    name: "motd",
    sources: [
      {
        key: "main",
        kind: "helm",
        config: { chart: "motd", repository_url: url },
        channels: [{ type: "stable" }],
      },
    ],
  });
  expect([tracker.status, tracker.body]).toMatchObject([201, {}]);
  const connection = await person.api("POST", "/runtime-connections", {
    name: "Files",
    kind: "files",
    config: { folder, url },
  });
  expect([connection.status, connection.body]).toMatchObject([201, { kind: "files" }]);
  await settle();
  const made = await person.api("POST", "/executors", {
    name: "motd",
    connection_id: connection.body.id,
    target: { kind: "file", id: "motd" },
    bindings: [{ service: "main", tracker: "motd", source: "main", channel: "stable" }],
    trigger: "manual",
  });
  expect([made.status, made.body]).toMatchObject([
    201,
    { target: { kind: "file", artifact: "chart", is_group: false } },
  ]);
  executor = made.body.id ?? "";
  await settle();
});
afterEach(async () => {
  await app.close();
  await upstream.stop(true);
  rmSync(folder, { recursive: true });
});

test("a file is found, compared with its chart, planned and written", async () => {
  const { body: seen } = await person.api("GET", `/executors/${executor}`);
  expect(seen).toMatchObject({
    state: "update",
    services: [
      { found: { tag: "1.0.0" }, desired: { tag: "1.1.0", reference: "motd-1.1.0" }, difference: "other_version" },
    ],
  });
  const run = await update();
  expect(run).toMatchObject({ state: "succeeded", serving: "desired", from: { tag: "1.0.0" }, to: { tag: "1.1.0" } });
  const { changes } = v.parse(v.object({ changes: v.array(v.record(v.string(), v.unknown())) }), run.plan);
  expect(changes).toEqual([
    { kind: "chart", service: "main", reference: "motd-1.1.0", digest: null, name: "motd", version: "1.1.0" },
  ]);
  expect(file()).toBe("motd 1.1.0\nWelcome back\n");
  expect(readdirSync(folder)).toEqual(["motd"]);
  expect((await person.api("GET", `/executors/${executor}`)).body).toMatchObject({ state: "current" });
});

test("it follows only a source of its chart", async () => {
  const url = `http://127.0.0.1:${upstream.port}`;
  const others = {
    image: { kind: "oci", config: { image: "acme/motd", registry: url } },
    issue: { kind: "helm", config: { chart: "issue", repository_url: url } },
  };
  for (const [name, source] of Object.entries(others)) {
    const sources = [{ key: "main", ...source, channels: [{ type: "stable" }] }];
    expect((await person.api("POST", "/trackers", { name, sources })).status).toBe(201);
  }
  const bindings = (tracker: string) => [{ service: "main", tracker, source: "main", channel: "stable" }];
  const refused = await person.api("PATCH", `/executors/${executor}`, { bindings: bindings("image") });
  expect([refused.status, refused.body]).toMatchObject([
    422,
    { error: { fields: { "bindings.0.source": 'The source "main" of "image" has no chart' } } },
  ]);
  charts.push("issue");
  expect((await person.api("PATCH", `/executors/${executor}`, { bindings: bindings("issue") })).status).toBe(200);
  await person.api("POST", "/trackers/issue/checks");
  await settle();
  const made = await person.api("POST", `/executors/${executor}/runs`, {});
  await settle();
  expect(await runOf(made.body.id ?? "")).toMatchObject({
    state: "skipped",
    reason_code: "no_chart",
    reason: '"motd" has the chart "motd", and "issue" follows "issue"',
  });
});

test.each([
  ["en", "Platform", "Track this chart", "Add a tracker with a Helm source first"],
  ["zh", "平台", "追踪此 Chart", "请先添加带有 Helm 来源的追踪器"],
])("its pages offer nothing of images (%s)", async (language, platform, track, wanted) => {
  const get = async (path: string) => {
    const { status, text } = await person.get(path, { headers: { "accept-language": language } });
    expect([path, status]).toEqual([path, 200]);
    for (const word of [platform, "image_selection", "reference_mode"]) expect(text).not.toContain(word);
    return text;
  };
  const sources = [
    { key: "image", kind: "oci", config: { image: "acme/motd" } },
    { key: "chart", kind: "helm", config: { chart: "other", repository_url: "https://charts.example" } },
  ].map((source) => ({ ...source, channels: [{ type: "stable" }] }));
  const names = { "only-image": sources.slice(0, 1), both: sources };
  for (const [name, some] of Object.entries(names)) await person.api("POST", "/trackers", { name, sources: some });
  const { body } = await person.api("GET", `/executors/${executor}`);
  const { connection } = v.parse(v.object({ connection: v.object({ id: v.string() }) }), body);
  const targets = (await get(`/connections/${connection.id}/targets`)).replaceAll(/<svg[\s\S]*?<\/svg>/g, "");
  expect(targets).toMatch(new RegExp(`href="/trackers/new\\?chart=motd"[^>]*>\\s*(<span>)?${track}<`));
  const form = await get(`/executors/${executor}/edit`);
  expect(form).toMatch(/<option value="motd" selected/);
  expect(form).toContain('<option value="both"');
  expect(form).not.toContain("only-image");
  // Of a tracker with several sources, those of charts.
  const chosen = await get(`/executors/new?connection=${connection.id}&target=motd&tracker=both`);
  expect(chosen).toContain('<option value="chart" selected');
  expect(chosen).not.toContain('<option value="image"');
  // The tracker of the chart is proposed, in place of one that has none.
  const proposed = await get(`/executors/new?connection=${connection.id}&target=motd&tracker=only-image`);
  expect(proposed).toMatch(/<option value="motd" selected/);
  await person.api("DELETE", `/executors/${executor}`);
  for (const name of ["motd", "both"]) await person.api("DELETE", `/trackers/${name}`);
  expect(await get(`/executors/new?connection=${connection.id}&target=motd`)).toContain(wanted);
});

test("a tracker of its chart is begun with the chart's name", async () => {
  const { text } = await person.get("/trackers/new?chart=motd");
  expect(text).toMatch(/<option value="helm" selected/);
  expect(text).toMatch(/name="sources.0.config.chart"[^>]*value="motd"/);
});

test("one that fails its health check is put back", async () => {
  publish("1.2.0", "broken");
  const run = await update();
  expect(run).toMatchObject({ state: "failed", reason_code: "unhealthy", serving: "previous" });
  expect(file()).toBe("motd 1.0.0\nWelcome\n");
  expect(readdirSync(folder)).toEqual(["motd"]);
});

test("a version that cannot be had changes nothing", async () => {
  await person.api("POST", "/trackers/motd/checks");
  await settle();
  versions.delete("1.1.0");
  const made = await person.api("POST", `/executors/${executor}/runs`, {});
  await settle();
  expect(await runOf(made.body.id ?? "")).toMatchObject({
    state: "failed",
    reason_code: "pull_failed",
    serving: "previous",
  });
  expect(file()).toBe("motd 1.0.0\nWelcome\n");
});

test("a file that somebody writes while its new version is downloaded stays as it is", async () => {
  beforeStep = async (name) => {
    if (name === "download") writeFileSync(join(folder, "motd"), "motd 1.0.0\nBy hand\n");
  };
  expect(await update()).toMatchObject({ state: "failed", reason: expect.stringContaining("changed") });
  expect(file()).toBe("motd 1.0.0\nBy hand\n");
});

test("its snapshot leads back", async () => {
  const { id } = await update();
  const { body: saved } = await person.api("GET", `/snapshots?executor_id=${executor}`);
  const [snapshot] = saved.items as unknown as { id: string; reference: string }[];
  expect(snapshot).toMatchObject({ reference: "motd-1.0.0", run_id: id });
  expect((await person.api("GET", `/snapshots/${snapshot?.id}/diff`)).body).toMatchObject({ is_noop: false });
  const run = await update({ snapshot_id: snapshot?.id });
  expect(run).toMatchObject({ kind: "rollback", state: "succeeded", to: { tag: null } });
  expect(file()).toBe("motd 1.0.0\nWelcome\n");
});

/** Leaves the run where a process ends before this step, and lets the next process find it. */
async function endBefore(name: string, text: string): Promise<Record<string, unknown>> {
  const [reached, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  publish("1.1.0", text);
  await person.api("POST", "/trackers/motd/checks");
  await settle();
  const made = await person.api("POST", `/executors/${executor}/runs`, {});
  beforeStep = async (each) => {
    if (each !== name) return;
    reached.resolve();
    await over.promise;
  };
  await app.services.scheduler.tick();
  await app.clock.runUntil(reached.promise);
  beforeStep = async () => undefined;
  const later = await testApp({ runtimes: allRuntimes(), after: { app, at: app.clock.now() + 10 * 60_000 } });
  try {
    await settle(later);
    return (await (await later.signedIn()).api("GET", `/runs/${made.body.id}`)).body;
  } finally {
    over.reject(new Error("This process is over"));
    await later.services.stop();
  }
}

const undone = { state: "failed", serving: "previous" };
test.each<[string, string, Record<string, unknown>, string]>([
  ["download", "Welcome back", undone, "1.0.0"],
  ["keep", "Welcome back", undone, "1.0.0"],
  ["keep finish", "Welcome back", undone, "1.0.0"],
  ["write", "Welcome back", undone, "1.0.0"],
  ["write finish", "Welcome back", { state: "succeeded", serving: "desired" }, "1.1.0"],
  ["undo", "broken", undone, "1.0.0"],
  ["undo finish", "broken", undone, "1.0.0"],
  ["remove_kept", "Welcome back", { state: "succeeded", serving: "desired" }, "1.1.0"],
  ["remove_kept finish", "Welcome back", { state: "succeeded", serving: "desired" }, "1.1.0"],
])(
  "a process that ends before %s leaves one version, and the next one says which",
  async (name, text, end, version) => {
    expect(await endBefore(name, text)).toMatchObject(end);
    expect(file().split("\n")[0]).toBe(`motd ${version}`);
    expect(readdirSync(folder)).toEqual(["motd"]);
  },
);

test("a version that does not have the kind lists it, says so, and can delete it", async () => {
  const later = await testApp({ runtimes, after: { app, at: app.clock.now() + 20 * 60_000 } });
  try {
    const { api } = await later.signedIn();
    await settle(later);
    expect(later.lines.filter((line) => line.includes(" ERROR "))).toEqual([]);
    const [connection] = await connections();
    expect((await api("GET", "/runtime-connections")).body).toMatchObject({
      items: [{ warnings: [{ code: "kind_unknown" }] }],
    });
    expect((await api("GET", "/executors")).body).toMatchObject({
      items: [
        {
          state: "unknown",
          problem: { message: expect.stringContaining('does not support connections of type "files"') },
        },
      ],
    });
    expect((await api("GET", `/executors/${executor}/plan`)).status).toBe(424);
    expect((await api("DELETE", `/executors/${executor}`)).status).toBe(204);
    expect((await api("DELETE", `/runtime-connections/${connection}`)).status).toBe(204);
  } finally {
    await later.services.stop();
  }
});

test("its pages tell its steps in the words that it declares", async () => {
  const form = await person.get(`/executors/new?connection=${(await connections())[0]}&target=motd`);
  expect(form.text).toContain('value="file:motd" checked');
  expect(form.text).not.toContain("image_selection");
  expect((await person.get(`/executors/${executor}/run`)).text).toContain("motd-1.1.0");
  const { id } = await update();
  const run = await person.get(`/runs/${id}`);
  expect(run.text).toContain("New file written");
  expect(run.text).toContain("Copy removed");
  const words = run.text.replaceAll(/<script[\s\S]*?<\/script>|<[^>]+>/g, " ");
  expect(words.match(/[^.]{0,60}\b(?:container|image)s?\b.{0,60}/gi) ?? []).toEqual([]);
  const images = await person.get(`/connections/${(await connections())[0]}/images`, { htmx: true });
  expect([images.status, images.text]).toEqual([200, '<div id="images"></div>']);
  for (const path of [
    `/executors/${executor}`,
    `/connections/${(await connections())[0]}`,
    "/executors",
    "/connections",
  ]) {
    const page = await person.get(path);
    expect([path, page.status]).toEqual([path, 200]);
    expect(page.text).toContain("motd");
  }
});

async function connections(): Promise<readonly string[]> {
  const { body } = await person.api("GET", "/runtime-connections");
  return (body.items as unknown as { id: string }[]).map(({ id }) => id);
}
