import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import type { BulkResult } from "../../src/bulk/schema.ts";
import { trackerBulkService } from "../../src/bulk/trackers.ts";
import { audit_entries } from "../../src/db/tables.ts";
import { AppError } from "../../src/errors.ts";
import { type TrackerHouse, trackerHouse } from "../trackers/tracker-house.ts";

const names = ["cache", "db", "web"] as const;

let house: TrackerHouse;
let ids: Record<string, string>;

const create = (trackers: Partial<TrackerHouse["trackers"]> = {}) =>
  trackerBulkService({ log: house.log, trackers: { ...house.trackers, ...trackers } });
const chosen = (...of: readonly string[]) => of.map((name) => ({ id: ids[name] ?? name }));
const perform = async (action: string, of: readonly string[] = names, bulk = create()) =>
  (await bulk.perform(house.actor, { action, trackers: chosen(...of) })).results;
const told = (results: readonly BulkResult[]) =>
  results.map(({ name, outcome, problem }) => [name, outcome, problem?.code]);
const all = (outcome: string) => names.map((name) => [name, outcome, undefined]);
const enabled = async () => (await house.trackers.list({})).items.map(({ is_enabled }) => is_enabled);
const audited = async () =>
  (await house.db.read.select().from(audit_entries).orderBy(asc(audit_entries.id)))
    .filter(({ event }) => event !== "tracker_created")
    .map(({ event, subject_name }) => [event, subject_name]);
/** An executor that follows `db`. */
const follow = async (name: string) => {
  const { id, sources } = await house.trackers.get("db");
  await house.bind(name, { tracker_id: id, source_id: sources[0]?.id ?? "", channel: "stable" });
};

beforeEach(async () => {
  house = await trackerHouse();
  ids = {};
  for (const name of names) {
    house.publish(name, "1.0.0");
    ids[name] = (await house.create(name)).id;
  }
  await house.tick();
});
afterEach(() => house.close());

test("a check is requested of each, even of a disabled one, and asks again when it is repeated", async () => {
  await perform("disable", ["db"]);
  for (const name of names) house.publish(name, "1.1.0");
  expect(told(await perform("check"))).toEqual(all("done"));
  expect(told(await perform("check"))).toEqual(all("done"));
  await house.tick();
  expect(await Promise.all(names.map((name) => house.latest(name)))).toEqual(["1.1.0", "1.1.0", "1.1.0"]);
  expect((await audited()).slice(1)).toEqual([...names, ...names].map((name) => ["tracker_checked", name]));
});

test.each([
  ["disable", false, "enable"],
  ["enable", true, "disable"],
] as const)("%s changes what is not so yet, each with its entry in the audit", async (action, isEnabled, other) => {
  await perform(other);
  await perform(action, ["db"]);
  const before = (await audited()).length;
  expect(told(await perform(action))).toEqual([
    ["cache", "done", undefined],
    ["db", "unchanged", undefined],
    ["web", "done", undefined],
  ]);
  expect(told(await perform(action))).toEqual(all("unchanged"));
  expect(await enabled()).toEqual(names.map(() => isEnabled));
  expect((await audited()).slice(before)).toEqual(["cache", "web"].map((name) => ["tracker_updated", name]));
});

describe("deleting several", () => {
  test("leaves out those that executors follow, with their names, before and after the question", async () => {
    await follow("one");
    await follow("two");
    const reviews = await create().review([...Object.values(ids), "gone"]);
    expect(reviews.map(({ tracker, problem }) => [tracker.name, problem?.code])).toEqual([
      ["cache", undefined],
      ["db", "in_use"],
      ["web", undefined],
    ]);
    const results = await perform("delete", [...names, "gone"]);
    expect(told(results)).toEqual([
      ["cache", "done", undefined],
      ["db", "refused", "in_use"],
      ["web", "done", undefined],
      ["gone", "refused", "not_found"],
    ]);
    expect(results[1]?.problem).toEqual(reviews[1]?.problem ?? null);
    expect(JSON.stringify(results[1]?.problem?.message_data)).toMatch(/"one".*"two"/);
    expect((await house.trackers.list({})).items.map(({ name }) => name)).toEqual(["db"]);
    expect(await audited()).toEqual(["cache", "web"].map((name) => ["tracker_deleted", name]));
  });

  test("repeated, deletes nothing more", async () => {
    await perform("delete", ["web", "web"]);
    expect(told(await perform("delete", ["web"]))).toEqual([[ids.web ?? "", "refused", "not_found"]]);
    expect(await audited()).toEqual([["tracker_deleted", "web"]]);
  });

  test("an executor bound after the question keeps its tracker", async () => {
    expect((await create().review([ids.db ?? ""])).map(({ problem }) => problem)).toEqual([null]);
    await follow("late");
    expect(told(await perform("delete"))).toEqual([
      ["cache", "done", undefined],
      ["db", "refused", "in_use"],
      ["web", "done", undefined],
    ]);
  });
});

test("a fault of ours is told of one, and the others are done all the same", async () => {
  const remove = async (...[actor, name]: Parameters<typeof house.trackers.remove>) => {
    if (name === "db") throw new Error("A fault");
    await house.trackers.remove(actor, name);
  };
  expect(told(await perform("delete", names, create({ remove })))).toEqual([
    ["cache", "done", undefined],
    ["db", "refused", "internal"],
    ["web", "done", undefined],
  ]);
});

test.each([
  ["none", { action: "check", trackers: [] }],
  ["an unknown action", { action: "hold", trackers: [{ id: "a" }] }],
  ["too many", { action: "check", trackers: Array.from({ length: 501 }, (_, id) => ({ id: String(id) })) }],
])("refuses %s as a whole", async (_name, input) => {
  await expect(create().perform(house.actor, input)).rejects.toBeInstanceOf(AppError);
});
