import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { type Clock, systemClock } from "../../src/clock.ts";
import { countedTime } from "../../src/counted-time.ts";
import type { Database } from "../../src/db/client.ts";
import { createHttp } from "../../src/net/http.ts";
import { createRateLedger } from "../../src/net/rate-ledger.ts";
import { sources } from "../../src/sources/index.ts";
import { answerStore, rateStore } from "../../src/trackers/upstreams/stored-responses.ts";
import type { FakeClock } from "../support/fake-clock.ts";
import { type Fault, type KindCase, type KindWorld, kindCases } from "./kind-worlds.ts";
import { channel, type TrackerHouse, trackerHouse } from "./tracker-house.ts";

const hour = 3_600_000;
const stable = "^\\d+\\.\\d+\\.\\d+$";
const candidates = "-rc\\.\\d+$";

/** The house's time for what is stored; waits between retries pass at once, deadlines never end. */
function networkClock(clock: FakeClock): Clock {
  return {
    now: clock.now,
    elapsed: clock.elapsed,
    sleep: (ms, signal) => {
      if (ms < 1_000) return systemClock.sleep(ms, signal);
      if (ms <= 8_000) return Promise.resolve();
      return new Promise((_, reject) => {
        if (signal?.aborted) reject(signal.reason);
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    },
  };
}

async function open(kindCase: KindCase) {
  let clock: Clock | null = null;
  const world = await kindCase.open(() => clock?.now() ?? 0);
  const https: ReturnType<typeof createHttp>[] = [];
  const openContext = (fake: FakeClock, db: Database) => {
    clock = fake;
    const network = networkClock(fake);
    const onStoreError = (error: unknown) => {
      throw error;
    };
    const counted = countedTime(fake, null);
    const ledger = createRateLedger({ clock: network, store: rateStore({ db, clock: fake, counted }), onStoreError });
    const http = createHttp({
      clock: network,
      ledger,
      cache: answerStore({ db, clock: fake, counted }),
      random: () => 0.5,
    });
    https.push(http);
    return http.open;
  };
  const house = await trackerHouse({ openContext, has_real_sources: true });
  return {
    world,
    house,
    create: async (change: Record<string, unknown> = {}, channels: unknown[] = [channel("stable", stable)]) => {
      const credential_id =
        world.secret === null
          ? null
          : (
              await house.credentials.create(house.actor, {
                name: "app",
                kind: kindCase.kind,
                secret: world.secret,
              })
            ).id;
      const source = { key: "main", kind: kindCase.kind, config: world.config, credential_id, channels };
      await house.create("app", { ...world.preferences, ...change }, [source]);
      return source;
    },
    /** Publishes a minute apart, and lets an hour pass. */
    publish: async (...tags: readonly string[]) => {
      for (const [index, tag] of tags.entries()) {
        const stage = tag.includes("-rc") ? { stage: "prerelease" as const } : {};
        world.publish(tag, house.clock.now() + (index - tags.length) * 60_000, stage);
      }
      await house.clock.advance(hour);
    },
    check: () => house.check("app"),
    state: async () => (await house.trackers.get("app")).sources[0],
    shown: async () => (await house.trackers.releases("app", { limit: "100" })).items.map(({ tag }) => tag),
    close: async () => {
      await house.close();
      for (const http of https) http.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

const faults: readonly (readonly [string, Fault, RegExp])[] = [
  ["500", { status: 500, type: "application/json", body: '{"message":"db is locked"}' }, /500/],
  ["404", { status: 404, type: "application/json", body: '{"message":"Not Found"}' }, /404/],
  ["a web page", { status: 200, type: "text/html", body: "<!doctype html><title>Sign in</title>" }, /HTML|web page/i],
];

describe.each(kindCases.map((kindCase) => [kindCase.name, kindCase] as const))("%s", (_name, kindCase) => {
  let opened: Awaited<ReturnType<typeof open>>;
  let world: KindWorld;
  let house: TrackerHouse;
  beforeEach(async () => {
    opened = await open(kindCase);
    ({ world, house } = opened);
  });
  afterEach(async () => {
    expect(world.violations()).toEqual([]);
    await opened.close();
  });
  const { create, publish, check } = {
    create: (...given: Parameters<(typeof opened)["create"]>) => opened.create(...given),
    publish: (...tags: readonly string[]) => opened.publish(...tags),
    check: () => opened.check(),
  };
  const facts = (kind?: "new_release" | "republish") =>
    house.releaseEvents(kind).map(({ channel: type, version, also }) => ({ type, version, also }));

  test("announces nothing at its first check, and then the newest of what came, with the others", async () => {
    await publish("1.0.0", "1.1.0");
    await create();
    await check();
    expect(await opened.state()).toMatchObject({ error: null });
    expect(await house.storedTags()).toEqual(["1.0.0", "1.1.0"]);
    await publish("1.2.0", "1.3.0");
    await check();
    await check();
    expect(await house.latest("app")).toBe("1.3.0");
    expect(facts()).toEqual([{ type: "stable", version: "1.3.0", also: ["1.2.0"] }]);
  });

  test("announces a new build of the current version once", async () => {
    await publish("1.0.0");
    await create();
    await check();
    world.move?.("1.0.0", "another build");
    await house.clock.advance(hour);
    await check();
    await check();
    const expected = world.move === undefined ? [] : [{ type: "stable", version: "1.0.0", also: [] }];
    expect(facts("republish")).toEqual(expected);
    expect(facts()).toEqual(expected);
  });

  test("stores what cannot be resolved, and upgrades it without an event", async () => {
    if (world.resolve === undefined) return;
    await publish("1.0.0");
    await create();
    await check();
    world.publish("1.1.0", house.clock.now(), { is_unresolved: true });
    await house.clock.advance(hour);
    await check();
    const revision = async () => (await house.releaseRows()).find(({ tag }) => tag === "1.1.0")?.revision;
    expect(await revision()).toBeNull();
    expect(facts()).toEqual([{ type: "stable", version: "1.1.0", also: [] }]);
    world.resolve("1.1.0");
    await check();
    expect(await revision()).toMatch(/^(sha256:)?[0-9a-f]{40,64}$/);
    expect(facts()).toHaveLength(1);
  });

  test("announces each channel's own change, a stable release below a newer pre-release too", async () => {
    await publish("1.0.0");
    await create({}, [channel("stable", stable), channel("beta", candidates)]);
    await check();
    await publish("2.0.0-rc.1");
    await check();
    await publish("1.0.1");
    await check();
    await publish("2.0.0-rc.2", "1.0.2");
    await check();
    expect(facts()).toEqual([
      { type: "beta", version: "2.0.0-rc.1", also: [] },
      { type: "stable", version: "1.0.1", also: [] },
      { type: "stable", version: "1.0.2", also: [] },
      { type: "beta", version: "2.0.0-rc.2", also: [] },
    ]);
    expect([await house.latest("app"), await house.latest("app", "beta")]).toEqual(["1.0.2", "2.0.0-rc.2"]);
  });

  test("takes a pre-release by upstream's own word, and a draft never", async () => {
    if (!kindCase.has_types) return;
    await publish("1.0.0");
    await create({}, [
      { ...channel("stable"), release_type: "release" },
      { ...channel("beta"), release_type: "prerelease" },
    ]);
    await check();
    world.publish("1.1.0", house.clock.now(), { stage: "prerelease" });
    world.publish("1.2.0", house.clock.now(), { stage: "draft" });
    await house.clock.advance(hour);
    await check();
    expect(facts()).toEqual([{ type: "beta", version: "1.1.0", also: [] }]);
    world.publish("1.1.0", house.clock.now());
    await house.clock.advance(hour);
    await check();
    expect(facts().slice(1)).toEqual([{ type: "stable", version: "1.1.0", also: [] }]);
    expect(await house.storedTags()).toEqual(["1.0.0", "1.1.0"]);
  });

  test.each(faults)("keeps everything when the answer is %s, and says so", async (_fault, fault, reason) => {
    await publish("1.0.0", "1.1.0");
    await create();
    await check();
    const before = await house.releaseRows();
    const answeredAt = house.clock.now();
    world.fail(fault);
    await publish("1.2.0");
    await check();
    expect(await house.releaseRows()).toEqual(before);
    expect(facts()).toEqual([]);
    const state = await opened.state();
    expect(state).toMatchObject({ state: "failing", last_success_at: answeredAt, failing_since: house.clock.now() });
    expect(state?.error?.message).toMatch(reason);
    world.fail(null);
    await house.clock.advance(24 * hour);
    await check();
    expect(await opened.state()).toMatchObject({ state: "ok", error: null, failing_since: null });
    expect(facts()).toEqual([{ type: "stable", version: "1.2.0", also: [] }]);
  });

  test.each([[false], [true]])(
    "keeps everything when upstream empties its list, release fallback %p",
    async (fallback) => {
      await publish("1.0.0", "1.1.0");
      await create({ release_fallback: fallback || world.preferences?.release_fallback === true });
      await check();
      await check();
      const before = await house.releaseRows();
      const bringBack = world.empty();
      await house.clock.advance(hour);
      await check();
      expect(await house.releaseRows()).toEqual(before);
      expect(facts()).toEqual([]);
      expect(await opened.state()).toMatchObject({ state: "failing" });
      expect(await house.latest("app")).toBe("1.1.0");
      bringBack();
      await publish("1.2.0");
      await check();
      expect(facts()).toEqual([{ type: "stable", version: "1.2.0", also: [] }]);
    },
  );

  test("keeps so many of each channel, and what runs", async () => {
    house.parts.keep = 2;
    await publish("1.0.0", "2.0.0-rc.0");
    await create({}, [channel("stable", stable), channel("beta", candidates)]);
    await check();
    const tracker = await house.trackers.get("app");
    const [first] = (await house.releaseRows()).filter(({ tag }) => tag === "1.0.0");
    const binding = { tracker_id: tracker.id, source_id: tracker.sources[0]?.id ?? "", channel: "stable" as const };
    await house.bind("app", binding, { image: "app:1.0.0", digest: first?.revision ?? null });
    for (const number of [1, 2, 3, 4]) {
      await publish(`1.${number}.0`);
      await check();
    }
    expect(await house.storedTags()).toEqual(["1.0.0", "1.3.0", "1.4.0", "2.0.0-rc.0"]);
  });

  test("hides by a narrower pattern and brings back by a wider one, without a request or an event", async () => {
    await publish("1.0.0", "2.0.0");
    const source = await create();
    await check();
    world.taken();
    const edit = async (pattern: string) => {
      const sources = [{ ...source, channels: [channel("stable", pattern)] }];
      await house.trackers.update(house.actor, "app", { sources });
      return [await opened.shown(), await house.latest("app")];
    };
    expect(await edit("^1\\.")).toEqual([["1.0.0"], "1.0.0"]);
    expect(await edit(stable)).toEqual([["2.0.0", "1.0.0"], "2.0.0"]);
    expect(world.taken().requests).toBe(0);
    expect(facts()).toEqual([]);
  });

  test(`costs ${kindCase.cost} when nothing changed, also after a restart, which doubles nothing`, async () => {
    await publish("1.0.0", "1.1.0", "1.2.0");
    await create();
    // The second check asks GitHub for a shorter page than the first; each fourth one looks at an older version too.
    for (let count = 0; count < 4; count += 1) await check();
    world.taken();
    const cost = { requests: kindCase.cost, unchanged: kindCase.conditional };
    await house.clock.advance(hour);
    await check();
    expect(world.taken()).toEqual(cost);
    const before = await house.releaseRows();
    const { service, scheduler } = house.build("two");
    await house.clock.advance(hour);
    await service.requestCheck(systemActor, "app");
    await scheduler.tick(house.clock.now());
    await scheduler.idle();
    await scheduler.stop({ grace_ms: 0 });
    expect(world.taken()).toEqual(cost);
    expect(await house.releaseRows()).toEqual(before);
    expect(facts()).toEqual([]);
    expect(await opened.state()).toMatchObject({ state: "ok", last_request_count: kindCase.cost });
  });

  test("is said to cost that", async () => {
    const { release_fallback = false } = world.preferences ?? {};
    const terms = { has_credential: false, has_fallback: release_fallback === true, channel_count: 1 };
    expect(sources[kindCase.kind].cost(world.config, terms).requests).toBe(kindCase.cost);
  });

  if (["github", "gitlab", "gitea"].includes(kindCase.kind)) {
    test("remembers where a renamed repository is, so that it costs no more, and finds it when it comes back", async () => {
      await publish("1.0.0", "1.1.0", "1.2.0");
      const source = await create();
      for (let count = 0; count < 4; count += 1) await check();
      const before = await house.releaseRows();
      world.rename?.("acme/renamed");
      await check();
      expect((await opened.state())?.moved_to).toBe("acme/renamed");
      await check();
      world.taken();
      await check();
      expect(world.taken().requests).toBe(kindCase.cost);
      expect(await opened.state()).toMatchObject({ state: "ok", moved_to: "acme/renamed" });
      expect((await house.releaseRows()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
      expect(facts()).toEqual([]);
      const config = { ...source.config, instance_url: `${source.config.instance_url}/` };
      await house.trackers.update(house.actor, "app", { sources: [{ ...source, config }] });
      expect((await opened.state())?.moved_to).toBe("acme/renamed");
      const field = kindCase.kind === "gitlab" ? "project" : "repository";
      const elsewhere = { ...source.config, [field]: "acme/other" };
      await house.trackers.update(house.actor, "app", { sources: [{ ...source, config: elsewhere }] });
      expect((await opened.state())?.moved_to).toBeNull();
      await house.trackers.update(house.actor, "app", { sources: [source] });
      await check();
      expect((await opened.state())?.moved_to).toBe("acme/renamed");
      world.rename?.("acme/app");
      await check();
      expect(await opened.state()).toMatchObject({ state: "ok", moved_to: null });
      await publish("1.3.0");
      await check();
      expect(facts()).toEqual([{ type: "stable", version: "1.3.0", also: [] }]);
    });
  }

  test("fetches 100 versions over pages, and counts none that a channel refuses", async () => {
    house.parts.keep = 1_000;
    const numbers = Array.from({ length: 120 }, (_, index) => index);
    await publish(...numbers.flatMap((number) => [`1.${number}.0`, `1.${number}.1-rc.1`]));
    await create({ fetch_depth: 100 });
    await check();
    expect(await opened.state()).toMatchObject({ error: null });
    const expected = numbers.slice(20).map((number) => `1.${number}.0`);
    expect(await house.storedTags()).toEqual(expected.toSorted());
    world.taken();
    await check();
    expect(world.taken().requests).toBe(kindCase.cost);
    expect(await house.storedTags()).toEqual(expected.toSorted());
  });

  test("explains each stored version by the rules and by upstream's word", async () => {
    await publish("1.0.0", "1.1.0", "2.0.0-rc.1");
    await create({}, [
      channel("stable", stable, "^1\\.0"),
      kindCase.has_types ? { ...channel("beta"), release_type: "prerelease" } : channel("beta", candidates),
    ]);
    await publish("1.0.0");
    await check();
    const verdicts = async (tag: string) =>
      (await house.trackers.explain("app", { tag })).sources[0]?.channels.map(({ type, accepted, rank, latest }) => ({
        type,
        accepted,
        rank,
        latest,
      }));
    const latest = { stable: "1.1.0", beta: "2.0.0-rc.1" };
    expect(await verdicts("1.1.0")).toEqual([
      { type: "stable", accepted: true, rank: 1, latest: latest.stable },
      { type: "beta", accepted: false, rank: null, latest: latest.beta },
    ]);
    expect(await verdicts("2.0.0-rc.1")).toEqual([
      { type: "stable", accepted: false, rank: null, latest: latest.stable },
      { type: "beta", accepted: true, rank: 1, latest: latest.beta },
    ]);
    expect((await verdicts("1.0.0"))?.map(({ accepted }) => accepted)).toEqual([false, false]);
  });
});
