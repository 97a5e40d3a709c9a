import { expect, test } from "bun:test";
import { resolve } from "node:path";

const root = resolve(import.meta.dir, "../..");
/** The suites that judge how things end. Of the runs without the file that kills a process at each step: minutes for the same. */
const suites = [
  "runs/!(recover).test.ts",
  "executors/*.test.ts",
  "trackers/checks/check.test.ts",
  "runtimes/engine/group/*.test.ts",
];

test("every run, plan and check ends as it does where nobody can read what the product says", async () => {
  const files = suites.flatMap((suite) => [...new Bun.Glob(suite).scanSync(`${root}/tests`)]);
  expect(files.length).toBeGreaterThan(30);
  const preload = "./tests/support/scrambled-words.ts";
  const paths = files.map((file) => `./tests/${file}`);
  const child = Bun.spawn([process.execPath, "test", "--timeout=60000", "--preload", preload, ...paths], {
    cwd: root,
    stdout: "ignore",
    stderr: "pipe",
  });
  const told = await new Response(child.stderr).text();
  expect(told.split("\n").filter((line) => line.startsWith("(fail)"))).toEqual([]);
  expect(await child.exited).toBe(0);
}, 600_000);
