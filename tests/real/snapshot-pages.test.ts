import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, checkUntil, firstSignIn } from "../support/server.ts";
import { addWebExecutor, addWebTracker, type Story, startStory, storyMissing } from "../support/story.ts";

setDefaultTimeout(120_000);

type Json = Record<string, unknown>;

peerSuite("snapshots and images in Chromium on a real engine", storyMissing() ?? chromiumMissing(), () => {
  let world: Story;
  let person: Person;
  let page: Page;
  let api: ApiClient;
  let connection = "";
  let executor = "";
  let snapshot = "";

  beforeAll(async () => {
    world = await startStory();
    api = await firstSignIn(world.server);
    await addWebTracker(world, api);
    await world.push("1.1.0");
    await checkUntil(api, "web", "1.1.0");
    ({ connection, executor } = await addWebExecutor(world, api));
    await run({});
    snapshot = await newest();
    person = await openBrowser(() => world.server.url);
    ({ page } = person);
    await person.signIn();
  });
  afterAll(async () => {
    await person?.close();
    await world?.stop();
  });

  async function run(body: Json): Promise<void> {
    const { id } = await api.ok("POST", `/executors/${executor}/runs`, body);
    await eventually("the run to end", async () => (await api.get(`/runs/${id}`)).body.ended_at !== null);
    expect((await api.get(`/runs/${id}`)).body.state).toBe("succeeded");
  }
  async function newest(): Promise<string> {
    const { items } = (await api.get(`/snapshots?executor_id=${executor}`)).body as { items: { id: string }[] };
    return items[0]?.id ?? "";
  }
  const images = async () => (await api.get(`/runtime-connections/${connection}/images`)).body.items as Json[];

  test("a snapshot is compared with what runs, and its image is kept and named", async () => {
    const { body } = await api.get(`/snapshots/${snapshot}/diff`);
    expect(body).toMatchObject({ is_noop: false, images: [{ is_present: true }] });
    expect(JSON.stringify(body.diff)).toContain("1.0.0");
    const [kept] = await images();
    expect(kept).toMatchObject({ reason: "needed", named_by: [{ snapshot_id: snapshot, executor: "web" }] });
    const refused = await api.request("DELETE", `/runtime-connections/${connection}/images/${kept?.id}`);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: "in_use" } } });
    await person.go(`/executors/${executor}`);
    await page.click("#snapshots tbody tr a");
    await page.waitForSelector("#diff .diff-field >> text=1.0.0");
    await page.waitForSelector("#diff >> text=present");
  });

  test("an export is a file to save, without secrets unless they are asked for, and is in the audit", async () => {
    await page.click("main .actions >> text=Export");
    await page.waitForSelector("dialog[open] >> text=Shell script");
    for (const secrets of [false, true]) {
      if (secrets) await page.check("[name=with_secrets]");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.click("dialog[open] >> text=Download"),
      ]);
      expect(download.suggestedFilename()).toBe("restore-web.sh");
      const text = readFileSync(await download.path(), "utf8");
      expect(text.startsWith("#!/bin/sh\n")).toBe(true);
      expect(text.includes("SECRETS IN CLEAR TEXT")).toBe(secrets);
    }
    const { items } = (await api.get("/audit-entries?event=snapshot_exported")).body as { items: { detail: Json }[] };
    expect(items.map(({ detail }) => detail)).toEqual([
      { format: "script", with_secrets: true },
      { format: "script", with_secrets: false },
    ]);
    const answer = await fetch(`${world.server.url}/api/snapshots/${snapshot}/export?format=compose`, {
      headers: { authorization: `Bearer ${api.token}` },
    });
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="restore-web.compose.yaml"');
    expect(await answer.text()).toContain('container_name: "web"');
    await page.keyboard.press("Escape");
  });

  test("restoring shows what changes first, and does just that", async () => {
    await page.click("main .actions >> text=Roll back");
    await page.waitForSelector("dialog[open] .diff-field >> text=1.0.0");
    await person.confirm();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    const id = page.url().split("/").at(-1);
    await eventually("the rollback to end", async () => (await api.get(`/runs/${id}`)).body.ended_at !== null);
    expect((await api.get(`/runs/${id}`)).body).toMatchObject({ kind: "rollback", state: "succeeded" });
    expect(await world.serves()).toBe("1.0.0");
  });

  test("an image that nothing needs any more is offered, and removed when somebody says so", async () => {
    const { items } = (await api.get(`/snapshots?executor_id=${executor}`)).body as { items: { id: string }[] };
    for (const { id } of items) expect((await api.request("DELETE", `/snapshots/${id}`)).status).toBe(204);
    // The run has ended; what it kept aside goes a moment later.
    await eventually("the previous container to be removed", async () => (await images()).length === 1);
    const [unused] = await images();
    expect(unused).toMatchObject({ reason: "kept", named_by: [] });
    await person.go(`/connections/${connection}`);
    await page.waitForSelector("#images tbody tr >> text=1.1.0");
    await page.check("#images .choice");
    await page.click(".selection-bar >> text=Remove");
    await page.waitForSelector("main .confirm >> text=Remove 1 image?");
    await page.click("main .confirm [type=submit]");
    await page.waitForSelector(".toast >> text=Removed 1 image");
    expect(await images()).toEqual([]);
  });
});
