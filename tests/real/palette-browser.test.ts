import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { browsedApp } from "../support/browsed-app.ts";
import { peerSuite } from "../support/peer.ts";
import { seedRows } from "../support/seeded-rows.ts";
import { type TestApp, testApp } from "../support/test-app.ts";

setDefaultTimeout(120_000);

peerSuite("the palette in Chromium, by keyboard alone", chromiumMissing(), () => {
  let app: TestApp;
  let browsed: Awaited<ReturnType<typeof browsedApp>>;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    app = await testApp();
    await app.signedIn();
    const size = { trackers: 3, releases_each: 2, executors: 3, runs_each: 1 };
    await app.db.write((tx) => seedRows(tx, size, app.clock.now()));
    browsed = await browsedApp(app);
    page = browsed.page;
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("Cross-Origin-Opener-Policy")) {
        complaints.push(message.text());
      }
    });
    page.on("pageerror", (error) => complaints.push(error.message));
  });
  afterAll(async () => {
    await browsed?.close();
    await app?.close();
  });

  const isOpen = () => page.locator("#palette").evaluate((dialog: HTMLDialogElement) => dialog.open);
  const chosen = () => page.locator("#palette [aria-selected=true]").textContent();
  const type = async (query: string, first: string) => {
    await page.keyboard.press("Control+k");
    await page.locator("#palette [role=option]").first().waitFor();
    await page.keyboard.type(query);
    await page.locator(`#palette [data-query="${query}"] [aria-selected=true]`, { hasText: first }).waitFor();
  };

  test("opens and closes with the same keys, and gives the focus back", async () => {
    await page.goto("/trackers");
    await page.locator("main input[type=search]").focus();
    await page.keyboard.press("Control+k");
    await page.locator("#palette [aria-selected=true]").waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("role"))).toBe("combobox");
    await page.keyboard.press("Control+k");
    expect(await isOpen()).toBe(false);
    expect(await page.evaluate(() => document.activeElement?.closest("main") !== null)).toBe(true);
  });

  test("points at its entries with the arrows, around the ends, and tells how many there are", async () => {
    await type("", "Add tracker");
    await page.keyboard.press("ArrowDown");
    expect(await chosen()).toBe("Add executor");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    expect(await chosen()).toContain("Go to");
    const box = page.locator("#palette [role=combobox]");
    const active = (await box.getAttribute("aria-activedescendant")) ?? "";
    expect(await page.locator(`#${active}`).getAttribute("aria-selected")).toBe("true");
    const count = await page.locator("#palette [role=option]").count();
    expect(await page.locator("#palette-count").textContent()).toBe(`${count} results`);
  });

  test("axe finds nothing in it, in both themes, and it fits a phone", async () => {
    await page.evaluate(axe.source);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const found = await page.evaluate(async () => {
        const { axe: here } = globalThis as unknown as { axe: typeof axe };
        const { violations } = await here.run("#palette");
        return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.target.join(" ")}`);
      });
      expect(found).toEqual([]);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    const box = await page.locator("#palette").boundingBox();
    expect(Math.round((box?.x ?? -1) + (box?.width ?? 0))).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.keyboard.press("Escape");
    expect(await isOpen()).toBe(false);
  });

  test("goes to a thing that it finds", async () => {
    await type("app-0001", "app-0001");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname.startsWith("/executors/"));
  });

  test("checks a tracker by the form of its button", async () => {
    await type("check app-0002", "Check now");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname === "/trackers/app-0002");
    expect(await page.locator("#toasts").textContent()).toContain("app-0002");
  });

  test("opens with its entries before htmx has got to the page", async () => {
    const early = await browsed.context.newPage();
    // htmx leaves its first look at the page to a timer of no delay.
    await early.addInitScript(() => {
      const later = window.setTimeout.bind(window);
      const hold = (run: TimerHandler, delay?: number, ...rest: unknown[]) =>
        delay === undefined ? 0 : later(run, delay, ...rest);
      Object.assign(window, { setTimeout: hold });
    });
    await early.goto("/trackers");
    expect(await early.locator("[data-htmx-powered]").count()).toBe(0);
    await early.keyboard.press("Control+k");
    await early.locator("#palette [role=option][aria-selected=true]").waitFor();
    await early.close();
  });

  test("switches the theme and stays on the page", async () => {
    await page.goto("/runs");
    await type("dark", "Use the dark theme");
    await page.keyboard.press("Enter");
    await page.locator("html[data-theme=dark]").waitFor();
    expect(new URL(page.url()).pathname).toBe("/runs");
  });

  test("keeps no entry that the text does not find", async () => {
    await page.goto("/runs");
    await type("light", "Use the light theme");
    await page.keyboard.type(" xyz");
    await page.locator("#palette-count", { hasText: "No results" }).waitFor();
    expect(await page.locator("#palette [role=option]").count()).toBe(0);
    expect(await page.locator("#palette [role=combobox]").getAttribute("aria-activedescendant")).toBeNull();
  });

  test("acts on no entry before the text is answered, but searches for it", async () => {
    await page.goto("/runs");
    await type("light", "Use the light theme");
    const held = Promise.withResolvers<void>();
    await page.route("**/search/palette?*", async (route) => {
      await held.promise;
      await route.continue().catch(() => undefined);
    });
    await page.keyboard.type(" xyz");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname === "/search" && url.searchParams.get("q") === "light xyz");
    held.resolve();
    await page.unroute("**/search/palette?*");
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
  });

  test("breaks no policy, and no script failed", () => {
    expect(complaints).toEqual([]);
  });
});
