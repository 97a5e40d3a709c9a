import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Database } from "../../src/db/client.ts";
import { notDeferred } from "../../src/executors/deferral-schema.ts";
import { compareWithDesired } from "../../src/executors/desired.ts";
import type { ReleaseChoice } from "../../src/executors/releases.ts";
import type { ExecutorSettings } from "../../src/executors/settings.ts";
import { planUpdate } from "../../src/executors/update-plan.ts";
import { type Message, say } from "../../src/messages/message.ts";
import { containersOf } from "../../src/runtimes/containers-detail.ts";
import { composeTarget } from "../support/compose-target.ts";
import { FakeEngine, fakeSession } from "../support/fake-runtime.ts";
import { digest, release } from "../support/run-world.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  const temporary = await temporaryDatabase();
  db = temporary.db;
  close = temporary.close;
});
afterAll(() => close());

const none: ReleaseChoice = { release: null, ready_at: null };
const young: ReleaseChoice = { release: null, ready_at: 5000 };
const offers = (tag: string, letter: string): ReleaseChoice => ({ release: release(tag, letter), ready_at: null });

const known = {
  versions: ["1.5", "1.4.2", "1.4.1", "1.4"].map((tag) => ({
    ...{ tag, digest: null, is_prerelease: false, published_at: null, first_observed_at: 0 },
  })),
  depth: 10,
  keep: 20,
};

const binding = (service: string) => ({
  service,
  tracker: `${service}-app`,
  tracker_id: `t-${service}`,
  source: "main",
  source_id: service,
  source_kind: "oci",
  credential_id: null,
  channel: "stable" as const,
});

function settings(changes: Partial<ExecutorSettings> = {}): ExecutorSettings {
  return {
    ...notDeferred,
    id: "e",
    name: "shop",
    is_enabled: true,
    connection_id: "c",
    target: composeTarget("shop"),
    bindings: [binding("web"), binding("worker")],
    trigger: "immediate",
    window: null,
    image_selection: "keep_name",
    reference_mode: "tag",
    health_check: { strategy: "disabled" },
    restore_on_failure: true,
    allow_downgrade: false,
    minimum_age_hours: 0,
    requires_approval: false,
    approval_hours: 72,
    start_first: false,
    drain_seconds: 10,
    accepted_unknown_settings: [],
    ...changes,
  };
}

/** A group `shop` of `web`, `worker` and an unbound `db`. */
function shop(): FakeEngine {
  const engine = new FakeEngine();
  engine.add("shop-web-1", "registry.test/web:1.4", digest("a"), { project: "shop", service: "web" });
  engine.add("shop-worker-1", "registry.test/worker:1.4", digest("b"), { project: "shop", service: "worker" });
  engine.add("shop-db-1", "registry.test/db:9", digest("c"), { project: "shop", service: "db" });
  return engine;
}

function deps(choices: Readonly<Record<string, ReleaseChoice>>) {
  return {
    read: db.read,
    openLogin: () => Promise.reject(new Error("No login here")),
    connections: {
      registryLogin: async () => null,
      targetKind: () => {
        throw new Error("No run left anything down");
      },
    },
    releases: {
      desiredRelease: async (source: string) => choices[source] ?? none,
      knownVersions: async () => known,
      imageFor: async (source: string) => (source === "nothing" ? null : `registry.test/${source}`),
      readImageConfig: async () => ({}),
      chartFor: async () => null,
      readChart: async () => new Uint8Array(),
      sourceAt: async () => null,
      findDigest: async () => null,
    },
  };
}

const ref = { kind: "compose", id: "shop" } as const;
const automatic = { is_automatic: true, is_reviewed: false };
const manual = { is_automatic: false, is_reviewed: true };

async function compare(choices: Readonly<Record<string, ReleaseChoice>>, changes: Partial<ExecutorSettings> = {}) {
  return await compareWithDesired(deps(choices), settings(changes), await fakeSession(shop()).inspect(ref), null);
}

async function plan(
  choices: Readonly<Record<string, ReleaseChoice>>,
  options: { purpose?: typeof automatic; changes?: Partial<ExecutorSettings>; engine?: FakeEngine } = {},
) {
  const session = fakeSession(options.engine ?? shop());
  return await planUpdate(deps(choices), settings(options.changes), session, options.purpose ?? automatic);
}

const inWorker = (said: Message) => say("executors.of_service", { service: "worker", said });

const channel = { tracker: "worker-app", source: "main", channel: "stable" };

describe("compareWithDesired() of a group", () => {
  test("compares each bound service with its own tracker and names those that are bound to nothing", async () => {
    const found = await compare({ web: offers("1.5", "d"), worker: offers("1.4", "b") });
    expect(found.services.map((each) => [each.service, each.difference, each.desired?.reference])).toEqual([
      ["web", "other_version", "registry.test/web:1.5"],
      ["worker", "current", "registry.test/worker:1.4"],
    ]);
    expect(found.services.map(({ behind }) => behind)).toEqual([
      { releases: 3, steps: { major: 0, minor: 1, patch: 2 }, days: null, is_at_least: false },
      null,
    ]);
    expect(found.services.map(({ download }) => download)).toEqual([null, null]);
    expect(found.unbound.map((each) => each.name)).toEqual(["db"]);
    expect(found.unmet).toBeNull();
    expect(found.desired_revision).toBe(`web ${digest("d")}\nworker ${digest("b")}`);
  });

  test.each([
    ["both", { "1.5": [90, "linux/amd64"], "1.4": [70, "linux/amd64"] }, { from_bytes: 70, to_bytes: 90 }],
    ["only the desired one", { "1.5": [90, "linux/amd64"] }, { from_bytes: null, to_bytes: 90 }],
    ["only what runs", { "1.4": [70, "linux/amd64"] }, null],
    ["both, of another platform", { "1.5": [90, "linux/arm64"], "1.4": [70, "linux/arm64"] }, null],
    [
      "one of another platform",
      { "1.5": [90, "linux/amd64"], "1.4": [70, "linux/arm64"] },
      { from_bytes: null, to_bytes: 90 },
    ],
  ] as const)("tells what is downloaded where the sizes of %s are known", async (_, sizes, expected) => {
    const sizeOf = new Map<string, readonly [number, string]>(Object.entries(sizes));
    const versions = known.versions.map((each) => {
      const [size_bytes = null, size_platform = null] = sizeOf.get(each.tag) ?? [];
      return { ...each, size_bytes, size_platform };
    });
    const plain = deps({ web: offers("1.5", "d"), worker: offers("1.4", "b") });
    const releases = { ...plain.releases, knownVersions: async () => ({ ...known, versions }) };
    const target = await fakeSession(shop()).inspect(ref);
    const found = await compareWithDesired({ ...plain, releases }, settings(), target, null);
    expect(found.services.map(({ download }) => download)).toEqual([expected, null]);
  });

  test.each([
    ["no release", none, "no_release", say("executors.no_release", channel)],
    ["no release that is old enough", young, "too_young", say("executors.too_young", { ...channel, hours: 6 })],
  ])("leaves a service with %s as it is, and says why", async (_name, choice, code, said) => {
    const unmet = { code, message_data: inWorker(said) };
    const found = await compare({ web: offers("1.5", "d"), worker: choice }, { minimum_age_hours: 6 });
    expect(found.unmet).toBeNull();
    expect(found.services.map((each) => each.unmet)).toMatchObject([null, unmet]);
    expect(found.desired_revision).toBe(`web ${digest("d")}`);
    expect(found.ready_at).toBe(choice.ready_at);
  });

  test("has an unmet condition when no service has a release", async () => {
    const found = await compare({});
    expect(found.unmet?.code).toBe("no_release");
    expect(found.desired_revision).toBeNull();
  });

  test("a bound service that the group lacks, or whose source watches no image, holds up the whole group", async () => {
    const lacking = await compare({ web: offers("1.5", "d") }, { bindings: [binding("web"), binding("mail")] });
    expect(lacking.unmet).toEqual(null);
    const missing = await compare(
      { web: offers("1.5", "d"), mail: offers("2", "e") },
      { bindings: [binding("web"), binding("mail")] },
    );
    expect(missing.unmet).toEqual({
      code: "target_missing",
      message: say("executors.service_missing", { target: "shop", service: "mail" }),
    });
    const blind = { ...binding("worker"), source_id: "nothing" };
    const imageless = await compare(
      { web: offers("1.5", "d"), nothing: offers("1", "f") },
      { bindings: [binding("web"), blind], image_selection: "use_tracker" },
    );
    expect(imageless.unmet).toEqual({
      code: "no_image",
      message: inWorker(say("executors.no_image", { tracker: "worker-app", source: "main" })),
    });
  });
});

describe("planUpdate() of a group", () => {
  test("plans every service that has something desired, and passes on whether to start first", async () => {
    const engine = shop();
    const planned = await plan(
      { web: offers("1.5", "d"), worker: offers("1.5", "e") },
      { purpose: manual, engine, changes: { start_first: true, drain_seconds: 25 } },
    );
    expect(planned.unmet).toBeNull();
    expect(containersOf(planned.plan?.detail ?? {}).map((each) => each.name)).toEqual(["shop-web-1", "shop-worker-1"]);
    expect(engine.planned).toEqual([{ start_first: true, drain_seconds: 25, owed: [] }]);
  });

  test("changes nothing of a service without a release", async () => {
    const planned = await plan({ web: offers("1.5", "d"), worker: none });
    expect(planned.unmet).toBeNull();
    expect(planned.plan?.changes.map((change) => change.service)).toEqual(["web"]);
  });

  test("an automatic run restarts no service for another spelling of what it runs; a manual one brings it in line", async () => {
    const choices = { web: offers("1.5", "d"), worker: offers("1.4.0", "b") };
    expect((await plan(choices)).plan?.changes.map((change) => change.service)).toEqual(["web"]);
    expect((await plan(choices, { purpose: manual })).plan?.changes.map((change) => change.service)).toEqual([
      "web",
      "worker",
    ]);
  });

  test("names the service that would step back", async () => {
    const planned = await plan({ web: offers("1.5", "d"), worker: offers("1.3", "e") });
    expect(planned.unmet).toEqual({
      code: "would_downgrade",
      message: inWorker(say("executors.downgrade", { from: "1.4", to: "1.3" })),
    });
    const allowed = await plan(
      { web: offers("1.5", "d"), worker: offers("1.3", "e") },
      { changes: { allow_downgrade: true } },
    );
    expect(allowed.unmet).toBeNull();
  });

  test.each([
    ["another variant", "1.5-alpine", "executors.other_variant"],
    ["another line", "1.5.0", "executors.other_line"],
  ] as const)("no automatic run goes to %s, even where downgrades are allowed", async (_name, tag, code) => {
    const choices = { web: offers("1.5", "d"), worker: offers(tag, "e") };
    for (const allow_downgrade of [false, true]) {
      const planned = await plan(choices, { changes: { allow_downgrade } });
      expect(planned.unmet).toEqual({
        code: "would_leave",
        message: inWorker(say(code, { from: "1.4", to: tag })),
      });
    }
    expect((await plan(choices, { purpose: manual })).unmet).toBeNull();
  });

  test("no automatic run goes from a tool's number to that of the browser bundled with it", async () => {
    const engine = new FakeEngine();
    engine.add("web", "registry.test/web:4.38.0-20251101", digest("a"), { project: "shop", service: "web" });
    engine.add("worker", "registry.test/worker:1.4", digest("b"), { project: "shop", service: "worker" });
    const planned = await plan({ web: offers("142.0-20251101", "d"), worker: offers("1.4", "b") }, { engine });
    expect(planned.unmet).toEqual({
      code: "would_downgrade",
      message: say("executors.of_service", {
        service: "web",
        said: say("executors.incomparable", { from: "4.38.0-20251101", to: "142.0-20251101" }),
      }),
    });
  });

  // What runs of each service, under which mode it is wanted: the same content is never planned again by itself.
  const names = { tag: "registry.test/app:1.4", digest: `registry.test/app@${digest("a")}` };
  test.each([
    ["tag", "tag", "tag", "current", "current"],
    ["digest", "digest", "digest", "current", "current"],
    ["tag", "tag", "digest", "other_mode", "other_mode"],
    ["digest", "digest", "tag", "other_mode", "other_mode"],
    ["tag", "digest", "tag", "current", "other_mode"],
    ["tag", "digest", "digest", "other_mode", "current"],
  ] as const)("does not oscillate: %s and %s under mode %s", async (web, worker, mode, first, second) => {
    const engine = new FakeEngine();
    engine.add("web", names[web], digest("a"), { project: "shop", service: "web" });
    engine.add("worker", names[worker], digest("a"), { project: "shop", service: "worker" });
    const choices = { web: offers("1.4", "a"), worker: offers("1.4", "a") };
    const changes = { reference_mode: mode };
    const releases = { ...deps(choices).releases, imageFor: async () => "registry.test/app" };
    const run = async (purpose: typeof automatic) =>
      await planUpdate({ ...deps(choices), releases }, settings(changes), fakeSession(engine), purpose);
    const unasked = await run(automatic);
    expect(unasked.services.map((each) => each.difference)).toEqual([first, second]);
    expect(unasked.unmet?.code).toBe("already_current");
    // By hand the spelling follows the mode, and then nothing is left to do.
    const asked = await run(manual);
    for (const change of asked.plan?.changes ?? []) {
      engine.add(change.service, change.reference, digest("a"), { project: "shop", service: change.service });
    }
    const again = await run(manual);
    expect(again.services.map((each) => each.difference)).toEqual(["current", "current"]);
    expect(again.plan?.is_noop).toBe(true);
    expect(again.unmet?.code).toBe("already_current");
  });
});
