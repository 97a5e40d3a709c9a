import { expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import { fakedDatesMissing, settableClock } from "../support/faked-dates.ts";
import { peerSuite } from "../support/peer.ts";
import {
  apiClient,
  firstSignIn,
  type RunningServer,
  startServer,
  temporaryDir,
  testPassword,
} from "../support/server.ts";

const yearSeconds = 365 * 86_400;

/** An upstream with one chart, and a receiver of messages that can refuse. */
function startPeers() {
  const versions = ["1.0.0"];
  const received: string[] = [];
  let isRefusing = true;
  const served = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      if (new URL(request.url).pathname === "/index.yaml") {
        const entries = versions.map((version) => `  - version: ${version}\n    urls: [app-${version}.tgz]\n`);
        return new Response(`apiVersion: v1\nentries:\n  app:\n${entries.join("")}`);
      }
      const { version } = (await request.json()) as { version: string };
      received.push(`${isRefusing ? "refused" : "taken"} ${version}`);
      return new Response(null, { status: isRefusing ? 503 : 200 });
    },
  });
  const take = () => {
    isRefusing = false;
  };
  return { url: `http://127.0.0.1:${served.port}`, versions, received, take, stop: () => served.stop(true) };
}

peerSuite("a real process under a clock that is wrong for seconds", fakedDatesMissing(), () => {
  const steps: [string, number][] = [
    ["ten years ahead", 10 * yearSeconds],
    ["twenty years back", -20 * yearSeconds],
  ];
  const cases = steps.flatMap(([where, seconds]) =>
    ["while it runs", "between two starts"].map((when) => [where, when, seconds] as const),
  );

  test.each(cases)(
    "%s, set %s, takes nothing away and holds nothing up",
    async (_where, when, seconds) => {
      const peers = startPeers();
      const data_dir = temporaryDir();
      const clock = join(data_dir, "clock");
      const env = { ...settableClock(clock), OUTBOUND_ALLOW: new URL(peers.url).host, LOG_FORMAT: "text" };
      // In one step: a reading between the emptying of a file and its writing would find no date at all.
      const set = (to: number) => {
        writeFileSync(`${clock}.next`, `${to < 0 ? "" : "+"}${to}\n`);
        renameSync(`${clock}.next`, clock);
      };
      set(0);
      let server: RunningServer = await startServer({ data_dir, env });
      const setClock = async (to: number) => {
        if (when === "while it runs") return set(to);
        await server.kill("SIGTERM");
        set(to);
        server = await startServer({ data_dir, env });
      };
      try {
        const first = await firstSignIn(server);
        const session = first.token;
        const api = () => apiClient(server.url, session);
        const made = await first.post("/notifiers", {
          ...{ name: "phone", kind: "webhook", url: `${peers.url}/hook`, language: "en" },
          trigger_events: ["new_release"],
        });
        const config = { chart: "app", repository_url: peers.url };
        await first.post("/trackers", {
          name: "app",
          sorting: "semantic",
          sources: [{ key: "charts", kind: "helm", config, channels: [{ type: "stable" }] }],
        });
        const look = async (client = api()) => {
          const list = async (path: string) => (await client.get(path)).body.items as Record<string, unknown>[];
          const entries = await list("/audit-entries?limit=100");
          return {
            audit: entries.map(({ id }) => String(id)),
            times: entries.map(({ at }) => Date.parse(String(at))),
            events: (await list("/events?limit=100")).map(({ id }) => String(id)),
            deliveries: await list(`/notifiers/${made.body.id}/deliveries`),
          };
        };
        const publish = async (version: string, client = api()) => {
          peers.versions.unshift(version);
          // A check that was under way may have read the list before: then another one is asked for.
          await eventually(`the event of ${version}`, async () => {
            await client.post("/trackers/app/checks");
            const { items } = (await client.get("/events?limit=100")).body;
            return (items as { facts: { version?: string } }[]).some(({ facts }) => facts.version === version);
          });
        };
        await eventually("the first release", async () => {
          const { items } = (await api().get("/trackers/app/releases")).body;
          return Array.isArray(items) && items.length > 0;
        });
        await publish("1.1.0");
        await eventually("the first attempt", () => peers.received.includes("refused 1.1.0"));
        const before = await look();

        await setClock(seconds);
        const wrong = apiClient(server.url);
        const signedIn = await wrong.post("/session", { username: "admin", password: testPassword });
        expect(signedIn.status).toBe(201);
        wrong.token = String(signedIn.body.token);
        await publish("1.2.0", wrong);
        await eventually("an attempt by the wrong clock", () => peers.received.includes("refused 1.2.0"));
        const offsets = (await look(wrong)).times.map((at) => Math.abs(at - Date.now()));
        expect(Math.max(...offsets)).toBeGreaterThan(9 * yearSeconds * 1000);
        // Before the clock is right: each attempt that is still refused then makes the next pause longer.
        peers.take();
        await setClock(0);

        const again = await apiClient(server.url).post("/session", { username: "admin", password: testPassword });
        expect(again.status).toBe(201);
        const after = await look();
        expect(after.audit).toEqual(expect.arrayContaining(before.audit));
        expect(after.events).toEqual(expect.arrayContaining(before.events));
        const ids = (found: typeof after) => found.deliveries.map(({ id }) => id);
        expect(ids(after)).toEqual(expect.arrayContaining(ids(before)));
        // A minute until what lies too far ahead is found at the latest, and the longest of the first pauses.
        await eventually(
          "both messages",
          () => ["1.1.0", "1.2.0"].every((v) => peers.received.includes(`taken ${v}`)),
          240_000,
        );
      } finally {
        await server.kill("SIGTERM");
        await peers.stop();
        rmSync(data_dir, { recursive: true, force: true });
      }
    },
    360_000,
  );
});
