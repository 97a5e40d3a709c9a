// Requests through a proxy while a container is updated: the new one started before the old one stops, and after. See README.md.

import { type EngineMode, startEngine, type TestEngine } from "../tests/peers/engine.ts";
import { changes, group, runService } from "../tests/support/group-target.ts";
import { startHealthTimer } from "../tests/support/health-timer.ts";
import { prepared } from "../tests/support/prepared.ts";
import { temporaryDatabase } from "../tests/support/temporary-database.ts";
import { images, importImages } from "../tests/support/update-target.ts";
import { type Child, startChild } from "./child.ts";
import { durableRun } from "./downtime/durable-run.ts";
import { chosenModes, openBenchSession, removeAllContainers, serveVersion, spread } from "./engines.ts";
import { countOption, median, ms, printFigures } from "./figures.ts";

const project = "rolling";
const network = `${project}_default`;

/** Of one update: what the client of the proxy saw. */
interface Seen {
  requests: number;
  /** Without an answer, or with the proxy's own 502. */
  failed: number;
  /** Between two answers that came one after the other. */
  longest_gap_ms: number;
  slowest_ms: number;
  /** What the proxy met on its way to an answer that it could not give. */
  reasons: readonly string[];
}

type Way = "none" | "start_first" | "stop_first";
const ways = ["none", "start_first", "stop_first"] as const satisfies readonly Way[];
/** The client goes on for so long before and after; without an update, so long in all. */
const calmMs = 500;
const noneMs = 2_000;

async function update(engine: TestEngine, front: Child, way: Way, swap: () => Promise<void>): Promise<Seen> {
  await front.ask({ begin: true, socket: engine.socket, service: "web", network });
  await Bun.sleep(calmMs);
  if (way === "none") await Bun.sleep(noneMs);
  else await swap();
  await Bun.sleep(calmMs);
  return await front.ask<Seen>({ end: true });
}

async function measure(mode: EngineMode, rounds: number): Promise<Record<Way, Seen[]>> {
  const engine = await startEngine({ mode });
  const stopTimer = startHealthTimer(engine);
  const database = await temporaryDatabase();
  const front = startChild("start-first/front.ts");
  const seen: Record<Way, Seen[]> = { none: [], start_first: [], stop_first: [] };
  try {
    await importImages(engine);
    await engine.call("POST", "/networks/create", { Name: network });
    await using session = await openBenchSession(engine);
    for (let round = 0; round <= rounds; round += 1) {
      for (let turn = 0; turn < ways.length; turn += 1) {
        const way = ways[(turn + round) % ways.length] ?? "none";
        await runService(engine, project, "web", {
          body: {
            Cmd: ["/bin/sh", "-c", serveVersion],
            Env: ["LISTEN=0.0.0.0:80"],
            // Without a check of its own, the new one would be looked at for ten seconds before the old one stops.
            Healthcheck: {
              Test: ["CMD-SHELL", "wget -qO /dev/null http://$LISTEN/"],
              Interval: 300_000_000,
              Timeout: 5e9,
              Retries: 9,
            },
            NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: ["web"] } } },
          },
          host: { NetworkMode: network },
        });
        const run = await durableRun(database.db, project);
        const plan = await session.plan(group(project), changes({ web: images.next }), {
          start_first: way === "start_first",
          drain_seconds: 0,
        });
        const ready = await prepared(session, plan, run.journal);
        const one = await update(engine, front, way, () => ready.apply());
        await run.end();
        if (round > 0) seen[way].push(one);
        await removeAllContainers(engine);
      }
    }
  } finally {
    await front.stop();
    await stopTimer();
    await database.close();
    await engine.stop();
  }
  return seen;
}

/** The most frequent ones, with how often. */
function reasonsOf(all: readonly Seen[]): string {
  const counts = new Map<string, number>();
  for (const reason of all.flatMap((each) => each.reasons)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const sorted = [...counts].sort((left, right) => right[1] - left[1]).slice(0, 3);
  return sorted.map(([reason, count]) => `${count} x ${reason}`).join("; ");
}

const titles = { none: "no update", start_first: "start before stop", stop_first: "stop before start" } as const;
const rounds = countOption("rounds", 10, 100);
for (const mode of chosenModes(["docker-20", "docker-29", "docker-29-containerd", "podman"])) {
  const seen = await measure(mode, rounds);
  const calm = median(seen.none.map((each) => each.longest_gap_ms));
  // A machine on which requests are lost without an update says nothing about those with one.
  const isJudged = seen.none.every((each) => each.failed === 0);
  const figures = ways.flatMap((way) => {
    const all = seen[way];
    const failed = all.reduce((sum, each) => sum + each.failed, 0);
    const requests = all.reduce((sum, each) => sum + each.requests, 0);
    const gaps = all.map((each) => each.longest_gap_ms);
    const isGoal = way === "start_first" && isJudged;
    return [
      {
        what: `${titles[way]}: failed requests`,
        measured: `${failed} of ${requests}`,
        ...(isGoal ? { goal: "none", met: failed === 0 } : {}),
      },
      {
        what: `${titles[way]}: longest gap between answers`,
        measured: spread(gaps),
        // Twice of what the same client sees where nothing happens.
        ...(isGoal ? { goal: `no measurable one (${ms(2 * calm)})`, met: median(gaps) <= 2 * calm } : {}),
      },
      ...(way === "start_first" && failed > 0 ? [{ what: "why they failed", measured: reasonsOf(all) }] : []),
      { what: `${titles[way]}: slowest answer`, measured: spread(all.map((each) => each.slowest_ms)) },
    ];
  });
  printFigures(`${mode}: requests through a proxy, ${rounds} updates each, medians (10th to 90th percentile)`, figures);
}
process.exit(0);
