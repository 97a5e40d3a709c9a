import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outageView } from "../../src/executors/outage-schema.ts";
import { say } from "../../src/messages/message.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { freePort } from "../peers/free-port.ts";
import { type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { kindOf, matrixSuite, newestModes } from "../support/engine-modes.ts";
import { type EngineProxy, startEngineProxy } from "../support/engine-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { pushImage, serveHttp } from "../support/oci-image.ts";
import { answerAt, freeHeld, holdPort, published } from "../support/published-port.ts";
import { type RealRuns, realRuns } from "../support/real-runs.ts";
import { containersNamed, removeContainers, runContainer, target } from "../support/update-target.ts";

setDefaultTimeout(900_000);

const live = new AbortController().signal;
const repository = "lab/web";
const isStart = (label: string) => label.endsWith("/start") && !label.includes("tidemark-probe");

matrixSuite(
  "a run by hand of a target that a run left down",
  (mode, inTurn) => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-by-hand-"));
    let engine: TestEngine;
    let registry: Registry;
    let runs: RealRuns;
    let proxy: EngineProxy;
    let connection = "";
    let image = "";
    const digests = new Map<string, string>();

    beforeAll(async () => {
      engine = await startEngine({ mode });
      registry = await startRegistry();
      image = `${registry.host}/${repository}`;
      const push = async (tag: string, cmd: readonly string[]) => {
        digests.set(tag, await pushImage(registry.url, registry.auth, repository, tag, { version: tag, cmd }));
      };
      for (const tag of ["1.0.0", "2.0.0", "3.0.0"]) await push(tag, serveHttp);
      await push("4.0.0", ["/missing"]);
      await engine.pullImage(`${image}:1.0.0`);
      runs = await realRuns();
      proxy = await startEngineProxy(engine.socket, join(folder, "engine.sock"));
      connection = await runs.connect(kindOf(mode), `unix://${proxy.socket}`);
    });
    afterAll(async () => {
      await runs?.close();
      await proxy?.stop();
      await registry?.stop();
      await engine?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const wanted = (tag: string) => ({ image, tag, digest: digests.get(tag) ?? "" });
    const outageOf = async (id: string) => outageView(await runs.run(id));
    const found = async (name: string) =>
      (await containersNamed(engine, name)).map((each) => `${each.name} ${each.state} ${each.image.split(":").at(-1)}`);

    /** Neither version gets its port, which somebody took in the moment of the change. */
    const takePort = (port: number): (() => Promise<void>) => {
      const held: Server[] = [];
      proxy.around(async (label, when) => {
        if (when === "before" && isStart(label) && held.length === 0) held.push(await holdPort(port));
      });
      return async () => {
        for (const each of held) await freeHeld(each);
      };
    };
    /** Neither version is started, for a reason that leaves the container as it is. */
    const refuseStarts = (): (() => Promise<void>) => {
      proxy.forbid(/^POST \/containers\/(?!tidemark-probe)[^/]+\/start/);
      return async () => proxy.forbid(null);
    };
    /** A Docker 29 may drop networks where a start fails for its port, and plans say so until the container was started. */
    const losesNetworks = mode.startsWith("docker-29");

    const goDown = async (name: string, byPort = !losesNetworks) => {
      const port = await freePort();
      await runContainer(engine, name, { Image: `${image}:1.0.0`, ...published(port) });
      await eventually("the first answer", () => answerAt(port));
      const options = { connection, target: target(name), desired: wanted("2.0.0") };
      const executor = await runs.addExecutor(options);
      const free = byPort ? takePort(port) : refuseStarts();
      const run = await runs.update(executor);
      proxy.around(null);
      expect([run.state, run.reason_code, run.serving]).toEqual(["failed", "target_down", "none"]);
      return { port, executor, id: run.id, free };
    };
    const tryUntilOver = async (id: string) => {
      for (;;) {
        const outage = await outageOf(id);
        if (outage === null || outage.outcome !== null) return outage;
        await eventually(
          "the next try",
          async () => (await runs.main.runs.work.due(runs.clock.now(), 100)).some((due) => due.id === id),
          330_000,
        );
        await runs.main.runs.work.perform({ id }, live);
      }
    };
    const expectServing = async (name: string, port: number, version: string): Promise<void> => {
      expect(await found(name)).toEqual([`${name} running ${version}`]);
      expect(await eventually("the answer", () => answerAt(port))).toContain(version);
    };

    if (losesNetworks) {
      test("is refused where a network may be lost, and the tries go on at once", async () => {
        const { port, executor, id, free } = await goDown("refused", true);
        await free();
        runs.offer(executor, wanted("3.0.0"));
        const run = await runs.update(executor);
        expect([run.state, run.reason_code, run.reason]).toEqual([
          ...["skipped", "target_refused"],
          say("executors.target_refused", { cause: say("refusals.network_suspect") }),
        ]);
        expect((await outageOf(id))?.next_try_at).toBeLessThanOrEqual(runs.clock.now());
        const outage = await tryUntilOver(id);
        expect(outage).toMatchObject({ outcome: "recovered" });
        await expectServing("refused", port, outage?.serving === "desired" ? "2.0.0" : "1.0.0");
        await removeContainers(engine, "refused");
      });
    }

    inTurn("starts the version that it brings", async () => {
      const { port, executor, id, free } = await goDown("brings");
      await free();
      runs.offer(executor, wanted("3.0.0"));
      const run = await runs.update(executor);
      expect([run.state, run.reason_code, run.serving, run.reason]).toEqual([
        ...["succeeded", "started_again", "desired"],
        say("runs.started_after_outage"),
      ]);
      expect(await tryUntilOver(id)).toMatchObject({ outcome: "replaced" });
      await expectServing("brings", port, "3.0.0");
      await removeContainers(engine, "brings");
    });

    inTurn("brings the previous version up where the one that it brings cannot be started", async () => {
      const { port, executor, id, free } = await goDown("broken");
      await free();
      runs.offer(executor, wanted("4.0.0"));
      const run = await runs.update(executor);
      expect([run.state, run.serving]).toEqual(["failed", "previous"]);
      // Where the engine refuses to make it, nothing has changed and the earlier run finds its target running.
      expect(["replaced", "recovered"]).toContain((await tryUntilOver(id))?.outcome ?? "");
      await expectServing("broken", port, "1.0.0");
      await removeContainers(engine, "broken");
    });

    inTurn("is tried again where the port is still taken", async () => {
      const { port, executor, id, free } = await goDown("taken");
      runs.offer(executor, wanted("3.0.0"));
      const run = await runs.update(executor);
      expect([run.state, run.serving]).toEqual(["failed", "none"]);
      await free();
      expect(await tryUntilOver(id)).toMatchObject({ outcome: "replaced" });
      const outage = await tryUntilOver(run.id);
      expect(outage).toMatchObject({ outcome: "recovered" });
      await expectServing("taken", port, outage?.serving === "desired" ? "3.0.0" : "1.0.0");
      await removeContainers(engine, "taken");
    });

    inTurn("brings up what was down where a rollback fails", async () => {
      const { port, executor, id, free } = await goDown("rolled");
      await free();
      const held: Server[] = [];
      let starts = 0;
      // The container that the rollback makes gets no port.
      proxy.around(async (label, when) => {
        if (!isStart(label)) return;
        if (when === "before" && starts === 0) held.push(await holdPort(port));
        if (when === "after" && starts === 0) for (const each of held) await freeHeld(each);
        if (when === "after") starts += 1;
      });
      const run = await runs.update(executor, { snapshot_id: await runs.snapshotOf(id) });
      proxy.around(null);
      expect([run.state, run.serving]).toEqual(["failed", "previous"]);
      expect(await tryUntilOver(id)).toMatchObject({ outcome: "replaced" });
      await expectServing("rolled", port, "1.0.0");
      await removeContainers(engine, "rolled");
    });
  },
  registryMissing(),
  newestModes,
);
