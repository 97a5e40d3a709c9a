import { afterAll, beforeAll, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineAddress } from "../../src/runtimes/engine/address.ts";
import { runNames } from "../../src/runtimes/engine/names.ts";
import { type EngineTransport, engineTransport } from "../../src/runtimes/engine/transport.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { isPodman, kindOf, matrixSuite } from "../support/engine-modes.ts";
import { startEngineProxy } from "../support/engine-proxy.ts";
import {
  changes,
  containerStates,
  group,
  groupImages,
  inspectOne,
  removeGroup,
  runService,
  updateGroup,
} from "../support/group-target.ts";
import { expectWholeTrio, runTrio, trioVolume, wholeTrio } from "../support/group-trio.ts";
import { memoryJournal } from "../support/memory-journal.ts";
import { apply } from "../support/prepared.ts";
import {
  importImages,
  openSession,
  removeContainers,
  restore,
  runContainer,
  target,
} from "../support/update-target.ts";

const { old, next } = groupImages;
const limit = 120_000;

/** What else happens before the way back: `aside` answers the name of a service's previous container. */
type MeanwhileHook = (aside: (service: string) => string, labels: Readonly<Record<string, string>>) => Promise<void>;

matrixSuite("containers that are gone when a run leads back", (mode, inTurn) => {
  const kind = kindOf(mode);
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await startEngine({ mode });
    await importImages(engine);
  }, 120_000);
  afterAll(() => engine.stop(), 60_000);

  /** A pair of services that was updated, of which the second one was removed since; answers the snapshot from before. */
  async function halfGone(project: string): Promise<string> {
    await runService(engine, project, "a");
    await runService(engine, project, "b", { dependsOn: "a:service_started:false" });
    await using session = await openSession(engine.address, { kind });
    const snapshot = (await session.snapshots?.capture(group(project))) ?? "";
    const journal = memoryJournal();
    await updateGroup(session, project, { a: next, b: next }, journal);
    await session.finish(group(project), journal);
    await engine.call("DELETE", `/containers/${project}-b-1?force=1`);
    return snapshot;
  }

  inTurn.each(["b", "a"])(
    "of which the engine never starts %s again are made again, with what hangs on them",
    async (service) => {
      const project = `stuck-${service}`;
      await runTrio(engine, project);
      const volume = await trioVolume(engine, project);
      const { Id: id } = await inspectOne(engine, `${project}-${service}-1`);
      const journal = memoryJournal();
      await using session = await openSession(engine.address, { kind });
      const snapshot = (await session.snapshots?.capture(group(project))) ?? null;
      await updateGroup(session, project, wholeTrio, journal);
      // What Docker says of a container whose process it forgot, because it was killed while it stopped it.
      const whole = engineTransport(engineAddress(engine.address, false, null), new AbortController().signal);
      const text = JSON.stringify({ message: `task ${id}: already exists` });
      const transport: EngineTransport = {
        ...whole,
        send: async (request) =>
          request.path.endsWith(`/containers/${id}/start`)
            ? { status: 500, contentType: "application/json", text }
            : await whole.send(request),
      };
      await using stuck = await openSession(engine.address, { kind, transport });
      expect(await stuck.undo(group(project), journal, snapshot)).toMatchObject({ state: "untouched" });
      expect(await expectWholeTrio(engine, project, project, volume)).toBe("old");
      expect((await inspectOne(engine, `${project}-${service}-1`)).Id).not.toBe(id);
      await removeGroup(engine, project);
    },
    limit,
  );

  inTurn(
    "a rollback that fails before it made one that was gone leaves the group as it was",
    async () => {
      const project = "unmade";
      const snapshot = await halfGone(project);
      const proxy = await startEngineProxy(engine.socket, join(tmpdir(), `tidemark-gone-${process.pid}-${mode}.sock`));
      await using session = await openSession(`unix://${proxy.socket}`, { kind });
      const plan = await session.snapshots?.planRestore(group(project), snapshot);
      if (plan === undefined) throw new Error("An engine has snapshots");
      const journal = memoryJournal();
      const prepared = await session.snapshots?.prepareRestore(plan, snapshot, [], journal);
      proxy.forbid(/^POST .*\/containers\/create$/);
      await expect(prepared?.apply()).rejects.toThrow();
      proxy.forbid(null);
      expect(await session.undo(group(project), journal, null)).toMatchObject({ state: "untouched" });
      expect(await containerStates(engine, project)).toEqual([`unmade-a-1 running ${next}`]);
      await proxy.stop();
      await removeGroup(engine, project);
    },
    limit,
  );

  inTurn(
    "a rollback that is put back takes away what it made in nobody's place",
    async () => {
      const project = "added";
      const snapshot = await halfGone(project);
      await using session = await openSession(engine.address, { kind });
      const journal = memoryJournal();
      await restore(session, group(project), snapshot, journal);
      expect(await containerStates(engine, project)).toContain(`added-b-1 running ${old}`);
      expect(await session.undo(group(project), journal, null)).toMatchObject({ state: "untouched" });
      expect(await containerStates(engine, project)).toEqual([`added-a-1 running ${next}`]);
      await removeGroup(engine, project);
    },
    limit,
  );

  /** Updates a trio, lets a stranger remove previous ones, and puts it back. */
  async function putBackWithout(project: string, removed: readonly string[], meanwhile: MeanwhileHook): Promise<void> {
    await runTrio(engine, project);
    const volume = await trioVolume(engine, project);
    await using session = await openSession(engine.address, { kind });
    const snapshot = (await session.snapshots?.capture(group(project))) ?? "";
    const journal = memoryJournal();
    await updateGroup(session, project, wholeTrio, journal);
    const aside = (service: string) => runNames(`${project}-${service}-1`, journal.run_id).aside;
    for (const service of removed) await engine.call("DELETE", `/containers/${aside(service)}`);
    await meanwhile(aside, { "tidemark.remade": journal.run_id });
    const { state } = await session.undo(group(project), journal, snapshot);
    expect([state, await expectWholeTrio(engine, project, state, volume)]).toEqual(["untouched", "old"]);
    await removeGroup(engine, project);
  }

  // Podman removes nothing that others hang on.
  test.skipIf(isPodman(mode))(
    "what shares the network of a previous one that was removed is made again with it",
    () => putBackWithout("orphan", ["a"], async () => undefined),
    limit,
  );

  inTurn(
    "one that a dead process made again by half is made again as a whole",
    () =>
      putBackWithout("half", ["b", "a"], async (aside, Labels) => {
        await engine.call("POST", `/containers/create?name=${aside("a")}`, { Image: old, Labels });
      }),
    limit,
  );

  inTurn(
    "those that a dead process had made again are not lost, although they hang on each other",
    () =>
      putBackWithout("pair", ["b", "a"], async (aside, Labels) => {
        const a = await engine.call("POST", `/containers/create?name=${aside("a")}`, { Image: old, Labels });
        const HostConfig = { NetworkMode: `container:${(a as { Id: string }).Id}` };
        await engine.call("POST", `/containers/create?name=${aside("b")}`, { Image: old, Labels, HostConfig });
      }),
    limit,
  );

  inTurn(
    "a rollback follows the owner of a network that was replaced since the snapshot",
    async () => {
      const owner = await runContainer(engine, "tunnel");
      await runContainer(engine, "guest", { HostConfig: { NetworkMode: `container:${owner}` } });
      await using session = await openSession(engine.address, { kind });
      const snapshot = (await session.snapshots?.capture(target("guest"))) ?? "";
      for (const name of ["tunnel", "guest"]) {
        const journal = memoryJournal();
        await apply(session, await session.plan(target(name), changes({ main: next })), journal);
        await session.finish(target(name), journal);
      }
      const tunnel = await inspectOne(engine, "tunnel");
      const journal = memoryJournal();
      await restore(session, target("guest"), snapshot, journal);
      await session.finish(target("guest"), journal);
      expect(await inspectOne(engine, "guest")).toMatchObject({
        Config: { Image: expect.stringContaining(old) },
        State: { Running: true },
        HostConfig: { NetworkMode: `container:${tunnel.Id}` },
      });
      expect((await session.snapshots?.planRestore(target("guest"), snapshot))?.is_noop).toBe(true);
      await removeContainers(engine, "guest");
      await removeContainers(engine, "tunnel");
    },
    limit,
  );

  inTurn(
    "a rollback into the network of one that is gone is refused in the plan",
    async () => {
      const owner = await runContainer(engine, "left");
      await runContainer(engine, "behind", { HostConfig: { NetworkMode: `container:${owner}` } });
      await using session = await openSession(engine.address, { kind });
      const snapshot = (await session.snapshots?.capture(target("behind"))) ?? "";
      await removeContainers(engine, "behind");
      await removeContainers(engine, "left");
      await runContainer(engine, "behind", { Image: next });
      const plan = await session.snapshots?.planRestore(target("behind"), snapshot);
      expect(plan?.refusals.map((each) => each.code)).toEqual(["owner_gone"]);
      await removeContainers(engine, "behind");
    },
    limit,
  );
});
