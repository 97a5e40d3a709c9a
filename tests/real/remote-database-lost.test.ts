import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { type Sqld, sqldMissing, startSqld } from "../peers/sqld.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, firstSignIn, type RunningServer, startServer } from "../support/server.ts";

peerSuite("a remote libSQL server that is lost while the service runs", sqldMissing(), () => {
  let sqld: Sqld;
  let server: RunningServer;
  let api: ApiClient;

  const credential = (name: string) => ({ kind: "oci", name, secret: { username: "ci", password: "reg-pass" } });
  const refused = (says: string) => ({
    status: 503,
    body: { error: { code: "database_unreachable", message: expect.stringContaining(says) } },
  });

  beforeAll(async () => {
    sqld = await startSqld();
    server = await startServer({
      env: {
        DATABASE_URL: sqld.url,
        SESSION_KEY: randomBytes(32).toString("base64url"),
        ENCRYPTION_KEY: generateFernetKey(),
      },
    });
    api = await firstSignIn(server);
  }, 120_000);
  afterAll(async () => {
    await server?.kill("SIGKILL");
    await sqld?.stop();
  });

  test("frozen: every request is told so after one deadline, and all goes on once it answers", async () => {
    process.kill(sqld.pid, "SIGSTOP");
    try {
      const answers = await Promise.all([
        ...Array.from({ length: 60 }, () => api.get("/credentials")),
        ...Array.from({ length: 20 }, (_, index) => api.post("/credentials", credential(`lost-${index}`))),
      ]);
      for (const answer of answers) expect(answer).toMatchObject(refused("did not respond within 10 s"));
      expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
      expect((await fetch(`${server.url}/health/ready`)).status).toBe(503);
    } finally {
      process.kill(sqld.pid, "SIGCONT");
    }
    await eventually("a write to succeed", async () => {
      return (await api.post("/credentials", credential(`back-${randomBytes(4).toString("hex")}`))).status === 201;
    });
  }, 120_000);

  test("gone: every request is told so at once, on a page in its language too", async () => {
    await sqld.stop();
    expect(await api.get("/credentials")).toMatchObject(refused("refused the connection"));
    expect(await api.post("/credentials", credential("gone"))).toMatchObject(refused("refused the connection"));
    expect(await api.post("/session", { username: "admin", password: "x" })).toMatchObject(
      refused("refused the connection"),
    );
    const page = await fetch(`${server.url}/login`, {
      method: "POST",
      headers: { "accept-language": "zh", "content-type": "application/x-www-form-urlencoded", origin: server.url },
      body: "username=admin&password=x",
    });
    const text = await page.text();
    expect([page.status, text]).toEqual([503, expect.stringContaining("拒绝连接")]);
  }, 60_000);
});
