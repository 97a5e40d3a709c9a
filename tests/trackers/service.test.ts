import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { AppError } from "../../src/errors.ts";
import { until } from "../support/fake-clock.ts";
import { channel, failureOf, plain, source, type TrackerHouse, trackerHouse } from "./tracker-house.ts";

const minute = 60_000;
let house: TrackerHouse;
beforeEach(async () => {
  house = await trackerHouse();
});
afterEach(() => house.close());

async function fieldsOf(work: Promise<unknown>): Promise<AppError["fields"]> {
  const failure = await failureOf(work);
  if (!(failure instanceof AppError)) throw failure;
  expect(failure.status).toBe(422);
  return failure.fields;
}

const binding = async (name: string, key = "main", type: "stable" | "beta" = "stable") => {
  const tracker = await house.trackers.get(name);
  const source_id = tracker.sources.find((view) => view.key === key)?.id ?? "";
  return { tracker_id: tracker.id, source_id, channel: type };
};

describe("create()", () => {
  test("takes defaults, shows the tracker pending and makes its check due", async () => {
    const tracker = await house.create("web");
    expect(tracker).toMatchObject({
      name: "web",
      is_enabled: true,
      check_interval_minutes: 360,
      fetch_depth: 10,
      request_timeout_seconds: 15,
      sorting: "publish_time",
      release_fallback: false,
      state: "pending",
      executors: [],
      sources: [
        {
          key: "main",
          kind: "oci",
          config: { image: "web", registry: "registry.test", mode: "auto" },
          credential_id: null,
          host: "registry.test",
          state: "pending",
          error: null,
          next_check_at: house.clock.now(),
          channels: [{ type: "stable", release_type: null, include_pattern: plain, exclude_pattern: "", latest: null }],
        },
      ],
    });
    expect(await house.auditEvents()).toEqual(["tracker_created"]);
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    ["a name with a slash", { name: "a/b" }, "name", "Use letters"],
    ["a name with a blank", { name: "a b" }, "name", "Use letters"],
    ["the name of the page", { name: "New" }, "name", "is reserved"],
    ["no name", { name: undefined }, "name", "required"],
    ["no source", { sources: [] }, "sources", "at least one source"],
    ["an unknown kind", { sources: [source("a", { kind: "ftp" })] }, "sources.0.kind", "Choose one of "],
    ["a bad key", { sources: [source("a", { key: "A b" })] }, "sources.0.key", "lowercase"],
    ["one key twice", { sources: [source("a"), source("b")] }, "sources.1.key", 'already has a source "main"'],
    ["a bad config", { sources: [source("")] }, "sources.0.config.image", "Write an image name"],
    ["no channel", { sources: [source("a", { channels: [] })] }, "sources.0.channels", "at least one"],
    [
      "one channel twice",
      { sources: [source("a", { channels: [channel("beta"), channel("beta")] })] },
      "sources.0.channels.1.name",
      'already has a release channel "beta"',
    ],
    [
      "a lookahead",
      { sources: [source("a", { channels: [channel("stable", "(?=a)")] })] },
      "sources.0.channels.0.include_pattern",
      "Lookaround",
    ],
    [
      "a broken exclude pattern",
      { sources: [source("a"), source("b", { key: "b", channels: [channel("beta", "", "[")] })] },
      "sources.1.channels.0.exclude_pattern",
      "not a valid regular expression",
    ],
    [
      "a pattern of 513 characters",
      { sources: [source("a", { channels: [channel("stable", "a".repeat(513))] })] },
      "sources.0.channels.0.include_pattern",
      "at most 512",
    ],
    [
      "a release type where upstream has none",
      { sources: [source("a", { channels: [{ ...channel("stable"), release_type: "release" }] })] },
      "sources.0.channels.0.release_type",
      "no such field",
    ],
    [
      "an unknown credential",
      { sources: [source("a", { credential_id: "x" })] },
      "sources.0.credential_id",
      "no credential",
    ],
    ["an interval of 0", { check_interval_minutes: 0 }, "check_interval_minutes", "Enter 1 or more"],
    ["an interval over 30 days", { check_interval_minutes: 43_201 }, "check_interval_minutes", "Enter 43200 or less"],
    ["a depth of 101", { fetch_depth: 101 }, "fetch_depth", "Enter 100 or less"],
    ["a timeout of 181 s", { request_timeout_seconds: 181 }, "request_timeout_seconds", "Enter 180 or less"],
    ["another sorting", { sorting: "name" }, "sorting", "publish_time, semantic"],
    ["an unknown field", { colour: "red" }, "colour", "no such field"],
  ])("refuses %s at its field and writes nothing", async (_name, change, field, message) => {
    const input = { name: "web", sources: [source("a")], ...change };
    const fields = await fieldsOf(house.trackers.create(house.actor, input));
    expect(Object.keys(fields ?? {})).toEqual([field]);
    expect(fields?.[field]).toContain(message);
    expect((await house.trackers.list({})).items).toEqual([]);
    expect(await house.sourceRows()).toEqual([]);
  });

  test("refuses a name that is taken, and a credential of another kind", async () => {
    await house.create("web");
    expect(await fieldsOf(house.create("web"))).toEqual({ name: 'Another tracker is already named "web"' });
    const credential = await house.credentials.create(house.actor, {
      name: "forge",
      kind: "gitea",
      secret: { token: "abcdefgh" },
    });
    const sources = [source("a", { credential_id: credential.id })];
    expect(await fieldsOf(house.create("other", {}, sources))).toEqual({
      "sources.0.credential_id": 'The credential "forge" is of type "gitea"; choose one of type "oci"',
    });
  });

  test("opens the source with the decrypted credential, and shows no secret", async () => {
    const credential = await house.credentials.create(house.actor, {
      name: "hub",
      kind: "oci",
      secret: { username: "me", password: "hunter2hunter2" },
    });
    const tracker = await house.create("web", {}, [source("web", { credential_id: credential.id })]);
    await house.tick();
    expect(house.secrets).toEqual([{ username: "me", password: "hunter2hunter2" }]);
    expect(JSON.stringify(tracker)).not.toContain("hunter2");
    expect((await house.credentials.get(credential.id)).users).toMatchObject([{ kind: "tracker", name: "web" }]);
  });
});

describe("update()", () => {
  test("keeps what is left out, and the name", async () => {
    await house.create("web", { description: "Front", check_interval_minutes: 5 });
    const changed = await house.trackers.update(house.actor, "web", { name: "web", fetch_depth: 7 });
    expect(changed).toMatchObject({ description: "Front", check_interval_minutes: 5, fetch_depth: 7 });
    expect(await fieldsOf(house.trackers.update(house.actor, "web", { name: "site" }))).toEqual({
      name: 'A tracker cannot be renamed; this one is "web"',
    });
    expect(await house.auditEvents()).toEqual(["tracker_created", "tracker_updated"]);
  });

  test("keeps sources by their key: id, history and bindings stay, order and rules change", async () => {
    house.publish("a", "1.0.0");
    await house.create("web", {}, [source("a", { key: "a" }), source("b", { key: "b" })]);
    await house.tick();
    const before = await house.trackers.get("web");
    await house.bind("one", await binding("web", "a"));
    const channels = [channel("beta", "beta"), channel("stable", plain)];
    const after = await house.trackers.update(house.actor, "web", {
      sources: [source("c", { key: "c" }), source("a", { key: "a", channels })],
    });
    expect(after.sources.map((view) => view.key)).toEqual(["c", "a"]);
    expect(after.sources[1]?.id).toBe(before.sources[0]?.id ?? "");
    expect(after.sources[1]?.channels.map((view) => view.latest?.tag ?? null)).toEqual([null, "1.0.0"]);
    expect(after.executors).toMatchObject([{ name: "one", source_key: "a", channel: "stable" }]);
  });

  test("refuses to remove a source or a channel that an executor is bound to, and names it", async () => {
    await house.create("web", {}, [
      source("a", { key: "a", channels: [channel("stable"), channel("beta")] }),
      source("b", { key: "b" }),
    ]);
    await house.bind("bound", await binding("web", "a", "beta"));
    const update = (sources: unknown[]) => failureOf(house.trackers.update(house.actor, "web", { sources }));
    expect(await update([source("b", { key: "b" })])).toMatchObject({
      code: "in_use",
      status: 409,
      message: 'The source "a" is used by executor "bound"',
    });
    expect(await update([source("a", { key: "a", channels: [channel("stable")] })])).toMatchObject({
      code: "in_use",
      message: 'The release channel "beta" of source "a" is used by executor "bound"',
    });
    expect((await house.trackers.get("web")).sources).toHaveLength(2);
  });

  test("refuses another kind under a key", async () => {
    await house.create("web");
    await house.db.write(async (tx) => {
      const { tracker_sources } = await import("../../src/db/tables.ts");
      await tx.update(tracker_sources).set({ kind: "helm" });
    });
    const fields = await fieldsOf(house.trackers.update(house.actor, "web", { sources: [source("web")] }));
    expect(fields?.["sources.0.kind"]).toContain("is of type helm");
  });

  test("hides by a narrower pattern and brings back by a wider one, without asking upstream or telling anybody", async () => {
    house.publish("web", "1.0.0", "2.0.0");
    await house.create("web");
    await house.tick();
    const executor = await house.bind("one", await binding("web"));
    const asked = house.repository("web").asked.length;
    const visible = async () => (await house.trackers.releases("web", {})).items.map((release) => release.tag);
    const narrow = (include: string) =>
      house.trackers.update(house.actor, "web", {
        sources: [source("web", { channels: [channel("stable", include)] })],
      });

    await narrow("^1\\.");
    expect(await visible()).toEqual(["1.0.0"]);
    expect(await house.latest("web")).toBe("1.0.0");
    expect((await house.executorRow(executor))?.next_evaluation_at).toBe(house.clock.now());
    await narrow(plain);
    expect((await visible()).toSorted()).toEqual(["1.0.0", "2.0.0"]);
    expect(await house.latest("web")).toBe("2.0.0");
    expect(house.repository("web").asked).toHaveLength(asked);
    expect(house.events).toEqual([]);
  });

  test("makes the next check silent about what the new rules let in, and not about what appears", async () => {
    house.publish("web", "1.0.0", "1.1.0-beta");
    await house.create("web");
    await house.tick();
    await house.trackers.update(house.actor, "web", { sources: [source("web", { channels: [channel("stable")] })] });
    await house.clock.advance(minute);
    house.publish("web", { tag: "1.2.0", appeared: true });
    await house.check("web");
    expect(await house.storedTags()).toEqual(["1.0.0", "1.1.0-beta", "1.2.0"]);
    expect(house.releaseEvents()).toMatchObject([{ version: "1.2.0", also: [] }]);
  });

  test("forgets the history of another image, asks anew and stays silent", async () => {
    house.publish("old", "1.0.0");
    house.publish("new", "0.5.0");
    await house.create("web", {}, [source("old")]);
    await house.tick();
    const changed = await house.trackers.update(house.actor, "web", { sources: [source("new")] });
    expect(changed.sources[0]?.channels[0]?.latest).toBeNull();
    expect(await house.memos()).toEqual([]);
    await house.tick();
    expect(await house.storedTags()).toEqual(["0.5.0"]);
    expect(house.events).toEqual([]);
  });

  test("keeps the history when the configuration changed and the image did not, and reads its facts again", async () => {
    house.publish("web", { tag: "1.0.0", published_at: 5 });
    await house.create("web");
    await house.tick();
    const [before] = await house.releaseRows();
    house.publish("web", { tag: "1.0.0", published_at: null });
    await house.trackers.update(house.actor, "web", {
      sources: [source("web", { config: { image: "web", mode: "first_observed" } })],
    });
    await house.clock.advance(minute);
    await house.tick();
    expect(house.repository("web").asked.at(-1)).toMatchObject({ known: new Map(), memo: null });
    expect(await house.releaseRows()).toMatchObject([{ id: before?.id, published_at: null }]);
  });

  test.each<[string, Record<string, unknown>]>([
    ["at the old address", source("new")],
    ["by the old rules", source("old", { channels: [channel("stable", "^1\\.")] })],
  ])("discards the answer of a check that was going on %s, and checks anew", async (_name, changed) => {
    house.publish("old", "1.0.0", "2.0.0");
    house.publish("new", "1.0.0");
    await house.create("web", {}, [source("old")]);
    const gate = Promise.withResolvers<void>();
    house.repository("old").gate = gate.promise;
    await house.scheduler.tick(house.clock.now());
    await until(() => house.repository("old").asked.length === 1);
    await house.trackers.update(house.actor, "web", { sources: [changed] });
    gate.resolve();
    await house.scheduler.idle();
    expect([await house.storedTags(), await house.memos()]).toEqual([[], []]);
    expect(house.lines.some((line) => line.includes("Check discarded"))).toBe(true);
    await house.tick();
    expect(await house.storedTags()).toEqual(["1.0.0"]);
  });

  test("brings the next check nearer when the interval becomes shorter", async () => {
    house.publish("web", "1.0.0");
    await house.create("web");
    await house.tick();
    const changed = await house.trackers.update(house.actor, "web", { check_interval_minutes: 10 });
    const wait = (changed.sources[0]?.next_check_at ?? 0) - house.clock.now();
    expect(wait).toBeGreaterThan(8 * minute);
    expect(wait).toBeLessThanOrEqual(10 * minute);
  });
});

describe("remove()", () => {
  test("is refused while executors are bound, with their names", async () => {
    await house.create("web");
    await house.bind("one", await binding("web"));
    expect(await failureOf(house.trackers.remove(house.actor, "web"))).toMatchObject({
      code: "in_use",
      status: 409,
      message: 'The tracker "web" is used by executor "one"',
    });
    expect((await house.trackers.get("web")).name).toBe("web");
  });

  test("takes sources, channels, releases and memories with it", async () => {
    house.publish("web", "1.0.0");
    await house.create("web");
    await house.tick();
    await house.trackers.remove(house.actor, "web");
    const left = [house.sourceRows(), house.channelRows(), house.releaseRows(), house.memos()];
    expect(await Promise.all(left)).toEqual([[], [], [], []]);
    expect(await failureOf(house.trackers.get("web"))).toMatchObject({ status: 404 });
    expect(await house.auditEvents()).toEqual(["tracker_created", "tracker_deleted"]);
  });
});

describe("list()", () => {
  const names = async (query: Record<string, string>) =>
    (await house.trackers.list(query)).items.map((tracker) => tracker.name);

  beforeEach(async () => {
    house.publish("good", "1.0.0");
    house.repository("bad").failure = new Error("broken");
    await house.create("good", { description: "50% of everything" });
    await house.create("bad", {}, [source("bad", { channels: [channel("beta")] })]);
    await house.tick();
    await house.create("fresh");
    await house.create("off", { is_enabled: false });
  });

  test.each<[Record<string, string>, string[]]>([
    [{}, ["bad", "fresh", "good", "off"]],
    [{ state: "ok" }, ["good"]],
    [{ state: "failing" }, ["bad"]],
    [{ state: "pending" }, ["fresh", "off"]],
    [{ state: "disabled" }, ["off"]],
    [{ state: "checking" }, []],
    [{ channel: "beta" }, ["bad"]],
    [{ kind: "oci", state: "ok" }, ["good"]],
    [{ search: "oo" }, ["good"]],
    [{ search: "50%" }, ["good"]],
    [{ search: "%" }, ["good"]],
    [{ search: "_" }, []],
    [{ search: "registry.test" }, ["bad", "fresh", "good", "off"]],
    [{ search: "image" }, []],
  ])("with %p gives %p", async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  test("counts a tracker once for each kind and channel, in whichever of its sources it has them", async () => {
    const stable = channel("stable");
    const named = { ...channel("stable"), name: "1.0" };
    await house.create("several", {}, [
      source("one", { key: "one", channels: [stable, named] }),
      source("two", { key: "two", channels: [channel("beta"), named] }),
      source("three", { key: "three", channels: [channel("beta")] }),
    ]);
    const { channel: channels, kind } = await house.trackers.counts({});
    expect(channels).toEqual({ "": 5, stable: 4, beta: 2 });
    expect(kind).toEqual({ "": 5, oci: 5 });
    expect(await house.trackers.counts({ search: "several" })).toMatchObject({
      channel: { "": 1, stable: 1, beta: 1 },
      kind: { "": 1, oci: 1 },
    });
  });

  test("pages by name", async () => {
    const first = await house.trackers.list({ limit: "3" });
    expect(first.items.map((tracker) => tracker.name)).toEqual(["bad", "fresh", "good"]);
    const second = await house.trackers.list({ limit: "3", cursor: first.next_cursor });
    expect(second.items.map((tracker) => tracker.name)).toEqual(["off"]);
    expect(second.next_cursor).toBeNull();
  });
});
