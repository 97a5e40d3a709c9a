import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { type Sqld, sqldMissing, startSqld } from "../peers/sqld.ts";
import { type EngineProxy, startEngineProxy } from "../support/engine-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, apiClient, firstSignIn, type RunningServer, startServer } from "../support/server.ts";
import { type Story, startStory, storyMissing } from "../support/story.ts";

const healthy = { healthcheck: { Test: ["CMD", "/bin/true"], Interval: 5e8, Timeout: 2e9, Retries: 3 } } as const;

peerSuite("two processes on one remote libSQL server", storyMissing() ?? sqldMissing(), () => {
  let sqld: Sqld;
  let world: Story;
  let proxy: EngineProxy;
  let second: RunningServer;
  /** The same session on both processes. */
  let a: ApiClient;
  let b: ApiClient;
  let executor = "";
  let minor = 0;
  let env: Record<string, string>;

  const both = () => [world.server, second] as const;
  const rows = async (query: string, args: (string | number)[] = []) => {
    const client = createClient({ url: sqld.url });
    try {
      return (await client.execute({ sql: query, args })).rows;
    } finally {
      client.close();
    }
  };
  const nextVersion = async () => {
    minor += 1;
    const tag = `2.${minor}.0`;
    await world.push(tag, healthy);
    return tag;
  };
  const known = (tag: string) =>
    eventually(`${tag} to be known`, async () => {
      const { items } = (await a.get("/trackers/web/releases")).body as { items: { tag: string }[] };
      return items.some((release) => release.tag === tag);
    });
  const ended = (id: string, client: ApiClient) =>
    eventually(
      "the run to end",
      async () => {
        const { body } = await client.get(`/runs/${id}`);
        return body.ended_at === null || body.ended_at === undefined ? null : body;
      },
      120_000,
    );
  const runsOf = async (tag: string) => await rows("select * from runs where to_tag = ? order by id", [tag]);

  beforeAll(async () => {
    sqld = await startSqld();
    env = {
      DATABASE_URL: sqld.url,
      SESSION_KEY: randomBytes(32).toString("base64url"),
      ENCRYPTION_KEY: generateFernetKey(),
    };
    world = await startStory({ env });
    second = await startServer({ env: { ...env, OUTBOUND_ALLOW: world.receiver.host, LOG_LEVEL: "debug" } });
    proxy = await startEngineProxy(world.engine.socket, join(world.server.data_dir, "proxy.sock"));
    a = await firstSignIn(world.server);
    b = apiClient(second.url, a.token);
    const credential = await a.post("/credentials", {
      name: "registry",
      kind: "oci",
      secret: { username: "ci", password: "reg-pass" },
    });
    const connection = await a.post("/runtime-connections", {
      name: "lab",
      kind: "docker",
      config: { address: `unix://${proxy.socket}` },
    });
    await a.post("/notifiers", {
      name: "hook",
      url: world.receiver.url,
      language: "en",
      trigger_events: ["new_release", "executor_run_succeeded", "executor_run_failed"],
    });
    await a.post("/trackers", {
      name: "web",
      sorting: "semantic",
      sources: [
        {
          key: "registry",
          kind: "oci",
          config: { image: world.repository, registry: world.registry.url },
          credential_id: credential.body.id,
          channels: [{ type: "stable" }],
        },
      ],
    });
    const created = await a.post("/executors", {
      name: "web",
      connection_id: connection.body.id,
      target: { kind: "container", id: "web" },
      bindings: [{ tracker: "web", source: "registry", channel: "stable" }],
      trigger: "immediate",
      health_check: { strategy: "native", initial_delay_seconds: 0, probe_interval_seconds: 1 },
    });
    expect(created.status).toBe(201);
    executor = String(created.body.id);
    await known("1.0.0");
  }, 240_000);
  afterAll(async () => {
    await proxy?.stop();
    await second?.kill("SIGTERM");
    await world?.stop();
    await sqld?.stop();
  }, 120_000);

  test("share what one of them is told", async () => {
    expect((await b.get(`/executors/${executor}`)).body).toMatchObject({ name: "web", trigger: "immediate" });
  });

  test("check, evaluate and run once, and tell it once", async () => {
    for (let round = 0; round < 3; round += 1) {
      const tag = await nextVersion();
      await Promise.all([a.post("/trackers/web/checks"), b.post("/trackers/web/checks")]);
      const [run] = await eventually(
        "the automatic run to succeed",
        async () => {
          const found = await runsOf(tag);
          return found.some((each) => each.state === "succeeded") ? found : null;
        },
        120_000,
      );
      await eventually("its message", async () => world.receiver.of("executor_run_succeeded").length > round);
      expect(await runsOf(tag)).toHaveLength(1);
      const events = await rows("select kind from events where run_id = ?", [String(run?.id)]);
      expect(events).toHaveLength(1);
      expect(await world.serves()).toBe(tag);
      const told = (event: string) => world.receiver.of(event).filter(({ body }) => JSON.stringify(body).includes(tag));
      expect(told("new_release")).toHaveLength(1);
      expect(told("executor_run_succeeded")).toHaveLength(1);
    }
  }, 400_000);

  test("take one click of two at the same moment", async () => {
    await a.request("PATCH", `/executors/${executor}`, { trigger: "manual" });
    const tag = await nextVersion();
    await a.post("/trackers/web/checks");
    await known(tag);
    const answers = await Promise.all([a, b, a, b].map((api) => api.post(`/executors/${executor}/runs`, {})));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409]);
    const made = answers.find(({ status }) => status === 202);
    expect(await ended(String(made?.body.id), b)).toMatchObject({ state: "succeeded" });
  }, 200_000);

  describe("one killed in the middle of a run", () => {
    test.each([
      ["after the previous container was stopped", /^POST \/containers\/[^/]+\/stop$/],
      ["after the new container was started", /^POST \/containers\/[^/]+\/start$/],
    ] as const)(
      "%s: the other brings it to one end when the lease is over",
      async (_name, pattern) => {
        const tag = await nextVersion();
        await a.post("/trackers/web/checks");
        await known(tag);
        let runId = "";
        const killed = Promise.withResolvers<RunningServer>();
        proxy.around(async (label, phase) => {
          if (phase !== "after" || !pattern.test(label)) return;
          proxy.around(null);
          // Which of the two has it is told by its log.
          const owner = both().find(({ lines }) =>
            lines.some((line) => line.includes(runId) && line.includes("changed state")),
          );
          if (owner === undefined) throw new Error("Nobody has the run");
          await owner.kill("SIGKILL");
          killed.resolve(owner);
        });
        const run = await a.post(`/executors/${executor}/runs`, {});
        runId = String(run.body.id);
        const dead = await killed.promise;
        const survivor = dead === world.server ? b : a;
        const row = await ended(runId, survivor);
        expect(["succeeded", "failed"]).toContain(String(row.state));
        const containers = await eventually("leftovers to be gone", async () => {
          const found = await world.containers();
          return found.length === 1 ? found : null;
        });
        expect(containers).toMatchObject([{ name: "web", state: "running" }]);
        const serves = await eventually("the container to serve", async () => await world.serves());
        expect(serves === tag).toBe(row.state === "succeeded");
        expect(await rows("select id from events where run_id = ?", [runId])).toHaveLength(1);
        // Back again: the next round has two.
        if (dead === world.server) {
          await world.restartServer();
          a = apiClient(world.server.url, a.token);
        } else {
          second = await startServer({ env: { ...env, OUTBOUND_ALLOW: world.receiver.host, LOG_LEVEL: "debug" } });
          b = apiClient(second.url, a.token);
        }
      },
      240_000,
    );
  });
});
