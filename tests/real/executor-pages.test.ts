import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { chromiumMissing, startChromium } from "../peers/chromium.ts";
import { account } from "../peers/registry.ts";
import { openFolds } from "../support/folds.ts";
import { peerSuite } from "../support/peer.ts";
import { testPassword } from "../support/server.ts";
import { type Story, startStory, storyMissing } from "../support/story.ts";

setDefaultTimeout(180_000);

const missing = storyMissing() ?? chromiumMissing();

peerSuite("connections, executors and runs in Chromium on a real engine", missing, () => {
  let world: Story;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    world = await startStory();
    browser = await startChromium();
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB" });
    page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("console", (message) => {
      const isUsual = /^Failed to load resource|^The Cross-Origin-Opener-Policy header has been ignored/;
      if (message.type() === "error" && !isUsual.test(message.text())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    await signIn();
    await addTracker();
  });

  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });

  async function signIn(): Promise<void> {
    const password = world.server.bootstrapPassword() ?? "";
    await go("/login");
    await page.fill("#f-username", "admin");
    await page.fill("#f-password", password);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/account/password");
    await page.fill("#f-current_password", password);
    await page.fill("#f-new_password", testPassword);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => !url.pathname.startsWith("/account"));
  }

  let token = "";
  async function api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await fetch(`${world.server.url}/api${path}`, {
      method,
      headers: { "content-type": "application/json", ...(token === "" ? {} : { authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
    return text === "" ? {} : JSON.parse(text);
  }

  async function addTracker(): Promise<void> {
    token = String((await api("POST", "/session", { username: "admin", password: testPassword })).token);
    const credential = await api("POST", "/credentials", { name: "registry", kind: "oci", secret: { ...account } });
    await api("POST", "/trackers", {
      name: "web",
      sources: [
        {
          key: "image",
          kind: "oci",
          config: { image: world.repository, registry: world.registry.url },
          credential_id: credential.id,
          channels: [{ type: "stable", include_pattern: "^\\d+\\.\\d+\\.\\d+$" }],
        },
      ],
    });
  }

  const go = (path: string) => page.goto(`${world.server.url}${path}`);
  const excess = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  /** Pushes a version and lets the tracker find it. */
  async function release(tag: string, options: Parameters<Story["push"]>[1] = {}): Promise<void> {
    await world.push(tag, options);
    await api("POST", "/trackers/web/checks");
    await page.waitForFunction(
      async ([url, bearer, version]) => {
        const answer = await fetch(`${url}/api/trackers/web/releases?limit=5`, {
          headers: { authorization: `Bearer ${bearer}` },
        });
        return (await answer.text()).includes(`"tag":"${version}"`);
      },
      [world.server.url, token, tag] as const,
    );
  }

  test("a connection is stored, tested and shows the engine's targets without another click", async () => {
    await go("/connections");
    await page.click("text=Add connection");
    await page.fill("#f-name", "nas");
    await page.fill("#f-config-address", world.engine.address);
    await page.click(".form-actions .btn.main");
    // A new connection leads to what can be adopted there; its own page is above that.
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}\/adopt$/);
    await page.click("main .parent");
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}$/);
    expect(await page.textContent("#connection-state")).toBe("Connected");
    await page.waitForSelector("#targets tbody tr >> text=web");
    await page.click("#connection-check button");
    await page.waitForSelector(".toast >> text=Connected to nas");
    expect(await page.locator("#connection-check").count()).toBe(1);
  });

  test("the form shows the image that would result, and saving and running leads to a live page", async () => {
    await release("1.1.0");
    await page.click("#targets >> text=Add executor");
    await page.waitForURL("**/executors/new?**");
    // The tracker that watches this very image, and its channel, are proposed.
    expect(await page.inputValue("[name='bindings.0.tracker']")).toBe("web");
    expect(await page.inputValue("[name='bindings.0.channel']")).toBe("stable");
    await openFolds(page);
    await page.waitForSelector("#resulting-reference >> text=:1.1.0");
    await page.selectOption("[name='reference_mode']", "digest");
    await page.waitForSelector("#resulting-reference >> text=@sha256:");
    await page.selectOption("[name='reference_mode']", "tag");
    await page.selectOption("[name='health_check.strategy']", "disabled");
    await page.waitForSelector("[name='health_check.on_failure']", { state: "detached" });
    await page.click("text=Add and run now");
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    // No reload from here on: the stream brings every step, and ends with the run.
    await page.waitForSelector("#run-live:not([data-poll])", { state: "attached" });
    expect(await page.textContent("#run-state")).toBe("Succeeded");
    expect(await page.locator(".steps .step:not(.done)").count()).toBe(0);
    expect(await page.textContent(".steps")).toContain("Previous container removed");
    expect(await page.textContent("#run-plan")).toContain("1.1.0");
    expect(await world.serves()).toBe("1.1.0");
  });

  test("running by hand shows the plan first; a version that ends is put back, and the page says so", async () => {
    const executor = (await page.getAttribute("#run-facts a", "href")) ?? "";
    await go(`${executor}/edit`);
    await page.locator("#f-health_check > summary").click();
    await page.selectOption("[name='health_check.strategy']", "native");
    const advanced = page.locator("#f-health_check details.advanced");
    await advanced.locator("summary").click();
    // What somebody opened stays open when the form is drawn again.
    await page.selectOption("[name='trigger']", "window");
    await page.waitForSelector("[name='window.start']");
    await page.selectOption("[name='trigger']", "manual");
    await page.waitForSelector("[name='window.start']", { state: "detached" });
    await page.fill("[name='health_check.initial_delay_seconds']", "99999");
    // A part with an error in it is open, also one that was folded.
    await advanced.locator("summary").click();
    await page.click(".form-actions .btn.main");
    await page.waitForSelector("#f-health_check-initial_delay_seconds-error");
    await page.fill("[name='health_check.initial_delay_seconds']", "1");
    await page.click(".form-actions .btn.main");
    await page.waitForURL(`**${executor}`);
    await release("1.2.0", { cmd: ["/bin/sh", "-c", "exit 3"] });
    await page.click("a[href$='/run']");
    await page.waitForSelector("dialog[open] .diff >> text=Image");
    expect(await page.textContent("dialog[open]")).toContain("1.2.0");
    await page.click("dialog[open] button[type=submit]");
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    await page.waitForSelector("#run-live:not([data-poll])", { state: "attached" });
    expect(await page.textContent("#run-banner")).toContain("The previous version is running again");
    // The engine may have restarted it before it was looked at for the first time, and it may run again at that moment.
    expect(await page.textContent(".steps")).toMatch(/Container exited \(code 3\)|The engine restarted it/);
    expect(await world.serves()).toBe("1.1.0");
  });

  test("a snapshot leads back after a question", async () => {
    const executor = (await page.getAttribute("#run-facts a", "href")) ?? "";
    await go(executor);
    // The oldest: saved before the first update.
    await page.locator("#snapshots tbody tr").last().locator("text=Restore").click();
    await page.waitForSelector("dialog[open] >> text=Data in volumes is not rolled back");
    await page.click("dialog[open] button[type=submit]");
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    await page.waitForSelector("#run-live:not([data-poll])", { state: "attached" });
    expect(await page.textContent("#run-state")).toBe("Rolled back");
    expect(await world.serves()).toBe("1.0.0");
  });

  test("no page is wider than a phone or a desk, in either language", async () => {
    const run = new URL(page.url()).pathname;
    const executor = (await page.getAttribute("#run-facts a", "href")) ?? "";
    const paths = ["/connections", "/connections/new", "/executors", executor, `${executor}/edit`, "/runs", run];
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      for (const language of ["en", "zh"]) {
        await page.context().addCookies([{ name: "tidemark_language", value: language, url: world.server.url }]);
        for (const path of paths) {
          await go(path);
          expect([path, width, language, await excess()]).toEqual([path, width, language, 0]);
        }
      }
    }
  });

  test("nothing was refused by the content security policy, and no script failed", () => {
    expect(complaints).toEqual([]);
  });
});
