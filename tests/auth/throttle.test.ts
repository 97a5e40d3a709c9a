import { describe, expect, test } from "bun:test";
import { addressKey, createThrottle, type Throttle } from "../../src/auth/throttle.ts";
import { AppError } from "../../src/errors.ts";
import { createFakeClock } from "../support/fake-clock.ts";

/** Seconds that `begin` says to wait; 0 when it lets the attempt through, which then fails. */
function failOnce(throttle: Throttle, ...keys: string[]): number {
  try {
    throttle.begin(keys).fail();
    return 0;
  } catch (error) {
    if (error instanceof AppError && error.status === 429) return error.retry_after_seconds ?? -1;
    throw error;
  }
}

describe("createThrottle()", () => {
  test("lets five failures pass, then doubles the wait up to 15 minutes", async () => {
    const clock = createFakeClock();
    const throttle = createThrottle(clock);
    for (let attempt = 0; attempt < 5; attempt++) expect(failOnce(throttle, "a")).toBe(0);
    const waits: number[] = [];
    for (let round = 0; round < 12; round++) {
      const wait = failOnce(throttle, "a");
      waits.push(wait);
      await clock.advance(wait * 1000 - 1);
      expect(failOnce(throttle, "a")).toBe(1);
      await clock.advance(1);
      expect(failOnce(throttle, "a")).toBe(0);
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  });

  test("does not make one key wait for the failures of another", () => {
    const throttle = createThrottle(createFakeClock());
    while (failOnce(throttle, "stranger") === 0);
    expect(failOnce(throttle, "administrator")).toBe(0);
  });

  test("forgets a key after a success, and a day after its last failure", async () => {
    const clock = createFakeClock();
    const throttle = createThrottle(clock);
    for (let attempt = 0; attempt < 4; attempt++) failOnce(throttle, "a");
    throttle.begin(["a"]).succeed();
    for (let attempt = 0; attempt < 5; attempt++) expect(failOnce(throttle, "a")).toBe(0);
    expect(failOnce(throttle, "a")).toBe(2);
    await clock.advance(24 * 3_600_000);
    for (let attempt = 0; attempt < 5; attempt++) expect(failOnce(throttle, "a")).toBe(0);
  });

  test("gives parallel attempts no more tries than attempts one after the other", () => {
    const throttle = createThrottle(createFakeClock());
    const open = Array.from({ length: 5 }, () => throttle.begin(["a"]));
    expect(() => throttle.begin(["a"])).toThrow("Too many failed attempts");
    for (const attempt of open) attempt.fail();
    expect(failOnce(throttle, "a")).toBe(2);
  });

  test("an abandoned attempt counts as nothing", () => {
    const throttle = createThrottle(createFakeClock());
    for (let attempt = 0; attempt < 50; attempt++) throttle.begin(["a"]).abandon();
    for (let attempt = 0; attempt < 5; attempt++) expect(failOnce(throttle, "a")).toBe(0);
  });

  test("waits for the slowest of several keys", () => {
    const throttle = createThrottle(createFakeClock());
    for (let attempt = 0; attempt < 5; attempt++) failOnce(throttle, "session");
    expect(failOnce(throttle, "another address", "session")).toBe(2);
  });

  test.each([
    ["back by 20 years", -20 * 365 * 24 * 3_600_000],
    ["back by a day", -24 * 3_600_000],
    ["ahead by 10 years", 10 * 365 * 24 * 3_600_000],
  ])("a clock that is put %s makes no wait longer or shorter", async (_name, step) => {
    const clock = createFakeClock();
    const throttle = createThrottle(clock);
    for (let attempt = 0; attempt < 5; attempt++) failOnce(throttle, "a");
    clock.set(clock.now() + step);
    expect(failOnce(throttle, "a")).toBe(2);
    await clock.advance(2000);
    expect(failOnce(throttle, "a")).toBe(0);
  });

  describe("after a hundred failures in total", () => {
    const exceed = (throttle: Throttle) => {
      for (let index = 0; index < 100; index++) expect(failOnce(throttle, `stranger ${index}`)).toBe(0);
    };

    test("answers a further failure with 429, and lets a right password of a new address in", () => {
      const throttle = createThrottle(createFakeClock());
      exceed(throttle);
      expect(throttle.begin(["stranger x"]).fail()).toMatchObject({ status: 429, retry_after_seconds: 2 });
      expect(() => throttle.begin(["administrator"]).succeed()).not.toThrow();
    });

    test("makes addresses with one failure wait, longer with each ten more", () => {
      const throttle = createThrottle(createFakeClock());
      exceed(throttle);
      expect(failOnce(throttle, "stranger 0")).toBe(2);
      for (let index = 100; index < 130; index++) throttle.begin([`stranger ${index}`]).fail();
      expect(failOnce(throttle, "stranger 0")).toBe(16);
    });

    test("a familiar key waits for its own failures alone", async () => {
      const clock = createFakeClock();
      const throttle = createThrottle(clock);
      exceed(throttle);
      for (let attempt = 0; attempt < 5; attempt++) expect(throttle.begin(["home"], true).fail()).toBeNull();
      expect(() => throttle.begin(["home"], true)).toThrow("try again in 2 s");
      await clock.advance(2000);
      expect(() => throttle.begin(["home"], true).succeed()).not.toThrow();
    });

    test("recovers by time", async () => {
      const clock = createFakeClock();
      const throttle = createThrottle(clock);
      exceed(throttle);
      await clock.advance(36_000);
      expect(throttle.begin(["x"]).fail()).toBeNull();
    });
  });
});

describe("Attempt.is_first", () => {
  test("is true while no key of it has failed or is being checked", () => {
    const throttle = createThrottle(createFakeClock());
    const first = throttle.begin(["a", "session"]);
    expect(first.is_first).toBe(true);
    const second = throttle.begin(["b", "session"]);
    expect(second.is_first).toBe(false);
    second.abandon();
    first.fail();
    expect([throttle.begin(["b"]).is_first, throttle.begin(["a"]).is_first]).toEqual([true, false]);
  });
});

describe("addressKey()", () => {
  test.each([
    ["192.0.2.1", "address 192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "address 2001:db8:1:2::/64"],
    ["2001:db8:1:2::9", "address 2001:db8:1:2::/64"],
    ["2001:db8::1", "address 2001:db8:0:0::/64"],
    ["::1", "address 0:0:0:0::/64"],
    ["2001:0DB8:0001:0002::", "address 2001:db8:1:2::/64"],
    [null, "address unknown"],
  ])("of %s is %s", (address, key) => {
    expect(addressKey(address)).toBe(key);
  });
});
