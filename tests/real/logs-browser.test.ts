import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { openBrowser, type Person, usualWhileAway } from "../support/browser-person.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { firstSignIn, type RunningServer, startServer } from "../support/server.ts";
import { images, importImages, runContainer } from "../support/update-target.ts";

setDefaultTimeout(180_000);

/** In no file but those in which a line was stored. */
const token = "marmot-4711-cascade";

/** The logs of a container on a real engine, as a person reads them. */
peerSuite("logs, in a browser", engineMissing() ?? chromiumMissing(), () => {
  let engine: TestEngine;
  let server: RunningServer;
  let person: Person;
  let page: Page;
  let path: string;
  let spoken = 0;

  const lines = (of = page) => of.locator("#log-lines p span").allTextContents();
  const status = (text: string, of = page) =>
    of.locator("#log-status", { hasText: text }).waitFor({ state: "visible" });
  const shows = (text: string, of = page) =>
    of.locator("#log-lines").getByText(text, { exact: true }).first().waitFor();
  /** The container writes its next line. */
  const speak = async () => {
    spoken += 1;
    await engine.call("POST", "/containers/speaks/kill?signal=USR1");
    return `${token} ${spoken}`;
  };

  beforeAll(async () => {
    engine = await startEngine();
    await importImages(engine);
    const script = `echo begins ${token}; touch /n; trap 'echo >> /n; echo ${token} $(wc -l < /n)' USR1; while :; do sleep 0.1; done`;
    await runContainer(engine, "speaks", { Image: images.old, Cmd: ["/bin/sh", "-c", script] });
    server = await startServer();
    const api = await firstSignIn(server);
    const source = { key: "main", kind: "oci", config: { image: "lab/app", registry: "http://127.0.0.1:9" } };
    await api.ok("POST", "/trackers", { name: "app", sources: [{ ...source, channels: [{ type: "stable" }] }] });
    const config = { address: engine.address };
    const connection = await api.ok("POST", "/runtime-connections", { name: "engine", kind: "docker", config });
    const executor = await api.ok("POST", "/executors", {
      ...{ name: "heron-lagoon", connection_id: connection.id, trigger: "manual" },
      target: { kind: "container", id: "speaks" },
      bindings: [{ tracker: "app", source: "main", channel: "stable" }],
    });
    path = `/executors/${executor.id}/logs`;
    // The stream's answer while the server is away, and when it answers with the sign-in.
    const usual = new RegExp(`${usualWhileAway.source}|EventSource's response has a MIME type`);
    person = await openBrowser(() => server.url, { usual });
    ({ page } = person);
    await page.setViewportSize({ width: 1280, height: 600 });
    await person.signIn();
  });
  afterAll(async () => {
    await person?.close();
    await server?.kill("SIGTERM");
    await engine?.stop();
  });

  test("are followed from the executor's page on", async () => {
    await person.go(path.replace(/\/logs$/, ""));
    await page.locator(".page-title").getByRole("link", { name: "Logs" }).click();
    await page.waitForURL(person.at(path));
    await shows(`begins ${token}`);
    await status("Following");
    await shows(await speak());
    expect(await lines()).toEqual([`begins ${token}`, `${token} 1`]);
    expect(await page.locator("#log-lines").getAttribute("aria-live")).toBe("off");
  });

  test("are held while paused, and shown afterwards", async () => {
    await using beside = await person.tab();
    const other = beside.page;
    await beside.go(path);
    await status("Following", other);
    await person.button("Pause").click();
    await status("Paused");
    const line = await speak();
    await shows(line, other);
    await shows(await speak(), other);
    expect(await lines()).toEqual([`begins ${token}`, `${token} 1`]);
    await person.button("Follow").click();
    await shows(`${token} ${spoken}`);
    expect(await lines()).toEqual([`begins ${token}`, ...[1, 2, 3].map((count) => `${token} ${count}`)]);
    await status("Following");
  });

  test("stay where somebody reads, and follow at their end", async () => {
    await page.setViewportSize({ width: 1280, height: 300 });
    for (let count = 0; count < 30; count += 1) await shows(await speak());
    const place = () => page.locator("#log-lines").evaluate((box) => box.scrollTop);
    const rest = () =>
      page.locator("#log-lines").evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    expect(await rest()).toBeLessThan(24);
    await page.locator("#log-lines").evaluate((box) => {
      box.scrollTop = 20;
    });
    await shows(await speak());
    expect(await place()).toBe(20);
    expect(await rest()).toBeGreaterThan(24);
    await page.setViewportSize({ width: 1280, height: 600 });
  });

  test("say when the container stops, and when it was started again", async () => {
    await engine.call("POST", "/containers/speaks/stop?t=1");
    await page.locator("#log-parts", { hasText: "Stopped" }).waitFor();
    await engine.call("POST", "/containers/speaks/start");
    await page.locator("#log-lines .log-note", { hasText: "speaks was restarted" }).waitFor();
    await page.locator("#log-parts", { hasText: "Running" }).waitFor();
  });

  test("are stored nowhere", async () => {
    const stored = () =>
      readdirSync(server.data_dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
        .join("\n");
    // What is stored would be found.
    await eventually("the executor's name", () => stored().includes("heron-lagoon"));
    expect(stored()).toContain("logs_read");
    expect(stored()).not.toContain(token);
    expect(server.lines.join("\n")).not.toContain(token);
  });

  test("are shown without a script, and reloaded by a link", async () => {
    await using plain = await person.withoutScript();
    const bare = plain.page;
    await plain.go(`${path}?lines=50`);
    await shows(`begins ${token}`, bare);
    expect(await plain.button("Pause").isVisible()).toBe(false);
    const line = await speak();
    await eventually("the line after a reload", async () => {
      await bare.getByRole("link", { name: "Reload" }).click();
      return (await lines(bare)).includes(line);
    });
  });

  test("go on by themselves once an engine that died is back, while an open list follows it", async () => {
    const list = await page.context().newPage();
    await list.goto(`${server.url}/executors`);
    await list.locator("tr .choice").check();
    const badge = async () => Number(await list.locator("#sections li:first-child .count").allTextContents());
    const before = await badge();
    await engine.kill();
    await page.locator("#log-end", { hasText: "The logs could not be read" }).waitFor();
    const late = await page.context().newPage();
    await late.goto(person.at(path));
    await late.locator("#log-end", { hasText: "Tidemark tries again" }).waitFor();
    expect(await late.getByText("No lines yet").isVisible()).toBe(false);
    await list.bringToFront();
    await list.locator("tr", { hasText: "Engine unreachable" }).waitFor();
    expect(await list.locator("tr .choice").isChecked()).toBe(true);
    expect(await badge()).toBe(before + 1);
    await engine.restart();
    await engine.call("POST", "/containers/speaks/start");
    await list.locator("tr", { hasText: "Engine unreachable" }).waitFor({ state: "detached" });
    await list.close();
    const line = await speak();
    await shows(line, late);
    await status("Following", late);
    expect(await late.locator("#log-end .banner").count()).toBe(0);
    await late.close();
    await shows(line);
    await page.locator("#log-end .banner").waitFor({ state: "detached" });
    await status("Following");
  });

  test("that lost their server say so, and go on when asked to", async () => {
    await server.kill("SIGTERM");
    server = await startServer({ data_dir: server.data_dir, env: { PORT: new URL(server.url).port } });
    // The browser takes the stream up again by itself.
    await shows(await speak());
    await page.context().clearCookies();
    await server.kill("SIGTERM");
    server = await startServer({ data_dir: server.data_dir, env: { PORT: new URL(server.url).port } });
    await page.locator("#log-end", { hasText: "Continue, or reload the page to see why." }).waitFor();
    await status("Ended");
  });

  test("leave the console quiet", () => {
    expect(person.complaints).toEqual([]);
  });
});
