import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { browsedApp } from "../support/browsed-app.ts";
import { peerSuite } from "../support/peer.ts";
import { seedRows } from "../support/seeded-rows.ts";
import { type TestApp, testApp } from "../support/test-app.ts";

setDefaultTimeout(120_000);

peerSuite("the link to the list above, in Chromium", chromiumMissing(), () => {
  let app: TestApp;
  let browsed: Awaited<ReturnType<typeof browsedApp>>;
  let page: Page;

  beforeAll(async () => {
    app = await testApp();
    await app.signedIn();
    const size = { trackers: 12, releases_each: 2, executors: 3, runs_each: 1 };
    await app.db.write((tx) => seedRows(tx, size, app.clock.now()));
    browsed = await browsedApp(app);
    page = browsed.page;
  });
  afterAll(async () => {
    await browsed?.close();
    await app?.close();
  });

  const above = (tab: Page) => tab.locator("a.parent").evaluate((link: HTMLAnchorElement) => link.href);
  const address = () => page.url().slice(app.origin.length);

  test("leads to it as it was, filtered and sorted, also from pages below", async () => {
    await page.goto("/trackers?sort=-name");
    await page.locator("main [name=q]").fill("app-000");
    await page.waitForURL(/q=app-000/);
    const list = address();
    expect(list).toContain("sort=-name");
    await page.getByRole("link", { name: "app-0007", exact: true }).click();
    await page.waitForURL("**/trackers/app-0007");
    await page.locator("main a[href$='/edit']").first().click();
    await page.waitForURL("**/edit");
    await page.locator("a.parent").click();
    await page.waitForURL("**/trackers/app-0007");
    await page.locator("a.parent").click();
    await page.waitForURL(/\/trackers\?/);
    expect(address()).toBe(list);
    expect(await page.inputValue("main [name=q]")).toBe("app-000");
  });

  test("leaves without an error of a script where the browser does not tell the address, as when going back", async () => {
    const errors: string[] = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    await page.goto("/trackers");
    await page.evaluate(() =>
      dispatchEvent(Object.assign(new Event("pageswap"), { activation: { entry: { url: null } } })),
    );
    await page.reload();
    expect(errors).toEqual([]);
  });

  test("leads to all of it once that was seen, and where it was not seen", async () => {
    await page.locator("nav >> text=Trackers").click();
    await page.waitForURL("**/trackers");
    await page.getByRole("link", { name: "app-0007", exact: true }).click();
    await page.waitForURL("**/trackers/app-0007");
    expect(await above(page)).toBe(`${app.origin}/trackers`);
    const other = await browsed.context.newPage();
    await other.goto("/trackers/app-0007");
    expect(await above(other)).toBe(`${app.origin}/trackers`);
    await other.close();
  });
});
