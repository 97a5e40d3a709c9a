import { describe, expect, test } from "bun:test";
import { targetFacts } from "../../../../src/runtimes/engine/facts.ts";
import { finishRun, undoRun } from "../../../../src/runtimes/engine/group/recover.ts";
import { ownLabelsFor, runNames } from "../../../../src/runtimes/engine/names.ts";
import { type ContainerInspect, nameOf } from "../../../../src/runtimes/engine/objects.ts";
import type { EngineTransport } from "../../../../src/runtimes/engine/transport.ts";
import { testClient } from "../../../support/engine-client.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { memoryJournal } from "../../../support/memory-journal.ts";
import { containerInspect } from "../inspect.ts";

type Request = Parameters<EngineTransport["send"]>[0];

const ref = { kind: "container", id: "web" } as const;
const [oldId, newId] = ["1".repeat(64), "2".repeat(64)];
const neverStarted = "0001-01-01T00:00:00Z";

/** An engine that has these containers; `refuse` answers in its place. */
function engineWith(containers: ContainerInspect[], refuse: (request: Request) => string | null = () => null) {
  const clock = createFakeClock();
  const client = testClient((request) => {
    const { method, path, query, body } = request;
    const refusal = refuse(request);
    if (refusal !== null) return { status: 500, body: { message: refusal } };
    if (path.endsWith("/containers/json")) {
      return { body: containers.map(({ Id, Name, Config }) => ({ Id, Names: [Name], Labels: Config.Labels })) };
    }
    const found = containers.find(({ Id }) => path.includes(Id));
    if (found === undefined) return null;
    if (path.endsWith("/rename")) found.Name = `/${query?.name}`;
    if (path.endsWith("/update")) Object.assign(found.HostConfig, body);
    if (path.endsWith("/stop")) Object.assign(found.State, { Status: "exited", Running: false });
    if (path.endsWith("/start")) Object.assign(found.State, { Status: "running", Running: true });
    if (method === "DELETE") containers.splice(containers.indexOf(found), 1);
    return { body: found };
  });
  return { clock, context: { client, clock, apiVersion: "1.41", retryDelayMs: 500 } };
}

const states = (containers: readonly ContainerInspect[]) =>
  containers.map((each) => `${nameOf(each)} ${each.State.Status}`).sort();

/** A run that made the new one, swapped the names and failed; `wasRunning` is what it found. */
async function failedRun(wasRunning: boolean) {
  const journal = memoryJournal();
  const names = runNames("web", journal.run_id);
  const state = wasRunning ? {} : { State: { Status: "exited", Running: false } };
  const found = containerInspect({ Id: oldId, Name: "/web", ...state });
  await journal.begin("create", { ...targetFacts(found, wasRunning, null), members: ["web"], container: "web" });
  await journal.finish("create", { container: "web" });
  const policy = { HostConfig: { RestartPolicy: found.HostConfig.RestartPolicy } };
  const previous = containerInspect({
    Id: oldId,
    Name: `/${names.aside}`,
    State: { Status: "exited", Running: false },
    ...policy,
  });
  const next = containerInspect({
    Id: newId,
    Name: "/web",
    State: wasRunning
      ? { Status: "exited", Running: false }
      : { Status: "created", Running: false, StartedAt: neverStarted },
    Config: { Labels: ownLabelsFor(journal.run_id, "web", oldId) },
    ...policy,
  });
  return { journal, names, previous, next };
}

const busy = ({ method }: Request) => (method === "DELETE" ? "Device or resource busy" : null);

describe("a new container that the engine does not give up", () => {
  test.each([true, false])("is told and removed later; the previous one was running: %p", async (wasRunning) => {
    const { journal, names, previous, next } = await failedRun(wasRunning);
    const containers = [previous, next];
    let isBusy = true;
    const { clock, context } = engineWith(containers, (request) => (isBusy ? busy(request) : null));
    const recovery = await clock.runUntil(undoRun(context, ref, journal, null));
    const back = `web ${wasRunning ? "running" : "exited"}`;
    expect(recovery).toMatchObject({ state: "untouched", is_left_over: true });
    expect(states(containers)[0]).toBe(back);
    expect(containers.map(nameOf)).toContain(names.next);
    await expect(clock.runUntil(finishRun(context, ref, journal))).rejects.toMatchObject({
      said: { params: { cause: { params: { answer: "Device or resource busy" } } } },
    });
    isBusy = false;
    await clock.runUntil(finishRun(context, ref, journal));
    expect(states(containers)).toEqual([back]);
  });

  test("is left alone when it is all there is", async () => {
    const { journal, names, previous, next } = await failedRun(true);
    const containers = [previous, next];
    const { clock, context } = engineWith(containers, busy);
    await clock.runUntil(undoRun(context, ref, journal, null));
    // Somebody removes the one that was put back.
    containers.splice(containers.indexOf(previous), 1);
    await clock.runUntil(finishRun(context, ref, journal));
    expect(containers.map(nameOf)).toEqual([names.next]);
  });
});

test("whoever cannot look at the engine has decided nothing: undoRun() throws unreachable, and works later", async () => {
  const { journal, previous, next } = await failedRun(true);
  const containers = [previous, next];
  let isSick = true;
  const { clock, context } = engineWith(containers, ({ path }) =>
    isSick && path.endsWith("/containers/json") ? "context deadline exceeded" : null,
  );
  const failure = clock.runUntil(undoRun(context, ref, journal, null));
  await expect(failure).rejects.toMatchObject({ code: "unreachable" });
  isSick = false;
  expect(await clock.runUntil(undoRun(context, ref, journal, null))).toMatchObject({ state: "untouched" });
  expect(states(containers)).toEqual(["web running"]);
});

test("finishRun() removes what was kept aside also when a later run has replaced its successor", async () => {
  const { journal, previous } = await failedRun(true);
  const later = containerInspect({
    Id: "3".repeat(64),
    Name: "/web",
    Config: { Labels: ownLabelsFor(`${"f".repeat(8)}-later`, "web", newId) },
  });
  const containers = [previous, later];
  const { clock, context } = engineWith(containers);
  await journal.begin("commit");
  await journal.finish("commit");
  await clock.runUntil(finishRun(context, ref, journal));
  expect(states(containers)).toEqual(["web running"]);
});

describe("a new container that has ended, and still has its ports", () => {
  const ended = { Status: "exited", Running: false, Releasing: false };
  const started = { Status: "running", Running: true, Releasing: false };

  test.each([
    ["that is cleared up", ended, 400, ["start", "remove"]],
    ["that is started once more by its policy", started, 400, ["stop", "start", "remove"]],
    ["that is never cleared up", null, 5_000, ["remove", "start"]],
    ["that is never cleared up, and needed by others", null, 5_500, ["remove", "start", "remove"]],
  ])("%s: the previous one gets them", async (what, then, tookMs, calls) => {
    const { journal, previous, next } = await failedRun(true);
    Object.assign(next.State, { Releasing: true });
    const made: string[] = [];
    const { clock, context } = engineWith([previous, next], ({ method, path }) => {
      if (clock.now() === from + 400 && next.State.Releasing === true) Object.assign(next.State, then);
      const call = method === "DELETE" ? "remove" : ["start", "stop"].find((each) => path.endsWith(`/${each}`));
      if (call === undefined) return null;
      made.push(call);
      return what.includes("needed") && made.length === 1 ? "container has dependent containers" : null;
    });
    const from = clock.now();
    await clock.runUntil(undoRun(context, ref, journal, null));
    expect(made).toEqual(calls);
    expect(nameOf(previous)).toBe("web");
    expect(previous.State.Status).toBe("running");
    expect(clock.now()).toBe(from + tookMs);
  });
});
