import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { systemClock } from "../../src/clock.ts";
import { openDatabase } from "../../src/db/client.ts";
import { listSealedValues, sealedColumns } from "../../src/db/sealed-columns.ts";
import { keyId } from "../../src/secrets/keys.ts";
import { asSealed, createSealer } from "../../src/secrets/sealed.ts";
import { secretTexts, storeSecrets } from "../keys/key-house.ts";
import { copyOfInstallation } from "../support/installation.ts";
import { type ApiClient, apiClient, firstSignIn, startServer, testPassword } from "../support/server.ts";

/** How often each point is taken. */
const rounds = Number(process.env.TIDEMARK_CRASH_ROUNDS ?? "1");

/** Every step of a rotation as it is logged, and what is true of the keys once the process has died there. */
const columns = sealedColumns.map(({ table_name, column }) => `reencrypt ${table_name}.${column.name}`);
const points: readonly (readonly [step: string, phase: string, ends: "old" | "new"])[] = [
  ["look", "before", "old"],
  ["look", "after", "old"],
  ["backup", "before", "old"],
  ["backup", "after", "old"],
  ["file with both keys", "before", "old"],
  ["file with both keys", "written", "old"],
  ["file with both keys", "renamed", "new"],
  ["file with both keys", "after", "new"],
  ["transaction", "before", "new"],
  ["reencrypt", "before", "new"],
  ...columns.map((step) => [step, "after", "new"] as const),
  ["reencrypt", "after", "new"],
  ["key id", "before", "new"],
  ["key id", "after", "new"],
  ["transaction", "after", "new"],
  ["verify", "before", "new"],
  ["verify", "after", "new"],
  ["file with one key", "before", "new"],
  ["file with one key", "written", "new"],
  ["file with one key", "renamed", "new"],
  ["file with one key", "after", "new"],
];
/** The same steps of a start that does the rest, killed once more. */
const resumed = points.filter(([step]) => !["look", "backup", "file with both keys"].includes(step));

const line = (step: string, phase: string) =>
  `Rotation of the encryption key step=${/ /.test(step) ? JSON.stringify(step) : step} phase=${phase}`;
const command = [process.execPath, "--preload", "./tests/support/die-at-line.ts", "src/main.ts"];

interface StoredKeys {
  session: string;
  encryption: { primary: string; previous?: string[] };
}
const keysOf = (dir: string) => JSON.parse(readFileSync(join(dir, "keys.json"), "utf8")) as StoredKeys;

let template = "";
let oldKey = "";

beforeAll(async () => {
  const server = await startServer();
  template = server.data_dir;
  await firstSignIn(server);
  await server.kill("SIGTERM");
  oldKey = keysOf(template).encryption.primary;
  const db = await openDatabase({ url: `file:${join(template, "tidemark.db")}` });
  const sealer = createSealer({ keys: { primary: oldKey }, clock: systemClock, onOpen: () => undefined });
  await storeSecrets({ db, sealer });
  await db.close();
}, 120_000);
afterAll(() => rmSync(template, { recursive: true, force: true }));

async function signIn(url: string): Promise<ApiClient> {
  const api = apiClient(url);
  const answer = await api.post("/session", { username: "admin", password: testPassword });
  api.token = String(answer.body.token);
  return api;
}

/** Starts a rotation and lets the process die at the point; resolves when it is dead. */
async function dieInRotation(dir: string, text: string): Promise<void> {
  const server = await startServer({ data_dir: dir, command, env: { LOG_LEVEL: "debug", DIE_AT_LINE: text } });
  const api = await signIn(server.url);
  const rotating = api
    .post("/security-keys/encryption/rotations", { current_password: testPassword })
    .catch(() => undefined);
  expect(await server.exited).not.toBe(0);
  await rotating;
}

/** Every secret opens with the one key that is left, and everything says the same of it. */
async function assertWhole(dir: string, ends: "old" | "new"): Promise<void> {
  const { encryption } = keysOf(dir);
  expect(Object.keys(encryption)).toEqual(["primary"]);
  expect(encryption.primary === oldKey).toBe(ends === "old");
  expect(readdirSync(dir).filter((name) => name.startsWith("keys.json"))).toEqual(["keys.json"]);
  const db = await openDatabase({ url: `file:${join(dir, "tidemark.db")}` });
  const sealer = createSealer({ keys: encryption, clock: systemClock, onOpen: () => undefined });
  const texts: string[] = [];
  for (const column of sealedColumns) {
    for (const { value } of await listSealedValues(db.read, column, -1, 100)) texts.push(sealer.open(asSealed(value)));
  }
  const stored = await db.client.execute("SELECT value FROM installation WHERE key = 'encryption_key_id'");
  const audited = await db.client.execute(
    "SELECT count(*) FROM audit_entries WHERE event = 'encryption_key_rotated' AND outcome = 'ok'",
  );
  await db.close();
  expect(texts).toHaveLength(sealedColumns.length);
  for (const text of Object.values(secretTexts)) expect(texts.join("\n")).toContain(text);
  expect(stored.rows[0]?.[0]).toBe(keyId(encryption.primary));
  expect(audited.rows[0]?.[0]).toBe(ends === "old" ? 0 : 1);
}

describe("the server killed in the middle of a rotation", () => {
  const cases = points.flatMap(([step, phase, ends]) =>
    Array.from({ length: rounds }, (_, round) => [step, phase, round + 1, ends] as const),
  );
  test.each(cases)(
    "%s, %s, round %i: every secret opens, one key is left",
    async (step, phase, _round, ends) => {
      const dir = copyOfInstallation(template);
      await dieInRotation(dir, line(step, phase));
      const server = await startServer({ data_dir: dir });
      const api = await signIn(server.url);
      expect((await api.get("/security-keys")).body.encryption).toMatchObject({
        id: keyId(keysOf(dir).encryption.primary),
        rotation_refusal: null,
        rotation_refusal_data: null,
      });
      await server.kill("SIGTERM");
      await assertWhole(dir, ends);
      // The backup, once there is one, has the key before and everything under it.
      const [backup] = existsSync(join(dir, "backups")) ? readdirSync(join(dir, "backups")) : [];
      if (backup !== undefined && !backup.endsWith(".tmp")) {
        expect(keysOf(join(dir, "backups", backup)).encryption).toEqual({ primary: oldKey });
      }
      rmSync(dir, { recursive: true, force: true });
    },
    120_000,
  );

  test.each(resumed.map(([step, phase]) => [step, phase] as const))(
    "%s, %s, in the start that does the rest: the next one ends it",
    async (step, phase) => {
      const dir = copyOfInstallation(template);
      await dieInRotation(dir, line("transaction", "before"));
      const env = { LOG_LEVEL: "debug", DIE_AT_LINE: line(step, phase) };
      await expect(startServer({ data_dir: dir, command, env })).rejects.toThrow("The server ended with");
      const server = await startServer({ data_dir: dir });
      await server.kill("SIGTERM");
      await assertWhole(dir, "new");
      rmSync(dir, { recursive: true, force: true });
    },
    120_000,
  );

  test("a start that finds a corrupt secret names it, and leaves everything else under one key", async () => {
    const dir = copyOfInstallation(template);
    await dieInRotation(dir, line("transaction", "before"));
    const client = createClient({ url: `file:${join(dir, "tidemark.db")}` });
    await client.execute("UPDATE credentials SET sealed_secret = substr(sealed_secret, 1, 120)");
    client.close();
    const server = await startServer({ data_dir: dir });
    const told = server.lines.find((text) => text.includes("was abandoned")) ?? "";
    expect(told).toContain('table \\"credentials\\", row \\"credential-1\\", column \\"sealed_secret\\"');
    const api = await signIn(server.url);
    const again = await api.post("/security-keys/encryption/rotations", { current_password: testPassword });
    expect([again.status, again.body.error]).toMatchObject([409, { code: "corrupt_secret" }]);
    expect((await api.request("DELETE", "/credentials/credential-1")).status).toBe(204);
    expect((await api.post("/security-keys/encryption/rotations", { current_password: testPassword })).status).toBe(
      201,
    );
    await server.kill("SIGTERM");
    expect(keysOf(dir).encryption.previous).toBeUndefined();
    expect(keysOf(dir).encryption.primary).not.toBe(oldKey);
  }, 120_000);

  test("a file that KEYS_FILE names is read with its previous keys, and never written", async () => {
    const dir = copyOfInstallation(template);
    await dieInRotation(dir, line("file with both keys", "after"));
    const elsewhere = join(copyOfInstallation(template), "mounted.json");
    const text = readFileSync(join(dir, "keys.json"));
    await Bun.write(elsewhere, text);
    Bun.spawnSync(["chmod", "600", elsewhere]);
    const server = await startServer({ data_dir: dir, env: { KEYS_FILE: elsewhere } });
    expect(server.lines.join("\n")).toContain('remove "previous" from the file');
    const api = await signIn(server.url);
    expect((await api.get("/security-keys")).body.encryption).toMatchObject({
      managed_by: "KEYS_FILE",
      id: keyId(keysOf(dir).encryption.primary),
    });
    await server.kill("SIGTERM");
    expect(readFileSync(elsewhere).equals(text)).toBe(true);
    const { session, encryption } = keysOf(dir);
    await Bun.write(elsewhere, JSON.stringify({ format: 1, session, encryption: { primary: encryption.primary } }));
    Bun.spawnSync(["chmod", "600", elsewhere]);
    await Bun.write(join(dir, "keys.json"), readFileSync(elsewhere));
    const after = await startServer({ data_dir: dir, env: { KEYS_FILE: elsewhere } });
    await after.kill("SIGTERM");
    await assertWhole(dir, "new");
  }, 120_000);

  test("a session key that was changed while it was stopped ends what is listed of the former one", async () => {
    const dir = copyOfInstallation(template);
    const before = await startServer({ data_dir: dir });
    const api = await signIn(before.url);
    await before.kill("SIGTERM");
    const { encryption } = keysOf(dir);
    const session = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
    await Bun.write(join(dir, "keys.json"), JSON.stringify({ format: 1, session, encryption }));
    const server = await startServer({ data_dir: dir });
    expect((await apiClient(server.url, api.token).get("/account")).status).toBe(401);
    const now = await signIn(server.url);
    const { items } = (await now.get("/audit-entries?event=session_key_rotated")).body as { items: unknown[] };
    expect(items).toMatchObject([{ actor: "system", detail: { found_at: "start" } }]);
    await server.kill("SIGTERM");
  }, 120_000);
});
