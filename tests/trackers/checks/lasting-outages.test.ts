import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../../src/auth/schema.ts";
import { outage_notices } from "../../../src/db/tables.ts";
import { PluginError, type PluginErrorCode } from "../../../src/errors.ts";
import { plain } from "../../../src/messages/message.ts";
import { source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

const minute = 60_000;
const hour = 60 * minute;
let house: TrackerHouse;
beforeEach(async () => {
  house = await trackerHouse();
});
afterEach(() => house.close());

const fail = (code: PluginErrorCode, ...images: string[]) => {
  for (const image of images) house.repository(image).failure = new PluginError(code, plain("No answer"));
};
const work = (...images: string[]) => {
  for (const image of images) house.repository(image).failure = null;
};
const outages = () => house.events.filter((event) => "cause" in event.facts);
const kinds = () => outages().map(({ kind }) => kind);
const notices = async () => await house.db.read.select().from(outage_notices);

/** Checks what is due, every half minute for so long. */
async function watch(ms: number, ticking: { tick: (now: number) => Promise<void>; idle: () => Promise<void> }[] = []) {
  const until = house.clock.elapsed() + ms;
  for (let turn = 0; house.clock.elapsed() < until; turn += 1) {
    await house.clock.advance(minute / 2);
    const process = ticking[turn % ticking.length] ?? house.scheduler;
    await process.tick(house.clock.now());
    await process.idle();
  }
}

/** Trackers of one source each, on one host, checked for the first time. */
async function settled(names: readonly string[], change: Record<string, unknown> = {}): Promise<void> {
  for (const name of names) {
    house.publish(name, "1.0.0");
    await house.create(name, { check_interval_minutes: 360 }, [source(name, change)]);
  }
  await house.tick();
}
const due = () => house.clock.advance(6 * hour);

describe("a host that does not respond", () => {
  const names = ["app", "cache", "web"];

  test("is one event with its members after 15 minutes, and one when it is over", async () => {
    await settled(names);
    await due();
    fail("unreachable", ...names);
    await watch(14 * minute);
    expect(kinds()).toEqual([]);
    await watch(3 * minute);
    const [row] = (await house.trackers.upstreams()).outages;
    const outage = {
      ...{ cause: "upstream", host: "registry.test", since: row?.since, code: "unreachable", source_count: 3 },
      sources: names.map((tracker) => ({ tracker, source: "main" })),
    };
    expect(outages()).toMatchObject([{ kind: "upstream_unreachable", facts: { ...outage, lasted_ms: null } }]);
    await watch(2 * hour);
    expect(kinds()).toHaveLength(1);
    work(...names);
    await watch(20 * minute);
    expect(kinds()).toEqual(["upstream_unreachable", "upstream_recovered"]);
    const [past] = (await house.trackers.upstreams()).past_outages;
    const lasted_ms = (past?.ended_at ?? 0) - (past?.since ?? 0);
    expect(outages()[1]?.facts).toMatchObject({ ...outage, lasted_ms });
    expect(await notices()).toEqual([]);
  });

  test("is none if it responds again within 15 minutes", async () => {
    await settled(names);
    await due();
    fail("unreachable", ...names);
    await watch(10 * minute);
    work(...names);
    await watch(hour);
    expect(kinds()).toEqual([]);
  });

  test("is none if it has never responded", async () => {
    fail("unreachable", ...names);
    await settled(names);
    await watch(hour);
    expect((await house.trackers.upstreams()).outages).toHaveLength(1);
    work(...names);
    await watch(hour);
    expect(kinds()).toEqual([]);
  });

  test("is one for two processes, and over a restart of both", async () => {
    const schedulers = [house.scheduler, house.build("two").scheduler];
    await settled(names);
    await due();
    fail("unreachable", ...names);
    await watch(10 * minute, schedulers);
    const next = [house.build("three").scheduler, house.build("four").scheduler];
    await watch(hour, next);
    work(...names);
    await watch(hour, next);
    expect(kinds()).toEqual(["upstream_unreachable", "upstream_recovered"]);
  });

  test.each([
    ["disabled", async (name: string) => void (await house.trackers.update(systemActor, name, { is_enabled: false }))],
    ["deleted", async (name: string) => await house.trackers.remove(systemActor, name)],
  ])("ends without an event when the last tracker is %s", async (_name, end) => {
    await settled(["app"]);
    await due();
    fail("unreachable", "app");
    await watch(20 * minute);
    expect(kinds()).toEqual(["upstream_unreachable"]);
    await end("app");
    expect(await notices()).toEqual([]);
    work("app");
    await watch(hour);
    expect(kinds()).toEqual(["upstream_unreachable"]);
  });
});

describe("a credential that a host refuses", () => {
  const names = ["app", "cache"];
  let credential: string;
  beforeEach(async () => {
    const secret = { username: "me", password: "hunter2hunter2" };
    credential = (await house.credentials.create(systemActor, { name: "ci", kind: "oci", secret })).id;
  });
  const settledWith = async (trackers: readonly string[]) => await settled(trackers, { credential_id: credential });

  test("is one event for all its sources, once a further check has confirmed it", async () => {
    await settledWith(names);
    await due();
    fail("unauthorized", ...names);
    await house.tick();
    const since = house.clock.now();
    await watch(15 * minute);
    expect(kinds()).toEqual([]);
    await watch(2 * minute);
    const outage = {
      ...{ cause: "credential", credential: "ci", credential_id: credential, host: "registry.test", since },
      ...{ code: "unauthorized", source_count: 2, sources: names.map((tracker) => ({ tracker, source: "main" })) },
    };
    expect(outages()).toMatchObject([{ kind: "credential_refused", facts: { ...outage, lasted_ms: null } }]);
    const asked = house.repository("app").asked.length;
    await watch(3 * hour);
    // From then on, the interval counts.
    expect(house.repository("app").asked).toHaveLength(asked);
    work(...names);
    await watch(5 * hour);
    expect(kinds()).toEqual(["credential_refused", "credential_recovered"]);
    expect(outages()[1]?.facts).toMatchObject(outage);
    expect(await notices()).toEqual([]);
  });

  test("is one if a single source uses it, and none if others that use it work", async () => {
    await settledWith(["app"]);
    await due();
    fail("unauthorized", "app");
    await watch(20 * minute);
    expect(kinds()).toEqual(["credential_refused"]);
    work("app");
    await house.check("app");
    house.publish("cache", "1.0.0");
    await house.create("cache", { check_interval_minutes: 360 }, [source("cache", { credential_id: credential })]);
    await house.tick();
    fail("unauthorized", "app");
    await house.check("app");
    await watch(7 * hour);
    expect(kinds()).toEqual(["credential_refused", "credential_recovered"]);
  });

  test("is none if the confirming check is accepted, or if it never was", async () => {
    fail("unauthorized", "fresh");
    await settledWith(names);
    house.publish("fresh", "1.0.0");
    await house.create("fresh", {}, [
      source("fresh", { credential_id: credential, config: { image: "fresh", registry: "other.test" } }),
    ]);
    await due();
    fail("unauthorized", ...names);
    await house.tick();
    work(...names);
    await watch(8 * hour);
    expect(kinds()).toEqual([]);
  });

  test("goes on while its host does not respond, and ends when it accepts it", async () => {
    await settledWith(names);
    await due();
    fail("unauthorized", ...names);
    await watch(20 * minute);
    fail("unreachable", ...names);
    await watch(7 * hour);
    expect(kinds()).toEqual(["credential_refused", "upstream_unreachable"]);
    work(...names);
    await watch(hour);
    expect(kinds().slice(2).toSorted()).toEqual(["credential_recovered", "upstream_recovered"]);
  });

  test("ends without an event when its last source is gone", async () => {
    await settledWith(names);
    await due();
    fail("unauthorized", ...names);
    await watch(20 * minute);
    await house.trackers.remove(systemActor, "app");
    expect(await notices()).toHaveLength(1);
    await house.trackers.update(systemActor, "cache", { sources: [source("cache")] });
    expect(await notices()).toEqual([]);
    work(...names);
    await watch(hour);
    expect(kinds()).toEqual(["credential_refused"]);
  });

  test("is checked at once when its secret is replaced", async () => {
    await settledWith(names);
    await due();
    fail("unauthorized", ...names);
    await watch(20 * minute);
    work(...names);
    await house.credentials.update(systemActor, credential, { secret: { password: "correct-horse" } });
    await house.tick();
    expect(kinds()).toEqual(["credential_refused", "credential_recovered"]);
  });
});
