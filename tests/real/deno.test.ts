import { afterAll, beforeAll, expect, test } from "bun:test";
import { engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { eventually } from "../support/eventually.ts";
import { pushImage } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, firstSignIn, type RunningServer, startServer } from "../support/server.ts";

const deno = Bun.which("deno");
const missing = deno === null ? "deno is not installed (npm package deno)" : (registryMissing() ?? engineMissing());

// The same source on another runtime: sign-in, a check against a real registry, and a page.
peerSuite("on Deno", missing, () => {
  let registry: Registry;
  let engine: TestEngine;
  let server: RunningServer;
  let api: ApiClient;

  beforeAll(async () => {
    registry = await startRegistry({ auth: "basic" });
    engine = await startEngine();
    server = await startServer({ command: [deno ?? "", "run", "-A", "--no-prompt", "src/main.ts"] });
  }, 180_000);
  afterAll(async () => {
    await server.kill("SIGTERM");
    await registry.stop();
    await engine.stop();
  }, 60_000);

  test("the administrator signs in and changes the password", async () => {
    api = await firstSignIn(server);
    expect((await api.get("/account")).body).toMatchObject({ username: "admin" });
  }, 60_000);

  test("a tracker's check lists a real registry", async () => {
    await pushImage(registry.url, registry.auth, "acme/app", "1.0.0", {});
    const credential = await api.post("/credentials", {
      name: "registry",
      kind: "oci",
      secret: { username: "ci", password: "reg-pass" },
    });
    const created = await api.post("/trackers", {
      name: "app",
      sources: [
        {
          key: "registry",
          kind: "oci",
          config: { image: "acme/app", registry: registry.url },
          credential_id: credential.body.id,
          channels: [{ type: "stable" }],
        },
      ],
    });
    expect(created.status).toBe(201);
    await eventually("the first check", async () => (await api.get("/trackers/app")).body.state === "ok");
    const releases = (await api.get("/trackers/app/releases")).body.items as { tag: string }[];
    expect(releases.map(({ tag }) => tag)).toEqual(["1.0.0"]);
  }, 60_000);

  test("a real engine answers", async () => {
    const connection = await api.post("/runtime-connections", {
      name: "lab",
      kind: "docker",
      config: { address: engine.address },
    });
    const checked = await api.post(`/runtime-connections/${connection.body.id}/checks`);
    expect(checked.body).toMatchObject({ ok: true, version: expect.any(String) });
  }, 60_000);

  test("a page is drawn", async () => {
    const page = await fetch(`${server.url}/login`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("<!doctype html>");
  });

  test("SIGTERM ends it with exit code 0", async () => {
    expect(await server.kill("SIGTERM")).toBe(0);
  }, 60_000);
});
