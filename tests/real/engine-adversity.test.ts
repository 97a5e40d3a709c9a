import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemActor } from "../../src/auth/schema.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { freePort } from "../peers/free-port.ts";
import { registryMissing } from "../peers/registry.ts";
import { type Lab, labRepository, startLab } from "../support/engine-lab.ts";
import { engineSuite, isPodman, matrixSuite } from "../support/engine-modes.ts";
import { type EngineProxy, startEngineProxy } from "../support/engine-proxy.ts";
import { english } from "../support/english.ts";
import { eventually } from "../support/eventually.ts";
import { containerStates, group, removeGroup, runService } from "../support/group-target.ts";
import { startHealthTimer } from "../support/health-timer.ts";
import { startLeavingRegistry } from "../support/leaving-registry.ts";
import { pushImage } from "../support/oci-image.ts";
import { quickCheck } from "../support/real-runs.ts";
import { inspectContainer, removeContainers, runTyped, target } from "../support/update-target.ts";

setDefaultTimeout(600_000);

const live = new AbortController().signal;
const minuteMs = 60_000;
/** Asked so often that a verdict comes soon; times in nanoseconds. */
const healthcheck = (code: number) => ({
  Test: ["CMD", "/bin/sh", "-c", `echo says ${code}; exit ${code}`],
  Interval: 300_000_000,
  Timeout: 10_000_000_000,
  Retries: 2,
});

const tags = {
  "2.0.0": {},
  "3.0.0": { form: "docker", healthcheck: healthcheck(0) },
  "4.0.0": { form: "docker", healthcheck: healthcheck(1) },
  "5.0.0": { platforms: ["linux/arm64"] },
  "6.0.0": { platforms: ["linux/arm64", "linux/s390x"] },
} as const;

/** A listener that holds a port of loopback. */
async function holdPort(port: number): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return server;
}

const isStart = (label: string) => label.endsWith("/start") && !label.includes("tidemark-probe");

matrixSuite(
  "what goes wrong around an update",
  (mode, inTurn) => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-adversity-"));
    let engine: TestEngine;
    let lab: Lab;
    let proxy: EngineProxy;
    let stopTimer: () => Promise<void> = async () => undefined;
    beforeAll(async () => {
      // Else Docker asks a registry that is gone for most of a minute.
      const args = isPodman(mode) ? [] : ["--max-download-attempts", "1"];
      engine = await startEngine({ mode, args });
      proxy = await startEngineProxy(engine.socket, join(folder, "engine.sock"));
      lab = await startLab(engine, tags, `unix://${proxy.socket}`);
      stopTimer = startHealthTimer(engine);
    }, 240_000);
    afterAll(async () => {
      await stopTimer();
      await proxy?.stop();
      await lab?.stop();
      await engine?.stop();
      rmSync(folder, { recursive: true, force: true });
    }, 120_000);

    inTurn(
      "a registry that goes away in the middle of a pull leaves the old one alone, and is tried once more",
      async () => {
        const front = await startLeavingRegistry(lab.registry);
        const { runs } = lab;
        const image = `${front.host}/${labRepository}`;
        await engine.pullImage(`${image}:1.0.0`);
        const id = await runTyped(engine, "leaving", `${image}:1.0.0`);
        // A layer that no other test brings to the engine.
        const files = { "/data": Array.from({ length: 8_000 }, () => crypto.randomUUID()).join("\n") };
        const digest = await pushImage(lab.registry.url, null, labRepository, "1.5.0", { version: "1.5.0", files });
        const executor = await runs.addExecutor({
          connection: lab.connection,
          target: target("leaving"),
          desired: { image, tag: "1.5.0", digest },
          settings: { trigger: "immediate" },
        });
        const failAgain = async () => {
          front.comeBack();
          const stalled = front.stallNextLayer();
          const ticking = runs.tick();
          await Promise.race([stalled, ticking]);
          front.leave();
          await ticking;
        };
        await failAgain();
        const [first] = await runs.runsOf(executor);
        expect(first).toMatchObject({ state: "failed", reason_code: "unreachable", serving: "previous" });
        expect(english(first?.reason)).toContain("could not pull");
        await runs.tick();
        runs.clock.pass(9 * minuteMs);
        await runs.tick();
        expect(await runs.runsOf(executor)).toHaveLength(1);
        runs.clock.pass(2 * minuteMs);
        await failAgain();
        expect((await runs.runsOf(executor)).map((run) => `${run.state} ${run.attempt}`)).toEqual([
          "failed 1",
          "failed 2",
        ]);
        for (let hours = 0; hours < 3; hours += 1) {
          runs.clock.pass(60 * minuteMs);
          await runs.tick();
        }
        expect(await runs.runsOf(executor)).toHaveLength(2);
        expect(await inspectContainer(engine, "leaving")).toMatchObject({ Id: id, State: { Status: "running" } });
        // By hand, once it is back.
        front.comeBack();
        expect(await runs.update(executor)).toMatchObject({ state: "succeeded", serving: "desired" });
        expect(await lab.found("leaving")).toEqual(["leaving running 1.5.0"]);
        await removeContainers(engine, "leaving");
        await front.stop();
      },
    );

    test.each([
      { tag: "5.0.0", words: /linux\/arm64/ },
      { tag: "6.0.0", words: /no matching manifest|no image found|linux\/(arm64|s390x|amd64)/ },
    ])("an image for other platforms ($tag) is refused by name before anything stops", async ({ tag, words }) => {
      const { runs } = lab;
      const name = `foreign-${tag.split(".")[0]}`;
      const id = await lab.begin(name);
      const desired = lab.offer(tag);
      const executor = await runs.addExecutor({ connection: lab.connection, target: target(name), desired });
      const before = await inspectContainer(engine, name);
      const run = await runs.update(executor);
      expect(run).toMatchObject({ state: "failed", reason_code: "pull_failed", serving: "previous" });
      expect(english(run.reason)).toMatch(words);
      expect((await runs.steps(run.id)).filter((step) => /^(create|stop|rename|start)/.test(step))).toEqual([]);
      expect(await inspectContainer(engine, name)).toMatchObject({ Id: id, State: before.State });
      expect(await lab.found(name)).toEqual([`${name} running 1.0.0`]);
      await removeContainers(engine, name);
    });

    inTurn.each([
      { policy: { on_failure: "failed" }, restore: true, ends: "failed previous", stays: "1.0.0" },
      { policy: { on_failure: "failed" }, restore: false, ends: "failed desired", stays: "4.0.0" },
      { policy: { on_failure: "degraded" }, restore: true, ends: "degraded desired", stays: "4.0.0" },
    ])(
      "an image that never gets healthy ends $ends, alone and in a group",
      async ({ policy, restore, ends, stays }) => {
        const { runs } = lab;
        const settings = { health_check: { ...quickCheck, ...policy }, restore_on_failure: restore };
        const desired = lab.offer("4.0.0");
        const name = `sick-${ends.replace(" ", "-")}`;
        const project = `${name}-group`;
        await lab.begin(name);
        const Image = `${desired.image}:1.0.0`;
        for (const service of ["a", "b"]) await runService(engine, project, service, { body: { Image } });
        const { connection } = lab;
        const single = await runs.addExecutor({ connection, target: target(name), desired, settings });
        const several = await runs.addExecutor({
          connection,
          target: group(project),
          services: ["a", "b"],
          desired,
          settings,
        });
        for (const executor of [single, several]) {
          const run = await runs.update(executor);
          expect([`${run.state} ${run.serving}`, run.reason_code, run.cleanup_due_at]).toEqual([
            ends,
            "unhealthy",
            null,
          ]);
          expect(english(run.reason)).toContain("health check failed: says 1");
          expect(await runs.eventsOf(run.id)).toHaveLength(1);
        }
        expect(await lab.found(name)).toEqual([`${name} running ${stays}`]);
        expect((await containerStates(engine, project)).map((line) => line.replace(/ \S*:/, " "))).toEqual([
          `${project}-a-1 running ${stays}`,
          `${project}-b-1 running ${stays}`,
        ]);
        await removeContainers(engine, name);
        await removeGroup(engine, project);
      },
    );

    inTurn(
      "a stranger on the port keeps the new one from its start, and the old one is back once the port is free",
      async () => {
        const { runs } = lab;
        const port = await freePort();
        await lab.begin("port", published(port));
        const desired = lab.offer("2.0.0");
        const executor = await runs.addExecutor({ connection: lab.connection, target: target("port"), desired });
        let stranger: Server | null = null;
        let starts = 0;
        proxy.around(async (label, when) => {
          if (when !== "before" || !isStart(label)) return;
          starts += 1;
          if (starts === 1) stranger = await holdPort(port);
          // It goes while the old one is tried.
          if (starts === 3) stranger?.close();
        });
        const run = await runs.update(executor);
        proxy.around(null);
        expect(run).toMatchObject({ state: "failed", reason_code: "update_failed", serving: "previous" });
        expect(english(run.reason)).toMatch(/already in use|already allocated/);
        expect(starts).toBe(3);
        expect(await lab.found("port")).toEqual(["port running 1.0.0"]);
        expect(await publishedPort(engine, "port")).toBe(String(port));
        expect(await runs.eventsOf(run.id)).toHaveLength(1);
        await removeContainers(engine, "port");
      },
    );

    inTurn(
      "a stranger who keeps the port takes the target down, loudly, and a run by hand mends it later",
      async () => {
        const { runs } = lab;
        const port = await freePort();
        await lab.begin("kept", published(port));
        const desired = lab.offer("2.0.0");
        const executor = await runs.addExecutor({ connection: lab.connection, target: target("kept"), desired });
        let stranger: Server | null = null;
        proxy.around(async (label, when) => {
          if (when === "before" && isStart(label)) stranger ??= await holdPort(port);
        });
        const run = await runs.update(executor);
        proxy.around(null);
        expect(run).toMatchObject({ state: "failed", reason_code: "target_down", serving: "none" });
        expect(english(run.reason)).toMatch(/already in use|already allocated/);
        expect(english(run.reason)).toContain("Target down");
        // Nothing is left over, and the old one waits in its place with its settings.
        expect((await lab.found("kept")).map((line) => line.replace(" created ", " exited "))).toEqual([
          "kept exited 1.0.0",
        ]);
        await new Promise((resolve) => (stranger as Server | null)?.close(resolve));
        const snapshot_id = await runs.snapshotOf(run.id);
        const again = await runs.update(executor, { snapshot_id });
        expect(again).toMatchObject({ state: "succeeded", reason_code: "started_again", serving: "desired" });
        expect(await lab.found("kept")).toEqual(["kept running 1.0.0"]);
        expect(await publishedPort(engine, "kept")).toBe(String(port));
        expect(await runs.update(executor)).toMatchObject({ state: "succeeded", serving: "desired" });
        expect(await lab.found("kept")).toEqual(["kept running 2.0.0"]);
        await removeContainers(engine, "kept");
      },
    );

    inTurn("an engine that answers slowly gets each call once", async () => {
      const { runs } = lab;
      await lab.begin("slow");
      const desired = lab.offer("3.0.0");
      const settings = { health_check: { ...quickCheck, single_timeout_seconds: 10 } };
      const executor = await runs.addExecutor({
        connection: lab.connection,
        target: target("slow"),
        desired,
        settings,
      });
      proxy.breakCall(0, "500");
      proxy.around(async (label, when) => {
        if (when === "before") await Bun.sleep(label.startsWith("GET") ? 100 : 1_000);
      });
      const run = await runs.update(executor);
      proxy.around(null);
      expect([run.state, run.reason, run.serving]).toEqual(["succeeded", null, "desired"]);
      const changing = proxy.calls().filter((call) => !call.startsWith("GET") && !call.includes("tidemark-probe"));
      const count = (verb: RegExp) => changing.filter((call) => verb.test(call)).length;
      // One create is the probe of the verb, which names no container in its path.
      expect([/\/create$/, /\/stop$/, /\/start$/, /\/rename$/, /^DELETE/].map(count)).toEqual([3, 1, 1, 2, 1]);
      expect(await lab.found("slow")).toEqual(["slow running 3.0.0"]);
      await removeContainers(engine, "slow");
    });

    inTurn("two ticks, two clicks and two runs at once make one run each", async () => {
      const { runs } = lab;
      const other = runs.instance("other");
      const desired = lab.offer("2.0.0");
      const names = ["twice", "beside"] as const;
      for (const name of names) await lab.begin(name);
      const add = (name: string, settings: Readonly<Record<string, unknown>>) =>
        runs.addExecutor({ connection: lab.connection, target: target(name), desired, settings });
      const ticked = await add("twice", { trigger: "immediate" });
      proxy.breakCall(0, "500");
      await Promise.all([runs.tick(), runs.tick(other), runs.tick(), runs.tick(other)]);
      expect((await runs.runsOf(ticked)).map((run) => run.state)).toEqual(["succeeded"]);
      expect(proxy.calls().filter(isStart)).toHaveLength(1);
      expect(await lab.found("twice")).toEqual(["twice running 2.0.0"]);

      const clicked = await add("beside", {});
      const clicks = await Promise.allSettled([
        runs.main.runs.create(systemActor, clicked, {}),
        other.runs.create(systemActor, clicked, {}),
      ]);
      expect(clicks.map((click) => click.status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(clicks.find((click) => click.status === "rejected")?.reason).toMatchObject({ code: "run_active" });
      const [queued] = await runs.runsOf(clicked);
      const id = queued?.id ?? "";

      // Both executors have one connection: the second waits for the first, and says so.
      runs.offer(ticked, lab.offer("3.0.0"));
      const second = await runs.main.runs.create(systemActor, ticked, {});
      const [isMet, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      proxy.breakCall(0, "500");
      proxy.around(async (label, when) => {
        if (when !== "before" || !/\/containers\/create$/.test(label)) return;
        isMet.resolve();
        await gate.promise;
      });
      const first = [runs.main, other, runs.main].map((each) => each.runs.work.perform({ id }, live));
      await isMet.promise;
      for (const each of [runs.main, other]) await each.runs.work.perform({ id: second.id }, live);
      const waiting = await runs.run(second.id);
      expect(waiting).toMatchObject({ state: "pending", reason_code: "waiting_for_connection" });
      expect(english(waiting.reason)).toContain('Waiting for the run of "beside ');
      expect(waiting.reason).toMatchObject({ params: { run: id } });
      gate.resolve();
      await Promise.all(first);
      proxy.around(null);
      expect(await runs.run(id)).toMatchObject({ state: "succeeded" });
      expect(proxy.calls().filter(isStart)).toHaveLength(1);
      await Promise.all([runs.tick(), runs.tick(other)]);
      expect(await runs.run(second.id)).toMatchObject({ state: "succeeded", reason: null });
      expect(proxy.calls().filter(isStart)).toHaveLength(2);
      for (const name of names) {
        expect(await lab.found(name)).toEqual([`${name} running ${name === "twice" ? "3.0.0" : "2.0.0"}`]);
        await removeContainers(engine, name);
      }
    });
  },
  registryMissing(),
);

/** The port of the host that leads to port 80 of a container now; empty when none does. */
async function publishedPort(engine: TestEngine, name: string): Promise<string> {
  const { NetworkSettings } = (await engine.call("GET", `/containers/${name}/json`)) as {
    NetworkSettings: { Ports: Record<string, { HostPort: string }[] | null> };
  };
  return NetworkSettings.Ports["80/tcp"]?.[0]?.HostPort ?? "";
}

function published(port: number) {
  return {
    ExposedPorts: { "80/tcp": {} },
    HostConfig: { PortBindings: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: String(port) }] } },
  };
}

for (const liveRestore of [false, true]) {
  engineSuite(
    `an engine that is restarted during the health check, live-restore ${liveRestore ? "on" : "off"}`,
    (mode) => {
      let engine: TestEngine;
      let lab: Lab;
      let stopTimer: () => Promise<void> = async () => undefined;
      beforeAll(async () => {
        engine = await startEngine({ mode, liveRestore });
        lab = await startLab(engine, tags);
        stopTimer = startHealthTimer(engine);
      }, 240_000);
      afterAll(async () => {
        await stopTimer();
        await lab?.stop();
        await engine?.stop();
      }, 120_000);

      test.each(["always", "no"])("leaves one container and one end, restart policy %s", async (Name) => {
        const { runs } = lab;
        const name = `restarted-${Name}`;
        await lab.begin(name, { HostConfig: { RestartPolicy: { Name } } });
        const desired = lab.offer("3.0.0");
        // Docker 20.10 with live-restore takes up no health check again: then this is when the old one is put back.
        const settings = { health_check: { ...quickCheck, total_probe_duration_seconds: 30 } };
        const { connection } = lab;
        const executor = await runs.addExecutor({ connection, target: target(name), desired, settings });
        const { id } = await runs.main.runs.create(systemActor, executor, {});
        const performing = runs.main.runs.work.perform({ id }, live);
        await eventually("the health check", async () => (await runs.run(id)).state === "verifying");
        await engine.kill();
        await engine.restart();
        await performing;
        const run = await eventually("the end of the run", async () => {
          await runs.tick();
          const found = await runs.run(id);
          if (found.ended_at === null) runs.clock.pass(10_000);
          return found.ended_at === null ? null : found;
        });
        const tag = run.serving === "desired" ? "3.0.0" : "1.0.0";
        const label = `${run.state} ${run.reason_code} ${run.serving} ${run.reason}`;
        expect([label, ...(await lab.found(name))]).toEqual([label, `${name} running ${tag}`]);
        expect([label, run.state]).toEqual([label, run.serving === "desired" ? "succeeded" : "failed"]);
        expect(await runs.eventsOf(id)).toHaveLength(1);
        // Nobody takes it up again.
        await runs.tick();
        expect(await runs.eventsOf(id)).toHaveLength(1);
        await removeContainers(engine, name);
      });
    },
    liveRestore ? ["docker-20", "docker-29"] : ["docker-20", "podman"],
    registryMissing(),
  );
}

engineSuite(
  "an engine whose disk is full",
  (mode) => {
    const root = mkdtempSync(join(tmpdir(), "tidemark-small-disk-"));
    const filler = join(root, "filler");
    let engine: TestEngine;
    let lab: Lab;
    const unmount = () => execFileSync("/usr/bin/umount", ["-l", root]);
    beforeAll(async () => {
      execFileSync("/usr/bin/mount", ["-t", "tmpfs", "-o", "size=96m", "tmpfs", root]);
      process.once("exit", unmount);
      engine = await startEngine({ mode, args: ["--data-root", join(root, "data"), "--max-download-attempts", "1"] });
      lab = await startLab(engine, tags);
    }, 240_000);
    afterAll(async () => {
      rmSync(filler, { force: true });
      await lab?.stop();
      await engine?.stop();
      process.removeListener("exit", unmount);
      const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
      const below = mounts.map((line) => line.split(" ")[1] ?? "").filter((path) => path.startsWith(`${root}/`));
      for (const path of below.toReversed()) execFileSync("/usr/bin/umount", ["-l", path]);
      unmount();
      rmSync(root, { recursive: true, force: true });
    }, 120_000);

    /** Leaves so many bytes, and none where it is 0. */
    const fill = (left: number) => {
      rmSync(filler, { force: true });
      const { bavail, bsize } = statfsSync(root);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - left)));
    };

    test("fails the pull or the creation, says so, and leaves the old one serving; with space again a run works", async () => {
      const { runs, registry } = lab;
      const id = await lab.begin("full");
      const { image } = lab.offer("1.0.0");
      // More than there is room for, and nothing that compresses.
      const files = {
        "/data": Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)))
          .toString("base64")
          .repeat(60),
      };
      const digest = await pushImage(registry.url, null, labRepository, "9.0.0", { version: "9.0.0", files });
      const { connection } = lab;
      const desired = { image, tag: "9.0.0", digest };
      const executor = await runs.addExecutor({ connection, target: target("full"), desired });
      fill(1_000_000);
      const pulling = await runs.update(executor);
      expect(pulling).toMatchObject({ state: "failed", reason_code: "pull_failed", serving: "previous" });
      expect(english(pulling.reason)).toContain("no space left on device");

      // The image is there, and nothing else finds room.
      rmSync(filler);
      await engine.pullImage(`${image}:9.0.0`);
      fill(0);
      const creating = await runs.update(executor);
      expect(creating).toMatchObject({ state: "failed", serving: "previous" });
      expect(english(creating.reason)).toContain("no space left on device");
      expect(await inspectContainer(engine, "full")).toMatchObject({ Id: id, State: { Status: "running" } });
      expect(await lab.found("full")).toEqual(["full running 1.0.0"]);
      rmSync(filler);
      expect(await runs.update(executor)).toMatchObject({ state: "succeeded", serving: "desired" });
      expect(await lab.found("full")).toEqual(["full running 9.0.0"]);
      await removeContainers(engine, "full");
    });
  },
  ["docker-20"],
  registryMissing(),
);
