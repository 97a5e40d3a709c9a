import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  deleteExpiredOutcomes,
  deleteSurplusOutcomes,
  findOutcome,
  insertOutcome,
} from "../../src/idempotency/queries.ts";
import type { Sealed } from "../../src/secrets/sealed.ts";
import { type TemporaryDatabase, temporaryDatabase } from "../support/temporary-database.ts";

let temporary: TemporaryDatabase;
beforeEach(async () => {
  temporary = await temporaryDatabase();
});
afterEach(() => temporary.close());

const sealed = "gAAAAA" as Sealed;

test("what has expired and what is beyond the newest is removed, a few at a time", async () => {
  const { db } = temporary;
  await db.write(async (tx) => {
    for (let at = 0; at < 10; at += 1)
      await insertOutcome(tx, { key_hash: String(at), sealed_outcome: sealed, created_at: at });
  });
  const kept = async () => {
    const found = await Promise.all(Array.from({ length: 10 }, (_, at) => findOutcome(db.read, String(at), 0)));
    return found.flatMap((outcome, at) => (outcome === null ? [] : [at]));
  };
  await db.write((tx) => deleteExpiredOutcomes(tx, 4, 3));
  expect(await kept()).toEqual([3, 4, 5, 6, 7, 8, 9]);
  await db.write((tx) => deleteExpiredOutcomes(tx, 4, 3));
  expect(await kept()).toEqual([4, 5, 6, 7, 8, 9]);
  await db.write((tx) => deleteSurplusOutcomes(tx, 5, 3));
  expect(await kept()).toEqual([5, 6, 7, 8, 9]);
});
