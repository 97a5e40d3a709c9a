import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { trackers } from "../../src/db/tables.ts";
import { designParts } from "../../templates/design/design.tsx";
import { questions } from "../../templates/design/questions.tsx";
import { galleryPages, startGallery } from "../gallery/server.tsx";
import { chromiumMissing } from "../peers/chromium.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { peerSuite } from "../support/peer.ts";
import { seedRows } from "../support/seeded-rows.ts";
import { goodPassword, type TestApp, testApp } from "../support/test-app.ts";

setDefaultTimeout(180_000);

const missing = chromiumMissing();

peerSuite("what all pages have in common, in Chromium", missing, () => {
  let app: TestApp;
  let server: ReturnType<typeof Bun.serve>;
  let person: Person;
  let page: Page;

  beforeAll(async () => {
    app = await testApp();
    await app.signedIn();
    const size = { trackers: 3, releases_each: 1, executors: 1, runs_each: 1 };
    await app.db.write((tx) => seedRows(tx, size, app.clock.now()));
    server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => app.app.fetch(request, { peer_address: "127.0.0.1" }),
    });
    const args = [`--host-resolver-rules=MAP tidemark.test:80 127.0.0.1:${server.port}`];
    person = await openBrowser(() => app.origin, { args });
    ({ page } = person);
    await person.signIn("/", goodPassword);
  });

  afterAll(async () => {
    await person?.close();
    await server?.stop(true);
    await app?.close();
  });

  test("each component in each state fits any window, in both languages and themes", async () => {
    const paths = [
      ...designParts.map((part) => `/design?part=${part}`),
      ...questions.map((name) => `/design/question?name=${name}`),
    ];
    for (const path of paths) {
      for (const theme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme: theme });
        for (const language of ["en", "zh"] as const) {
          await person.speak(language);
          for (const width of [390, 1280, 1600]) {
            await page.setViewportSize({ width, height: 900 });
            await person.go(path);
            expect([path, language, width, await person.excess()]).toEqual([path, language, width, 0]);
            await person.photograph(`design-${path.split("=").at(-1)}-${width}-${theme}-${language}`);
          }
        }
      }
    }
    await person.speak("en");
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test("transitions between pages are added where the policy allows it", async () => {
    await person.go("/");
    const added = await page.evaluate(() =>
      document.adoptedStyleSheets.map(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText).join()),
    );
    expect(added).toEqual([expect.stringContaining("@view-transition")]);
  });

  test("a question opens in a dialog with the focus on it, closes by Escape and gives the focus back", async () => {
    await person.go("/design?part=controls");
    await page.click("a[hx-get='/design/question?name=unused']");
    await page.locator("dialog#dialog[open] .confirm").waitFor();
    expect(await person.focused("id")).toBe("dialog-title");
    await page.keyboard.press("Escape");
    await page.locator("dialog#dialog:not([open])").waitFor({ state: "attached" });
    expect(await person.focused("href")).toBe("/design/question?name=unused");
  });

  test("a refused form comes back with its errors in focus and the typed secret kept", async () => {
    await person.go("/credentials/new");
    await person.fill("secret.password", "typed-secret");
    await page.locator(".form [required]").evaluateAll((fields) => {
      for (const field of fields) field.removeAttribute("required");
    });
    await person.save();
    await page.locator(".error-summary").waitFor();
    expect(await page.inputValue("[name='secret.password']")).toBe("typed-secret");
    expect(await person.focused("class")).toBe("error-summary");
    expect(await page.locator("form[data-busy], [aria-busy]").count()).toBe(0);
  });

  test("what was saved in another tab is not overwritten unasked, and then what was entered is saved", async () => {
    const path = "/trackers/app-0001/edit";
    await person.go(path);
    await person.openFolds();
    await person.fill("description", "Entered here");
    await using other = await person.tab();
    await other.go(path);
    await other.openFolds();
    await other.fill("fetch_depth", "33");
    await other.save();
    await other.page.waitForURL("**/trackers/app-0001");
    await person.save();
    await person.untilText(".error-summary", "Other values have been stored since you opened this form");
    expect(await person.focused("class")).toBe("error-summary");
    expect(await page.inputValue("[name=description]")).toBe("Entered here");
    await person.save();
    await page.waitForURL("**/trackers/app-0001");
    expect(await person.text()).toContain("Entered here");
  });

  test("an action that is refused leaves the list alone and says why in a toast", async () => {
    await person.go("/trackers");
    const gone = { name: "app-0002", row: person.row("app-0002") };
    await app.db.write((tx) => tx.delete(trackers).where(eq(trackers.name, gone.name)));
    await person.click(gone.row.locator(".row-actions button"));
    await page.locator(".toast", { hasText: gone.name }).waitFor();
    expect(await person.row("app-0000").count()).toBe(1);
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

  test("the theme switches at once, before the server has answered, and stays", async () => {
    const colors = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    await person.go("/trackers");
    const { promise: seen, resolve: see } = Promise.withResolvers<void>();
    await page.route("**/preferences", async (route) => {
      await seen;
      await route.continue();
    });
    await page.click("details.menu summary");
    await page.locator("button[name=theme][value=dark]").click({ noWaitAfter: true });
    expect(await colors()).toBe("dark");
    const loaded = page.waitForEvent("load");
    see();
    await loaded;
    expect(await colors()).toBe("dark");
    await page.unroute("**/preferences");
  });

  test("without scripts a form can be drawn again, and the menu opens", async () => {
    await using reader = await person.withoutScript({ viewport: { width: 390, height: 844 } });
    const plain = reader.page;
    await reader.go("/design?part=form_filled");
    expect(await plain.locator("button[value=redraw]").first().isVisible()).toBe(true);
    await plain.locator(".more summary").click();
    expect(await plain.locator(".more a[href='/settings']").isVisible()).toBe(true);
  });

  test("nothing was refused by the policy and no script failed", () => {
    expect(person.complaints).toEqual([]);
  });
});

peerSuite("pages in rare states, in Chromium", missing, () => {
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
    await gallery?.stop();
  });

  test.each(Object.keys(galleryPages))("%s is not wider than any window, in both languages", async (path) => {
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

  test("nothing was refused by the policy and no script failed", () => {
    expect(person.complaints).toEqual([]);
  });
});
