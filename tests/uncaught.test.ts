import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type RunningServer, startServer, temporaryDir } from "./support/server.ts";

const fault = join(import.meta.dir, "support/fault-on-signal.ts");
let server: RunningServer;
let dir = "";

const start = () =>
  startServer({
    data_dir: dir,
    command: [process.execPath, "--preload", fault, "src/main.ts"],
    env: { LOG_LEVEL: "info" },
  });

beforeEach(async () => {
  dir = temporaryDir();
  server = await start();
}, 240_000);
afterEach(async () => {
  await server.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true });
});

test("a rejection that nobody handles is logged without secrets, and the process goes on", async () => {
  process.kill(server.pid, "SIGUSR2");
  const line = await server.waitForLine("Unhandled rejection");
  expect(line).toContain("ERROR");
  expect(line).toContain("A promise that nobody waits for");
  expect(server.lines.join("\n")).not.toContain("ghp_a1B2");
  for (const path of ["/health/live", "/health/ready"]) expect((await fetch(server.url + path)).status).toBe(200);
  // It still ends as it should.
  expect(await server.kill("SIGTERM")).toBe(0);
}, 240_000);

test("an exception that nobody catches is logged, ends the process with 1, and the next start finds all in order", async () => {
  process.kill(server.pid, "SIGHUP");
  expect(await server.exited).toBe(1);
  expect(await server.waitForLine("Uncaught exception")).toContain("An exception that nobody catches");
  server = await start();
  expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
}, 240_000);
