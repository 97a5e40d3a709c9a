// What it takes to look around on an engine with many containers, and to plan an update among them. See README.md.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inEnglish } from "../src/messages/message.ts";
import type { RuntimeSession } from "../src/runtimes/session.ts";
import type { Refusal, TargetRef } from "../src/runtimes/target.ts";
import { type ComposeVersion, composeMissing, startCompose } from "../tests/peers/compose.ts";
import { type EngineMode, startEngine, type TestEngine } from "../tests/peers/engine.ts";
import { composeFolder } from "../tests/support/compose-project.ts";
import { changes, group, runService } from "../tests/support/group-target.ts";
import { changeTo, images, importImages, target } from "../tests/support/update-target.ts";
import { type CallCount, callCount, chosenModes, openBenchSession, spread } from "./engines.ts";
import { countOption, type Figure, median, printFigures } from "./figures.ts";

const composeVersion: ComposeVersion = "5.6.0";
const project = "bench";
const changedCount = 10;
const goalPlanMs = 300;

/** `count` containers with ordinary settings, of which some run, and a stack of three. */
async function fill(engine: TestEngine, count: number, runningCount: number): Promise<void> {
  await engine.call("POST", "/networks/create", { Name: `${project}_default` });
  for (let index = 0; index < count - 3; index += 1) {
    await engine.call("POST", `/containers/create?name=many-${index}`, {
      Image: images.old,
      Cmd: ["/bin/sleep", "1000000"],
      Env: Array.from({ length: 12 }, (_, each) => `SETTING_${each}=value of ${each} in ${index}`),
      Labels: { owner: `people of ${index}`, "traefik.enable": "true", "traefik.http.services.a.port": "80" },
      StopSignal: "SIGKILL",
      HostConfig: { RestartPolicy: { Name: "unless-stopped" }, Binds: [`/tmp:/tmp/${index}`], Memory: 64e6 },
    });
    if (index < runningCount) await engine.call("POST", `/containers/many-${index}/start`);
  }
  await runService(engine, project, "db", { host: { NetworkMode: `${project}_default` } });
  const web = await runService(engine, project, "web", {
    dependsOn: "db:service_started:false",
    host: { NetworkMode: `${project}_default` },
  });
  await runService(engine, project, "worker", {
    dependsOn: "web:service_started:false",
    host: { NetworkMode: `container:${web}` },
  });
}

/** `3 lists, 200 inspects`, and what else there was. */
function told(calls: readonly string[]): string {
  const isList = (call: string) => /^GET \/(containers|images)\/json/.test(call);
  const isContainer = (call: string) => !isList(call) && /^GET .*\/containers\/.*\/json/.test(call);
  const isImage = (call: string) => !isList(call) && /^GET .*\/images\/.*\/json/.test(call);
  const [lists, containers, ofImages] = [isList, isContainer, isImage].map((is) => calls.filter(is).length);
  const others = calls.length - (lists ?? 0) - (containers ?? 0) - (ofImages ?? 0);
  return `${lists} lists, ${containers} inspects, ${ofImages} of images${others > 0 ? `, ${others} others` : ""}`;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

async function looks(engine: TestEngine, rounds: number, total: number): Promise<Figure[]> {
  const first: number[] = [];
  const second: number[] = [];
  const changed: number[] = [];
  const toldCalls = { first: "", second: "", changed: "" };
  let isMet = true;
  for (let round = 0; round < rounds; round += 1) {
    const count = callCount();
    await using session = await openBenchSession(engine, { count });
    const look = async (times: number[]) => {
      const { calls } = await count.during(async () => times.push(await timed(() => session.discover())));
      return calls;
    };
    const whole = await look(first);
    toldCalls.first = told(whole);
    const nothing = await look(second);
    toldCalls.second = told(nothing);
    for (let index = 0; index < changedCount; index += 1) {
      await engine.call("POST", `/containers/many-${index}/${round % 2 === 0 ? "stop?t=0" : "start"}`);
    }
    const some = await look(changed);
    toldCalls.changed = told(some);
    const inspects = some.filter((call) => call.includes("/containers/") && !/\/containers\/json/.test(call));
    isMet = isMet && nothing.length <= 2 && inspects.length <= changedCount;
  }
  return [
    { what: `first look at ${total}`, measured: `${toldCalls.first}; ${spread(first)}` },
    {
      what: "second look, nothing changed",
      measured: `${toldCalls.second}; ${spread(second)}`,
      goal: "one list each",
      met: isMet,
    },
    {
      what: `next look, ${changedCount} changed`,
      measured: `${toldCalls.changed}; ${spread(changed)}`,
      goal: `${changedCount} inspects or less`,
      met: isMet,
    },
  ];
}

async function plans(
  what: string,
  session: RuntimeSession,
  count: CallCount,
  ref: TargetRef,
  to: Readonly<Record<string, string>>,
  rounds: number,
): Promise<Figure> {
  const times: number[] = [];
  let last: readonly string[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const { result, calls } = await count.during(async () => {
      let refusals: readonly Refusal[] = [];
      const time = await timed(async () => {
        ({ refusals } = await session.plan(ref, ref.kind === "compose" ? changes(to) : [changeTo(images.next)]));
      });
      const [refusal] = refusals;
      if (refusal !== undefined) throw new Error(inEnglish(refusal.message));
      return time;
    });
    // The first one warms up.
    if (round > 0) times.push(result);
    last = calls;
  }
  const time = median(times);
  return {
    what,
    measured: `${spread(times)}; ${told(last)}`,
    goal: `${goalPlanMs} ms or less`,
    met: time <= goalPlanMs,
  };
}

/** The same stack by the real compose, so that there is a file of which its hashes are asked for. */
async function composePlans(engine: TestEngine, rounds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-bench-plan-"));
  const compose = startCompose({ engine, version: composeVersion, folder });
  const name = "composed";
  const service = (service: string, more: string) => `  ${service}:\n    image: ${images.old}\n${more}`;
  writeFileSync(
    join(folder, "compose.yaml"),
    `name: ${name}\nservices:\n${service("db", "    volumes: [/data]\n")}${service("web", "    depends_on: [db]\n")}${service(
      "worker",
      "    network_mode: service:web\n    depends_on: [web]\n",
    )}`,
  );
  try {
    await compose.must(["up", "-d"]);
    const to = { db: images.next, web: images.next, worker: images.next };
    const figures: Figure[] = [];
    for (const [what, folders] of [
      ["compose installed", [composeFolder(composeVersion)]],
      ["compose not installed", ["/nowhere"]],
    ] as const) {
      const count = callCount();
      await using session = await openBenchSession(engine, { count, compose_folders: folders });
      figures.push(await plans(`plan of three by compose's file, ${what}`, session, count, group(name), to, rounds));
    }
    await compose.must(["down", "-v", "-t", "1"]);
    return figures;
  } finally {
    compose.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(mode: EngineMode, total: number, running: number, rounds: number): Promise<Figure[]> {
  const engine = await startEngine({ mode });
  try {
    await importImages(engine);
    await fill(engine, total, running);
    const figures = await looks(engine, rounds, total);
    const count = callCount();
    await using session = await openBenchSession(engine, { count });
    figures.push(await plans(`plan of one among ${total}`, session, count, target("many-0"), {}, rounds));
    const to = { db: images.next, web: images.next, worker: images.next };
    figures.push(await plans("plan of a group of three, no file", session, count, group(project), to, rounds));
    // Compose writes to Docker engines; Podman's own tool has other labels.
    if (!mode.startsWith("podman") && composeMissing(composeVersion) === null) {
      figures.push(...(await composePlans(engine, rounds)));
    }
    const bare = await bareTimes(engine, rounds);
    return [...figures, { what: "one list by itself", measured: spread(bare) }];
  } finally {
    await engine.stop();
  }
}

/** What the engine itself takes for the one call that every look begins with. */
async function bareTimes(engine: TestEngine, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const time = await timed(() => engine.call("GET", "/containers/json?all=1"));
    if (round > 0) times.push(time);
  }
  return times;
}

const total = countOption("containers", 200, 1000);
const running = Math.min(countOption("running", 20, 200), total - 3);
const rounds = countOption("rounds", 6, 100);
for (const mode of chosenModes(["docker-20", "docker-29-containerd", "podman"])) {
  const title = `${mode}: looking around on an engine with ${total} containers, ${running + 3} running`;
  const figures = await measure(mode, total, running, rounds);
  printFigures(`${title}; ${rounds} times, medians (10th to 90th percentile)`, figures);
}
process.exit(0);
