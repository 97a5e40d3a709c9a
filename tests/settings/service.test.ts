import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { auditRecorder } from "../../src/auth/audit.ts";
import { audit_entries } from "../../src/db/tables.ts";
import { createLog } from "../../src/log.ts";
import { defaultSettings, type Settings } from "../../src/settings/schema.ts";
import { settingsService } from "../../src/settings/service.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { type TemporaryDatabase, temporaryDatabase } from "../support/temporary-database.ts";

const actor = { name: "admin", address: null, request_id: null };
let temporary: TemporaryDatabase;
beforeEach(async () => {
  temporary = await temporaryDatabase();
});
afterEach(() => temporary.close());

async function open(environment: { base_url?: string; log_level?: Settings["log_level"] } = {}) {
  const clock = createFakeClock();
  const seen: Settings[] = [];
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    format: "text",
    clock,
    redact: (text) => text,
    write: (line) => lines.push(line),
  });
  const service = await settingsService({
    db: temporary.db,
    clock,
    log,
    audit: auditRecorder({ clock }),
    environment: { base_url: environment.base_url ?? null, log_level: environment.log_level ?? null },
    onChange: (settings) => seen.push(settings),
  });
  return { service, seen, lines };
}

const storeBaseUrl = (text: string) =>
  temporary.db.client.execute({
    sql: "INSERT INTO settings (key, value, updated_at) VALUES ('base_url', ?, 0)",
    args: [JSON.stringify(text)],
  });

describe("settingsService()", () => {
  test("begins with the defaults", async () => {
    const { service, seen } = await open();
    expect(service.current()).toEqual(defaultSettings);
    expect(seen).toEqual([defaultSettings]);
  });

  test("applies a change at once, keeps it over a restart, and leaves a trace", async () => {
    const { service, seen } = await open();
    await service.update(actor, { timezone: "Asia/Kathmandu", log_level: "debug", version_history_count: 7 });
    expect(seen.at(-1)).toMatchObject({ timezone: "Asia/Kathmandu", log_level: "debug" });
    expect((await open()).service.current()).toMatchObject({ timezone: "Asia/Kathmandu", version_history_count: 7 });
    expect(await temporary.db.read.select({ event: audit_entries.event }).from(audit_entries).limit(9)).toEqual([
      { event: "settings_updated" },
    ]);
  });

  test.each([
    [{ timezone: "Berlin" }, "timezone"],
    [{ timezone: "+05:30" }, "timezone"],
    [{ log_level: "trace" }, "log_level"],
    [{ version_history_count: 0 }, "version_history_count"],
    [{ version_history_count: 1001 }, "version_history_count"],
    [{ snapshot_history_count: 1.5 }, "snapshot_history_count"],
    [{ base_url: "example.org" }, "base_url"],
    [{ base_url: "https://user@example.org" }, "base_url"],
    [{ base_url: "javascript:alert(1)" }, "base_url"],
    [{ base_url: "https://example.org/a;b" }, "base_url"],
    [{ base_url: "https://example.org/tïde" }, "base_url"],
    [{ base_url: "https://example.org/a/../b" }, "base_url"],
    [{ colour: "red" }, "colour"],
  ])("refuses %j, names the field and changes nothing", async (input, field) => {
    const { service } = await open();
    await expect(service.update(actor, input)).rejects.toMatchObject({
      status: 422,
      fields: { [field]: expect.any(String) },
    });
    expect((await open()).service.current()).toEqual(defaultSettings);
  });

  test("keeps the base URL in the form that everything else compares with", async () => {
    const { service } = await open();
    await service.update(actor, { base_url: " HTTPS://Tide.Example:443/Sub/ " });
    expect(service.current().base_url).toBe("https://tide.example/Sub");
    expect((await service.update(actor, { base_url: "" })).base_url).toBe("");
  });

  test.each([
    ["HTTPS://Tide.Example/Sub", "https://tide.example/Sub"],
    ["https://tide.example/a/../b", "https://tide.example/b"],
  ])("reads %s, as an earlier version stored it, as %s", async (stored, expected) => {
    await storeBaseUrl(stored);
    const { service, lines } = await open();
    expect(service.current().base_url).toBe(expected);
    expect(lines).toEqual([]);
  });

  test.each(["https://tide.example/a;b", "https://tide.example/t%C3%AFde"])(
    "passes over a stored %s, and the log tells it once",
    async (stored) => {
      await storeBaseUrl(stored);
      const { service, lines } = await open();
      await service.refresh();
      expect(service.current().base_url).toBe("");
      expect(lines).toEqual([
        expect.stringMatching(/WARNING A stored setting cannot be used, .* name=base_url value="?https:\/\/tide/),
      ]);
      await service.update(actor, { base_url: "https://tide.example/ab" });
      expect(service.current().base_url).toBe("https://tide.example/ab");
    },
  );

  test("lets the environment win, and says so", async () => {
    const { service } = await open({ base_url: "https://a.example/tide" });
    expect(await service.get()).toMatchObject({ base_url: "https://a.example/tide", from_environment: ["base_url"] });
    await expect(service.update(actor, { base_url: "https://b.example" })).rejects.toMatchObject({
      fields: { base_url: expect.stringContaining("BASE_URL") },
    });
    await service.update(actor, { base_url: "https://a.example/tide", timezone: "Europe/Berlin" });
    expect(service.current().timezone).toBe("Europe/Berlin");
  });

  test("falls back to the default where an older version stored what no longer passes", async () => {
    await temporary.db.client.execute(
      "INSERT INTO settings (key, value, updated_at) VALUES ('timezone', '\"Mars/Olympus\"', 0)",
    );
    expect((await open()).service.current().timezone).toBe("UTC");
  });
});
