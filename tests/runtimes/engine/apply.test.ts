import { expect, test } from "bun:test";
import { dockerFlavour } from "../../../src/runtimes/docker/flavour.ts";
import { bringUp, type Candidate, takeDown } from "../../../src/runtimes/engine/apply.ts";
import { defaultDeadlines, engineClient } from "../../../src/runtimes/engine/client.ts";
import type { EngineResponse } from "../../../src/runtimes/engine/transport.ts";
import type { Journal } from "../../../src/runtimes/journal.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { memoryJournal } from "../../support/memory-journal.ts";
import { containerInspect } from "./inspect.ts";

const ending = "cannot update a stopped container: unknown";
const answer = (status: number, body: unknown): EngineResponse => ({
  status,
  contentType: "application/json",
  text: JSON.stringify(body),
});

function candidateOf(journal: Journal): Candidate {
  return {
    name: "app",
    old: null,
    is_owed: false,
    is_to_run: true,
    is_job: false,
    blueprint: {
      config: {},
      host_config: {},
      restart_policy: { Name: "always", MaximumRetryCount: 0 },
      attachments: [],
      mounts: [],
      image_id: "sha256:new",
      image_volumes: [],
    },
    new_image_config: {},
    platform: null,
    files: null,
    new_id: "new",
    names: { name: "app", next: "app-next", aside: "app-previous" },
    journal,
  };
}

/** Starts a new container whose restart policy the engine refuses so many times, with this text. */
async function startRefusing(times: number, text: string) {
  const clock = { ...createFakeClock(), sleep: async () => undefined };
  let refused = 0;
  const client = engineClient({
    flavour: dockerFlavour,
    transport: {
      send: async ({ path }) => {
        if (!path.endsWith("/update")) return answer(204, null);
        refused += 1;
        return refused > times ? answer(200, { Warnings: null }) : answer(500, { message: text });
      },
      stream: async () => answer(200, null),
    },
    apiVersion: "1.41",
    deadlines: defaultDeadlines,
  });
  const journal = memoryJournal();
  const candidate = candidateOf(journal);
  const context = { client, clock, apiVersion: "1.41", composeFolders: null };
  await bringUp(context, candidate);
  return journal.written();
}

test("bringUp() leaves a container that ends at once to the health check, however long the engine takes to notice", async () => {
  expect(await startRefusing(20, ending)).toEqual(["start begin", "start finish"]);
});

test.each([
  ["that it is ending", 60, ending],
  ["anything else", 3, "the policy is not to its taste"],
])("bringUp() fails when the engine goes on saying %s", async (_what, times, text) => {
  await expect(startRefusing(times, text)).rejects.toMatchObject({ answer: text });
});

test.each([
  ["an engine that gave up waiting for the process", 500, true],
  ["a proxy that lets no stop through", 403, false],
])("takeDown() writes whether the stop may still follow: %s", async (_what, status, mayFollow) => {
  const client = engineClient({
    flavour: dockerFlavour,
    transport: {
      send: async ({ path }) => (path.endsWith("/stop") ? answer(status, { message: "No" }) : answer(204, null)),
      stream: async () => answer(200, null),
    },
    apiVersion: "1.41",
    deadlines: defaultDeadlines,
  });
  const journal = memoryJournal();
  const candidate = { ...candidateOf(journal), old: containerInspect() };
  const context = { client, clock: createFakeClock(), apiVersion: "1.41", composeFolders: null };
  await expect(takeDown(context, candidate)).rejects.toMatchObject({ status });
  const failed = journal.entries().find(({ step, phase }) => step === "stop" && phase === "fail");
  expect(failed?.facts.may_follow).toBe(mayFollow);
});
