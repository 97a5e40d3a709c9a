import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { chromiumMissing, startChromium } from "../peers/chromium.ts";
import { account } from "../peers/registry.ts";
import {
  type ComposeStory,
  type Service,
  type StoryOptions,
  services,
  startComposeStory,
  storyMissing,
} from "../support/compose-story.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, firstSignIn, testPassword } from "../support/server.ts";

setDefaultTimeout(180_000);

const options: StoryOptions = { mode: "docker-29-containerd", compose: "5.6.0", has_compose: true };
const names = services.map((service) => `shop-${service}-1`);
/** `TIDEMARK_PICTURES=DIRECTORY` keeps pictures of each page that the story comes by, to be looked at. */
const pictures = process.env.TIDEMARK_PICTURES ?? null;

// The same story as by the API, by a person with a browser: what is chosen, read and decided is on the pages.
peerSuite("the story of a stack, in a browser", storyMissing(options) ?? chromiumMissing(), () => {
  let story: ComposeStory;
  let browser: Browser;
  let page: Page;
  let api: ApiClient;
  let executor = "";
  const complaints: string[] = [];
  const at = (path: string) => `${story.server.url}${path}`;
  const text = async (selector = "main") =>
    ((await page.locator(selector).first().textContent()) ?? "").replaceAll(/\s+/g, " ");

  const create = async (path: string, body: unknown): Promise<string> => {
    const answer = await api.post(path, body);
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return String(answer.body.id);
  };
  const check = async (service: Service, tag: string) => {
    await api.post(`/trackers/${service}/checks`);
    await eventually(`${service} ${tag} to be found`, async () => {
      const { items } = (await api.get(`/trackers/${service}/releases`)).body as { items: { tag: string }[] };
      return items.some((each) => each.tag === tag);
    });
  };
  const excess = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  /** As it stands, at both widths: an open dialog stays open, and nothing is wider than the window. */
  const lookHere = async (name: string) => {
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
      expect([name, width, await excess()]).toEqual([name, width, 0]);
      if (pictures === null) continue;
      mkdirSync(pictures, { recursive: true });
      const isDialog = (await page.locator("dialog[open]").count()) > 0;
      await page.screenshot({ path: join(pictures, `${name}-${width}.png`), fullPage: !isDialog });
    }
  };
  /** The page anew in both languages, at both widths. */
  const look = async (name: string, path: string, ready: string) => {
    for (const language of ["zh", "en"]) {
      await page.context().addCookies([{ name: "tidemark_language", value: language, url: story.server.url }]);
      await page.goto(at(path));
      await page.locator(ready).first().waitFor();
      await lookHere(`${name}-${language}`);
    }
  };
  /** The last part that the stream brings: everything else is there by then. */
  const runEnded = () => page.locator("#run-live:not([data-poll])").waitFor({ state: "attached", timeout: 120_000 });
  const stateOf = async (id: string) => String((await api.get(`/runs/${id}`)).body.state);
  /** Reviews the plan in its dialog and runs it; answers the run's id with its page open. */
  const runIt = async (picture: string) => {
    await page.goto(at(`/executors/${executor}`));
    await page.locator("main .plan-containers li").first().waitFor();
    await page.locator(`main a[href='/executors/${executor}/run']`).first().click();
    await page.locator("dialog[open] .plan-containers li").nth(2).waitFor();
    await lookHere(picture);
    await page.locator("dialog[open] button[type=submit]").click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    return page.url().split("/").at(-1) ?? "";
  };

  beforeAll(async () => {
    story = await startComposeStory(options);
    api = await firstSignIn(story.server);
    const config = { address: story.engine.address };
    await create("/runtime-connections", { name: "nas", kind: "docker", config });
    const credential = await create("/credentials", { name: "registry", kind: "oci", secret: { ...account } });
    for (const service of services) {
      const source = {
        key: "image",
        kind: "oci",
        config: { image: `shop/${service}`, registry: story.registry.url },
        credential_id: credential,
        channels: [{ type: "stable", include_pattern: "^\\d+\\.\\d+\\.\\d+$" }],
      };
      await create("/trackers", { name: service, sources: [source], sorting: "semantic" });
      await story.push(service, "1.1.0", { broken: service === "worker" });
      await check(service, "1.1.0");
    }
    browser = await startChromium();
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB" });
    page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("console", (message) => {
      const isUsual = /^Failed to load resource|net::ERR_/;
      if (message.type() === "error" && !isUsual.test(message.text())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(at("/login"));
    await page.fill("#f-username", "admin");
    await page.fill("#f-password", testPassword);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => !url.pathname.startsWith("/login"));
  });
  afterAll(async () => {
    await browser?.close();
    await story?.stop();
  });

  test("the form takes the group with its three services, each with the tracker of its image", async () => {
    await page.goto(at("/executors/new"));
    await page.locator("input[value='compose:shop']").click();
    await page.locator("fieldset[id^='f-service_']").nth(2).waitFor();
    expect(await Promise.all([0, 1, 2].map((each) => page.inputValue(`#f-bindings-${each}-tracker`)))).toEqual([
      ...services,
    ]);
    await page.locator("[name=trigger]").selectOption("manual");
    await lookHere("form-en");
    await page.locator('.form-actions [name="_action"][value="save"]').click();
    await page.waitForURL(/\/executors\/[0-9a-f-]{36}$/);
    executor = page.url().split("/").at(-1) ?? "";
    // Looked at for the first time while the page is open: what is found comes by itself.
    await page.locator("#executor-state", { hasText: "Update available" }).waitFor();
    await page.locator("#executor-look[hx-get]").waitFor({ state: "detached" });
    expect(await text("#executor-lead")).toContain("Compose group, 3 services");
    const patched = await api.request("PATCH", `/executors/${executor}`, {
      health_check: {
        strategy: "auto",
        initial_delay_seconds: 0,
        probe_interval_seconds: 1,
        total_probe_duration_seconds: 40,
      },
    });
    expect(patched.status).toBe(200);
  });

  test("the executor's page shows the containers in their order, each service's image and the file's lines", async () => {
    await look("executor", `/executors/${executor}`, "main .plan-containers li");
    expect(await page.locator("main .plan-containers li b").allInnerTexts()).toEqual(names);
    const shown = await text();
    for (const service of services) {
      expect(shown).toContain(`${story.registry.host}/shop/${service}:1.1.0`);
    }
    expect(shown).toContain(`${story.folder}/compose.yaml`);
    expect(shown).not.toContain("only-in-the-file");
  });

  test("the run with the broken worker ends as it is watched: put back, each container with what it did, and why", async () => {
    const id = await runIt("run-question-en");
    await page.locator(".state", { hasText: "Failed" }).first().waitFor({ timeout: 120_000 });
    await runEnded();
    await eventually("the run to clear up", async () => (await story.containers()).length === 3);
    await page.locator(`#run-steps :text('${names[2]}')`).first().waitFor();
    const told = await text();
    for (const name of names) expect(told).toContain(name);
    expect(await text("#run-banner")).toContain("worker");
    expect((await text("#run-steps")).match(/restored/gi)?.length).toBeGreaterThanOrEqual(3);
    const stepOf = (state: string) => page.locator(`#run-steps > li.${state}[id^='step-container-']`);
    expect(await stepOf("failed").locator(".step-title").allInnerTexts()).toEqual([
      `${names[2]} the run failed here, restored`,
    ]);
    expect(await stepOf("failed").locator(".code").first().textContent()).toMatch(
      /Container exited \(code 3\)|The engine restarted it/,
    );
    expect(await stepOf("undone").count()).toBe(2);
    expect(await page.locator("#run-plan h3").allInnerTexts()).toEqual([...services]);
    await look("run-failed", `/runs/${id}`, "#run-steps");
    expect(await story.containers()).toEqual(names.map((name) => `${name} running 1.0.0`));
  });

  test("with the tag mended the run succeeds, and its page has the lines for the compose file", async () => {
    await story.push("worker", "1.1.1");
    await check("worker", "1.1.1");
    const id = await runIt("run-question-again-en");
    await page.locator("main .state", { hasText: "Succeeded" }).first().waitFor({ timeout: 120_000 });
    await runEnded();
    expect(await stateOf(id)).toBe("succeeded");
    expect(await text("#run-summary")).toMatch(/took .+, including .+ of health checks/);
    await look("run-succeeded", `/runs/${id}`, "#run-steps");
    const told = await text();
    expect(told).toContain(`${story.folder}/compose.yaml`);
    expect(told).toContain("shop/worker:1.1.1");
    await look("executor-current", `/executors/${executor}`, "#snapshots tbody tr");
  });

  test("a rollback shows in its dialog what it changes, with the file's lines, and does just that", async () => {
    const { items } = (await api.get(`/executors/${executor}/snapshots`)).body as { items: { id: string }[] };
    await page.goto(at(`/executors/${executor}/snapshots/${items[0]?.id}`));
    await page.locator("#diff .diff-field").first().waitFor();
    await look("snapshot", `/executors/${executor}/snapshots/${items[0]?.id}`, "#diff .diff-field");
    await page.locator("main .actions >> text=Restore").click();
    await page.locator("dialog[open] .diff-field").first().waitFor();
    await lookHere("rollback-question-en");
    const asked = await text("dialog[open]");
    for (const service of services) expect(asked).toContain(`shop/${service}:1.0.0`);
    expect(await page.locator("dialog[open] .plan-service:has(.diff) > h3").allInnerTexts()).toEqual([...services]);
    await page.locator("dialog[open] button[type=submit]").click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    const id = page.url().split("/").at(-1) ?? "";
    await page
      .locator("main .state", { hasText: /Succeeded|Rolled back/ })
      .first()
      .waitFor({ timeout: 120_000 });
    await look("rolled-back", `/runs/${id}`, "#run-steps");
    expect(await text("#run-facts")).toMatch(/Running now\s*the snapshot version/);
    expect(await page.locator(".page-title .state, .page-title .badge").allInnerTexts()).toEqual(["Rolled back"]);
    expect(
      await eventually("the leftovers to be gone", async () => {
        const found = await story.containers();
        return found.length === 3 ? found : null;
      }),
    ).toEqual(names.map((name) => `${name} running 1.0.0`));
  });

  test("no script failed and nothing was refused by the policy", () => {
    expect(complaints).toEqual([]);
  });
});
