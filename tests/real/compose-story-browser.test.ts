import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { account } from "../peers/registry.ts";
import { openBrowser, type Person, usualWhileAway } from "../support/browser-person.ts";
import {
  type ComposeStory,
  type StoryOptions,
  services,
  startComposeStory,
  storyMissing,
} from "../support/compose-story.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, checkUntil, firstSignIn } from "../support/server.ts";

setDefaultTimeout(180_000);

const options: StoryOptions = { mode: "docker-29-containerd", compose: "5.6.0", has_compose: true };
const names = services.map((service) => `shop-${service}-1`);

// The same story as by the API, by a person with a browser: what is chosen, read and decided is on the pages.
peerSuite("the story of a stack, in a browser", storyMissing(options) ?? chromiumMissing(), () => {
  let story: ComposeStory;
  let person: Person;
  let page: Page;
  let api: ApiClient;
  let executor = "";

  /** As it stands, at both widths: an open dialog stays open, and nothing is wider than the window. */
  const lookHere = async (name: string) => {
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
      expect([name, width, await person.excess()]).toEqual([name, width, 0]);
      await person.photograph(`${name}-${width}`);
    }
  };
  /** The page anew in both languages, at both widths. */
  const look = async (name: string, path: string, ready: string) => {
    for (const language of ["zh", "en"] as const) {
      await person.speak(language);
      await person.go(path);
      await page.locator(ready).first().waitFor();
      await lookHere(`${name}-${language}`);
    }
  };
  /** Reviews the plan in its dialog and runs it. */
  const runIt = async (picture: string) => {
    await person.go(`/executors/${executor}`);
    await page.locator("main .plan-containers li").first().waitFor();
    await person.openPlan();
    await page.locator("dialog[open] .plan-containers li").nth(2).waitFor();
    await lookHere(picture);
    await person.confirm();
  };

  beforeAll(async () => {
    story = await startComposeStory(options);
    api = await firstSignIn(story.server);
    const config = { address: story.engine.address };
    await api.ok("POST", "/runtime-connections", { name: "nas", kind: "docker", config });
    const secret = { ...account };
    const credential = await api.ok("POST", "/credentials", { name: "registry", kind: "oci", secret });
    for (const service of services) {
      const source = {
        key: "image",
        kind: "oci",
        config: { image: `shop/${service}`, registry: story.registry.url },
        credential_id: credential.id,
        channels: [{ type: "stable", include_pattern: "^\\d+\\.\\d+\\.\\d+$" }],
      };
      await api.ok("POST", "/trackers", { name: service, sources: [source], sorting: "semantic" });
      await story.push(service, "1.1.0", { broken: service === "worker" });
      await checkUntil(api, service, "1.1.0");
    }
    person = await openBrowser(() => story.server.url, { usual: usualWhileAway });
    ({ page } = person);
    await person.signIn();
  });
  afterAll(async () => {
    await person?.close();
    await story?.stop();
  });

  test("the form takes the group with its three services, each with the tracker of its image", async () => {
    await person.go("/executors/new");
    await page.locator("input[value='compose:shop']").click();
    await page.locator("fieldset[id^='f-service_']").nth(2).waitFor();
    expect(await Promise.all([0, 1, 2].map((each) => page.inputValue(`#f-bindings-${each}-tracker`)))).toEqual([
      ...services,
    ]);
    await page.locator("[name=trigger]").selectOption("manual");
    await lookHere("form-en");
    await person.save();
    await page.waitForURL(/\/executors\/[0-9a-f-]{36}$/);
    executor = page.url().split("/").at(-1) ?? "";
    // Looked at for the first time while the page is open: what is found comes by itself.
    await page.locator("#executor-state", { hasText: "Update available" }).waitFor();
    await page.locator("#executor-look[hx-get]").waitFor({ state: "detached" });
    expect(await person.text("#executor-lead")).toContain("Compose group, 3 services");
    await api.ok("PATCH", `/executors/${executor}`, {
      health_check: {
        strategy: "auto",
        initial_delay_seconds: 0,
        probe_interval_seconds: 1,
        total_probe_duration_seconds: 40,
      },
    });
  });

  test("the executor's page shows the containers in their order, each service's image and the file's lines", async () => {
    await look("executor", `/executors/${executor}`, "main .plan-containers li");
    expect(await page.locator("main .plan-containers li b").allInnerTexts()).toEqual(names);
    const shown = await person.text();
    for (const service of services) {
      expect(shown).toContain(`${story.registry.host}/shop/${service}:1.1.0`);
    }
    expect(shown).toContain(`${story.folder}/compose.yaml`);
    expect(shown).not.toContain("only-in-the-file");
  });

  test("the run with the broken worker ends as it is watched: put back, each container with what it did, and why", async () => {
    await runIt("run-question-en");
    const id = await person.untilRunEnds("Failed");
    await eventually("the run to clear up", async () => (await story.containers()).length === 3);
    await page.locator(`#run-steps :text('${names[2]}')`).first().waitFor();
    const told = await person.text();
    for (const name of names) expect(told).toContain(name);
    expect(await person.text("#run-banner")).toContain("worker");
    expect((await person.text("#run-steps")).match(/restored/gi)?.length).toBeGreaterThanOrEqual(3);
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
    await checkUntil(api, "worker", "1.1.1");
    await runIt("run-question-again-en");
    const id = await person.untilRunEnds("Succeeded");
    expect(await person.text("#run-summary")).toMatch(/took .+, including .+ of health checks/);
    await look("run-succeeded", `/runs/${id}`, "#run-steps");
    const told = await person.text();
    expect(told).toContain(`${story.folder}/compose.yaml`);
    expect(told).toContain("shop/worker:1.1.1");
    await look("executor-current", `/executors/${executor}`, "#snapshots tbody tr");
  });

  test("a rollback shows in its dialog what it changes, with the file's lines, and does just that", async () => {
    const { items } = (await api.get(`/executors/${executor}/snapshots`)).body as { items: { id: string }[] };
    await person.go(`/executors/${executor}/snapshots/${items[0]?.id}`);
    await page.locator("#diff .diff-field").first().waitFor();
    await look("snapshot", `/executors/${executor}/snapshots/${items[0]?.id}`, "#diff .diff-field");
    await page.locator("main .actions >> text=Roll back").click();
    await page.locator("dialog[open] .diff-field").first().waitFor();
    await lookHere("rollback-question-en");
    const asked = await person.text("dialog[open]");
    for (const service of services) expect(asked).toContain(`shop/${service}:1.0.0`);
    expect(await page.locator("dialog[open] .plan-service:has(.diff) > h3").allInnerTexts()).toEqual([...services]);
    await person.confirm();
    const id = await person.untilRunEnds("Rolled back");
    await look("rolled-back", `/runs/${id}`, "#run-steps");
    expect(await person.text("#run-facts")).toMatch(/Running now\s*Snapshot version/);
    expect(await page.locator(".page-title .state, .page-title .badge").allInnerTexts()).toEqual(["Rolled back"]);
    expect(
      await eventually("the leftovers to be gone", async () => {
        const found = await story.containers();
        return found.length === 3 ? found : null;
      }),
    ).toEqual(names.map((name) => `${name} running 1.0.0`));
  });

  test("no script failed and nothing was refused by the policy", () => {
    expect(person.complaints).toEqual([]);
  });
});
