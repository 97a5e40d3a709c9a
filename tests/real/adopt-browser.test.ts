import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { type Registry, startRegistry } from "../peers/registry.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { eventually } from "../support/eventually.ts";
import { pushImage } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { storyMissing } from "../support/story.ts";

setDefaultTimeout(300_000);

const images = ["acme/web", "acme/api", "acme/cache", "acme/mail", "tools/backup"];
const running = ["1.0.0", "1.1.0", "1.1.0-alpine"];
const newer = ["1.2.0", "1.2.0-alpine"];
const alone = 44;
const projects = ["shop", "wiki", "media"];

/** Of a target on a phone, in pixels. */
const mostRowHeight = 96;

/** The texts that a new line begins in the middle of a word. */
function brokenWords(all: readonly Element[]): (string | null)[] {
  return all
    .filter((element) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      let [before, line] = ["/", Number.NaN];
      while (walker.nextNode()) {
        const text = walker.currentNode;
        for (const [at, letter] of [...(text.textContent ?? "")].entries()) {
          const range = document.createRange();
          range.setStart(text, at);
          range.setEnd(text, at + 1);
          const { top, height } = range.getBoundingClientRect();
          if (top > line + height / 2 && !/[/:@-]/.test(before)) return true;
          [before, line] = [letter, top];
        }
      }
      return false;
    })
    .map((element) => element.textContent);
}

/** Whether a notice is over what adopts. */
function isCovered(adopt: Element): boolean {
  const { left, top, width, height } = adopt.getBoundingClientRect();
  return document.elementFromPoint(left + width / 2, top + height / 2)?.closest("#toasts") !== null;
}

/** Stands before a registry and, while it holds, lets requests wait. */
function slowFront(target: string) {
  let held = Promise.withResolvers<void>();
  held.resolve();
  let waiting = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      waiting += 1;
      await held.promise;
      waiting -= 1;
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      return await fetch(`${target}${pathname}${search}`, { method, headers });
    },
  });
  return {
    host: `127.0.0.1:${server.port}`,
    waiting: () => waiting,
    hold: () => {
      held = Promise.withResolvers();
    },
    release: () => held.resolve(),
    [Symbol.asyncDispose]: async () => {
      held.resolve();
      await server.stop(true);
    },
  };
}

// The first hour: an engine with forty-four containers and three compose projects of two services, by mouse, by keyboard and without
// JavaScript.
peerSuite("adopting what runs, in a browser", storyMissing() ?? chromiumMissing(), () => {
  let engine: TestEngine;
  let registry: Registry;
  let server: RunningServer;
  let person: Person;
  let page: Page;

  const create = (name: string, image: string, labels: Readonly<Record<string, string>> = {}) =>
    engine.call("POST", `/containers/create?name=${name}`, { Image: image, Labels: labels });
  const inProject = (project: string, service: string) => ({
    "com.docker.compose.project": project,
    "com.docker.compose.service": service,
    "com.docker.compose.container-number": "1",
    "com.docker.compose.oneoff": "False",
  });
  const list = async (path: string): Promise<Record<string, unknown>[]> => {
    const answer = await page.request.get(person.at(`/api${path}`));
    return ((await answer.json()) as { items: Record<string, unknown>[] }).items;
  };
  const executors = () => list("/executors?limit=100");
  /** Waits until the versions of all images are there: they are looked up after the page. */
  const looked = () => page.locator("main", { hasText: "Checking" }).waitFor({ state: "detached" });

  beforeAll(async () => {
    registry = await startRegistry();
    const references: string[] = [];
    for (const image of images) {
      for (const tag of [...running, ...newer]) await pushImage(registry.url, registry.auth, image, tag);
      references.push(...running.map((tag) => `${registry.host}/${image}:${tag}`));
    }
    engine = await startEngine();
    for (const reference of references) {
      await engine.call("POST", `/images/create?fromImage=${encodeURIComponent(reference)}`);
    }
    const image = (index: number) => references[index % references.length] ?? "";
    for (let index = 0; index < alone; index += 1) await create(`app-${index}`, image(index));
    for (const project of projects) {
      for (const service of ["front", "store"]) {
        await create(`${project}-${service}-1`, image(service.length), inProject(project, service));
      }
    }
    await engine.call("POST", "/containers/app-0/start");
    server = await startServer();
    person = await openBrowser(() => server.url);
    ({ page } = person);
  });
  afterAll(async () => {
    await person?.close();
    await server?.kill("SIGTERM");
    await engine?.stop();
    await registry?.stop();
  });

  test("from the first sign-in to everything adopted", async () => {
    await person.signInFirst(server);
    await person.click(page.locator("main a[href='/connections/new']").first());
    await page.waitForURL(/\/connections\/new/);
    await person.fill("name", "nas");
    await person.fill("config.address", engine.address);
    await person.save();
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}\/adopt$/);
    const adopt = page.locator('.choice-bar [name="_action"][value="adopt"]');
    const viewport = page.viewportSize() ?? { width: 1280, height: 800 };
    for (const width of [390, viewport.width]) {
      await page.setViewportSize({ ...viewport, width });
      expect(await page.locator("#toasts").textContent()).toContain("Added nas");
      expect([width, await adopt.evaluate(isCovered)]).toEqual([width, false]);
    }
    expect(await page.locator("input.choice").count()).toBe(alone + projects.length);
    expect(await page.locator("input.choice:checked").count()).toBe(alone + projects.length);
    await looked();
    expect(await executors()).toEqual([]);
    expect(await list("/trackers")).toEqual([]);
    const rows = await page.locator("tr:has(input.choice)").allTextContents();
    expect(rows.filter((row) => row.includes("alpine") && !row.includes("1.2.0-alpine"))).toEqual([]);

    for (const width of [1024, 1280, 1600]) {
      await page.setViewportSize({ ...viewport, width });
      expect([width, await page.locator(".adopt .reference").evaluateAll(brokenWords)]).toEqual([width, []]);
    }
    await page.setViewportSize({ ...viewport, width: 390 });
    const heights = await page
      .locator("tr:has(input.choice)")
      .evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
    expect(Math.max(...heights)).toBeLessThanOrEqual(mostRowHeight);
    await page.setViewportSize(viewport);

    // What a filter hides is not adopted, and not counted.
    for (const [search, count] of [
      ["app-1", 11],
      ["", alone + projects.length],
    ] as const) {
      await page.locator("main [name=search]").fill(search);
      await page.locator(`[name=shown][value="${count}"]`).waitFor({ state: "attached" });
      expect([search, await page.locator("input.choice:checked").count()]).toEqual([search, count]);
      expect([search, await adopt.textContent()]).toEqual([search, `Adopt ${count}`]);
    }

    const before = person.effort.clicks;
    await person.click(adopt);
    await page.getByRole("heading", { level: 1, name: `Adopted ${alone + projects.length} targets` }).waitFor();
    console.log(`adopting ${alone + projects.length} targets: ${person.effort.clicks - before} click`);
    expect(person.effort.clicks - before).toBe(1);
    expect(await executors()).toHaveLength(alone + projects.length);
    // Each image is followed once for its variant, however many containers run it.
    expect(await list("/trackers")).toHaveLength(images.length * 2);
    expect(await list("/runs")).toEqual([]);
  });

  test("the first update of one of them", async () => {
    await eventually("the first checks", async () =>
      (await executors()).some(({ name, state }) => name === "app-0" && state === "update"),
    );
    // What was created leads there; nothing has to be looked for in the list.
    await person.click(page.locator("main a", { hasText: /^app-0$/ }).first());
    await page.waitForURL(/\/executors\/[0-9a-f-]{36}/);
    await person.openPlan();
    await person.confirm();
    await eventually("the update", async () => (await list("/runs"))[0]?.state === "succeeded");
    console.log(`first update, from the first sign-in: ${person.effort.clicks} clicks, ${person.effort.fields} fields`);
    const found = (await engine.call("GET", "/containers/app-0/json")) as { Config: { Image: string } };
    expect(found.Config.Image).toEndWith(":1.2.0");
  });

  test("a second visit shows only what is new, and takes it by keyboard alone", async () => {
    await create("late-1", `${registry.host}/acme/web:1.0.0`);
    await create("late-2", `${registry.host}/acme/api:1.0.0`);
    await person.go("/adopt");
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}\/adopt$/);
    expect(await page.locator("input.choice").count()).toBe(2);
    await page.locator("input.choice").first().focus();
    await page.keyboard.press("Space");
    expect(await page.locator("input.choice:checked").count()).toBe(1);
    const adopt = page.locator('.choice-bar [name="_action"][value="adopt"]');
    for (let press = 0; press < 40 && !(await adopt.evaluate((node) => node === document.activeElement)); press += 1) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Adopted 1 target" }).waitFor();
    expect((await executors()).map(({ name }) => name)).toContain("late-2");
    expect(await person.text()).not.toContain("late-1");
    // The trackers that are there already are used again.
    expect(await list("/trackers")).toHaveLength(images.length * 2);
  });

  test("without JavaScript: what is ignored stays ignored, and the rest is adopted", async () => {
    await create("late-3", `${registry.host}/acme/mail:1.0.0`);
    {
      await using plain = await person.withoutScript({ viewport: { width: 390, height: 800 } });
      const bare = plain.page;
      await plain.go("/adopt");
      expect(await bare.locator("input.choice").count()).toBe(2);
      await plain.row("late-3").locator("input.choice").uncheck();
      await bare.locator('.choice-bar [name="_action"][value="ignore"]').click();
      await bare.locator("#adopt-ignored", { hasText: "late-1" }).waitFor();
      expect(await bare.locator("input.choice").count()).toBe(1);
      await bare.locator('.choice-bar [name="_action"][value="adopt"]').click();
      await bare.getByRole("heading", { level: 1, name: "Adopted 1 target" }).waitFor();
      await plain.go("/adopt");
      expect(await bare.locator("input.choice").count()).toBe(0);
      expect(await plain.text("#adopt-ignored")).toContain("late-1");
    }
    const names = (await executors()).map(({ name }) => name);
    expect(names).toContain("late-3");
    expect(names).not.toContain("late-1");
  });

  test("versions fill in row by row as their registries answer, and nothing that was entered is lost", async () => {
    await using slow = slowFront(registry.url);
    const quick = `${registry.host}/tools/quick`;
    for (const tag of ["1.0.0", "1.2.0"]) {
      for (const image of ["tools/quick", "tools/slow"]) await pushImage(registry.url, registry.auth, image, tag);
    }
    const references = { quick: `${quick}:1.0.0`, slow: `${slow.host}/tools/slow:1.0.0` };
    for (const [name, reference] of Object.entries(references)) {
      await engine.call("POST", `/images/create?fromImage=${encodeURIComponent(reference)}`);
      await create(name, reference);
    }
    slow.hold();
    await person.go("/adopt");
    const newest = (name: string) => person.row(`/tools/${name}:1.0.0`).locator("[id^='newest-']");
    await newest("quick").filter({ hasText: "1.2.0" }).waitFor();
    expect(await newest("slow").textContent()).toContain("Checking");
    expect(slow.waiting()).toBeGreaterThan(0);
    await person.row("/tools/quick:").locator("input.choice").uncheck();
    await person.row("/tools/slow:").locator("summary").click();
    await person.row("/tools/slow:").locator("[name^='executor.']").fill("renamed");
    slow.release();
    await newest("slow").filter({ hasText: "1.2.0" }).waitFor();
    await page.locator("#adopt-poll[hx-get]").waitFor({ state: "detached" });
    expect(await person.row("/tools/quick:").locator("input.choice").isChecked()).toBe(false);
    expect(await person.row("/tools/slow:").locator("[name^='executor.']").inputValue()).toBe("renamed");
  });

  test("no script failed and no policy was violated", () => {
    expect(person.complaints).toEqual([]);
  });
});
