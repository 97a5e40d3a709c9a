import { describe, expect, test } from "bun:test";
import { run_steps } from "../src/db/tables.ts";
import { createLog } from "../src/log.ts";
import { createFakeClock } from "./support/fake-clock.ts";
import { temporaryDatabase } from "./support/temporary-database.ts";

function logWith(format: "text" | "json") {
  const lines: string[] = [];
  const redact = (text: string) => text.replaceAll("kelp", "[redacted]");
  const write = (line: string) => lines.push(line);
  return { lines, log: createLog({ level: "debug", format, clock: createFakeClock(), redact, write }) };
}

describe.each(["text", "json"] as const)("createLog() as %s", (format) => {
  test.each([
    "\n2026-01-01T00:00:00.000Z INFO forged",
    "\r\n",
    "\u001b[2J",
    "\u0085",
    "\u2028",
    "\u0000",
    "\u202eoofni",
    "\u200b",
    "\u2066",
    "\ufeff",
    "\u{e0001}",
  ])("writes one line whatever a field has in it: %j", (hostile) => {
    const { lines, log } = logWith(format);
    log.warning("Something", {
      name: `a${hostile}b`,
      error: new Error(`c${hostile}d`),
      nested: { [hostile]: hostile },
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^[^\p{Cc}\p{Cf}\u2028\u2029]+$/u);
  });

  test("says when, how grave and what, whatever a field is called", () => {
    const { lines, log } = logWith(format);
    const said = "Something happened";
    log.warning(said, { at: "1999", level: "debug", message: "All is well", name: "a\u202eb\u{e0001}c" });
    const [line = ""] = lines;
    if (format === "text") return expect(line).toStartWith(`2026-01-05T12:00:00.000Z WARNING ${said} `);
    expect(JSON.parse(line)).toEqual({
      at: "2026-01-05T12:00:00.000Z",
      level: "warning",
      message: said,
      name: "a\u202eb\u{e0001}c",
    });
    expect(line).toStartWith('{"at":');
    expect(line).toContain("a\\u202eb\\udb40\\udc01c");
  });

  test("redacts at the sink, also in errors and keys", () => {
    const { lines, log } = logWith(format);
    log.error("Of kelp", { kelp: "kelp", error: new Error("kelp"), list: ["kelp"] });
    expect(lines.join()).not.toContain("kelp");
  });

  test("tells of a failed query why, and none of its values", async () => {
    const { db, close } = await temporaryDatabase();
    const row = { run_id: "none", seq: 1, step: "a-stored-hash", phase: "begin", facts: {}, at: 0 } as const;
    const fault = await db.write((tx) => tx.insert(run_steps).values(row)).catch((error: unknown) => error);
    const { lines, log } = logWith(format);
    log.error("Work failed", { error: fault });
    expect(lines[0]).toContain("FOREIGN KEY constraint failed");
    expect(lines[0]).not.toContain("a-stored-hash");
    await close();
  });

  test("cuts what is endless, and not within a secret", () => {
    for (const length of [1_000_000, 1_996, 1_997, 1_998]) {
      const { lines, log } = logWith(format);
      log.error("Work failed", { error: new Error(`${"x".repeat(length)}kelp${"x".repeat(100)}`) });
      expect(lines[0]?.length).toBeLessThan(3_000);
      expect(lines[0]).not.toMatch(/xk/);
    }
  });
});
