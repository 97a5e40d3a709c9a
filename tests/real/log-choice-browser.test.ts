import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chromiumMissing } from "../peers/chromium.ts";
import { browsedApp } from "../support/browsed-app.ts";
import { FakeEngine, fakeRuntimes } from "../support/fake-runtime.ts";
import { peerSuite } from "../support/peer.ts";
import { addSurroundings } from "../support/surroundings.ts";
import { type TestApp, testApp } from "../support/test-app.ts";

setDefaultTimeout(120_000);

/** The choice of containers on a page of logs that was opened while its engine was down. */
peerSuite("a choice of containers that comes later", chromiumMissing(), () => {
  const engine = new FakeEngine();
  let app: TestApp;
  let browsed: Awaited<ReturnType<typeof browsedApp>>;
  let path: string;
  let ticking: ReturnType<typeof setInterval>;

  const addContainer = (name: string) =>
    engine.add(`shop-${name}-1`, "registry.test/app:1.0", null, { project: "shop", service: name });

  beforeAll(async () => {
    app = await testApp({ runtimes: fakeRuntimes(engine) });
    const person = await app.signedIn();
    await addSurroundings(app);
    for (const name of ["web", "db"]) addContainer(name);
    const { body } = await person.api("POST", "/executors", {
      ...{ name: "shop", connection_id: "connection-1", trigger: "manual" },
      target: { kind: "compose", id: "shop" },
      bindings: [{ service: "web", tracker: "app", source: "main", channel: "stable" }],
    });
    path = `/executors/${body.id}/logs`;
    browsed = await browsedApp(app);
    // The stream lists the containers by the application's clock.
    ticking = setInterval(() => void app.clock.advance(500), 100);
  });
  afterAll(async () => {
    clearInterval(ticking);
    await browsed?.close();
    await app?.close();
  });

  test("comes with what begins the view, and is left alone while somebody makes it", async () => {
    const { page } = browsed;
    const boxes = () =>
      page
        .locator("#log-names [type=checkbox]")
        .evaluateAll((all) => all.map((box) => [(box as HTMLInputElement).value, (box as HTMLInputElement).checked]));
    engine.isUnreachable = true;
    await page.goto(path);
    await page.locator("#log-end[data-again]").waitFor();
    expect(await boxes()).toEqual([]);
    engine.isUnreachable = false;
    await page.getByRole("group", { name: "Containers" }).waitFor();
    expect(await boxes()).toEqual([
      ["shop-web-1", true],
      ["shop-db-1", true],
    ]);

    await page.getByLabel("shop-db-1").uncheck();
    addContainer("queue");
    await page.locator("#log-parts", { hasText: "shop-queue-1" }).waitFor();
    expect(await boxes()).toEqual([
      ["shop-web-1", true],
      ["shop-db-1", false],
    ]);
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/container=shop-web-1/);
    expect(await boxes()).toEqual([
      ["shop-web-1", true],
      ["shop-db-1", false],
      ["shop-queue-1", false],
    ]);

    addContainer("cache");
    await page.getByLabel("shop-cache-1").waitFor();
    expect(await page.getByLabel("shop-cache-1").isChecked()).toBe(false);
  });
});
