import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { randomFrom } from "./support/random.ts";
import { type ApiClient, apiClient, firstSignIn, startServer, temporaryDir, testPassword } from "./support/server.ts";

/** More of them find rarer moments. */
const rounds = Number(process.env.TIDEMARK_STOP_ROUNDS ?? "3");
const random = randomFrom(13);

const dataDir = temporaryDir();
let token: string | null = null;
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

interface Running {
  api: ApiClient;
  stop: () => Promise<number>;
  lines: readonly string[];
}

async function started(): Promise<Running> {
  const server = await startServer({ data_dir: dataDir });
  const isHeld = token !== null && (await apiClient(server.url, token).get("/session")).status === 200;
  if (!isHeld)
    token = server.bootstrapPassword() === null ? await signIn(server.url) : (await firstSignIn(server)).token;
  return { api: apiClient(server.url, token), stop: () => server.kill("SIGTERM"), lines: server.lines };
}

async function signIn(url: string): Promise<string> {
  const { body } = await apiClient(url).post("/session", { username: "admin", password: testPassword });
  return String(body.token);
}

/** What the answer said: done, refused, or nothing because the connection was closed. */
type Outcome = "done" | "refused" | "closed";

async function outcomeOf(asked: Promise<{ status: number; headers: Headers }>): Promise<Outcome> {
  const answer = await asked.catch(() => null);
  if (answer === null) return "closed";
  if (answer.status === 201) return "done";
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  return "refused";
}

function idsOf(query: string): string[] {
  const database = new Database(join(dataDir, "tidemark.db"), { readonly: true });
  try {
    return database
      .query<{ id: string }, []>(query)
      .all()
      .map(({ id }) => id);
  } finally {
    // Nothing of it may be left open when the next server starts.
    database.close(true);
  }
}

const backups = join(dataDir, "backups");
/** There is an end to how many are kept. */
const withoutBackups = () => rmSync(backups, { recursive: true, force: true });
const countBackups = () => (existsSync(backups) ? readdirSync(backups).length : 0);

const soon = (most: number) => new Promise((resolve) => setTimeout(resolve, random(most)));

describe("whoever asked before SIGTERM is told the truth", () => {
  test.each(Array.from({ length: rounds }, (_, round) => round))(
    "30 creates at once, round %i: 201 is stored, everything else is not",
    async (round) => {
      const { api, stop, lines } = await started();
      const names = Array.from({ length: 30 }, (_, index) => `round-${round}-${index}`);
      const asked = names.map((name) =>
        outcomeOf(api.post("/credentials", { name, kind: "github", secret: { token: "ghp_example" } })),
      );
      await soon(40);
      expect(await stop()).toBe(0);
      const outcomes = await Promise.all(asked);
      // To be refused at the end is no failure.
      expect(lines.filter((line) => line.includes(" ERROR "))).toEqual([]);
      const stored = idsOf(`select name as id from credentials where name like 'round-${round}-%'`);
      expect(names.filter((_, index) => outcomes[index] === "done").toSorted()).toEqual(stored.toSorted());
    },
    120_000,
  );

  test.each(Array.from({ length: rounds }, (_, round) => round))(
    "a backup, round %i: it is there when it was said to be",
    async () => {
      const { api, stop } = await started();
      withoutBackups();
      const entries = "select id from audit_entries where event = 'backup_created'";
      const before = idsOf(entries);
      const asked = outcomeOf(api.post("/backups", { with_keys: false }));
      await soon(300);
      expect(await stop()).toBe(0);
      const made = (await asked) === "done" ? 1 : 0;
      expect([countBackups(), idsOf(entries).length - before.length]).toEqual([made, made]);
    },
    120_000,
  );

  test.each(
    (["session", "encryption"] as const).flatMap((key) =>
      Array.from({ length: rounds }, (_, round) => [key, round] as const),
    ),
  )(
    "a new %s key, round %i: it is in force when it was said to be",
    async (key) => {
      withoutBackups();
      const { api, stop } = await started();
      const entries = `select id from audit_entries where event = '${key}_key_rotated' and outcome = 'ok'`;
      const before = idsOf(entries);
      const asked = outcomeOf(api.post(`/security-keys/${key}/rotations`, { current_password: testPassword }));
      await soon(600);
      expect(await stop()).toBe(0);
      const rotated = idsOf(entries).length - before.length;
      expect(rotated).toBe((await asked) === "done" ? 1 : 0);
    },
    120_000,
  );
});
