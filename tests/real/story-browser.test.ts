import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { openBrowser, type Person, usualWhileAway } from "../support/browser-person.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type Story, startStory, storyMissing } from "../support/story.ts";

setDefaultTimeout(180_000);

const missing = storyMissing() ?? chromiumMissing();

// The same story as by the API, told by a person with a browser: every step is a click or a key.
peerSuite("the story, in a browser", missing, () => {
  let world: Story;
  let person: Person;
  let page: Page;

  /** Opens the newest run from the list and waits until its page says how it ended, without a reload. */
  const watchNewestRun = async (state: string) => {
    await person.go("/runs");
    await page.locator("main table tbody tr a").first().click();
    await page.waitForURL("**/runs/*");
    await person.untilRunEnds(state);
  };
  const checkNow = async () => {
    await person.go("/trackers/web");
    await person.button("Check now").first().click();
    await page.locator(".toast").first().waitFor();
  };

  beforeAll(async () => {
    world = await startStory();
    await world.push("0.9.0-rc1");
    person = await openBrowser(() => world.server.url, { usual: usualWhileAway });
    ({ page } = person);
  });
  afterAll(async () => {
    await person?.close();
    await world?.stop();
  });

  test("signs in, has to change the password, and is taught the next steps", async () => {
    await person.go("/");
    expect(new URL(page.url()).pathname).toBe("/login");
    await person.signInFirst(world.server);
    const overview = await person.text();
    for (const word of ["connection", "tracker", "executor"]) expect(overview.toLowerCase()).toContain(word);
  });

  test("stores a registry credential and a Docker connection, and sees the containers as targets", async () => {
    await person.go("/trackers/new");
    expect(await person.focused("name")).toBe("sources.0.config.image");
    await person.go("/credentials/new");
    expect(await person.focused("name")).toBe("name");
    await person.fill("name", "registry");
    await person.fill("secret.username", "ci");
    await person.fill("secret.password", "reg-pass");
    await person.save();
    await page.waitForURL("**/credentials");
    expect(await person.text()).not.toContain("reg-pass");
    await world.engine.call("POST", "/containers/create?name=throwaway", {
      Image: `${world.registry.host}/${world.repository}:1.0.0`,
      HostConfig: { AutoRemove: true },
    });
    await person.go("/connections/new");
    await person.fill("name", "nas");
    await person.fill("config.address", world.engine.address);
    await person.save();
    // A new connection leads to what can be adopted there; its own page is above that.
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}\/adopt$/);
    await page.click("main .parent");
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}$/);
    await person.row("throwaway").waitFor();
    expect(await person.text("tr:has-text('throwaway')")).toContain("--rm");
    expect(await person.text()).toContain("20.10");
  });

  test("creates a tracker, watching which tags its pattern takes while typing", async () => {
    await person.go("/trackers/new");
    await person.openFolds();
    await person.fill("name", "web");
    await person.fill("sources.0.key", "registry");
    await person.fill("sources.0.config.image", world.repository);
    await person.fill("sources.0.config.registry", world.registry.url);
    await person.field("sources.0.credential_id").selectOption({ label: "registry" });
    await person.fill("sources.0.channels.0.include_pattern", "^\\d+\\.\\d+\\.\\d+$");
    await person.field("sorting").selectOption("semantic");
    const row = (tag: string) => page.locator("#tracker-preview li", { hasText: tag });
    // The preview is drawn while the form is filled in; the last of them counts.
    await row("0.9.0-rc1").filter({ hasText: "does not match the include pattern" }).waitFor();
    await row("1.0.0").filter({ hasText: "latest" }).first().waitFor();
    expect(await row("1.0.0").first().locator("[aria-label=Accepted], title:has-text('Accepted')").count()).toBe(1);
    await person.fill("sources.0.channels.0.exclude_pattern", "(?<!x)rc");
    await page.locator("[data-field='sources.0.channels.0.exclude_pattern']", { hasText: /look/i }).waitFor();
    await person.fill("sources.0.channels.0.exclude_pattern", "");
    await person.save();
    await page.waitForURL("**/trackers/web");
    await eventually("the first check", async () => {
      await page.reload();
      return (await person.text()).includes("1.0.0");
    });
    expect(world.receiver.received).toEqual([]);
  });

  test("creates a notifier, sends a test and sees the answer", async () => {
    await person.go("/notifiers/new");
    expect(await person.focused("name")).toBe("name");
    await person.fill("name", "hook");
    await person.fill("url", world.receiver.url);
    for (const event of ["new_release", "republish", "executor_run_succeeded", "executor_run_failed"]) {
      await page.locator(`[name="trigger_events"][value="${event}"]`).check();
    }
    await person.save();
    await page.waitForURL(/\/notifiers\/[0-9a-f-]{36}/);
    await person.button(/test/i).first().click();
    await eventually("the test message", () => world.receiver.of("test").length === 1);
    await eventually("its answer on the page", async () => (await person.text()).includes("200"));
    expect(await person.text()).not.toContain("very-secret-token");
  });

  test("creates an executor and sees the reference that would result", async () => {
    await person.go("/executors/new");
    await person.field("connection_id").selectOption({ label: "nas" });
    await page.locator("[name='target.choice'][value='container:web']").click();
    await person.field("bindings.0.tracker").selectOption("web");
    await person.field("bindings.0.source").locator("option").first().waitFor({ state: "attached" });
    await person.field("trigger").selectOption("immediate");
    await eventually("the resulting image", async () => (await person.text()).includes(`${world.repository}:1.0.0`));
    await person.fill("name", "web");
    await person.save();
    await page.waitForURL(/\/executors\/[0-9a-f-]{36}/);
    await eventually("the executor to be current", async () => {
      await page.reload();
      return (await person.text()).includes("Up to date");
    });
  });

  test("a newer tag is rolled out while its run's page tells each step", async () => {
    await world.push("1.1.0");
    await checkNow();
    await eventually("a run", async () => {
      await person.go("/runs");
      return (await page.locator("main table tbody tr").count()) > 0;
    });
    await watchNewestRun("Succeeded");
    const told = await person.text();
    for (const words of ["Image pulled", "Configuration saved", "Previous container stopped", "1.1.0"]) {
      expect(told).toContain(words);
    }
    expect(await world.serves()).toBe("1.1.0");
    await eventually("both deliveries", () => {
      return world.receiver.of("new_release").length === 1 && world.receiver.of("executor_run_succeeded").length === 1;
    });
  });

  test("an image whose process exits is put back, and the page says what serves", async () => {
    await world.push("1.2.0", { cmd: ["/bin/sh", "-c", "exit 3"] });
    await checkNow();
    await eventually("the failed run's delivery", () => world.receiver.of("executor_run_failed").length === 1);
    await watchNewestRun("Failed");
    expect(await person.text()).toContain("previous");
    expect(await eventually("the previous one", async () => await world.serves())).toBe("1.1.0");
  });

  test("kill -9 in the middle of an update: the page of the run shows its one end", async () => {
    await world.push("1.3.0");
    await checkNow();
    await eventually("the old one to be moved aside", async () => {
      return (await world.containers()).some(({ name }) => name.endsWith("-previous"));
    });
    // A page that asks again by itself would rightly complain while nobody answers.
    await page.goto("about:blank");
    await world.server.kill("SIGKILL");
    await world.restartServer();
    await eventually("one container, running", async () => {
      const found = await world.containers();
      return found.length === 1 && found[0]?.state === "running" ? found : null;
    });
    await person.go("/runs");
    expect(new URL(page.url()).pathname).toBe("/runs");
    await eventually("the end of the run", async () => {
      await page.reload();
      const first = (await page.locator("main table tbody tr").first().textContent()) ?? "";
      return /Succeeded|Failed/.test(first);
    });
  });

  test("every page holds at phone width in Chinese and dark, without a script error", async () => {
    await page.emulateMedia({ colorScheme: "dark" });
    await person.expectFit([
      "/",
      "/trackers",
      "/trackers/web",
      "/executors",
      "/runs",
      "/connections",
      "/notifiers",
      "/settings",
    ]);
    expect(person.complaints).toEqual([]);
  });
});
