import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { account, type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { eventually } from "../support/eventually.ts";
import { pushImage, runnableImageMissing } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, apiClient, firstSignIn, type RunningServer, startServer } from "../support/server.ts";
import { startReceiver, type WebhookReceiver } from "../support/story.ts";

const missing = engineMissing() ?? registryMissing() ?? runnableImageMissing();

peerSuite("an engine, a registry and a credential that stop working", missing, () => {
  let engine: TestEngine;
  let closed: Registry;
  let open: Registry;
  let receiver: WebhookReceiver;
  let server: RunningServer;
  let api: ApiClient;
  const since = String(Date.now());
  const start = async (data_dir?: string) =>
    await startServer({
      ...(data_dir === undefined ? {} : { data_dir }),
      env: { OUTBOUND_ALLOW: receiver.host, TIMES_FASTER: "20", FAST_SINCE: since },
      command: [
        process.execPath,
        "--preload",
        join(import.meta.dir, "../support/fast-clock-preload.ts"),
        "src/main.ts",
      ],
    });
  /** Each delivery once: one that seems lost to a kill or a busy machine is sent again with its ID. */
  const told = () => {
    const events = receiver.received.map(
      ({ headers, body }) => [headers.get("x-tidemark-delivery"), body.event] as const,
    );
    return [...new Map(events).values()].map(String).toSorted();
  };

  beforeAll(async () => {
    [engine, closed, open] = await Promise.all([startEngine(), startRegistry({ auth: "basic" }), startRegistry()]);
    receiver = startReceiver();
    for (const registry of [closed, open]) {
      await pushImage(registry.url, registry.auth, "acme/web", "1.0.0", { version: "1.0.0", cmd: ["/bin/true"] });
    }
    server = await start();
  }, 300_000);
  afterAll(async () => {
    await server?.kill("SIGKILL");
    await receiver?.stop();
    await Promise.all([engine?.stop(), closed?.stop(), open?.stop()]);
  }, 60_000);

  test("send one message each, over a kill of the process, and one when they work again", async () => {
    api = await firstSignIn(server);
    await api.ok("POST", "/notifiers", {
      ...{ name: "hook", url: receiver.url, language: "en" },
      trigger_events: ["connection_lost", "upstream_unreachable", "credential_refused"],
    });
    const secret = { ...account };
    const credential = String((await api.ok("POST", "/credentials", { name: "ci", kind: "oci", secret })).id);
    const track = async (name: string, registry: Registry, credential_id: string | null) => {
      const config = { image: "acme/web", registry: registry.url };
      const sources = [{ key: "image", kind: "oci", config, credential_id, channels: [{ type: "stable" }] }];
      await api.ok("POST", "/trackers", { name, sources });
      await eventually(`${name} to be checked`, async () => (await api.ok("GET", `/trackers/${name}`)).state === "ok");
    };
    await track("one", closed, credential);
    await track("two", closed, credential);
    await track("three", open, null);
    const config = { address: engine.address };
    const { id } = await api.ok("POST", "/runtime-connections", { name: "nas", kind: "docker", config });
    const isReached = async (state: string) => {
      const { reach } = await api.ok("GET", `/runtime-connections/${id}`);
      return (reach as { state: string }).state === state;
    };
    await eventually("the engine to respond", () => isReached("reachable"));

    await Promise.all([engine.kill(), open.stop()]);
    await api.ok("PATCH", `/credentials/${credential}`, { secret: { password: "no longer right" } });
    for (const name of ["one", "two", "three"]) await api.ok("POST", `/trackers/${name}/checks`);
    await eventually("the engine to be lost", () => isReached("unreachable"));
    await eventually("every check to fail", async () => {
      const { sources } = await api.ok("GET", "/stats");
      const { failing, waiting } = sources as { failing: number; waiting: number };
      return failing + waiting === 3;
    });
    expect(await server.kill("SIGKILL")).not.toBe(0);
    expect(told()).toEqual([]);
    server = await start(server.data_dir);
    api = apiClient(server.url, api.token);
    await eventually("the outages to be notified", () => told().length >= 3);
    expect(told()).toEqual(["connection_lost", "credential_refused", "upstream_unreachable"]);
    const { counts } = await api.ok("GET", "/stats");
    expect(counts).toMatchObject({ lost: 1, upstream_outages: 1, refused_credentials: 1 });
    const stats = (await api.ok("GET", "/stats")) as Record<string, { since: string }[]>;
    const sinces = [stats.lost_connections, stats.upstream_outages, stats.refused_credentials].map(
      (rows) => rows?.[0]?.since,
    );
    const events = ["connection_lost", "upstream_unreachable", "credential_refused"];
    expect(events.map((event) => receiver.of(event)[0]?.body.since)).toEqual(sinces);

    await server.kill("SIGKILL");
    server = await start(server.data_dir);
    api = apiClient(server.url, api.token);
    await engine.restart();
    await api.ok("PATCH", `/credentials/${credential}`, { secret: { password: account.password } });
    await eventually("two of them to work again", () => told().length >= 5);
    await api.ok("DELETE", "/trackers/three");
    expect(told()).toEqual([
      "connection_lost",
      "connection_recovered",
      "credential_recovered",
      "credential_refused",
      "upstream_unreachable",
    ]);
  }, 400_000);
});
