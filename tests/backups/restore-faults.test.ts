import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeBackup } from "../../src/backups/write-backup.ts";
import { installed } from "./installed.ts";

const root = join(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "tidemark-restore-faults-"));
const backup = join(folder, "backup");
let template = "";

beforeAll(async () => {
  const source = await installed("source");
  template = await installed("target");
  mkdirSync(backup);
  const keys = { file: join(source, "keys.json"), opens_data: true };
  await writeBackup({ database: join(source, "tidemark.db"), keys, folder: backup, created_at: 1 });
});
afterAll(() => {
  for (const dir of [folder, template]) rmSync(dir, { recursive: true, force: true });
});

async function run(script: string, args: readonly string[]): Promise<string> {
  const preload = join(root, "tests/support/faulty-files-preload.ts");
  const child = Bun.spawn([process.execPath, "--preload", preload, join(root, script), ...args], {
    cwd: root,
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return text;
}

interface Found {
  total: number;
  outcomes: readonly {
    at: number;
    operation: string;
    fault: string;
    said: string;
    next: string;
    left: readonly string[];
  }[];
  starts: readonly { at: number; states: readonly string[] }[];
}

/** What the next start makes of each answer. */
const meaning: Readonly<Record<string, string>> = {
  restored: "after",
  restore_unfinished: "after",
  not_restored: "before",
};

test("whatever file operation fails, or is the last one, the answer is what the next start makes true", async () => {
  const { total, outcomes, starts }: Found = JSON.parse(
    await run("tests/support/restore-faults.ts", [template, backup, "1"]),
  );
  expect(total).toBeGreaterThan(50);
  const errors = outcomes.filter(({ fault }) => fault !== "dies");
  const code = (said: string) => said.split(":")[0] ?? "";
  expect(errors.filter(({ said, next }) => meaning[code(said)] !== next)).toEqual([]);
  // Who is killed says nothing, and leaves one or the other.
  expect(outcomes.filter(({ next }) => !["before", "after"].includes(next))).toEqual([]);
  expect(outcomes.filter(({ left }) => left.length > 0)).toEqual([]);
  expect(starts.length).toBeGreaterThan(2);
  expect(starts.filter(({ states }) => states.some((state) => state !== "after"))).toEqual([]);
  // All of it happened: answers of each kind, and kills on both sides of the point of no return.
  expect(new Set(errors.map(({ said }) => code(said)))).toEqual(new Set(Object.keys(meaning)));
  expect(new Set(outcomes.filter(({ fault }) => fault === "dies").map(({ next }) => next)).size).toBe(2);
}, 300_000);
