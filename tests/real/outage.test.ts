import { afterAll, beforeAll, expect, setDefaultTimeout } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outageView } from "../../src/executors/outage-schema.ts";
import { say } from "../../src/messages/message.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { freePort } from "../peers/free-port.ts";
import { type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { kindOf, matrixSuite, newestModes, pointsOf } from "../support/engine-modes.ts";
import { type EngineProxy, startEngineProxy } from "../support/engine-proxy.ts";
import { english } from "../support/english.ts";
import { eventually } from "../support/eventually.ts";
import { containerStates, group, inspectOne, removeGroup, runService } from "../support/group-target.ts";
import { pushImage, serveHttp } from "../support/oci-image.ts";
import { answerAt, freeHeld, holdPort, published } from "../support/published-port.ts";
import { type RealRuns, realRuns } from "../support/real-runs.ts";
import { containersNamed, inspectContainer, removeContainers, runContainer, target } from "../support/update-target.ts";

setDefaultTimeout(900_000);

const live = new AbortController().signal;
const repository = "lab/web";
/** As the engines say it. */
const portTaken = /in use|already allocated/;
const isStart = (label: string) => label.endsWith("/start") && !label.includes("tidemark-probe");

matrixSuite(
  "a target that a run left down",
  (mode, inTurn) => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-outage-"));
    let engine: TestEngine;
    let registry: Registry;
    let runs: RealRuns;
    let proxy: EngineProxy;
    let connection = "";
    let image = "";
    const desired = { image: "", tag: "2.0.0", digest: "" };

    beforeAll(async () => {
      engine = await startEngine({ mode });
      registry = await startRegistry();
      image = `${registry.host}/${repository}`;
      const push = (tag: string) =>
        pushImage(registry.url, registry.auth, repository, tag, { version: tag, cmd: serveHttp });
      await push("1.0.0");
      Object.assign(desired, { image, digest: await push("2.0.0") });
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

    const begin = async (name: string, port: number): Promise<string> => {
      await runContainer(engine, name, { Image: `${image}:1.0.0`, ...published(port) });
      await eventually("the first answer", () => answerAt(port));
      return await runs.addExecutor({ connection, target: target(name), desired });
    };
    const found = async (name: string) =>
      (await containersNamed(engine, name)).map((each) => `${each.name} ${each.state} ${each.image.split(":").at(-1)}`);
    const outageOf = async (id: string) => outageView(await runs.run(id));

    /** Somebody takes the port in the moment in which the new container is to have it, and keeps it. */
    const goDown = async (executor: string, port: number): Promise<{ id: string; stranger: Server }> => {
      const held: Server[] = [];
      proxy.around(async (label, when) => {
        if (when === "before" && isStart(label) && held.length === 0) held.push(await holdPort(port));
      });
      const run = await runs.update(executor);
      proxy.around(null);
      expect([run.state, run.reason_code, run.serving, english(run.reason)]).toEqual([
        ...["failed", "target_down", "none"],
        expect.stringMatching(portTaken),
      ]);
      const [stranger] = held;
      if (stranger === undefined) throw new Error("Nothing was started");
      return { id: run.id, stranger };
    };

    /** Lets the pause before the next try pass. */
    const becomeDue = async (id: string): Promise<void> => {
      const isDue = async () => (await runs.main.runs.work.due(runs.clock.now(), 100)).some((due) => due.id === id);
      runs.clock.pass(Math.max(((await runs.run(id)).outage_due_at ?? 0) - runs.clock.now(), 0));
      expect(await isDue()).toBe(true);
    };
    const tryOnce = async (id: string): Promise<void> => {
      await becomeDue(id);
      await runs.main.runs.work.perform({ id }, live);
    };
    const tryUntilOver = async (id: string) => {
      for (;;) {
        const outage = await outageOf(id);
        if (outage === null || outage.outcome !== null) return outage;
        await tryOnce(id);
      }
    };
    const expectServing = async (name: string, port: number, version: string): Promise<void> => {
      expect(await found(name)).toEqual([`${name} running ${version}`]);
      expect(await eventually("the answer", () => answerAt(port))).toContain(version);
    };

    inTurn("serves again soon after its port is free, with all its settings, and both are told once", async () => {
      const port = await freePort();
      const executor = await begin("port", port);
      const before = await shapeOf(engine, "port");
      const { id, stranger } = await goDown(executor, port);
      expect(await runs.toldOf(executor)).toEqual(["executor_run_failed"]);
      await tryOnce(id);
      expect(await outageOf(id)).toMatchObject({ tries: 1, outcome: null });
      await freeHeld(stranger);
      const outage = await tryUntilOver(id);
      expect(outage).toMatchObject({ outcome: "recovered" });
      await expectServing("port", port, outage?.serving === "desired" ? "2.0.0" : "1.0.0");
      if (outage?.serving === "previous") expect(await shapeOf(engine, "port")).toEqual(before);
      expect(await runs.toldOf(executor)).toEqual(["executor_run_failed", "executor_target_recovered"]);
      const run = await runs.run(id);
      expect(run).toMatchObject({ state: "failed", reason_code: "target_down", serving: "none", cleanup_due_at: null });
      expect(run.downtime_ms).toBe((outage?.ended_at ?? 0) - (outage?.since ?? 0));
      await removeContainers(engine, "port");
    });

    inTurn(
      "is brought up by the next process when the first is killed while it waits, or at any write of a try",
      async () => {
        for (const point of [0, ...pointsOf(mode, { last: 300, sparser: 4 })]) {
          const name = `killed-${point}`;
          const port = await freePort();
          const executor = await begin(name, port);
          const { id, stranger } = await goDown(executor, port);
          await freeHeld(stranger);
          await becomeDue(id);
          // Killed with nothing at work, the next process has nothing but the database.
          const hasDied = point === 0 || (await runs.performAndDie(id, desired, point));
          const next = runs.instance(`next-${point}`);
          await next.runs.takeOver();
          const outage = await tryUntilOver(id);
          expect([point, outage?.outcome]).toEqual([point, "recovered"]);
          await eventually("the clearing", async () => {
            if ((await runs.run(id)).cleanup_due_at === null) return true;
            await runs.main.runs.work.perform({ id }, live);
            return false;
          });
          await expectServing(name, port, outage?.serving === "desired" ? "2.0.0" : "1.0.0");
          expect([point, await runs.toldOf(executor)]).toEqual([
            point,
            ["executor_run_failed", "executor_target_recovered"],
          ]);
          await removeContainers(engine, name);
          if (!hasDied) return;
        }
        throw new Error("The try has no end");
      },
    );

    inTurn("is brought up also when the process is killed inside a start that fails", async () => {
      const port = await freePort();
      const executor = await begin("inside", port);
      const before = await shapeOf(engine, "inside");
      const { id, stranger } = await goDown(executor, port);
      await becomeDue(id);
      let kill: (() => void) | null = null;
      let isOver = Promise.withResolvers<void>();
      proxy.around(async (label, when) => {
        if (!isStart(label)) return;
        if (when === "before") kill?.();
        else isOver.resolve();
      });
      expect(
        await runs.performAndDie(id, desired, -1, (end) => {
          kill = end;
        }),
      ).toBe(true);
      // The engine has refused by then, with nobody to hear it.
      await isOver.promise;
      isOver = Promise.withResolvers();
      proxy.around(null);
      await freeHeld(stranger);
      await runs.instance("next").runs.takeOver();
      const outage = await tryUntilOver(id);
      expect(outage).toMatchObject({ outcome: "recovered" });
      await expectServing("inside", port, outage?.serving === "desired" ? "2.0.0" : "1.0.0");
      if (outage?.serving === "previous") expect(await shapeOf(engine, "inside")).toEqual(before);
      await removeContainers(engine, "inside");
    });

    inTurn("is left to whoever starts it, removes it or runs the executor again", async () => {
      const port = await freePort();
      const executor = await begin("hand", port);
      let down = await goDown(executor, port);
      await freeHeld(down.stranger);
      await engine.call("POST", "/containers/hand/start");
      expect(await tryUntilOver(down.id)).toMatchObject({
        ...{ outcome: "recovered", serving: "previous", detail_data: say("runs.up_by_itself") },
      });
      await expectServing("hand", port, "1.0.0");

      down = await goDown(executor, port);
      await freeHeld(down.stranger);
      const restored = await runs.update(executor, { snapshot_id: await runs.snapshotOf(down.id) });
      expect(restored).toMatchObject({ state: "succeeded", reason_code: "started_again" });
      expect(await tryUntilOver(down.id)).toMatchObject({ outcome: "replaced" });
      await expectServing("hand", port, "1.0.0");

      down = await goDown(executor, port);
      await freeHeld(down.stranger);
      await engine.call("POST", "/containers/hand/start");
      await engine.call("POST", "/containers/hand/stop?t=0");
      expect(await tryUntilOver(down.id)).toMatchObject({ outcome: "changed" });
      expect(await found("hand")).toEqual([expect.stringMatching(/^hand exited 1\.0\.0$/)]);

      await engine.call("POST", "/containers/hand/start");
      down = await goDown(executor, port);
      await freeHeld(down.stranger);
      await engine.call("DELETE", "/containers/hand?force=1");
      expect(await tryUntilOver(down.id)).toMatchObject({ outcome: "changed" });
      expect((await found("hand")).filter((each) => each.includes("running"))).toEqual([]);
      expect((await runs.toldOf(executor)).filter((kind) => kind === "executor_target_recovered")).toHaveLength(1);
      await removeContainers(engine, "hand");
    });

    inTurn("is made again from the run's snapshot when somebody removed it in the middle of the run", async () => {
      const port = await freePort();
      const executor = await begin("gone", port);
      const held: Server[] = [];
      proxy.around(async (label, when) => {
        if (when !== "before" || !isStart(label) || held.length > 0) return;
        held.push(await holdPort(port));
        const previous = (await containersNamed(engine, "gone")).find((each) => each.name.endsWith("-previous"));
        await engine.call("DELETE", `/containers/${previous?.name}?force=1`);
      });
      const run = await runs.update(executor);
      proxy.around(null);
      expect(run).toMatchObject({ state: "failed", reason_code: "target_down" });
      for (const each of held) await freeHeld(each);
      const outage = await tryUntilOver(run.id);
      expect(outage).toMatchObject({ outcome: "recovered" });
      await expectServing("gone", port, outage?.serving === "desired" ? "2.0.0" : "1.0.0");
      await removeContainers(engine, "gone");
    });

    inTurn("is brought up as a whole where it is a group, in the order of its needs", async () => {
      const port = await freePort();
      const project = "stack";
      const old = `${image}:1.0.0`;
      const { ExposedPorts, HostConfig } = published(port);
      const a = await runService(engine, project, "a", { body: { Image: old, ExposedPorts }, host: HostConfig });
      await runService(engine, project, "b", {
        body: { Image: old, Cmd: ["sleep", "100000"] },
        host: { NetworkMode: `container:${a}` },
      });
      await runService(engine, project, "c", { body: { Image: old }, dependsOn: "b:service_started:false" });
      const executor = await runs.addExecutor({
        ...{ connection, target: group(project), desired, services: ["a", "b", "c"] },
      });
      const { id, stranger } = await goDown(executor, port);
      await tryOnce(id);
      expect(await outageOf(id)).toMatchObject({ tries: 1, outcome: null });
      await freeHeld(stranger);
      const outage = await tryUntilOver(id);
      expect(outage).toMatchObject({ outcome: "recovered" });
      const version = outage?.serving === "desired" ? "2.0.0" : "1.0.0";
      const states = (await containerStates(engine, project)).map((line) => line.replace(/ \S*:/, " "));
      expect(states).toEqual(["a", "b", "c"].map((each) => `stack-${each}-1 running ${version}`));
      const owner = await inspectOne(engine, "stack-a-1");
      expect((await inspectOne(engine, "stack-b-1")).HostConfig.NetworkMode).toBe(`container:${owner.Id}`);
      expect(await eventually("the answer", () => answerAt(port))).toContain(version);
      expect(await runs.toldOf(executor)).toEqual(["executor_run_failed", "executor_target_recovered"]);
      await removeGroup(engine, project);
    });

    inTurn("is started from the snapshot where a rollback was to start what had been down", async () => {
      const port = await freePort();
      const executor = await begin("back", port);
      const update = await runs.update(executor);
      expect(update).toMatchObject({ state: "succeeded" });
      await engine.call("POST", "/containers/back/stop?t=0");
      const held = await holdPort(port);
      const run = await runs.update(executor, { snapshot_id: await runs.snapshotOf(update.id) });
      expect([run.state, run.reason_code, english(run.reason)]).toEqual([
        "failed",
        "target_down",
        expect.stringMatching(portTaken),
      ]);
      await tryOnce(run.id);
      expect(await outageOf(run.id)).toMatchObject({ tries: 1, outcome: null });
      expect(await found("back")).toEqual([expect.stringMatching(/^back exited 2\.0\.0$/)]);
      await freeHeld(held);
      expect(await tryUntilOver(run.id)).toMatchObject({ outcome: "recovered", serving: "desired" });
      await expectServing("back", port, "1.0.0");
      await removeContainers(engine, "back");
    });
  },
  registryMissing(),
  newestModes,
);

/** What nothing may change: how it is published, restarted and connected. */
async function shapeOf(engine: TestEngine, name: string): Promise<unknown> {
  const { Config, HostConfig, NetworkSettings } = (await inspectContainer(engine, name)) as unknown as {
    Config: { Image: string };
    HostConfig: { PortBindings: unknown; RestartPolicy: unknown };
    NetworkSettings: { Networks: Record<string, unknown> };
  };
  const { PortBindings, RestartPolicy } = HostConfig;
  return { image: Config.Image, PortBindings, RestartPolicy, networks: Object.keys(NetworkSettings.Networks) };
}
