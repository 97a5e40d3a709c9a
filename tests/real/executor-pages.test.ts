import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, checkUntil, firstSignIn } from "../support/server.ts";
import { addWebTracker, type Story, startStory, storyMissing } from "../support/story.ts";

setDefaultTimeout(180_000);

const missing = storyMissing() ?? chromiumMissing();

peerSuite("connections, executors and runs in Chromium on a real engine", missing, () => {
  let world: Story;
  let person: Person;
  let page: Page;
  let api: ApiClient;

  beforeAll(async () => {
    world = await startStory();
    api = await firstSignIn(world.server);
    await addWebTracker(world, api);
    person = await openBrowser(() => world.server.url);
    ({ page } = person);
    await person.signIn();
  });

  afterAll(async () => {
    await person?.close();
    await world?.stop();
  });

  /** Pushes a version and lets the tracker find it. */
  async function release(tag: string, options: Parameters<Story["push"]>[1] = {}): Promise<void> {
    await world.push(tag, options);
    await checkUntil(api, "web", tag);
  }

  test("a connection is stored, tested and shows the engine's targets without another click", async () => {
    await person.go("/connections");
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
    await person.openFolds();
    await page.waitForSelector("#resulting-reference >> text=:1.1.0");
    await page.selectOption("[name='reference_mode']", "digest");
    await page.waitForSelector("#resulting-reference >> text=@sha256:");
    await page.selectOption("[name='reference_mode']", "tag");
    await page.selectOption("[name='health_check.strategy']", "disabled");
    await page.waitForSelector("[name='health_check.on_failure']", { state: "detached" });
    await page.click("text=Add and run now");
    // No reload from here on: the stream brings every step, and ends with the run.
    await person.untilRunEnds("Succeeded");
    expect(await page.locator(".steps .step:not(.done)").count()).toBe(0);
    expect(await page.textContent(".steps")).toContain("Previous container removed");
    expect(await page.textContent("#run-plan")).toContain("1.1.0");
    expect(await world.serves()).toBe("1.1.0");
  });

  test("running by hand shows the plan first; a version that ends is put back, and the page says so", async () => {
    const executor = (await page.getAttribute("#run-actions > a:last-child", "href")) ?? "";
    await person.go(`${executor}/edit`);
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
    expect(await person.openPlan()).toContain("1.2.0");
    await page.waitForSelector("dialog[open] .diff >> text=Image");
    await person.confirm();
    await person.untilRunEnds("Failed");
    expect(await page.textContent("#run-banner")).toContain("The previous version is running again");
    // The engine may have restarted it before it was looked at for the first time, and it may run again at that moment.
    expect(await page.textContent(".steps")).toMatch(/Container exited \(code 3\)|The engine restarted it/);
    expect(await world.serves()).toBe("1.1.0");
  });

  test("a snapshot leads back after a question", async () => {
    const executor = (await page.getAttribute("#run-actions > a:last-child", "href")) ?? "";
    await person.go(executor);
    // The oldest: saved before the first update.
    await page.locator("#snapshots tbody tr").last().locator("text=Roll back").click();
    await page.waitForSelector("dialog[open] >> text=Data in volumes is not rolled back");
    await person.confirm();
    await person.untilRunEnds("Rolled back");
    expect(await world.serves()).toBe("1.0.0");
  });

  test("no page is wider than a phone or a desk, in either language", async () => {
    const run = new URL(page.url()).pathname;
    const executor = (await page.getAttribute("#run-actions > a:last-child", "href")) ?? "";
    const paths = ["/connections", "/connections/new", "/executors", executor, `${executor}/edit`, "/runs", run];
    await person.expectFit(paths, [390, 1280]);
  });

  test("nothing was refused by the content security policy, and no script failed", () => {
    expect(person.complaints).toEqual([]);
  });
});
