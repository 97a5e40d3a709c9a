import { describe, expect, test } from "bun:test";
import { saidBy } from "../../../../src/errors.ts";
import { createCandidate, swapStartFirst } from "../../../../src/runtimes/engine/apply.ts";
import { blueprint } from "../../../../src/runtimes/engine/carry.ts";
import { replaceUnits, type Unit } from "../../../../src/runtimes/engine/group/apply.ts";
import { memberJournal } from "../../../../src/runtimes/engine/group/member-journal.ts";
import { recoverTogether } from "../../../../src/runtimes/engine/group/recover.ts";
import { type ContainerInspect, nameOf } from "../../../../src/runtimes/engine/objects.ts";
import { objectAt, type RawObject, stringAt } from "../../../../src/runtimes/engine/raw.ts";
import { testClient } from "../../../support/engine-client.ts";
import { english } from "../../../support/english.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { memoryJournal, ProcessDeath } from "../../../support/memory-journal.ts";
import { containerInspect, imageInspect } from "../inspect.ts";

const ref = { kind: "compose", id: "shop" } as const;
const image = imageInspect({ Config: { Healthcheck: { Test: ["CMD", "true"] } } });
const needsHealthy = "db:service_healthy:false";
const down = { Status: "exited", Running: false };
const ids = { db: "1".repeat(64), web: "2".repeat(64) };

function found(service: "db" | "web", dependsOn: string, change: RawObject = {}): ContainerInspect {
  const labels = {
    "com.docker.compose.project": "shop",
    "com.docker.compose.service": service,
    "com.docker.compose.container-number": "1",
    "com.docker.compose.depends_on": dependsOn,
  };
  return containerInspect({
    Id: ids[service],
    Name: `/${service}`,
    HostConfig: { RestartPolicy: { Name: "no", MaximumRetryCount: 0 } },
    ...change,
    Config: { Labels: labels },
  });
}

function unitOf(container: ContainerInspect, change: Partial<Unit> = {}): Unit {
  return {
    name: nameOf(container),
    old: container,
    origin: container,
    is_owed: false,
    is_to_run: true,
    blueprint: blueprint({
      container,
      oldImage: image,
      newImage: image,
      reference: "app:2",
      inherited: new Set(),
      apiVersion: "1.41",
    }),
    new_image_config: image.Config,
    platform: null,
    files: null,
    is_job: false,
    known_as: [container.Id],
    ...change,
  };
}

/** An engine with these containers on which what is started never gets healthy, and the moment in which somebody looks at that. */
function engineWith(containers: ContainerInspect[]) {
  const clock = createFakeClock();
  const stop = new AbortController();
  const asked = Promise.withResolvers<void>();
  const calls: string[] = [];
  const client = testClient(({ method, path, query, body }) => {
    if (path.endsWith("/containers/json")) {
      return { body: containers.map(({ Id, Name, Config }) => ({ Id, Names: [Name], Labels: Config.Labels })) };
    }
    if (path.endsWith("/containers/create")) {
      const { HostConfig, NetworkingConfig: _networks, ...Config } = objectAt(body);
      const Id = `${containers.length + 5}`.repeat(64);
      const State = { Status: "created", Running: false, StartedAt: "0001-01-01T00:00:00Z" };
      const made = containerInspect({ Id, Name: `/${query?.name}`, State });
      Object.assign(made.Config, { Hostname: Id.slice(0, 12), ...Config });
      Object.assign(made.HostConfig, HostConfig);
      if (stringAt(made.HostConfig.NetworkMode).startsWith("container:")) made.NetworkSettings = { Networks: {} };
      containers.push(made);
      return { status: 201, body: { Id, Warnings: [] } };
    }
    const one = containers.find(({ Id }) => path.includes(Id));
    if (one === undefined) return null;
    const change = /\/(stop|start)$/.exec(path)?.[1];
    if (change !== undefined) calls.push(`${change} ${nameOf(one).replace(/-tidemark-.*-/, "-")}`);
    if (path.endsWith("/rename")) one.Name = `/${query?.name}`;
    if (path.endsWith("/update")) Object.assign(one.HostConfig, body);
    if (change === "stop") Object.assign(one.State, down);
    if (change === "start") {
      const StartedAt = "2026-01-05T12:30:00Z";
      Object.assign(one.State, { Status: "running", Running: true, StartedAt, Health: { Status: "starting" } });
    }
    if (method === "GET" && one.State.Health?.Status === "starting") asked.resolve();
    if (method === "DELETE") containers.splice(containers.indexOf(one), 1);
    return { body: one };
  });
  const context = { client, clock, apiVersion: "1.41", composeFolders: [], stopping: stop.signal };
  const states = () => containers.map((each) => `${nameOf(each)} ${each.State.Status} ${each.Config.Image}`).sort();
  return {
    clock,
    context,
    asked: asked.promise,
    calls,
    states,
    end: () => stop.abort(new Error("The process is ending")),
  };
}

/** What the next process makes of it, to which nobody says that it is to end. */
async function recovered(engine: ReturnType<typeof engineWith>, journal: ReturnType<typeof memoryJournal>) {
  const context = { ...engine.context, stopping: undefined, retryDelayMs: 0 };
  return await engine.clock.runUntil(recoverTogether(context, ref, journal.reopened(), null));
}

/** `act` is done before the beginning of this step is written. */
function actingAt(journal: ReturnType<typeof memoryJournal>, step: string, act: () => void) {
  const begin: typeof journal.begin = async (each, facts) => {
    if (each === step) act();
    await journal.begin(each, facts);
  };
  return { ...journal, begin };
}

/** Awaited by the test itself: one that goes on waiting fails by its limit. */
const outcome = (work: Promise<void>) =>
  work.then(
    () => "applied",
    (error: unknown) => english(saidBy(error)),
  );

describe("when the process is to end, an update", () => {
  test("stops waiting for the health of what others need; the next process puts all back", async () => {
    const [db, web] = [found("db", ""), found("web", needsHealthy)];
    const engine = engineWith([db, web]);
    const journal = memoryJournal();
    const begun = engine.clock.now();
    const applying = replaceUnits(
      engine.context,
      [[unitOf(db)], [unitOf(web)]],
      { order: "stop_first", drain_seconds: 0 },
      new Map(),
      journal,
    );
    await Promise.race([applying, engine.asked]);
    engine.end();
    expect(await outcome(applying)).toBe("The process is ending");
    expect(engine.clock.now()).toBe(begun);
    // Both serve: the database's new one, and the old one that waits for it.
    expect(engine.calls).toEqual(["stop db", "start db"]);
    expect(await recovered(engine, journal)).toMatchObject({ state: "untouched" });
    expect(engine.states()).toEqual(["db running app:1", "web running app:1"]);
  });

  test("brings up what went down together without waiting any longer; the next process goes on with it", async () => {
    const host = { NetworkMode: `container:${ids.db}`, RestartPolicy: { Name: "no", MaximumRetryCount: 0 } };
    const [db, web] = [
      found("db", ""),
      found("web", needsHealthy, { HostConfig: host, NetworkSettings: { Networks: { bridge: null } } }),
    ];
    const engine = engineWith([db, web]);
    const journal = memoryJournal();
    const begun = engine.clock.now();
    const applying = replaceUnits(
      engine.context,
      [[unitOf(db), unitOf(web)]],
      { order: "stop_first", drain_seconds: 0 },
      new Map(),
      journal,
    );
    await Promise.race([applying, engine.asked]);
    engine.end();
    await applying;
    expect(engine.clock.now()).toBe(begun);
    expect(engine.calls).toEqual(["stop web", "stop db", "start db", "start web"]);
    const wait = journal.entries().find(({ step, phase }) => step === "wait" && phase === "finish");
    expect(wait?.facts).toMatchObject({ for: "db", is_cut_short: true });
    expect(await recovered(engine, journal)).toMatchObject({ state: "started" });
  });

  test("takes nothing down any more", async () => {
    const db = found("db", "");
    const engine = engineWith([db]);
    const journal = memoryJournal();
    engine.end();
    const applying = replaceUnits(
      engine.context,
      [[unitOf(db)]],
      { order: "stop_first", drain_seconds: 0 },
      new Map(),
      journal,
    );
    expect(await outcome(applying)).toBe("The process is ending");
    expect(engine.calls).toEqual([]);
    expect(await recovered(engine, journal)).toMatchObject({ state: "untouched" });
    expect(engine.states()).toEqual(["db running app:1"]);
  });

  test("stops waiting for the end of a job", async () => {
    const [job, web] = [found("db", "", { State: down }), found("web", "db:service_completed_successfully:false")];
    const engine = engineWith([job, web]);
    const journal = memoryJournal();
    const units = [[unitOf(job, { is_job: true, is_to_run: false })], [unitOf(web)]];
    const applying = replaceUnits(engine.context, units, { order: "stop_first", drain_seconds: 0 }, new Map(), journal);
    await Promise.race([applying, engine.asked]);
    engine.end();
    expect(await outcome(applying)).toBe("The process is ending");
    expect(engine.calls).toEqual(["start db"]);
  });

  test.each(["told to end", "killed"])(
    "begins no job any more, where it is %s; the next one puts the former back",
    async (how) => {
      const job = found("db", "", { State: down });
      const engine = engineWith([job]);
      const journal = actingAt(memoryJournal(), "wait", () => {
        if (how === "told to end") engine.end();
        else throw new ProcessDeath("the beginning of the job");
      });
      const units = [[unitOf(job, { is_job: true, is_to_run: false })]];
      const applying = replaceUnits(
        engine.context,
        units,
        { order: "stop_first", drain_seconds: 0 },
        new Map(),
        journal,
      );
      expect(await outcome(applying)).toMatch(/^The process (is ending|died)/);
      expect(engine.calls).toEqual([]);
      expect(await recovered(engine, journal)).toMatchObject({ state: "untouched" });
      expect(engine.states()).toEqual(["db exited app:1"]);
    },
  );

  test("leaves the old one up also where the new one is ready beside it", async () => {
    const db = found("db", "");
    const engine = engineWith([db]);
    const journal = memoryJournal();
    const candidate = await createCandidate(engine.context, unitOf(db), ["db"], memberJournal(journal, "db"));
    const swapping = swapStartFirst(engine.context, candidate, async () => engine.end());
    expect(await outcome(swapping)).toBe("The process is ending");
    expect(engine.calls).toEqual(["start db-next"]);
    expect(await recovered(engine, journal)).toMatchObject({ state: "untouched" });
    expect(engine.states()).toEqual(["db running app:1"]);
  });

  test("that starts the new one first stops waiting for it, beside the old one", async () => {
    const db = found("db", "");
    const engine = engineWith([db]);
    const journal = memoryJournal();
    const applying = replaceUnits(
      engine.context,
      [[unitOf(db)]],
      { order: "start_first", drain_seconds: 0 },
      new Map(),
      journal,
    );
    await Promise.race([applying, engine.asked]);
    engine.end();
    expect(await outcome(applying)).toBe("The process is ending");
    expect(engine.calls).toEqual(["start db-next"]);
    expect(await recovered(engine, journal)).toMatchObject({ state: "untouched" });
    expect(engine.states()).toEqual(["db running app:1"]);
  });
});

describe("the time in which both run", () => {
  /** The new one is healthy as soon as somebody looks; the old one is `db`. */
  async function draining(
    act: (engine: ReturnType<typeof engineWith>, next: ContainerInspect) => void = () => undefined,
  ) {
    const containers = [found("db", "")];
    const engine = engineWith(containers);
    const journal = memoryJournal();
    const units = [[unitOf(containers[0] as ContainerInspect)]];
    const begun = Promise.withResolvers<void>();
    const watched = actingAt(journal, "drain", () => begun.resolve());
    const work = replaceUnits(engine.context, units, { order: "start_first", drain_seconds: 60 }, new Map(), watched);
    const applying = outcome(work);
    await engine.asked;
    const next = containers.find((each) => nameOf(each).includes("tidemark")) as ContainerInspect;
    Object.assign(next.State, { Health: { Status: "healthy" } });
    await engine.clock.runUntil(begun.promise);
    const since = engine.clock.now();
    act(engine, next);
    const said = await engine.clock.runUntil(applying);
    return { engine, journal, said, lasted: engine.clock.now() - since };
  }

  test("ends before the old one stops, and not sooner", async () => {
    const { engine, journal, said, lasted } = await draining();
    expect(said).toBe("applied");
    expect(lasted).toBe(60_000);
    expect(engine.calls).toEqual(["start db-next", "stop db"]);
    const steps = journal.written().filter((each) => /^(start|drain|stop) /.test(each));
    expect(steps).toEqual(["start begin", "start finish", "drain begin", "drain finish", "stop begin", "stop finish"]);
    expect(journal.entries().find(({ step }) => step === "drain")?.facts).toMatchObject({
      container: "db",
      seconds: 60,
    });
  });

  test("ends at once with the process; both go on, and the next process takes the new one away", async () => {
    const { engine, journal, said, lasted } = await draining(({ end }) => end());
    expect([said, lasted]).toEqual(["The process is ending", 0]);
    expect(engine.calls).toEqual(["start db-next"]);
    expect(await recovered(engine, journal)).toMatchObject({ state: "untouched" });
    expect(engine.states()).toEqual(["db running app:1"]);
  });

  test("ends with a new one that does not stay ready: the old one is never stopped", async () => {
    const { engine, journal, said, lasted } = await draining((_engine, next) => {
      Object.assign(next.State, { ...down, ExitCode: 3 });
    });
    expect(said).toBe('The new "db" did not stay ready beside the old one: container exited (code 3)');
    expect(lasted).toBeLessThan(60_000);
    expect(engine.calls).toEqual(["start db-next"]);
    expect(journal.written()).toContain("drain fail");
  });
});
