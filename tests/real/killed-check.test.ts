import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { type Client, createClient } from "@libsql/client";
import { leaseMs } from "../../src/held-lease.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { type Sqld, sqldMissing, startSqld } from "../peers/sqld.ts";
import { eventually } from "../support/eventually.ts";
import { type HttpLoopback, httpLoopback } from "../support/loopback.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, apiClient, firstSignIn, type RunningServer, startServer } from "../support/server.ts";

peerSuite("a process that is killed during a check, on a libSQL server", sqldMissing(), () => {
  let sqld: Sqld;
  let database: Client;
  let registry: HttpLoopback;
  let servers: RunningServer[] = [];
  let api: ApiClient;
  let answers = false;
  let asked = 0;
  const keys = { SESSION_KEY: randomBytes(32).toString("base64url"), ENCRYPTION_KEY: generateFernetKey() };

  const start = async () => {
    const server = await startServer({ env: { DATABASE_URL: sqld.url, ...keys } });
    servers = [...servers, server];
    return server;
  };
  const leaseUntil = async () =>
    Number((await database.execute("select lease_until from tracker_sources")).rows[0]?.[0] ?? 0);
  const serverTime = async () =>
    Number((await database.execute("select cast(unixepoch('subsec') * 1000 as integer)")).rows[0]?.[0]);

  beforeAll(async () => {
    sqld = await startSqld();
    database = createClient({ url: sqld.url });
    registry = await httpLoopback((request, response) => {
      if (!request.path.includes("/tags/list")) return void response.writeHead(404).end();
      asked += 1;
      // The first check waits for an answer that never comes.
      if (!answers) return;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ name: "acme/web", tags: ["1.0.0"] }));
    });
  }, 120_000);
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill("SIGKILL")));
    await registry?.[Symbol.asyncDispose]();
    database?.close();
    await sqld?.stop();
  });

  test("leaves its source to another as soon as its lease runs out, and not before", async () => {
    const first = await start();
    api = await firstSignIn(first);
    const config = { image: "acme/web", registry: `http://127.0.0.1:${registry.port}` };
    const sources = [{ key: "main", kind: "oci", config, channels: [{ type: "stable" }] }];
    // A patient tracker: its deadline does not end the check before it is killed.
    const created = await api.post("/trackers", { name: "web", request_timeout_seconds: 120, sources });
    expect([created.status, created.body.error]).toEqual([201, undefined]);
    await eventually("the registry to be asked", () => asked === 1);
    const begun = await leaseUntil();
    const second = await start();
    await eventually("the lease to be renewed", async () => (await leaseUntil()) > begun);
    expect(asked).toBe(1);
    await first.kill("SIGKILL");
    expect((await leaseUntil()) - (await serverTime())).toBeLessThanOrEqual(leaseMs);
    answers = true;
    await eventually("the other process to check the source", async () => {
      const { items } = (await apiClient(second.url, api.token).get("/trackers/web/releases")).body as {
        items: readonly { tag: string }[];
      };
      return items.some((release) => release.tag === "1.0.0");
    });
    expect(asked).toBe(2);
  }, 180_000);
});
