import { afterAll, beforeAll, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { whyUnsafe } from "../../src/bulk/unsafe.ts";
import type { PlanView } from "../../src/executors/plan-schema.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import { plain, say, told } from "../../src/messages/message.ts";
import type { BreakingStep } from "../../src/trackers/notes/schema.ts";
import { createWorld, digest, release, type World } from "../support/run-world.ts";

const live = new AbortController().signal;
let world: World;
/** An update from 1.0 to 1.1 as it is seen and planned. */
let safe: { executor: ExecutorView; plan: PlanView; breaking: readonly BreakingStep[] };

beforeAll(async () => {
  world = await createWorld();
  const id = await world.addExecutor();
  await world.clock.runUntil(world.main.evaluator.perform({ id }, live));
  const { executors } = world.main;
  const plan = await world.clock.runUntil(executors.plan(id, live));
  safe = { executor: await executors.get(id), plan, breaking: [] };
});
afterAll(() => world.close());

type Changes = (update: typeof safe) => Partial<typeof safe>;
type Service = PlanView["services"][number];

const executor =
  (changes: Partial<ExecutorView>): Changes =>
  (update) => ({ executor: { ...update.executor, ...changes } });
const service =
  (change: (service: Service) => Partial<Service>): Changes =>
  ({ plan }) => ({ plan: { ...plan, services: plan.services.map((each) => ({ ...each, ...change(each) })) } });
const version = (from: string, to: string, behind: Service["behind"]): Changes =>
  service(({ found, desired }) => ({
    found: found === null ? null : { ...found, tag: from },
    desired: desired === null ? null : { ...desired, tag: to },
    behind,
  }));
const steps = (major: number, minor: number, patch: number) => ({
  ...{ releases: major + minor + patch, steps: { major, minor, patch }, days: null, is_at_least: false },
});
const breaking: BreakingStep = {
  tracker: "app",
  versions: [
    {
      ...{ version: "1.1", tag: "1.1", release_id: "r", source_key: "main", published_at: null, url: null, links: [] },
      ...{ notes: "", notes_state: "published", notes_error: null, notes_error_data: null, security_fixes: [] },
      breaking_changes: [{ line: 1, text: "The port is another one" }],
    },
  ],
  notes: "read",
};

const rolledBack = (from_tag: string | null): Changes =>
  executor({
    last_run: {
      ...{ id: "r", kind: "rollback", state: "succeeded", reason_code: null, reason: null, reason_data: null },
      ...{ serving: "snapshot", outage: null, downtime_ms: 1, from_tag, to_tag: "1.0", started_at: 1, ended_at: 2 },
    },
  });

const unannounced =
  (notes: BreakingStep["notes"]): Changes =>
  () => ({ breaking: [{ tracker: "app", versions: [], notes }] });

test("a small step that nothing speaks against is safe", () => {
  expect(whyUnsafe(safe)).toEqual([]);
});

test.each<[string, Changes, string[]]>([
  ["on hold", executor({ held_since: 1 }), ["on_hold"]],
  ["snoozed", executor({ snoozed_until: 1 }), ["snoozed"]],
  [
    "skipped, wholly or in one service",
    executor({ skipped_revision: `main ${digest("b")}\nother x` }),
    ["version_skipped"],
  ],
  ["one whose last run failed", executor({ state: "failed" }), ["last_failed"]],
  ["one whose failure was dismissed", executor({ state: "dismissed" }), ["last_failed"]],
  ["the version that was just rolled back", rolledBack("1.1"), ["rolled_back"]],
  ["a version after the one that was rolled back", rolledBack("1.0.9"), []],
  ["one whose version before the rollback is not known", rolledBack(null), ["rolled_back"]],
  [
    "a group that was just rolled back, and names another service's version",
    (update) => {
      const { executor } = rolledBack("16.2")(update);
      return { executor: { ...update.executor, ...executor, target: { ...update.executor.target, is_group: true } } };
    },
    ["rolled_back"],
  ],
  ["one with nothing newer", service(() => ({ difference: "other_tag" })), ["already_current"]],
  ["a major version", version("1.9", "2.0", steps(1, 0, 0)), ["major"]],
  ["a second number below 1.0", version("0.9.1", "0.10.0", steps(0, 1, 0)), ["major"]],
  ["a patch below 1.0", version("0.9.1", "0.9.2", steps(0, 0, 1)), []],
  ["a date", version("2026.1", "2026.2", { ...steps(0, 0, 0), steps: null }), ["unmeasured"]],
  ["versions that cannot be compared", version("jammy", "noble", null), ["unmeasured"]],
  [
    "the same version, built again",
    service(({ found }) => ({
      ...{ difference: "new_digest", behind: null },
      desired: { version: "1.0", tag: found?.tag ?? "", digest: digest("b"), reference: "app", published_at: null },
    })),
    [],
  ],
  ["a downgrade", ({ plan }) => ({ plan: { ...plan, is_downgrade: true } }), ["not_onward"]],
  [
    "a plan with a warning",
    ({ plan }) => ({
      plan: {
        ...plan,
        plan: plan.plan === null ? null : { ...plan.plan, warnings: [{ code: "careful", ...told(plain("Careful")) }] },
      },
    }),
    ["careful"],
  ],
  ["one whose notes announce a breaking change", () => ({ breaking: [breaking] }), ["breaking"]],
  ["one whose notes are not known", unannounced("unread"), ["notes_unread"]],
  ["one without a source of notes", unannounced("no_source"), []],
  [
    "a kind that cannot be rolled back",
    ({ executor: { target, ...rest } }) => ({ executor: { ...rest, target: { ...target, is_declarative: true } } }),
    ["no_rollback"],
  ],
  [
    "a kind that the runtime replaces and saves",
    ({ executor: { target, ...rest } }) => ({
      executor: { ...rest, target: { ...target, is_declarative: true, saved_as: "Revisions" } },
    }),
    [],
  ],
])("%s: %#", (_name, changes, codes) => {
  expect(whyUnsafe({ ...safe, ...changes(safe) }).map(({ code }) => code)).toEqual(codes);
});

test("a second number below 1.0 is not called a new major version", () => {
  const [reason] = whyUnsafe({ ...safe, ...version("0.9.1", "0.10.0", steps(0, 1, 0))(safe) });
  expect(reason?.message_data).toEqual(say("bulk.early", { from: "0.9.1", to: "0.10.0" }));
});

test("every reason is told, not only the first", () => {
  const update = { ...safe, ...executor({ held_since: 1, state: "failed" })(safe), breaking: [breaking] };
  const reasons = whyUnsafe(update);
  expect(reasons.map(({ message_data }) => message_data)).toEqual([
    say("executors.on_hold"),
    say("bulk.last_failed"),
    say("bulk.breaking", { tracker: "app", versions: ["1.1"] }),
  ]);
});

test("a new major version of the channel is measured by what is known of it", async () => {
  world.upstream.choice = { release: release("2.0", "c"), ready_at: null };
  const id = safe.executor.id;
  const plan = await world.clock.runUntil(world.main.executors.plan(id, live));
  await world.clock.runUntil(world.main.executors.act(systemActor, id, { action: "hold" }));
  const codes = whyUnsafe({ executor: await world.main.executors.get(id), plan, breaking: [] }).map(({ code }) => code);
  expect(codes).toContain("major");
  expect(codes).toContain("on_hold");
});
