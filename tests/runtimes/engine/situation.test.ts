import { describe, expect, test } from "bun:test";
import { dockerFlavour } from "../../../src/runtimes/docker/flavour.ts";
import { defaultDeadlines, engineClient } from "../../../src/runtimes/engine/client.ts";
import { targetFacts } from "../../../src/runtimes/engine/facts.ts";
import { runNames } from "../../../src/runtimes/engine/names.ts";
import { isRunning, nameOf } from "../../../src/runtimes/engine/objects.ts";
import type { RawObject } from "../../../src/runtimes/engine/raw.ts";
import {
  findSituation,
  type Move,
  moveBack,
  moveForward,
  moveToEnd,
  type Situation,
  wasStarted,
} from "../../../src/runtimes/engine/situation.ts";
import { memoryJournal } from "../../support/memory-journal.ts";
import { containerInspect } from "./inspect.ts";

const names = runNames("web", "0190c5a2-0000-7000-8000-00000badcafe");
const restartAlways = { Name: "always", MaximumRetryCount: 0 };
const [oldId, newId] = ["1f".repeat(32), "2e".repeat(32)];
const oldStart = "2026-01-05T12:00:00.5Z";

interface Fake {
  id: string;
  name: string;
  state: "created" | "running" | "exited";
  startedAt: string;
  policy: string;
}

interface Left {
  previous: Fake | null;
  next: Fake | null;
  wasRunning: boolean;
  isToRun: boolean;
  isStopPending: boolean;
}

/** The little of an engine that the moves speak to. */
function world(
  previous: Fake | null,
  next: Fake | null,
  { wasRunning, isToRun, isStopPending }: Pick<Left, "wasRunning" | "isToRun" | "isStopPending">,
) {
  const containers = new Map([previous, next].filter((each) => each !== null).map((each) => [each.id, { ...each }]));
  const started = new Set<string>();
  const made: string[] = [];
  const inspect = (id: string) => {
    const found = containers.get(id);
    if (found === undefined) return null;
    return containerInspect({
      Id: found.id,
      Name: `/${found.name}`,
      State: { Status: found.state, Running: found.state === "running", StartedAt: found.startedAt },
      HostConfig: { RestartPolicy: { Name: found.policy, MaximumRetryCount: 0 } },
    });
  };
  const look = (): Situation => ({
    names,
    previous: inspect(oldId),
    next: inspect(newId),
    stranger: null,
    facts: {
      old_id: oldId,
      was_running: wasRunning,
      is_to_run: isToRun,
      old_started_at: oldStart,
      restart_policy: restartAlways,
      next_restart_policy: restartAlways,
    },
    is_stop_pending: isStopPending,
    is_policy_fixed: false,
    started,
  });
  const perform = (move: Move) => {
    const found = containers.get(move.container.Id);
    if (found === undefined) throw new Error("A move on a container that is gone");
    made.push(`${move.do} ${found.id === oldId ? "previous" : "next"}`);
    if (move.do === "stop") found.state = "exited";
    else if (move.do === "start") {
      found.state = "running";
      found.startedAt = "2026-01-05T13:00:00Z";
      started.add(found.id);
    } else if (move.do === "rename") {
      if ([...containers.values()].some((each) => each.name === move.name)) throw new Error("Name is taken");
      found.name = move.name;
    } else if (move.do === "policy") found.policy = String(move.policy.Name);
    else {
      if (found.state === "running") throw new Error("Removed while it ran");
      containers.delete(found.id);
    }
    // Two that serve at once would fight for ports and data.
    expect([...containers.values()].filter((each) => each.state === "running").length).toBeLessThanOrEqual(1);
  };
  return { look, perform, made, containers };
}

/** An update keeps what it finds running or stopped; a rollback may start what was down; nothing leaves stopped what ran. */
const intents = [
  { wasRunning: true, isToRun: true },
  { wasRunning: false, isToRun: false },
  { wasRunning: false, isToRun: true },
];

/** Every state that a run can leave behind, and many that it cannot. */
const states: (Left & { label: string; previous: Fake })[] = [];
for (const previousName of [names.name, names.aside]) {
  for (const previousState of ["created", "running", "exited"] as const) {
    for (const nextName of [null, names.next, names.name]) {
      for (const nextState of ["created", "running", "exited"] as const) {
        for (const { wasRunning, isToRun } of intents) {
          for (const isStopPending of [true, false]) {
            if (nextName === previousName || (nextName === null && nextState !== "created")) continue;
            if (previousState === "running" && nextState === "running") continue;
            const next: Fake | null =
              nextName === null
                ? null
                : {
                    id: newId,
                    name: nextName,
                    state: nextState,
                    startedAt: nextState === "created" ? "0001-01-01T00:00:00Z" : oldStart,
                    policy: nextState === "created" ? "no" : "always",
                  };
            states.push({
              label: `${previousName} ${previousState}, ${nextName ?? "no next"} ${nextState}, ${wasRunning}, ${isToRun}, ${isStopPending}`,
              previous: { id: oldId, name: previousName, state: previousState, startedAt: oldStart, policy: "no" },
              next,
              wasRunning,
              isToRun,
              isStopPending,
            });
          }
        }
      }
    }
  }
}

function travel(from: ReturnType<typeof world>, choose: (situation: Situation) => Move | null): void {
  for (let moves = 0; moves < 20; moves += 1) {
    const move = choose(from.look());
    if (move === null) return;
    from.perform(move);
  }
  throw new Error(`Goes in circles: ${from.made.join(", ")}`);
}

describe("the moves of recovery", () => {
  test("the table has every combination", () => {
    expect(states.length).toBeGreaterThan(60);
  });

  test.each(states)("lead back from: $label", ({ previous, next, ...before }) => {
    const from = world(previous, next, before);
    travel(from, moveBack);
    const left = [...from.containers.values()];
    expect(left.map((each) => [each.id, each.name, each.policy])).toEqual([[oldId, "web", "always"]]);
    if (before.wasRunning) expect(left[0]?.state).toBe("running");
    else expect(from.made).not.toContain("start previous");
    // The new one goes last: until the previous one serves it is what there is to fall back on.
    if (next !== null) expect(from.made.at(-1)).toBe("remove next");
  });

  test.each(states.filter((each) => each.next !== null))(
    "lead forward and end from: $label",
    ({ previous, next, ...before }) => {
      const from = world(previous, next, before);
      travel(from, moveForward);
      const situation = from.look();
      expect(situation.next).not.toBeNull();
      if (situation.next !== null) {
        expect(nameOf(situation.next)).toBe("web");
        if (before.isToRun) expect(isRunning(situation.next)).toBe(true);
        else expect(from.made).not.toContain("start next");
      }
      expect(from.containers.get(oldId)?.name).toBe(names.aside);
      travel(from, moveToEnd);
      expect([...from.containers.keys()]).toEqual([newId]);
    },
  );

  test.each([
    ["a restart policy", { policy: "on-failure" }, [newId]],
    ["a name", { name: "mine" }, [oldId, newId]],
  ])("%s that the new one was given since the end of its run is left alone", (_, change, left) => {
    const previous: Fake = { id: oldId, name: names.aside, state: "exited", startedAt: oldStart, policy: "no" };
    const next: Fake = { id: newId, name: "web", state: "running", startedAt: oldStart, policy: "always", ...change };
    const from = world(previous, next, { wasRunning: true, isToRun: true, isStopPending: false });
    travel(from, moveToEnd);
    expect([...from.containers.keys()]).toEqual(left);
    expect(from.containers.get(newId)).toMatchObject(change);
  });

  test("nothing is removed when there is nothing to put in its place", () => {
    const previous: Fake = { id: oldId, name: names.aside, state: "exited", startedAt: oldStart, policy: "no" };
    expect(
      moveToEnd(world(previous, null, { wasRunning: true, isToRun: true, isStopPending: false }).look()),
    ).toBeNull();
  });

  test("a new one that runs beside a stranger under its name is stopped before it is removed", () => {
    const next: Fake = { id: newId, name: names.next, state: "running", startedAt: oldStart, policy: "always" };
    const { look, perform, made, containers } = world(null, next, {
      wasRunning: true,
      isToRun: true,
      isStopPending: false,
    });
    const stranger = containerInspect({ Id: "3d".repeat(32), Name: `/${names.name}` });
    const choose = () => moveBack({ ...look(), stranger });
    for (let move = choose(); move !== null; move = choose()) perform(move);
    expect(made).toEqual(["stop next", "remove next"]);
    expect([...containers]).toEqual([]);
  });

  test.each([
    ["by its engine's policy is removed first", true, "always", "remove"],
    ["by nobody is kept until the previous one runs", true, "no", "rename"],
    ["by a policy that was changed is kept until the previous one runs", false, "no", "rename"],
  ] as const)("a new one that ended by itself and is started again %s", (_who, is_policy_fixed, policy, first) => {
    const previous: Fake = { id: oldId, name: names.aside, state: "exited", startedAt: oldStart, policy: "always" };
    const fake: Fake = { id: newId, name: names.name, state: "exited", startedAt: oldStart, policy };
    const { look } = world(previous, fake, { wasRunning: true, isToRun: true, isStopPending: false });
    const found = { ...look(), is_policy_fixed };
    const ended = { ...found.next?.State, Status: "exited", Running: false, Releasing: true };
    const next = containerInspect({ ...found.next, State: ended });
    expect(moveBack({ ...found, next })).toMatchObject({ do: first, container: next });
  });

  test("a container that never ran was not started, whatever its state is called", () => {
    expect(wasStarted(containerInspect({ State: { Status: "created", StartedAt: "0001-01-01T00:00:00Z" } }))).toBe(
      false,
    );
    expect(wasStarted(containerInspect({ State: { Status: "exited", StartedAt: oldStart } }))).toBe(true);
  });
});

describe("findSituation()", () => {
  const old = containerInspect({ Id: oldId, Name: `/${names.name}` });
  const client = engineClient({
    flavour: dockerFlavour,
    transport: {
      send: async ({ path }) => {
        const body = path.endsWith("/containers/json") ? [{ Id: oldId, Names: [old.Name] }] : old;
        return { status: 200, contentType: "application/json", text: JSON.stringify(body) };
      },
      stream: () => Promise.reject(new Error("Nothing is streamed here")),
    },
    apiVersion: "1.41",
    deadlines: defaultDeadlines,
  });

  test.each<[string, ["finish" | "fail", RawObject] | null, boolean]>([
    ["whose end nobody wrote down", null, true],
    ["that failed and may still be carried out", ["fail", { may_follow: true }], true],
    ["that was refused", ["fail", { may_follow: false }], false],
    ["that was done", ["finish", {}], false],
  ])("of a stop %s", async (_what, end, isPending) => {
    const journal = memoryJournal();
    await journal.begin("create", targetFacts(old, true, null));
    await journal.begin("stop");
    if (end !== null) await journal[end[0]]("stop", end[1]);
    expect((await findSituation(client, names.name, journal)).is_stop_pending).toBe(isPending);
  });
});

describe("runNames()", () => {
  test("takes the random end of the id, as two runs of one minute share its beginning", () => {
    expect(runNames("web", "0190c5a2-0000-7000-8000-00000badcafe").aside).toBe("web-tidemark-0badcafe-previous");
  });
});
