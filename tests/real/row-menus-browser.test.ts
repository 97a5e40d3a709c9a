import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { asc, eq } from "drizzle-orm";
import type { BrowserContextOptions, Page } from "playwright-core";
import { executors } from "../../src/db/tables.ts";
import { chromiumMissing } from "../peers/chromium.ts";
import { browsedApp } from "../support/browsed-app.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { digest } from "../support/run-world.ts";
import { seedRows } from "../support/seeded-rows.ts";
import { type TestApp, testApp } from "../support/test-app.ts";

setDefaultTimeout(120_000);

const names = ["app-0000", "app-0001", "app-0002"] as const;
type Name = (typeof names)[number];

peerSuite("the menus of rows, which share one form, in Chromium", chromiumMissing(), () => {
  let app: TestApp;
  let browsed: Awaited<ReturnType<typeof browsedApp>>;
  let ids: ReadonlyMap<string, string>;

  /** Three executors with an update. */
  const open = async (options: BrowserContextOptions = {}) => {
    app = await testApp();
    await app.signedIn();
    const now = app.clock.now();
    const found = { image: "app:1.0.0", image_id: "sha256:x", digest: digest("a"), platform: "linux/amd64" };
    const service = {
      ...{ service: "main", tracker: names[0], source: "registry", channel: "stable", difference: "other_version" },
      ...{ behind: null, unmet: null },
      found: { ...found, name: "main", containers: ["web"], state: "running", tag: "1.0.0" },
      desired: { version: "1.3.0", tag: "1.3.0", digest: digest("b"), reference: "app:1.3.0", published_at: null },
    } as const;
    const told = { unbound: [], problem: null, waiting: null, desired_revision: `main ${digest("b")}` };
    await app.db.write(async (tx) => {
      await seedRows(tx, { trackers: 3, releases_each: 1, executors: 3, runs_each: 1 }, now);
      const observed = { services: [service], ...told };
      await tx.update(executors).set({ observed, observed_at: now, next_evaluation_at: null, trigger: "immediate" });
    });
    const all = await app.db.read.select().from(executors).orderBy(asc(executors.name));
    ids = new Map(all.map(({ name, id }) => [name, id]));
    browsed = await browsedApp(app, { viewport: { width: 1280, height: 900 }, ...options });
    return browsed.page;
  };
  afterEach(async () => {
    await browsed?.close();
    await app?.close();
  });

  const menu = (page: Page, name: Name) => page.locator(`#actions-${ids.get(name)}`);
  const entry = (page: Page, name: Name, action: string) => menu(page, name).getByRole("button", { name: action });
  const press = async (page: Page, name: Name, action: string) => {
    await menu(page, name).locator("summary").press("Enter");
    await entry(page, name, action).press("Enter");
  };
  /** Nothing is answered before `answer`, or one request at a time with `answerOne`. */
  const holdBack = async (page: Page) => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const sent: string[] = [];
    const held: (() => void)[] = [];
    await page.route("**/executors/*/actions?*", async (route) => {
      const { pathname, search } = new URL(route.request().url());
      sent.push(`${[...ids].find(([, id]) => pathname.includes(id))?.[0]} ${search}`);
      await Promise.race([answered, new Promise<void>((release) => held.push(release))]);
      await route.continue();
    });
    const answerOne = async () => (await eventually("a request", async () => held.shift() ?? null))();
    return { sent, answer, answerOne };
  };
  const decided = async (name: Name) => {
    const [row] = await app.db.read.select().from(executors).where(eq(executors.name, name));
    return {
      held: row?.held_since !== null,
      snoozed: row?.snoozed_until !== null,
      skips: row?.skipped_versions.length,
    };
  };

  for (const path of ["/executors", "/"]) {
    test(`entries of several rows of ${path} pressed at once are all sent, each once and as it was pressed`, async () => {
      const page = await open();
      await page.goto(path);
      const { sent, answer } = await holdBack(page);
      await press(page, "app-0000", "Skip this version");
      // What the first answer changes in its row moves the entry that was pressed second.
      await entry(page, "app-0000", "Hold updates").press("Enter");
      await press(page, "app-0001", "Snooze for 1 week");
      await entry(page, "app-0001", "Snooze for 1 week").press("Enter");
      await press(page, "app-0002", "Hold updates");
      expect(await page.locator(".menu-item[aria-busy]").count()).toBe(4);
      answer();
      const all = { held: true, snoozed: false, skips: 1 };
      await eventually("all to be done", async () => {
        const done = await Promise.all(names.map(decided));
        return Bun.deepEquals(done, [all, { ...all, held: false, snoozed: true, skips: 0 }, { ...all, skips: 0 }]);
      });
      await page.waitForFunction(() => document.querySelector("[data-busy], [aria-busy]") === null);
      expect(sent).toEqual([
        "app-0000 ?action=skip",
        "app-0000 ?action=hold",
        "app-0001 ?action=snooze",
        "app-0002 ?action=hold",
      ]);
      expect(new URL(page.url()).pathname).toBe(path);
    });
  }

  test("on the overview, the answer to one entry leaves those busy that still wait for theirs", async () => {
    const page = await open();
    await page.goto("/");
    const { sent, answerOne } = await holdBack(page);
    await press(page, "app-0000", "Skip this version");
    await press(page, "app-0001", "Hold updates");
    await press(page, "app-0002", "Snooze for 1 week");
    const waiting = () =>
      page.locator(".menu-item[data-busy][aria-busy]").evaluateAll((items) => items.map((item) => item.textContent));
    expect(await waiting()).toEqual(["Skip this version", "Hold updates", "Snooze for 1 week"]);
    await answerOne();
    await page.locator(`#need-${ids.get("app-0000")}`).waitFor({ state: "detached" });
    expect(await waiting()).toEqual(["Hold updates", "Snooze for 1 week"]);
    await answerOne();
    await page.locator(`#need-${ids.get("app-0001")}`).waitFor({ state: "detached" });
    expect(await waiting()).toEqual(["Snooze for 1 week"]);
    await answerOne();
    await page.waitForFunction(() => document.querySelector("[data-busy], [aria-busy]") === null);
    expect(sent).toHaveLength(3);
  });

  test("the list's filter is kept, also one that was chosen on the open page", async () => {
    const page = await open();
    await page.goto("/executors");
    await page.locator(".filters").getByRole("searchbox").fill("app-000");
    await page.waitForURL("**/executors?q=app-000");
    await press(page, "app-0001", "Hold updates");
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await page.locator(".toast").getByText("Resumed updates of app-0001").waitFor();
    expect(page.url()).toEndWith("/executors?q=app-000");
  });

  test("a disabled one is enabled in its row, from which the keyboard goes on", async () => {
    const page = await open();
    await app.db.write((tx) => tx.update(executors).set({ is_enabled: false }));
    await page.goto("/executors");
    const row = page.locator(`#executor-${ids.get("app-0001")}`);
    await row.getByRole("button", { name: "Enable" }).press("Enter");
    await row.getByRole("link", { name: "Update", exact: true }).waitFor();
    await page.waitForFunction((id) => document.activeElement?.closest("tr")?.id === id, await row.getAttribute("id"));
    expect(await page.getByRole("button", { name: "Enable" }).count()).toBe(2);
  });

  test("without script each entry is sent too", async () => {
    const page = await open({ javaScriptEnabled: false });
    for (const path of ["/executors?q=app", "/"]) {
      await page.goto(path);
      await press(page, path === "/" ? "app-0001" : "app-0000", "Snooze for 1 week");
      await page.locator(".toast").getByText("Snoozed updates of").waitFor();
      expect(page.url()).toEndWith(path);
    }
    expect(await decided("app-0000")).toEqual({ held: false, snoozed: true, skips: 0 });
    expect(await decided("app-0001")).toEqual({ held: false, snoozed: true, skips: 0 });
    await page.goto(`/executors/${ids.get("app-0002")}`);
    await page.locator(".menu summary", { hasText: "Updates" }).press("Enter");
    await page.getByRole("button", { name: "Skip this version" }).press("Enter");
    await page.locator(".toast").getByText("Skipped this version of app-0002").waitFor();
    await page.locator(".banner").getByRole("button", { name: "Stop skipping" }).press("Enter");
    await page.locator(".toast").waitFor();
    expect(page.url()).toEndWith(`/executors/${ids.get("app-0002")}`);
    expect(await decided("app-0002")).toEqual({ held: false, snoozed: false, skips: 0 });
  });
});
