import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { chromiumMissing, startChromium } from "../peers/chromium.ts";
import { account } from "../peers/registry.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { testPassword } from "../support/server.ts";
import { type Story, startStory, storyMissing } from "../support/story.ts";

setDefaultTimeout(180_000);

const missing = storyMissing() ?? chromiumMissing();

peerSuite("acting on updates where they are shown, in Chromium on a real engine", missing, () => {
  let world: Story;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let token = "";
  let id = "";
  const complaints: string[] = [];

  const go = (path: string, on = page) => on.goto(`${world.server.url}${path}`);
  const row = (on = page) => on.locator(`#executor-${id}`);
  const menu = (on = page) => on.locator(`#actions-${id} > summary`);

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
  const executor = () => api("GET", `/executors/${id}`);
  const isState = (state: string) =>
    eventually(`the executor is ${state}`, async () => ((await executor()).state === state ? true : null));

  beforeAll(async () => {
    world = await startStory();
    browser = await startChromium();
    context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB" });
    page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("console", (message) => {
      const isUsual = /^Failed to load resource|^The Cross-Origin-Opener-Policy header has been ignored/;
      if (message.type() === "error" && !isUsual.test(message.text())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
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
    token = String((await api("POST", "/session", { username: "admin", password: testPassword })).token);
    const credential = await api("POST", "/credentials", { name: "registry", kind: "oci", secret: { ...account } });
    const channels = [{ type: "stable", include_pattern: "^\\d+\\.\\d+\\.\\d+$" }];
    const config = { image: world.repository, registry: world.registry.url };
    await world.push("1.1.0");
    await api("POST", "/trackers", {
      name: "web",
      sources: [{ key: "image", kind: "oci", config, credential_id: credential.id, channels }],
    });
    await api("POST", "/trackers/web/checks");
    const connection = await api("POST", "/runtime-connections", {
      name: "nas",
      kind: "docker",
      config: { address: world.engine.address },
    });
    const made = await api("POST", "/executors", {
      name: "web",
      connection_id: connection.id,
      target: { kind: "container", id: "web" },
      bindings: [{ tracker: "web", source: "image", channel: "stable" }],
      trigger: "manual",
      health_check: { strategy: "disabled" },
    });
    id = String(made.id);
    await isState("update");
  });

  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });

  test("by mouse: skipped in its row, and taken back in the notice", async () => {
    await go("/executors");
    await menu().click();
    await row().getByText("Skip this version").click();
    await row().getByText("Version skipped").waitFor();
    expect((await executor()).is_version_skipped).toBe(true);
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await row().getByText("Update available").waitFor();
    expect((await executor()).is_version_skipped).toBe(false);
  });

  test("on the overview the row goes, and comes back", async () => {
    await go("/");
    await menu().click();
    await page.locator(`#need-${id}`).getByText("Snooze for 1 week").click();
    await page.locator(`#need-${id}`).waitFor({ state: "detached" });
    expect((await executor()).state).toBe("snoozed");
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await page.locator(`#need-${id}`).waitFor();
  });

  test("by keyboard alone: it goes on from the row", async () => {
    await go("/executors");
    await menu().focus();
    await page.keyboard.press("Enter");
    // Past skipping: the entries follow the menu.
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await row().getByText("Snoozed until").waitFor();
    await page.waitForFunction((row) => document.activeElement?.closest("tr")?.id === row, `executor-${id}`);
    await row().getByRole("button", { name: "End snooze" }).first().focus();
    await page.keyboard.press("Enter");
    await row().getByText("Update available").waitFor();
    await page.waitForFunction((row) => document.activeElement?.closest("tr")?.id === row, `executor-${id}`);
  });

  test("at 390 px everything is in the menu, and nothing sticks out", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await go("/executors");
    expect(await row().getByRole("link", { name: "Update", exact: true }).count()).toBe(0);
    await menu().click();
    await row().locator(".menu-list").getByText("Update", { exact: true }).waitFor();
    const excess = () =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(await excess()).toBe(0);
    await row().locator(".menu-list").getByText("Update", { exact: true }).click();
    await page.locator("#dialog").getByText("Run web now?").waitFor();
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test("without script: a page with the notice, and its undo", async () => {
    const plain = await browser.newContext({
      javaScriptEnabled: false,
      storageState: await context.storageState(),
      locale: "en-GB",
    });
    const bare = await plain.newPage();
    await go("/executors?state=update", bare);
    await menu(bare).click();
    await row(bare).getByText("Skip this version").click();
    await bare.waitForURL("**/executors?state=update");
    await bare.locator(".toast").getByText("Skipped this version of web").waitFor();
    expect(await row(bare).count()).toBe(0);
    await bare.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await row(bare).waitFor();
    await plain.close();
  });

  test("a hold keeps the engine from being touched, until updates are resumed on the executor's page", async () => {
    await api("POST", `/executors/${id}/actions`, { action: "hold" });
    await api("PATCH", `/executors/${id}`, { trigger: "immediate" });
    await world.push("1.2.0");
    await api("POST", "/trackers/web/checks");
    await eventually("the new version is seen", async () =>
      String((await executor()).update_revision) !== "null" &&
      JSON.stringify((await executor()).services).includes("1.2.0")
        ? true
        : null,
    );
    const { items } = (await api("GET", `/executors/${id}/runs`)) as unknown as { items: unknown[] };
    expect(items).toEqual([]);
    await go(`/executors/${id}`);
    await page.getByText("Updates on hold since").waitFor();
    await page.locator(".banner").getByRole("button", { name: "Resume updates" }).click();
    await page.locator(".toast").getByText("Resumed updates of web").waitFor();
    await eventually("the version runs", async () => ((await world.serves()) === "1.2.0" ? true : null));
    expect(complaints).toEqual([]);
  });
});
