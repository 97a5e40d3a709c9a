import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peerSuite } from "../support/peer.ts";
import {
  type ApiClient,
  apiClient,
  firstSignIn,
  type RunningServer,
  startServer,
  testPassword,
} from "../support/server.ts";

/** A file system of 3 MB at a fresh folder, or null where this process may not mount one. */
function mountSmallDisk(): string | null {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-disk-"));
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=3m,mode=700", "tmpfs", dir]);
  if (mounted.exitCode === 0) return dir;
  rmSync(dir, { recursive: true });
  return null;
}

const disk = mountSmallDisk();
const missing = disk === null ? "this process may not mount a tmpfs" : null;

peerSuite("a full disk", missing, () => {
  const dir = disk ?? "";
  const filler = join(dir, "filler");
  let server: RunningServer;
  let api: ApiClient;

  const fillDisk = () => expect(() => writeFileSync(filler, Buffer.alloc(8_000_000))).toThrow("ENOSPC");
  const freeDisk = () => rmSync(filler);
  const secret = { username: "someone", password: "x".repeat(2_000) };
  const store = async (name: string) => await api.post("/credentials", { kind: "oci", name, secret });
  /** Small writes may still find room in blocks that are there: until one does not. */
  const storeUntilRefused = async (prefix: string) => {
    for (let index = 0; index < 200; index += 1) {
      const answer = await store(`${prefix}-${index}`);
      if (answer.status !== 201) return answer;
    }
    throw new Error("The disk is not full");
  };

  beforeAll(async () => {
    server = await startServer({ data_dir: dir });
    api = await firstSignIn(server);
    await store("before");
  });
  afterAll(async () => {
    await server.kill("SIGKILL");
    Bun.spawnSync(["umount", dir]);
    rmSync(dir, { recursive: true, force: true });
  });

  test("refuses writes with 507, goes on reading, and writes again once there is room", async () => {
    fillDisk();
    expect(await storeUntilRefused("full")).toMatchObject({
      status: 507,
      body: { error: { code: "insufficient_storage" } },
    });
    const together = await Promise.all(Array.from({ length: 30 }, (_, index) => store(`together-${index}`)));
    expect(new Set(together.map(({ status }) => status))).toEqual(new Set([507]));
    expect((await api.get("/credentials?limit=1")).body.items).toMatchObject([{ name: "before" }]);
    for (const path of ["/login", "/health/live", "/health/ready"]) {
      expect((await fetch(server.url + path)).status).toBe(200);
    }
    freeDisk();
    expect((await store("after")).status).toBe(201);
  });

  test("lets the administrator in, and stores the sign-in with its audit entry once there is room", async () => {
    fillDisk();
    await storeUntilRefused("sign-in");
    const credentials = { username: "admin", password: testPassword };
    const signedIn = await apiClient(server.url).post("/session", credentials);
    expect(signedIn.status).toBe(201);
    const inside = apiClient(server.url, String(signedIn.body.token));
    expect((await inside.get("/credentials?limit=1")).status).toBe(200);
    expect(await apiClient(server.url).post("/session", { ...credentials, password: "wrong" })).toMatchObject({
      status: 401,
    });
    const form = await fetch(`${server.url}/login`, {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/x-www-form-urlencoded", origin: server.url },
      body: new URLSearchParams(credentials),
    });
    expect(form.status).toBe(303);
    freeDisk();
    const { items } = (await inside.get("/sessions")).body as { items: { is_current: boolean }[] };
    expect(items.filter((item) => item.is_current)).toHaveLength(1);
    const written = (await inside.get("/audit-entries?event=login&limit=1")).body;
    expect(written.items).toMatchObject([{ outcome: "ok", detail: { begun_at: expect.any(String) } }]);
  });

  test("starts again after kill -9, with what was there to read", async () => {
    fillDisk();
    await storeUntilRefused("again");
    for (const _ of [1, 2]) {
      await server.kill("SIGKILL");
      server = await startServer({ data_dir: dir });
      api = apiClient(server.url, api.token);
      expect((await api.get("/credentials?limit=1")).status).toBe(200);
      expect((await store("while full")).status).toBe(507);
    }
    freeDisk();
    expect((await store("in the end")).status).toBe(201);
    expect((await apiClient(server.url).post("/session", { username: "admin", password: testPassword })).status).toBe(
      201,
    );
  });

  test("ends in an orderly way, and says what to do when there is no room to start", async () => {
    fillDisk();
    expect(await server.kill("SIGTERM")).toBe(0);
    // What the end gave back is taken as well.
    rmSync(filler);
    fillDisk();
    const outcome = await startServer({ data_dir: dir }).catch((error: unknown) => String(error));
    if (typeof outcome === "string") expect(outcome).toContain("free space and start again");
    else await outcome.kill("SIGTERM");
    freeDisk();
    server = await startServer({ data_dir: dir });
    api = apiClient(server.url, api.token);
    expect((await store("at last")).status).toBe(201);
  });
});
