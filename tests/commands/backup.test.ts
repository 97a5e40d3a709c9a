import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { startServer } from "../support/server.ts";

const root = join(import.meta.dir, "../..");
const newFolder = () => join(mkdtempSync(join(tmpdir(), "tidemark-backup-")), "copy");

async function backup(dataDir: string, ...args: string[]) {
  const child = Bun.spawn([process.execPath, "src/commands/backup.ts", ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? "", DATA_DIR: dataDir },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

describe("bun run backup", () => {
  test("copies database and keys while the service runs, and the copy starts", async () => {
    const server = await startServer();
    const folder = newFolder();
    const { code, out } = await backup(server.data_dir, folder);
    expect(code).toBe(0);
    expect(out).toContain(join(folder, "tidemark.db"));
    for (const file of ["tidemark.db", "keys.json"]) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(folder, "keys.json"))).toEqual(readFileSync(join(server.data_dir, "keys.json")));
    const copy = createClient({ url: `file:${join(folder, "tidemark.db")}` });
    expect((await copy.execute("SELECT username FROM administrators")).rows[0]?.[0]).toBe("admin");
    copy.close();
    expect(await server.kill("SIGTERM")).toBe(0);
    const restored = await startServer({ data_dir: folder });
    expect(restored.bootstrapPassword()).toBeNull();
    await restored.kill("SIGTERM");
  }, 60_000);

  test("refuses to overwrite, to run without a folder, and where there is no database", async () => {
    expect((await backup(mkdtempSync(join(tmpdir(), "tidemark-empty-")), newFolder())).err).toContain(
      "There is no database",
    );
    const usage = await backup("/nowhere");
    expect(usage.code).toBe(2);
    expect(usage.err).toContain("Usage: bun run backup FOLDER");
  }, 60_000);
});
