import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import {
  audit_entries,
  connections,
  deliveries,
  events,
  executors,
  notifiers,
  rate_limits,
  response_cache,
  runs,
  sessions,
  snapshots,
  tracker_sources,
  trackers,
  upstream_outages,
} from "../src/db/tables.ts";
import { plain } from "../src/messages/message.ts";
import type { ReleaseFacts } from "../src/notifications/schema.ts";
import { goodPassword, type TestApp, testApp } from "./support/test-app.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

let receiver: ReturnType<typeof Bun.serve>;
let received: number;
let app: TestApp;
let start: number;
let session: string;
let token: string;

const withReceiver = () => ({ env: { OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}` } });

beforeEach(async () => {
  received = 0;
  receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => {
      received += 1;
      return new Response("ok");
    },
  });
  app = await testApp(withReceiver());
  start = app.clock.now();
  const person = await app.signedIn();
  session = [...person.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const made = await person.api("POST", "/api-tokens", {
    name: "automation",
    expires_in_days: 365,
    current_password: goodPassword,
  });
  token = String(made.body.token);
  await fill();
});
afterEach(async () => {
  await app.close();
  await receiver.stop(true);
});

/** One of everything that has an age or a due time. Nothing of it is so old, by a right clock, that it may go. */
async function fill(): Promise<void> {
  const stamped = { created_at: start - 100 * day, updated_at: start - 100 * day };
  const sealed_config = app.sealer.sealJson({ url: `http://127.0.0.1:${receiver.port}/hook` });
  const health_check = { strategy: "disabled" };
  const executor = {
    target_kind: "container",
    image_selection: "keep_name",
    reference_mode: "tag",
    trigger: "manual",
    health_check,
    restore_on_failure: true,
    ...stamped,
  } as const;
  await app.db.write(async (tx) => {
    // Entries come in the order of their times: those of the first start and sign-in would stand before older ones.
    await tx.delete(audit_entries);
    for (const age of [364, 200, 29, 1, 0])
      await tx
        .insert(audit_entries)
        .values({ id: `entry-${age}`, event: "login", outcome: "ok", detail: {}, at: start - age * day });
    await tx.insert(notifiers).values({
      id: "notifier",
      name: "phone",
      kind: "webhook",
      language: "en",
      trigger_events: [],
      sealed_config,
      destination: "127.0.0.1",
      ...stamped,
    });
    for (const age of [399, 300, 1])
      await tx
        .insert(events)
        .values({ id: `event-${age}`, kind: "new_release", facts: {}, created_at: start - age * day });
    await tx.insert(deliveries).values({
      id: "delivery",
      notifier_id: "notifier",
      event_id: "event-1",
      event: "new_release",
      body: {},
      state: "pending",
      attempt_count: 1,
      next_attempt_at: start + 30 * second,
      created_at: start - day,
    });
    await tx.insert(rate_limits).values({ key: "host -", state: {}, updated_at: start - 29 * day });
    await tx
      .insert(response_cache)
      .values({ key: "answer", used_at: start - 29 * day, body: "", headers: {}, size_bytes: 0 });
    // None of these goes out: what would look at a source or an engine is disabled.
    await tx.insert(trackers).values({
      id: "tracker",
      name: "web",
      is_enabled: false,
      check_interval_minutes: 30,
      fetch_depth: 10,
      request_timeout_seconds: 10,
      sorting: "semantic",
      ...stamped,
    });
    await tx.insert(tracker_sources).values({
      id: "source",
      tracker_id: "tracker",
      key: "main",
      position: 0,
      host: "registry.test",
      kind: "gitea",
      config: {},
      next_check_at: start + 20 * minute,
    });
    const outage = { host: "registry.test", error_code: "unreachable", error_message: plain("No answer"), failures: 3 };
    const pause = { pause_ms: 4 * minute, next_due_at: start + 4 * minute };
    await tx.insert(upstream_outages).values({ id: "outage", ...outage, ...pause, since: start - hour });
    for (const [id, is_enabled] of [
      ["web", false],
      ["asked", true],
    ] as const) {
      await tx
        .insert(connections)
        .values({ id: `${id}-engine`, name: id, kind: "docker", is_enabled, config: {}, ...stamped });
      await tx.insert(executors).values({
        id,
        name: id,
        target_id: id,
        connection_id: `${id}-engine`,
        next_evaluation_at: is_enabled ? null : start + 10 * minute,
        ...executor,
      });
    }
    await tx
      .update(executors)
      .set({ snoozed_until: start + 2 * day, snoozed_ms: 2 * day })
      .where(eq(executors.id, "web"));
    const sealed_content = app.sealer.seal("{}");
    for (const number of [1, 2])
      await tx.insert(snapshots).values({
        id: `snapshot-${number}`,
        executor_id: "web",
        sealed_content,
        reference: "app:1",
        image_id: "sha256:1",
        size_bytes: 2,
        created_at: start - number * day,
      });
    const run = { kind: "update", state: "pending", trigger: "immediate", created_at: start - hour } as const;
    await tx.insert(runs).values([
      {
        ...run,
        id: "asked",
        executor_id: "asked",
        approval: "awaiting",
        plan_hash: "a".repeat(64),
        approval_until: start + 60 * hour,
        due_at: start + 60 * hour,
      },
    ]);
  });
}

const tables = { audit_entries, events, deliveries, sessions, snapshots, rate_limits, response_cache, runs } as const;

async function idsOf(table: SQLiteTable): Promise<string[]> {
  const rows: Record<string, unknown>[] = await app.db.read.select().from(table);
  return rows.map((row) => String(row.id ?? row.key));
}

async function everything(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [name, table] of Object.entries(tables)) found[name] = await idsOf(table);
  return found;
}

const release: ReleaseFacts = {
  tracker: "web",
  channel: "stable",
  channel_type: "stable",
  version: "1.0",
  tag: "1.0",
  maturity: "release",
  remark: null,
  previous_version: null,
  sources: [],
  url: null,
  notes: null,
  also: [],
  previous_revision: null,
  revision: null,
};

/** What makes the product delete what is old: an entry, an event, an answer, a sign-in. And one look at what is due. */
async function live(): Promise<number> {
  const answer = await app.send("/api/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password: goodPassword }),
  });
  await app.db.write((tx) =>
    app.services.outbox.recordEvent(tx, { kind: "new_release", tracker_id: "tracker", facts: release }),
  );
  await app.services.scheduler.tick();
  await app.services.scheduler.idle();
  return answer.status;
}

const isSignedIn = async (headers: Readonly<Record<string, string>>) =>
  (await app.send("/api/session", { headers })).status === 200;

/** How far ahead everything lies that goes on or is held. */
async function furthest(): Promise<Record<string, number>> {
  const { rows } = await app.db.client.execute(`select
    (select max(next_check_at) from tracker_sources) as check_due,
    (select max(lease_until) from tracker_sources) as check_lease,
    (select max(next_due_at) from upstream_outages where ended_at is null) as attempt_due,
    (select max(next_evaluation_at) from executors) as evaluation_due,
    (select max(lease_until) from executors) as evaluation_lease,
    (select max(snoozed_until) from executors) as snooze_end,
    (select max(next_attempt_at) from deliveries where state = 'pending') as delivery_due,
    (select max(lease_until) from deliveries where state = 'pending') as delivery_lease,
    (select max(due_at) from runs where state = 'pending' and approval is null) as run_due,
    (select max(cleanup_due_at) from runs) as cleanup_due,
    (select max(lease_until) from runs) as run_lease,
    (select max(due_at) from runs where approval = 'awaiting') as consent_due,
    (select max(approval_until) from runs where approval = 'awaiting') as consent_until,
    (select max(expires_at) from sessions where kind = 'session') as session_end`);
  const now = app.clock.now();
  return Object.fromEntries(
    Object.entries(rows[0] ?? {}).map(([name, at]) => [name, typeof at === "number" ? at - now : 0]),
  );
}

const longest: Readonly<Record<string, number>> = {
  check_due: 30 * minute,
  check_lease: 11 * minute,
  attempt_due: 4 * minute,
  evaluation_due: 15 * minute,
  evaluation_lease: 2 * minute,
  delivery_due: 30 * minute,
  delivery_lease: minute,
  run_due: minute,
  cleanup_due: minute,
  run_lease: 30 * second,
};
/** A day more, within which a clock that is wrong for a moment takes nothing away. */
const longestEnds = {
  consent_due: 72 * hour + day,
  consent_until: 72 * hour + day,
  session_end: 8 * day,
  snooze_end: 3 * day,
};

async function expectNothingFarAhead(allowed: Readonly<Record<string, number>>): Promise<void> {
  const found = await furthest();
  expect(Object.entries(allowed).filter(([name, most]) => (found[name] ?? 0) > most)).toEqual([]);
}

async function restart(at: number): Promise<void> {
  await app.services.stop();
  app = await testApp({ ...withReceiver(), after: { app, at } });
}

/** A clock that is wrong for an hour, in which the product is used. */
const ways = {
  "while running": async (step: number) => {
    const { clock } = app;
    clock.set(clock.now() + step);
    await useForAnHour();
    clock.set(clock.now() - step);
  },
  "between starts": async (step: number) => {
    await restart(app.clock.now() + step);
    await useForAnHour();
    await restart(app.clock.now() - step);
  },
};

async function useForAnHour(): Promise<void> {
  for (let look = 0; look < 6; look += 1) {
    expect(await live()).toBe(201);
    await expectNothingFarAhead(longest);
    await app.clock.advance(10 * minute);
  }
}

const steps = [
  ["10 years ahead", 10 * year],
  ["a day ahead", day],
  ["a day back", -day],
  ["20 years back", -20 * year],
] as const;

describe.each(steps)("a clock that is %s", (_name, step) => {
  describe.each(Object.keys(ways) as (keyof typeof ways)[])("%s", (way) => {
    test("deletes nothing that a right one would have kept", async () => {
      const before = await everything();
      await ways[way](step);
      expect(await live()).toBe(201);
      const after = await everything();
      for (const [name, ids] of Object.entries(before))
        expect([name, after[name]]).toEqual([name, expect.arrayContaining(ids)]);
      expect(await isSignedIn({ cookie: session })).toBe(true);
      expect(await isSignedIn({ authorization: `Bearer ${token}` })).toBe(true);
    });

    test("leaves nothing due further ahead than its longest pause, and all of it is done", async () => {
      await ways[way](step);
      await live();
      await expectNothingFarAhead({ ...longest, ...longestEnds });
      expect(received).toBe(1);
      expect(await app.services.runs.get("asked")).toMatchObject({ state: "pending", approval: "awaiting" });
      await app.clock.advance(60 * hour);
      await live();
      await app.clock.advance(day);
      await live();
      expect(await app.services.runs.get("asked")).toMatchObject({ state: "skipped", reason_code: "not_approved" });
    });
  });
});

/** Until when updates of the executor are snoozed; null once that is over. */
const snoozedUntil = async () => (await app.services.executors.get("web")).snoozed_until;

describe.each(steps)("a snooze under a clock that is %s", (_name, step) => {
  test.each(Object.keys(ways) as (keyof typeof ways)[])("%s ends when it should", async (way) => {
    await ways[way](step);
    await live();
    expect(await snoozedUntil()).toBe(start + 2 * day);
    await app.clock.advance(start + 2 * day - hour - app.clock.now());
    await live();
    expect(await snoozedUntil()).toBe(start + 2 * day);
    await app.clock.advance(hour);
    await live();
    expect(await snoozedUntil()).toBeNull();
  });

  test("that began then lasts as long as it should, give or take a day", async () => {
    app.clock.set(app.clock.now() + step);
    await app.services.scheduler.tick();
    await app.services.executors.act({ name: null, address: null, request_id: null }, "web", {
      action: "snooze",
      for_hours: 72,
    });
    await app.clock.advance(minute);
    app.clock.set(app.clock.now() - step);
    await app.clock.advance(2 * day);
    await live();
    expect(await snoozedUntil()).not.toBeNull();
    for (let days = 0; days < 3; days += 1) {
      await app.clock.advance(day);
      await live();
    }
    expect(await snoozedUntil()).toBeNull();
  });
});

test.each(Object.keys(ways) as (keyof typeof ways)[])(
  "what is written %s while the clock is 20 years back stays when it is right again",
  async (way) => {
    const before = await everything();
    await ways[way](-20 * year);
    const during = await everything();
    expect(during.audit_entries?.length).toBeGreaterThan(before.audit_entries?.length ?? 0);
    expect(during.events?.length).toBeGreaterThan(before.events?.length ?? 0);
    for (let hours = 0; hours < 3; hours += 1) {
      await live();
      await app.clock.advance(hour);
    }
    const after = await everything();
    for (const name of ["audit_entries", "events"])
      expect(after[name]).toEqual(expect.arrayContaining(during[name] ?? []));
  },
);

test("a clock that stays where it was put is followed, and what is old goes", async () => {
  app.clock.set(app.clock.now() + 90 * day);
  await live();
  expect(await idsOf(audit_entries)).toContain("entry-364");
  await app.clock.advance(8 * day);
  await live();
  expect(await idsOf(audit_entries)).not.toContain("entry-364");
  expect(await idsOf(audit_entries)).toContain("entry-200");
  expect(await idsOf(events)).not.toContain("event-399");
});

test("a session that was begun under a clock years ahead ends like any other", async () => {
  app.clock.set(app.clock.now() + 10 * year);
  const person = app.browser();
  await person.post("/login", { username: "admin", password: goodPassword });
  app.clock.set(app.clock.now() - 10 * year);
  await app.services.scheduler.tick();
  expect((await person.get("/account/password")).status).toBe(200);
  await app.clock.advance(8 * day);
  expect((await person.get("/account/password")).status).toBe(303);
});
