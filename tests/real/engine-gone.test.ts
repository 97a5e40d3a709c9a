import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EngineProxy, startEngineProxy } from "../support/engine-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, firstSignIn, testPassword } from "../support/server.ts";
import { type Story, startStory, storyMissing } from "../support/story.ts";

const limit = 240_000;
const names = ["web", "web-2", "web-3"] as const;
const upToDate = "Up to date";

interface Truth {
  reach: string;
  states: readonly string[];
  connection: string;
  list: string;
  overview: string;
}

/** What every surface says of one engine at the moment. */
async function ask(api: ApiClient, url: string, cookie: string, connection: string): Promise<Truth> {
  const page = async (path: string) => (await fetch(`${url}${path}`, { headers: { cookie } })).text();
  const { body } = await api.get(`/runtime-connections/${connection}`);
  const items = (await api.get("/executors")).body.items as { state: string }[];
  return {
    reach: (body.reach as { state: string }).state,
    states: items.map(({ state }) => state),
    connection: await page(`/connections/${connection}`),
    list: await page("/executors"),
    overview: await page("/"),
  };
}

peerSuite("an engine that dies and returns", storyMissing(), () => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-gone-"));
  let world: Story;
  let proxy: EngineProxy;
  let api: ApiClient;
  let cookie = "";
  let connection = "";
  const truth = () => ask(api, world.server.url, cookie, connection);
  /** The number of the API and, which must be the same, that of the badge, which the icon of the tab shows too. */
  const needs = async () => {
    const { counts } = (await api.get("/stats")).body as { counts: { needs: number } };
    expect(Number(/class="count">(\d+)/.exec((await truth()).list)?.[1] ?? 0)).toBe(counts.needs);
    return counts.needs;
  };

  beforeAll(async () => {
    world = await startStory();
    proxy = await startEngineProxy(world.engine.socket, join(folder, "engine.sock"));
    api = await firstSignIn(world.server);
    const image = `${world.registry.host}/${world.repository}:1.0.0`;
    for (const name of names.slice(1)) {
      await world.engine.call("POST", `/containers/create?name=${name}`, { Image: image });
      await world.engine.call("POST", `/containers/${name}/start`);
    }
    const login = { name: "registry", kind: "oci", secret: { username: "ci", password: "reg-pass" } };
    const credential = (await api.post("/credentials", login)).body.id;
    const config = { address: `unix://${proxy.socket}` };
    connection = String((await api.post("/runtime-connections", { name: "lab", kind: "docker", config })).body.id);
    const sources = [
      {
        ...{ key: "registry", kind: "oci", credential_id: credential },
        config: { image: world.repository, registry: world.registry.url },
        channels: [{ type: "stable" }],
      },
    ];
    expect((await api.post("/trackers", { name: "web", sources })).status).toBe(201);
    for (const name of names) {
      const created = await api.post("/executors", {
        ...{ name, connection_id: connection, target: { kind: "container", id: name }, trigger: "manual" },
        bindings: [{ tracker: "web", source: "registry", channel: "stable" }],
      });
      expect(created.status).toBe(201);
    }
    const form = new URLSearchParams({ username: "admin", password: testPassword });
    const headers = { origin: world.server.url };
    const signedIn = await fetch(`${world.server.url}/login`, {
      method: "POST",
      body: form,
      headers,
      redirect: "manual",
    });
    cookie = signedIn.headers
      .getSetCookie()
      .map((each) => each.split(";")[0])
      .join("; ");
    await eventually("all to be current", async () => (await truth()).states.every((state) => state === "current"));
  }, limit);
  afterAll(async () => {
    await proxy?.stop();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, limit);

  test(
    "is looked at by one small request for all its executors",
    async () => {
      const seenAt = async () => {
        const { body } = await api.get(`/runtime-connections/${connection}`);
        return (body.reach as { seen_at: string }).seen_at;
      };
      const first = await seenAt();
      await eventually("a look", async () => (await seenAt()) !== first);
      const before = proxy.calls().length;
      const from = await seenAt();
      await eventually("the next look", async () => (await seenAt()) !== from);
      expect(proxy.calls().slice(before)).toEqual(["GET /version"]);
    },
    limit,
  );

  test(
    "everything that shows it agrees that it is gone, and that it is back",
    async () => {
      const alive = await truth();
      expect(alive.reach).toBe("reachable");
      expect(alive.connection).toContain("Connected");
      expect(alive.list).toContain(upToDate);
      expect(await needs()).toBe(0);

      await world.engine.kill();
      const gone = await eventually("the API to call it unreachable", async () => {
        const now = await truth();
        return now.reach === "unreachable" ? now : null;
      });
      expect(gone.states).toEqual(["unknown", "unknown", "unknown"]);
      expect(gone.connection).toContain("Unreachable");
      expect(gone.connection).not.toContain("Connected");
      expect(gone.overview).toContain(`need-${connection}`);
      expect(await needs()).toBe(1);
      const [row] = (await api.get("/executors")).body.items as Record<string, unknown>[];
      expect(row).toMatchObject({ observed_at: expect.any(String), problem: { code: "unreachable" } });
      expect(JSON.stringify(row?.services)).not.toContain('"difference":"current"');
      // Neither a row nor the count of a filter.
      expect(gone.list).not.toContain(upToDate);

      await world.engine.restart();
      const back = await eventually("everything to be current again", async () => {
        const now = await truth();
        // It may come back between one question and the next.
        return now.reach === "reachable" && now.states.every((state) => state === "current") ? now : null;
      });
      expect(back.connection).toContain("Connected");
      expect(back.connection).not.toContain("Unreachable");
      expect(back.overview).not.toContain(`need-${connection}`);
      expect(await needs()).toBe(0);
    },
    limit,
  );
});
