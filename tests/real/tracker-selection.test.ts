import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { asc } from "drizzle-orm";
import type { BrowserContextOptions } from "playwright-core";
import { trackers } from "../../src/db/tables.ts";
import { chromiumMissing } from "../peers/chromium.ts";
import { browsedApp } from "../support/browsed-app.ts";
import { peerSuite } from "../support/peer.ts";
import { seedRows } from "../support/seeded-rows.ts";
import { type TestApp, testApp } from "../support/test-app.ts";

setDefaultTimeout(120_000);

peerSuite("acting on several trackers, in Chromium", chromiumMissing(), () => {
  let app: TestApp;
  let browsed: Awaited<ReturnType<typeof browsedApp>>;

  /** Three trackers, the first of which an executor follows. */
  const open = async (options: BrowserContextOptions) => {
    app = await testApp();
    await app.signedIn();
    const size = { trackers: 3, releases_each: 1, executors: 1, runs_each: 1 };
    await app.db.write((tx) => seedRows(tx, size, app.clock.now()));
    browsed = await browsedApp(app, options);
    return browsed.page;
  };
  afterEach(async () => {
    await browsed?.close();
    await app?.close();
  });
  const stored = async () => await app.db.read.select().from(trackers).orderBy(asc(trackers.name));

  test("by keyboard, what is selected stays so while the list is drawn again", async () => {
    const page = await open({ viewport: { width: 1280, height: 900 } });
    await page.goto("/trackers");
    const bar = page.locator(".selection-bar");
    expect(await bar.isVisible()).toBe(false);
    for (const name of ["app-0001", "app-0002"]) {
      await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).focus();
      await page.keyboard.press("Space");
    }
    await bar.waitFor();
    await page.getByRole("button", { name: "Check app-0000 now", exact: true }).click();
    // Comes with the list.
    await page.locator(".toast").first().waitFor();
    expect(await page.locator("input.choice:checked").count()).toBe(2);
    await page.getByRole("checkbox", { name: "Select app-0002", exact: true }).focus();
    // Sends the selection with its first button.
    await page.keyboard.press("Enter");
    await page.locator(".toast").getByText("Checking 2 trackers").waitFor();
    expect(await page.locator("input.choice:checked").count()).toBe(0);
  });

  test("checks of several rows pressed at once are all sent, each once and only its own button waits", async () => {
    const page = await open({ viewport: { width: 1280, height: 900 } });
    await page.goto("/trackers");
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const sent: string[] = [];
    await page.route("**/trackers/*/checks", async (route) => {
      sent.push(new URL(route.request().url()).pathname);
      await answered;
      await route.continue();
    });
    const button = (name: string) => page.getByRole("button", { name: `Check ${name} now`, exact: true });
    for (const name of ["app-0000", "app-0001", "app-0000", "app-0002", "app-0001"]) await button(name).press("Enter");
    const waiting = page.locator("tbody button[aria-busy]");
    expect(await waiting.count()).toBe(3);
    answer();
    await page.waitForFunction(() => document.querySelector("[data-busy], [aria-busy]") === null);
    expect(sent).toEqual(["app-0000", "app-0001", "app-0002"].map((name) => `/trackers/${name}/checks`));
  });

  test("without script a row's own check is sent too", async () => {
    const page = await open({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
    await page.goto("/trackers");
    await page.getByRole("button", { name: "Check app-0001 now", exact: true }).click();
    await page.locator(".toast").getByText("app-0001").waitFor();
    expect(new URL(page.url()).pathname).toBe("/trackers");
  });

  test("without script on a phone: disabled, taken back, and deleted after one question", async () => {
    const page = await open({ viewport: { width: 390, height: 844 }, javaScriptEnabled: false });
    await page.goto("/trackers?select=all");
    const bar = page.locator(".selection-bar");
    await bar.getByRole("button", { name: "Disable", exact: true }).click();
    await page.locator(".toast").getByText("Disabled 3 trackers").waitFor();
    expect((await stored()).map(({ is_enabled }) => is_enabled)).toEqual([false, false, false]);
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await page.locator(".toast").getByText("Enabled 3 trackers").waitFor();
    await page.goto("/trackers?select=all");
    await bar.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("heading", { name: "Delete 2 trackers?" }).waitFor();
    await page.getByRole("heading", { name: "1 tracker is left out" }).waitFor();
    await page.getByRole("button", { name: "Delete trackers" }).click();
    await page.locator(".toast").getByText("Deleted 2 trackers").waitFor();
    expect((await stored()).map(({ name }) => name)).toEqual(["app-0000"]);
  });
});
