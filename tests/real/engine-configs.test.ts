import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../../src/errors.ts";
import { engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { lostSettings } from "../support/carried-exactly.ts";
import { type ConfigWorld, type ContainerConfig, containerConfig, type Json } from "../support/container-configs.ts";
import { memoryJournal } from "../support/memory-journal.ts";
import { peerSuite } from "../support/peer.ts";
import { changeTo, containersNamed, openSession, removeContainers, target } from "../support/update-target.ts";

setDefaultTimeout(600_000);

/** How many configurations an engine must have accepted; a run with other numbers or one seed: `TIDEMARK_CONFIGS`, `TIDEMARK_SEED`. */
const modes = [
  ["docker-20", 500],
  ["docker-29", 60],
  ["docker-29-containerd", 60],
] as const;
const firstSeed = Number(process.env.TIDEMARK_SEED ?? "1");
const atOnce = 3;

type Outcome =
  | { kind: "not_counted"; reason: string }
  | { kind: "carried" }
  | { kind: "refused"; reason: string }
  | { kind: "wrong"; findings: readonly string[] };

for (const [mode, wanted] of modes) {
  const count = Number(process.env.TIDEMARK_CONFIGS ?? wanted);

  peerSuite(`${mode}: random configurations`, engineMissing(mode), () => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-configs-"));
    let engine: TestEngine;
    let world: ConfigWorld;

    beforeAll(async () => {
      engine = await startEngine({ mode });
      world = await makeWorld(engine, folder);
    }, 120_000);
    afterAll(async () => {
      await engine.stop();
      rmSync(folder, { recursive: true, force: true });
    }, 60_000);

    test(`each of ${count} is carried exactly, or refused by name with nothing touched`, async () => {
      const outcomes = new Map<number, Outcome>();
      const volumesBefore = await volumeNames(engine);
      let seed = firstSeed;
      const isCounted = (each: Outcome) => each.kind !== "not_counted";
      const open = () => [...outcomes.values()].filter(isCounted).length;
      let running = 0;
      const work = async () => {
        while (open() + running < count) {
          const mine = seed;
          seed += 1;
          running += 1;
          outcomes.set(mine, await updateOne(engine, containerConfig(mine, world)));
          running -= 1;
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      report(mode, outcomes);
      const wrong = [...outcomes].filter(([, each]) => each.kind === "wrong");
      expect(
        wrong.map(([at, each]) => [
          `TIDEMARK_SEED=${at} TIDEMARK_CONFIGS=1`,
          each.kind === "wrong" ? each.findings : [],
        ]),
      ).toEqual([]);
      expect((await volumeNames(engine)).filter((name) => !volumesBefore.includes(name))).toEqual([]);
      // The generator is to make what engines take: otherwise it proves little.
      expect(outcomes.size - open()).toBeLessThanOrEqual(Math.max(1, Math.ceil(outcomes.size / 20)));
    });
  });
}

async function makeWorld(engine: TestEngine, folder: string): Promise<ConfigWorld> {
  for (const each of ["one/sub", "two"]) mkdirSync(join(folder, each), { recursive: true });
  writeFileSync(join(folder, "file.txt"), "own = yes\n");
  await engine.importImage("lab/base:1", []);
  await engine.call("POST", "/containers/create?name=base", { Image: "lab/base:1" });
  for (const [name, config] of Object.entries(images)) {
    const query = new URLSearchParams({ container: "base", repo: "lab/configs", tag: name, pause: "0" });
    await engine.call("POST", `/commit?${query}`, config);
  }
  await engine.call("DELETE", "/containers/base");
  await engine.call("POST", "/containers/create?name=anchor", {
    Image: "lab/base:1",
    StopTimeout: 1,
    Volumes: { "/anchor-volume": {} },
    HostConfig: { IpcMode: "shareable", Binds: ["anchor-data:/shared", `${folder}/two:/anchor-bind:ro`] },
  });
  await engine.call("POST", "/containers/anchor/start");
  const networks = { front: "front", back: "back", six: "six" };
  const subnets = { front: ["10.98.1.0/24"], back: [], six: ["10.98.2.0/24", "fd00:98::/64"] };
  const network_ids: Record<string, string> = {};
  for (const [name, subnetsOfIt] of Object.entries(subnets)) {
    const Config = subnetsOfIt.map((Subnet) => ({ Subnet }));
    const made = await engine.call("POST", "/networks/create", {
      Name: name,
      EnableIPv6: name === "six",
      IPAM: { Config },
    });
    network_ids[name] = (made as { Id: string }).Id;
  }
  const { ApiVersion } = (await engine.call("GET", "/version")) as { ApiVersion: string };
  const tags = Object.keys(images).map((name) => `lab/configs:${name}`);
  return {
    api: Number(ApiVersion.split(".")[1]),
    folder,
    old_images: tags.filter((tag) => tag.includes("old")),
    new_images: tags.filter((tag) => tag.includes("new")),
    anchor: "anchor",
    networks,
    network_ids,
    mounted_image: "lab/base:1",
  };
}

const second = 1_000_000_000;

/** Old and new images with other defaults: some bring what others do not have. All of them run. */
const images: Readonly<Record<string, Json>> = {
  "old-plain": { Env: ["APP_VERSION=1.0.0"], Labels: { version: "1.0.0" } },
  "old-rich": {
    Env: ["APP_VERSION=1.0.0", "MODE=development", "OLD_ONLY=1"],
    Labels: { version: "1.0.0", kept: "same", own: "of the image" },
    User: "0",
    WorkingDir: "/srv/app",
    StopSignal: "SIGINT",
    ExposedPorts: { "80/tcp": {}, "5000/tcp": {} },
    Volumes: { "/data": {}, "/old-data": {} },
    Healthcheck: { Test: ["CMD", "/bin/true"], Interval: 7 * second, Retries: 3 },
    OnBuild: ["RUN true"],
    Shell: ["/bin/ash", "-c"],
    Tty: true,
    OpenStdin: true,
    StopTimeout: 42,
    Domainname: "example.test",
  },
  "old-entry": {
    Env: ["APP_VERSION=1.0.0", "EMPTY="],
    Entrypoint: ["/bin/busybox", "sh"],
    Cmd: ["-c", "trap exit TERM; while :; do sleep 1 & wait; done"],
    Healthcheck: { Test: ["NONE"] },
  },
  "new-plain": { Env: ["APP_VERSION=2.0.0"], Labels: { version: "2.0.0" } },
  "new-rich": {
    Env: ["APP_VERSION=2.0.0", "MODE=staging", "NEW_ONLY=1", "UNSET_ME=x"],
    Labels: { version: "2.0.0", kept: "same", brought: "by the new" },
    User: "0:0",
    WorkingDir: "/srv/new",
    StopSignal: "SIGTERM",
    ExposedPorts: { "80/tcp": {}, "7000/tcp": {} },
    Volumes: { "/data": {}, "/new-data": {} },
    Healthcheck: {
      Test: ["CMD", "/bin/busybox", "true"],
      Interval: 9 * second,
      Timeout: 5 * second,
      StartPeriod: second,
    },
    Shell: ["/bin/sh", "-e"],
    StopTimeout: 1,
  },
  "new-entry": {
    Env: ["APP_VERSION=2.0.0"],
    Entrypoint: ["/bin/sh"],
    Cmd: ["-c", "trap 'exit 0' TERM; while :; do sleep 1 & wait; done"],
    Volumes: { "/cache": {} },
    Healthcheck: { Test: ["NONE"] },
  },
};

async function updateOne(engine: TestEngine, config: ContainerConfig): Promise<Outcome> {
  const name = `config-${config.seed}`;
  const inspect = () => inspectWhole(engine, name);
  try {
    await create(engine, name, config);
  } catch (error) {
    await removeAll(engine, name, []);
    return { kind: "not_counted", reason: errorMessage(error) };
  }
  const before = await inspect();
  const volumes = volumesOf(before);
  try {
    const refusal = await update(engine, name, config.next_image);
    const after = await inspect();
    volumes.push(...volumesOf(after));
    const left = await containersNamed(engine, name);
    if (left.length !== 1) return { kind: "wrong", findings: [`left over: ${JSON.stringify(left)}`] };
    if (refusal !== null) return untouched(before, after, refusal);
    const imageConfig = async (reference: string) => (await engine.call("GET", `/images/${reference}/json`)) as Json;
    const [oldImage, newImage] = [await imageConfig(config.image), await imageConfig(config.next_image)];
    const findings = lostSettings({
      body: config.body,
      connects: config.connects,
      before,
      after,
      old_image: oldImage.Config as Json,
      new_image: newImage.Config as Json,
      new_image_id: String(newImage.Id),
      reference: config.next_image,
    });
    return findings.length === 0 ? { kind: "carried" } : { kind: "wrong", findings };
  } catch (error) {
    return { kind: "wrong", findings: [errorMessage(error)] };
  } finally {
    await removeAll(engine, name, volumes);
  }
}

/** With the MAC address that was chosen, which later versions of the API than 1.51 no longer tell. */
async function inspectWhole(engine: TestEngine, name: string): Promise<Json> {
  const inspect = (await engine.call("GET", `/containers/${name}/json`)) as Json;
  if (engine.mode === "docker-20") return inspect;
  const older = (await engine.call("GET", `/v1.51/containers/${name}/json`)) as Json;
  const { MacAddress = "" } = older.Config as Json;
  return { ...inspect, Config: { ...(inspect.Config as Json), MacAddress } };
}

async function create(engine: TestEngine, name: string, config: ContainerConfig): Promise<void> {
  await engine.call("POST", `/containers/create?name=${name}`, config.body);
  for (const { network, endpoint } of config.connects) {
    await engine.call("POST", `/networks/${network}/connect`, { Container: name, EndpointConfig: endpoint });
  }
  // One that the kernel or the runtime refuses to start is a stopped container, whose settings count all the same.
  if (!config.is_to_start) return;
  await engine.call("POST", `/containers/${name}/start`).catch(() => undefined);
  if (config.is_to_stop) await engine.call("POST", `/containers/${name}/stop?t=0`);
}

/** Null when it was updated, else why it was not: said before anything was stopped. */
async function update(engine: TestEngine, name: string, image: string): Promise<string | null> {
  const journal = memoryJournal();
  await using session = await openSession(engine.address);
  const plan = await session.plan(target(name), [changeTo(image)]);
  if (plan.refusals.length > 0) return plan.refusals.map((each) => each.message).join("; ");
  try {
    await session.apply(plan, journal);
  } catch (error) {
    await session.undo(target(name), journal, null);
    const isStopped = journal.written().includes("stop begin");
    return `${isStopped ? "AFTER THE STOP: " : ""}${errorMessage(error)}`;
  }
  await session.finish(target(name), journal);
  return null;
}

function untouched(before: Json, after: Json, reason: string): Outcome {
  const findings = [
    ...(reason.startsWith("AFTER THE STOP") ? [reason] : []),
    ...Object.keys({ ...before, ...after })
      // Mounts come in no order of their own.
      .filter((key) => !Bun.deepEquals(ordered(before[key]), ordered(after[key])))
      .map((key) => `refused, but ${key} changed`),
  ];
  return findings.length === 0 ? { kind: "refused", reason } : { kind: "wrong", findings };
}

function ordered(value: unknown): unknown {
  return Array.isArray(value) ? value.map((each) => JSON.stringify(each)).sort() : value;
}

function volumesOf(inspect: Json): string[] {
  const mounts = (inspect.Mounts ?? []) as { Type: string; Name?: string; Source: string }[];
  return mounts
    .filter((each) => each.Type === "volume")
    .map((each) => each.Name || (each.Source.split("/").at(-2) ?? ""));
}

/** What the configuration named is removed by name; anything else that is left was lost sight of by the update. */
async function removeAll(engine: TestEngine, name: string, volumes: readonly string[]): Promise<void> {
  await removeContainers(engine, name);
  for (const volume of new Set(volumes)) {
    // Many went with their container.
    await engine.call("DELETE", `/volumes/${volume}`).catch(() => undefined);
  }
}

async function volumeNames(engine: TestEngine): Promise<string[]> {
  const { Volumes } = (await engine.call("GET", "/volumes")) as { Volumes: { Name: string }[] | null };
  return (Volumes ?? []).map((each) => each.Name);
}

function report(mode: string, outcomes: ReadonlyMap<number, Outcome>): void {
  const count = (kind: Outcome["kind"]) => [...outcomes.values()].filter((each) => each.kind === kind).length;
  const seeds = [...outcomes.keys()];
  const lines = [
    `${mode}: seeds ${Math.min(...seeds)} to ${Math.max(...seeds)}: ${count("carried")} carried, ${count("refused")} refused, ` +
      `${count("wrong")} wrong, ${count("not_counted")} not counted (the engine refused to create them)`,
  ];
  for (const [seed, outcome] of outcomes) {
    if (outcome.kind === "refused" || outcome.kind === "not_counted")
      lines.push(`  ${outcome.kind} ${seed}: ${outcome.reason}`);
  }
  console.log(lines.join("\n"));
}
