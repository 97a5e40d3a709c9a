import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { upstream_outages } from "../../../src/db/tables.ts";
import { PluginError, type PluginErrorCode } from "../../../src/errors.ts";
import { plain as quoted } from "../../../src/messages/message.ts";
import { until } from "../../support/fake-clock.ts";
import { source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
let house: TrackerHouse;
beforeEach(async () => {
  house = await trackerHouse();
});
afterEach(() => house.close());

const failWith = (code: PluginErrorCode, retry_after_ms: number | null, ...images: string[]) => {
  for (const image of images) {
    house.repository(image).failure = new PluginError(code, quoted("No answer"), { retry_after_ms });
  }
};
const die = (...images: string[]) => failWith("unreachable", null, ...images);
const comeBack = (...images: string[]) => {
  for (const image of images) house.repository(image).failure = null;
};
const asked = (...images: string[]) => images.reduce((sum, image) => sum + house.repository(image).asked.length, 0);
const outages = async () => await house.db.read.select().from(upstream_outages);
const current = async () => (await house.trackers.upstreams()).outages;

/** Ticks every `step` for so long, and says at which seconds the sources were asked. */
async function watch(images: readonly string[], ms: number, step = 15 * second): Promise<number[]> {
  const begun = house.clock.now();
  const moments: number[] = [];
  let known = asked(...images);
  while (house.clock.now() < begun + ms) {
    await house.clock.advance(step);
    await house.tick();
    const now = asked(...images);
    for (; known < now; known += 1) moments.push((house.clock.now() - begun) / second);
  }
  return moments;
}

/** Trackers of one source each, on one host, checked for the first time. */
async function settled(names: readonly string[], change: Record<string, unknown> = {}): Promise<void> {
  for (const name of names) {
    house.publish(name, "1.0.0");
    await house.create(name, { check_interval_minutes: 360, ...change });
  }
  await house.tick();
}

/** All of them are due at once. */
const due = () => house.clock.advance(6 * hour);

describe("a host that dies", () => {
  const names = Array.from({ length: 12 }, (_, n) => `app-${n}`);

  test("is one outage: checks that fail together count once, and one source tries again after 1, 2, 4, 8 and 15 minutes", async () => {
    await settled(names);
    await due();
    die(...names);
    const before = asked(...names);
    await house.tick();
    // As many as had begun before the first one failed.
    expect(asked(...names) - before).toBeLessThanOrEqual(4);
    expect(await outages()).toMatchObject([{ host: "registry.test", failures: 1, pause_ms: minute, ended_at: null }]);
    const moments = await watch(names, 60 * minute);
    expect(moments.map((at) => at / 60)).toEqual([1, 3, 7, 15, 30, 45, 60]);
    expect(await current()).toMatchObject([{ host: "registry.test", failures: 8, waiting: 12, ended_at: null }]);
  });

  test("and returns has all that waited checked within minutes, one after the other, each once", async () => {
    await settled(names);
    await due();
    die(...names);
    await house.tick();
    // Every source fails with it, so that all of them have waited.
    for (const name of names) await house.check(name);
    await watch(names, 20 * minute);
    comeBack(...names);
    const back = house.clock.now();
    const [outage] = await current();
    await house.clock.advance((outage?.next_try_at ?? 0) - back - second);
    const moments = await watch(names, minute, second);
    // The attempt, and then another source each second.
    expect(moments).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(await outages()).toMatchObject([{ failures: 5 }]);
    expect((await outages())[0]?.ended_at).toBeGreaterThan(back);
    const rows = await house.sourceRows();
    expect(rows.map((row) => row.failing_since)).toEqual(names.map(() => null));
    expect(await current()).toEqual([]);
    expect((await house.trackers.upstreams()).past_outages).toMatchObject([{ host: "registry.test", waiting: 0 }]);
  });

  test("holds back only its own sources", async () => {
    await settled(["here"]);
    await house.create("there", { check_interval_minutes: 10 }, [
      source("there", { config: { image: "there", registry: "other.test" } }),
    ]);
    await house.tick();
    await due();
    die("here");
    await house.tick();
    expect(await watch(["there"], 30 * minute)).toHaveLength(3);
  });

  test("is tried by another source each time, so that one that never works does not keep the others waiting", async () => {
    await settled(["broken", "fine"]);
    await due();
    die("broken");
    house.repository("fine").gate = Promise.reject(new PluginError("unreachable", quoted("No answer")));
    house.repository("fine").gate?.catch(() => undefined);
    await house.tick();
    expect(await current()).toMatchObject([{ waiting: 2 }]);
    house.repository("fine").gate = null;
    await watch(["fine"], 5 * minute);
    expect((await house.trackers.get("fine")).state).toBe("ok");
    expect(await current()).toEqual([]);
    // It goes on failing by itself, with pauses of its own, and no source waits for it.
    const moments = await watch(["broken"], 2 * hour);
    expect(moments.length).toBeGreaterThan(6);
    expect(moments.length).toBeLessThanOrEqual(14);
    expect(await current()).toEqual([]);
  });

  test("shows with its sources until when they wait, and a source that was due meanwhile waits too", async () => {
    await settled(["app-0", "app-1"]);
    await due();
    die("app-0", "app-1");
    await house.trackers.update(house.actor, "app-1", { is_enabled: false });
    await house.tick();
    await house.trackers.update(house.actor, "app-1", { is_enabled: true });
    await house.clock.advance(10 * second);
    const [outage] = await current();
    const next = house.clock.now() + 50 * second;
    expect(outage).toMatchObject({
      next_try_at: next,
      error: { code: "unreachable", message: "No answer" },
      sources: [
        { tracker: "app-0", source: "main" },
        { tracker: "app-1", source: "main" },
      ],
    });
    expect((await house.trackers.get("app-1")).sources[0]).toMatchObject({ state: "ok", waits_until: next });
    await house.tick();
    expect(asked("app-1")).toBe(1);
  });
});

describe("a source that fails for its own reasons", () => {
  test.each(["not_found", "unauthorized"] as const)("(%s) notes no outage and waits its interval", async (code) => {
    await settled(["own", "other"]);
    await due();
    failWith(code, null, "own");
    await house.tick();
    expect(await outages()).toEqual([]);
    expect(asked("other")).toBe(2);
    expect((await watch(["own"], 5 * hour)).length).toBe(0);
  });

  test("keeps its own pause when an outage of its host ends", async () => {
    await settled(["own", "other"]);
    await due();
    failWith("unauthorized", null, "own");
    await house.tick();
    await house.clock.advance(3 * hour);
    die("other");
    await house.check("other");
    comeBack("other");
    const before = asked("own");
    await watch(["other"], 5 * minute);
    expect(await current()).toEqual([]);
    expect(asked("own")).toBe(before);
  });

  test("and is asked while its host is down ends the outage: the host responds", async () => {
    await settled(["own", "other"]);
    die("other");
    await house.check("other");
    expect(await current()).toHaveLength(1);
    failWith("not_found", null, "own");
    await house.check("own");
    expect(await current()).toEqual([]);
    expect((await house.sourceRows()).map((row) => row.next_check_at - house.clock.now())).toContain(second);
  });

  test("is retried within minutes, less and less often, while its host serves the others", async () => {
    await settled(["own", "busy"], { check_interval_minutes: 5 });
    await house.clock.advance(5 * minute);
    die("own");
    await house.tick();
    const moments = await watch(["own"], hour);
    expect(moments.length).toBeGreaterThanOrEqual(8);
    // Its interval is shorter than the longest pause.
    expect(moments.length).toBeLessThanOrEqual(16);
    expect((await watch(["busy"], hour)).length).toBeGreaterThanOrEqual(12);
    expect((await outages()).length).toBe(1);
  });
});

describe("a wait that upstream asks for", () => {
  test.each([
    ["is the least pause", 40 * minute, 40 * minute],
    ["shorter than the pause changes nothing", second, minute],
    ["is a day at most", 30 * day, day],
  ])("%s", async (_name, wait, pause) => {
    await settled(["app"]);
    failWith("unreachable", wait, "app");
    await house.check("app");
    expect(await current()).toMatchObject([{ next_try_at: house.clock.now() + pause }]);
    expect((await house.sourceRows())[0]?.next_check_at).toBe(house.clock.now() + pause);
  });

  test("without an end is an outage, and one with an end is not", async () => {
    await settled(["limited"]);
    failWith("rate_limited", null, "limited");
    await house.check("limited");
    expect(await outages()).toMatchObject([{ error_code: "rate_limited", ended_at: null }]);
    failWith("rate_limited", 5 * minute, "limited");
    await house.check("limited");
    expect(await current()).toEqual([]);
    expect((await house.sourceRows())[0]?.next_check_at).toBe(house.clock.now() + 5 * minute);
  });
});

describe("a requested check", () => {
  test("ignores the pause, does not lengthen it when it fails, and ends the outage when it succeeds", async () => {
    await settled(["app", "other"]);
    die("app", "other");
    await house.check("app");
    await house.clock.advance(10 * second);
    const [before] = await current();
    await house.check("other");
    await house.check("app");
    expect(await current()).toMatchObject([{ failures: 1, next_try_at: before?.next_try_at ?? 0, waiting: 2 }]);
    comeBack("app", "other");
    await house.check("other");
    expect(await current()).toEqual([]);
    await house.clock.advance(second);
    await house.tick();
    expect((await house.trackers.get("app")).state).toBe("ok");
  });

  test("gets a place after five seconds although others hold all of them", async () => {
    const slow = ["slow-0", "slow-1", "slow-2", "slow-3"];
    await settled([...slow, "wanted"]);
    const gate = Promise.withResolvers<void>();
    for (const name of slow) {
      house.repository(name).gate = gate.promise;
      await house.trackers.requestCheck(house.actor, name);
    }
    await house.scheduler.tick();
    await until(() => asked(...slow) === 8);
    await house.trackers.requestCheck(house.actor, "wanted");
    await house.clock.advance(4 * second);
    await house.scheduler.tick();
    await house.clock.advance(0);
    expect(asked("wanted")).toBe(1);
    await house.clock.advance(second);
    await house.scheduler.tick();
    await until(() => asked("wanted") === 2);
    gate.resolve();
    await house.scheduler.idle();
  });
});

describe("a process that is killed", () => {
  test("between a failure and the next attempt loses nothing", async () => {
    await settled(["app"]);
    die("app");
    await house.check("app");
    const restarted = house.build("two");
    await restarted.service.recover();
    const before = asked("app");
    await restarted.scheduler.tick();
    await restarted.scheduler.idle();
    expect(asked("app")).toBe(before);
    await house.clock.advance(minute);
    await restarted.scheduler.tick();
    await restarted.scheduler.idle();
    expect(asked("app")).toBe(before + 1);
    expect(await outages()).toMatchObject([{ failures: 2 }]);
  });

  test("during the attempt leaves it to the next one, at its start or when the lease is over", async () => {
    await settled(["app", "other"]);
    await due();
    die("app", "other");
    await house.tick();
    await house.clock.advance(minute);
    house.repository("app").gate = new Promise(() => undefined);
    house.repository("other").gate = new Promise(() => undefined);
    const before = asked("app", "other");
    await house.scheduler.tick();
    await until(() => asked("app", "other") === before + 1);
    // While it goes on, no other source tries.
    const other = house.build("two");
    await other.scheduler.tick();
    await house.clock.advance(0);
    expect(asked("app", "other")).toBe(before + 1);
    house.repository("app").gate = null;
    house.repository("other").gate = null;
    const restarted = house.build("three");
    await restarted.service.recover();
    await restarted.scheduler.tick();
    await restarted.scheduler.idle();
    expect(asked("app", "other")).toBe(before + 2);
    expect(await outages()).toMatchObject([{ failures: 2, probe_owner: null }]);
  });
});

test("outages that are over are kept for 30 days by a right clock, and one at a host that nobody asks is forgotten", async () => {
  const row = { host: "gone.test", error_code: "unreachable", error_message: quoted("No answer"), failures: 1 };
  const times = { pause_ms: minute, next_due_at: house.clock.now() };
  const at = (age: number) => ({ since: house.clock.now() - age - hour, ended_at: house.clock.now() - age });
  await house.db.write((tx) =>
    tx.insert(upstream_outages).values([
      { id: "old", ...row, ...times, ...at(32 * day) },
      { id: "recent", ...row, ...times, ...at(29 * day) },
      { id: "orphan", ...row, ...times, since: house.clock.now() - day },
    ]),
  );
  await settled(["app"]);
  die("app");
  await house.check("app");
  expect((await outages()).map(({ id, host }) => (host === "gone.test" ? id : host)).toSorted()).toEqual([
    "recent",
    "registry.test",
  ]);
  // A clock that is ten years ahead for a moment deletes nothing.
  house.clock.set(house.clock.now() + 3650 * day);
  await house.create("elsewhere", {}, [
    source("elsewhere", { config: { image: "elsewhere", registry: "other.test" } }),
  ]);
  die("elsewhere");
  await house.check("elsewhere");
  expect((await outages()).map(({ id, host }) => (host === "gone.test" ? id : host)).toSorted()).toEqual([
    "other.test",
    "recent",
    "registry.test",
  ]);
});
