import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { addRelease, hubRepository, oid } from "../sources/github/hub-content.ts";
import { type StandInGithub, startGithub } from "../sources/github/stand-in-github.ts";
import { addImage, emptyContent, type StandIn } from "../sources/oci/stand-in-registry.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { type ChartVersion, chartIndex, chartRepository, dayOf, registryOf } from "../support/corpus-upstreams.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, firstSignIn, type RunningServer, startServer } from "../support/server.ts";

setDefaultTimeout(120_000);

peerSuite("one application by its repository, its image and its chart, in Chromium", chromiumMissing(), () => {
  let hub: StandInGithub;
  let registry: ReturnType<typeof registryOf>;
  let chartServer: StandIn;
  let server: RunningServer;
  let api: ApiClient;
  let person: Person;
  let page: Page;
  const app = hubRepository("acme", "app");
  const image = emptyContent();
  const charts: ChartVersion[] = [];
  let day = 0;

  function publish(version: string, where: readonly ("git" | "image" | "chart")[], chart = "") {
    day += 1;
    const created = dayOf(day);
    if (where.includes("git")) addRelease(app, `v${version}`, created, { is_prerelease: version.includes("-") });
    const label = { "org.opencontainers.image.revision": oid(`commit v${version}`) };
    if (where.includes("image")) addImage(image, version, { created, config: { Labels: label } });
    if (where.includes("chart")) charts.push({ version: chart, app_version: version, created });
  }

  async function check() {
    await person.go("/trackers/app");
    await page.click("text=Check now");
    await person.untilText("#toasts", "Checked app");
    await person.untilChecked();
  }

  /** The versions of the page with the words of their badges, the newest first. */
  const history = () =>
    page
      .locator(".history .row")
      .evaluateAll((rows) =>
        rows.map((row) => [
          row.querySelector(".row-title .version")?.textContent,
          [...row.querySelectorAll(".badges > *")].map((badge) => badge.textContent),
        ]),
      );

  const events = async () => {
    const { body } = await api.get("/events");
    const items = Array.isArray(body.items) ? body.items : [];
    return items.map(({ kind, facts }) => `${kind} ${facts.channel} ${facts.tag}`).toSorted();
  };

  beforeAll(async () => {
    hub = await startGithub(() => Date.now());
    hub.repositories.push(app);
    registry = registryOf({});
    registry.repositories.set("acme/app", image);
    chartServer = chartRepository(() => chartIndex({ app: charts }));
    publish("1.0.0", ["git", "image", "chart"], "0.4.0");
    publish("1.1.0", ["git", "image", "chart"], "0.5.0");
    publish("2.0.0-rc.1", ["git"]);
    server = await startServer();
    api = await firstSignIn(server);
    person = await openBrowser(() => server.url);
    ({ page } = person);
    await person.signIn("/trackers/new");
  });
  afterAll(async () => {
    await person?.close();
    await server?.kill("SIGTERM");
    await Promise.all([registry?.stop(), chartServer?.stop()]);
    await hub?.[Symbol.asyncDispose]();
  });

  test("three sources are added in one form, each of the kind that is missing, and what was typed stays", async () => {
    await person.fill("name", "app");
    await person.field("sources.0.kind").selectOption("github");
    await person.fill("sources.0.config.repository", `${hub.url}/acme/app`);
    await person.openFolds();
    await page.click("text=Add channel");
    await page.waitForSelector('[name="sources.0.channels.1.type"]');
    await page.click("text=Add source");
    await page.waitForSelector('[name="sources.1.kind"]');
    await person.openFolds();
    await person.fill("sources.1.config.image", "acme/app");
    await person.fill("sources.1.config.registry", registry.url);
    await page.click("text=Add source");
    await page.waitForSelector('[name="sources.2.kind"]');
    await person.openFolds();
    await person.fill("sources.2.config.chart", "app");
    await person.fill("sources.2.config.repository_url", chartServer.url);
    expect(await person.field("sources.0.config.repository").inputValue()).toBe(`${hub.url}/acme/app`);
    for (const [position, key] of ["git", "image", "chart"].entries())
      await person.fill(`sources.${position}.key`, key);
    await page.click(".form-actions .btn.main");
    await page.waitForURL("**/trackers/app");
    await person.untilChecked();
  });

  test("each version is one row, which says whether all sources have it", async () => {
    expect(await history()).toEqual([
      ["2.0.0-rc.1", ["Pre-release · latest", "Not in image, chart"]],
      ["1.1.0", ["Stable · latest", "Pre-release", "All sources", "Built from this commit"]],
      ["1.0.0", ["Stable", "Pre-release", "All sources", "Built from this commit"]],
    ]);
    const row = await page.textContent(".history .row >> nth=1");
    for (const said of ["git v1.1.0", "image sha256:", "chart 0.5.0"]) expect(row).toContain(said);
    expect(await events()).toEqual([]);
  });

  test("a newer stable version fires while the pre-release still leads its own channel", async () => {
    publish("1.2.0", ["git"]);
    await check();
    expect(await history()).toContainEqual(["1.2.0", ["Stable · latest", "Pre-release", "Not in image, chart"]]);
    publish("1.2.0", ["image", "chart"], "0.6.0");
    await check();
    const [first, second] = await history();
    expect(first).toEqual(["1.2.0", ["Stable · latest", "Pre-release", "All sources", "Built from this commit"]]);
    expect(second).toEqual(["2.0.0-rc.1", ["Pre-release · latest", "Not in image, chart"]]);
    expect(await events()).toEqual(["new_release stable v1.2.0"]);
  });

  test("the list names one version for all three", async () => {
    await person.go("/trackers");
    const cells = await page.locator("#tracker-list tbody tr td").allInnerTexts();
    expect(cells).toContain("1.2.0");
    expect(cells).toContain("v2.0.0-rc.1");
  });

  test("no upstream was asked what it would not understand", () => {
    expect(hub.violations).toEqual([]);
  });
});
