import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { run_logs } from "../../src/db/tables.ts";
import { PluginError } from "../../src/errors.ts";
import { plain, say } from "../../src/messages/message.ts";
import type { LastLog } from "../../src/runtimes/logs.ts";
import { createRedactor } from "../../src/secrets/redaction.ts";
import { createWorld, type World } from "../support/run-world.ts";

let world: World;
beforeEach(async () => {
  world = await createWorld();
  world.engine.judge = () => ({ ready: false, detail: plain("Exited"), final: true });
});
afterEach(() => world.close());

const log = (told: Partial<LastLog>): LastLog => ({
  ...{ key: "web", pod: "", container: "web", is_previous: false, text: "no database\n", why: null, secrets: [] },
  ...told,
});

/** Fails a run while the engine gives these logs; the run as the API shows it. */
async function fail(lastLogs: () => Promise<readonly LastLog[]>, changes: Record<string, unknown> = {}) {
  world.engine.lastLogs = lastLogs;
  const { id } = await world.update(await world.addExecutor(changes));
  return await world.main.runs.get(id);
}

describe("a run that fails", () => {
  test("keeps what the container wrote, read before the previous version is restored", async () => {
    let images: string[] = [];
    const run = await fail(async () => {
      images = [...world.engine.containers.values()].map(({ image }) => image);
      return [log({})];
    });
    expect(run.logs).toMatchObject([
      { pod: "", container: "web", lines: ["no database"], why: null, is_previous: false },
    ]);
    expect(images).toContain("registry.test/app:1.1");
    expect(world.engine.get("web").image).toBe("registry.test/app:1.0");
  });

  test("keeps it also if the new version stays", async () => {
    const kept = await fail(async () => [log({})], { restore_on_failure: false });
    expect([kept.state, kept.logs.length]).toEqual(["failed", 1]);
  });

  test("keeps it also if it ends as degraded", async () => {
    const health_check = { strategy: "auto", on_failure: "degraded" };
    const degraded = await fail(async () => [log({})], { health_check });
    expect([degraded.state, degraded.logs.length]).toEqual(["degraded", 1]);
  });

  test("keeps it also if the update itself fails", async () => {
    world.engine.failures.set("start", new PluginError("rejected", plain("port is taken")));
    const run = await fail(async () => [log({})]);
    expect([run.reason_code, run.logs.length]).toEqual(["update_failed", 1]);
  });

  test("stores it sealed: the database has no line of it", async () => {
    await fail(async () => [log({ text: "a-line-that-is-easy-to-find" })]);
    const [row] = await world.db.read.select().from(run_logs);
    expect(row?.sealed_lines).toMatch(/^gAAAAA/);
    expect(JSON.stringify(row)).not.toContain("easy-to-find");
  });

  test("masks secrets of the product, of stored credentials and of the container", async () => {
    const token = "stored-but-never-opened-0815";
    await world.main.credentials.create(systemActor, { name: "ci", kind: "gitea", secret: { token } });
    world.known.redactor = createRedactor();
    const text = `a hunter2-token\nb ${token}\nc kelp-otter\nd ghp_${"a".repeat(36)}\ne second-line\n`;
    const run = await fail(async () => [log({ text, secrets: ["kelp-otter", "first-line\nsecond-line"] })]);
    expect(run.logs[0]?.lines).toEqual(["a", "b", "c", "d", "e"].map((each) => `${each} [redacted]`));
    expect(JSON.stringify(await world.db.read.select().from(run_logs))).not.toContain(token);
  });

  test("keeps the reason in place of lines while a stored credential, which they may have, cannot be read", async () => {
    await world.main.credentials.create(systemActor, { name: "ci", kind: "gitea", secret: { token: "kelp-otter" } });
    await world.db.client.execute(
      "update credentials set sealed_secret = replace(sealed_secret, substr(sealed_secret, 60, 4), 'AAAA')",
    );
    const run = await fail(async () => [log({ text: "kelp-otter\n" })]);
    expect(run.logs).toMatchObject([{ container: "web", lines: [], why_data: { code: "credentials.unreadable" } }]);
  });

  test("masks each of thousands of secrets without holding up the process", async () => {
    const secrets = Array.from({ length: 4_000 }, (_, at) => `kelp-otter-${at}-lantern`);
    const run = await fail(async () => [log({ text: `${secrets[0]} and ${secrets[3_999]}\n`, secrets })]);
    expect(run.logs[0]?.lines).toEqual(["[redacted] and [redacted]"]);
  });

  test("says why a log could not be read, without secrets", async () => {
    const why = say("kubernetes.refused", { status: 500, said: plain("denied for hunter2-token") });
    const run = await fail(async () => [log({ text: null, why })]);
    expect(run.logs).toMatchObject([{ lines: [], why_data: { code: "kubernetes.refused" } }]);
    expect(JSON.stringify(run.logs[0]?.why_data)).toContain("denied for [redacted]");
  });

  test("tells a container that wrote nothing from one that could not be read", async () => {
    expect((await fail(async () => [log({ text: "" })])).logs).toMatchObject([{ lines: [], why: null }]);
  });

  test("keeps at most four", async () => {
    const many = Array.from({ length: 9 }, (_, at) => log({ key: `web-${at}`, container: `web-${at}` }));
    expect((await fail(async () => many)).logs.map(({ container }) => container)).toEqual([
      "web-0",
      "web-1",
      "web-2",
      "web-3",
    ]);
  });

  test.each<[what: string, lastLogs: () => Promise<readonly LastLog[]>]>([
    ["fail", () => Promise.reject(new PluginError("unreachable", plain("gone")))],
    ["are a fault of ours", () => Promise.reject(new Error("a bug"))],
    ["never come", () => new Promise(() => undefined)],
  ])("is restored all the same when logs %s", async (_what, lastLogs) => {
    const run = await fail(lastLogs);
    expect([run.state, run.serving, run.logs]).toEqual(["failed", "previous", []]);
    expect(world.engine.running()).toEqual(["web"]);
    expect(world.logs.some((line) => line.includes("Logs of failed containers"))).toBe(true);
  });
});

test("a run that succeeds reads no logs", async () => {
  world.engine.judge = () => ({ ready: true, detail: plain("Running") });
  const run = await fail(() => Promise.reject(new Error("Nobody asks")));
  expect([run.state, run.logs]).toEqual(["succeeded", []]);
});

test("the logs of a run go with its executor", async () => {
  const run = await fail(async () => [log({})]);
  await world.main.executors.remove(systemActor, run.executor_id);
  expect(await world.db.read.select().from(run_logs)).toEqual([]);
});
