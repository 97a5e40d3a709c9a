import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { everyPage, longest } from "../support/every-page.ts";
import { takeShift, watchShifts } from "../support/layout-shift.ts";
import { peerSuite } from "../support/peer.ts";
import { goodPassword } from "../support/test-app.ts";

// Beside four other suites on two cores, all pages take five minutes.
setDefaultTimeout(900_000);

/** Less than what a reader notices. */
const maximumShift = 0.02;
/** Slow enough that a page is drawn before all of it is there. */
const slowly = { offline: false, latency: 20, downloadThroughput: 400_000, uploadThroughput: 400_000 };

const wide = { width: 1280, height: 900 };
/** A phone, and a desktop window at a zoom of 200 %. */
const narrow = [
  { width: 390, height: 844 },
  { width: 640, height: 450 },
];

peerSuite("every page in Chromium, saying the longest sentence", chromiumMissing(), () => {
  let world: Awaited<ReturnType<typeof everyPage>>;
  let server: ReturnType<typeof Bun.serve>;
  let person: Person;
  let page: Page;

  beforeAll(async () => {
    world = await everyPage(longest);
    const { app } = world.app;
    server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => app.fetch(request, { peer_address: "127.0.0.1" }),
    });
    const args = [`--host-resolver-rules=MAP tidemark.test:80 127.0.0.1:${server.port}`];
    person = await openBrowser(() => world.app.origin, { args });
    ({ page } = person);
  });

  afterAll(async () => {
    await person?.close();
    await server?.stop(true);
    await world?.app.close();
  });

  /** What axe finds in the page as it is, by rule and place. */
  const found = async (rules: "all" | "colors"): Promise<string[]> => {
    // Read once by each page: it is half a megabyte.
    if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
    const violations = await page.evaluate(async (chosen) => {
      const { axe: here } = globalThis as unknown as { axe: typeof axe };
      const runOnly = chosen === "colors" ? { runOnly: ["color-contrast"] } : {};
      const result = await here.run(document, { resultTypes: ["violations"], ...runOnly });
      return result.violations.map(({ id, nodes }) => ({ id, targets: nodes.map(({ target }) => target.join(" ")) }));
    }, rules);
    return violations.map(({ id, targets }) => `${page.url()}: ${id}: ${targets.slice(0, 3).join(", ")}`);
  };

  /** What reaches beyond the page at its present size: the innermost element of those that do. */
  const tooWide = async (): Promise<string[]> => {
    const { width } = page.viewportSize() ?? { width: 0 };
    const wide = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      if (scrollWidth <= clientWidth) return null;
      const beyond = [...document.querySelectorAll("main *")].filter(
        (element) => element.getBoundingClientRect().right > clientWidth + 1,
      );
      const last = beyond.at(-1);
      return `${scrollWidth - clientWidth} px too wide: ${last?.tagName.toLowerCase()}.${last?.className}`;
    });
    return wide === null ? [] : [`${page.url()} at ${width}: ${wide}`];
  };

  /** What moved by itself since the last look. */
  const shifted = async (when: string): Promise<string[]> => {
    await person.untilSettled();
    const { value, moved } = await takeShift(page);
    return value < maximumShift ? [] : [`${page.url()} ${when}: shifts by ${value.toFixed(3)}: ${moved.join(", ")}`];
  };

  /** Asks at once for what the page asks for again and again. */
  const refresh = () =>
    page.evaluate(async () => {
      const { htmx } = globalThis as unknown as { htmx: { ajax(verb: string, url: string, how: object): unknown } };
      for (const source of document.querySelectorAll("[hx-trigger^=every]")) {
        await htmx.ajax("GET", source.getAttribute("hx-get") ?? "", { source });
      }
    });

  /** In the given colours: all of axe's rules, or only those on colours. */
  const check = async (colorScheme: "light" | "dark", rules: "all" | "colors") => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(wide);
    return await found(rules);
  };

  const checkSizes = async () => {
    const all: string[] = [];
    for (const size of narrow) {
      await page.setViewportSize(size);
      all.push(...(await tooWide()));
    }
    return all;
  };

  test("axe finds nothing on the sign-in page, in both themes, and it fits", async () => {
    await person.go("/login");
    expect([...(await check("light", "all")), ...(await check("dark", "colors")), ...(await checkSizes())]).toEqual([]);
  });

  test("axe finds nothing on any page, in both themes; none shifts, and each fits a phone and a zoom of 200 %", async () => {
    await person.signIn("/", goodPassword);
    const all: string[] = [];
    await watchShifts(page);
    const network = await page.context().newCDPSession(page);
    await network.send("Network.enable");
    await network.send("Network.setCacheDisabled", { cacheDisabled: true });
    await network.send("Network.emulateNetworkConditions", slowly);
    for (const path of world.paths.filter(isPage)) {
      await page.setViewportSize(wide);
      await person.go(path);
      all.push(...(await shifted("while it loads")));
      await refresh();
      all.push(...(await shifted("while it refreshes")));
      all.push(...(await check("light", "all")), ...(await check("dark", "colors")), ...(await checkSizes()));
    }
    expect(all).toEqual([]);
  });

  test("a form opens at its top, with the focus where it is seen, on a phone and at a zoom of 200 %", async () => {
    const all: unknown[] = [];
    let focused = 0;
    for (const size of narrow) {
      await page.setViewportSize(size);
      for (const path of world.paths.filter((each) => /\/(new|edit)$/.test(each))) {
        await person.go(path);
        const [top, bottom] = await page.evaluate(() => {
          const field = document.activeElement?.matches(".form *") ? document.activeElement : null;
          const nav = document.querySelector(".side")?.getBoundingClientRect().top ?? 0;
          return [scrollY, nav - (field?.getBoundingClientRect().bottom ?? nav)];
        });
        if (bottom > 0) focused += 1;
        if (top !== 0 || bottom < 0) all.push([path, size.width, top, bottom]);
      }
    }
    expect(all).toEqual([]);
    expect(focused).toBeGreaterThan(10);
  });

  test("no page broke the policy, and no script failed", () => {
    expect(person.complaints).toEqual([]);
  });
});

/** Not what is for programs, nor a part of a page. */
function isPage(path: string): boolean {
  return !/^\/health\/|\.(js|json|webmanifest)$|\/(parts|newest|palette|changes)$/.test(path);
}
