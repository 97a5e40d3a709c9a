import { expect } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Locator, Page, Request } from "playwright-core";
import { startChromium } from "../peers/chromium.ts";
import { eventually } from "./eventually.ts";
import { type RunningServer, testPassword } from "./server.ts";

/** Browsers report every 4xx of a page, and that plain http cannot isolate origins. */
const usualComplaints = /^Failed to load resource|^The Cross-Origin-Opener-Policy header has been ignored/;
/** The same where the server goes away in between: open pages ask it what has changed. */
export const usualWhileAway = new RegExp(`${usualComplaints.source}|net::ERR_|^htmx: htmx:error: Failed to fetch`);

const limitMs = 100_000;
const runLimitMs = 120_000;
const desktop: BrowserContextOptions = {
  viewport: { width: 1280, height: 900 },
  locale: "en-GB",
  // Drawing each fade takes a small machine longer than the page. Suites that are about it ask for motion.
  reducedMotion: "reduce",
};
/** `TIDEMARK_PICTURES=DIRECTORY` keeps pictures of the pages that suites come by, to be looked at. */
const pictures = process.env.TIDEMARK_PICTURES ?? null;

interface BrowserOptions {
  /** Arguments of Chromium. */
  args?: readonly string[];
  /** Messages of the console that are no complaint. */
  usual?: RegExp;
}

/** Where everybody of one browser is at home, and what went wrong with any of them. */
interface Shared {
  browser: Browser;
  home: () => string;
  usual: RegExp;
  complaints: string[];
}

/** A person with a browser at a server, whose address may change. Their pages are in English at 1280 pixels. */
export async function openBrowser(home: () => string, options: BrowserOptions = {}): Promise<Person> {
  const browser = await startChromium(options.args);
  const shared = { browser, home, usual: options.usual ?? usualComplaints, complaints: [] };
  const page = await newPage(shared, {});
  return new Person(shared, page, () => browser.close());
}

async function newPage(shared: Shared, options: BrowserContextOptions): Promise<Page> {
  return listen(shared, await (await shared.browser.newContext({ ...desktop, ...options })).newPage());
}

function listen({ usual, complaints }: Shared, page: Page): Page {
  page.setDefaultTimeout(limitMs);
  page.on("console", (message) => {
    if (message.type() === "error" && !usual.test(message.text())) complaints.push(`${page.url()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
  return page;
}

/** What a person does with the pages, in one tab. */
export class Person implements AsyncDisposable {
  /** What was clicked and filled in by `click` and `fill`. */
  readonly effort = { clicks: 0, fields: 0 };
  private readonly requests = new Set<Request>();

  constructor(
    private readonly shared: Shared,
    readonly page: Page,
    /** Closes what was opened for this person: for the first one the browser. */
    readonly close: () => Promise<void>,
  ) {
    page.on("request", (request) => {
      // A stream lasts as long as its page.
      if (request.headers().accept?.includes("text/event-stream") !== true) this.requests.add(request);
    });
    const forget = (request: Request) => this.requests.delete(request);
    page.on("requestfinished", forget).on("requestfailed", forget);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** What the policy or a script refused to anybody of this browser, with the page's address. */
  get complaints(): readonly string[] {
    return this.shared.complaints;
  }

  /** Another tab of the same person. */
  async tab(): Promise<Person> {
    const page = listen(this.shared, await this.page.context().newPage());
    return new Person(this.shared, page, () => page.close());
  }

  /** Somebody whom neither the server nor anyone else knows. */
  async stranger(options: BrowserContextOptions = {}): Promise<Person> {
    const page = await newPage(this.shared, options);
    return new Person(this.shared, page, () => page.context().close());
  }

  /** The same person, signed in where they were, with another browser. */
  async elsewhere(options: BrowserContextOptions): Promise<Person> {
    return await this.stranger({ storageState: await this.page.context().storageState(), ...options });
  }

  /** The same person, whose browser runs no scripts. */
  async withoutScript(options: BrowserContextOptions = {}): Promise<Person> {
    return await this.elsewhere({ javaScriptEnabled: false, ...options });
  }

  at(path: string): string {
    return `${this.shared.home()}${path}`;
  }

  async go(path: string): Promise<void> {
    await this.page.goto(this.at(path));
  }

  field(name: string): Locator {
    return this.page.locator(`[name="${name}"]`);
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole("button", { name });
  }

  /** The row of a table that has a text. */
  row(text: string): Locator {
    return this.page.locator("tr", { hasText: text });
  }

  async click(target: Locator): Promise<void> {
    this.effort.clicks += 1;
    await target.click();
  }

  async fill(name: string, value: string): Promise<void> {
    this.effort.fields += 1;
    await this.field(name).fill(value);
  }

  async text(selector = "main"): Promise<string> {
    return ((await this.page.locator(selector).first().textContent()) ?? "").replaceAll(/\s+/g, " ");
  }

  async untilText(selector: string, text: string | RegExp): Promise<void> {
    await this.page.locator(selector, { hasText: text }).first().waitFor({ state: "attached" });
  }

  /** Waits until nothing is requested any more, what came is drawn, and drawing it asked for nothing else. */
  async untilSettled(): Promise<void> {
    do {
      await eventually("the page's requests to end", () => this.requests.size === 0);
      await this.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
    } while (this.requests.size > 0);
  }

  async focused(attribute: string): Promise<string | null> {
    return await this.page.evaluate((name) => document.activeElement?.getAttribute(name) ?? null, attribute);
  }

  /** Presses the button that keeps the page's form. */
  async save(): Promise<void> {
    await this.click(this.page.locator('.form-actions [name="_action"][value="save"]'));
  }

  /** Opens every fold of the page's form, as somebody does who wants more than the defaults. */
  async openFolds(): Promise<void> {
    await this.page.locator("details.advanced").evaluateAll((folds) => {
      for (const fold of folds) if (fold instanceof HTMLDetailsElement) fold.open = true;
    });
  }

  /** Signs in by the form, and arrives where they wanted to go. */
  async signIn(next = "/", password = testPassword): Promise<void> {
    await this.go(next === "/" ? "/login" : `/login?next=${encodeURIComponent(next)}`);
    await this.enter(password);
    await this.page.waitForURL(({ href }) => href === this.at(next));
  }

  /** The first sign-in of all: the bootstrap password has to be changed. */
  async signInFirst(server: RunningServer): Promise<void> {
    const password = server.bootstrapPassword() ?? "";
    await this.go("/login");
    await this.enter(password);
    await this.page.waitForURL("**/account/password");
    await this.fill("current_password", password);
    await this.fill("new_password", testPassword);
    await this.click(this.page.locator("form.sign-in .btn.main"));
    await this.page.waitForURL(({ href }) => href === this.at("/"));
  }

  private async enter(password: string): Promise<void> {
    await this.fill("username", "admin");
    await this.fill("password", password);
    await this.page.keyboard.press("Enter");
  }

  /** Confirms the question that the dialog asks. */
  async confirm(): Promise<void> {
    await this.click(this.page.locator("dialog[open] button[type=submit]"));
  }

  /** Opens the plan from the page of an executor: what the dialog says. */
  async openPlan(): Promise<string> {
    await this.click(this.page.locator("main a[href$='/run']").first());
    await this.page.locator("dialog[open] button[type=submit]").waitFor();
    return await this.text("dialog[open]");
  }

  /** Waits without a reload until the page of a run has all of its end. Answers the run's id. */
  async untilRunEnds(state: string): Promise<string> {
    await this.page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    // The last part that the stream brings: everything else is there by then.
    await this.page.locator("#run-live:not([data-poll])").waitFor({ state: "attached", timeout: runLimitMs });
    expect(await this.text("#run-state")).toStartWith(state);
    return this.page.url().split("/").at(-1) ?? "";
  }

  /** Waits until the page of a tracker, or their list, asks no more for a check's end. */
  async untilChecked(): Promise<void> {
    await this.page.locator("#look-again[hx-get]").waitFor({ state: "detached" });
  }

  async speak(language: "en" | "zh"): Promise<void> {
    await this.page.context().addCookies([{ name: "tidemark_language", value: language, url: this.at("/") }]);
  }

  /** By how many pixels the page is wider than the window. */
  async excess(): Promise<number> {
    return await this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  }

  /** Expects that each page fits the widths, in both languages. The last one stays open, in Chinese. */
  async expectFit(paths: readonly string[], widths: readonly number[] = [390]): Promise<void> {
    for (const language of ["en", "zh"] as const) {
      await this.speak(language);
      for (const path of paths) {
        for (const [index, width] of widths.entries()) {
          await this.page.setViewportSize({ width, height: 844 });
          if (index === 0) await this.go(path);
          // What comes later may be wider, and leaving a page while it asks counts as a failed request.
          await this.untilSettled();
          const shown = (await this.page.getAttribute("html", "lang"))?.slice(0, 2);
          expect([path, width, shown, await this.excess()]).toEqual([path, width, language, 0]);
        }
      }
    }
  }

  /** A picture of the page for people to look at, where pictures are wanted. */
  async photograph(name: string): Promise<void> {
    if (pictures === null) return;
    mkdirSync(pictures, { recursive: true });
    const isDialog = (await this.page.locator("dialog[open]").count()) > 0;
    await this.page.screenshot({ path: join(pictures, `${name}.png`), fullPage: !isDialog });
  }
}
