import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, checkUntil, firstSignIn } from "../support/server.ts";
import { addWebExecutor, addWebTracker, type Story, startStory, storyMissing } from "../support/story.ts";

setDefaultTimeout(180_000);

const missing = storyMissing() ?? chromiumMissing();
const names = ["web", "web-blue", "web-green"] as const;

peerSuite("acting on several executors at once, in Chromium on a real engine", missing, () => {
  let world: Story;
  let person: Person;
  let page: Page;
  let api: ApiClient;
  let ids: readonly string[];

  const box = (name: string, on = page) => on.getByRole("checkbox", { name: `Select ${name}`, exact: true });
  const running = async () =>
    Object.fromEntries((await world.containers()).map(({ name, image }) => [name, image.split(":").at(-1)]));
  const runCount = async () => {
    const counts = await Promise.all(ids.map(async (id) => (await api.ok("GET", `/executors/${id}/runs`)).items));
    return counts.map((items) => (Array.isArray(items) ? items.length : 0));
  };
  const allRun = (version: string) =>
    eventually(`all three to run ${version}`, async () => {
      const found = await running();
      return names.every((name) => found[name] === version) && Object.keys(found).length === names.length;
    });
  const allSee = (version: string) =>
    eventually(`all three to see ${version}`, async () => {
      const seen = await Promise.all(ids.map((id) => api.ok("GET", `/executors/${id}`)));
      return seen.every(({ state, services }) => state === "update" && JSON.stringify(services).includes(version));
    });
  const publish = async (version: string) => {
    await world.push(version);
    await checkUntil(api, "web", version);
    await allSee(version);
  };

  beforeAll(async () => {
    world = await startStory();
    api = await firstSignIn(world.server);
    await addWebTracker(world, api);
    const { executor, connection } = await addWebExecutor(world, api);
    const made = [executor];
    for (const name of names.slice(1)) {
      const Image = `${world.registry.host}/${world.repository}:1.0.0`;
      await world.engine.call("POST", `/containers/create?name=${name}`, { Image });
      await world.engine.call("POST", `/containers/${name}/start`);
      const { id } = await api.ok("POST", "/executors", {
        ...{ name, connection_id: connection, target: { kind: "container", id: name }, trigger: "manual" },
        bindings: [{ tracker: "web", source: "image", channel: "stable" }],
        health_check: { strategy: "disabled" },
      });
      made.push(String(id));
    }
    ids = made;
    await publish("1.1.0");
    person = await openBrowser(() => world.server.url);
    ({ page } = person);
    await person.signIn();
  });

  afterAll(async () => {
    await person?.close();
    await world?.stop();
  });

  test("by mouse: three are selected, asked about once, and updated; sent again it starts nothing", async () => {
    await person.go("/executors");
    expect(await page.locator(".selection-bar").isVisible()).toBe(false);
    const before = { ...person.effort };
    await person.click(page.getByRole("checkbox", { name: "Select all shown" }));
    await page.locator(".selection-bar").waitFor();
    expect(await page.locator(".chosen-count").textContent()).toBe("3");
    await person.click(page.locator(".selection-bar").getByRole("button", { name: "Update", exact: true }));
    await page.getByRole("heading", { name: "Update 3 executors?" }).waitFor();
    expect(await page.locator(".confirm .rows .row").allTextContents()).toEqual(
      names.map((name) => expect.stringMatching(new RegExp(`${name}.*1\\.0\\.0.*1\\.1\\.0`))),
    );
    await person.click(person.button("Start updates"));
    await page.getByRole("heading", { name: "Started 3 updates" }).waitFor();
    const { clicks, fields } = person.effort;
    console.log(`Three updates: ${clicks - before.clicks} clicks, ${fields - before.fields} fields`);
    await allRun("1.1.0");
    // The page follows the runs to their end, and reloaded it starts nothing.
    await page.locator("#bulk-results").getByText("Succeeded").nth(2).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Started 3 updates" }).waitFor();
    expect(await runCount()).toEqual([1, 1, 1]);
  });

  test("by keyboard alone", async () => {
    await publish("1.2.0");
    await person.go("/executors");
    for (const name of names) {
      await box(name).focus();
      await page.keyboard.press("Space");
    }
    // Sends the selection with its first button.
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Update 3 executors?" }).waitFor();
    await person.button("Start updates").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Started 3 updates" }).waitFor();
    await allRun("1.2.0");
  });

  test("without script, on a phone: all safe updates", async () => {
    await publish("1.3.0");
    await using plain = await person.withoutScript({ viewport: { width: 390, height: 844 } });
    const bare = plain.page;
    await plain.go("/executors?select=all");
    await bare.locator(".selection-bar").getByText("More").click();
    await bare.locator(".selection-bar").getByRole("button", { name: "Hold updates" }).click();
    await bare.locator(".toast").getByText("Updates of 3 executors are on hold").waitFor();
    await plain.go("/executors/bulk?safe=1");
    await bare.getByText("No update is safe to install without review").waitFor();
    await plain.go("/executors");
    for (const name of names) await box(name, bare).check();
    await bare.locator(".selection-bar").getByText("More").click();
    await bare.locator(".selection-bar").getByRole("button", { name: "Resume updates" }).click();
    await bare.locator(".toast").getByText("Resumed updates of 3 executors").waitFor();
    await plain.go("/executors");
    await bare.getByRole("link", { name: "Update all safe" }).click();
    await bare.getByRole("heading", { name: "Install 3 safe updates?" }).waitFor();
    expect(await bare.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(
      0,
    );
    await bare.getByRole("button", { name: "Start updates" }).click();
    await bare.getByRole("heading", { name: "Started 3 updates" }).waitFor();
    await allRun("1.3.0");
    expect(person.complaints).toEqual([]);
  });
});
