import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import type { TargetRef } from "../../src/runtimes/target.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { freePort } from "../peers/free-port.ts";
import { registryMissing } from "../peers/registry.ts";
import { type Lab, startLab } from "../support/engine-lab.ts";
import { engineSuite, matrixSuite, newestModes } from "../support/engine-modes.ts";
import { english } from "../support/english.ts";
import { eventually } from "../support/eventually.ts";
import { containerStates, group, removeGroup, runService } from "../support/group-target.ts";
import { serveHttp } from "../support/oci-image.ts";
import { answerAt, published } from "../support/published-port.ts";
import { quickCheck } from "../support/real-runs.ts";
import type { RunRow } from "../support/run-parts.ts";
import { inspectContainer, removeContainers, target } from "../support/update-target.ts";

setDefaultTimeout(240_000);

const live = new AbortController().signal;
const minuteMs = 60_000;
/** No probe within the time of any test: what ends a run here is the engine's word. */
const patientCheck = {
  strategy: "auto",
  initial_delay_seconds: 3600,
  probe_interval_seconds: 3600,
  total_probe_duration_seconds: 7200,
} as const;
const shell = (script: string) => ["/bin/sh", "-c", `trap "exit 0" TERM; ${script}`];
const waiting = "while :; do sleep 0.1; done";

matrixSuite(
  "the end of a container whose health is awaited",
  (mode, inTurn) => {
    let engine: TestEngine;
    let lab: Lab;
    beforeAll(async () => {
      engine = await startEngine({ mode });
      lab = await startLab(engine, {
        "1.0.0": { cmd: serveHttp },
        "2.0.0": { cmd: shell(waiting) },
        "3.0.0": { cmd: shell("exit 3") },
        "4.0.0": { cmd: shell("sleep 2; exit 4") },
      });
    }, 240_000);
    afterAll(async () => {
      await lab?.stop();
      await engine?.stop();
    }, 120_000);

    const docker = (method: "POST" | "DELETE", path: string) => engine.call(method, `/containers/${path}`);
    /** Before, nothing would hear the signal, and the engine would kill it. */
    const untilLooping = (name: string) =>
      eventually(`the loop of ${name}`, async () => {
        const found = await engine.call("GET", `/containers/${name}/top`);
        // Besides the shell itself, whose arguments name what it will start.
        return (found as { Processes: readonly unknown[] }).Processes.length > 1;
      });
    const acts = {
      kill: (name: string) => docker("POST", `${name}/kill`),
      stop: async (name: string) => {
        await untilLooping(name);
        await docker("POST", `${name}/stop?t=60`);
      },
      remove: (name: string) => docker("DELETE", `${name}?force=1`),
      rename: (name: string) => docker("POST", `${name}/rename?name=${name}-mine`),
      nothing: async () => undefined,
    };
    /** What is said of each; a container that is removed by force has been killed, or by Podman stopped, a moment before. */
    const said: Readonly<Record<keyof typeof acts, RegExp>> = {
      kill: /container exited \(code 137\)/,
      stop: /container exited \(code 0\)/,
      remove: /container was removed|container exited \(code (0|137)\)/,
      rename: /container was renamed to ".*-mine"/,
      nothing: /container exited \(code 4\)/,
    };

    const queue = async (
      ref: TargetRef,
      tag: string,
      services?: readonly string[],
      health_check: Readonly<Record<string, unknown>> = patientCheck,
    ): Promise<string> => {
      const executor = await lab.runs.addExecutor({
        connection: lab.connection,
        target: ref,
        desired: lab.offer(tag),
        ...(services === undefined ? {} : { services }),
        settings: { health_check },
      });
      return (await lab.runs.main.runs.create(systemActor, executor, {})).id;
    };
    const perform = (id: string) => lab.runs.main.runs.work.perform({ id }, live);
    const untilStep = (id: string, step: string) =>
      eventually(`the step ${step}`, async () => (await lab.runs.steps(id)).includes(step));
    /** The run failed without a single probe, for what is said, and the previous version runs. */
    const expectPutBack = async (id: string, reason: RegExp): Promise<RunRow> => {
      const run = await lab.runs.run(id);
      expect(run).toMatchObject({ state: "failed", serving: "previous" });
      expect(english(run.reason)).toMatch(reason);
      expect((await lab.runs.steps(id)).filter((step) => step.startsWith("probe"))).toEqual([]);
      return run;
    };

    test.each(["no", "always"])("one that exits at once, restart policy %s", async (policy) => {
      const name = `exits-${policy}`;
      const port = await freePort();
      await lab.begin(name, published(port, policy));
      await eventually("the first answer", () => answerAt(port));
      const id = await queue(target(name), "3.0.0");
      await perform(id);
      await expectPutBack(id, /did not pass.*(exited \(code 3\)|restarted it)/);
      expect(await lab.found(name)).toEqual([`${name} running 1.0.0`]);
      expect(await inspectContainer(engine, name)).toMatchObject({ HostConfig: { RestartPolicy: { Name: policy } } });
      // The one that ended had the port, too.
      expect(await eventually("the answer", () => answerAt(port))).toContain("1.0.0");
      await removeContainers(engine, name);
    });

    test.each(Object.keys(acts) as (keyof typeof acts)[])("one container: %s", async (act) => {
      const name = `one-${act}`;
      await lab.begin(name);
      const id = await queue(target(name), act === "nothing" ? "4.0.0" : "2.0.0");
      const working = perform(id);
      await untilStep(id, "verify begin");
      await acts[act](name);
      await working;
      await expectPutBack(id, said[act]);
      expect(await lab.found(name)).toEqual([`${name} running 1.0.0`]);
      await removeContainers(engine, name);
    });

    /** `app` waits for `db`, which is healthy when it finds a file; `other` needs nobody. */
    const beginGroup = async (project: string, test: string) => {
      const image = lab.offer("1.0.0");
      const body = { Image: `${image.image}:1.0.0` };
      const check = { Test: ["CMD-SHELL", test], Interval: 300_000_000, Timeout: 10_000_000_000, Retries: 3 };
      await runService(engine, project, "other", { body });
      await runService(engine, project, "db", {
        body: { ...body, Healthcheck: { ...check, StartPeriod: 3_000_000_000_000 } },
      });
      await runService(engine, project, "app", {
        body,
        dependsOn: "db:service_healthy:false,other:service_started:false",
      });
    };
    const back = (project: string) =>
      ["app", "db", "other"].map((each) => `${project}-${each}-1 running ${lab.offer("1.0.0").image}:1.0.0`);

    inTurn.each(["kill", "stop", "remove", "rename"] as const)("one of a group: %s", async (act) => {
      const project = `group-${act}`;
      await beginGroup(project, "true");
      const id = await queue(group(project), "2.0.0", ["other", "app"]);
      const working = perform(id);
      await untilStep(id, "verify begin");
      await acts[act](`${project}-other-1`);
      await working;
      // All of them come back, and the one at fault is named.
      await expectPutBack(
        id,
        act === "stop" ? /"group-stop-other-1": (container exited|the engine restarted)/ : said[act],
      );
      expect(await containerStates(engine, project)).toEqual(back(project));
      await removeGroup(engine, project);
    });

    inTurn.each(["remove", "rename"] as const)(
      "one that serves while another of its group is not healthy yet: %s",
      async (act) => {
        const project = `middle-${act}`;
        // Never healthy, and not for 50 minutes unhealthy.
        await beginGroup(project, 'test "$APP_VERSION" = 1.0.0');
        const id = await queue(group(project), "2.0.0", ["other", "db", "app"]);
        const working = perform(id);
        await untilStep(id, "wait begin");
        await acts[act](`${project}-other-1`);
        await working;
        const run = await lab.runs.run(id);
        expect(run).toMatchObject({ state: "failed", serving: "previous" });
        expect(await lab.runs.steps(id)).not.toContain("verify begin");
        expect(await containerStates(engine, project)).toEqual(back(project));
        await removeGroup(engine, project);
      },
    );

    inTurn.each(["remove", "rename", "nothing"] as const)(
      "after kill -9 of our process: %s while nobody looks",
      async (act) => {
        const name = `left-${act}`;
        await lab.begin(name);
        const tag = act === "nothing" ? "4.0.0" : "2.0.0";
        const id = await queue(target(name), tag);
        const child = lab.runs.performElsewhere(id, lab.offer(tag));
        await untilStep(id, "verify begin");
        child.kill("SIGKILL");
        await child.exited;
        await acts[act](name);
        await lab.runs.main.runs.takeOver();
        await perform(id);
        // What is gone leads back at once; one that ended by itself is tried once more, and that end is noticed.
        await expectPutBack(id, act === "nothing" ? said.nothing : /The run was interrupted/);
        expect(await lab.found(name)).toEqual([`${name} running 1.0.0`]);
        await removeContainers(engine, name);
      },
    );

    inTurn.each(["kill", "remove", "rename"] as const)(
      "after kill -9 of our process: %s before the eyes of the next",
      async (act) => {
        const name = `next-${act}`;
        await lab.begin(name);
        const id = await queue(target(name), "2.0.0");
        const child = lab.runs.performElsewhere(id, lab.offer("2.0.0"));
        await untilStep(id, "verify begin");
        child.kill("SIGKILL");
        await child.exited;
        await lab.runs.main.runs.takeOver();
        const working = perform(id);
        await untilStep(id, "recover finish");
        await acts[act](name);
        await working;
        await expectPutBack(id, said[act]);
        expect(await lab.found(name)).toEqual([`${name} running 1.0.0`]);
        await removeContainers(engine, name);
      },
    );

    // The last, because the other process does not share the clock that it moves.
    inTurn("one that is started once more after kill -9 has its stability period before it", async () => {
      const name = "anew";
      await lab.begin(name);
      const id = await queue(target(name), "4.0.0", undefined, { ...quickCheck, probe_interval_seconds: 5 });
      const child = lab.runs.performElsewhere(id, lab.offer("4.0.0"));
      await untilStep(id, "verify begin");
      child.kill("SIGKILL");
      await child.exited;
      // Podman calls it stopped until it has cleaned up behind it.
      const isEnded = (line: string) => /(?:exited|stopped) 4\.0\.0$/.test(line);
      await eventually("its end", async () => (await lab.found(name)).some(isEnded));
      lab.runs.clock.pass(minuteMs);
      await lab.runs.main.runs.takeOver();
      await perform(id);
      expect(await lab.runs.run(id)).toMatchObject({ state: "failed", serving: "previous" });
      expect(await lab.found(name)).toEqual([`${name} running 1.0.0`]);
      await removeContainers(engine, name);
    });
  },
  registryMissing(),
  newestModes,
);

engineSuite(
  "one that exits at once, on an engine that never cleans up behind it",
  (mode) => {
    let engine: TestEngine;
    let lab: Lab;
    beforeAll(async () => {
      engine = await startEngine({ mode, cleansUp: false });
      lab = await startLab(engine, { "1.0.0": { cmd: serveHttp }, "3.0.0": { cmd: shell("exit 3") } });
    }, 240_000);
    afterAll(async () => {
      await lab?.stop();
      await engine?.stop();
    }, 120_000);

    test("leaves its port to the previous one", async () => {
      const port = await freePort();
      await lab.begin("web", published(port, "no"));
      await eventually("the first answer", () => answerAt(port));
      const executor = await lab.runs.addExecutor({
        connection: lab.connection,
        target: target("web"),
        desired: lab.offer("3.0.0"),
        settings: { health_check: patientCheck },
      });
      expect(await lab.runs.update(executor)).toMatchObject({ state: "failed", serving: "previous" });
      expect(await lab.found("web")).toEqual(["web running 1.0.0"]);
      expect(await eventually("the answer", () => answerAt(port))).toContain("1.0.0");
    });
  },
  ["podman", "podman-rootless"],
  registryMissing(),
);
