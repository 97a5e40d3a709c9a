import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { say, told } from "../../src/messages/message.ts";
import { chromiumMissing } from "../peers/chromium.ts";
import { account } from "../peers/registry.ts";
import { addRelease, hubRepository } from "../sources/github/hub-content.ts";
import { type StandInGithub, startGithub } from "../sources/github/stand-in-github.ts";
import type { StandIn } from "../sources/oci/stand-in-registry.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { type ChartVersion, chartIndex, chartRepository, dayOf } from "../support/corpus-upstreams.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, firstSignIn } from "../support/server.ts";
import { type Story, startStory, storyMissing } from "../support/story.ts";

setDefaultTimeout(180_000);

const missing = storyMissing() ?? chromiumMissing();

// One container, driven in turn by a repository, a chart and a registry; all under "Replace current image tag".
peerSuite("a forge, a chart and a registry each replace the running tag", missing, () => {
  let world: Story;
  let hub: StandInGithub;
  let charts: StandIn;
  let person: Person;
  let page: Page;
  let api: ApiClient;
  let executor = "";
  let version = 0;
  const app = hubRepository("acme", "web");
  const chartVersions: ChartVersion[] = [];

  /** Publishes the next version everywhere, `v1.N.0` in git, `1.N.0` elsewhere, and lets the tracker find it. */
  async function publish(tracker: string, { hasImage = true } = {}): Promise<string> {
    version += 1;
    const tag = `1.${version}.0`;
    const created = dayOf(version);
    addRelease(app, `v${tag}`, created);
    chartVersions.push({ version: `${40 + version}.0.0`, app_version: tag, created });
    if (hasImage) await world.push(tag);
    await check(tracker, tag);
    return tag;
  }
  async function check(tracker: string, tag: string): Promise<void> {
    await api.post(`/trackers/${tracker}/checks`);
    await eventually(`${tracker} to find ${tag}`, async () =>
      JSON.stringify((await api.get(`/trackers/${tracker}/releases?limit=5`)).body).includes(`${tag}"`),
    );
  }
  async function addTracker(name: string, kind: string, config: object, credential_id: unknown = null) {
    const source = { key: "main", kind, config, credential_id, channels: [{ type: "stable" }] };
    await api.ok("POST", "/trackers", { name, sorting: "semantic", sources: [source] });
  }
  const newest = async () =>
    ((await api.get(`/executors/${executor}/runs`)).body.items as Record<string, unknown>[])[0];
  const endedRun = async (id: unknown) =>
    await eventually("the run to end", async () => {
      const { body } = await api.get(`/runs/${id}`);
      return body.ended_at === null ? null : body;
    });
  async function expectServed(tag: string): Promise<void> {
    expect(await world.serves()).toBe(tag);
    const [left] = await eventually("the previous one to be gone", async () => {
      const found = await world.containers();
      return found.length === 1 ? found : null;
    });
    const image = `${world.registry.host}/${world.repository}:${tag}`;
    expect(left).toEqual({ name: "web", state: "running", image });
  }

  beforeAll(async () => {
    world = await startStory();
    hub = await startGithub(() => Date.now());
    hub.repositories.push(app);
    charts = chartRepository(() => chartIndex({ web: chartVersions }));
    api = await firstSignIn(world.server);
    const credential = await api.post("/credentials", { name: "registry", kind: "oci", secret: { ...account } });
    // What the registry is asked with, by whichever source a version came.
    await addTracker("image", "oci", { image: world.repository, registry: world.registry.url }, credential.body.id);
    await addTracker("forge", "github", { repository: `${hub.url}/acme/web` });
    chartVersions.push({ version: "40.0.0", app_version: "1.0.0", created: dayOf(0) });
    await addTracker("chart", "helm", { chart: "web", repository_url: charts.url });
    const lab = { name: "lab", kind: "docker", config: { address: world.engine.address } };
    await api.post("/runtime-connections", lab);
    person = await openBrowser(() => world.server.url);
    ({ page } = person);
    await person.signIn();
  });
  afterAll(async () => {
    await person?.close();
    await charts?.stop();
    await hub?.[Symbol.asyncDispose]();
    await world?.stop();
  });

  test("a forge, by the form that adds the executor", async () => {
    const tag = await publish("forge");
    await person.go("/executors/new?tracker=forge");
    await page.check("[name='target.choice'][value='container:web']");
    await page.locator("#preview").getByText(`:${tag}`).first().waitFor();
    await person.openFolds();
    expect(await page.inputValue("[name='bindings.0.tracker']")).toBe("forge");
    await page.selectOption("[name='health_check.strategy']", "disabled");
    await page.waitForSelector("[name='health_check.on_failure']", { state: "detached" });
    await page.click("text=Add and run now");
    await person.untilRunEnds("Succeeded");
    await expectServed(tag);
    const { items } = (await api.get("/executors")).body as { items: { id: string }[] };
    executor = items[0]?.id ?? "";
  });

  test.each(["chart", "image"])("the channel of %s, by the form that edits it", async (tracker) => {
    const tag = await publish(tracker);
    await person.go(`/executors/${executor}/edit`);
    await page.selectOption("[name='bindings.0.tracker']", tracker);
    await page.locator("#preview").getByText(`:${tag}`).first().waitFor();
    await page.click(".form-actions .btn.main");
    await page.waitForURL(`**/executors/${executor}`);
    await person.openPlan();
    await page.waitForSelector("dialog[open] .diff >> text=Image");
    await person.confirm();
    await person.untilRunEnds("Succeeded");
    await expectServed(tag);
  });

  test.each(["forge", "chart", "image"])("the channel of %s, by the API", async (tracker) => {
    const tag = await publish(tracker);
    const bindings = [{ tracker, source: "main", channel: "stable" }];
    expect((await api.request("PATCH", `/executors/${executor}`, { bindings })).status).toBe(200);
    const started = await api.post(`/executors/${executor}/runs`, {});
    const run = await endedRun(started.body.id);
    expect(run).toMatchObject({ state: "succeeded", to: { tag, digest: expect.stringMatching(/^sha256:/) } });
    await expectServed(tag);
  });

  test("a release without an image is waited for, and then runs by itself", async () => {
    const before = await newest();
    // Before anything follows it by itself: the release before is older than what runs, and would be skipped at once.
    const tag = await publish("forge", { hasImage: false });
    const bindings = [{ tracker: "forge", source: "main", channel: "stable" }];
    await api.request("PATCH", `/executors/${executor}`, { bindings, trigger: "immediate" });
    const problem = await eventually("the executor to wait", async () => {
      const { body } = await api.get(`/executors/${executor}`);
      return body.problem as Record<string, unknown> | null;
    });
    const image = `${world.registry.host}/${world.repository}`;
    expect(problem).toEqual({ code: "no_tag", ...told(say("executors.tag_not_found", { tags: [tag], image })) });
    await person.go(`/executors/${executor}`);
    expect(await page.textContent("main")).toContain("No tag for this version");
    expect((await newest())?.id).toBe(before?.id);
    await world.push(tag);
    // Looked at anew, as in a quarter of an hour.
    await api.request("PATCH", `/executors/${executor}`, { description: "Follows the repository" });
    const run = await eventually("a run to start", async () => {
      const found = await newest();
      return found?.id === before?.id ? null : found;
    });
    expect(await endedRun(run?.id)).toMatchObject({ state: "succeeded", trigger: "immediate", to: { tag } });
    await expectServed(tag);
  });

  test("the tracker's image is refused for a source without one, by the API and in the form", async () => {
    const answer = await api.request("PATCH", `/executors/${executor}`, { image_selection: "use_tracker" });
    expect(answer).toMatchObject({ status: 422, body: { error: { fields: { image_selection: expect.any(String) } } } });
    await person.go(`/executors/${executor}/edit`);
    await person.openFolds();
    await page.selectOption("[name='image_selection']", "use_tracker");
    await page.click(".form-actions .btn.main");
    const error = page.locator("#f-image_selection-error");
    await error.waitFor();
    expect(await error.textContent()).toContain('choose "Replace current image tag"');
  });
});
