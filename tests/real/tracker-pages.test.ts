import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { chromiumMissing, startChromium } from "../peers/chromium.ts";
import { type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { openFolds } from "../support/folds.ts";
import { pushImage } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { firstSignIn, type RunningServer, startServer, testPassword } from "../support/server.ts";

setDefaultTimeout(180_000);

const missing = registryMissing() ?? chromiumMissing();

peerSuite("pages of trackers in Chromium, on a real registry", missing, () => {
  let registry: Registry;
  let server: RunningServer;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const push = (tag: string, created: string) =>
    pushImage(registry.url, null, "library/nginx", tag, { created: `2026-01-0${created}T08:00:00Z` });
  const hasText = (selector: string, text: string) =>
    page.waitForFunction(
      ([where = "", what = ""]) => document.querySelector(where)?.textContent?.includes(what),
      [selector, text],
    );
  const field = (name: string) => page.locator(`[name="${name}"]`);

  beforeAll(async () => {
    registry = await startRegistry();
    for (const [position, tag] of ["1.0.0", "1.1.0", "1.2.0-rc1", "latest"].entries())
      await push(tag, `${position + 1}`);
    server = await startServer();
    await firstSignIn(server);
    browser = await startChromium();
    page = await (await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB" })).newPage();
    page.on("console", (message) => {
      // Browsers report every 4xx of a page; what the policy or a script refuses is what must not be.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
        complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(`${server.url}/login?next=/trackers`);
    await page.fill("#f-username", "admin");
    await page.fill("#f-password", testPassword);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${server.url}/trackers`);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.kill("SIGTERM");
    await registry?.stop();
  });

  test("while typing a pattern one sees which known tags it takes and which it refuses", async () => {
    await page.click("text=Add tracker");
    await page.waitForURL("**/trackers/new");
    await field("name").fill("web");
    await openFolds(page);
    await field("sources.0.config.image").fill("library/nginx");
    await field("sources.0.config.registry").fill(registry.url);
    await hasText("#tracker-preview", "4 of 4 tags match");
    const include = field("sources.0.channels.0.include_pattern");
    await include.pressSequentially("^\\d+\\.\\d+\\.\\d+$");
    await hasText("#tracker-preview", "2 of 4 tags match");
    // The words under the field are the same, for a screen too narrow for both.
    await hasText("#live-f-sources-0-channels-0-exclude_pattern", "Latest 1.1.0");
    expect(await page.locator(".judged-tag:not(.refused) mark").allTextContents()).toEqual(["1.1.0", "1.0.0"]);
    expect(await page.textContent(".judged-tag.refused >> nth=0")).toContain("does not match the include pattern");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe(
      "sources.0.channels.0.include_pattern",
    );
  });

  test("a pattern that cannot be taken is told at its field, and nothing typed is lost by adding a channel", async () => {
    const exclude = field("sources.0.channels.0.exclude_pattern");
    await exclude.fill("(?<!x)rc");
    await hasText("#live-f-sources-0-channels-0-exclude_pattern", "Lookaround");
    await exclude.fill("");
    await hasText("#tracker-preview", "2 of 4 tags match");
    await page.click("text=Add channel");
    await field("sources.0.channels.1.include_pattern").fill("-rc\\d+$");
    await hasText("#tracker-preview", "1 of 4 tags match");
    expect(await field("sources.0.channels.1.type").inputValue()).toBe("prerelease");
    expect(await field("name").inputValue()).toBe("web");
    expect(await field("sources.0.channels.0.include_pattern").inputValue()).toBe("^\\d+\\.\\d+\\.\\d+$");
  });

  test("what is refused comes back with its reason, what is right leads to the history", async () => {
    await field("name").fill("new");
    await page.click(".form-actions .btn.main");
    await hasText(".error-summary", 'The name "new" is reserved');
    expect(await page.evaluate(() => document.activeElement?.className)).toBe("error-summary");
    await field("name").fill("web");
    await page.click(".form-actions .btn.main");
    await page.waitForURL("**/trackers/web");
    await hasText("#tracker-body", "1.1.0");
    await page.waitForFunction(() => document.querySelector("#look-again") === null);
    expect(await page.locator(".history .row-title .version").allTextContents()).toEqual([
      "1.2.0-rc1",
      "1.1.0",
      "1.0.0",
    ]);
  });

  test("Check now shows that it works, then what it found, without a reload", async () => {
    await page.evaluate(() => {
      document.documentElement.dataset.seen = "true";
    });
    await push("1.3.0", "5");
    await page.click("text=Check now");
    await hasText("#toasts", "Checked web: found 1.3.0");
    await hasText(".history", "1.3.0");
    await page.waitForFunction(() => document.querySelector("#look-again") === null);
    expect(await page.evaluate(() => document.documentElement.dataset.seen)).toBe("true");
  });

  test("the reason for a version opens in a dialog, has an address, and gives the focus back", async () => {
    const why = page.locator(".history .row-action a").first();
    await why.focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector("#dialog[open]");
    expect(await page.textContent("#dialog")).toContain("the latest version of this channel");
    await page.keyboard.press("Escape");
    await page.waitForSelector("#dialog:not([open])", { state: "attached" });
    expect(await why.evaluate((link) => link === document.activeElement)).toBe(true);
    await page.goto(`${server.url}${await why.getAttribute("href")}`);
    expect(await page.textContent("#explanation")).toContain("Why 1.3.0 is accepted or rejected");
  });

  test("two versions are chosen and compared, with and without a script", async () => {
    await page.goto(`${server.url}/trackers/web`);
    await page.click("text=Compare versions");
    await page.waitForURL("**/trackers/web/compare");
    // What a person most likely wants: the latest, and the version before it.
    expect(await page.locator("#compare-to").inputValue()).toBe("1.3.0");
    await page.selectOption("#compare-from", "1.0.0");
    await page.click(".compare-form button");
    await page.waitForURL("**/compare?from=1.0.0&to=1.3.0");
    expect(await page.textContent(".facts")).toContain("2 minors");
    expect(await page.locator(".notes-of > summary > .version").allTextContents()).toEqual([
      "1.3.0",
      "1.2.0-rc1",
      "1.1.0",
    ]);
    await page.click("text=Swap");
    await page.waitForURL("**/compare?from=1.3.0&to=1.0.0");
    expect(await page.textContent(".lead")).toContain("A downgrade drops these versions");
    const plain = await browser.newContext({
      javaScriptEnabled: false,
      storageState: await page.context().storageState(),
    });
    const bare = await plain.newPage();
    await bare.goto(`${server.url}/trackers/web/compare`);
    await bare.selectOption("#compare-from", "1.1.0");
    await bare.click(".compare-form button");
    expect(new URL(bare.url()).search).toBe("?from=1.1.0&to=1.3.0");
    expect(await bare.textContent(".facts")).toContain("1 minor");
    await plain.close();
  });

  test("the list filters while one types, and checks one tracker from its row", async () => {
    await page.goto(`${server.url}/trackers`);
    const search = page.locator("#tracker-list input[name=q]");
    await search.pressSequentially("nobody");
    await page.waitForURL("**/trackers?q=nobody");
    await hasText("#tracker-list", "Nothing matches these filters");
    expect(await search.evaluate((input) => input === document.activeElement)).toBe(true);
    await search.fill("we");
    await page.waitForURL("**/trackers?q=we");
    await page.locator("tbody tr").getByRole("button", { name: "Check web now" }).click();
    await hasText("#toasts", "Checked web: nothing new");
    expect(new URL(page.url()).search).toBe("?q=we");
  });

  test("nothing is too wide for a phone, in either language", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const language of ["en", "zh"]) {
      await page.context().addCookies([{ name: "tidemark_language", value: language, url: server.url }]);
      for (const path of [
        "/trackers",
        "/trackers/web",
        "/trackers/web/edit",
        "/trackers/web?explain=1.3.0",
        "/trackers/web/compare",
      ]) {
        await page.goto(server.url + path);
        const excess = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect([language, path, excess]).toEqual([language, path, 0]);
      }
    }
  });

  test("neither the policy nor a script refused anything", () => {
    expect(complaints).toEqual([]);
  });
});
