import { afterEach, beforeEach, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { Hono } from "hono";
import { AppError } from "../../src/errors.ts";
import type { AppEnv } from "../../src/http/context.ts";
import { createDoor } from "../../src/http/door.ts";
import { storeSetting } from "../../src/settings/queries.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { type TemporaryDatabase, temporaryDatabase } from "../support/temporary-database.ts";

let temporary: TemporaryDatabase;
beforeEach(async () => {
  temporary = await temporaryDatabase();
});
afterEach(() => temporary.close());

/** Requests that store before, in the middle of, or after what they wait for. */
function house() {
  const clock = createFakeClock();
  const door = createDoor(clock);
  const gate = Promise.withResolvers<void>();
  const late: unknown[] = [];
  const store = (key: string) => temporary.db.write((tx) => storeSetting(tx, key, 1, 0));
  const app = new Hono<AppEnv>();
  app.use(door.enter, door.begin);
  app.post("/at-once", (c) => c.text("done"));
  app.post("/stores-first", async (c) => {
    await store("first");
    await gate.promise;
    await store("second");
    return c.text("done");
  });
  app.post("/stores-last", async (c) => {
    await gate.promise;
    await store("late").catch((error: unknown) => late.push(error));
    return c.text("done");
  });
  app.onError((error, c) => c.text(error.message, error instanceof AppError ? 503 : 500));
  const ask = async (path: string, body?: BodyInit) => {
    const request = new Request(`http://tidemark.test${path}`, { method: "POST", ...(body ? { body } : {}) });
    const answer = await door.through(() => app.fetch(request));
    return answer.status;
  };
  const stored = async () =>
    (await temporary.db.client.execute("select key from settings order by key")).rows.map((row) => String(row[0]));
  const settled = async () => {
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  };
  return { clock, door, gate, late, ask, stored, settled };
}

test("the door refuses after a while what has changed nothing, and lets end what has", async () => {
  const { clock, door, gate, late, ask, stored, settled } = house();
  const first = ask("/stores-first");
  const last = ask("/stores-last");
  await settled();
  const closed = door.close({ patience_ms: 1000, limit_ms: 2000 });
  expect(await ask("/at-once")).toBe(503);
  await clock.advance(999);
  expect(await Promise.race([last, settled()])).toBeUndefined();
  await clock.advance(1);
  expect(await last).toBe(503);
  gate.resolve();
  expect(await first).toBe(200);
  expect(await closed).toBe(true);
  await settled();
  expect(await stored()).toEqual(["first", "second"]);
  expect(late).toMatchObject([{ code: "stopping" }]);
});

test("the door gives up who does not end within the limit", async () => {
  const { clock, door, ask, settled } = house();
  void ask("/stores-first");
  await settled();
  const closed = door.close({ patience_ms: 1000, limit_ms: 2000 });
  await clock.advance(1000);
  await clock.advance(1000);
  expect(await closed).toBe(false);
});

test("the door refuses at once what waits for a body that is not there yet", async () => {
  const { door, ask, settled } = house();
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(1)) });
  const waiting = ask("/at-once", body);
  await settled();
  expect(await door.close({ patience_ms: 1000, limit_ms: 2000 })).toBe(true);
  expect(await waiting).toBe(503);
});
