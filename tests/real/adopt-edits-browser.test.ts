import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { browsedApp } from "../support/browsed-app.ts";
import { FakeEngine, fakeRuntimes } from "../support/fake-runtime.ts";
import { peerSuite } from "../support/peer.ts";
import { digest } from "../support/run-world.ts";
import { type TestApp, testApp } from "../support/test-app.ts";

setDefaultTimeout(120_000);

const count = 90;

peerSuite("what is entered while adopting many targets, in Chromium", chromiumMissing(), () => {
  const engine = new FakeEngine();
  let app: TestApp;
  let browsed: Awaited<ReturnType<typeof browsedApp>>;
  let path = "";

  beforeAll(async () => {
    for (let index = 0; index < count; index += 1) {
      const name = `app-${String(index).padStart(2, "0")}`;
      engine.add(name, `registry.test/part-${index % 9}:1.0.0`, digest("a"));
    }
    app = await testApp({ runtimes: fakeRuntimes(engine) });
    const { api } = await app.signedIn();
    const config = { address: "fake://home" };
    const { body } = await api("POST", "/runtime-connections", { name: "home", kind: "docker", config });
    path = `/connections/${body.id}/adopt`;
    browsed = await browsedApp(app);
  });
  afterAll(async () => {
    await browsed?.close();
    await app?.close();
  });

  const row = (page: Page, name: string) => page.locator("tr", { has: page.locator(`[aria-label$=" ${name}"]`) });
  const enter = async (page: Page) => {
    await row(page, "app-00").locator("input.choice").uncheck();
    await row(page, "app-01").locator("summary").click();
    await row(page, "app-01").locator("[name^='executor.']").fill("renamed");
    await row(page, "app-01").locator("[name^='trigger.']").selectOption("immediate");
  };
  const expectEntered = async (page: Page) => {
    expect(await row(page, "app-00").locator("input.choice").isChecked()).toBe(false);
    expect(await row(page, "app-01").locator("[name^='executor.']").inputValue()).toBe("renamed");
    expect(await row(page, "app-01").locator("[name^='trigger.']").inputValue()).toBe("immediate");
  };
  const showAll = async (page: Page) => {
    expect(await page.locator("input.choice").count()).toBe(60);
    await page.getByRole("button", { name: `Show ${count} targets` }).click();
    await page.locator(`[name=shown][value="${count}"]`).waitFor({ state: "attached" });
    expect(await page.locator("input.choice").count()).toBe(count);
    expect(await page.locator("input.choice:checked").count()).toBe(count - 1);
  };

  test("stays without script when all of them are shown", async () => {
    const storageState = await browsed.context.storageState();
    const options = { storageState, javaScriptEnabled: false, baseURL: app.origin };
    const plain = await browsed.context.browser()?.newContext(options);
    const page = await plain?.newPage();
    if (page === undefined) throw new Error("no browser");
    await page.goto(path);
    await enter(page);
    await showAll(page);
    await row(page, "app-01").locator("summary").click();
    await expectEntered(page);
    await plain?.close();
  });

  test("stays with script while a filter hides it, and only what is shown is selected", async () => {
    const { page } = browsed;
    await page.goto(path);
    await enter(page);
    const find = async (words: string, rows: number) => {
      await page.locator("#content [name=search]").fill(words);
      await page.locator(`[name=shown][value="${rows}"]`).waitFor({ state: "attached" });
      expect(new URL(page.url()).searchParams.get("search") ?? "").toBe(words);
      expect(await page.locator(":focus").getAttribute("name")).toBe("search");
    };
    await find("app-02", 1);
    expect(await page.locator(".choice-bar .chosen-count").textContent()).toBe("1");
    await row(page, "app-02").locator("input.choice").uncheck();
    await find("", 60);
    await expectEntered(page);
    expect(await row(page, "app-02").locator("input.choice").isChecked()).toBe(false);
    expect(await page.locator("input.choice:checked").count()).toBe(58);
    await page.goBack();
    await page.locator('[name=shown][value="1"]').waitFor({ state: "attached" });
  });

  test("stays with script while only one namespace is shown", async () => {
    const { page } = browsed;
    engine.namespaceOf = (id) => (id < "app-10" ? "first" : "others");
    try {
      await page.goto(path);
      await enter(page);
      await page.getByRole("link", { name: "others", exact: true }).click();
      await row(page, "app-10").waitFor();
      await row(page, "app-00").waitFor({ state: "detached" });
      expect(new URL(page.url()).searchParams.get("namespace")).toBe("others");
      await page.getByRole("link", { name: "All namespaces", exact: true }).click();
      await row(page, "app-00").waitFor();
      expect(new URL(page.url()).searchParams.get("namespace")).toBeNull();
      await expectEntered(page);
    } finally {
      engine.namespaceOf = () => null;
    }
  });

  test("is not sent by Enter: its form has two buttons, and neither is meant", async () => {
    const { page } = browsed;
    await page.goto(path);
    await enter(page);
    const name = row(page, "app-01").locator("[name^='executor.']");
    await name.press("Enter");
    expect(await name.evaluate((field) => field === document.activeElement)).toBe(true);
    const shown = page.waitForResponse((response) => response.request().method() === "POST");
    await row(page, "app-00").locator("input.choice").press("Enter");
    await shown;
    await expectEntered(page);
    expect(await row(page, "app-00").locator("input.choice:focus").count()).toBe(1);
    expect(await page.locator("input.choice").count()).toBe(60);
  });

  test("stays with script, and when the runtime cannot be reached, and is what is adopted", async () => {
    const { page } = browsed;
    await page.goto(path);
    await enter(page);
    await showAll(page);
    await expectEntered(page);
    const adopt = page.locator('.choice-bar [name="_action"][value="adopt"]');
    engine.isUnreachable = true;
    await adopt.click();
    await page.locator(".banner.failed", { hasText: "connection refused" }).waitFor();
    expect(await page.evaluate(() => [document.activeElement?.id, scrollY])).toEqual(["content", 0]);
    expect(await page.locator("input.choice:checked").count()).toBe(count - 1);
    // It would say the same again, over the button.
    expect(await page.locator(".toast").count()).toBe(0);
    await expectEntered(page);
    engine.isUnreachable = false;
    await adopt.click();
    await page.getByRole("heading", { level: 1, name: `Adopted ${count - 1} targets` }).waitFor();
    expect(await page.evaluate(() => [document.activeElement?.id, scrollY])).toEqual(["content", 0]);
    expect(await page.title()).toStartWith(`Adopted ${count - 1} targets`);
    const { items } = await app.services.executors.list({ limit: 100 });
    expect(items.filter(({ trigger }) => trigger !== "manual").map(({ name }) => name)).toEqual(["renamed"]);
  });
});
