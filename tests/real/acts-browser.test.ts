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

peerSuite("acting on updates where they are shown, in Chromium on a real engine", missing, () => {
  let world: Story;
  let person: Person;
  let page: Page;
  let api: ApiClient;
  let id = "";

  const row = (on = page) => on.locator(`#executor-${id}`);
  const menu = (on = page) => on.locator(`#actions-${id} > summary`);
  const executor = () => api.ok("GET", `/executors/${id}`);

  beforeAll(async () => {
    world = await startStory();
    api = await firstSignIn(world.server);
    await addWebTracker(world, api);
    await world.push("1.1.0");
    await checkUntil(api, "web", "1.1.0");
    id = (await addWebExecutor(world, api)).executor;
    await eventually("the executor to see it", async () => (await executor()).state === "update");
    person = await openBrowser(() => world.server.url);
    ({ page } = person);
    await person.signIn();
  });

  afterAll(async () => {
    await person?.close();
    await world?.stop();
  });

  test("by mouse: skipped in its row, and taken back in the notice", async () => {
    await person.go("/executors");
    await menu().click();
    await row().getByText("Skip this version").click();
    await row().getByText("Version skipped").waitFor();
    // The menu has done its work, and does not repeat the row's button.
    await page.waitForFunction((row) => document.querySelector(`#${row} .menu[open]`) === null, `executor-${id}`);
    await row().getByRole("button", { name: "Stop skipping" }).waitFor();
    expect(await menu().isVisible()).toBe(false);
    expect((await executor()).is_version_skipped).toBe(true);
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await row().getByText("Update available").waitFor();
    expect((await executor()).is_version_skipped).toBe(false);
  });

  test("on the overview the row goes, and comes back", async () => {
    await person.go("/");
    await menu().click();
    await page.locator(`#need-${id}`).getByText("Snooze for 1 week").click();
    await page.locator(`#need-${id}`).waitFor({ state: "detached" });
    expect((await executor()).state).toBe("snoozed");
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await page.locator(`#need-${id}`).waitFor();
  });

  test("by keyboard alone: it goes on from the row", async () => {
    await person.go("/executors");
    await menu().focus();
    await page.keyboard.press("Enter");
    // Past skipping: the entries follow the menu.
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await row().getByText("Snoozed until").waitFor();
    await page.waitForFunction((row) => document.activeElement?.closest("tr")?.id === row, `executor-${id}`);
    await row().getByRole("button", { name: "End snooze" }).first().focus();
    await page.keyboard.press("Enter");
    await row().getByText("Update available").waitFor();
    await page.waitForFunction((row) => document.activeElement?.closest("tr")?.id === row, `executor-${id}`);
  });

  test("at 390 px everything is in the menu, and nothing sticks out", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await person.go("/executors");
    expect(await row().getByRole("link", { name: "Update", exact: true }).count()).toBe(0);
    await menu().click();
    await row().locator(".menu-list").getByText("Update", { exact: true }).waitFor();
    expect(await person.excess()).toBe(0);
    await row().locator(".menu-list").getByText("Update", { exact: true }).click();
    await page.locator("#dialog").getByText("Run web now?").waitFor();
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test("without script: a page with the notice, and its undo", async () => {
    await using plain = await person.withoutScript();
    const bare = plain.page;
    await plain.go("/executors?state=update");
    await menu(bare).click();
    await row(bare).getByText("Skip this version").click();
    await bare.waitForURL("**/executors?state=update");
    await bare.locator(".toast").getByText("Skipped this version of web").waitFor();
    expect(await row(bare).count()).toBe(0);
    await bare.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await row(bare).waitFor();
  });

  test("a hold keeps the engine from being touched, until updates are resumed on the executor's page", async () => {
    await api.ok("POST", `/executors/${id}/actions`, { action: "hold" });
    await api.ok("PATCH", `/executors/${id}`, { trigger: "immediate" });
    await world.push("1.2.0");
    await checkUntil(api, "web", "1.2.0");
    await eventually(
      "the executor to see it",
      async () =>
        String((await executor()).update_revision) !== "null" &&
        JSON.stringify((await executor()).services).includes("1.2.0"),
    );
    expect((await api.ok("GET", `/executors/${id}/runs`)).items).toEqual([]);
    await person.go(`/executors/${id}`);
    await page.getByText("Updates on hold since").waitFor();
    await page.locator(".banner").getByRole("button", { name: "Resume updates" }).click();
    await page.locator(".toast").getByText("Resumed updates of web").waitFor();
    await eventually("the version runs", async () => ((await world.serves()) === "1.2.0" ? true : null));
    expect(person.complaints).toEqual([]);
  });
});
