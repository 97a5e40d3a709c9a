import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../../src/auth/schema.ts";
import { check_hours, tracker_sources } from "../../../src/db/tables.ts";
import { PluginError } from "../../../src/errors.ts";
import { plain } from "../../../src/messages/message.ts";
import { source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

const second = 1_000;
const minute = 60 * second;
const day = 86_400_000;
let house: TrackerHouse;
beforeEach(async () => {
  house = await trackerHouse();
});
afterEach(() => house.close());

const asked = (image = "web") => house.repository(image).asked.length;
const dueAt = async () => (await house.sourceRows())[0]?.next_check_at ?? 0;

/** Lets checks begin and stay where they are. */
async function holdChecks(...images: string[]) {
  const gate = Promise.withResolvers<void>();
  for (const image of images) house.repository(image).gate = gate.promise;
  return gate;
}

async function untilAsked(image: string, count: number): Promise<void> {
  while (asked(image) < count) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe("due checks", () => {
  test("come again within an interval, always at the same share of it", async () => {
    await house.create("web", { check_interval_minutes: 60 });
    const waits: number[] = [];
    for (let round = 0; round < 3; round++) {
      await house.tick();
      const wait = (await dueAt()) - house.clock.now();
      waits.push(wait);
      await house.clock.advance(wait);
    }
    expect(asked()).toBe(3);
    expect(new Set(waits).size).toBe(1);
    expect(waits[0]).toBeGreaterThan(53 * minute);
    expect(waits[0]).toBeLessThanOrEqual(60 * minute);
  });

  test("that began late are a whole interval apart, so that jitter puts nobody ahead of the others in a queue", async () => {
    await house.create("web", { check_interval_minutes: 60 });
    await house.tick();
    await house.clock.advance(3 * 60 * minute);
    await house.tick();
    expect((await dueAt()) - house.clock.now()).toBe(60 * minute);
  });

  test("are spread by source", async () => {
    await house.create("web", {}, [source("a", { key: "a" }), source("b", { key: "b" }), source("c", { key: "c" })]);
    await house.tick();
    expect(new Set((await house.sourceRows()).map((row) => row.next_check_at)).size).toBe(3);
  });

  test("pass over a disabled tracker, unless somebody asks", async () => {
    await house.create("web", { is_enabled: false });
    await house.tick();
    expect(asked()).toBe(0);
    expect((await house.trackers.get("web")).sources[0]?.next_check_at).toBeNull();
    await house.check("web");
    await house.clock.advance(30 * day);
    await house.tick();
    expect(asked()).toBe(1);
    await house.trackers.update(house.actor, "web", { is_enabled: true });
    await house.tick();
    expect(asked()).toBe(2);
  });

  test("of 100 sources are never more than four at once, and each is done once", async () => {
    const images = Array.from({ length: 100 }, (_, n) => `image-${n}`);
    for (let part = 0; part < 5; part++) {
      const some = images.slice(part * 20, part * 20 + 20);
      await house.create(
        `tracker-${part}`,
        {},
        some.map((image, n) => source(image, { key: `s${n}` })),
      );
    }
    let open = 0;
    let most = 0;
    for (const image of images) {
      const repository = house.repository(image);
      Object.defineProperty(repository, "open", {
        get: () => open,
        set: (value: number) => {
          open = value;
          most = Math.max(most, open);
        },
      });
    }
    await house.tick();
    expect(images.map((image) => asked(image))).toEqual(images.map(() => 1));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
  });
});

describe("a claim", () => {
  test("lets one of two processes check", async () => {
    await house.create("web");
    const other = house.build("two");
    await Promise.all([house.tick(), other.scheduler.tick(house.clock.now())]);
    await other.scheduler.idle();
    expect(asked()).toBe(1);
  });

  test("keeps a manual check from running beside one that goes on, and lets it follow", async () => {
    await house.create("web");
    const gate = await holdChecks("web");
    await house.scheduler.tick(house.clock.now());
    await untilAsked("web", 1);
    const view = await house.trackers.requestCheck(systemActor, "web");
    expect(view.sources).toMatchObject([{ key: "main", state: "checking", is_waiting: true }]);
    await house.scheduler.tick(house.clock.now());
    expect(asked()).toBe(1);
    gate.resolve();
    await house.scheduler.idle();
    await house.tick();
    expect(asked()).toBe(2);
    expect(house.repository("web").most_open).toBe(1);
    expect((await house.trackers.checkState("web")).sources).toMatchObject([{ state: "ok", is_waiting: false }]);
  });

  test.each([
    ["another process", "two"],
    ["a later claim of the same one", "one"],
  ])("that has run out is taken by %s, and what the first still writes is discarded", async (_name, instanceId) => {
    house.publish("web", "1.0.0");
    await house.create("web");
    const gate = await holdChecks("web");
    await house.scheduler.tick(house.clock.now());
    await untilAsked("web", 1);
    // Nobody renews it: the first one stands still.
    house.clock.set(house.clock.now() + 31 * second);
    const secondGate = await holdChecks("web");
    const other = house.build(instanceId);
    await other.scheduler.tick(house.clock.now());
    await untilAsked("web", 2);
    gate.resolve();
    await house.scheduler.idle();
    expect(await house.storedTags()).toEqual([]);
    expect(house.lines.some((line) => line.includes("Check discarded"))).toBe(true);
    expect((await house.trackers.get("web")).sources[0]?.state).toBe("checking");
    secondGate.resolve();
    await other.scheduler.idle();
    expect(await house.latest("web")).toBe("1.0.0");
  });

  test("is kept for as long as the check goes on", async () => {
    await house.create("web");
    const gate = await holdChecks("web");
    await house.scheduler.tick(house.clock.now());
    await untilAsked("web", 1);
    const other = house.build("two");
    for (let step = 0; step < 5; step += 1) {
      await house.clock.advance(minute);
      await other.scheduler.tick(house.clock.now());
    }
    await other.scheduler.idle();
    expect(asked()).toBe(1);
    gate.resolve();
    await house.scheduler.idle();
    expect((await house.trackers.checkState("web")).sources).toMatchObject([{ state: "ok", is_waiting: false }]);
  });

  test("is given up at the start of the only process", async () => {
    await house.create("web");
    await holdChecks("web");
    await house.scheduler.tick(house.clock.now());
    await untilAsked("web", 1);
    house.repository("web").gate = null;
    const restarted = house.build("two");
    await restarted.service.recover();
    await restarted.scheduler.tick(house.clock.now());
    await restarted.scheduler.idle();
    expect(asked()).toBe(2);
  });

  test("is given back by a check that the end of the process cuts short", async () => {
    await house.create("web");
    await holdChecks("web");
    await house.scheduler.tick(house.clock.now());
    await untilAsked("web", 1);
    expect(await house.clock.runUntil(house.scheduler.stop({ grace_ms: 5_000 }))).toBe(true);
    expect((await house.sourceRows())[0]).toMatchObject({
      lease_owner: null,
      last_error_code: null,
      next_check_at: house.clock.now(),
    });
  });
});

describe("a clock that jumps", () => {
  test("a day ahead has each source checked once", async () => {
    await house.create("web", { check_interval_minutes: 10 });
    await house.tick();
    house.clock.set(house.clock.now() + day);
    for (let tick = 0; tick < 30; tick++) {
      await house.clock.advance(second);
      await house.tick();
    }
    expect(asked()).toBe(2);
  });

  test("a day back has the next check within an interval", async () => {
    await house.create("web", { check_interval_minutes: 10 });
    await house.tick();
    house.clock.set(house.clock.now() - day);
    const back = house.clock.now();
    await house.tick();
    expect(await dueAt()).toBeLessThanOrEqual(back + 10 * minute);
    await house.clock.advance(10 * minute);
    await house.tick();
    expect(asked()).toBe(2);
  });

  test("a day back while the process was down is noticed at its start", async () => {
    await house.create("web", { check_interval_minutes: 10 });
    await house.tick();
    house.clock.set(house.clock.now() - day);
    const restarted = house.build("two");
    await restarted.scheduler.tick(house.clock.now());
    expect(await dueAt()).toBeLessThanOrEqual(house.clock.now() + 10 * minute);
  });

  test("a day back after a process died in a check leaves no lease that lasts for a day", async () => {
    await house.create("web", { check_interval_minutes: 10 });
    await house.db.write((tx) =>
      tx.update(tracker_sources).set({ lease_owner: "dead", lease_until: house.clock.now() + minute }),
    );
    house.clock.set(house.clock.now() - day);
    for (let tick = 0; tick <= 11; tick++) {
      await house.tick();
      await house.clock.advance(minute);
    }
    expect(asked()).toBe(1);
  });
});

describe("check()", () => {
  test("waits for the end of a check of every source", async () => {
    await house.create("web", {}, [source("a", { key: "a" }), source("b", { key: "b" })]);
    const gate = await holdChecks("a");
    const checked = house.trackers.check("web", { timeout_ms: minute });
    await untilDue();
    await house.scheduler.tick(house.clock.now());
    await untilAsked("b", 1);
    gate.resolve();
    expect((await checked).sources).toMatchObject([
      { key: "a", state: "ok", is_waiting: false },
      { key: "b", state: "ok", is_waiting: false },
    ]);
  });

  test("gives up with 504 when that takes too long", async () => {
    await house.create("web");
    const failure = house.clock.runUntil(house.trackers.check("web", { timeout_ms: 3_000 }));
    expect(await failure.catch((error: unknown) => error)).toMatchObject({ code: "check_unfinished", status: 504 });
  });

  async function untilDue(): Promise<void> {
    while ((await house.sourceRows()).some((row) => row.check_requested_at === null)) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
});

test("onChecked() tells of each check until one stops listening", async () => {
  const tracker = await house.create("web");
  const told: string[] = [];
  const heard = Promise.withResolvers<void>();
  const stop = house.trackers.onChecked((trackerId, sourceId) => {
    told.push(trackerId, sourceId);
    heard.resolve();
  });
  await house.tick();
  await heard.promise;
  stop();
  await house.check("web");
  expect(told).toEqual([tracker.id, tracker.sources[0]?.id ?? ""]);
});

test("checks are counted by hour and host, and the counts are kept for 35 days by a right clock", async () => {
  const hour = 60 * minute;
  const begun = Math.floor(house.clock.now() / hour) * hour;
  const counts = async () => await house.db.read.select().from(check_hours).orderBy(check_hours.starts_at);
  await house.create("web", { check_interval_minutes: 360 });
  await house.tick();
  await house.check("web");
  house.repository("web").failure = new PluginError("not_found", plain("Not there"));
  await house.check("web");
  const first = { starts_at: begun, host: "registry.test", succeeded: 2, failed: 1, requests: 3 };
  expect(await counts()).toEqual([first]);
  await house.clock.advance(hour);
  await house.check("web");
  const second = { starts_at: begun + hour, host: "registry.test", succeeded: 0, failed: 1, requests: 1 };
  expect(await counts()).toEqual([first, second]);
  // A clock that is ten years ahead for a moment deletes nothing.
  const right = house.clock.now();
  house.clock.set(right + 3650 * day);
  await house.check("web");
  expect(await counts()).toMatchObject([first, second, { failed: 1 }]);
  house.clock.set(right);
  await house.clock.advance(37 * day);
  await house.check("web");
  expect((await counts()).some(({ starts_at }) => starts_at <= begun + hour)).toBe(false);
});
