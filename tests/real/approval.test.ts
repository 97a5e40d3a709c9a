import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { chromiumMissing, startChromium } from "../peers/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, apiClient, firstSignIn, testPassword } from "../support/server.ts";
import { type Story, startStory, storyMissing } from "../support/story.ts";

const healthy = { healthcheck: { Test: ["CMD", "/bin/true"], Interval: 5e8, Timeout: 2e9, Retries: 3 } } as const;
/** Where pictures of the pages are put to look at; none are taken without it. */
const pictures = process.env.TIDEMARK_PICTURES ?? "";

peerSuite("an update that somebody has to approve", storyMissing() ?? chromiumMissing(), () => {
  let world: Story;
  let api: ApiClient;
  let browser: Browser;
  let executor = "";
  const complaints: string[] = [];

  const open = async (look: { width: number; theme: "light" | "dark"; locale: string }): Promise<Page> => {
    const context = await browser.newContext({
      viewport: { width: look.width, height: 900 },
      colorScheme: look.theme,
      locale: look.locale,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("console", (message) => {
      const isUsual = /^Failed to load resource|net::ERR_/;
      if (message.type() === "error" && !isUsual.test(message.text())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    return page;
  };
  const looks = [
    { width: 1280, theme: "light", locale: "en-GB" },
    { width: 390, theme: "dark", locale: "en-GB" },
    { width: 1280, theme: "dark", locale: "zh-CN" },
    { width: 390, theme: "light", locale: "zh-CN" },
  ] as const;
  /** Shows the page in each look; nothing of it may be wider than the window. */
  const lookAt = async (name: string, address: string, isSignedIn: boolean) => {
    for (const look of looks) {
      const page = await open(look);
      if (isSignedIn) await signIn(page);
      await page.goto(address);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect([name, look.width, look.locale, overflow]).toEqual([name, look.width, look.locale, 0]);
      if (pictures !== "") {
        mkdirSync(pictures, { recursive: true });
        const path = join(pictures, `${name}-${look.width}-${look.theme}-${look.locale}.png`);
        await page.screenshot({ path, fullPage: true });
      }
      await page.context().close();
    }
  };
  const signIn = async (page: Page) => {
    await page.goto(`${world.server.url}/login`);
    await page.locator('[name="username"]').fill("admin");
    await page.locator('[name="password"]').fill(testPassword);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${world.server.url}/`);
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
    browser = await startChromium();
    api = await firstSignIn(world.server);
    await api.request("PATCH", "/settings", { base_url: world.server.url });
    const credential = await api.post("/credentials", {
      name: "registry",
      kind: "oci",
      secret: { username: "ci", password: "reg-pass" },
    });
    const connection = await api.post("/runtime-connections", {
      name: "lab",
      kind: "docker",
      config: { address: `unix://${world.engine.socket}` },
    });
    await api.post("/notifiers", {
      name: "hook",
      url: world.receiver.url,
      language: "en",
      trigger_events: ["executor_run_awaiting_approval", "executor_run_succeeded", "executor_run_skipped"],
    });
    await api.post("/trackers", {
      name: "web",
      sorting: "semantic",
      sources: [
        {
          key: "registry",
          kind: "oci",
          config: { image: world.repository, registry: world.registry.url },
          credential_id: credential.body.id,
          channels: [{ type: "stable" }],
        },
      ],
    });
    const created = await api.post("/executors", {
      name: "web",
      connection_id: connection.body.id,
      target: { kind: "container", id: "web" },
      bindings: [{ tracker: "web", source: "registry", channel: "stable" }],
      trigger: "immediate",
      requires_approval: true,
      health_check: { strategy: "native", initial_delay_seconds: 0, probe_interval_seconds: 1 },
    });
    expect(created.status).toBe(201);
    executor = String(created.body.id);
    await eventually("the first check", async () => {
      const { items } = (await api.get("/trackers/web/releases")).body as { items: unknown[] };
      return items.length > 0;
    });
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  }, 120_000);

  test("is approved by whoever has the link of the message, without signing in, once", async () => {
    const { body, url, run } = await publish("1.1.0");
    expect(body).toMatchObject({ executor: "web", target: "web", link: `${world.server.url}/runs/${run}` });
    expect(url).toMatch(new RegExp(`^${world.server.url}/approvals/${run}/[\\w-]{43}$`));
    expect(String(body.text)).toContain(url);
    // A program that shows previews asks first.
    for (let times = 0; times < 3; times += 1) expect((await fetch(url)).status).toBe(200);
    await lookAt("link", url, false);
    await lookAt("overview", `${world.server.url}/`, true);
    await lookAt("run", `${world.server.url}/runs/${run}`, true);
    await lookAt("question", `${world.server.url}/runs/${run}/approve`, true);
    await lookAt("executor", `${world.server.url}/executors/${executor}`, true);
    await lookAt("executors", `${world.server.url}/executors`, true);
    expect(await world.serves()).toBe("1.0.0");
    expect((await api.get(`/runs/${run}`)).body).toMatchObject({ state: "pending", approval: "awaiting" });

    const page = await open(looks[0]);
    await page.goto(url);
    await page.getByRole("button", { name: "Approve and update" }).click();
    await page.getByText("Approved the update of").waitFor();
    expect(await ended(run)).toMatchObject({ state: "succeeded", approval: "approved", serving: "desired" });
    expect(await world.serves()).toBe("1.1.0");
    await eventually("the message of its end", async () => world.receiver.of("executor_run_succeeded").length === 1);
    expect((await fetch(url)).status).toBe(404);
    await page.goto(url);
    expect(await page.textContent("h1")).toBe("This link is no longer valid");
    await lookAt("gone", url, false);
    await lookAt("ended", `${world.server.url}/runs/${run}`, true);

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
    const page = await open(looks[0]);
    await signIn(page);
    await page.getByText("1 update needs approval").waitFor();
    await page.goto(`${world.server.url}/runs/${run}`);
    await page.getByRole("link", { name: "Refuse" }).click();
    await page.locator("#dialog").getByRole("button", { name: "Refuse the update" }).click();
    await page.locator(".state", { hasText: "Skipped, not approved" }).first().waitFor();
    expect(await ended(run)).toMatchObject({ state: "skipped", reason_code: "not_approved" });
    expect((await fetch(url)).status).toBe(404);
    expect(await world.serves()).toBe("1.1.0");
    expect(complaints).toEqual([]);
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
