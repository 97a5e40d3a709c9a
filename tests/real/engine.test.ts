import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { errorMessage, PluginError } from "../../src/errors.ts";
import type { Change } from "../../src/runtimes/plan.ts";
import type { RuntimeSession } from "../../src/runtimes/session.ts";
import { type EngineMode, startEngine, type TestEngine } from "../peers/engine.ts";
import { account, type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { engineSuite, isPodman } from "../support/engine-modes.ts";
import { english } from "../support/english.ts";
import { memoryJournal } from "../support/memory-journal.ts";
import { pushImage } from "../support/oci-image.ts";
import { apply } from "../support/prepared.ts";
import {
  changeTo,
  containersNamed,
  downAfterUpdate,
  images,
  importImages,
  inspectContainer,
  openSession,
  removeContainers,
  restore,
  runContainer,
  target,
} from "../support/update-target.ts";

// Each is over in a second; a machine that builds something beside them needs longer.
setDefaultTimeout(60_000);

type Json = Record<string, unknown>;

const second = 1_000_000_000;

async function thrown(work: Promise<unknown>): Promise<PluginError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof PluginError) return error;
  throw new Error(`Expected a PluginError, got ${errorMessage(error)}`);
}

engineSuite("a real engine and registry", suite, undefined, registryMissing());

function suite(mode: EngineMode): void {
  let engine: TestEngine;
  let registry: Registry;
  let locked: Registry;
  let session: RuntimeSession;

  beforeAll(async () => {
    engine = await startEngine({ mode });
    await importImages(engine);
    [registry, locked] = await Promise.all([startRegistry(), startRegistry({ auth: "basic" })]);
    session = await openSession(engine);
  }, 120_000);
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    await Promise.all([registry.stop(), locked.stop()]);
    await engine.stop();
  }, 60_000);

  async function push(repository: string, tag: string, options: Parameters<typeof pushImage>[4] = {}) {
    const digest = await pushImage(registry.url, null, repository, tag, options);
    const image = `${registry.host}/${repository}`;
    return { digest, reference: `${image}:${tag}`, pinned: `${image}@${digest}` };
  }
  function change(to: { reference: string; pinned: string }): Change {
    return { kind: "image", service: "main", reference: to.reference, digest: to.pinned, image_config: null };
  }
  /** A running container of a pushed image. */
  async function serve(name: string, image: { reference: string }, body: Json = {}): Promise<string> {
    await engine.pullImage(image.reference);
    return await runContainer(engine, name, { Image: image.reference, ...body });
  }

  test("discover() shows every container, with the digest and platform of its image", async () => {
    const one = await push("team/shown", "1.0.0");
    await serve("shown", one, { Labels: { mine: "yes" } });
    const found = (await session.discover()).find((each) => each.name === "shown");
    expect(found).toMatchObject({
      ref: { kind: "container", id: "shown" },
      services: [
        {
          name: "main",
          artifact: { kind: "image", reference: one.reference, digest: one.digest, platform: "linux/amd64" },
          state: "running",
        },
      ],
      labels: { mine: "yes" },
      refusals: [],
    });
    await removeContainers(engine, "shown");
  });

  test("an update pulls by digest, names the tag, replaces the container and keeps the previous until finish()", async () => {
    const one = await push("team/app", "1.0.0", { env: { COLOUR: "red" } });
    const two = await push("team/app", "1.1.0", { env: { COLOUR: "blue" } });
    const oldId = await serve("app", one, { Env: ["MINE=1"], HostConfig: { RestartPolicy: { Name: "always" } } });
    const journal = memoryJournal();
    const plan = await session.plan(target("app"), [change(two)]);
    expect(plan).toMatchObject({ is_noop: false, refusals: [], diff: [{ path: "Image", because: "desired" }] });
    const prepared = await session.prepare(plan, [], journal);
    expect(prepared.is_noop).toBe(false);
    const last = journal.progressed.at(-1);
    expect(last !== undefined && "layers_done" in last ? last.layers_done : 0).toBeGreaterThan(0);
    // The same hash after the pull, and now the defaults of the new image are known too.
    const again = await session.plan(target("app"), [change(two)]);
    expect(again.hash).toBe(plan.hash);
    expect(again.diff.map((each) => each.path)).toContain("Env.COLOUR");

    await prepared.apply();
    expect(await containersNamed(engine, "app")).toMatchObject([
      { name: "app", state: "running", image: two.reference },
      { name: expect.stringMatching(/^app-tidemark-.{8}-previous$/), state: "exited", image: one.reference },
    ]);
    const after = await inspectContainer(engine, "app");
    expect(after).toMatchObject({
      Config: { Labels: { "tidemark.run": journal.run_id, "tidemark.previous": oldId } },
      HostConfig: { RestartPolicy: { Name: "always" } },
    });
    expect((after as Json).Config).toMatchObject({ Env: expect.arrayContaining(["MINE=1", "COLOUR=blue"]) });
    const facts = (step: string, phase: string) =>
      journal.entries().find((entry) => entry.step === step && entry.phase === phase)?.facts ?? {};
    const { stopping_at, stopped_at } = facts("stop", "finish");
    const { started_at } = facts("start", "finish");
    expect(Number(stopping_at)).toBeLessThanOrEqual(Number(stopped_at));
    expect(Number(stopped_at)).toBeLessThanOrEqual(Number(started_at));

    await session.finish(target("app"), journal);
    await session.finish(target("app"), journal);
    expect(await containersNamed(engine, "app")).toMatchObject([{ name: "app", state: "running" }]);
    await removeContainers(engine, "app");
  });

  test("the same image under the same reference is a no-op, also when the pull shows it", async () => {
    const one = await push("team/same", "1.0.0");
    const id = await serve("same", one);
    const known = await session.plan(target("same"), [change(one)]);
    expect(known.is_noop).toBe(true);
    const byTag = await session.plan(target("same"), [changeTo(one.reference)]);
    expect(byTag.is_noop).toBe(false);
    const journal = memoryJournal();
    const prepared = await session.prepare(byTag, [], journal);
    expect(prepared.is_noop).toBe(true);
    await prepared.apply();
    expect(journal.written()).toEqual(["pull begin", "pull finish"]);
    expect(await inspectContainer(engine, "same")).toMatchObject({ Id: id });
    await removeContainers(engine, "same");
  });

  test("a republished tag, and a switch between tag and digest, are changes once and then no-ops", async () => {
    const first = await push("team/moves", "1.0.0", { created: "2026-01-01T00:00:00Z" });
    await serve("moves", first);
    const second = await push("team/moves", "1.0.0", { created: "2026-02-02T00:00:00Z" });
    expect(second.digest).not.toBe(first.digest);
    const pinned: Change = {
      kind: "image",
      service: "main",
      reference: second.pinned,
      digest: second.pinned,
      image_config: null,
    };
    for (const wanted of [change(second), pinned, change(second)]) {
      const journal = memoryJournal();
      const plan = await session.plan(target("moves"), [wanted]);
      expect(plan.is_noop).toBe(false);
      await (await session.prepare(plan, [], journal)).apply();
      await session.finish(target("moves"), journal);
      expect((await session.plan(target("moves"), [wanted])).is_noop).toBe(true);
      expect((await session.inspect(target("moves"))).services[0]?.artifact).toMatchObject({
        reference: wanted.reference,
        digest: second.digest,
      });
    }
    await removeContainers(engine, "moves");
  });

  test("a pull that fails changes nothing and says what the registry said", async () => {
    const one = await push("team/absent", "1.0.0");
    const id = await serve("absent", one);
    const missing = {
      reference: `${registry.host}/team/absent:9.9.9`,
      pinned: `${registry.host}/team/absent@sha256:${"0".repeat(64)}`,
    };
    const journal = memoryJournal();
    const byDigest = await session.plan(target("absent"), [change(missing)]);
    expect(await thrown(session.prepare(byDigest, [], journal))).toMatchObject({ code: "not_found" });
    const byTag = await session.plan(target("absent"), [changeTo(missing.reference)]);
    expect(await thrown(session.prepare(byTag, [], memoryJournal()))).toMatchObject({ code: "not_found" });
    const nowhere = await session.plan(target("absent"), [changeTo("127.0.0.1:1/team/absent:2")]);
    expect(await thrown(session.prepare(nowhere, [], memoryJournal()))).toMatchObject({ code: "unreachable" });
    expect(journal.written()).toEqual(["pull begin", "pull fail"]);
    expect(await inspectContainer(engine, "absent")).toMatchObject({ Id: id, State: { Running: true } });
    await removeContainers(engine, "absent");
  });

  test("a registry's login goes to its own registry and to no other", async () => {
    const digest = await pushImage(locked.url, locked.auth, "team/locked", "1.0.0");
    const name = "locked";
    await runContainer(engine, name);
    const wanted: Change = {
      kind: "image",
      service: "main",
      reference: `${locked.host}/team/locked:1.0.0`,
      digest: `${locked.host}/team/locked@${digest}`,
      image_config: null,
    };
    const plan = await session.plan(target(name), [wanted]);
    expect(await thrown(session.prepare(plan, [], memoryJournal()))).toMatchObject({ code: "unauthorized" });
    const elsewhere = { ...account, host: "registry.example.com" };
    expect(await thrown(session.prepare(plan, [elsewhere], memoryJournal()))).toMatchObject({ code: "unauthorized" });
    const journal = memoryJournal();
    const prepared = await session.prepare(plan, [{ ...account, host: locked.host }], journal);
    expect(prepared.is_noop).toBe(false);
    expect(JSON.stringify(journal.entries())).not.toContain(account.password);
    await removeContainers(engine, name);
  });

  test("an image for another platform is refused after the pull", async () => {
    const one = await push("team/arm", "1.0.0");
    const arm = await push("team/arm", "2.0.0", { platforms: ["linux/arm64"], form: "manifest" });
    const id = await serve("arm", one);
    const plan = await session.plan(target("arm"), [change(arm)]);
    expect((await thrown(session.prepare(plan, [], memoryJournal()))).message).toMatch(/linux\/arm64|no matching/);
    expect(await inspectContainer(engine, "arm")).toMatchObject({ Id: id, State: { Running: true } });
    await removeContainers(engine, "arm");
  });

  test("a target that was changed since the plan was made is refused", async () => {
    await runContainer(engine, "changed");
    const plan = await session.plan(target("changed"), [changeTo(images.next)]);
    await engine.call("POST", "/containers/changed/restart?t=1");
    expect((await session.plan(target("changed"), [changeTo(images.next)])).hash).toBe(plan.hash);
    await removeContainers(engine, "changed");
    await runContainer(engine, "changed", { Env: ["MINE=1"] });
    const journal = memoryJournal();
    expect((await thrown(apply(session, plan, journal))).message).toContain("plan again");
    expect(journal.written()).toEqual([]);
    await removeContainers(engine, "changed");
  });

  test("undo() puts the previous one back and leaves nothing, also no volume of the new image", async () => {
    await engine.importImage("lab/brings:1", ["VOLUME /brought", 'CMD ["/bin/sh","-c","exit 3"]']);
    const volumes = async () => ((await engine.call("GET", "/volumes")) as { Volumes: Json[] | null }).Volumes ?? [];
    const id = await runContainer(engine, "back", {
      Volumes: { "/mine": {} },
      HostConfig: { RestartPolicy: { Name: "unless-stopped" } },
    });
    const before = await inspectContainer(engine, "back");
    const volumesBefore = (await volumes()).map((each) => each.Name).sort();
    const journal = memoryJournal();
    await apply(session, await session.plan(target("back"), [changeTo("lab/brings:1")]), journal);
    expect(await session.undo(target("back"), journal, null)).toMatchObject({ state: "untouched" });
    expect(await session.undo(target("back"), journal, null)).toMatchObject({ state: "untouched" });
    expect(await containersNamed(engine, "back")).toMatchObject([
      { name: "back", state: "running", image: images.old },
    ]);
    const after = await inspectContainer(engine, "back");
    expect(after).toMatchObject({ Id: id, Config: before.Config, HostConfig: before.HostConfig });
    expect((await volumes()).map((each) => each.Name).sort()).toEqual(volumesBefore);
    await removeContainers(engine, "back");
  });

  test("a stopped container stays stopped, forwards and back", async () => {
    const name = "resting";
    await engine.call("POST", `/containers/create?name=${name}`, {
      Image: images.old,
      HostConfig: { RestartPolicy: { Name: "always" } },
    });
    const forward = memoryJournal();
    await apply(session, await session.plan(target(name), [changeTo(images.next)]), forward);
    await session.undo(target(name), forward, null);
    expect(await containersNamed(engine, name)).toMatchObject([{ name, state: "created", image: images.old }]);
    const again = memoryJournal();
    await apply(session, await session.plan(target(name), [changeTo(images.next)]), again);
    await session.finish(target(name), again);
    expect(await containersNamed(engine, name)).toMatchObject([{ name, state: "created", image: images.next }]);
    expect(await inspectContainer(engine, name)).toMatchObject({ HostConfig: { RestartPolicy: { Name: "always" } } });
    await removeContainers(engine, name);
  });

  test.each([
    { ran: true, state: "running" },
    { ran: false, state: "exited" },
  ])("a rollback of one that is down ends as its snapshot was: $state", async ({ ran, state }) => {
    const name = `down-${state}`;
    const body = { HostConfig: { RestartPolicy: { Name: "always" } } };
    const snapshot = await downAfterUpdate(engine, name, body, ran);
    const journal = memoryJournal();
    const plan = await restore(session, target(name), snapshot, journal);
    expect(plan.services).toMatchObject([{ from: { is_running: false }, to: { is_running: ran } }]);
    await session.finish(target(name), journal);
    const [found, ...others] = await containersNamed(engine, name);
    expect(others).toEqual([]);
    // What is not to run was never started.
    expect(found).toMatchObject({ name, image: images.old, state: ran ? "running" : "created" });
    expect(await inspectContainer(engine, name)).toMatchObject(body);
    const again = await session.snapshots?.planRestore(target(name), snapshot);
    expect(again?.is_noop).toBe(true);
    await removeContainers(engine, name);
  });

  test("one that is gone comes back running or stopped, as its snapshot was", async () => {
    for (const ran of [true, false]) {
      const snapshot = await downAfterUpdate(engine, "gone", {}, ran);
      await removeContainers(engine, "gone");
      const journal = memoryJournal();
      await restore(session, target("gone"), snapshot, journal);
      await session.finish(target("gone"), journal);
      const state = ran ? "running" : "created";
      expect(await containersNamed(engine, "gone")).toMatchObject([{ name: "gone", image: images.old, state }]);
      await removeContainers(engine, "gone");
    }
  });

  test("readiness() follows the container's own health check and its exits", async () => {
    const check = (command: string) => ({
      Healthcheck: { Test: ["CMD-SHELL", command], Interval: second, Timeout: second, Retries: 1 },
    });
    const settled = async (name: string) => {
      for (;;) {
        // Where there is no systemd, nobody else has Podman run its checks.
        if (isPodman(mode)) await engine.call("GET", `/v4.0.0/libpod/containers/${name}/healthcheck`).catch(() => null);
        const readiness = await session.readiness(target(name), 0, memoryJournal());
        if (readiness.ready || readiness.final === true) return { ...readiness, detail: english(readiness.detail) };
        await Bun.sleep(100);
      }
    };
    await runContainer(engine, "healthy", check("true"));
    await runContainer(engine, "unhealthy", check("echo no database; exit 1"));
    await runContainer(engine, "exits", { Image: images.exits });
    await runContainer(engine, "loops", { Image: images.exits, HostConfig: { RestartPolicy: { Name: "always" } } });
    expect(await settled("healthy")).toMatchObject({ ready: true });
    expect(await settled("unhealthy")).toMatchObject({ ready: false, detail: expect.stringContaining("no database") });
    expect(await settled("exits")).toMatchObject({ ready: false, detail: expect.stringContaining("exited (code 3)") });
    // Podman has no state between two attempts: there it has ended for a moment.
    const looping = isPodman(mode) ? /restarted|exited \(code 3\)/ : /restarted/;
    expect(await settled("loops")).toMatchObject({ ready: false, detail: expect.stringMatching(looping) });
    for (const name of ["healthy", "unhealthy", "exits", "loops"]) await removeContainers(engine, name);
  }, 30_000);

  test("a snapshot brings back a configuration that is deep-equal on inspect, and its image", async () => {
    const one = await push("team/snap", "1.0.0", { env: { COLOUR: "red" } });
    const two = await push("team/snap", "1.0.1", { env: { COLOUR: "blue" } });
    await serve("snap", one, {
      Env: ["MINE=1"],
      Labels: { keep: "me" },
      HostConfig: {
        Binds: ["snap-data:/data"],
        PortBindings: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "18125" }] },
        RestartPolicy: { Name: "on-failure", MaximumRetryCount: 2 },
        ExtraHosts: ["db:192.0.2.1"],
      },
    });
    const before = await inspectContainer(engine, "snap");
    const snapshot = await session.snapshots?.capture(target("snap"));
    if (snapshot === undefined) throw new Error("Docker has snapshots");
    const journal = memoryJournal();
    const plan = await session.plan(target("snap"), [change(two)]);
    await (await session.prepare(plan, [], journal)).apply();
    await session.finish(target("snap"), journal);
    // The old image goes too: it comes back by its digest.
    await engine.call("DELETE", `/images/${one.reference}`);

    for (const isGone of [false, true]) {
      if (isGone) await engine.call("DELETE", "/containers/snap?force=1");
      const back = memoryJournal();
      const restore = await session.snapshots?.planRestore(target("snap"), snapshot);
      if (restore === undefined) throw new Error("Docker has snapshots");
      expect(restore).toMatchObject({ refusals: [], is_noop: false });
      await (await session.snapshots?.prepareRestore(restore, snapshot, [], back))?.apply();
      await session.finish(target("snap"), back);
      expect(await containersNamed(engine, "snap")).toMatchObject([{ state: "running", image: one.reference }]);
      const after = await inspectContainer(engine, "snap");
      expect(configurationOf(after)).toEqual(configurationOf(before));
    }
    await removeContainers(engine, "snap");
  });

  test("recover() keeps the new one when a stranger has removed the previous", async () => {
    const journal = memoryJournal();
    await runContainer(engine, "prey");
    await apply(session, await session.plan(target("prey"), [changeTo(images.next)]), journal);
    const previous = (await containersNamed(engine, "prey")).find((each) => each.name !== "prey");
    await engine.call("DELETE", `/containers/${previous?.name}`);
    expect(await session.recover(target("prey"), journal, null)).toMatchObject({ state: "finished" });
    expect(await session.undo(target("prey"), journal, null)).toMatchObject({ state: "finished" });
    expect(await containersNamed(engine, "prey")).toMatchObject([
      { name: "prey", state: "running", image: images.next },
    ]);
    await removeContainers(engine, "prey");
  });

  test("the container that we run in, and who shares its data, are refused", async () => {
    const data = { HostConfig: { Binds: ["our-data:/data"] } };
    const id = await runContainer(engine, "ourselves", data);
    await runContainer(engine, "backup", data);
    await runContainer(engine, "stranger");
    await using inside = await openSession(engine, { self: { hostname: id.slice(0, 12), data_dir: "/data" } });
    const codes = Object.fromEntries(
      (await inside.discover()).map((each) => [each.name, each.refusals.map((refusal) => refusal.code)]),
    );
    expect(codes).toMatchObject({ ourselves: ["own_container"], backup: ["own_data"], stranger: [] });
    for (const name of ["ourselves", "backup", "stranger"]) await removeContainers(engine, name);
  });
}

/** What a person configured: inspect without ids, times, run-time state and our own labels. */
function configurationOf(container: Json): Json {
  const config = { ...(container.Config as Json) };
  const host = container.HostConfig as Json;
  const labels = Object.entries((config.Labels as Json | null) ?? {}).filter(([key]) => !key.startsWith("tidemark."));
  const networks = Object.entries(((container.NetworkSettings as Json).Networks as Json) ?? {}).map(([name, raw]) => {
    const { IPAMConfig, Links, Aliases, DriverOpts, NetworkID } = raw as Json;
    const aliases = ((Aliases as string[] | null) ?? []).filter((alias) => !String(container.Id).startsWith(alias));
    return [name, { IPAMConfig, Links, aliases, DriverOpts, NetworkID }];
  });
  return {
    config: { ...config, Hostname: null, Labels: Object.fromEntries(labels), Env: settingsOf(config.Env as string[]) },
    host: { ...host, Binds: ((host.Binds as string[] | null) ?? []).map((bind) => bind.split(/[:,]/).sort()) },
    image: container.Image,
    mounts: container.Mounts,
    networks: Object.fromEntries(networks),
    args: [container.Path, container.Args],
  };
}

/** Without the name that Podman makes of the id; the order of variables means nothing. */
function settingsOf(env: readonly string[]): readonly string[] {
  return env.filter((line) => !line.startsWith("HOSTNAME=")).sort();
}
