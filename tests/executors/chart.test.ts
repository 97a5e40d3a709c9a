import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ArtifactDeps } from "../../src/executors/artifacts/artifact.ts";
import { chart } from "../../src/executors/artifacts/chart.ts";
import { notDeferred } from "../../src/executors/deferral-schema.ts";
import type { ExecutorSettings } from "../../src/executors/settings.ts";
import type { ChartArtifact } from "../../src/runtimes/target.ts";
import { composeTarget } from "../support/compose-target.ts";
import { FakeEngine, fakeSession } from "../support/fake-runtime.ts";
import { digest } from "../support/run-world.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

let db: Awaited<ReturnType<typeof temporaryDatabase>>;
beforeAll(async () => {
  db = await temporaryDatabase();
});
afterAll(() => db.close());

const binding = {
  ...{ service: "main", tracker: "web", tracker_id: "t", source: "charts", source_id: "s", source_kind: "helm" },
  ...{ credential_id: null, channel: "stable" as const },
};
const settings: ExecutorSettings = {
  ...notDeferred,
  ...{ id: "e", name: "web", is_enabled: true, connection_id: "c", bindings: [binding], trigger: "manual" },
  ...{ window: null, image_selection: "keep_name", reference_mode: "tag", health_check: { strategy: "disabled" } },
  ...{ restore_on_failure: true, allow_downgrade: false, minimum_age_hours: 0, requires_approval: false },
  ...{ approval_hours: 72, start_first: false, drain_seconds: 10, accepted_unknown_settings: [] },
  target: { ...composeTarget("shop/web"), artifact: "chart" },
};
const running = (name = "web", version = "1.0.0"): ChartArtifact => ({
  ...{ kind: "chart", reference: `${name}-${version}`, digest: null, name, version, app_version: null },
});
const found = (artifact: ChartArtifact) => ({
  ...{ label: artifact.version, others: [] },
  service: { name: "main", containers: [], artifact, state: "running" as const },
});

/** `watched`: the chart that the tracker's source releases; `asked` collects what is downloaded from it. */
function deps(watched: string | null, asked: unknown[] = []): ArtifactDeps {
  return {
    read: db.db.read,
    openLogin: () => Promise.reject(new Error("No login here")),
    connections: {
      registryLogin: async () => null,
      targetKind: () => {
        throw new Error("No run left anything down");
      },
    },
    releases: {
      desiredRelease: async () => ({ release: null, ready_at: null }),
      knownVersions: async () => ({ versions: [], depth: 10, keep: 20 }),
      imageFor: async () => null,
      sourceAt: async () => null,
      findDigest: async () => null,
      readImageConfig: async () => null,
      chartFor: async () => watched,
      readChart: async (source, chart) => {
        asked.push([source, chart]);
        return new Uint8Array([0x1f, 0x8b]);
      },
    },
  };
}

async function desired(artifact: ChartArtifact | null, watched: string | null = "web", asked: unknown[] = []) {
  return await chart.desired(deps(watched, asked), {
    settings,
    binding,
    found: artifact === null ? null : found(artifact),
    release: { version: "1.1.0", tag: "1.1.0", digest: digest("b"), published_at: null },
    engine: null,
  });
}

test("a change of a chart brings its archive from the bound source, by the announced digest, when it is asked for", async () => {
  const asked: unknown[] = [];
  const wanted = await desired(running(), "web", asked);
  if ("code" in wanted) throw new Error(wanted.code);
  expect(wanted).toMatchObject({ label: "1.1.0", reference: "web-1.1.0", digest: digest("b") });
  const change = await wanted.change(fakeSession(new FakeEngine()));
  if (change.kind !== "chart") throw new Error(change.kind);
  const { archive, ...stored } = change;
  expect(stored).toEqual({
    ...{ kind: "chart", service: "main", reference: "web-1.1.0", digest: digest("b"), name: "web", version: "1.1.0" },
  });
  expect(asked).toEqual([]);
  expect(await archive()).toEqual(new Uint8Array([0x1f, 0x8b]));
  expect(asked).toEqual([["s", { version: "1.1.0", digest: digest("b") }]]);
});

test.each([
  ["the target is gone", null, "web", "target_missing", "service_missing", { target: "shop/web", service: "main" }],
  ["the source has no charts", running(), null, "no_chart", "no_chart", { tracker: "web", source: "charts" }],
  [
    ...(["another chart runs", running("redis", "1.1.0"), "web", "no_chart", "other_chart"] as const),
    { target: "shop/web", chart: "redis", tracker: "web", watched: "web" },
  ],
] as const)("nothing is desired if %s", async (_what, artifact, watched, code, sentence, params) => {
  expect(await desired(artifact, watched)).toMatchObject({ code, message: { code: `executors.${sentence}`, params } });
});

test.each([
  ["current", running("web", "1.1.0")],
  ["other_version", running()],
  ["new_digest", { ...running("web", "1.1.0"), digest: digest("a") }],
  ["current", { ...running("web", "1.1.0"), digest: digest("b") }],
] as const)("what runs is %s by its version, and by its digest where both are known", async (difference, artifact) => {
  const wanted = await desired(artifact);
  if ("code" in wanted) throw new Error(wanted.code);
  expect(chart.compare(artifact, wanted)).toBe(difference);
});

test.each([
  ["1.1.0", "forward"],
  ["1.0.0", "same"],
  ["0.9.0", "back"],
] as const)("moving to %s is %s", async (to, move) => {
  expect(await chart.move(deps("web"), binding, found(running()), to)).toBe(move);
});
