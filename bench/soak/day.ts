// A day of the real services in a few minutes: the clock jumps from one quarter of an hour to the next, and at each the scheduler works
// off what is due, with its own limits, against an upstream on loopback that changes, fails, stalls and recovers.
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import { sql } from "drizzle-orm";
import type { Clock } from "../../src/clock.ts";
import { deliveries, tracker_sources } from "../../src/db/tables.ts";
import { hurriedClock } from "../../tests/support/hurried-clock.ts";
import { actor, benchServices } from "../service.ts";

const stepMinutes = 15;
const stepsOfDay = (24 * 60) / stepMinutes;

/** How it stands at one moment of the day. */
export interface SoakSample {
  hour: number;
  rss_bytes: number;
  heap_bytes: number;
  file_descriptors: number;
}

export interface SoakDay {
  /** One each hour. */
  samples: readonly SoakSample[];
  requests: number;
  deliveries: number;
  /** Checks that ended with an error, by the upstream's design. */
  failures: number;
  unhandled: number;
}

/** Time that can be told to be later; retries do not wait. */
function leapingClock(): { clock: Clock; leap: (ms: number) => void } {
  const base = hurriedClock();
  let ahead = 0;
  return {
    clock: { now: () => base.now() + ahead, elapsed: () => base.elapsed() + ahead, sleep: base.sleep },
    leap: (ms) => {
      ahead += ms;
    },
  };
}

/**
 * Repositories whose tags grow each hour. In its turn each fails for an hour: by status, by a broken connection, by a broken body. It
 * takes webhooks too, every fifth only at the second attempt.
 */
async function upstreamOf(hourNow: () => number) {
  let requests = 0;
  let hooks = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    const path = request.url ?? "";
    if (path.startsWith("/hook")) {
      hooks += 1;
      response.writeHead(hooks % 5 === 0 ? 503 : 204).end();
      return;
    }
    const index = Number(/app-(\d+)/.exec(path)?.[1] ?? 0);
    const hour = hourNow();
    const mood = (index + hour) % 20;
    if (mood === 7) return void response.writeHead(500).end("No");
    if (mood === 11) return void request.socket.destroy();
    if (mood === 13) return void response.writeHead(200, { "content-type": "application/json" }).end('{"tags":["1.0');
    if (path.includes("/manifests/")) {
      const digest = `sha256:${String(hour).padStart(64, "0")}`;
      const type = "application/vnd.oci.image.manifest.v1+json";
      return void response.writeHead(200, { "content-type": type, "docker-content-digest": digest }).end();
    }
    const tags = Array.from({ length: 40 + hour }, (_, minor) => `1.${minor}.0`);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ name: "a", tags: path.endsWith("/v2/") ? [] : tags }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    host: `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    requests: () => requests,
    /** Ends the connections that are kept for the next request; resolves when there is none. */
    rest: async () => {
      const open = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
      do {
        server.closeIdleConnections();
        await new Promise((resolve) => setTimeout(resolve, 5));
      } while ((await open()) > 0);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function sampleAt(hour: number): SoakSample {
  Bun.gc(true);
  const { rss, heapUsed } = process.memoryUsage();
  return { hour, rss_bytes: rss, heap_bytes: heapUsed, file_descriptors: readdirSync("/proc/self/fd").length };
}

/** Lives through one day with so many sources, each checked every hour. Loopback alone; ends with everything closed. */
export async function soakDay(sources: number): Promise<SoakDay> {
  const { clock, leap } = leapingClock();
  let hour = 0;
  let unhandled = 0;
  const onUnhandled = () => {
    unhandled += 1;
  };
  process.on("unhandledRejection", onUnhandled);
  const upstream = await upstreamOf(() => hour);
  const { services, db, close } = await benchServices(null, { clock, env: { OUTBOUND_ALLOW: upstream.host } });
  const samples: SoakSample[] = [];
  let failures = 0;
  try {
    await services.notifications.create(actor, {
      ...{ name: "chat", kind: "webhook", url: `http://${upstream.host}/hook`, language: "en" },
      trigger_events: ["new_release"],
    });
    for (let index = 0; index < sources; index += 1) {
      const config = { image: `soak/app-${index}`, registry: `http://${upstream.host}` };
      const source = { key: "main", kind: "oci", config, channels: [{ type: "stable" }] };
      await services.trackers.create(actor, { name: `app-${index}`, check_interval_minutes: 60, sources: [source] });
    }
    await services.scheduler.idle();
    for (let step = 0; step < stepsOfDay; step += 1) {
      hour = Math.floor((step * stepMinutes) / 60);
      // What became due by what was done is worked off in the same quarter.
      for (let round = 0; round < 3; round += 1) {
        await services.scheduler.tick(clock.now());
        await services.scheduler.idle();
      }
      const [failed] = await db.read
        .select({ count: sql<number>`sum(${tracker_sources.last_error_code} is not null)` })
        .from(tracker_sources);
      failures += failed?.count ?? 0;
      if (step % (60 / stepMinutes) === 60 / stepMinutes - 1) {
        await upstream.rest();
        samples.push(sampleAt(hour + 1));
      }
      leap(stepMinutes * 60_000);
    }
    return {
      samples,
      requests: upstream.requests(),
      deliveries: await db.read.$count(deliveries),
      failures,
      unhandled,
    };
  } finally {
    await close();
    await upstream.close();
    process.off("unhandledRejection", onUnhandled);
  }
}
