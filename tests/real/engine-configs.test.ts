import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../../src/errors.ts";
import { engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { lostSettings } from "../support/carried-exactly.ts";
import { createConfigured, inspectWhole, prepareEngine } from "../support/config-lab.ts";
import { type ConfigWorld, type ContainerConfig, containerConfig, type Json } from "../support/container-configs.ts";
import { english } from "../support/english.ts";
import { memoryJournal } from "../support/memory-journal.ts";
import { peerSuite } from "../support/peer.ts";
import { apply } from "../support/prepared.ts";
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
      world = await prepareEngine(engine, folder);
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

async function updateOne(engine: TestEngine, config: ContainerConfig): Promise<Outcome> {
  const name = `config-${config.seed}`;
  const inspect = () => inspectWhole(engine, name);
  try {
    await createConfigured(engine, name, config);
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

/** Null when it was updated, else why it was not: said before anything was stopped. */
async function update(engine: TestEngine, name: string, image: string): Promise<string | null> {
  const journal = memoryJournal();
  await using session = await openSession(engine.address);
  const plan = await session.plan(target(name), [changeTo(image)]);
  if (plan.refusals.length > 0) return plan.refusals.map((each) => english(each.message)).join("; ");
  try {
    await apply(session, plan, journal);
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
