import { afterAll, beforeAll, expect, test } from "bun:test";
import { type CorruptionHouse, corruptionHouse } from "./corruptions.ts";

let house: CorruptionHouse;
beforeAll(async () => {
  house = await corruptionHouse();
});
afterAll(() => house.close());

// The first of those that tests/real/corrupted-backups.test.ts goes through.
test("30 backups corrupted at random are refused, or restored exactly", async () => {
  const outcomes: string[] = [];
  for (let seed = 1; seed <= 30; seed += 1) {
    const { outcome, said } = await house.run(seed);
    if (outcome === "accepted") throw new Error(`Seed ${seed} was accepted: ${said}`);
    outcomes.push(outcome);
  }
  expect(outcomes.filter((outcome) => outcome === "refused").length).toBeGreaterThan(20);
}, 120_000);
