import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../../src/errors.ts";
import { containersOf } from "../../src/runtimes/containers-detail.ts";
import { stabilityMs } from "../../src/runtimes/session.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { isPodman, kindOf, matrixSuite } from "../support/engine-modes.ts";
import { startEngineProxy } from "../support/engine-proxy.ts";
import { english } from "../support/english.ts";
import { eventually } from "../support/eventually.ts";
import {
  changes,
  containerName,
  containerStates,
  group,
  groupImages,
  importSick,
  inspectOne,
  removeGroup,
  runService,
  runStack,
  untilHealthy,
  updateGroup,
} from "../support/group-target.ts";
import { startHealthTimer } from "../support/health-timer.ts";
import { memoryJournal, ProcessDeath } from "../support/memory-journal.ts";
import { apply, prepared } from "../support/prepared.ts";
import {
  importImages,
  openSession,
  removeContainers,
  restore,
  runContainer,
  target,
} from "../support/update-target.ts";

setDefaultTimeout(120_000);

const { old, next, broken, sick } = groupImages;

matrixSuite("groups of containers", (mode, inTurn) => {
  let engine: TestEngine;
  let stopTimer: () => Promise<void> = async () => undefined;
  beforeAll(async () => {
    engine = await startEngine({ mode });
    await importImages(engine);
    await importSick(engine);
    stopTimer = startHealthTimer(engine);
  }, 120_000);
  afterAll(async () => {
    await stopTimer();
    await engine.stop();
  }, 60_000);

  const stateOf = async (project: string) => await containerStates(engine, project);
  const name = (project: string, service: string) => containerName(project, service);

  inTurn("a second look asks for nothing that has not changed", async () => {
    await runStack(engine, "twice");
    const proxy = await startEngineProxy(engine.socket, join(tmpdir(), `tidemark-twice-${process.pid}-${mode}.sock`));
    await using session = await openSession(`unix://${proxy.socket}`, { kind: kindOf(mode) });
    // Its health is part of what a list says, and would be a change.
    await untilHealthy(engine, name("twice", "db"));
    const whole = await session.discover();
    const calls = async (act: () => Promise<unknown>) => {
      proxy.breakCall(0, "500");
      await act();
      return proxy.calls();
    };
    expect(await calls(async () => expect(await session.discover()).toEqual(whole))).toHaveLength(2);
    await engine.call("POST", `/containers/${name("twice", "worker")}/stop?t=0`);
    const changed = await calls(async () => {
      const [project] = (await session.discover()).filter((each) => each.name === "twice");
      expect(project?.services.map((each) => each.state)).toEqual(["running", "running", "stopped"]);
    });
    expect(changed.filter((call) => call.includes("/json") && !call.includes("/containers/json"))).toHaveLength(2);
    await proxy.stop();
    await removeGroup(engine, "twice");
  });

  inTurn("a project is one target with its services, beside its containers", async () => {
    await runStack(engine, "found");
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const targets = await session.discover();
    const [project] = targets.filter((each) => each.ref.kind === "compose" && each.name === "found");
    expect(project).toMatchObject({ ref: group("found"), name: "found", refusals: [] });
    expect(project?.services.map((each) => `${each.name} ${each.state} ${each.containers}`)).toEqual([
      "db running found-db-1",
      "web running found-web-1",
      "worker running found-worker-1",
    ]);
    expect(targets.filter((each) => each.ref.kind === "container" && each.name.startsWith("found-"))).toHaveLength(3);
    expect<unknown>(await session.inspect(group("found"))).toEqual(project);
    await expect(session.inspect(group("nobody"))).rejects.toThrow('There is no compose group "nobody"');
    await removeGroup(engine, "found");
  });

  inTurn("an update moves each service in the order of its needs, and loses nothing", async () => {
    const project = "whole";
    await runStack(engine, project);
    const before = {
      db: await inspectOne(engine, name(project, "db")),
      web: await inspectOne(engine, name(project, "web")),
    };
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const plan = await session.plan(group(project), changes({ worker: next, web: next, db: next }));
    expect(plan.refusals).toEqual([]);
    expect(containersOf(plan.detail).map((each) => `${each.name} ${each.because}`)).toEqual([
      "whole-db-1 desired",
      "whole-web-1 desired",
      "whole-worker-1 desired",
    ]);
    const journal = memoryJournal();
    await apply(session, plan, journal);
    const starts = journal
      .entries()
      .filter((each) => each.step === "start" && each.phase === "finish")
      .map((each) => each.facts.container);
    expect(starts).toEqual(["whole-db-1", "whole-web-1", "whole-worker-1"]);
    // The database is healthy before what needs it goes down.
    const steps = journal.written();
    expect(steps.indexOf("wait finish")).toBeGreaterThan(steps.indexOf("start finish"));
    expect(journal.entries().find((each) => each.step === "wait")?.facts).toMatchObject({
      container: "whole-web-1",
      for: "whole-db-1",
    });
    await session.finish(group(project), journal);
    expect(await stateOf(project)).toEqual([
      `whole-db-1 running ${next}`,
      `whole-web-1 running ${next}`,
      `whole-worker-1 running ${next}`,
    ]);
    const [db, web, worker] = await Promise.all(
      ["db", "web", "worker"].map((each) => inspectOne(engine, name(project, each))),
    );
    expect(db?.Mounts[0]?.Name).toBe(before.db.Mounts[0]?.Name ?? "?");
    expect(web?.Id).not.toBe(before.web.Id);
    expect(worker?.HostConfig.NetworkMode).toBe(`container:${web?.Id}`);
    expect(web?.NetworkSettings.Networks[`${project}_default`]?.Aliases).toContain("web");
    expect(web?.HostConfig.RestartPolicy.Name).toBe("always");
    expect(web?.Config.Labels.owner).toBe("people of web");
    expect(web?.Config.Env).toContain("APP_VERSION=2.0.0");
    await removeGroup(engine, project);
  });

  inTurn(
    "what shares the network of one that is replaced is made anew with it, also from outside of the project",
    async () => {
      const project = "shared";
      await runStack(engine, project);
      const web = await inspectOne(engine, name(project, "web"));
      await runContainer(engine, "sniffer", { HostConfig: { NetworkMode: `container:${web.Id}` } });
      await using session = await openSession(engine.address, { kind: kindOf(mode) });
      const plan = await session.plan(group(project), changes({ web: next }));
      expect(containersOf(plan.detail).map((each) => `${each.name} ${each.service} ${each.because}`)).toEqual([
        "shared-web-1 web desired",
        "shared-worker-1 worker shares",
        "sniffer sniffer shares",
      ]);
      const journal = memoryJournal();
      await apply(session, plan, journal);
      expect(await session.readiness(group(project), stabilityMs, journal)).toMatchObject({
        ready: true,
      });
      await session.finish(group(project), journal);
      const { Id } = await inspectOne(engine, name(project, "web"));
      for (const each of [name(project, "worker"), "sniffer"]) {
        expect(await inspectOne(engine, each)).toMatchObject({
          Config: { Image: expect.stringContaining(old) },
          State: { Running: true },
          HostConfig: { NetworkMode: `container:${Id}` },
        });
      }
      await removeContainers(engine, "sniffer");
      await removeGroup(engine, project);
    },
  );

  inTurn("a single container takes along what hangs on it: namespaces, volumes and links", async () => {
    await runContainer(engine, "anchor", { Volumes: { "/data": {} } });
    const { Id } = await inspectOne(engine, "anchor");
    await runContainer(engine, "side", { HostConfig: { PidMode: `container:${Id}` } });
    await runContainer(engine, "heir", { HostConfig: { VolumesFrom: [Id] } });
    // Podman has no links.
    const linkers = isPodman(mode) ? [] : ["linker"];
    for (const each of linkers) await runContainer(engine, each, { HostConfig: { Links: ["anchor:friend"] } });
    const volume = (await inspectOne(engine, "anchor")).Mounts[0]?.Name;
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const plan = await session.plan(target("anchor"), changes({ main: next }));
    expect(plan.refusals).toEqual([]);
    expect(containersOf(plan.detail)[0]).toMatchObject({ name: "anchor", because: "desired" });
    expect(
      containersOf(plan.detail)
        .slice(1)
        .map((each) => `${each.name} ${each.because}`)
        .sort(),
    ).toEqual(["heir shares", ...linkers.map((each) => `${each} shares`), "side shares"]);
    const journal = memoryJournal();
    await apply(session, plan, journal);
    await session.finish(target("anchor"), journal);
    const now = await inspectOne(engine, "anchor");
    expect(now.Config.Image).toContain(next);
    expect((await inspectOne(engine, "heir")).Mounts[0]?.Name).toBe(volume ?? "?");
    for (const each of linkers) {
      const linker = await inspectOne(engine, each);
      expect(linker.State.Running).toBe(true);
      expect(linker.HostConfig.Links).toEqual(["/anchor:/linker/friend"]);
    }
    expect((await engine.call("GET", "/containers/side/json")) as object).toMatchObject({
      HostConfig: { PidMode: `container:${now.Id}` },
    });
    for (const each of ["side", "heir", ...linkers, "anchor"]) await removeContainers(engine, each);
  });

  inTurn("one service that fails puts the whole group back, and says what each did", async () => {
    const project = "broken";
    await runStack(engine, project);
    const ids = async () =>
      (await Promise.all(["db", "web", "worker"].map((each) => inspectOne(engine, name(project, each))))).map(
        (each) => each.Id,
      );
    const before = await ids();
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const journal = memoryJournal();
    await updateGroup(session, project, { db: next, web: next, worker: broken }, journal);
    let verdict = await session.readiness(group(project), 0, journal);
    while (!verdict.ready && verdict.final !== true) verdict = await session.readiness(group(project), 0, journal);
    expect(english(verdict.detail)).toContain('"broken-worker-1": ');
    expect(english(verdict.detail)).not.toContain("broken-db-1");
    expect(await session.undo(group(project), journal, null)).toMatchObject({ state: "untouched" });
    expect(await stateOf(project)).toEqual([
      `broken-db-1 running ${old}`,
      `broken-web-1 running ${old}`,
      `broken-worker-1 running ${old}`,
    ]);
    expect(await ids()).toEqual(before);
    const moves = journal.entries().map(({ facts }) => facts.move);
    const waited = moves.indexOf("wait for broken-db-1");
    expect(waited).toBeGreaterThan(moves.indexOf("start broken-db-1"));
    expect(waited).toBeLessThan(moves.indexOf("start broken-web-1"));
    const undone = journal.entries().filter((each) => each.step === "undo" && each.phase === "finish");
    const names = ["db", "web", "worker"].map((each) => name(project, each));
    expect(undone.map((each) => each.facts.container).sort()).toEqual(names);
    await removeGroup(engine, project);
  });

  inTurn("a dependency that does not get healthy stops the run before what needs it is touched", async () => {
    const project = "sick";
    await runStack(engine, project);
    const web = (await inspectOne(engine, name(project, "web"))).Id;
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const journal = memoryJournal();
    const failure = await updateGroup(session, project, { db: sick, web: next }, journal).catch(errorMessage);
    expect(failure).toContain('"sick-web-1" requires "sick-db-1" to be healthy, and it is not');
    expect(journal.entries().some((each) => each.step === "stop" && each.facts.container === "sick-web-1")).toBe(false);
    expect((await inspectOne(engine, name(project, "web"))).Id).toBe(web);
    await session.undo(group(project), journal, null);
    expect(await stateOf(project)).toEqual([
      `sick-db-1 running ${old}`,
      `sick-web-1 running ${old}`,
      `sick-worker-1 running ${old}`,
    ]);
    await removeGroup(engine, project);
  });

  inTurn(
    "the end of the process ends the wait for a dependency while all serve; the next process puts it back",
    async () => {
      const project = "ending-wait";
      await runStack(engine, project);
      await using session = await openSession(engine.address, { kind: kindOf(mode) });
      const journal = memoryJournal();
      const plan = await session.plan(group(project), changes({ db: sick, web: next }));
      const stop = new AbortController();
      const applying = (await prepared(session, plan, journal)).apply(stop.signal).then(() => "applied", errorMessage);
      await eventually("the wait for the database", async () => journal.written().includes("wait begin"));
      stop.abort(new Error("The process is ending"));
      expect(await applying).toBe("The process is ending");
      const found = await Promise.all(["db", "web", "worker"].map((each) => inspectOne(engine, name(project, each))));
      expect(found.map(({ State }) => State.Running)).toEqual([true, true, true]);
      expect(await session.recover(group(project), journal.reopened(), null)).toMatchObject({ state: "untouched" });
      expect(await stateOf(project)).toEqual(
        ["db", "web", "worker"].map((each) => `${project}-${each}-1 running ${old}`),
      );
      await removeGroup(engine, project);
    },
  );

  inTurn("all replicas move; differing ones are refused in the plan", async () => {
    const project = "many";
    for (const number of [1, 2, 3]) await runService(engine, project, "app", { number, body: { Env: ["A=1"] } });
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const journal = memoryJournal();
    const plan = await updateGroup(session, project, { app: next }, journal);
    expect(containersOf(plan.detail)).toHaveLength(3);
    expect(plan.diff.filter((each) => each.path === "Image")).toHaveLength(1);
    await session.finish(group(project), journal);
    expect(await stateOf(project)).toEqual([1, 2, 3].map((each) => `many-app-${each} running ${next}`));
    await engine.call("DELETE", "/containers/many-app-3?force=1");
    await runService(engine, project, "app", { number: 3, body: { Image: next, Env: ["A=2"] } });
    const refused = await session.plan(group(project), changes({ app: old }));
    expect(refused.refusals.map((each) => each.code)).toContain("replicas_differ");
    await expect(apply(session, refused, memoryJournal())).rejects.toThrow("cannot be updated");
    await removeGroup(engine, project);
  });

  inTurn("a circle of needs is refused in the plan", async () => {
    await runService(engine, "circle", "a", { dependsOn: "b:service_started:false" });
    await runService(engine, "circle", "b", { dependsOn: "a:service_started:false" });
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const plan = await session.plan(group("circle"), changes({ a: next, b: next }));
    expect(plan.refusals).toMatchObject([{ code: "dependency_cycle" }]);
    expect(english(plan.refusals[0]?.message)).toContain(
      '"circle-a-1" depends on "circle-b-1" depends on "circle-a-1"',
    );
    await removeGroup(engine, "circle");
  });

  inTurn("what asks for a restart with its dependency is made anew with it", async () => {
    await runService(engine, "asks", "db");
    await runService(engine, "asks", "web", { dependsOn: "db:service_started:true" });
    const before = (await inspectOne(engine, "asks-web-1")).Id;
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const journal = memoryJournal();
    const plan = await updateGroup(session, "asks", { db: next }, journal);
    expect(containersOf(plan.detail).map((each) => `${each.name} ${each.because}`)).toEqual([
      "asks-db-1 desired",
      "asks-web-1 restarts",
    ]);
    await session.finish(group("asks"), journal);
    expect((await inspectOne(engine, "asks-web-1")).Id).not.toBe(before);
    expect(await stateOf("asks")).toEqual([`asks-db-1 running ${next}`, `asks-web-1 running ${old}`]);
    await removeGroup(engine, "asks");
  });

  inTurn("a tag that was moved for a run that is put back names again what it named", async () => {
    const tag = "lab/app:stable";
    const digestOf = async () => ((await engine.call("GET", `/images/${tag}/json`)) as { Id: string }).Id;
    const point = (image: string) => engine.call("POST", `/images/${image}/tag?repo=lab/app&tag=stable`);
    await point(old);
    const before = await digestOf();
    await runService(engine, "tagged", "web", { body: { Image: tag } });
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const plan = await session.plan(group("tagged"), changes({ web: tag }));
    const journal = memoryJournal();
    // The pull of a tag, as a registry with a newer image behind it would answer it.
    await journal.begin("pull", { service: "web", reference: tag, pulled: tag, tag_was: before });
    await point(broken);
    await apply(session, plan, journal);
    expect(await digestOf()).not.toBe(before);
    expect(await session.undo(group("tagged"), journal, null)).toMatchObject({ state: "untouched" });
    expect(await digestOf()).toBe(before);
    await removeGroup(engine, "tagged");
  });

  inTurn("a job runs once to its end before what needs it, and a bad end puts the group back", async () => {
    const script = "echo ran-$APP_VERSION >> /log/runs; test $APP_VERSION != 3.0.0";
    const job = { Cmd: ["/bin/sh", "-c", script] };
    const host = { Binds: ["jobs-log:/log"], RestartPolicy: { Name: "no" } };
    await runService(engine, "jobs", "migrate", { body: job, host });
    await eventually("the job has run", async () =>
      ["exited", "stopped"].includes((await inspectOne(engine, "jobs-migrate-1")).State.Status),
    );
    await runService(engine, "jobs", "web", { dependsOn: "migrate:service_completed_successfully:false" });
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const failing = memoryJournal();
    const failure = await updateGroup(session, "jobs", { migrate: broken, web: next }, failing).catch(errorMessage);
    expect(failure).toContain('"jobs-migrate-1" exited (code 1)');
    expect(failing.entries().some((each) => each.step === "stop" && each.facts.container === "jobs-web-1")).toBe(false);
    await session.undo(group("jobs"), failing, null);
    expect(await stateOf("jobs")).toEqual([`jobs-migrate-1 exited ${old}`, `jobs-web-1 running ${old}`]);
    const journal = memoryJournal();
    const plan = await updateGroup(session, "jobs", { migrate: next, web: next }, journal);
    expect(plan.warnings.map((each) => each.code)).toContain("job");
    expect(containersOf(plan.detail).map((each) => `${each.name} ${each.is_running}`)).toEqual([
      "jobs-migrate-1 false",
      "jobs-web-1 true",
    ]);
    await session.finish(group("jobs"), journal);
    expect(await stateOf("jobs")).toEqual([`jobs-migrate-1 exited ${next}`, `jobs-web-1 running ${next}`]);
    await removeGroup(engine, "jobs");
  });

  inTurn("a rollback leads every container back to what the snapshot says", async () => {
    const project = "back";
    await runStack(engine, project);
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const snapshot = (await session.snapshots?.capture(group(project))) ?? "";
    const before = await inspectOne(engine, name(project, "db"));
    const journal = memoryJournal();
    await updateGroup(session, project, { db: next, web: next, worker: next }, journal);
    await session.finish(group(project), journal);
    const again = memoryJournal();
    const plan = await restore(session, group(project), snapshot, again);
    expect(containersOf(plan.detail).map((each) => each.name)).toEqual(["back-db-1", "back-web-1", "back-worker-1"]);
    await session.finish(group(project), again);
    expect(await stateOf(project)).toEqual(["db", "web", "worker"].map((each) => `back-${each}-1 running ${old}`));
    const db = await inspectOne(engine, name(project, "db"));
    expect(db.Mounts[0]?.Name).toBe(before.Mounts[0]?.Name ?? "?");
    const web = await inspectOne(engine, name(project, "web"));
    expect((await inspectOne(engine, name(project, "worker"))).HostConfig.NetworkMode).toBe(`container:${web.Id}`);
    // Nothing is left to do, although the ids are others.
    const noop = await session.snapshots?.planRestore(group(project), snapshot);
    expect(noop?.is_noop).toBe(true);
    await removeGroup(engine, project);
  });

  inTurn("a rollback makes again what was removed, and leaves services alone that are as they were", async () => {
    const project = "again";
    await runStack(engine, project);
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const snapshot = (await session.snapshots?.capture(group(project))) ?? "";
    const db = (await inspectOne(engine, name(project, "db"))).Id;
    await engine.call("DELETE", `/containers/${name(project, "worker")}?force=1`);
    const journal = memoryJournal();
    const plan = await restore(session, group(project), snapshot, journal);
    expect(containersOf(plan.detail).map((each) => each.name)).toEqual(["again-worker-1"]);
    await session.finish(group(project), journal);
    expect(await stateOf(project)).toEqual(["db", "web", "worker"].map((each) => `again-${each}-1 running ${old}`));
    expect((await inspectOne(engine, name(project, "db"))).Id).toBe(db);
    await removeGroup(engine, project);
  });

  inTurn("a job that was cut short leads back: nobody saw it come to a good end", async () => {
    const host = { Binds: ["cut-log:/log"], RestartPolicy: { Name: "no" } };
    await runService(engine, "cut", "migrate", { body: { Cmd: ["/bin/true"] }, host });
    await eventually("the job has run", async () =>
      ["exited", "stopped"].includes((await inspectOne(engine, "cut-migrate-1")).State.Status),
    );
    await runService(engine, "cut", "web", { dependsOn: "migrate:service_completed_successfully:false" });
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const journal = memoryJournal();
    const dying = {
      ...journal,
      begin: async (...[step, facts]: Parameters<typeof journal.begin>) => {
        await journal.begin(step, facts);
        if (step === "wait") throw new ProcessDeath("the start of the job");
      },
    };
    await expect(updateGroup(session, "cut", { migrate: next, web: next }, dying)).rejects.toThrow(ProcessDeath);
    const recovery = await session.recover(group("cut"), journal.reopened(), null);
    expect(recovery.state).toBe("untouched");
    expect(await stateOf("cut")).toEqual([`cut-migrate-1 exited ${old}`, `cut-web-1 running ${old}`]);
    await removeGroup(engine, "cut");
  });

  // Podman 4.3 has no way to change a container by its API.
  test.if(!isPodman(mode))("what somebody changed while the run waited for others is not lost", async () => {
    const project = "meanwhile";
    await runStack(engine, project);
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const journal = memoryJournal();
    const plan = await session.plan(group(project), changes({ db: next, web: next, worker: next }));
    const isWaiting = () => journal.written().includes("wait begin");
    const change = eventually("the wait for the database", isWaiting).then(() =>
      engine.call("POST", `/containers/${name(project, "web")}/update`, { Memory: 256 * 1024 * 1024, MemorySwap: -1 }),
    );
    const failure = await apply(session, plan, journal).catch(errorMessage);
    await change;
    expect(failure).toContain('"meanwhile-web-1" changed while the run waited');
    expect(await session.undo(group(project), journal, null)).toMatchObject({ state: "untouched" });
    expect(await stateOf(project)).toEqual(["db", "web", "worker"].map((each) => `meanwhile-${each}-1 running ${old}`));
    await removeGroup(engine, project);
  });

  inTurn("once one previous container is being removed, recovery leads the whole group on", async () => {
    const project = "ending";
    await runStack(engine, project);
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const journal = memoryJournal();
    await updateGroup(session, project, { db: next, web: next, worker: next }, journal);
    // As after a crash in the middle of the end: of the others nothing is written yet.
    await journal.begin("remove_old", { container: name(project, "worker"), at: 0 });
    expect(await session.recover(group(project), journal, null)).toMatchObject({ state: "finished" });
    expect(await stateOf(project)).toEqual(["db", "web", "worker"].map((each) => `ending-${each}-1 running ${next}`));
    await removeGroup(engine, project);
  });

  inTurn("previous containers that a stranger removed are made again from the run's snapshot", async () => {
    const project = "prey";
    await runStack(engine, project);
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const snapshot = (await session.snapshots?.capture(group(project))) ?? "";
    const journal = memoryJournal();
    await updateGroup(session, project, { web: next, worker: broken }, journal);
    // What `docker compose up` does with stopped containers of a service that has enough others.
    for (const line of (await stateOf(project)).toReversed()) {
      const [container = ""] = line.split(" ");
      if (container.endsWith("-previous")) await engine.call("DELETE", `/containers/${container}`);
    }
    expect(await session.undo(group(project), journal, snapshot)).toMatchObject({ state: "untouched" });
    expect(await stateOf(project)).toEqual(["db", "web", "worker"].map((each) => `prey-${each}-1 running ${old}`));
    const web = await inspectOne(engine, name(project, "web"));
    expect(web.HostConfig.RestartPolicy.Name).toBe("always");
    expect((await inspectOne(engine, name(project, "worker"))).HostConfig.NetworkMode).toBe(`container:${web.Id}`);
    await removeGroup(engine, project);
  });

  inTurn("start before stop lets both run until the new one is ready", async () => {
    const network = "rolling_default";
    await engine.call("POST", "/networks/create", { Name: network });
    await runService(engine, "rolling", "web", {
      host: { NetworkMode: network },
      body: { NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: ["web"] } } } },
    });
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const plan = await session.plan(group("rolling"), changes({ web: next }), { start_first: true, drain_seconds: 2 });
    expect(plan).toMatchObject({ order: "start_first", drain_seconds: 2, refusals: [] });
    const journal = memoryJournal();
    await apply(session, plan, journal);
    const steps = journal.written();
    const inOrder = ["start finish", "drain begin", "drain finish", "stop begin"];
    expect(steps.filter((each) => inOrder.includes(each))).toEqual(inOrder);
    await session.finish(group("rolling"), journal);
    expect(await stateOf("rolling")).toEqual([`rolling-web-1 running ${next}`]);
    // One that does not get ready costs nothing: the old one was never stopped.
    const failing = await session.plan(group("rolling"), changes({ web: broken }), {
      start_first: true,
      drain_seconds: 0,
    });
    const second = memoryJournal();
    const started = (await inspectOne(engine, "rolling-web-1")).Id;
    expect(await apply(session, failing, second).catch(errorMessage)).toContain(
      "did not become ready beside the old one",
    );
    expect(second.written()).not.toContain("stop begin");
    await session.undo(group("rolling"), second, null);
    expect(await stateOf("rolling")).toEqual([`rolling-web-1 running ${next}`]);
    expect((await inspectOne(engine, "rolling-web-1")).Id).toBe(started);
    await removeGroup(engine, "rolling");
  });

  inTurn("start before stop is refused where both cannot run at once", async () => {
    await runStack(engine, "both");
    await using session = await openSession(engine.address, { kind: kindOf(mode) });
    const plan = await session.plan(group("both"), changes({ web: next }), { start_first: true, drain_seconds: 0 });
    expect(new Set(plan.refusals.map((each) => each.code))).toEqual(new Set(["start_first"]));
    // Podman also fixes a random port from the creation on.
    expect(english(plan.refusals.at(-1)?.message)).toContain('"both-worker-1" depends on it');
    await removeGroup(engine, "both");
  });
});
