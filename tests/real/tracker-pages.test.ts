import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { pushImage } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { firstSignIn, type RunningServer, startServer } from "../support/server.ts";

setDefaultTimeout(180_000);

const missing = registryMissing() ?? chromiumMissing();

peerSuite("pages of trackers in Chromium, on a real registry", missing, () => {
  let registry: Registry;
  let server: RunningServer;
  let person: Person;
  let page: Page;
  const push = (tag: string, created: string) =>
    pushImage(registry.url, null, "library/nginx", tag, { created: `2026-01-0${created}T08:00:00Z` });

  beforeAll(async () => {
    registry = await startRegistry();
    for (const [position, tag] of ["1.0.0", "1.1.0", "1.2.0-rc1", "latest"].entries())
      await push(tag, `${position + 1}`);
    server = await startServer();
    await firstSignIn(server);
    person = await openBrowser(() => server.url);
    ({ page } = person);
    await person.signIn("/trackers");
  });

  afterAll(async () => {
    await person?.close();
    await server?.kill("SIGTERM");
    await registry?.stop();
  });

  test("while typing a pattern one sees which known tags it takes and which it refuses", async () => {
    await page.click("text=Add tracker");
    await page.waitForURL("**/trackers/new");
    await person.fill("name", "web");
    await person.openFolds();
    await person.fill("sources.0.config.image", "library/nginx");
    await person.fill("sources.0.config.registry", registry.url);
    await person.untilText("#tracker-preview", "4 of 4 tags match");
    const include = person.field("sources.0.channels.0.include_pattern");
    await include.pressSequentially("^\\d+\\.\\d+\\.\\d+$");
    await person.untilText("#tracker-preview", "2 of 4 tags match");
    // The words under the field are the same, for a screen too narrow for both.
    await person.untilText("#live-f-sources-0-channels-0-exclude_pattern", "Latest 1.1.0");
    expect(await page.locator(".judged-tag:not(.refused) mark").allTextContents()).toEqual(["1.1.0", "1.0.0"]);
    expect(await page.textContent(".judged-tag.refused >> nth=0")).toContain("does not match the include pattern");
    expect(await person.focused("name")).toBe("sources.0.channels.0.include_pattern");
  });

  test("a pattern that cannot be taken is told at its field, and nothing typed is lost by adding a channel", async () => {
    const exclude = person.field("sources.0.channels.0.exclude_pattern");
    await exclude.fill("(?<!x)rc");
    await person.untilText("#live-f-sources-0-channels-0-exclude_pattern", "Lookaround");
    await exclude.fill("");
    await person.untilText("#tracker-preview", "2 of 4 tags match");
    await page.click("text=Add channel");
    await person.fill("sources.0.channels.1.include_pattern", "-rc\\d+$");
    await person.untilText("#tracker-preview", "1 of 4 tags match");
    expect(await person.field("sources.0.channels.1.type").inputValue()).toBe("prerelease");
    expect(await person.field("name").inputValue()).toBe("web");
    expect(await person.field("sources.0.channels.0.include_pattern").inputValue()).toBe("^\\d+\\.\\d+\\.\\d+$");
  });

  test("what is refused comes back with its reason, what is right leads to the history", async () => {
    await person.fill("name", "new");
    await page.click(".form-actions .btn.main");
    await person.untilText(".error-summary", 'Name: the name "new" is reserved');
    expect(await person.focused("class")).toBe("error-summary");
    await person.fill("name", "web");
    await page.click(".form-actions .btn.main");
    await page.waitForURL("**/trackers/web");
    await person.untilText("#tracker-body", "1.1.0");
    await person.untilChecked();
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
    await person.untilText("#toasts", "Checked web: found 1.3.0");
    await person.untilText(".history", "1.3.0");
    await person.untilChecked();
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
    await person.go((await why.getAttribute("href")) ?? "");
    expect(await page.textContent("#explanation")).toContain("Why 1.3.0 is accepted or rejected");
  });

  test("two versions are chosen and compared, with and without a script", async () => {
    await person.go("/trackers/web");
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
    await using plain = await person.withoutScript();
    const bare = plain.page;
    await plain.go("/trackers/web/compare");
    await bare.selectOption("#compare-from", "1.1.0");
    await bare.click(".compare-form button");
    expect(new URL(bare.url()).search).toBe("?from=1.1.0&to=1.3.0");
    expect(await bare.textContent(".facts")).toContain("1 minor");
  });

  test("the list filters while one types, and checks one tracker from its row", async () => {
    await person.go("/trackers");
    const search = page.locator("#tracker-list input[name=q]");
    await search.pressSequentially("nobody");
    await page.waitForURL("**/trackers?q=nobody");
    await person.untilText("#tracker-list", "Nothing matches these filters");
    expect(await search.evaluate((input) => input === document.activeElement)).toBe(true);
    await search.fill("we");
    await page.waitForURL("**/trackers?q=we");
    await page.locator("tbody tr input.choice").check();
    await push("1.4.0", "6");
    const again = page.locator("tbody tr").getByRole("button", { name: "Check web now" });
    await again.focus();
    await page.keyboard.press("Enter");
    await person.untilText("#toasts", "Checked web: found 1.4.0");
    await person.untilText("tbody tr", "1.4.0");
    await person.untilChecked();
    // The rest of the page is as it was.
    expect(new URL(page.url()).search).toBe("?q=we");
    expect(await page.locator("tbody tr input.choice").isChecked()).toBe(true);
    expect(await again.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  test("nothing is too wide for a phone, in either language", async () => {
    const paths = ["", "/edit", "?explain=1.3.0", "/compare"].map((rest) => `/trackers/web${rest}`);
    await person.expectFit(["/trackers", ...paths]);
  });

  test("neither the policy nor a script refused anything", () => {
    expect(person.complaints).toEqual([]);
  });
});
