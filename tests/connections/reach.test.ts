import { describe, expect, test } from "bun:test";
import {
  afterAnswer,
  afterMiss,
  connectionStateOf,
  failureOf,
  isNews,
  type LookFacts,
  lookIntervalMs,
  reachOf,
} from "../../src/connections/reach.ts";
import { plain, told } from "../../src/messages/message.ts";

const at = 1_767_614_400_000;
const refused = { code: "unreachable", message: plain("Connection refused") };
const fresh: LookFacts = {
  ...{ is_enabled: true, seen_at: null, missed_looks: 0, missed_since: null },
  ...{ fault_code: null, fault: null, next_look_at: null },
};
const seen: LookFacts = { ...fresh, ...afterAnswer(at) };
const missedOnce: LookFacts = { ...seen, ...afterMiss(seen, refused, at + 20_000) };
const missedTwice: LookFacts = { ...missedOnce, ...afterMiss(missedOnce, refused, at + 25_000) };

describe("reachOf()", () => {
  test.each([
    ["not looked at yet", fresh, 0, "unknown", null],
    ["after an answer", seen, 0, "reachable", null],
    ["until the second overdue look", seen, 60_000, "reachable", null],
    ["when two looks are overdue", seen, 60_001, "unknown", "not_checked"],
    ["after one miss", missedOnce, 20_000, "reachable", null],
    ["after two misses", missedTwice, 25_000, "unreachable", "unreachable"],
    ["after two misses, when looks are overdue", missedTwice, 86_400_000, "unknown", "not_checked"],
    ["while it is disabled", { ...missedTwice, is_enabled: false }, 25_000, "unknown", null],
    ["after an answer that ends a silence", { ...missedTwice, ...afterAnswer(at + 45_000) }, 45_000, "reachable", null],
    ["after one miss without any answer", { ...fresh, ...afterMiss(fresh, refused, at) }, 0, "unknown", null],
  ] as const)("%s", (_when, facts, after, state, code) => {
    const reach = reachOf(facts, at + after);
    expect([reach.state, reach.problem?.code ?? null]).toEqual([state, code]);
  });

  test("tells since when, why, and when it last responded", () => {
    const problem = { code: "unreachable", message: "Connection refused", message_data: refused.message };
    expect(reachOf(missedTwice, at + 25_000)).toEqual({
      state: "unreachable",
      seen_at: at,
      since: at + 20_000,
      problem,
    });
  });
});

describe("connectionStateOf() and failureOf()", () => {
  const check = { ok: true, code: null as string | null, ...told(plain("Tested")), checked_at: at + 10_000 };
  const silent = { ...check, ok: false, code: "unreachable" };
  const denied = { ...check, ok: false, code: "unauthorized" };
  test.each([
    ["nothing is known", fresh, null, "unknown", null],
    ["it has responded", seen, null, "ok", null],
    ["a test found nothing wrong", seen, check, "ok", null],
    ["a test could not reach it", seen, silent, "failing", "unreachable"],
    ["it has responded since a test could not reach it", { ...seen, ...afterAnswer(at + 20_000) }, silent, "ok", null],
    [
      "it responds, and refused the credential",
      { ...seen, ...afterAnswer(at + 20_000) },
      denied,
      "failing",
      "unauthorized",
    ],
    ["it is lost", missedTwice, check, "failing", "unreachable"],
    ["it is disabled", { ...missedTwice, is_enabled: false }, silent, "disabled", null],
  ] as const)("when %s", (_when, facts, last_check, state, code) => {
    const known = { is_enabled: facts.is_enabled, reach: reachOf(facts, at + 26_000), last_check };
    expect([connectionStateOf(known), failureOf(known)?.error.code ?? null]).toEqual([state, code]);
  });
});

describe("afterMiss()", () => {
  test("looks again soon after the first miss, and at the interval once it is lost", () => {
    expect(missedOnce.next_look_at).toBe(at + 25_000);
    expect(missedTwice.next_look_at).toBe(at + 25_000 + lookIntervalMs);
  });

  test("counts misses closer together than five seconds once", () => {
    const together = { ...missedOnce, ...afterMiss(missedOnce, refused, at + 24_999) };
    expect([together.missed_looks, missedTwice.missed_looks]).toEqual([1, 2]);
  });

  test("a death is known within 60 seconds, even if each look waits for its deadline", () => {
    const deadline = 8_000;
    const first = { ...seen, ...afterMiss(seen, refused, (seen.next_look_at ?? 0) + deadline) };
    const knownAt = (first.next_look_at ?? 0) + deadline;
    expect(reachOf({ ...first, ...afterMiss(first, refused, knownAt) }, knownAt).state).toBe("unreachable");
    expect(knownAt - at).toBeLessThan(60_000);
  });

  test("keeps an earlier look that is due before", () => {
    expect(afterMiss({ ...seen, next_look_at: at + 2_000 }, refused, at + 1_000).next_look_at).toBe(at + 2_000);
  });
});

test.each([
  ["the first answer", fresh, 0, true],
  ["one before the next look is due", seen, 19_999, false],
  ["one in place of the look that is due", seen, 20_000, true],
  ["one that ends a silence", missedOnce, 20_001, true],
] as const)("isNews() of %s", (_which, facts, after, is) => {
  expect(isNews(facts, at + after)).toBe(is);
});
