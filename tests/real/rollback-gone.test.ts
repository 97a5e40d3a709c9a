import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UpdatePlan } from "../../src/runtimes/plan.ts";
import type { RuntimeSession } from "../../src/runtimes/session.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { engineSuite, kindOf } from "../support/engine-modes.ts";
import { startEngineProxy } from "../support/engine-proxy.ts";
import { english } from "../support/english.ts";
import { containerStates, group, groupImages, inspectOne, removeGroup, runService } from "../support/group-target.ts";
import { memoryJournal } from "../support/memory-journal.ts";
import { importImages, openSession, removeContainers, restore, runContainer } from "../support/update-target.ts";

setDefaultTimeout(120_000);

engineSuite(
  "rollbacks of groups that were taken down",
  (mode) => {
    const kind = kindOf(mode);
    let engine: TestEngine;
    let session: RuntimeSession;
    beforeAll(async () => {
      engine = await startEngine({ mode });
      await importImages(engine);
      session = await openSession(engine);
    });
    afterAll(async () => {
      await session[Symbol.asyncDispose]();
      await engine.stop();
    });

    const makeNetworks = async (project: string) => {
      for (const name of ["default", "second"]) {
        await engine.call("POST", "/networks/create", { Name: `${project}_${name}`, CheckDuplicate: true });
      }
    };
    const removeNetwork = (name: string) => engine.call("DELETE", `/networks/${name}`);

    /** The snapshot of a service with a named volume and two networks; its containers are gone since, the rest is there. */
    async function takenDown(project: string): Promise<string> {
      await makeNetworks(project);
      await engine.call("POST", "/volumes/create", { Name: `${project}_data`, Labels: { owner: "people" } });
      const NetworkMode = `${project}_default`;
      const host = { NetworkMode, Binds: [`${project}_data:/data`], RestartPolicy: { Name: "no" } };
      const body = { NetworkingConfig: { EndpointsConfig: { [NetworkMode]: { Aliases: ["e"] } } } };
      const id = await runService(engine, project, "e", { host, body });
      await engine.call("POST", `/networks/${project}_second/connect`, { Container: id });
      const snapshot = (await session.snapshots?.capture(group(project))) ?? "";
      await engine.call("DELETE", `/containers/${project}-e-1?force=1`);
      return snapshot;
    }

    async function planOf(project: string, snapshot: string, by = session): Promise<UpdatePlan> {
      const plan = await by.snapshots?.planRestore(group(project), snapshot);
      if (plan === undefined) throw new Error("An engine has snapshots");
      return plan;
    }
    const refusalsOf = async (project: string, snapshot: string) =>
      (await planOf(project, snapshot)).refusals.map(
        ({ code, message }) => `${code}: ${english(message)?.split(";")[0]}`,
      );

    async function cleanUp(project: string): Promise<void> {
      await removeGroup(engine, project);
      await removeNetwork(`${project}_second`).catch(() => undefined);
      await engine.call("DELETE", `/volumes/${project}_data`).catch(() => undefined);
    }

    test("one does not replace a container of somebody else that has a member's name", async () => {
      const snapshot = await takenDown("taken");
      const stranger = await runContainer(engine, "taken-e-1", {
        Image: groupImages.next,
        Labels: { "com.docker.compose.project": "other", "com.docker.compose.service": "e" },
      });
      expect(await refusalsOf("taken", snapshot)).toEqual([
        'name_taken: "taken-e-1" is now a container outside "taken"',
      ]);
      await expect(restore(session, group("taken"), snapshot, memoryJournal())).rejects.toThrow("container outside");
      expect((await inspectOne(engine, "taken-e-1")).Id).toBe(stranger);
      await removeContainers(engine, "taken");
      await cleanUp("taken");
    });

    test("one whose volume is gone makes no empty one", async () => {
      const snapshot = await takenDown("empty");
      await engine.call("DELETE", "/volumes/empty_data");
      expect(await refusalsOf("empty", snapshot)).toEqual([
        'volume_gone: The volume "empty_data" of "empty-e-1" no longer exists',
      ]);
      await expect(restore(session, group("empty"), snapshot, memoryJournal())).rejects.toThrow("empty_data");
      await expect(engine.call("GET", "/volumes/empty_data")).rejects.toThrow();
      await engine.call("POST", "/volumes/create", { Name: "empty_data" });
      expect(await refusalsOf("empty", snapshot)).toEqual([]);
      await cleanUp("empty");
    });

    test("one whose networks are gone stops nothing, and follows networks that were made again", async () => {
      const snapshot = await takenDown("split");
      await runService(engine, "split", "e", { body: { Image: groupImages.next } });
      for (const name of ["default", "second"]) await removeNetwork(`split_${name}`);
      expect((await refusalsOf("split", snapshot)).sort()).toEqual([
        'network_gone: The network "split_default" of "split-e-1" no longer exists',
        'network_gone: The network "split_second" of "split-e-1" no longer exists',
      ]);
      await expect(restore(session, group("split"), snapshot, memoryJournal())).rejects.toThrow("no longer exists");
      expect(await containerStates(engine, "split")).toEqual([`split-e-1 running ${groupImages.next}`]);

      await makeNetworks("split");
      const journal = memoryJournal();
      await restore(session, group("split"), snapshot, journal);
      await session.finish(group("split"), journal);
      expect(await containerStates(engine, "split")).toEqual([`split-e-1 running ${groupImages.old}`]);
      const { Networks } = (await inspectOne(engine, "split-e-1")).NetworkSettings;
      expect(Object.keys(Networks).sort()).toEqual(["split_default", "split_second"]);
      await cleanUp("split");
    });

    test("one through a proxy that does not let volumes and networks be seen goes on", async () => {
      const snapshot = await takenDown("blind");
      const proxy = await startEngineProxy(engine.socket, join(tmpdir(), `tidemark-blind-${process.pid}-${mode}.sock`));
      proxy.forbid(/^GET \/(volumes|networks)\//);
      await using blind = await openSession(`unix://${proxy.socket}`, { kind });
      expect((await planOf("blind", snapshot, blind)).refusals).toEqual([]);
      const journal = memoryJournal();
      await restore(blind, group("blind"), snapshot, journal);
      await blind.finish(group("blind"), journal);
      expect(await containerStates(engine, "blind")).toEqual([`blind-e-1 running ${groupImages.old}`]);
      await proxy.stop();
      await cleanUp("blind");
    });
  },
  ["docker-29-containerd", "podman"],
);
