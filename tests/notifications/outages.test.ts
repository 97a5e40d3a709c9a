import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { deliveries, events, notifiers, outage_notices } from "../../src/db/tables.ts";
import { outageNotifiedAfterMs } from "../../src/notifications/outage-schema.ts";
import { eventKinds, triggerKinds, triggerOf } from "../../src/notifications/schema.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { groundOn } from "../support/ground.ts";
import { type OutageProcessArguments, openNotices } from "../support/outage-process.ts";
import { type TemporaryDatabase, temporaryDatabase } from "../support/temporary-database.ts";

let temporary: TemporaryDatabase;
beforeEach(async () => {
  temporary = await temporaryDatabase();
  const sealed_config = groundOn(temporary.db, createFakeClock()).sealer.sealJson({ url: "https://phone.test" });
  await temporary.db.write((tx) =>
    tx.insert(notifiers).values({
      ...{ id: "phone", name: "phone", kind: "webhook", language: "en", destination: "phone.test" },
      ...{ sealed_config, trigger_events: ["connection_lost"], created_at: 0, updated_at: 0 },
    }),
  );
});
afterEach(() => temporary.close());

const open = (clock = createFakeClock()) => ({ clock, ...openNotices(temporary.db, clock) });
/** What is stored of events, each with its delivery. */
async function told(): Promise<string[]> {
  const [sent, recorded] = await Promise.all([
    temporary.db.read.select().from(deliveries),
    temporary.db.read.select().from(events).orderBy(events.id),
  ]);
  expect(sent.map(({ event }) => event).toSorted()).toEqual(recorded.map(({ kind }) => kind).toSorted());
  return recorded.map(({ kind }) => kind);
}
/** Another process; resolves with what it died of, null if it ended by itself. */
async function run(asked: Pick<OutageProcessArguments, "notes"> & Partial<OutageProcessArguments>) {
  const database_url = `file:${temporary.dir}/tidemark.db`;
  const given = JSON.stringify({ database_url, times: 1, dies: "never", ...asked });
  const script = join(import.meta.dir, "../support/outage-process.ts");
  const child = Bun.spawn([process.execPath, script, given], { stdout: "inherit", stderr: "inherit" });
  const code = await child.exited;
  if (child.signalCode === null) expect(code).toBe(0);
  return child.signalCode;
}
/** It has failed for long enough, and nobody was notified yet. */
async function ripen(): Promise<void> {
  await open().failing();
  await temporary.db.write((tx) => tx.update(outage_notices).set({ lasted_ms: outageNotifiedAfterMs }));
}

describe("an outage", () => {
  test("is notified by the first failure after 15 minutes, and nothing is before", async () => {
    const { clock, failing, over } = open();
    expect(await failing()).toBe(true);
    await clock.advance(outageNotifiedAfterMs - 1);
    expect(await failing()).toBe(true);
    expect(await told()).toEqual([]);
    await clock.advance(1);
    expect(await failing()).toBe(false);
    expect(await failing()).toBe(false);
    expect(await told()).toEqual(["connection_lost"]);
    await over();
    await over();
    expect(await told()).toEqual(["connection_lost", "connection_recovered"]);
  });

  test("that a clock seems to have lengthened is as long as it was", async () => {
    const { clock, failing } = open();
    await failing();
    clock.set(clock.now() + 86_400_000);
    await clock.advance(60_000);
    await failing();
    expect(await told()).toEqual([]);
  });

  test.each(["before the commit", "after the commit"] as const)(
    "is one when a process dies %s, and so is its end",
    async (dies) => {
      await ripen();
      expect(await run({ notes: "failing", dies })).toBe("SIGKILL");
      expect(await told()).toEqual(dies === "before the commit" ? [] : ["connection_lost"]);
      expect(await run({ notes: "failing" })).toBeNull();
      expect(await told()).toEqual(["connection_lost"]);
      expect(await run({ notes: "over", dies })).toBe("SIGKILL");
      expect(await run({ notes: "over" })).toBeNull();
      expect(await told()).toEqual(["connection_lost", "connection_recovered"]);
    },
  );

  test("is one when processes note it at once", async () => {
    await ripen();
    expect(await Promise.all([1, 2, 3].map(() => run({ notes: "failing", times: 20 })))).toEqual([null, null, null]);
    expect(await told()).toEqual(["connection_lost"]);
    await Promise.all([1, 2].map(() => run({ notes: "over", times: 20 })));
    expect(await told()).toEqual(["connection_lost", "connection_recovered"]);
  });
});

test("every event goes to notifiers by one of the kinds that they can choose", () => {
  for (const kind of eventKinds) expect(triggerKinds).toContain(triggerOf(kind));
});
