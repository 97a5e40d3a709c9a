import { describe, expect, test } from "bun:test";
import { createLog } from "../src/log.ts";
import { startSteps } from "../src/start-steps.ts";
import { createFakeClock } from "./support/fake-clock.ts";

function steps() {
  const clock = createFakeClock();
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  const log = createLog({ level: "debug", format: "text", clock, redact: (text) => text, write });
  return { clock, lines, step: startSteps({ clock, log }) };
}

describe("startSteps()", () => {
  test("answers what the step answers and leaves no timer behind", async () => {
    const { clock, lines, step } = steps();
    expect(await step("the database", async () => 7)).toBe(7);
    expect(clock.pending()).toEqual([]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('step="the database"');
  });

  test("passes on what the step throws", async () => {
    const { clock, step } = steps();
    await expect(step("the database", () => Promise.reject(new Error("No such file")))).rejects.toThrow("No such file");
    expect(clock.pending()).toEqual([]);
  });

  test("tells of a step that lasts, and waits for it", async () => {
    const { clock, lines, step } = steps();
    const slow = Promise.withResolvers<string>();
    const going = step("the database", () => slow.promise);
    await clock.advance(25_000);
    expect(lines.filter((line) => line.includes("Start is still waiting"))).toHaveLength(2);
    slow.resolve("opened");
    expect(await going).toBe("opened");
  });

  test("gives a step up that never ends, and names it", async () => {
    const { clock, step } = steps();
    const going = step("the lock on the data directory", () => new Promise(() => undefined));
    await expect(clock.runUntil(going)).rejects.toThrow(
      "The start waited 300 s for the lock on the data directory and gave up",
    );
  });
});
