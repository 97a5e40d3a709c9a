// How long nobody answers during an update, beside the least that is possible and beside the usual three commands; and during one
// whose new version ends as soon as it is started. See README.md.

import { execFileSync } from "node:child_process";
import { systemClock } from "../src/clock.ts";
import { defaultProbeTiming, verify } from "../src/probes/verify.ts";
import { type EngineMode, startEngine, type TestEngine } from "../tests/peers/engine.ts";
import { freePort } from "../tests/peers/free-port.ts";
import { prepared } from "../tests/support/prepared.ts";
import { temporaryDatabase } from "../tests/support/temporary-database.ts";
import { changeTo, images, importImages, target } from "../tests/support/update-target.ts";
import { type Child, startChild } from "./child.ts";
import { durableRun } from "./downtime/durable-run.ts";
import { chosenModes, openBenchSession, ratioOf, removeAllContainers, serveVersion, spread } from "./engines.ts";
import { countOption, printFigures } from "./figures.ts";

const name = "bench-web";
const [oldVersion, newVersion] = ["1.0.0", "2.0.0"];

/** The same container for every way: on the host's network, because an ARP retry behind a bridge can cost a second. */
function bodyOf(image: string, port: number) {
  return {
    Image: image,
    Cmd: ["/bin/sh", "-c", `test "$APP_VERSION" = 3.0.0 && exit 3; ${serveVersion}`],
    Env: [`LISTEN=127.0.0.1:${port}`],
    HostConfig: { NetworkMode: "host", RestartPolicy: { Name: "unless-stopped" } },
  };
}

interface Stage {
  engine: TestEngine;
  port: number;
  poller: Child;
}

/** One update of a container that serves; answers how long nobody did. `isFailing`: the previous version serves again in the end. */
async function gapOf(stage: Stage, prepare: () => Promise<() => Promise<void>>, isFailing: boolean): Promise<number> {
  const { engine, port, poller } = stage;
  await engine.call("POST", `/containers/create?name=${name}`, bodyOf(images.old, port));
  await engine.call("POST", `/containers/${name}/start`);
  const swap = await prepare();
  await poller.ask({ port, from: oldVersion });
  await swap();
  const { gap_ms } = await poller.ask<{ gap_ms: number }>(
    isFailing ? { again: oldVersion } : { from: oldVersion, to: newVersion },
  );
  await removeAllContainers(engine);
  return gap_ms;
}

function floor({ engine, port }: Stage) {
  return async () => {
    await engine.call("POST", "/containers/create?name=bench-next", bodyOf(images.next, port));
    return async () => {
      await engine.call("POST", `/containers/${name}/stop`);
      await engine.call("POST", "/containers/bench-next/start");
    };
  };
}

/** The same for one that fails: the new one ends, and the old one is started again by somebody who knew that it would. */
function failingFloor({ engine, port }: Stage) {
  return async () => {
    await engine.call("POST", "/containers/create?name=bench-next", bodyOf(images.exits, port));
    return async () => {
      await engine.call("POST", `/containers/${name}/stop`);
      await engine.call("POST", "/containers/bench-next/start");
      await engine.call("POST", `/containers/${name}/start`);
    };
  };
}

/** The engine's own command line, on its socket. */
function byHand({ engine, port }: Stage) {
  const command = engine.mode.startsWith("podman") ? `/usr/bin/podman --url=${engine.address}` : "/usr/bin/docker";
  return async () => async () => {
    const script = [
      `${command} stop ${name}`,
      `${command} rm ${name}`,
      `${command} run -d --name ${name} --network host --restart unless-stopped -e LISTEN=127.0.0.1:${port} ${images.next} /bin/sh -c "$SERVE"`,
    ].join(" && ");
    const env = { PATH: "/usr/bin:/bin", HOME: "/root", DOCKER_HOST: engine.address, SERVE: serveVersion };
    execFileSync("/bin/sh", ["-c", script], { env, stdio: ["ignore", "ignore", "pipe"] });
  };
}

type Way = "product" | "floor" | "hand" | "failing" | "failing_floor";

async function measure(mode: EngineMode, rounds: number): Promise<Record<Way, number[]>> {
  const engine = await startEngine({ mode });
  const database = await temporaryDatabase();
  const poller = startChild("downtime/poller.ts");
  const gaps: Record<Way, number[]> = { product: [], floor: [], hand: [], failing: [], failing_floor: [] };
  try {
    await importImages(engine);
    await using session = await openBenchSession(engine);
    const product = async () => {
      const run = await durableRun(database.db, name);
      const plan = await session.plan(target(name), [changeTo(images.next)]);
      const ready = await prepared(session, plan, run.journal);
      return async () => {
        await ready.apply();
        await run.end();
      };
    };
    /** As a run does it, with the usual health check: the first probe would come after 15 s. */
    const failing = async () => {
      const run = await durableRun(database.db, name);
      const plan = await session.plan(target(name), [changeTo(images.exits)]);
      const ready = await prepared(session, plan, run.journal);
      return async () => {
        const { signal } = new AbortController();
        await ready.apply();
        const since = systemClock.now();
        const { passed } = await verify({
          probe: { attempt: () => session.readiness(target(name), since, run.journal) },
          timing: defaultProbeTiming,
          clock: systemClock,
          signal,
          findEnd: () => session.findEnd(target(name), run.journal),
        });
        if (passed) throw new Error("A container that ends cannot pass");
        await session.undo(target(name), run.journal, null);
        await run.end();
      };
    };
    // The first round of each warms the engine's caches and is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      const stage = { engine, port: await freePort(), poller };
      const ways = [
        ["product", product],
        ["floor", floor(stage)],
        ["hand", byHand(stage)],
        ["failing", failing],
        ["failing_floor", failingFloor(stage)],
      ] as const;
      // Each way is first, second and last equally often.
      for (let turn = 0; turn < ways.length; turn += 1) {
        const way = ways[(turn + round) % ways.length];
        if (way === undefined) continue;
        const gap = await gapOf(stage, way[1], way[0].startsWith("failing"));
        if (round > 0) gaps[way[0]].push(gap);
      }
    }
  } finally {
    await poller.stop();
    await database.close();
    await engine.stop();
  }
  return gaps;
}

const rounds = countOption("rounds", 20, 100);
for (const mode of chosenModes()) {
  const gaps = await measure(mode, rounds);
  const toFloor = ratioOf(gaps.product, gaps.floor);
  const toHand = ratioOf(gaps.product, gaps.hand);
  printFigures(`${mode}: downtime of an update, median (10th to 90th percentile) of ${rounds} each, alternating`, [
    { what: "Tidemark", measured: spread(gaps.product) },
    { what: "bare stop and start call", measured: spread(gaps.floor) },
    { what: "stop, rm, run by hand", measured: spread(gaps.hand) },
    {
      what: "Tidemark against the bare calls",
      measured: toFloor.text,
      goal: "1.05x or less",
      met: toFloor.value <= 1.05,
    },
    { what: "Tidemark against by hand", measured: toHand.text, goal: "0.65x or less", met: toHand.value <= 0.65 },
    { what: "bare calls against by hand", measured: ratioOf(gaps.floor, gaps.hand).text },
    { what: "Tidemark, a version that exits at once", measured: spread(gaps.failing) },
    { what: "bare stop, start and start again", measured: spread(gaps.failing_floor) },
    { what: "the one against the other", measured: ratioOf(gaps.failing, gaps.failing_floor).text },
  ]);
}
process.exit(0);
