import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Locator, Page } from "playwright-core";
import { chromiumMissing, startChromium } from "../peers/chromium.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { type Registry, startRegistry } from "../peers/registry.ts";
import { eventually } from "../support/eventually.ts";
import { pushImage } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { type RunningServer, startServer, temporaryDir, testPassword } from "../support/server.ts";
import { storyMissing } from "../support/story.ts";

setDefaultTimeout(300_000);

/** What a person does: each is counted, and printed at the end of its journey. */
interface Effort {
  clicks: number;
  fields: number;
}

const images = ["acme/web", "acme/api", "acme/cache", "acme/mail", "tools/backup"];
const running = ["1.0.0", "1.1.0", "1.1.0-alpine"];
const newer = ["1.2.0", "1.2.0-alpine"];
const alone = 44;
const projects = ["shop", "wiki", "media"];

// The first hour: an engine with forty-four containers and three compose projects of two services, by mouse, by keyboard and without
// JavaScript.
peerSuite("adopting what runs, in a browser", storyMissing() ?? chromiumMissing(), () => {
  let engine: TestEngine;
  let registry: Registry;
  let server: RunningServer;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const effort: Effort = { clicks: 0, fields: 0 };

  const at = (path: string) => `${server.url}${path}`;
  const text = async () => (await page.textContent("main")) ?? "";
  const click = async (target: Locator) => {
    effort.clicks += 1;
    await target.click();
  };
  const fill = async (name: string, value: string) => {
    effort.fields += 1;
    await page.locator(`[name="${name}"]`).fill(value);
  };
  const create = (name: string, image: string, labels: Readonly<Record<string, string>> = {}) =>
    engine.call("POST", `/containers/create?name=${name}`, { Image: image, Labels: labels });
  const inProject = (project: string, service: string) => ({
    "com.docker.compose.project": project,
    "com.docker.compose.service": service,
    "com.docker.compose.container-number": "1",
    "com.docker.compose.oneoff": "False",
  });
  const list = async (path: string): Promise<Record<string, unknown>[]> => {
    const answer = await page.request.get(at(`/api${path}`));
    return ((await answer.json()) as { items: Record<string, unknown>[] }).items;
  };
  const executors = () => list("/executors?limit=100");
  /** Waits until the versions of all images are there: they are looked up after the page. */
  const looked = () => page.locator("main", { hasText: "Looking" }).waitFor({ state: "detached" });

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
    server = await startServer({ data_dir: temporaryDir() });
    browser = await startChromium();
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB" });
    page = await context.newPage();
    page.setDefaultTimeout(120_000);
    page.on("console", (message) => {
      const isUsual = /^Failed to load resource|^The Cross-Origin-Opener-Policy header has been ignored/;
      if (message.type() === "error" && !isUsual.test(message.text())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.kill("SIGTERM");
    await engine?.stop();
    await registry?.stop();
  });

  test("from the first sign-in to everything adopted", async () => {
    await page.goto(at("/"));
    const password = server.bootstrapPassword() ?? "";
    await fill("username", "admin");
    await fill("password", password);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/account/password");
    await fill("current_password", password);
    await fill("new_password", testPassword);
    await click(page.locator("form.sign-in .btn.main"));
    await page.waitForURL(at("/"));
    await click(page.locator("main a[href='/connections/new']").first());
    await page.waitForURL(/\/connections\/new/);
    await fill("name", "nas");
    await fill("config.address", engine.address);
    await click(page.locator('.form-actions [name="_action"][value="save"]'));
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}\/adopt$/);
    expect(await page.locator("input.choice").count()).toBe(alone + projects.length);
    expect(await page.locator("input.choice:checked").count()).toBe(alone + projects.length);
    await looked();
    expect(await executors()).toEqual([]);
    expect(await list("/trackers")).toEqual([]);
    const rows = await page.locator("tr:has(input.choice)").allTextContents();
    expect(rows.filter((row) => row.includes("alpine") && !row.includes("1.2.0-alpine"))).toEqual([]);

    const before = effort.clicks;
    await click(page.locator('.adopt-bar [name="_action"][value="adopt"]'));
    await page.waitForURL(/\/adopt$/);
    await page.getByRole("heading", { level: 1, name: `Adopted ${alone + projects.length} targets` }).waitFor();
    console.log(`adopting ${alone + projects.length} targets: ${effort.clicks - before} click`);
    expect(effort.clicks - before).toBe(1);
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
    await click(page.locator("main a", { hasText: /^app-0$/ }).first());
    await page.waitForURL(/\/executors\/[0-9a-f-]{36}/);
    await click(page.locator("main a[href$='/run']").first());
    await click(page.locator("dialog[open] button[type=submit]"));
    await eventually("the update", async () => (await list("/runs"))[0]?.state === "succeeded");
    console.log(`first update, from the first sign-in: ${effort.clicks} clicks, ${effort.fields} fields`);
    const found = (await engine.call("GET", "/containers/app-0/json")) as { Config: { Image: string } };
    expect(found.Config.Image).toEndWith(":1.2.0");
  });

  test("a second visit shows only what is new, and takes it by keyboard alone", async () => {
    await create("late-1", `${registry.host}/acme/web:1.0.0`);
    await create("late-2", `${registry.host}/acme/api:1.0.0`);
    await page.goto(at("/adopt"));
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}\/adopt$/);
    expect(await page.locator("input.choice").count()).toBe(2);
    await page.locator("input.choice").first().focus();
    await page.keyboard.press("Space");
    expect(await page.locator("input.choice:checked").count()).toBe(1);
    const adopt = page.locator('.adopt-bar [name="_action"][value="adopt"]');
    for (let press = 0; press < 40 && !(await adopt.evaluate((node) => node === document.activeElement)); press += 1) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Adopted 1 target" }).waitFor();
    expect((await executors()).map(({ name }) => name)).toContain("late-2");
    expect(await text()).not.toContain("late-1");
    // The trackers that are there already are used again.
    expect(await list("/trackers")).toHaveLength(images.length * 2);
  });

  test("without JavaScript: what is ignored stays ignored, and the rest is adopted", async () => {
    await create("late-3", `${registry.host}/acme/mail:1.0.0`);
    const context = await browser.newContext({
      ...{ javaScriptEnabled: false, locale: "en-GB", viewport: { width: 390, height: 800 } },
      storageState: await page.context().storageState(),
    });
    try {
      const plain = await context.newPage();
      plain.setDefaultTimeout(120_000);
      await plain.goto(at("/adopt"));
      expect(await plain.locator("input.choice").count()).toBe(2);
      await plain.locator("tr", { hasText: "late-3" }).locator("input.choice").uncheck();
      await plain.locator('.adopt-bar [name="_action"][value="ignore"]').click();
      await plain.locator("#adopt-ignored", { hasText: "late-1" }).waitFor();
      expect(await plain.locator("input.choice").count()).toBe(1);
      await plain.locator('.adopt-bar [name="_action"][value="adopt"]').click();
      await plain.getByRole("heading", { level: 1, name: "Adopted 1 target" }).waitFor();
      await plain.goto(at("/adopt"));
      expect(await plain.locator("input.choice").count()).toBe(0);
      expect(await plain.locator("#adopt-ignored").textContent()).toContain("late-1");
    } finally {
      await context.close();
    }
    const names = (await executors()).map(({ name }) => name);
    expect(names).toContain("late-3");
    expect(names).not.toContain("late-1");
  });

  test("no script failed and no policy was violated", () => {
    expect(complaints).toEqual([]);
  });
});
