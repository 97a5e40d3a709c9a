import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { differences, differingKeys } from "../../src/runtimes/engine/compare.ts";
import { exportNotes, writeExport } from "../../src/runtimes/engine/export/write-export.ts";
import { objectAt, type RawObject } from "../../src/runtimes/engine/raw.ts";
import { readSnapshot, type Snapshot, snapshotBlueprint } from "../../src/runtimes/engine/snapshot.ts";
import { type Compose, composeMissing, composeVersions, startCompose } from "../peers/compose.ts";
import { type EngineMode, engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { comparable, runScript } from "../support/break-glass.ts";
import { createConfigured, prepareEngine } from "../support/config-lab.ts";
import { type ConfigWorld, containerConfig } from "../support/container-configs.ts";
import { peerSuite } from "../support/peer.ts";
import { inspectContainer, openSession, removeContainers, target } from "../support/update-target.ts";

// Random configurations as scripts and compose files: what the comparison of an update finds different stands in the file's head.
setDefaultTimeout(600_000);

const formats = ["script", "compose"] as const;
/** How many of each format; other numbers or one seed: `TIDEMARK_CONFIGS`, `TIDEMARK_SEED`. */
const count = Number(process.env.TIDEMARK_CONFIGS ?? "12");
const firstSeed = Number(process.env.TIDEMARK_SEED ?? "1");

/** Each with the client of its time. */
const modes = [
  ["docker-20", "/usr/bin/docker"],
  ["docker-29-containerd", "docker"],
] as const;

for (const [mode, cli] of modes)
  peerSuite(`random configurations as files on ${mode}`, engineMissing(mode) ?? composeMissing(), () =>
    suite(mode, cli),
  );

interface Compared {
  was: RawObject;
  is: RawObject;
  format: (typeof formats)[number];
}

/** What a client refuses in its own words before it has made anything, so that nothing is lost in silence either. */
const ownRefusals = [
  /unexpected key '(?:bind-recursive|volume-subpath|image-subpath)'/,
  /unknown flag: --(?:health-start-interval|annotation|gw-priority)/,
];

interface Unmade {
  seed: number;
  reason: string;
}

function suite(mode: EngineMode, cli: string): void {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-glass-"));
  let engine: TestEngine;
  let world: ConfigWorld;
  let compose: Compose;

  beforeAll(async () => {
    engine = await startEngine({ mode });
    world = await prepareEngine(engine, folder);
    if (!process.env.X)
      compose = startCompose({ engine, version: composeVersions.at(-1) ?? composeVersions[0], folder });
  }, 120_000);
  afterAll(async () => {
    compose.stop();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  async function capture(name: string): Promise<Snapshot> {
    await using session = await openSession(engine);
    return readSnapshot((await session.snapshots?.capture(target(name))) ?? "");
  }

  /**
   * What differs, as notes name it: by the comparison of an update, as far as it is more than what a client writes in another way. Of
   * compose's own way with mounts and aliases only the latter can tell.
   */
  async function differing(name: string, before: Snapshot, { was, is, format }: Compared): Promise<readonly string[]> {
    const found = ["Config", "HostConfig", "Networks", "Mounts"].flatMap((part) =>
      differingKeys(objectAt(was[part]), objectAt(is[part])).map((key) => `${part}.${key}`),
    );
    const [[member], [after]] = [before.members, (await capture(name)).members];
    if (member === undefined || after === undefined) throw new Error("A snapshot has a member");
    const judged = differences(snapshotBlueprint(member, before.api_version), after.container).map(({ path }) => path);
    const isInherited = (path: string) => member.inherited.some((destination) => path === `Mounts.${destination}`);
    return found.filter((path) => (format === "script" ? judged.includes(path) : !isInherited(path)));
  }

  /** The end of what the client said, when it made nothing; null when it did. */
  async function restore(format: (typeof formats)[number], text: string): Promise<string | null> {
    if (format === "script") {
      const { code, out } = await runScript(engine, text, { cli });
      return code === 0 ? null : out.slice(-600);
    }
    writeFileSync(join(folder, "restore.yaml"), text);
    const { code, stderr } = await compose.run(["-f", "restore.yaml", "create"]);
    return code === 0 ? null : stderr.slice(-600);
  }

  test.each(formats)(`each of ${count} as a %s: restored, or named in its head`, async (format) => {
    const silent: unknown[] = [];
    const unmade: Unmade[] = [];
    let seed = firstSeed;
    for (let tried = 0; tried < count; seed += 1) {
      const name = `glass-${seed}`;
      const config = containerConfig(seed, world);
      const isMade = await createConfigured(engine, name, config).then(
        () => true,
        () => false,
      );
      if (!isMade) {
        await removeContainers(engine, name);
        continue;
      }
      tried += 1;
      const was = comparable(await inspectContainer(engine, name), format);
      const before = await capture(name);
      const options = { format, with_secrets: true };
      const text = writeExport(before, options);
      await engine.call("DELETE", `/containers/${name}?force=1`);
      const reason = await restore(format, text);
      if (reason === null) {
        const named = exportNotes(before, options).flatMap(({ paths }) => paths);
        const is = comparable(await inspectContainer(engine, name), format);
        const left = (await differing(name, before, { was, is, format })).filter((path) => !named.includes(path));
        if (left.length > 0) silent.push({ seed, left });
      } else if (!ownRefusals.some((known) => known.test(reason))) unmade.push({ seed, reason });
      await removeContainers(engine, name);
    }
    expect(silent).toEqual([]);
    expect(unmade).toEqual([]);
  });
}
