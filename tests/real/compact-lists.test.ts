import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { deliveries, executors, notifiers, releases, runs, tracker_channels, trackers } from "../../src/db/tables.ts";
import { newId } from "../../src/ids.ts";
import { plain, say, told } from "../../src/messages/message.ts";
import { chromiumMissing } from "../peers/chromium.ts";
import { browsedApp } from "../support/browsed-app.ts";
import { peerSuite } from "../support/peer.ts";
import { digest } from "../support/run-world.ts";
import { seedRows } from "../support/seeded-rows.ts";
import { goodPassword, type TestApp, testApp } from "../support/test-app.ts";

setDefaultTimeout(120_000);

const rowCount = 50;
const longName = "the-name-of-a-service-that-is-far-longer-than-a-phone-is-wide-0123456789";
/** Of a row, and of a page with 50 of them, in pixels. */
const most = { row: 80, sheet_row: 72, page: 4_000 };
const running = { image: "app:1.0.0", image_id: "sha256:x", digest: digest("a"), platform: "linux/amd64" };
/** The height of a row on a desktop, in pixels. */
const oneLine = 48;
/** An executor that its channel's latest version is not yet on. */
const behind = {
  services: [
    {
      ...{ service: "main", tracker: longName, source: "registry", channel: "stable", difference: "other_version" },
      ...{ behind: null, unmet: null },
      found: { ...running, name: "main", containers: ["web"], state: "running", tag: "1.0.0" },
      desired: { version: "1.3.0", tag: "1.3.0", digest: digest("b"), reference: "app:1.3.0", published_at: null },
    },
  ],
  ...{ unbound: [], problem: null, waiting: null, desired_revision: `main ${digest("b")}` },
};
/** Of what is pressed: of a row's action, and of anything (WCAG 2.2, 2.5.8). */
const least = { action: 44, target: 24 };

peerSuite(`${rowCount} rows on a phone`, chromiumMissing(), () => {
  let app: TestApp;
  let person: Awaited<ReturnType<TestApp["signedIn"]>>;
  let browsed: Awaited<ReturnType<typeof browsedApp>>;
  let page: Page;

  beforeAll(async () => {
    app = await testApp();
    person = await app.signedIn();
    await app.db.write(async (tx) => {
      const size = { trackers: rowCount, releases_each: 3, executors: rowCount, runs_each: 1 };
      const now = app.clock.now();
      await seedRows(tx, size, now);
      await tx.update(trackers).set({ name: longName }).where(eq(trackers.name, "app-0000"));
      await tx
        .update(executors)
        .set({ name: longName, observed: behind, observed_at: now, next_evaluation_at: null })
        .where(eq(executors.name, "app-0000"));
      const problem = { code: "unreachable", ...told(plain("The engine does not respond")) };
      await tx
        .update(executors)
        .set({ observed: { ...behind, services: [], problem }, observed_at: now, next_evaluation_at: null })
        .where(eq(executors.name, "app-0001"));
    });
    const secret = { username: "a", password: "a password of a registry" };
    for (let index = 0; index < rowCount; index += 1) {
      const name = `${longName}-${index}`;
      const hook = {
        kind: "webhook",
        language: "en",
        url: "https://hooks.example.org/a",
        trigger_events: ["new_release"],
      };
      const connection = { kind: "docker", config: { address: `unix:///run/nobody-${index}.sock` } };
      for (const [path, input] of [
        ["/notifiers", hook],
        ["/credentials", { kind: "oci", secret }],
        ["/runtime-connections", connection],
      ] as const) {
        expect((await person.api("POST", path, { name, ...input })).body).toMatchObject({ name });
      }
    }
    for (const name of [longName, "ci"]) {
      const token = await person.api("POST", "/api-tokens", { name, current_password: goodPassword });
      expect(token.body).toMatchObject({ name });
    }
    expect((await person.api("POST", "/backups", {})).status).toBe(201);
    browsed = await browsedApp(app, { viewport: { width: 390, height: 844 } });
    page = browsed.page;
  });

  afterAll(async () => {
    await browsed?.close();
    await app?.close();
  });

  /** Each row of the list, as it is laid out. */
  const rowsShown = () =>
    page.evaluate(() =>
      [...document.querySelectorAll(".table.compact tbody tr")].map((row) => {
        const box = row.getBoundingClientRect();
        const isSeen = (part: Element | null) => {
          const { top, bottom, width } = part?.getBoundingClientRect() ?? box;
          return width > 0 && top >= box.top && bottom <= box.bottom;
        };
        const shown = (selector: string) =>
          [...row.querySelectorAll(selector)].filter((part) => part.getBoundingClientRect().width > 0);
        const sizes = (parts: readonly Element[]) =>
          parts.map((part) => {
            const { width, height } = part.getBoundingClientRect();
            return Math.min(width, height);
          });
        const heading = row.querySelector("th");
        return {
          height: box.height,
          parts: [heading, row.querySelector("td:not([data-label], .row-actions)"), row.querySelector("td.leading")]
            .filter((part) => part !== null && getComputedStyle(part).display !== "none")
            .map(isSeen),
          name: heading?.textContent ?? "",
          leads: heading?.querySelector("a")?.getAttribute("href") ?? null,
          actions: sizes(shown(".row-actions :is(.btn, summary)")),
          targets: sizes(shown(".row-actions :is(a, button, summary)")),
        };
      }),
    );

  /** The states that a row cuts. */
  const cutStates = () =>
    page.locator("tbody .state").evaluateAll((all) =>
      all
        .filter((state) => {
          const { top, bottom, right } = state.getBoundingClientRect();
          const [cell, row] = [state.closest("td, th"), state.closest("tr")].map((part) =>
            part?.getBoundingClientRect(),
          );
          const word = state.querySelector(":scope > span");
          const isWithin = right <= (cell?.right ?? 0) + 1 && top >= (row?.top ?? 0) && bottom <= (row?.bottom ?? 0);
          return !isWithin || (word?.scrollWidth ?? 0) > (word?.clientWidth || Number.POSITIVE_INFINITY);
        })
        .map((state) => state.textContent),
    );

  test.each([
    ["/trackers", 1],
    ["/executors", 0],
    ["/runs", 0],
    ["/connections", 1],
    ["/credentials", 0],
    ["/notifiers", 0],
  ])("%s: each row tells name, state and version, leads on, and is low", async (path, actions) => {
    await page.goto(path);
    const rows = await rowsShown();
    expect(rows).toHaveLength(rowCount);
    for (const row of rows) {
      expect(row.height).toBeLessThanOrEqual(most.row);
      expect(row.parts.length).toBeGreaterThan(0);
      expect(row.parts).not.toContain(false);
      expect(row.leads).not.toBeNull();
      expect(row.actions.length).toBeGreaterThanOrEqual(actions);
      expect(Math.min(...row.actions, least.action)).toBe(least.action);
      expect(Math.min(...row.targets, least.target)).toBe(least.target);
    }
    expect(rows.some(({ name }) => name.startsWith(longName))).toBe(true);
    expect(await cutStates()).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(most.page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });

  test("a delivery that failed is seen beside its notifier's name, however long its host is", async () => {
    const name = "ops";
    const url = `https://${"hooks-".repeat(9)}x.example.org/a`;
    const hook = { kind: "webhook", language: "en", url, trigger_events: ["new_release"] };
    const { id } = (await person.api("POST", "/notifiers", { name, ...hook })).body;
    const sent = { notifier_id: String(id), event: "test", body: {}, state: "failed" as const };
    await app.db.write((tx) => tx.insert(deliveries).values({ id: "d", ...sent, created_at: app.clock.now() }));
    await page.goto("/notifiers?q=ops");
    const [row] = await rowsShown();
    expect([row?.name, row?.parts]).toEqual([name, [true, true]]);
    expect(await page.locator("tbody .state").textContent()).toBe("Failed");
    expect(await cutStates()).toEqual([]);
    await app.db.write((tx) => tx.delete(notifiers).where(eq(notifiers.id, String(id))));
  });

  test.each(["/account", "/account/sessions", "/upstreams", "/settings/backups"])(
    "%s: each row is one of the sheet, and what it has no room for is behind its action",
    async (path) => {
      await page.goto(path);
      const rows = await rowsShown();
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) {
        expect(row.height).toBeLessThanOrEqual(most.sheet_row);
        expect(row.parts).not.toContain(false);
        expect(row.actions).toHaveLength(1);
        expect(Math.min(...row.actions)).toBeGreaterThanOrEqual(least.action);
      }
      const heads = page.locator(".table.compact thead th.sorts");
      expect(await heads.evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).length)).toBe(
        0,
      );
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
      const action = page.locator(".row-actions :is(.btn, summary)").first();
      await action.click();
      const facts = page.locator("dialog[open] .facts, .row-facts .menu[open] .facts");
      await facts.waitFor();
      expect(await facts.locator("dt").count()).toBeGreaterThan(2);
      // A row would cut off what is longer than itself.
      const isSeen = await facts.evaluate((each) => {
        const { x, y, width, height } = each.getBoundingClientRect();
        return each.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      });
      expect(isSeen).toBe(true);
    },
  );

  test("/settings/audit: each row is low, and all of an entry is in its menu", async () => {
    await page.goto("/settings/audit");
    const rows = await rowsShown();
    expect(rows).toHaveLength(rowCount);
    for (const row of rows) {
      expect(row.height).toBeLessThanOrEqual(most.row);
      expect(row.parts).not.toContain(false);
      expect(Math.min(...row.actions, least.action)).toBe(least.action);
    }
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(most.page);
    const first = page.locator(".row-actions .menu").first();
    await first.locator("summary").click();
    const facts = first.locator(".facts");
    expect(await facts.textContent()).toContain("admin");
    const box = await facts.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
  });

  test("the box that selects all rows stands above theirs, apart from the heading beside it", async () => {
    await page.goto("/executors");
    expect(await page.locator("tbody", { hasText: "Engine unreachable" }).count()).toBe(1);
    const box = (selector: string) => page.locator(selector).first().boundingBox();
    const [all, own, heading] = [await box("thead input"), await box("tbody input"), await box("thead .sorts a")];
    expect(all?.x).toBeCloseTo(own?.x ?? 0, 0);
    expect(heading?.x).toBeGreaterThanOrEqual((all?.x ?? 0) + (all?.width ?? 0) + 8);
  });

  test("the main action of a tracker and of an executor with an update is the update", async () => {
    await page.goto("/trackers");
    const row = page.locator("tr", { hasText: longName });
    const isSeen = await row.locator(".row-actions > *").evaluateAll((all) => all.map((each) => each.clientWidth > 0));
    expect(isSeen).toEqual([true, false]);
    expect(await row.locator(".row-actions a").getAttribute("href")).toMatch(/^\/executors\/.+\/run$/);
    await page.goto("/executors");
    const menu = page.locator("tr", { hasText: longName }).locator(".menu");
    await menu.locator("summary").click();
    expect(await menu.locator(".menu-item").first().textContent()).toContain("Update");
  });

  test("a name that is cut is whole on the page that its row leads to", async () => {
    await page.goto("/trackers");
    const heading = page.locator("th", { hasText: longName });
    const ends = () =>
      heading.locator(".parted > span").evaluate((whole) => {
        const [text, outer] = [whole.firstElementChild ?? whole, whole.parentElement ?? whole];
        const isCut = text.scrollWidth > text.clientWidth;
        // What is after the text: the end, which is outside where the text is whole.
        const room = outer.getBoundingClientRect().right - text.getBoundingClientRect().right;
        return { isCut, shown: room > 30, end: getComputedStyle(whole, "::after").content };
      });
    expect(await ends()).toEqual({ isCut: true, shown: true, end: `"${longName.slice(-8)}" / ""` });
    expect(await heading.getByRole("link", { name: longName, exact: true }).count()).toBe(1);
    // It is one text.
    const copied = await heading.evaluate((cell) => {
      getSelection()?.selectAllChildren(cell);
      return getSelection()?.toString().trim();
    });
    expect(copied).toBe(longName);
    // Small enough for its line, it is whole.
    await page.setViewportSize({ width: 1280, height: 844 });
    await heading.evaluate((cell) => cell.style.setProperty("font-size", "5px"));
    expect(await ends()).toMatchObject({ isCut: false, shown: false });
    await page.setViewportSize({ width: 390, height: 844 });
    await heading.locator("a").click();
    const title = page.locator("h1");
    expect(await title.textContent()).toContain(longName);
    expect(await title.evaluate((cell) => cell.scrollWidth <= cell.clientWidth)).toBe(true);
  });

  test("releases of a tracker and events of a day are low too", async () => {
    for (const [path, rows, expected] of [
      ["/trackers/app-0001", ".history .row", 3],
      ["/", "[id^=day-] .row", 10],
    ] as const) {
      await page.goto(path);
      const heights = await page
        .locator(rows)
        .evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
      expect(heights.length).toBeGreaterThanOrEqual(expected);
      expect(Math.max(...heights)).toBeLessThanOrEqual(most.row);
    }
  });

  test("a count in the navigation of a phone has one line, however many there are", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto("/trackers");
    const height = await page
      .locator(".side .count")
      .first()
      .evaluate((count) => {
        count.textContent = "1,201";
        return count.getBoundingClientRect().height;
      });
    expect(height).toBeLessThan(25);
  });

  test("buttons and fields are high enough for a finger", async () => {
    const storageState = await browsed.context.storageState();
    const device = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, baseURL: app.origin };
    const touched = await browsed.context.browser()?.newContext({ ...device, storageState });
    const phone = await touched?.newPage();
    for (const path of ["/", "/trackers", "/executors", "/credentials/new", "/account"]) {
      await phone?.goto(path);
      const low = await phone?.locator("main :is(.btn, .menu > summary, select, .input, .segments a)").evaluateAll(
        (all, high) =>
          all
            .map((each) => [each.textContent?.trim(), each.getBoundingClientRect()] as const)
            .filter(([, { width, height }]) => width > 1 && height < high)
            .map(([text, { height }]) => `${text}: ${height}`),
        least.action,
      );
      expect([path, low]).toEqual([path, []]);
    }
    await touched?.close();
  });

  test("a mark beside a name is never cut", async () => {
    for (const width of [390, 1024, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto("/account/sessions");
      const marks = page.locator("tbody th .badge");
      const cut = await marks.evaluateAll((all) =>
        all.map((each) => {
          const end = each.closest("th")?.getBoundingClientRect().right ?? 0;
          return Math.max(0, each.getBoundingClientRect().right - end);
        }),
      );
      expect([width, cut]).toEqual([width, [0]]);
    }
  });

  test("on a desktop a row has one line, and no table is wider than its place", async () => {
    for (const width of [1024, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      for (const path of ["/trackers", "/executors", "/runs", "/connections", "/credentials", "/notifiers"]) {
        await page.goto(path);
        const table = page.locator(".table.compact");
        const isWithin = await table.evaluate(
          (each) => each.getBoundingClientRect().width <= (each.parentElement?.clientWidth ?? 0),
        );
        // Where there is less room, a distance has the line below its versions.
        const rows = table.locator(width < 1280 ? "tbody tr:not(:has(.behind))" : "tbody tr");
        const heights = await rows.evaluateAll((all) => all.map((each) => each.clientHeight));
        expect([path, width, isWithin, Math.max(...heights) <= oneLine]).toEqual([path, width, true, true]);
        expect([path, width, await cutStates()]).toEqual([path, width, []]);
      }
      // Where no action changes a state, room is not kept for another one.
      await page.goto("/connections");
      const state = page.locator("tbody td:has(> .state)").first();
      expect(await state.evaluate((cell) => cell.clientWidth)).toBeLessThan(170);
    }
  });

  test("a row that changes is styled anew, not the list around it", async () => {
    /** How many elements are styled until the next frame, of how many the table has. */
    const styledBy = async (act: () => void) => {
      // What turns once is styled until it has.
      await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== "running"));
      const browser = page.context().browser();
      await browser?.startTracing(page, { categories: ["disabled-by-default-devtools.timeline.invalidationTracking"] });
      await page.evaluate(act);
      const elements = await page.evaluate(
        () =>
          new Promise<number>((done) => {
            const count = document.querySelectorAll(".table.compact *").length;
            requestAnimationFrame(() => requestAnimationFrame(() => done(count)));
          }),
      );
      const trace = (await browser?.stopTracing())?.toString() ?? "";
      return { styled: trace.split("StyleResolver::ResolveStyle").length - 1, elements };
    };
    const replaceRow = () => {
      const row = document.querySelector(".table.compact tbody tr:nth-child(3)");
      row?.replaceWith(row.cloneNode(true));
    };
    const colourRows = () => {
      for (const row of document.querySelectorAll<HTMLElement>(".table.compact tbody tr")) row.style.color = "red";
    };
    // What turns is styled with each frame.
    await page.emulateMedia({ reducedMotion: "reduce" });
    for (const width of [390, 1024, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      for (const path of ["/trackers", "/executors", "/runs", "/connections", "/credentials", "/notifiers"]) {
        await page.goto(path);
        const row = await styledBy(replaceRow);
        expect([path, width, row.styled > 0, row.styled < row.elements / 10]).toEqual([path, width, true, true]);
      }
    }
    // What is counted is what it is taken for.
    const { styled, elements } = await styledBy(colourRows);
    expect(styled).toBeGreaterThan(elements / 2);
  });

  test("rows with distances and two channels stay within the window, with their whole name and at most two lines", async () => {
    const name = "authentik-worker";
    const tags = { from: "7.0.11-bookworm", to: "7.4.0-bookworm", candidate: "7.5.0-bookworm-rc2" };
    const [service] = behind.services;
    if (service === undefined) throw new Error("Nothing is behind");
    const far = {
      ...service,
      behind: { releases: 13, steps: { major: 0, minor: 1, patch: 3 }, is_at_least: true, days: 30 },
      found: { ...service.found, tag: tags.from },
      desired: { ...service.desired, version: tags.to, tag: tags.to },
    };
    await app.db.write(async (tx) => {
      await tx.update(trackers).set({ name }).where(eq(trackers.name, "app-0002"));
      await tx.update(executors).set({ name }).where(eq(executors.name, "app-0002"));
      await tx.update(executors).set({ observed: { ...behind, services: [far] }, observed_at: app.clock.now() });
      await tx.update(runs).set({ ended_at: app.clock.now() - 1_200_000 });
      // The longest action of a row.
      const snooze = { snoozed_until: app.clock.now() + 86_400_000, snoozed_ms: 86_400_000 };
      await tx.update(executors).set(snooze).where(eq(executors.name, "app-0003"));
      await tx.update(releases).set({ version: tags.candidate, tag: tags.candidate }).where(eq(releases.tag, "1.2.0"));
      const found = await tx.select().from(releases).where(eq(releases.tag, tags.candidate)).limit(10);
      for (const { id, source_id } of found) {
        const channel = { name: "beta", type: "beta" as const, position: 1, baseline_at: app.clock.now() };
        await tx
          .insert(tracker_channels)
          .values({ id: newId(app.clock.now()), source_id, latest_release_id: id, ...channel });
      }
    });
    for (const width of [640, 800, 1024, 1280, 1600]) {
      await page.setViewportSize({ width, height: 800 });
      for (const path of ["/trackers", "/executors"]) {
        await page.goto(path);
        const shown = await page.locator(".table.compact tbody tr").evaluateAll(
          (all, ordinary) => ({
            tallest: Math.max(...all.map((row) => row.clientHeight)),
            right: Math.max(...all.map((row) => row.querySelector(".row-actions")?.getBoundingClientRect().right ?? 0)),
            place: document.querySelector(".table-box")?.getBoundingClientRect().right ?? 0,
            page: document.documentElement.scrollWidth,
            cut: all
              .map((row) => row.querySelector("th :is(.clip, a)"))
              .filter((cell) => cell?.textContent === ordinary)
              .map((cell) => (cell?.scrollHeight ?? 0) > (cell?.clientHeight ?? 0) + 2),
          }),
          name,
        );
        expect([path, width, shown.page, shown.cut]).toEqual([path, width, width, [false]]);
        expect(shown.right).toBeLessThanOrEqual(shown.place);
        expect([path, width, shown.tallest <= (width === 1024 ? most.row + 8 : most.sheet_row)]).toEqual([
          path,
          width,
          true,
        ]);
      }
    }
  });

  test("the runs of an executor show both versions, however long these are", async () => {
    const suffix = "nightly.20261127.build-4711-gdeadbeefcafe-bookworm-slim-amd64-with-plugins";
    await app.db.write((tx) =>
      tx.update(runs).set({ from_tag: `v2026.10.03-${suffix}`, to_tag: `v2026.11.27-${suffix}` }),
    );
    await page.goto("/executors");
    const path = await page.locator("main tbody th a").first().getAttribute("href");
    for (const width of [390, 1280, 1900]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(path ?? "");
      const shown = await page.locator("#content tr[id^=run-]").evaluateAll((all) =>
        all.map((row) => {
          const { right, bottom } = row.getBoundingClientRect();
          const versions = Array.from(row.querySelectorAll("th .version"), (each) => each.getBoundingClientRect());
          return versions.map((each) => each.width > 20 && each.right <= right && each.bottom <= bottom);
        }),
      );
      expect([width, shown]).toEqual([width, [[true, true]]]);
    }
  });

  test("versions with long suffixes take one line each, beside a run that failed too", async () => {
    const tags = { from: "2026.9.3-alpine3.22-slim", to: "2026.10.1-alpine3.22-slim" };
    const [service] = behind.services;
    if (service === undefined) throw new Error("Nothing is behind");
    const suffixed = {
      ...service,
      found: { ...service.found, tag: tags.from },
      desired: { ...service.desired, version: tags.to, tag: tags.to },
    };
    await app.db.write(async (tx) => {
      const observed = { ...behind, services: [suffixed], desired_revision: "r" };
      await tx.update(executors).set({ observed, observed_at: app.clock.now() });
      await tx.update(releases).set({ version: tags.to, tag: tags.to }).where(eq(releases.tag, "7.4.0-bookworm"));
      await tx.update(runs).set({ state: "failed", kind: "update", serving: "previous", desired_revision: "r" });
    });
    for (const width of [1024, 1280, 1600]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto("/executors");
      expect(await page.locator("tr .row-actions", { hasText: "Dismiss" }).count()).toBe(rowCount);
      const heights = await page
        .locator("td .version")
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
      const pairs = await page
        .locator("td .from-to")
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
      const page_width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([width, page_width, Math.max(...heights) < 30, Math.max(...pairs) < 60]).toEqual([
        width,
        width,
        true,
        true,
      ]);
      await page.goto("/trackers");
      expect([width, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([width, width]);
    }
  });

  test("on a phone a state has two lines at most, and what has no room below it is not seen at all", async () => {
    const now = app.clock.now();
    await app.db.write(async (tx) => {
      const [waiting] = await tx.select({ id: executors.id }).from(executors).where(eq(executors.name, "app-0004"));
      const told = { run: "r", executor: "the-paperless-of-the-whole-family-and-the-office", connection: "nas" };
      await tx.insert(runs).values({
        ...{ id: newId(now), executor_id: waiting?.id ?? "", kind: "update", state: "pending", trigger: "manual" },
        ...{ reason_code: "waiting_for_connection", reason: say("runs.waits_for_run", told) },
        ...{ due_at: now, created_at: now },
      });
    });
    for (const width of [360, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto("/executors");
      const parts = await page.locator("tr", { hasText: "the-paperless" }).evaluate((row) => {
        const state = row.querySelector(".state")?.getBoundingClientRect();
        const cut = [...document.querySelectorAll("tbody td[data-label]")].filter((cell) => {
          const { bottom } = cell.parentElement?.getBoundingClientRect() ?? cell.getBoundingClientRect();
          const box = cell.getBoundingClientRect();
          return box.height > 0 && box.top < bottom && box.bottom > bottom + 2;
        });
        return { state: Math.round(state?.height ?? 0) <= 31, cut: cut.length };
      });
      expect([width, parts]).toEqual([width, { state: true, cut: 0 }]);
    }
  });

  test("no arrow between two versions begins a line, and every tab can be scrolled into view", async () => {
    const [main] = behind.services;
    const found = { ...main?.found, tag: "12.1.1+security_01.build.20261101" };
    const observed = { ...behind, services: [{ ...main, found }] };
    await app.db.write((tx) => tx.update(executors).set({ observed }).where(eq(executors.name, longName)));
    const onOneLine = (of = "#overview") =>
      page.locator(`${of} .from-to .arrow`).evaluateAll((arrows) =>
        arrows.map((arrow) => {
          const text = arrow.previousElementSibling?.firstChild ?? document.body;
          const last = document.createRange();
          last.setStart(text, (text.textContent?.length ?? 0) - 1);
          last.setEndAfter(text);
          const { right, bottom } = last.getBoundingClientRect();
          const { left, top } = arrow.getBoundingClientRect();
          return right <= left && left - right < 16 && top < bottom;
        }),
      );
    for (let width = 320; width <= 400; width += 4) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto("/");
      const are = await onOneLine();
      expect(are.length).toBeGreaterThan(0);
      expect([width, are.filter((is) => !is)]).toEqual([width, []]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      await page.goto("/design");
      const tabs = await page.locator(".tabs a").evaluateAll((all) =>
        all.map((tab) => {
          tab.scrollIntoView({ block: "nearest" });
          return tab.getBoundingClientRect().right;
        }),
      );
      expect([width, tabs.filter((right) => right > width)]).toEqual([width, []]);
    }
    for (const width of [1024, 1280, 1600]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto("/executors");
      const are = await onOneLine("tbody");
      expect(are.length).toBeGreaterThan(0);
      expect([width, are.filter((is) => !is)]).toEqual([width, []]);
    }
    // The dots at a line's end replace an arrow only if it takes room.
    await page.setViewportSize({ width: 390, height: 844 });
    const [arrow] = await page
      .locator("tbody .from > .arrow")
      .evaluateAll((all) => all.map((each) => getComputedStyle(each).marginLeft));
    expect(Number.parseFloat(arrow ?? "")).toBeGreaterThan(0);
  });

  test("on a phone a group tells how far behind it is, beside the beginning of its services' names", async () => {
    const [main] = behind.services;
    const far = { releases: 3, steps: { major: 0, minor: 1, patch: 3 }, is_at_least: false, days: 30 };
    const services = ["immich-server", "immich-machine-learning"].map((service) => ({
      ...{ ...main, service, behind: far },
      found: { ...main?.found, name: service },
    }));
    await app.db.write((tx) =>
      tx
        .update(executors)
        .set({ target_kind: "compose", observed: { ...behind, services }, observed_at: app.clock.now() })
        .where(eq(executors.name, "app-0003")),
    );
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto("/executors?q=app-0003");
    const line = page.locator("tbody td.leading");
    const shown = await line.evaluate((cell) => {
      const { bottom, right } = cell.getBoundingClientRect();
      return [".names", ".version.new", ".behind"].map((part) => {
        const box = cell.querySelector(part)?.getBoundingClientRect();
        return (box?.width ?? 0) > 30 && (box?.right ?? 0) <= right + 1 && (box?.bottom ?? 0) <= bottom + 2;
      });
    });
    expect(await line.textContent()).toContain("1 minor, 3 patches");
    expect(shown).toEqual([true, true, true]);
  });

  test("an executor's name has more of the room than its target of the same name", async () => {
    await app.db.write((tx) => tx.update(executors).set({ target_id: longName }).where(eq(executors.name, longName)));
    for (const width of [1280, 1600]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto("/executors?sort=name");
      const [name = 0, target = 0] = await page
        .locator("tbody tr")
        .first()
        .locator("th, td.clips")
        .evaluateAll((cells) => cells.map((cell) => cell.clientWidth));
      expect([width, name > 1.2 * target]).toEqual([width, true]);
    }
  });
});
