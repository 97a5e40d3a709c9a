import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { executors, tracker_channels, tracker_sources, trackers } from "../../src/db/tables.ts";
import { chromiumMissing } from "../peers/chromium.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { composeTarget } from "../support/compose-target.ts";
import { FakeEngine, fakeRuntimes } from "../support/fake-runtime.ts";
import { peerSuite } from "../support/peer.ts";
import { digest } from "../support/run-world.ts";
import { goodPassword, type TestApp, testApp } from "../support/test-app.ts";

setDefaultTimeout(180_000);

peerSuite("the form of a group's executor in Chromium", chromiumMissing(), () => {
  const engine = new FakeEngine();
  let app: TestApp;
  let connection: string;
  let person: Person;
  let page: Page;
  let server: ReturnType<typeof Bun.serve>;

  beforeAll(async () => {
    for (const service of ["web", "worker", "tunnel"]) {
      engine.add(`shop-${service}-1`, `registry.test/${service}:1.0`, digest("a"), { project: "shop", service });
    }
    const long = "a-service-whose-name-goes-on-and-on";
    engine.add(`${long}-1`, `registry.example.internal:5000/platform/team/${long}:2026.11.20-bookworm`, digest("b"), {
      project: `${long}-of-a-project`,
      service: long,
    });
    for (let count = 0; count < 60; count++) engine.add(`app-${count}`, "registry.test/other:1.0", digest("c"));
    app = await testApp({ runtimes: fakeRuntimes(engine) });
    const { api } = await app.signedIn();
    for (const name of ["web", "worker"]) await addTracker(name);
    const { body } = await api("POST", "/runtime-connections", {
      name: "Home",
      kind: "docker",
      config: { address: "fake://home" },
    });
    connection = String(body.id);
    server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => forward(request) });
    person = await openBrowser(() => `http://127.0.0.1:${server.port}`);
    ({ page } = person);
    await person.signIn("/", goodPassword);
  });

  afterAll(async () => {
    await person?.close();
    await server?.stop(true);
    await app?.close();
  });

  /** The application knows itself by another origin than the one that listens here. */
  async function forward(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const headers = new Headers(request.headers);
    headers.delete("referer");
    if (headers.has("origin")) headers.set("origin", app.origin);
    const body = request.method === "GET" ? null : await request.arrayBuffer();
    return await app.send(`${pathname}${search}`, { method: request.method, headers, body, redirect: "manual" });
  }

  async function addTracker(name: string): Promise<void> {
    const now = app.clock.now();
    const times = { created_at: now, updated_at: now };
    const depth = { check_interval_minutes: 360, fetch_depth: 10, request_timeout_seconds: 15 };
    const source = { key: "main", kind: "oci", config: { image: `registry.test/${name}` }, host: "registry.test" };
    await app.db.write(async (tx) => {
      await tx.insert(trackers).values({ id: `t-${name}`, name, ...depth, sorting: "publish_time", ...times });
      await tx
        .insert(tracker_sources)
        .values({ id: `s-${name}`, tracker_id: `t-${name}`, ...source, position: 0, next_check_at: now });
      await tx
        .insert(tracker_channels)
        .values({ id: `c-${name}`, source_id: `s-${name}`, name: "stable", type: "stable", position: 0 });
    });
  }

  const rows = (within: Page) => within.locator("fieldset[id^='f-service_']");

  test("a search leaves the targets that have its words, and says when none has", async () => {
    await person.go("/executors/new");
    const shown = page.locator("#targets [data-found]:visible");
    expect(await shown.count()).toBe(62);
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect((await page.locator(".picker").boundingBox())?.height).toBeLessThan(700);
      await person.photograph(`target-picker-${width}`);
    }
    await page.fill("[data-find]", "shop WORKER");
    expect(await shown.locator("b").first().textContent()).toBe("shop");
    expect(await shown.count()).toBe(1);
    await page.fill("[data-find]", "nothing like that");
    await page.getByText("No target has a matching name, image or chart.").waitFor();
    await page.fill("[data-find]", "shop");
  });

  test("a search among namespaces leaves those that have a match, here and on the connection's page", async () => {
    engine.namespaceOf = (id) => (id.startsWith("app-1") ? "team-a" : "team-b");
    for (const path of ["/executors/new", `/connections/${connection}/targets`]) {
      await person.go(path);
      expect(await page.locator("#targets").getByText("team-a").first().isVisible()).toBe(true);
      await page.fill("[data-find]", "app-12");
      expect(await page.locator("#targets [data-found]:visible").count()).toBe(1);
      expect(await page.locator("#targets").getByText("team-b").first().isVisible()).toBe(false);
      await page.fill("[data-find]", "nothing like that");
      await page.getByText("No target has a matching name, image or chart.").waitFor();
      expect(await page.locator("#targets").getByText("team-a").first().isVisible()).toBe(false);
      for (const width of [390, 1600]) {
        await page.fill("[data-find]", "");
        await page.setViewportSize({ width, height: 900 });
        expect(await person.excess()).toBe(0);
      }
    }
    engine.namespaceOf = () => null;
    await page.setViewportSize({ width: 1280, height: 900 });
    await person.go("/executors/new");
    await page.fill("[data-find]", "shop");
  });

  test("a chosen group brings its services with their trackers, keeps the focus and folds the other targets", async () => {
    await page.locator("input[value='compose:shop']").click();
    await rows(page).first().waitFor();
    expect(await rows(page).count()).toBe(3);
    const chosen = [0, 1, 2].map((position) => page.inputValue(`#f-bindings-${position}-tracker`));
    expect(await Promise.all(chosen)).toEqual(["web", "worker", ""]);
    expect(await person.focused("value")).toBe("compose:shop");
    expect(await page.locator("#other-targets[open]").count()).toBe(0);
    expect(await page.inputValue("#f-name")).toBe("shop");
  });

  test("some letters and Enter choose a target; the form is not sent, and what is taken is shown", async () => {
    await person.go("/executors/new");
    await page.keyboard.type("app-42");
    await person.photograph("target-picker-found");
    await page.keyboard.press("Enter");
    await page.locator("#other-targets").waitFor();
    expect(await person.focused("value")).toBe("container:app-42");
    expect(await page.inputValue("#f-name")).toBe("app-42");
    expect(await page.locator("[data-errors]").count()).toBe(0);
    // Nothing matches: nothing happens.
    await page.locator("#other-targets > summary").click();
    await page.fill("[data-find]", "nothing like that");
    await page.keyboard.press("Enter");
    expect(await page.inputValue("#f-name")).toBe("app-42");
    await page.fill("[data-find]", "wor");
    await page.keyboard.press("Enter");
    await rows(page).first().waitFor();
  });

  test("unbinding a service takes its source and channel away, binding it brings them back", async () => {
    await page.selectOption("#f-bindings-0-tracker", "");
    await page.locator("#f-bindings-0-source").waitFor({ state: "detached" });
    await page.selectOption("#f-bindings-0-tracker", "web");
    await page.locator("#f-bindings-0-source").waitFor();
    expect(await page.inputValue("#f-bindings-0-channel")).toBe("stable");
  });

  test.each([390, 1280, 1600])("at %i pixels nothing is wider than the window", async (width) => {
    await page.setViewportSize({ width, height: 900 });
    expect(await person.excess()).toBe(0);
    await page.locator("#other-targets > summary").click();
    expect(await person.excess()).toBe(0);
    await page.locator("#other-targets > summary").click();
  });

  test("without scripts the same form chooses, binds and saves", async () => {
    await using plain = await person.withoutScript();
    const tab = plain.page;
    await plain.go("/executors/new");
    await tab.locator("input[value='compose:shop']").click();
    await tab.locator("#f-group_where > .unscripted button").click();
    await rows(tab).first().waitFor();
    await tab.selectOption("#f-bindings-1-tracker", "");
    await tab.locator(".form-actions button.main").click();
    await tab.waitForURL(/\/executors\/[0-9a-f-]{36}$/);
    const [stored] = (await app.services.executors.list({})).items;
    expect(stored?.target).toEqual(composeTarget("shop"));
    expect(stored?.bindings.map((binding) => binding.service)).toEqual(["web"]);
  });

  test("the page of a new executor shows by itself what the first look found, and asks no more then", async () => {
    const [stored] = (await app.services.executors.list({})).items;
    await person.go(`/executors/${stored?.id}`);
    expect(await page.textContent("#executor-state")).toBe("Checking");
    const observed = { services: [], unbound: [], problem: null, waiting: null, desired_revision: null };
    await app.db.write((tx) => tx.update(executors).set({ observed, observed_at: app.clock.now() }));
    await page.locator("#executor-state", { hasText: "Up to date" }).waitFor();
    await page.locator("#executor-look[hx-get]").waitFor({ state: "detached" });
    await page.locator("#executor-lead", { hasText: "Compose group," }).waitFor();
    await page.locator("#executor-facts", { hasNotText: "Never" }).waitFor();
    expect(await page.locator("#executor-services h2").count()).toBe(1);
  });

  test("no script failed and nothing was refused by the policy", () => {
    expect(person.complaints).toEqual([]);
  });
});
