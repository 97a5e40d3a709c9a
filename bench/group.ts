// How long the services of a compose group are down when all of them get a new image: by Tidemark, and by the real `docker compose
// up -d` with the file edited. See README.md.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Compose, type ComposeVersion, composeMissing, startCompose } from "../tests/peers/compose.ts";
import { type EngineMode, startEngine, type TestEngine } from "../tests/peers/engine.ts";
import { composeFolder } from "../tests/support/compose-project.ts";
import { changes, group } from "../tests/support/group-target.ts";
import { prepared } from "../tests/support/prepared.ts";
import { temporaryDatabase } from "../tests/support/temporary-database.ts";
import { images, importImages } from "../tests/support/update-target.ts";
import { type Child, startChild } from "./child.ts";
import { durableRun } from "./downtime/durable-run.ts";
import { chosenModes, openBenchSession, ratioOf, removeAllContainers, serveVersion } from "./engines.ts";
import { countOption, type Figure, median, ms, printFigures } from "./figures.ts";

const project = "bench";
const services = ["db", "web", "worker"] as const;
type Service = (typeof services)[number];
const [oldVersion, newVersion] = ["1.0.0", "2.0.0"];
const goal = 0.7;
const composeVersion: ComposeVersion = "5.6.0";
/** Three pollers share two cores with the engine. */
const pollEveryMs = 15;

interface Setting {
  title: string;
  /** `host`: everything on the host's network, polled from outside. `project`: on the project's own, told by the engine's events. */
  network: "host" | "project";
  /** Whether the database has a health check that the web server waits for. */
  is_checked: boolean;
}

const settings: readonly Setting[] = [
  { title: "on the host's network, polled from outside", network: "host", is_checked: false },
  { title: "the same, the web server waits for a healthy database", network: "host", is_checked: true },
  { title: "on the project's network, by the engine's events", network: "project", is_checked: false },
];

/** What a round took: each service from its last answer to its first, and the group from the first loss to the last return. */
interface Round {
  gaps: Record<Service, number>;
  whole: number;
  /** From the command to its end. */
  work: number;
}

interface Stage {
  engine: TestEngine;
  compose: Compose;
  folder: string;
  pollers: Readonly<Record<Service, Child>>;
  setting: Setting;
}

function fileOf({ network, is_checked }: Setting, image: string, ports: Readonly<Record<Service, number>>): string {
  const host = network === "host" ? "    network_mode: host\n" : "";
  const service = (name: Service, more: string) =>
    `  ${name}:
    image: ${image}
    command: ["/bin/sh", "-c", ${JSON.stringify(serveVersion.replaceAll("$", "$$$$"))}]
    environment:
      LISTEN: ${network === "host" ? "127.0.0.1" : "0.0.0.0"}:${ports[name]}
    restart: unless-stopped
${more}`;
  const check = `    healthcheck: { test: "wget -qO /dev/null http://$$LISTEN/", interval: 300ms, timeout: 5s, retries: 10 }\n`;
  const condition = is_checked ? "service_healthy" : "service_started";
  return `name: ${project}
services:
${service("db", `    volumes: [/data]\n${host}${is_checked ? check : ""}`)}${service("web", `${host}    depends_on: { db: { condition: ${condition} } }\n`)}${service("worker", "    network_mode: service:web\n    depends_on: [web]\n")}`;
}

/** Ports far from those that the system gives away, another three in each round. */
let lastPort = 20_000 + (process.pid % 500) * 12;
function nextPorts(): Record<Service, number> {
  lastPort += 3;
  return { db: lastPort - 2, web: lastPort - 1, worker: lastPort };
}

async function round(stage: Stage, prepare: (edit: () => void) => Promise<() => Promise<void>>): Promise<Round> {
  const { engine, compose, folder, pollers, setting } = stage;
  const ports = nextPorts();
  const write = (image: string) => writeFileSync(join(folder, "compose.yaml"), fileOf(setting, image, ports));
  write(images.old);
  await compose.must(["up", "-d"]);
  const swap = await prepare(() => write(images.next));
  const isPolled = setting.network === "host";
  for (const service of isPolled ? services : []) {
    await pollers[service].ask({ port: ports[service], from: oldVersion, every_ms: pollEveryMs });
  }
  const since = Date.now() / 1000;
  const from = performance.now();
  await swap();
  const work = performance.now() - from;
  const spans = isPolled ? await polledSpans(pollers) : await eventSpans(engine, since);
  await removeAllContainers(engine);
  const gaps = { db: lengthOf(spans.db), web: lengthOf(spans.web), worker: lengthOf(spans.worker) };
  const all = Object.values(spans);
  return {
    gaps,
    whole: Math.max(...all.map((each) => each.until_ms)) - Math.min(...all.map((each) => each.from_ms)),
    work,
  };
}

interface Span {
  from_ms: number;
  until_ms: number;
}

function lengthOf({ from_ms, until_ms }: Span): number {
  return until_ms - from_ms;
}

async function polledSpans(pollers: Stage["pollers"]): Promise<Record<Service, Span>> {
  const ask = (service: Service) => pollers[service].ask<Span>({ from: oldVersion, to: newVersion });
  return { db: await ask("db"), web: await ask("web"), worker: await ask("worker") };
}

/** From the moment in which the engine saw the old process end to that in which it had started the new one. */
async function eventSpans(engine: TestEngine, since: number): Promise<Record<Service, Span>> {
  const filters = encodeURIComponent(JSON.stringify({ type: ["container"], event: ["die", "start"] }));
  const until = Date.now() / 1000 + 0.001;
  const text = String(
    await engine.call("GET", `/events?since=${since.toFixed(9)}&until=${until.toFixed(9)}&filters=${filters}`),
  );
  const events = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(
      (line) => JSON.parse(line) as { Action: string; timeNano: number; Actor: { Attributes: Record<string, string> } },
    );
  const spanOf = (service: Service): Span => {
    const own = events.filter((each) => each.Actor.Attributes["com.docker.compose.service"] === service);
    const [died, started] = ["die", "start"].map((action) => own.find((each) => each.Action === action)?.timeNano);
    if (died === undefined || started === undefined) throw new Error(`The engine told of no change of "${service}"`);
    return { from_ms: died / 1e6, until_ms: started / 1e6 };
  };
  return { db: spanOf("db"), web: spanOf("web"), worker: spanOf("worker") };
}

async function measure(
  mode: EngineMode,
  setting: Setting,
  rounds: number,
): Promise<Record<"product" | "compose", Round[]>> {
  const engine = await startEngine({ mode });
  const database = await temporaryDatabase();
  const folder = mkdtempSync(join(tmpdir(), "tidemark-bench-group-"));
  const compose = startCompose({ engine, version: composeVersion, folder });
  const pollers = {
    db: startChild("downtime/poller.ts"),
    web: startChild("downtime/poller.ts"),
    worker: startChild("downtime/poller.ts"),
  };
  const found: Record<"product" | "compose", Round[]> = { product: [], compose: [] };
  try {
    await importImages(engine);
    await using session = await openBenchSession(engine, { compose_folders: [composeFolder(composeVersion)] });
    const stage: Stage = { engine, compose, folder, pollers, setting };
    const to = Object.fromEntries(services.map((service) => [service, images.next]));
    const product = async () => {
      const run = await durableRun(database.db, project);
      const plan = await session.plan(group(project), changes(to));
      const ready = await prepared(session, plan, run.journal);
      return async () => {
        await ready.apply();
        await session.finish(group(project), run.journal);
        await run.end();
      };
    };
    const byCompose = async (edit: () => void) => async () => {
      edit();
      await compose.must(["up", "-d"]);
    };
    // The first round of each warms the engine's caches and is not counted.
    for (let count = 0; count <= rounds; count += 1) {
      const ways = [
        ["product", product],
        ["compose", byCompose],
      ] as const;
      for (const [way, prepare] of count % 2 === 0 ? ways : ways.toReversed()) {
        const one = await round(stage, prepare);
        if (count > 0) found[way].push(one);
      }
    }
  } finally {
    for (const service of services) await pollers[service].stop();
    compose.stop();
    rmSync(folder, { recursive: true, force: true });
    await database.close();
    await engine.stop();
  }
  return found;
}

function figuresOf({ product, compose }: Record<"product" | "compose", Round[]>): Figure[] {
  const row = (what: string, of: (round: Round) => number, isGoal: boolean): Figure => {
    const [ours, theirs] = [product.map(of), compose.map(of)];
    const { value, text } = ratioOf(ours, theirs);
    const measured = `${text}: ${ms(median(ours))} against ${ms(median(theirs))}`;
    return isGoal ? { what, measured, goal: `${goal}x or less`, met: value <= goal } : { what, measured };
  };
  const sum = ({ gaps }: Round) => gaps.db + gaps.web + gaps.worker;
  return [
    row("db", (each) => each.gaps.db, true),
    row("web", (each) => each.gaps.web, true),
    row("worker, in the network of web", (each) => each.gaps.worker, true),
    row("all three, one after the other", sum, true),
    row("from the first loss to the last return", (each) => each.whole, true),
    row("from the command to its end", (each) => each.work, false),
  ];
}

const missing = composeMissing(composeVersion);
if (missing !== null) {
  console.error(`Not measured: ${missing}`);
  process.exit(1);
}
const rounds = countOption("rounds", 10, 100);
for (const mode of chosenModes(["docker-20", "docker-29", "docker-29-containerd"])) {
  for (const setting of settings) {
    const title = `${mode}: a group of three against compose ${composeVersion}, ${setting.title}`;
    printFigures(`${title}; medians of ${rounds} each`, figuresOf(await measure(mode, setting, rounds)));
  }
}
process.exit(0);
