import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type EngineProxy, startEngineProxy } from "../support/engine-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, apiClient, firstSignIn } from "../support/server.ts";
import { type Story, startStory, storyMissing } from "../support/story.ts";

/** How often each point is taken; the figures of docs/reliability.md are from 5. */
const rounds = Number(process.env.TIDEMARK_CRASH_ROUNDS ?? "1");

/** Every call that changes something, in the order of an update; the pauses between them are the steps of the journal. */
const points = [
  ["pull", /^POST \/images\/create$/],
  ["create", /^POST \/containers\/create$/],
  ["stop", /^POST \/containers\/[^/]+\/stop$/],
  ["rename_old", /^POST \/containers\/[^/]+\/rename$/],
  ["rename_new", /^POST \/containers\/[^/]+\/rename$/],
  ["start", /^POST \/containers\/[^/]+\/start$/],
  ["remove_old", /^DELETE \/containers\/[^/]+$/],
] as const;

const healthy = { healthcheck: { Test: ["CMD", "/bin/true"], Interval: 5e8, Timeout: 2e9, Retries: 3 } } as const;

peerSuite("the server killed in the middle of a run", storyMissing(), () => {
  let world: Story;
  let proxy: EngineProxy;
  let api: ApiClient;
  let executor = "";
  let minor = 0;

  beforeAll(async () => {
    world = await startStory();
    proxy = await startEngineProxy(world.engine.socket, join(world.server.data_dir, "proxy.sock"));
    api = await firstSignIn(world.server);
    const credential = await api.post("/credentials", {
      name: "registry",
      kind: "oci",
      secret: { username: "ci", password: "reg-pass" },
    });
    const connection = await api.post("/runtime-connections", {
      name: "lab",
      kind: "docker",
      config: { address: `unix://${proxy.socket}` },
    });
    await api.post("/trackers", {
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
    const created = await api.post("/executors", {
      name: "web",
      connection_id: connection.body.id,
      target: { kind: "container", id: "web" },
      bindings: [{ tracker: "web", source: "registry", channel: "stable" }],
      trigger: "manual",
      health_check: { strategy: "native", initial_delay_seconds: 0, probe_interval_seconds: 1 },
    });
    expect(created.status).toBe(201);
    executor = String(created.body.id);
  }, 180_000);
  afterAll(async () => {
    await proxy.stop();
    await world.stop();
  }, 120_000);

  /** Pushes the next version, starts its run, and kills the server at the point; returns the run's id. */
  const killAt = async (pattern: RegExp, nth: number, when: "before" | "after"): Promise<string> => {
    minor += 1;
    const tag = `2.${minor}.0`;
    await world.push(tag, healthy);
    await api.post("/trackers/web/checks");
    await eventually(`${tag} to be known`, async () => {
      const { items } = (await api.get("/trackers/web/releases")).body as { items: { tag: string }[] };
      return items.some((release) => release.tag === tag);
    });
    let seen = 0;
    const killed = new Promise<void>((resolve) => {
      proxy.around(async (label, phase) => {
        if (phase !== when || !pattern.test(label)) return;
        seen += 1;
        if (seen !== nth) return;
        proxy.around(null);
        await world.server.kill("SIGKILL");
        resolve();
      });
    });
    const run = await api.post(`/executors/${executor}/runs`, {});
    expect(run.status).toBe(202);
    await killed;
    return String(run.body.id);
  };

  const cases = points.flatMap(([step, pattern]) => {
    const nth = step === "rename_new" ? 2 : 1;
    return (["before", "after"] as const).flatMap((when) =>
      Array.from({ length: rounds }, (_, round) => [when, step, round + 1, pattern, nth] as const),
    );
  });

  test.each(cases)(
    "%s %s, round %i: one container runs, one end, one event, nothing left over",
    async (when, _step, _round, pattern, nth) => {
      const id = await killAt(pattern, nth, when);
      const server = await world.restartServer();
      api = apiClient(server.url, api.token);
      const run = await eventually("the run to end", async () => {
        const { body } = await api.get(`/runs/${id}`);
        return body.ended_at === null || body.ended_at === undefined ? null : body;
      });
      const version = (run.to as { tag: string | null }).tag;
      expect(["succeeded", "failed"]).toContain(String(run.state));
      const containers = await eventually("leftovers to be gone", async () => {
        const found = await world.containers();
        return found.length === 1 ? found : null;
      });
      expect(containers).toMatchObject([{ name: "web", state: "running" }]);
      const served = await eventually("the container to serve", async () => await world.serves());
      expect([run.state, served === version]).toEqual([run.state, run.state === "succeeded"]);
      const inspected = (await world.engine.call("GET", "/containers/web/json")) as {
        HostConfig: { RestartPolicy: { Name: string } };
      };
      expect(inspected.HostConfig.RestartPolicy.Name).toBe("unless-stopped");
      const { items } = (await api.get("/events?limit=100")).body as { items: { run_id: string | null }[] };
      expect(items.filter((event) => event.run_id === id)).toHaveLength(1);
      const ends = (run.steps as { step: string; phase: string }[]).filter(({ step }) => step === "end");
      expect(ends.length).toBeLessThanOrEqual(1);
    },
    120_000,
  );
});
