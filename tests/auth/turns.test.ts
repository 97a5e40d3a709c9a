import { describe, expect, test } from "bun:test";
import { createTurns, type EndTurn } from "../../src/auth/turns.ts";
import { createFakeClock } from "../support/fake-clock.ts";

/** Turns with two going on; `ask` notes under its name how it ended. */
async function crowd() {
  const clock = createFakeClock();
  const turns = createTurns(clock);
  const going: EndTurn[] = [await turns.take(true), await turns.take(true)];
  const ended: string[] = [];
  const ask = (name: string, isFirst = true) => {
    turns.take(isFirst).then(
      (end) => {
        ended.push(name);
        going.push(end);
      },
      (error: { status: number }) => ended.push(`${name}: ${error.status}`),
    );
  };
  /** Ends the turn that has gone on longest. */
  const next = async () => {
    going.shift()?.();
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { clock, turns, ended, ask, next };
}

describe("createTurns()", () => {
  test("lets two go at once, the others in the order of coming", async () => {
    const { ended, ask, next } = await crowd();
    for (const name of ["a", "b", "c"]) ask(name);
    await Promise.resolve();
    expect(ended).toEqual([]);
    await next();
    expect(ended).toEqual(["a"]);
    await next();
    await next();
    expect(ended).toEqual(["a", "b", "c"]);
  });

  test("prefers who has not tried before", async () => {
    const { ended, ask, next } = await crowd();
    ask("again 1", false);
    ask("again 2", false);
    ask("first 1");
    ask("first 2");
    for (let count = 0; count < 4; count++) await next();
    expect(ended).toEqual(["first 1", "first 2", "again 1", "again 2"]);
  });

  test("refuses beyond 200 that wait; a first try takes the place of the last that tried before", async () => {
    const { ended, ask, next } = await crowd();
    for (let index = 0; index < 200; index++) ask(`again ${index}`, false);
    ask("one more", false);
    await next();
    expect(ended).toEqual(["one more: 429", "again 0"]);
    ask("again", false);
    ask("first");
    await next();
    expect(ended.slice(2)).toEqual(["again: 429", "first"]);
  });

  test("refuses a first try only when 200 first tries wait", async () => {
    const { ended, ask, next } = await crowd();
    for (let index = 0; index < 201; index++) ask(`first ${index}`);
    await next();
    expect(ended).toEqual(["first 200: 429", "first 0"]);
  });

  test("refuses who waited for ten seconds, and takes no turn for them", async () => {
    const { clock, turns, ended, ask, next } = await crowd();
    ask("late");
    await clock.advance(10_000);
    expect(ended).toEqual(["late: 429"]);
    await next();
    await next();
    expect(ended).toEqual(["late: 429"]);
    const [one, two] = await Promise.all([turns.take(true), turns.take(true)]);
    one?.();
    two?.();
    expect(one).toThrow("ended twice");
  });
});
