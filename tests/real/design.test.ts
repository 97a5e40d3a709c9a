import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { galleryPaths, startGallery } from "../gallery/server.tsx";
import { chromiumMissing } from "../peers/chromium.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { peerSuite } from "../support/peer.ts";

setDefaultTimeout(180_000);

const missing = chromiumMissing();

peerSuite("the design system in Chromium under the content security policy", missing, () => {
  let gallery: ReturnType<typeof startGallery>;
  let person: Person;
  let page: Page;

  beforeAll(async () => {
    gallery = startGallery();
    person = await openBrowser(() => gallery.origin);
    ({ page } = person);
  });

  afterAll(async () => {
    await person?.close();
    await gallery.stop();
  });

  test("htmx, the stream extension and app.js run, and a message of the stream reaches its place", async () => {
    await person.go("/");
    await page.locator(".toast", { hasText: "Heard from the stream" }).waitFor();
    const added = await page.evaluate(() =>
      document.adoptedStyleSheets.map(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText).join()),
    );
    expect(added).toEqual([expect.stringContaining("@view-transition")]);
  });

  test("a question opens in a dialog with the focus on it, closes by Escape and gives the focus back", async () => {
    await person.go("/run");
    await page.click("a[hx-get$='/retry']");
    await page.locator("dialog#dialog[open] .confirm").waitFor();
    expect(await person.focused("id")).toBe("dialog-title");
    await page.keyboard.press("Escape");
    await page.locator("dialog#dialog:not([open])").waitFor({ state: "attached" });
    expect(await person.focused("href")).toBe("/runs/1/retry");
  });

  test("a refused form comes back with its errors in focus and the typed secret kept", async () => {
    await person.go("/form");
    await page.fill("[name='source.token']", "typed-secret");
    await page.click(".form-actions button");
    await page.locator(".error-summary").waitFor();
    expect(await page.inputValue("[name='source.token']")).toBe("typed-secret");
    expect(await person.focused("class")).toBe("error-summary");
    expect(await page.locator("form[data-busy], [aria-busy]").count()).toBe(0);
  });

  test("choosing another type draws its fields", async () => {
    await person.go("/form");
    await page.selectOption("[name='source.kind']", "github");
    await page.locator("[name='source.repository']").waitFor();
    expect(await page.locator("[name='source.image']").count()).toBe(0);
  });

  test("an answer of 409 leaves the row alone and says why in a toast", async () => {
    await person.go("/trackers");
    await page.locator(".row-actions button").first().click();
    await page.locator(".toast", { hasText: "The registry answered 401" }).waitFor();
    expect(await page.locator("#rows table").count()).toBe(1);
  });

  test("shortcuts: g t goes to the trackers, / searches, ? shows the list", async () => {
    await person.go("/");
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.waitForURL("**/trackers");
    await page.keyboard.press("/");
    expect(await person.focused("id")).toBe("search");
    await page.keyboard.press("?");
    expect(await page.locator("dialog#shortcuts[open]").count()).toBe(0);
    await page.locator("h1").click();
    await page.keyboard.press("?");
    await page.locator("dialog#shortcuts[open]").waitFor();
  });

  test("the theme switches at once", async () => {
    await person.go("/trackers");
    await page.click("details.menu summary");
    await page.click("button[name=theme][value=dark]");
    expect(await page.evaluate(() => getComputedStyle(document.body.parentElement ?? document.body).colorScheme)).toBe(
      "dark",
    );
  });

  test.each(galleryPaths)("%s is not wider than any window, in both languages", async (path) => {
    for (const language of ["en", "zh"]) {
      for (const [index, width] of [390, 1280, 1600].entries()) {
        await page.setViewportSize({ width, height: 900 });
        if (index === 0) await person.go(`${path}?lang=${language}`);
        expect([language, width, await person.excess()]).toEqual([language, width, 0]);
      }
    }
  });

  test("a run on paper has all of it in black on white, nothing to press, and the dates of its times", async () => {
    await page.emulateMedia({ media: "screen", colorScheme: "dark" });
    await person.go("/run-down");
    // A4 without its margins.
    await page.setViewportSize({ width: 674, height: 1000 });
    await page.emulateMedia({ media: "print" });
    for (const hidden of [".side", ".top", ".actions", "main button", "dialog"]) {
      expect(await page.locator(`${hidden}:visible`).count()).toBe(0);
    }
    for (const shown of ["#run-banner", "#run-steps", "#run-plan", "#run-facts"]) {
      expect(await page.locator(`${shown}:visible`).count()).toBe(1);
    }
    const found = await page.evaluate(() => {
      const all = [...document.querySelectorAll("body, main, main *")].filter((each) => each.checkVisibility());
      const of = (name: "color" | "backgroundColor") => [...new Set(all.map((each) => getComputedStyle(each)[name]))];
      const folds = [...document.querySelectorAll("main details > :not(summary)")];
      return {
        inks: of("color"),
        grounds: of("backgroundColor"),
        areFoldsOpen: folds.every((each) => each.getBoundingClientRect().height > 0),
        cut: all.filter(
          (each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0 && !each.matches(".hidden"),
        ).length,
        time: getComputedStyle(document.querySelector("time[data-relative]") ?? document.body, "::after").content,
      };
    });
    expect(found.inks).toEqual(["rgb(0, 0, 0)"]);
    expect(found.grounds.toSorted()).toEqual(["rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"]);
    expect(found.areFoldsOpen).toBe(true);
    expect(found.cut).toBe(0);
    expect(found.time).toContain("2026");
    await page.emulateMedia({ media: "screen", colorScheme: "light" });
  });

  test("without scripts the pages still show everything, and the menu opens", async () => {
    await using reader = await person.stranger({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
    const plain = reader.page;
    await reader.go("/form");
    expect(await plain.locator("button[value=redraw]").isVisible()).toBe(true);
    await plain.locator(".more summary").click();
    expect(await plain.locator(".more a[href='/settings']").isVisible()).toBe(true);
  });

  test("nothing was refused by the policy and no script failed", () => {
    expect(person.complaints).toEqual([]);
  });
});
