import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chromiumMissing } from "../peers/chromium.ts";
import { openBrowser, type Person, usualWhileAway } from "../support/browser-person.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, apiClient, firstSignIn, testPassword } from "../support/server.ts";
import { addWebExecutor, addWebTracker, type Story, startStory, storyMissing } from "../support/story.ts";

const healthy = { healthcheck: { Test: ["CMD", "/bin/true"], Interval: 2e9, Timeout: 2e9, Retries: 3 } } as const;

peerSuite("an update that somebody has to approve", storyMissing() ?? chromiumMissing(), () => {
  let world: Story;
  let api: ApiClient;
  let first: Person;
  let executor = "";

  const optionsOf = ({ width, theme, locale }: (typeof looks)[number]) => ({
    viewport: { width, height: 900 },
    colorScheme: theme,
    locale,
  });
  const open = (look: (typeof looks)[number]) => first.stranger(optionsOf(look));
  const looks = [
    { width: 1280, theme: "light", locale: "en-GB" },
    { width: 390, theme: "dark", locale: "en-GB" },
    { width: 1280, theme: "dark", locale: "zh-CN" },
    { width: 390, theme: "light", locale: "zh-CN" },
  ] as const;
  /** Shows the page in each look; nothing of it may be wider than the window. */
  const lookAt = async (name: string, path: string, isSignedIn: boolean) => {
    for (const look of looks) {
      await using person = await (isSignedIn ? first.elsewhere(optionsOf(look)) : open(look));
      await person.go(path);
      expect(person.page.url()).toBe(person.at(path));
      expect([name, look.width, look.locale, await person.excess()]).toEqual([name, look.width, look.locale, 0]);
      await person.photograph(`${name}-${look.width}-${look.theme}-${look.locale}`);
    }
  };
  const publish = async (tag: string) => {
    const before = world.receiver.of("executor_run_awaiting_approval").length;
    await world.push(tag, healthy);
    await api.post("/trackers/web/checks");
    const message = await eventually(`the message about ${tag}`, () =>
      world.receiver.of("executor_run_awaiting_approval").at(before),
    );
    return { body: message.body, url: String(message.body.url), run: String(message.body.run) };
  };
  const ended = (run: string) =>
    eventually("the run to end", async () => {
      const { body } = await api.get(`/runs/${run}`);
      return body.ended_at === null || body.ended_at === undefined ? null : body;
    });

  beforeAll(async () => {
    world = await startStory();
    first = await openBrowser(() => world.server.url, { usual: usualWhileAway });
    api = await firstSignIn(world.server);
    await api.request("PATCH", "/settings", { base_url: world.server.url });
    await api.post("/notifiers", {
      name: "hook",
      url: world.receiver.url,
      language: "en",
      trigger_events: ["executor_run_awaiting_approval", "executor_run_succeeded", "executor_run_skipped"],
    });
    await first.signIn();
    await addWebTracker(world, api);
    ({ executor } = await addWebExecutor(world, api, {
      trigger: "immediate",
      requires_approval: true,
      health_check: { strategy: "native", initial_delay_seconds: 0, probe_interval_seconds: 1 },
    }));
    await eventually("the first check", async () => {
      const { items } = (await api.get("/trackers/web/releases")).body as { items: unknown[] };
      return items.length > 0;
    });
  }, 240_000);
  afterAll(async () => {
    await first?.close();
    await world?.stop();
  }, 120_000);

  test("is approved by whoever has the link of the message, without signing in, once", async () => {
    const { body, url, run } = await publish("1.1.0");
    expect(body).toMatchObject({ executor: "web", target: "web", link: `${world.server.url}/runs/${run}` });
    expect(url).toMatch(new RegExp(`^${world.server.url}/approvals/${run}/[\\w-]{43}$`));
    expect(String(body.text)).toContain(url);
    // A program that shows previews asks first.
    for (let times = 0; times < 3; times += 1) expect((await fetch(url)).status).toBe(200);
    await lookAt("link", new URL(url).pathname, false);
    await lookAt("overview", "/", true);
    await lookAt("run", `/runs/${run}`, true);
    await lookAt("question", `/runs/${run}/approve`, true);
    await lookAt("executor", `/executors/${executor}`, true);
    await lookAt("executors", "/executors", true);
    expect(await world.serves()).toBe("1.0.0");
    expect((await api.get(`/runs/${run}`)).body).toMatchObject({ state: "pending", approval: "awaiting" });

    await using reader = await open(looks[0]);
    const { page } = reader;
    await page.goto(url);
    await reader.button("Approve and update").click();
    await page.getByText("Approved the update of").waitFor();
    expect(await ended(run)).toMatchObject({ state: "succeeded", approval: "approved", serving: "desired" });
    expect(await world.serves()).toBe("1.1.0");
    await eventually("the message of its end", async () => world.receiver.of("executor_run_succeeded").length === 1);
    expect((await fetch(url)).status).toBe(404);
    await page.goto(url);
    expect(await page.textContent("h1")).toBe("This link is no longer valid");
    await lookAt("gone", new URL(url).pathname, false);
    await lookAt("ended", `/runs/${run}`, true);

    // What was sent is written down nowhere: not in the database, its log of writes, or ours.
    const token = url.split("/").at(-1) ?? "";
    for (const name of readdirSync(world.server.data_dir).filter((each) => each.includes(".db"))) {
      expect(readFileSync(join(world.server.data_dir, name)).includes(token)).toBe(false);
    }
    expect(world.server.lines.join("\n")).not.toContain(token);
    for (const path of [`/runs/${run}`, "/events?limit=100", "/audit-entries?limit=100", "/notifiers"]) {
      expect(JSON.stringify((await api.get(path)).body)).not.toContain(token);
    }
  }, 400_000);

  test("is refused in the browser of the administrator, beside its plan", async () => {
    const { run, url } = await publish("1.2.0");
    await using person = await open(looks[0]);
    const { page } = person;
    await person.signIn();
    await page.getByText("1 update needs approval").waitFor();
    await person.go(`/runs/${run}`);
    await page.getByRole("link", { name: "Refuse" }).click();
    await page.locator("#dialog").getByRole("button", { name: "Refuse the update" }).click();
    await page.locator(".state", { hasText: "Skipped, not approved" }).first().waitFor();
    expect(await ended(run)).toMatchObject({ state: "skipped", reason_code: "not_approved" });
    expect((await fetch(url)).status).toBe(404);
    expect(await world.serves()).toBe("1.1.0");
    expect(first.complaints).toEqual([]);
  }, 240_000);

  test("survives a restart of the service, and is then approved by the API", async () => {
    const { run, url } = await publish("1.3.0");
    await world.server.kill("SIGKILL");
    const port = new URL(world.server.url).port;
    await world.restartServer();
    api = apiClient(world.server.url);
    const session = await api.post("/session", { username: "admin", password: testPassword });
    api.token = String(session.body.token);
    const moved = url.replace(`:${port}/`, `:${new URL(world.server.url).port}/`);
    expect((await fetch(moved)).status).toBe(200);
    const { body } = await api.get(`/runs/${run}`);
    expect(body).toMatchObject({ state: "pending", approval: "awaiting" });
    expect((await api.post(`/runs/${run}/approvals`, { plan_hash: body.plan_hash })).status).toBe(200);
    expect(await ended(run)).toMatchObject({ state: "succeeded" });
    expect(await world.serves()).toBe("1.3.0");
  }, 240_000);
});
