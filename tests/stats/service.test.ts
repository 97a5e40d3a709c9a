import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { countedTime } from "../../src/counted-time.ts";
import {
  check_hours,
  executor_bindings,
  executors,
  runs,
  type tracker_sources,
  trackers,
} from "../../src/db/tables.ts";
import { updateDifferences } from "../../src/executors/observation-schema.ts";
import { openingOf } from "../../src/executors/settings.ts";
import { plain, told } from "../../src/messages/message.ts";
import { type StatsService, statsService } from "../../src/stats/service.ts";
import { currentOutages } from "../../src/trackers/upstreams/outages.ts";
import { createFakeClock, type FakeClock } from "../support/fake-clock.ts";
import { type TemporaryDatabase, temporaryDatabase } from "../support/temporary-database.ts";
import { digestOf, hourMs, installation } from "./installation.ts";

let temporary: TemporaryDatabase;
let clock: FakeClock;
let world: ReturnType<typeof installation>;
let stats: StatsService;
let zone = "UTC";

beforeEach(async () => {
  temporary = await temporaryDatabase();
  clock = createFakeClock();
  zone = "UTC";
  world = installation(temporary.db, clock);
  stats = statsService({
    ...{ db: temporary.db, clock, counted: countedTime(clock, null), timezone: () => zone },
    ...{ updateDifferences, openingOf, outages: () => currentOutages(temporary.db.read) },
  });
  await world.connection();
});
afterEach(() => temporary.close());

const unreachable = { code: "unreachable", message: "The engine could not be reached" };

describe("get()", () => {
  test("puts each executor into one list, under what it needs first", async () => {
    await world.executor({ name: "current" });
    await world.executor({ name: "behind", difference: "other_version" });
    await world.executor({ name: "rebuilt", difference: "new_digest", published_at: clock.now() - hourMs });
    const waiting = { reason: "window", until: clock.now() + hourMs } as const;
    await world.executor({ name: "later", difference: "other_version", waiting });
    await world.executor({ name: "lost", difference: "other_version", problem: unreachable });
    await world.executor({ name: "lost-too", difference: null, problem: unreachable });
    await world.executor({ name: "gone", difference: null, problem: { code: "target_missing", message: "Not there" } });
    await world.executor({ name: "off", difference: "other_version", is_enabled: false });
    await world.executor({ name: "unseen", is_observed: false });
    await world.executor({ name: "unsure", difference: "unknown" });
    const running = await world.executor({ name: "running", difference: "other_version" });
    await world.run(running, { state: "updating", ended_at: null });
    const view = await stats.get();
    // The one that was published longer ago comes first.
    expect(view.updates.map((each) => each.executor)).toEqual(["behind", "rebuilt"]);
    expect(view.waiting.map((each) => each.executor)).toEqual(["later"]);
    expect(view.lost_connections).toMatchObject([{ connection: "nas", executors: 2, problem: unreachable }]);
    expect(view.lost_targets.map((each) => each.executor)).toEqual(["gone"]);
    expect(view.active_runs.map((each) => each.executor)).toEqual(["running"]);
    expect(view.counts).toMatchObject({ executors: 11, needs: 4, updates: 2, lost: 2, waiting: 1, unknown: 2 });
    expect(view.updates[0]).toMatchObject({ from: { tag: "1.0.0" }, to: { tag: "1.1.0" }, connection: "nas" });
  });

  test.each(["failed", "degraded"] as const)("tells of a %s last run until a later one succeeds", async (state) => {
    const id = await world.executor({ name: "web" });
    await world.run(id, { state, serving: "desired", created_at: clock.now() - 3 * hourMs });
    await world.run(id, { state: "skipped", created_at: clock.now() - 2 * hourMs });
    expect((await stats.get()).bad_runs).toMatchObject([{ executor: "web", state }]);
    await world.run(id, { state: "succeeded", created_at: clock.now() - hourMs });
    expect((await stats.get()).bad_runs).toEqual([]);
  });

  test("tells of an update instead of a failed run once there is a newer version", async () => {
    const id = await world.executor({ name: "web", difference: "other_version", to: "1.2.0" });
    await world.run(id, { state: "failed", serving: "previous", desired_revision: "web@1.1.0" });
    expect(await stats.get()).toMatchObject({ bad_runs: [], updates: [{ executor: "web" }] });
    await world.run(id, {
      state: "failed",
      serving: "previous",
      desired_revision: "web@1.2.0",
      created_at: clock.now(),
    });
    expect(await stats.get()).toMatchObject({ bad_runs: [{ executor: "web" }], updates: [] });
  });

  test("leaves out what was put off, skipped or dismissed, and what is down never", async () => {
    const decide = (name: string, values: Partial<typeof executors.$inferInsert>) =>
      temporary.db.write((tx) => tx.update(executors).set(values).where(eq(executors.name, name)));
    for (const name of ["held", "snoozed", "over", "skipped", "other", "dismissed"])
      await world.executor({ name, difference: "other_version" });
    const skipped = (name: string, letter: string) => ({
      ...{ service: name, version: "1.1.0", tag: "1.1.0", reference: `team/${name}:1.1.0`, digest: digestOf(letter) },
      from: null,
    });
    await decide("held", { held_since: clock.now() });
    await decide("snoozed", { snoozed_until: clock.now() + hourMs });
    await decide("over", { snoozed_until: clock.now() });
    await decide("skipped", { skipped_versions: [skipped("skipped", "b")] });
    await decide("other", { skipped_versions: [skipped("other", "c")] });
    const { items } = { items: await temporary.db.read.select().from(executors) };
    const idOf = (name: string) => items.find((row) => row.name === name)?.id ?? "";
    const failed = { state: "failed", desired_revision: "dismissed@1.1.0" } as const;
    const run = await world.run(idOf("dismissed"), { ...failed, serving: "previous" });
    expect((await stats.get()).bad_runs).toMatchObject([{ executor: "dismissed" }]);
    await decide("dismissed", { dismissed_run_id: run });
    const { updates, bad_runs } = await stats.get();
    expect(updates.map((each) => each.executor)).toEqual(["other", "over"]);
    expect(bad_runs).toEqual([]);
    await temporary.db.write((tx) => tx.update(runs).set({ serving: "none" }).where(eq(runs.id, run)));
    expect((await stats.get()).bad_runs).toMatchObject([{ executor: "dismissed" }]);
  });

  test("never leaves out a target that is down, and puts it first", async () => {
    const fine = await world.executor({ name: "a", difference: "other_version" });
    await world.run(fine, {
      state: "failed",
      serving: "previous",
      desired_revision: "a@1.1.0",
      created_at: clock.now(),
    });
    const down = await world.executor({ name: "b", difference: "other_version", to: "2.0.0", is_enabled: false });
    await world.run(down, { state: "failed", serving: "none" });
    expect((await stats.get()).bad_runs.map((run) => run.executor)).toEqual(["b", "a"]);
  });

  test("lists failing sources of enabled trackers, the longest failing first", async () => {
    const failing = (hours: number) => ({
      ...{ failing_since: clock.now() - hours * hourMs, last_error_code: "unauthorized" },
      last_error_message: plain(`The registry answered ${400 + hours}`),
    });
    await world.tracker("fresh", { last_checked_at: null, last_success_at: null });
    await world.tracker("short", failing(1));
    await world.tracker("long", failing(9));
    const view = await stats.get();
    expect(view.failing_sources.map((each) => each.tracker)).toEqual(["long", "short"]);
    expect(view.failing_sources[0]?.error).toEqual({
      code: "unauthorized",
      ...told(plain("The registry answered 409")),
    });
    expect(view.sources).toEqual({
      total: 3,
      failing: 2,
      waiting: 0,
      pending: 1,
      last_checked_at: clock.now() - 120_000,
    });
  });

  test("tells once of sources that fail for one reason at one host, and counts them as one thing", async () => {
    const failing = (hours: number) => ({
      ...{ failing_since: clock.now() - hours * hourMs, last_error_code: "malformed" },
      last_error_message: plain("This is no registry"),
    });
    for (let hours = 1; hours <= 6; hours += 1) await world.tracker(`app-${hours}`, failing(hours));
    await world.tracker("elsewhere", { ...failing(2), host: "other.example.org" });
    const view = await stats.get();
    expect(view.failing_sources.map(({ tracker }) => tracker)).toEqual(["elsewhere"]);
    const since = clock.now() - 6 * hourMs;
    expect(view.shared_source_failures).toMatchObject([{ host: "registry.example.org", failing: 6, since }]);
    expect(view.counts).toMatchObject({ needs: 2, failing_sources: 1, shared_source_failures: 1 });
    expect(view.sources).toMatchObject({ failing: 7 });
    expect((await stats.status()).needs).toBe(2);
  });

  test("tells once of a credential that a host refuses for several sources, or for the only one", async () => {
    const ci = await world.credential("ci");
    const failing = (hours: number, changes: Partial<typeof tracker_sources.$inferInsert> = {}) => ({
      ...{ failing_since: clock.now() - hours * hourMs, last_error_code: "unauthorized", credential_id: ci },
      last_error_message: plain(`Refused ${hours} hours ago`),
      ...changes,
    });
    await world.tracker("short", failing(1));
    await world.tracker("fine", { credential_id: ci });
    // One source at another host, with another credential or with none; another failure; a disabled tracker.
    await world.tracker("elsewhere", failing(8, { host: "other.example.org" }));
    await world.tracker("missing", failing(7, { last_error_code: "not_found" }));
    for (const hours of [5, 6]) await world.tracker(`anonymous-${hours}`, failing(hours, { credential_id: null }));
    const own = await world.credential("own");
    await world.tracker("single", failing(4, { credential_id: own }));
    const off = await world.tracker("off", failing(30, { credential_id: own }));
    await temporary.db.write((tx) =>
      tx.update(trackers).set({ is_enabled: false }).where(eq(trackers.id, off.tracker_id)),
    );
    const alone = ["missing", "anonymous-6", "anonymous-5"];
    const before = await stats.get();
    expect(before.failing_sources.map(({ tracker }) => tracker)).toEqual([...alone, "short"]);
    const refusedIn = ({ refused_credentials }: typeof before) =>
      refused_credentials.map(({ credential, host, sources }) => [credential, host, sources[0]?.tracker]);
    const elsewhere = ["ci", "other.example.org", "elsewhere"];
    const single = ["own", "registry.example.org", "single"];
    expect(refusedIn(before)).toEqual([elsewhere, single]);
    expect(before.counts).toMatchObject({ needs: 6, failing_sources: 4, refused_credentials: 2 });

    await world.tracker("long", failing(9));
    await world.tracker("middle", failing(3));
    const view = await stats.get();
    expect(refusedIn(view)).toEqual([["ci", "registry.example.org", "long"], elsewhere, single]);
    expect(view.refused_credentials[0]).toEqual({
      ...{ credential_id: ci, credential: "ci", host: "registry.example.org", since: clock.now() - 9 * hourMs },
      error: { code: "unauthorized", ...told(plain("Refused 9 hours ago")) },
      failing: 3,
      sources: ["long", "middle", "short"].map((tracker) => ({ tracker, source: "hub" })),
    });
    expect(view.failing_sources.map(({ tracker }) => tracker)).toEqual(alone);
    expect(view.counts).toMatchObject({ needs: 6, failing_sources: 3, refused_credentials: 3 });
    expect(view.sources).toMatchObject({ total: 9, failing: 8 });
    expect((await stats.status()).needs).toBe(6);
  });

  test("counts all refused credentials and their sources, and lists 20 of each, the longest refused first", async () => {
    for (let n = 1; n <= 22; n += 1) {
      const credential_id = await world.credential(`credential-${n}`);
      const failing_since = clock.now() - n * hourMs;
      const refused = {
        credential_id,
        failing_since,
        last_error_code: "unauthorized",
        last_error_message: plain("No"),
      };
      for (let m = 1; m <= (n === 22 ? 25 : 2); m += 1) await world.tracker(`tracker-${n}-${m}`, refused);
    }
    const { counts, refused_credentials, failing_sources } = await stats.get();
    expect(counts).toMatchObject({ needs: 22, refused_credentials: 22, failing_sources: 0 });
    expect(failing_sources).toEqual([]);
    const expected = Array.from({ length: 20 }, (_, index) => `credential-${22 - index}`);
    expect(refused_credentials.map(({ credential }) => credential)).toEqual(expected);
    expect(refused_credentials.map(({ failing }) => failing)).toEqual([25, ...Array(19).fill(2)]);
    expect(refused_credentials.map(({ sources }) => sources.length)).toEqual([20, ...Array(19).fill(2)]);
  });

  test("counts checks by the day of the time zone, over all hosts", async () => {
    zone = "Asia/Shanghai";
    const midnight = Date.UTC(2026, 0, 4, 16);
    const hour = (starts_at: number, host: string, succeeded: number, failed: number) => ({
      ...{ starts_at, host, succeeded, failed, requests: 2 * succeeded },
    });
    await temporary.db.write((tx) =>
      tx
        .insert(check_hours)
        .values([
          hour(midnight - hourMs, "a", 7, 1),
          hour(midnight, "a", 3, 0),
          hour(midnight + 2 * hourMs, "b", 4, 2),
          hour(midnight - 40 * 24 * hourMs, "a", 100, 100),
        ]),
    );
    const { check_days } = await stats.get();
    expect(check_days).toHaveLength(30);
    expect(check_days.slice(-2)).toEqual([
      { starts_at: midnight - 24 * hourMs, succeeded: 7, failed: 1 },
      { starts_at: midnight, succeeded: 7, failed: 2 },
    ]);
    expect(check_days.slice(0, -2).every(({ succeeded, failed }) => succeeded + failed === 0)).toBe(true);
  });

  test("counts runs by the day of the time zone, and takes the middle downtime", async () => {
    zone = "Asia/Shanghai";
    const id = await world.executor({ name: "web" });
    const midnight = Date.UTC(2026, 0, 4, 16);
    await world.run(id, { created_at: midnight - 1, downtime_ms: 100 });
    await world.run(id, { created_at: midnight, downtime_ms: 900 });
    await world.run(id, { created_at: midnight + 1, state: "failed", downtime_ms: 200 });
    await world.run(id, { created_at: midnight + 2, state: "skipped", downtime_ms: null });
    await world.run(id, { created_at: midnight - 40 * 24 * hourMs, downtime_ms: 5_000 });
    const view = await stats.get();
    expect(view.days).toHaveLength(30);
    const day = { succeeded: 1, degraded: 0, failed: 0, skipped: 0 };
    expect(view.days.slice(-2)).toEqual([
      { starts_at: midnight - 24 * hourMs, ...day },
      { starts_at: midnight, ...day, failed: 1, skipped: 1 },
    ]);
    expect(view.median_downtime_ms).toBe(200);
    // Kept for a while, and counted anew in another zone at once.
    await world.run(id, { created_at: midnight + 3, downtime_ms: 100 });
    expect((await stats.get()).days.at(-1)?.succeeded).toBe(1);
    zone = "UTC";
    expect((await stats.get()).days.at(-2)?.succeeded).toBe(3);
    zone = "Asia/Shanghai";
    await clock.advance(15_000);
    expect((await stats.get()).days.at(-1)?.succeeded).toBe(2);
  });

  test("names a window once for all executors that share it, with the updates that wait for it", async () => {
    const window = { days: ["tuesday"], start: "02:00", end: "04:00" };
    const opens_at = Date.UTC(2026, 0, 6, 2);
    const waiting = { reason: "window", until: opens_at } as const;
    await world.executor({ name: "a", trigger: "window", window });
    await world.executor({ name: "b", trigger: "window", window, difference: "other_version", waiting });
    await world.executor({ name: "c", trigger: "window", window, is_enabled: false });
    await world.executor({ name: "d", trigger: "window", window: { days: ["monday"], start: "11:00", end: "13:00" } });
    expect((await stats.get()).windows).toEqual([
      {
        opens_at: Date.UTC(2026, 0, 5, 11),
        closes_at: Date.UTC(2026, 0, 5, 13),
        is_open: true,
        executors: 1,
        updates: 0,
      },
      { opens_at, closes_at: Date.UTC(2026, 0, 6, 4), is_open: false, executors: 2, updates: 1 },
    ]);
  });

  test("says what a fresh installation lacks", async () => {
    expect((await stats.get()).setup).toEqual({
      ...{ has_connection: true, has_tracker: false, has_executor: false, has_notifier: false },
    });
  });
});

describe("status()", () => {
  test("is kept for five seconds and agrees with get()", async () => {
    expect(await stats.status()).toMatchObject({ needs: 0, active_runs: 0 });
    await world.executor({ name: "web", difference: "other_version" });
    expect((await stats.status()).needs).toBe(0);
    await clock.advance(5_000);
    expect((await stats.status()).needs).toBe(1);
    await world.executor({ name: "api", difference: "other_version" });
    expect((await stats.get()).counts.needs).toBe(2);
    expect((await stats.status()).needs).toBe(2);
  });
});

test("uses() tells what runs of each tracker", async () => {
  const app = await world.tracker("app");
  const other = await world.tracker("other");
  await world.executor({ name: "one", ...app });
  await world.executor({ name: "two", ...app, difference: "other_version" });
  await world.executor({ name: "three", ...app, difference: "other_version", problem: unreachable });
  await world.executor({ name: "four", ...app, is_observed: false });
  await world.executor({ name: "five", ...app, difference: "unknown" });
  const uses = await stats.uses([app.tracker_id, other.tracker_id]);
  expect(uses.get(app.tracker_id)?.map(({ executor, state, problem }) => [executor, state, problem?.code])).toEqual([
    ["five", "unknown", "build_unknown"],
    ["four", "unknown", undefined],
    ["one", "current", undefined],
    ["three", "unknown", "unreachable"],
    ["two", "update", undefined],
  ]);
  expect(uses.has(other.tracker_id)).toBe(false);
});

describe("search()", () => {
  beforeEach(async () => {
    const nginx = await world.tracker("nginx");
    await world.release(nginx.source_id, "1.29.1");
    await world.release(nginx.source_id, "1.29.2", 10);
    const redis = await world.tracker("redis_7", { config: { image: "acme/cache", registry: "" } });
    await world.release(redis.source_id, "1.29-alpine", 5 * hourMs);
    await world.run(await world.executor({ name: "Web 100%", ...nginx }));
  });
  const found = async (q: string) => {
    const { trackers, executors, releases, runs } = await stats.search({ q });
    return {
      trackers: trackers.map((each) => each.name),
      executors: executors.map((each) => each.name),
      releases: releases.map((each) => each.tag),
      runs: runs.map((each) => each.executor),
    };
  };

  test.each([
    ["NGIN", { trackers: ["nginx"] }],
    ["acme cache", { trackers: ["redis_7"] }],
    ["1.29", { releases: ["1.29.2", "1.29.1", "1.29-alpine"] }],
    ["redis 1.29", { releases: ["1.29-alpine"] }],
    ["web", { executors: ["Web 100%"], runs: ["Web 100%"] }],
    // Letters, not wildcards.
    ["100%", { executors: ["Web 100%"], runs: ["Web 100%"] }],
    ["w%b", {}],
    ["s_7", { trackers: ["redis_7"] }],
    ["n_inx", {}],
    ["nothing here", {}],
    ["  ", {}],
  ])("finds every word of %p", async (q, expected) => {
    expect(await found(q)).toEqual({ trackers: [], executors: [], releases: [], runs: [], ...expected });
  });

  test("finds a group by a service that is bound, and names its services", async () => {
    const id = await world.executor({ name: "shop" });
    const { tracker_id, source_id } = await world.tracker("other");
    const bound = ["gateway", "worker", "main"].map((service) => ({ service, executor_id: id, tracker_id, source_id }));
    await temporary.db.write((tx) =>
      tx.insert(executor_bindings).values(bound.map((each) => ({ ...each, channel: "stable" as const }))),
    );
    const { executors } = await stats.search({ q: "gatew" });
    expect(executors.map((each) => each.name)).toEqual(["shop"]);
    expect(executors[0]?.services.filter((name) => name !== "shop")).toEqual(["gateway", "worker"]);
    expect(await found("main")).toMatchObject({ executors: [] });
  });

  test("shows the images of a tracker, and ten of a kind at most", async () => {
    expect((await stats.search({ q: "redis" })).trackers[0]?.images).toEqual(["acme/cache"]);
    for (let count = 0; count < 12; count++) await world.tracker(`many-${count}`);
    expect((await stats.search({ q: "many" })).trackers).toHaveLength(10);
  });
});

describe("the charts", () => {
  test("of an executor count its own runs and their downtime by day, and survive that another one is deleted", async () => {
    const mine = await world.executor({ name: "mine" });
    const other = await world.executor({ name: "other" });
    const today = clock.now() - hourMs;
    await world.run(mine, { created_at: today, downtime_ms: 100 });
    await world.run(mine, { created_at: today, downtime_ms: 200, state: "failed" });
    await world.run(mine, { created_at: today, downtime_ms: 50, state: "degraded" });
    await world.run(mine, { created_at: today, downtime_ms: null, state: "skipped" });
    await world.run(mine, { created_at: today - 24 * hourMs, downtime_ms: 400 });
    await world.run(other, { created_at: today, downtime_ms: 9_000 });
    const look = async () => (await stats.executorHistory(mine)).days.slice(-2);
    const counted = [
      { succeeded: 1, failed: 0, downtime_ms: 400 },
      { succeeded: 2, failed: 1, downtime_ms: 350 },
    ];
    expect(await look()).toMatchObject(counted);
    await temporary.db.write(async (tx) => {
      await tx.delete(runs).where(eq(runs.executor_id, other));
      await tx.delete(executors).where(eq(executors.id, other));
    });
    expect(await look()).toMatchObject(counted);
    expect((await stats.executorHistory("gone")).days.every(({ succeeded }) => succeeded === 0)).toBe(true);
  });

  test("of an executor show how long after its publication each version was running", async () => {
    const { tracker_id, source_id } = await world.tracker("web");
    await world.release(source_id, "1.1.0", 10 * hourMs);
    await world.release(source_id, "1.2.0", 3 * hourMs);
    const id = await world.executor({ name: "web", tracker_id, source_id });
    const at = clock.now();
    const run = (to_tag: string, age: number, state = "succeeded" as "succeeded" | "failed") =>
      world.run(id, { to_tag, state, created_at: at - age - 1, ended_at: at - age });
    await run("1.1.0", 6 * hourMs);
    await run("1.2.0", 2 * hourMs, "failed");
    await run("1.2.0", hourMs);
    await run("9.9.9", 0);
    expect((await stats.executorHistory(id)).lags).toEqual([
      { ended_at: at - 6 * hourMs, tag: "1.1.0", lag_ms: 4 * hourMs },
      { ended_at: at - hourMs, tag: "1.2.0", lag_ms: 2 * hourMs },
    ]);
  });

  test("of requests show the last 24 hours of the twelve busiest hosts", async () => {
    const hour = Math.floor(clock.now() / hourMs) * hourMs;
    const rows = Array.from({ length: 14 }, (_, n) => ({ starts_at: hour, host: `host-${n}`, requests: n }));
    await temporary.db.write((tx) =>
      tx
        .insert(check_hours)
        .values([
          ...rows,
          { starts_at: hour - 23 * hourMs, host: "host-0", requests: 20 },
          { starts_at: hour - 24 * hourMs, host: "host-1", requests: 500 },
        ]),
    );
    const shown = await stats.requestHours();
    expect(shown.map(({ host }) => host).slice(0, 2)).toEqual(["host-0", "host-13"]);
    expect(shown).toHaveLength(12);
    expect(shown[0]?.hours).toHaveLength(24);
    expect(shown[0]?.hours[0]).toEqual({ starts_at: hour - 23 * hourMs, requests: 20 });
    expect(shown[1]?.hours.at(-1)).toEqual({ starts_at: hour, requests: 13 });
  });
});
