import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "../peers/authority.ts";
import { engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { clusterMissing, startCluster } from "../peers/kubernetes.ts";
import { type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { eventually } from "../support/eventually.ts";
import { pushImage } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import {
  type ApiClient,
  apiClient,
  firstSignIn,
  type RunningServer,
  startServer,
  testPassword,
} from "../support/server.ts";

const deno = Bun.which("deno");
const missing =
  deno === null
    ? "deno is not installed (npm package deno)"
    : (registryMissing() ?? engineMissing() ?? clusterMissing());

const root = join(import.meta.dir, "../..");
const denoRun = (file: string) => [deno ?? "", "run", "-A", "--no-prompt", file];

// The same source on another runtime: sign-in, a check against a real registry, a page, keys and backups.
peerSuite("on Deno", missing, () => {
  let registry: Registry;
  let engine: TestEngine;
  let server: RunningServer;
  let api: ApiClient;
  const folder = mkdtempSync(join(tmpdir(), "tidemark-deno-"));

  const command = async (name: "backup" | "restore", path: string) => {
    const child = Bun.spawn([...denoRun(`src/commands/${name}.ts`), path], {
      cwd: root,
      env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", DATA_DIR: server.data_dir },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, stdout, stderr };
  };

  beforeAll(async () => {
    registry = await startRegistry({ auth: "basic" });
    engine = await startEngine();
    server = await startServer({ command: denoRun("src/main.ts") });
  }, 180_000);
  afterAll(async () => {
    await server.kill("SIGTERM");
    await registry.stop();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
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

  test("a cluster's certificate is verified by the CA of its credential, and by no other", async () => {
    await using cluster = await startCluster();
    const other = createAuthority(folder);
    const config = { server: cluster.url, helm: false };
    const created = await api.post("/runtime-connections", { name: "cluster", kind: "kubernetes", config });
    const checkedBy = async (name: string, ca_certificate: string) => {
      const secret = { token: cluster.admin.token, ca_certificate };
      const credential = await api.post("/credentials", { name, kind: "kubernetes", secret });
      const path = `/runtime-connections/${created.body.id}`;
      await api.request("PATCH", path, { credential_id: credential.body.id });
      return (await api.post(`${path}/checks`)).body;
    };
    expect(await checkedBy("right", cluster.ca)).toMatchObject({ ok: true, identity: "admin-token" });
    expect(await checkedBy("wrong", other.ca)).toMatchObject({
      ok: false,
      code: "unreachable",
      message_data: { code: "kubernetes.certificate_untrusted" },
    });
  }, 120_000);

  test("a page is drawn", async () => {
    const page = await fetch(`${server.url}/login`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("<!doctype html>");
  });

  test("the encryption key is rotated, with a backup before", async () => {
    const rotated = await api.post("/security-keys/encryption/rotations", { current_password: testPassword });
    expect([rotated.status, rotated.body]).toEqual([201, expect.objectContaining({ reencrypted_values: 3 })]);
    const backups = (await api.get("/backups")).body.items as { kind: string }[];
    expect(backups.map(({ kind }) => kind)).toEqual(["before-key-rotation"]);
  }, 60_000);

  test("a backup is made while it runs", async () => {
    expect(await command("backup", join(folder, "copy"))).toMatchObject({ code: 0 });
    expect(readdirSync(join(folder, "copy")).sort()).toEqual(["keys.json", "manifest.json", "tidemark.db"]);
  }, 60_000);

  test("SIGTERM ends it with exit code 0", async () => {
    expect(await server.kill("SIGTERM")).toBe(0);
  }, 60_000);

  test("the backup is restored, and starts with what it had", async () => {
    expect(await command("restore", join(folder, "copy"))).toMatchObject({ code: 0 });
    server = await startServer({ command: denoRun("src/main.ts"), data_dir: server.data_dir });
    const again = apiClient(server.url);
    const signedIn = await again.post("/session", { username: "admin", password: testPassword });
    again.token = String(signedIn.body.token);
    expect((await again.get("/trackers/app")).body).toMatchObject({ name: "app" });
    const credentials = (await again.get("/credentials")).body.items as { name: string }[];
    expect(credentials.map(({ name }) => name).toSorted()).toEqual(["registry", "right", "wrong"]);
  }, 120_000);
});
