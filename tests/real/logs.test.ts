import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { kindOf, matrixSuite } from "../support/engine-modes.ts";
import { eventually } from "../support/eventually.ts";
import { seenIn, watchLogs } from "../support/log-reader.ts";
import { type RealRuns, realRuns } from "../support/real-runs.ts";
import { images, importImages, runContainer } from "../support/update-target.ts";

setDefaultTimeout(600_000);

const live = new AbortController().signal;
const secret = "kelp-otter-lantern";

matrixSuite("logs of what runs", (mode) => {
  let engine: TestEngine;
  let runs: RealRuns;
  let connection = "";

  beforeAll(async () => {
    engine = await startEngine({ mode });
    await importImages(engine);
    runs = await realRuns();
    connection = await runs.connect(kindOf(mode), engine.address);
  });
  afterAll(async () => {
    await runs?.close();
    await engine?.stop();
  });

  const desired = { image: "lab/app", tag: "1.0.0", digest: `sha256:${"a".repeat(64)}` };
  const follow = (kind: string, id: string, services?: readonly string[]) =>
    runs.addExecutor({ connection, target: { kind, id }, desired, ...(services === undefined ? {} : { services }) });
  /** Writes what it is told by a file, so that a test decides when. */
  const talks = (script: string) => ({ Cmd: ["/bin/sh", "-c", script], Env: [`API_TOKEN=${secret}`] });
  const read = async (executor: string, query: Readonly<Record<string, string>> = {}) =>
    await runs.main.logs.read(systemActor, executor, query, live);
  const until = (name: string, isRunning: boolean) =>
    eventually(`the end of ${name}`, async () => {
      const { State: state } = (await engine.call("GET", `/containers/${name}/json`)) as {
        State: { Running: boolean };
      };
      return state.Running === isRunning;
    });

  test("are read from a container that runs, and one that ended, without secrets", async () => {
    await runContainer(engine, "reads", talks(`echo one; echo two ${secret} >&2; while :; do sleep 1; done`));
    const executor = await follow("container", "reads");
    await eventually("both lines", async () => (await read(executor)).view.containers[0]?.lines.length === 2);
    const running = seenIn((await read(executor)).view);
    expect(running).toMatchObject({ reads: { state: "running", why: null } });
    expect(running.reads?.lines.toSorted()).toEqual(["one", "two [redacted]"]);
    await engine.call("POST", "/containers/reads/stop?t=1");
    expect(seenIn((await read(executor, { lines: "1" })).view).reads).toMatchObject({ state: "stopped" });
    expect((await read(executor, { lines: "1" })).view.containers[0]?.lines).toHaveLength(1);
  });

  test("of a container with a terminal have its lines alone", async () => {
    await runContainer(engine, "terminal", { ...talks("echo one; echo two; exit"), Tty: true });
    await until("terminal", false);
    expect(seenIn((await read(await follow("container", "terminal"))).view).terminal?.lines).toEqual(["one", "two"]);
  });

  test("with the driver none are told to be unreadable, and never as empty", async () => {
    await runContainer(engine, "driverless", {
      ...talks("echo one; sleep 600"),
      HostConfig: { LogConfig: { Type: "none" } },
    });
    const executor = await follow("container", "driverless");
    const unreadable = { state: "waiting", why: "logs.driver_unreadable", lines: [] };
    expect(seenIn((await read(executor)).view)).toEqual({ driverless: unreadable });
    const watch = await watchLogs(runs.main.logs, executor);
    await watch.untilStates(["driverless waiting"]);
    expect([watch.parts[0]?.why_data?.code, watch.end]).toEqual(["logs.driver_unreadable", null]);
    await watch.close();
    await engine.call("DELETE", "/containers/driverless?force=1");
  });

  test("are followed over a stop and a new start, each line once", async () => {
    const script = `echo started $$ ${secret}; n=0; while [ $n -lt 3 ]; do n=$((n+1)); echo line $n; done; trap 'echo last; exit' TERM; while :; do sleep 0.1; done`;
    await runContainer(engine, "restarts", talks(script));
    const executor = await follow("container", "restarts");
    const begun = await eventually("the lines", async () => {
      const found = await read(executor);
      return found.view.containers[0]?.lines.length === 4 && found;
    });
    const watch = await watchLogs(runs.main.logs, executor, { after: begun.marks });
    await watch.untilStates(["restarts running"]);
    expect(watch.lines).toEqual([]);
    await engine.call("POST", "/containers/restarts/stop?t=5");
    await watch.until("restarts: last");
    await watch.untilStates(["restarts stopped"]);
    await engine.call("POST", "/containers/restarts/start");
    await watch.until("restarts: line 3");
    await watch.untilStates(["restarts running"]);
    await watch.close();
    const plain = watch.lines.map((line) => line.replace(/\d+ \[/, "["));
    expect(plain).toEqual([
      "restarts: last",
      "restarts: started [redacted]",
      "restarts: line 1",
      "restarts: line 2",
      "restarts: line 3",
    ]);
    expect([watch.notes, watch.end]).toEqual([["restarts restarted"], null]);
    // What was followed is known, and the next view goes on behind it.
    const next = await watchLogs(runs.main.logs, executor, { after: watch.marks });
    await next.untilStates(["restarts running"]);
    await engine.call("POST", "/containers/restarts/stop?t=5");
    await next.until("restarts: last");
    expect(next.lines).toEqual(["restarts: last"]);
    await next.close();
  });

  test("of a group come from each container with its service, and a chatty one does not hold up the others", async () => {
    const labels = (service: string) => ({
      "com.docker.compose.project": "chorus",
      "com.docker.compose.service": service,
      "com.docker.compose.oneoff": "False",
      "com.docker.compose.container-number": "1",
    });
    await runContainer(engine, "chorus-loud-1", {
      ...talks("while :; do n=0; while [ $n -lt 500 ]; do n=$((n+1)); echo noise; done; sleep 0.1; done"),
      Labels: labels("loud"),
    });
    await runContainer(engine, "chorus-soft-1", {
      ...talks("n=0; while :; do n=$((n+1)); echo word $n; sleep 0.3; done"),
      Labels: labels("soft"),
    });
    const executor = await follow("compose", "chorus", ["loud", "soft"]);
    const { view, all } = await read(executor, { lines: "3", containers: "chorus-soft-1" });
    expect(all).toEqual(["chorus-loud-1", "chorus-soft-1"]);
    expect(view.containers.map(({ service, name }) => `${service} ${name}`)).toEqual(["soft chorus-soft-1"]);
    const watch = await watchLogs(runs.main.logs, executor, { query: { lines: "1" } });
    const wordsOf = () =>
      watch.lines.filter((line) => line.startsWith("chorus-soft-1")).map((line) => Number(line.split(" ")[2]));
    await eventually("ten words", () => wordsOf().length >= 10);
    await eventually("skipped lines", () => watch.notes.some((note) => note.startsWith("chorus-loud-1 skipped")));
    await watch.close();
    const [first = 0] = wordsOf();
    expect(wordsOf()).toEqual(wordsOf().map((_, at) => first + at));
    expect(watch.lines).toContain("chorus-loud-1: noise");
    for (const name of ["chorus-loud-1", "chorus-soft-1"]) await engine.call("DELETE", `/containers/${name}?force=1`);
  });

  test("do not make the connection unreachable when they cannot be read, and end with the target", async () => {
    await runContainer(engine, "goes", { ...talks("echo here; sleep 600"), Image: images.old });
    const executor = await follow("container", "goes");
    const watch = await watchLogs(runs.main.logs, executor);
    await watch.until("goes: here");
    await watch.close();
    await engine.call("DELETE", "/containers/goes?force=1");
    await expect(read(executor)).rejects.toMatchObject({ code: "not_found" });
    const { reach } = await runs.main.connections.get(connection);
    expect(reach.state).not.toBe("unreachable");
  });
});
