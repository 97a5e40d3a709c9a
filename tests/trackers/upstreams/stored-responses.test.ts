import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { countedTime } from "../../../src/counted-time.ts";
import { rate_limits, response_cache } from "../../../src/db/tables.ts";
import type { RateStore } from "../../../src/net/rate-ledger.ts";
import type { ResponseCache } from "../../../src/net/response-cache.ts";
import { answerStore, rateStore } from "../../../src/trackers/upstreams/stored-responses.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";
import { type TemporaryDatabase, temporaryDatabase } from "../../support/temporary-database.ts";

const day = 86_400_000;
let temporary: TemporaryDatabase;
let clock: FakeClock;
let answers: ResponseCache;
let rates: RateStore;
beforeEach(async () => {
  temporary = await temporaryDatabase();
  clock = createFakeClock();
  const counted = countedTime(clock, null);
  answers = answerStore({ db: temporary.db, clock, counted });
  rates = rateStore({ db: temporary.db, clock, counted });
});
afterEach(() => temporary.close());

const answer = (body: string) => ({
  etag: '"1"',
  last_modified: null,
  content_type: "application/json",
  headers: { link: "<x>" },
  body,
});
const rows = () => temporary.db.read.select().from(response_cache);

describe("answerStore()", () => {
  test("gives back what was stored last under a key, and null for another", async () => {
    await answers.store("a", answer("one"));
    await answers.store("a", answer("two"));
    expect(await answers.find("a")).toEqual(answer("two"));
    expect(await answers.find("b")).toBeNull();
    expect(await rows()).toHaveLength(1);
  });

  test("forgets what nobody asked for in 30 days, and keeps what somebody did", async () => {
    await answers.store("used", answer("x"));
    await answers.store("unused", answer("x"));
    await clock.advance(20 * day);
    await answers.find("used");
    await clock.advance(20 * day);
    await answers.store("new", answer("x"));
    expect((await rows()).map((row) => row.key).toSorted()).toEqual(["new", "used"]);
  });

  test("is bounded in bytes: the longest unused go first", async () => {
    const large = 100 * 1024 * 1024;
    for (const key of ["a", "b", "c"]) {
      await answers.store(key, answer("x"));
      await temporary.db.write(async (tx) => {
        await tx.update(response_cache).set({ size_bytes: large });
      });
      await clock.advance(1);
    }
    await answers.store("d", answer("x"));
    expect((await rows()).map((row) => row.key).toSorted()).toEqual(["b", "c", "d"]);
  });
});

describe("rateStore()", () => {
  const state = (host: string, remaining: number) => ({
    host,
    credential_id: null,
    limit: 100,
    remaining,
    reset_at: null,
    blocked_until: null,
    strikes: 0,
    observed_at: clock.now(),
  });

  test("gives back the last state of each host and credential", async () => {
    await rates.save(state("a", 1));
    await rates.save(state("a", 2));
    await rates.save({ ...state("a", 3), credential_id: "c" });
    const loaded = await rates.load();
    expect(loaded.map((found) => [found.credential_id, found.remaining]).toSorted()).toEqual([
      [null, 2],
      ["c", 3],
    ]);
  });

  test("forgets old states and passes over what it cannot read", async () => {
    await rates.save(state("old", 1));
    await clock.advance(32 * day);
    await rates.save(state("new", 1));
    await temporary.db.write(async (tx) => {
      await tx.insert(rate_limits).values({ key: "odd", state: { host: 5 }, updated_at: clock.now() });
    });
    expect((await rates.load()).map((found) => found.host)).toEqual(["new"]);
  });
});
