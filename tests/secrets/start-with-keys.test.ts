import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { keyId } from "../../src/secrets/keys.ts";
import { copyOfInstallation, refusedStart, stoppedInstallation } from "../support/installation.ts";
import { firstSignIn, startServer, temporaryDir } from "../support/server.ts";

let template = "";

beforeAll(async () => {
  template = await stoppedInstallation();
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

/** The data directory of a stopped installation that has a secret. */
async function withSecret(): Promise<string> {
  const server = await startServer();
  const api = await firstSignIn(server);
  await api.post("/credentials", { name: "registry", kind: "oci", secret: { username: "ci", password: "something" } });
  await server.kill("SIGTERM");
  return server.data_dir;
}

async function forgetKey(dir: string): Promise<void> {
  const client = createClient({ url: `file:${join(dir, "tidemark.db")}` });
  await client.execute("DELETE FROM installation WHERE key = 'encryption_key_id'");
  await client.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  client.close();
}

describe("a start of the server", () => {
  test("makes files that nobody else may read", () => {
    expect((statSync(template).mode & 0o777).toString(8)).toBe("700");
    for (const name of readdirSync(template)) {
      expect(`${name} ${(statSync(join(template, name)).mode & 0o777).toString(8)}`).toBe(`${name} 600`);
    }
  });

  test("refuses a missing key file and makes no new one", async () => {
    const dir = copyOfInstallation(template);
    rmSync(join(dir, "keys.json"));
    expect(await refusedStart(dir)).toContain("restore the file from the backup of the data directory");
    expect(existsSync(join(dir, "keys.json"))).toBe(false);
  });

  test("refuses another key, from the environment too, and leaves the file as it is", async () => {
    const dir = copyOfInstallation(template);
    const before = readFileSync(join(dir, "keys.json"));
    const text = await refusedStart(dir, { ENCRYPTION_KEY: generateFernetKey() });
    expect(text).toContain("correct ENCRYPTION_KEY");
    expect(readFileSync(join(dir, "keys.json")).equals(before)).toBe(true);
  });

  test("refuses another key also where the database does not name its own, and names none", async () => {
    const dir = copyOfInstallation(await withSecret());
    await forgetKey(dir);
    const before = readFileSync(join(dir, "tidemark.db"));
    const key = generateFernetKey();
    const text = await refusedStart(dir, { ENCRYPTION_KEY: key });
    expect(text).toContain(`the key in use, ${keyId(key)}, decrypts none of them`);
    expect(readFileSync(join(dir, "tidemark.db")).equals(before)).toBe(true);
    // One that opens what is there is taken, and named again.
    const server = await startServer({ data_dir: dir });
    await server.kill("SIGTERM");
    expect(await refusedStart(dir, { ENCRYPTION_KEY: key })).toContain("is encrypted with the key");
  }, 60_000);

  test("with KEYS_FILE takes a fresh installation, and refuses one whose database is gone or emptied", async () => {
    const keysFile = join(temporaryDir(), "keys.json");
    copyFileSync(join(template, "keys.json"), keysFile);
    const [dir, env] = [temporaryDir(), { KEYS_FILE: keysFile }];
    // A start that came to nothing says nothing of an installation.
    expect(await refusedStart(dir, { ...env, DATABASE_URL: `file:${dir}/none/tidemark.db` })).toContain("none");
    const server = await startServer({ data_dir: dir, env });
    expect(server.bootstrapPassword()).not.toBeNull();
    await server.kill("SIGTERM");
    const database = join(dir, "tidemark.db");
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${database}${suffix}`, { force: true });
    expect(await refusedStart(dir, env)).toContain("is missing although its keys are in the environment");
    expect(existsSync(database)).toBe(false);
    writeFileSync(database, "");
    expect(await refusedStart(dir, env)).toContain("is empty (0 bytes) although its keys are in the environment");
    expect(statSync(database).size).toBe(0);
  }, 60_000);

  test("refuses a key file that the group may read", async () => {
    const dir = copyOfInstallation(template);
    chmodSync(join(dir, "keys.json"), 0o640);
    expect(await refusedStart(dir)).toContain("run chmod 600 on it");
  });

  test("logs no password and no bootstrap line again", async () => {
    const server = await startServer({ data_dir: copyOfInstallation(template), env: { LOG_LEVEL: "debug" } });
    expect(server.lines.join("\n")).not.toContain("bootstrap");
    await server.kill("SIGTERM");
  });

  test("tells the bootstrap password at INFO also when LOG_LEVEL hides the rest", async () => {
    const child = Bun.spawn([process.execPath, "src/main.ts"], {
      cwd: join(import.meta.dir, "../.."),
      env: { PATH: process.env.PATH ?? "", DATA_DIR: temporaryDir(), PORT: "0", LOG_LEVEL: "error" },
      stdout: "pipe",
    });
    let text = "";
    for await (const chunk of child.stdout) {
      text += Buffer.from(chunk).toString("utf8");
      if (text.includes("\n")) child.kill("SIGKILL");
    }
    expect(text).toMatch(/^\S+ INFO +[^\n]* bootstrap password [a-z0-9]{26}\n$/);
  });
});
