import { afterAll, beforeAll, expect, test } from "bun:test";
import { type CorruptionHouse, type CorruptionOutcome, corruptionHouse } from "../backups/corruptions.ts";

let house: CorruptionHouse;
beforeAll(async () => {
  house = await corruptionHouse();
}, 120_000);
afterAll(() => house.close());

test("200 backups corrupted at random are refused, or restored exactly", async () => {
  const outcomes: CorruptionOutcome[] = [];
  for (let seed = 1; seed <= 200; seed += 1) outcomes.push(await house.run(seed));
  expect(outcomes.filter(({ outcome }) => outcome === "accepted")).toEqual([]);
  // Each kind of refusal was met, and what does no harm is taken.
  const count = (outcome: string) => outcomes.filter((each) => each.outcome === outcome).length;
  expect(count("refused")).toBeGreaterThan(150);
  expect(count("restored exactly")).toBeGreaterThan(5);
  const said = outcomes.map((each) => each.said).join("\n");
  for (const words of [
    "its checksum does not match",
    "bytes instead of",
    "is incomplete",
    "does not have the schema",
  ]) {
    expect(said).toContain(words);
  }
  expect(said).toContain("cannot be decrypted with its keys");
}, 600_000);
