import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { createClient } from "@libsql/client";
import { eventually } from "./support/eventually.ts";
import { copyOfInstallation, refusedStart, stoppedInstallation } from "./support/installation.ts";
import { startServer, temporaryDir } from "./support/server.ts";

let template = "";

beforeAll(async () => {
  template = await stoppedInstallation();
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

describe("a start of the server", () => {
  test("names the damaged file and the way back when the first page is broken, and leaves it as it is", async () => {
    const dir = copyOfInstallation(template);
    const path = join(dir, "tidemark.db");
    const file = openSync(path, "r+");
    // Behind the header, which alone still looks right.
    writeSync(file, Buffer.alloc(60, 0xa5), 0, 60, 100);
    const before = readFileSync(path);
    const said = await refusedStart(dir);
    expect(said).toContain(path);
    expect(said).toContain("Restore a backup");
    expect(said).not.toContain("Unexpected");
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("refuses an emptied database beside its keys, also after the reset command was tried on it", async () => {
    const dir = copyOfInstallation(template);
    const path = join(dir, "tidemark.db");
    for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
    writeFileSync(path, "");
    const reset = Bun.spawnSync([process.execPath, "src/commands/reset-password.ts", "--stdin"], {
      cwd: join(import.meta.dir, ".."),
      env: { DATA_DIR: dir },
      stdin: Buffer.from("kelp-otter-lantern\n"),
    });
    expect(reset.exitCode).toBe(1);
    expect(statSync(path).size).toBe(0);
    expect(await refusedStart(dir)).toContain("is empty (0 bytes) although its key file exists");

    const client = createClient({ url: `file:${path}` });
    await client.executeMultiple("CREATE TABLE a (b); DROP TABLE a");
    client.close();
    expect(statSync(path).size).toBeGreaterThan(0);
    const said = await refusedStart(dir);
    expect(said).toContain("is empty although its key file exists");
    expect(said).not.toContain("bootstrap password");
  });

  test("refuses a folder in the place of the database", async () => {
    const dir = copyOfInstallation(template);
    const path = join(dir, "tidemark.db");
    rmSync(path);
    mkdirSync(path);
    expect(await refusedStart(dir)).toContain(`The database "${path}" is not a file`);
  });

  test("says what is wrong in OUTBOUND_ALLOW before it makes anything", async () => {
    const dir = join(temporaryDir(), "data");
    const said = await refusedStart(dir, { OUTBOUND_ALLOW: "169.254.169.254:80" });
    expect(said).toContain("a cloud's metadata address cannot be allowed");
    expect(said).not.toContain("Unexpected");
    expect(() => statSync(dir)).toThrow("ENOENT");
  });

  test("removes what helm was given by a killed process, each folder once nothing works in it", async () => {
    const dir = copyOfInstallation(template);
    const [left, used] = ["left", "used"].map((name) => join(dir, "helm", name, "kubeconfig")) as [string, string];
    for (const path of [left, used]) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, "{}");
    }
    const working = Bun.spawn(["tail", "-f", used], { stdout: "ignore" });
    const server = await startServer({ data_dir: dir });
    try {
      await eventually("the unused folder is removed", () => !existsSync(dirname(left)));
      expect(existsSync(used)).toBe(true);
      working.kill();
      await eventually("the other one is removed", () => !existsSync(dirname(used)));
    } finally {
      working.kill();
      await server.kill("SIGTERM");
    }
  });

  test("writes nothing when nothing has changed", async () => {
    const dir = copyOfInstallation(template);
    const server = await startServer({ data_dir: dir });
    expect(statSync(join(dir, "tidemark.db-wal")).size).toBe(0);
    await server.kill("SIGTERM");
  });
});
