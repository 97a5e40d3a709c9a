import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { auditRecorder } from "../../src/auth/audit.ts";
import type { AuditEvent } from "../../src/auth/audit-schema.ts";
import { countedTime } from "../../src/counted-time.ts";
import { audit_entries } from "../../src/db/tables.ts";
import { type AuthHouse, actor, authHouse } from "./auth-house.ts";

const DAY = 24 * 3_600_000;
let house: AuthHouse;
beforeEach(async () => {
  house = await authHouse();
});
afterEach(() => house.close());

const named = (name: string, address = "198.51.100.7") => ({ name, address, request_id: "r" });

async function furnish(): Promise<void> {
  const record = house.audit_entries.record;
  await record(named("admin"), {
    event: "login",
    outcome: "ok",
    subject: { kind: "administrator", id: "a1", name: "admin" },
  });
  await house.clock.advance(DAY);
  await record(named("mallory", "203.0.113.9"), { event: "login", outcome: "failed" });
  await house.clock.advance(DAY);
  await record(named("admin", "203.0.113.90"), {
    event: "tracker_created",
    outcome: "ok",
    subject: { kind: "tracker", id: "t1", name: "Traefik 100%_x" },
  });
  await house.clock.advance(DAY);
  await record(named("system"), { event: "destination_blocked", outcome: "refused", detail: { destination: "x" } });
}

test.each([
  "select event, count(*) from audit_entries group by event",
  "select outcome, count(*) from audit_entries group by outcome",
  "select event, count(*) from audit_entries where outcome = 'refused' group by event",
])("no entry is read for the counts of its list: %s", async (counts) => {
  const { rows } = await house.db.client.execute(`explain query plan ${counts}`);
  expect(String(rows[0]?.detail)).toContain("USING COVERING INDEX");
});

describe("list() narrows down", () => {
  test.each<[Record<string, string>, string[]]>([
    [{}, ["destination_blocked", "tracker_created", "login", "login"]],
    [{ event: "login" }, ["login", "login"]],
    [{ event: "login", outcome: "failed" }, ["login"]],
    [{ outcome: "refused" }, ["destination_blocked"]],
    [{ actor: "admin" }, ["tracker_created", "login"]],
    [{ actor: "Admin" }, []],
    [{ actor: "system" }, ["destination_blocked"]],
    [{ subject: "t1" }, ["tracker_created"]],
    [{ subject: "traefik" }, ["tracker_created"]],
    [{ subject: "100%_X" }, ["tracker_created"]],
    [{ subject: "%" }, ["tracker_created"]],
    [{ subject: "traefik%" }, []],
    [{ subject: "' or '1'='1" }, []],
    [{ address: "203.0.113." }, ["tracker_created", "login"]],
    [{ address: "203.0.113.9" }, ["tracker_created", "login"]],
    [{ address: "203.0.113.90" }, ["tracker_created"]],
    [{ address: "113" }, []],
    [{ since: "2026-01-06T12:00:00Z" }, ["destination_blocked", "tracker_created", "login"]],
    [{ until: "2026-01-06T12:00:00Z" }, ["login"]],
    [{ since: "2026-01-06T13:00:00+01:00", until: "2026-01-07T12:00:00.001Z" }, ["tracker_created", "login"]],
    [{ since: "2026-01-09T00:00:00Z", until: "2026-01-05T00:00:00Z" }, []],
    [{ search: "TRAEFIK" }, ["tracker_created"]],
    [{ search: "a1" }, ["login"]],
    [{ search: "mall" }, ["login"]],
    [{ search: "0.113" }, ["tracker_created", "login"]],
    [{ search: "100.7", outcome: "ok" }, ["login"]],
  ])("%j", async (query, expected) => {
    await furnish();
    const { items } = await house.audit_entries.list(query);
    expect(items.map(({ event }) => event)).toEqual(expected);
    const exported: string[] = [];
    for await (const batch of house.audit_entries.batches(query)) exported.push(...batch.map(({ event }) => event));
    expect(exported).toEqual(expected);
  });

  test.each([
    [{ outcome: "maybe" }, "outcome"],
    [{ since: "yesterday" }, "since"],
    [{ since: "2026-01-06" }, "since"],
    [{ until: "2026-13-01T00:00:00Z" }, "until"],
    [{ until: "1767614400000" }, "until"],
    [{ event: "log" }, "event"],
    [{ actor: "x".repeat(201) }, "actor"],
  ])("and refuses %j", async (query, field) => {
    const refusal = await house.audit_entries.list(query).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 422, fields: { [field]: expect.any(String) } });
    expect(() => house.audit_entries.batches(query)).toThrow();
  });
});

describe("list()", () => {
  test("sorts by subject and by who did it", async () => {
    await furnish();
    const events = async (sort: string) => (await house.audit_entries.list({ sort })).items.map(({ event }) => event);
    expect(await events("-subject")).toEqual(["login", "tracker_created", "destination_blocked", "login"]);
    expect(await events("-actor")).toEqual(["destination_blocked", "login", "tracker_created", "login"]);
    expect(await events("time")).toEqual(["login", "login", "tracker_created", "destination_blocked"]);
  });

  test("counts what each filter leaves", async () => {
    await furnish();
    expect(await house.audit_entries.counts({ outcome: "ok", since: "2026-01-06T00:00:00Z" })).toEqual({
      event: { "": 1, tracker_created: 1 },
      outcome: { "": 3, ok: 1, failed: 1, refused: 1 },
    });
  });
});

describe("batches()", () => {
  test("hands out every entry once, 500 at a time, and none that comes meanwhile", async () => {
    await house.db.write(async (tx) => {
      for (let index = 0; index < 1234; index += 1) {
        await house.audit(tx, actor, { event: "tracker_checked", outcome: "ok", detail: { values: index } });
      }
    });
    const sizes: number[] = [];
    const seen = new Set<unknown>();
    for await (const batch of house.audit_entries.batches({})) {
      sizes.push(batch.length);
      for (const { detail } of batch) seen.add(detail.values);
      await house.audit_entries.record(actor, { event: "login", outcome: "ok", detail: { values: "meanwhile" } });
    }
    expect(sizes).toEqual([500, 500, 234]);
    expect(seen.size).toBe(1234);
    expect(seen.has("meanwhile")).toBe(false);
  });
});

describe("the retention", () => {
  const fill = async (days: readonly number[]) => {
    const now = house.clock.now();
    await house.db.write(async (tx) => {
      // As they came: the oldest first.
      for (const [index, day] of days.toSorted((left, right) => right - left).entries()) {
        const id = `old-${index}`;
        await tx
          .insert(audit_entries)
          .values({ id, event: `day ${day}`, outcome: "ok", detail: {}, at: now - day * DAY });
      }
    });
  };
  const kept = async () => (await house.audit_entries.list({ limit: 100 })).items.map(({ event }) => event);
  const recorder = (days: number) =>
    auditRecorder({
      clock: house.clock,
      retention: { counted: countedTime(house.clock, null), days: async () => days },
    });
  const record = (audit: ReturnType<typeof recorder>, event: AuditEvent = "login") =>
    house.db.write((tx) => audit(tx, actor, { event, outcome: "ok" }));

  test.each([
    [365, ["login", "day 29", "day 32", "day 364"]],
    [60, ["login", "day 29", "day 32"]],
    [30, ["login", "day 29"]],
    // Below the floor, whatever a database was made to hold.
    [1, ["login", "day 29"]],
    [0, ["login", "day 29"]],
    [-365, ["login", "day 29"]],
  ])("of %p days", async (days, expected) => {
    await fill([29, 32, 364, 367, 4000]);
    await record(recorder(days));
    expect(await kept()).toEqual(expected);
  });

  test("removes 500 with each entry until nothing is too old, the oldest first", async () => {
    await fill(Array.from({ length: 1200 }, (_, index) => 400 + index));
    const audit = recorder(365);
    const count = async () => (await house.db.read.select({ id: audit_entries.id }).from(audit_entries)).length;
    const left: number[] = [];
    for (let entry = 0; entry < 4; entry += 1) {
      await record(audit);
      left.push(await count());
    }
    expect(left).toEqual([701, 202, 3, 4]);
  });

  test("is looked at once an hour when nothing is too old", async () => {
    const audit = recorder(30);
    await fill([31]);
    await record(audit, "tracker_created");
    await house.clock.advance(3_600_000 - 1);
    await house.db.write((tx) => tx.update(audit_entries).set({ at: 0 }).where(eq(audit_entries.id, "old-0")));
    await record(audit, "tracker_updated");
    expect(await kept()).toContain("day 31");
    await house.clock.advance(1);
    await record(audit, "tracker_deleted");
    expect(await kept()).toEqual(["tracker_deleted", "tracker_updated", "tracker_created"]);
  });
});

describe("what is recorded cannot look like something else", () => {
  const hostile: [string, string, string][] = [
    ["a line break", "a\nb", "a\\u000ab"],
    ["a carriage return", "a\rb", "a\\u000db"],
    ["a tab", "a\tb", "a\\u0009b"],
    ["a null", "a\0b", "a\\u0000b"],
    ["an escape sequence", "a\u001b[2Jb", "a\\u001b[2Jb"],
    ["a backspace", "admin\b\b\b\b\broot", "admin\\u0008\\u0008\\u0008\\u0008\\u0008root"],
    ["a delete", "a\u007fb", "a\\u007fb"],
    ["a C1 control", "a\u009b31mb", "a\\u009b31mb"],
    ["a line separator", "a\u2028b", "a\\u2028b"],
    ["a paragraph separator", "a\u2029b", "a\\u2029b"],
    ["text turned round", "a\u202eb", "a\\u202eb"],
    ["an isolate", "a\u2066b", "a\\u2066b"],
    ["a space without width", "ad\u200bmin", "ad\\u200bmin"],
    ["a byte order mark", "\ufeffadmin", "\\ufeffadmin"],
    ["a soft hyphen", "ad\u00admin", "ad\\u00admin"],
    ["a tag character", "a\u{e0041}b", "a\\udb40\\udc41b"],
    ["a lone surrogate", "a\ud800b", "a\\ud800b"],
    ["a forged line", 'x" outcome=ok\n2026-01-05 login ok', 'x" outcome=ok\\u000a2026-01-05 login ok'],
    ["a forged JSON line", '"}\n{"event":"login"}', '"}\\u000a{"event":"login"}'],
    ["a whole text", "潮汐 – 🌊 é", "潮汐 – 🌊 é"],
    ["a long text", "x".repeat(600), "x".repeat(500)],
  ];
  test.each(hostile)("%s", async (_name, text, shown) => {
    await house.audit_entries.record(
      { name: text, address: text, request_id: text },
      {
        event: "login",
        outcome: "failed",
        subject: { kind: "a", id: text, name: text },
        detail: { [text]: text, references: [text, { deep: text }] },
      },
    );
    const [entry] = (await house.audit_entries.list({})).items;
    expect(entry).toMatchObject({
      actor: shown,
      address: shown,
      request_id: shown,
      subject: { id: shown, name: shown },
      detail: { [shown]: shown, references: [shown, { deep: shown }] },
    });
    expect(JSON.stringify(entry)).not.toMatch(/\p{Cc}|[\u2028\u2029\u202e]/u);
  });
});
