import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createClient } from "@libsql/client";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { type Sqld, sqldMissing, startSqld } from "../peers/sqld.ts";
import { peerSuite } from "../support/peer.ts";
import { apiClient, type RunningServer, startServer } from "../support/server.ts";

peerSuite("several processes on one empty libSQL server", sqldMissing(), () => {
  let sqld: Sqld;
  let servers: RunningServer[] = [];
  beforeEach(async () => {
    sqld = await startSqld();
  }, 60_000);
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.kill("SIGKILL")));
    servers = [];
    await sqld.stop();
  }, 60_000);

  const keys = () => ({
    SESSION_KEY: randomBytes(32).toString("base64url"),
    ENCRYPTION_KEY: generateFernetKey(),
  });
  const start = async (env: Record<string, string>) => {
    const server = await startServer({ env: { DATABASE_URL: sqld.url, ...env } });
    servers.push(server);
    return server;
  };
  const count = async (table: string) => {
    const client = createClient({ url: sqld.url });
    try {
      return Number((await client.execute(`select count(*) from ${table}`)).rows[0]?.[0]);
    } finally {
      client.close();
    }
  };

  test.each([1, 2, 3])(
    "that start at once make one administrator and tell one password, round %i",
    async () => {
      const env = keys();
      const started = await Promise.all([start(env), start(env), start(env)]);
      const passwords = started.flatMap((server) => server.bootstrapPassword() ?? []);
      expect(passwords).toHaveLength(1);
      expect([await count("administrators"), await count("migrations")]).toEqual([1, expect.any(Number)]);
      for (const { url } of started) {
        const answer = await apiClient(url).post("/session", { username: "admin", password: passwords[0] });
        expect(answer.status).toBe(201);
      }
    },
    180_000,
  );

  describe("with another key than the first", () => {
    test("of the session: both name it, once", async () => {
      const env = keys();
      const first = await start(env);
      const second = await start({ ...env, SESSION_KEY: keys().SESSION_KEY });
      const said = "Another process on this database uses a different session key";
      for (const server of [second, first]) {
        await server.waitForLine(said);
        expect(server.lines.filter((line) => line.includes(said))).toHaveLength(1);
      }
      const third = await start(env);
      await third.waitForLine(said);
    }, 180_000);

    test("of encryption: of all that start at once, one key's are let in, and the others are told", async () => {
      const env = keys();
      const attempts = await Promise.allSettled([start(env), start({ ...env, ENCRYPTION_KEY: generateFernetKey() })]);
      expect(attempts.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const refused = attempts.flatMap((attempt) => (attempt.status === "rejected" ? [String(attempt.reason)] : []));
      expect(refused[0]).toContain("The database is encrypted with the key");
    }, 180_000);
  });
});
