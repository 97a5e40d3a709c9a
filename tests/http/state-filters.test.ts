import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { notifiers, tracker_sources, trackers, upstream_outages } from "../../src/db/tables.ts";
import { plain } from "../../src/messages/message.ts";
import { notifierStates } from "../../src/notifications/schema.ts";
import type { SourceView, TrackerView } from "../../src/trackers/schema.ts";
import { type TestApp, testApp } from "../support/test-app.ts";

let app: TestApp;

/** Every combination of one value each, as names with the values. */
function combinations<T extends Readonly<Record<string, readonly unknown[]>>>(values: T) {
  type Each = { [K in keyof T]: T[K][number] };
  return Object.entries(values).reduce<Record<string, unknown>[]>(
    (all, [name, options]) => all.flatMap((each) => options.map((value) => ({ ...each, [name]: value }))),
    [{}],
  ) as Each[];
}

/** All pages of a list. */
async function listed<View>(
  list: (query: unknown) => Promise<{ items: readonly View[]; next_cursor: string | null }>,
  query: Readonly<Record<string, string>> = {},
): Promise<View[]> {
  const items: View[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await list({ ...query, limit: 100, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items;
}
const namesOf = (views: readonly { name: string }[]) => views.map(({ name }) => name).toSorted();

beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

describe("trackers in every state", () => {
  const hour = 3_600_000;
  const sources = combinations({
    kind: ["oci", "future"],
    host: ["up.test", "away.test"],
    checked: ["never", "ok", "unreachable", "rejected"],
    due: ["before the next attempt", "after it"],
    tracker: ["enabled", "disabled"],
  });
  const isFailing = ({ state, is_host_away }: SourceView) => state === "failing" && !is_host_away;
  const isPending = ({ state, is_host_away }: SourceView) => state === "pending" && !is_host_away;
  /** What a list's option says, of what the API says of each. */
  const rules: Readonly<Record<string, (sources: readonly SourceView[]) => boolean>> = {
    failing: (all) => all.some(isFailing),
    pending: (all) => all.some(isPending) && !all.some(isFailing),
    waiting: (all) => all.some(({ is_host_away }) => is_host_away),
    ok: (all) => all.every(({ state }) => state === "ok"),
  };
  let views: TrackerView[] = [];

  beforeAll(async () => {
    const now = app.clock.now();
    await app.db.write(async (tx) => {
      await tx.insert(upstream_outages).values({
        ...{ id: "o", host: "away.test", error_code: "unreachable", error_message: plain("no answer"), since: now },
        ...{ failures: 1, pause_ms: hour, next_due_at: now + hour },
      });
      for (const { kind, host, checked, due, tracker } of sources) {
        const name = [kind, host, checked, due, tracker].join(" ").replaceAll(/[ .]/g, "-");
        const times = { created_at: now, updated_at: now };
        const depth = { check_interval_minutes: 360, fetch_depth: 10, request_timeout_seconds: 15 };
        const is_enabled = tracker === "enabled";
        await tx.insert(trackers).values({ id: name, name, is_enabled, ...depth, sorting: "semantic", ...times });
        const hasFailed = checked === "unreachable" || checked === "rejected";
        await tx.insert(tracker_sources).values({
          ...{ id: name, tracker_id: name, key: "main", position: 0, kind, host, config: { image: `${host}/${name}` } },
          next_check_at: now + (due === "after it" ? 2 * hour : hour / 2),
          last_checked_at: checked === "never" ? null : now - hour,
          ...(hasFailed
            ? { last_error_code: checked, last_error_message: plain("a reason"), failing_since: now - hour }
            : {}),
        });
      }
    });
    views = await listed(app.services.trackers.list);
    expect(views).toHaveLength(sources.length);
  });

  test.each(Object.keys(rules))("the list's %s are those of which the API says so", async (state) => {
    const found = await listed(app.services.trackers.list, { state });
    expect(namesOf(found)).toEqual(namesOf(views.filter((view) => rules[state]?.(view.sources))));
    expect(found.length).toBeGreaterThan(0);
  });

  test("the status line counts those of enabled trackers alike", async () => {
    const { sources: counts, failing_sources, shared_source_failures } = await app.services.stats.get();
    const all = views.filter(({ is_enabled }) => is_enabled).flatMap((view) => view.sources);
    const unchecked = all.filter(({ state }) => state === "pending").length;
    expect(counts).toMatchObject({
      total: all.length,
      failing: all.filter(isFailing).length,
      waiting: all.filter(({ is_host_away }) => is_host_away).length,
      pending: unchecked,
    });
    const shared = shared_source_failures.filter(({ error }) => error.message.includes('type "future"'));
    const alone = failing_sources.filter(({ kind }) => kind === "future");
    const named = shared.reduce((sum, { failing }) => sum + failing, alone.length);
    expect(named).toBe(all.filter(({ kind }) => kind === "future").length);
  });
});

test("the list's states of notifiers are those of which the API says so", async () => {
  const cases = combinations({
    is_enabled: [true, false],
    stopped_at: [null, 1],
    content: ["readable", "damaged", "unknown kind"],
  });
  await app.db.write(async (tx) => {
    for (const [index, { is_enabled, stopped_at, content }] of cases.entries()) {
      const sealed = app.sealer.sealJson({ url: "https://hooks.example.org/a" });
      await tx.insert(notifiers).values({
        ...{
          id: `n${index}`,
          name: `n${index}`,
          language: "en",
          trigger_events: [],
          destination: "hooks.example.org:443",
        },
        kind: content === "unknown kind" ? "future" : "webhook",
        sealed_config: content === "damaged" ? app.sealer.seal("not JSON") : sealed,
        ...{ is_enabled, stopped_at, created_at: 1, updated_at: 1 },
      });
    }
  });
  const views = await listed(app.services.notifications.list);
  for (const state of notifierStates) {
    const found = await listed(app.services.notifications.list, { state });
    expect([state, ...namesOf(found)]).toEqual([state, ...namesOf(views.filter((view) => view.state === state))]);
    expect(found.length).toBeGreaterThan(0);
  }
});
