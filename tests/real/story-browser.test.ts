import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { chromiumMissing, startChromium } from "../peers/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { openFolds } from "../support/folds.ts";
import { peerSuite } from "../support/peer.ts";
import { testPassword } from "../support/server.ts";
import { type Story, startStory, storyMissing } from "../support/story.ts";

const missing = storyMissing() ?? chromiumMissing();
const limit = 180_000;

// The same story as by the API, told by a person with a browser: every step is a click or a key.
peerSuite("the story, in a browser", missing, () => {
  let world: Story;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  const field = (name: string) => page.locator(`[name="${name}"]`);
  const at = (path: string) => `${world.server.url}${path}`;
  const text = async (selector = "main") => (await page.textContent(selector)) ?? "";
  const save = async () => {
    await page.locator('.form-actions [name="_action"][value="save"]').click();
  };
  /** Opens the newest run from the list and waits until its page says how it ended, without a reload. */
  const watchNewestRun = async (state: string) => {
    await page.goto(at("/runs"));
    await page.locator("main table tbody tr a").first().click();
    await page.waitForURL("**/runs/*");
    // The last part that the stream brings: everything else is there by then.
    await page.locator("#run-live:not([data-poll])").waitFor({ state: "attached", timeout: limit });
    expect(await text(".page-title")).toContain(state);
  };
  const checkNow = async () => {
    await page.goto(at("/trackers/web"));
    await page.getByRole("button", { name: "Check now" }).first().click();
    await page.locator(".toast").first().waitFor();
  };

  beforeAll(async () => {
    world = await startStory();
    await world.push("0.9.0-rc1");
    browser = await startChromium();
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB" });
    page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.on("console", (message) => {
      const isUsual = /^Failed to load resource|net::ERR_/;
      if (message.type() === "error" && !isUsual.test(message.text())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
  }, limit);
  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  }, limit);

  test(
    "signs in, has to change the password, and is taught the next steps",
    async () => {
      await page.goto(at("/"));
      expect(new URL(page.url()).pathname).toBe("/login");
      await field("username").fill("admin");
      await field("password").fill(world.server.bootstrapPassword() ?? "");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/account/password");
      await field("current_password").fill(world.server.bootstrapPassword() ?? "");
      await field("new_password").fill(testPassword);
      await page.locator("form.sign-in .btn.main").click();
      await page.waitForURL(at("/"));
      const overview = await text();
      for (const word of ["connection", "tracker", "executor"]) expect(overview.toLowerCase()).toContain(word);
    },
    limit,
  );

  test(
    "stores a registry credential and a Docker connection, and sees the containers as targets",
    async () => {
      await page.goto(at("/credentials/new"));
      await field("name").fill("registry");
      await field("secret.username").fill("ci");
      await field("secret.password").fill("reg-pass");
      await save();
      await page.waitForURL("**/credentials");
      expect(await text()).not.toContain("reg-pass");
      await world.engine.call("POST", "/containers/create?name=throwaway", {
        Image: `${world.registry.host}/${world.repository}:1.0.0`,
        HostConfig: { AutoRemove: true },
      });
      await page.goto(at("/connections/new"));
      await field("name").fill("nas");
      await field("config.address").fill(world.engine.address);
      await save();
      // A new connection leads to what can be adopted there; its own page is above that.
      await page.waitForURL(/\/connections\/[0-9a-f-]{36}\/adopt$/);
      await page.click("main .parent");
      await page.waitForURL(/\/connections\/[0-9a-f-]{36}$/);
      await page.locator("tr", { hasText: "throwaway" }).waitFor();
      expect(await text("tr:has-text('throwaway')")).toContain("--rm");
      expect(await text()).toContain("20.10");
    },
    limit,
  );

  test(
    "creates a tracker, watching which tags its pattern takes while typing",
    async () => {
      await page.goto(at("/trackers/new"));
      await openFolds(page);
      await field("name").fill("web");
      await field("sources.0.key").fill("registry");
      await field("sources.0.config.image").fill(world.repository);
      await field("sources.0.config.registry").fill(world.registry.url);
      await field("sources.0.credential_id").selectOption({ label: "registry" });
      await field("sources.0.channels.0.include_pattern").fill("^\\d+\\.\\d+\\.\\d+$");
      await field("sorting").selectOption("semantic");
      const row = (tag: string) => page.locator("#tracker-preview li", { hasText: tag });
      // The preview is drawn while the form is filled in; the last of them counts.
      await row("0.9.0-rc1").filter({ hasText: "does not match the include pattern" }).waitFor();
      await row("1.0.0").filter({ hasText: "latest" }).first().waitFor();
      expect(await row("1.0.0").first().locator("[aria-label=Accepted], title:has-text('Accepted')").count()).toBe(1);
      await field("sources.0.channels.0.exclude_pattern").fill("(?<!x)rc");
      await page.locator("[data-field='sources.0.channels.0.exclude_pattern']", { hasText: /look/i }).waitFor();
      await field("sources.0.channels.0.exclude_pattern").fill("");
      await save();
      await page.waitForURL("**/trackers/web");
      await eventually("the first check", async () => {
        await page.reload();
        return (await text()).includes("1.0.0");
      });
      expect(world.receiver.received).toEqual([]);
    },
    limit,
  );

  test(
    "creates a notifier, sends a test and sees the answer",
    async () => {
      await page.goto(at("/notifiers/new"));
      await field("name").fill("hook");
      await field("url").fill(world.receiver.url);
      for (const event of ["new_release", "republish", "executor_run_succeeded", "executor_run_failed"]) {
        await page.locator(`[name="trigger_events"][value="${event}"]`).check();
      }
      await save();
      await page.waitForURL(/\/notifiers\/[0-9a-f-]{36}/);
      await page.getByRole("button", { name: /test/i }).first().click();
      await eventually("the test message", () => world.receiver.of("test").length === 1);
      await eventually("its answer on the page", async () => (await text()).includes("200"));
      expect(await text()).not.toContain("very-secret-token");
    },
    limit,
  );

  test(
    "creates an executor and sees the reference that would result",
    async () => {
      await page.goto(at("/executors/new"));
      await field("connection_id").selectOption({ label: "nas" });
      await page.locator("[name='target.choice'][value='container:web']").click();
      await field("bindings.0.tracker").selectOption("web");
      await field("bindings.0.source").locator("option").first().waitFor({ state: "attached" });
      await field("trigger").selectOption("immediate");
      await eventually("the resulting image", async () => (await text()).includes(`${world.repository}:1.0.0`));
      await field("name").fill("web");
      await save();
      await page.waitForURL(/\/executors\/[0-9a-f-]{36}/);
      await eventually("the executor to be current", async () => {
        await page.reload();
        return (await text()).includes("Up to date");
      });
    },
    limit,
  );

  test(
    "a newer tag is rolled out while its run's page tells each step",
    async () => {
      await world.push("1.1.0");
      await checkNow();
      await eventually("a run", async () => {
        await page.goto(at("/runs"));
        return (await page.locator("main table tbody tr").count()) > 0;
      });
      await watchNewestRun("Succeeded");
      const told = await text();
      for (const words of ["Image pulled", "Configuration saved", "Previous container stopped", "1.1.0"]) {
        expect(told).toContain(words);
      }
      expect(await world.serves()).toBe("1.1.0");
      await eventually("both deliveries", () => {
        return (
          world.receiver.of("new_release").length === 1 && world.receiver.of("executor_run_succeeded").length === 1
        );
      });
    },
    limit,
  );

  test(
    "an image whose process exits is put back, and the page says what serves",
    async () => {
      await world.push("1.2.0", { cmd: ["/bin/sh", "-c", "exit 3"] });
      await checkNow();
      await eventually("the failed run's delivery", () => world.receiver.of("executor_run_failed").length === 1);
      await watchNewestRun("Failed");
      expect(await text()).toContain("previous");
      expect(await eventually("the previous one", async () => await world.serves())).toBe("1.1.0");
    },
    limit,
  );

  test(
    "kill -9 in the middle of an update: the page of the run shows its one end",
    async () => {
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
      await page.goto(at("/runs"));
      expect(new URL(page.url()).pathname).toBe("/runs");
      await eventually("the end of the run", async () => {
        await page.reload();
        const first = (await page.locator("main table tbody tr").first().textContent()) ?? "";
        return /Succeeded|Failed/.test(first);
      });
    },
    limit,
  );

  test(
    "every page holds at phone width in Chinese and dark, without a script error",
    async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.emulateMedia({ colorScheme: "dark" });
      for (const path of [
        "/",
        "/trackers",
        "/trackers/web",
        "/executors",
        "/runs",
        "/connections",
        "/notifiers",
        "/settings",
      ]) {
        await page.context().addCookies([{ name: "tidemark_language", value: "zh", url: world.server.url }]);
        await page.goto(at(path));
        expect([path, await page.getAttribute("html", "lang")]).toEqual([path, "zh-CN"]);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect([path, overflow <= 0]).toEqual([path, true]);
      }
      expect(complaints).toEqual([]);
    },
    limit,
  );
});
