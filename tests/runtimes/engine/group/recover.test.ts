import { expect, test } from "bun:test";
import { dockerFlavour } from "../../../../src/runtimes/docker/flavour.ts";
import { defaultDeadlines, engineClient } from "../../../../src/runtimes/engine/client.ts";
import { targetFacts } from "../../../../src/runtimes/engine/facts.ts";
import { undoRun } from "../../../../src/runtimes/engine/group/recover.ts";
import { runNames } from "../../../../src/runtimes/engine/names.ts";
import { nameOf } from "../../../../src/runtimes/engine/objects.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { memoryJournal } from "../../../support/memory-journal.ts";
import { containerInspect } from "../inspect.ts";

const services = ["db", "web", "worker", "cron"];

/** Stopped containers of a compose project that a run keeps aside; the first has a check that never says anything. */
function keptAside(runId: string) {
  return services.map((service, index) => {
    const container = containerInspect({
      Id: `${index + 1}`.repeat(64),
      Name: `/${runNames(service, runId).aside}`,
      State: { Status: "exited", Running: false },
      Config: {
        Healthcheck: { Test: ["CMD", "true"] },
        Labels: {
          "com.docker.compose.project": "shop",
          "com.docker.compose.service": service,
          "com.docker.compose.container-number": "1",
          "com.docker.compose.depends_on": index === 0 ? "" : "db:service_healthy:false",
        },
      },
    });
    return { service, container };
  });
}

const endings: [string, boolean][] = [
  ["two minutes in all for what does not get healthy, however many need it", false],
  ["for nothing when the process is to end: what is down comes up", true],
];

test.each(endings)("undoRun() waits %s", async (_what, isEnding) => {
  const stop = new AbortController();
  const clock = createFakeClock();
  const journal = memoryJournal();
  const kept = keptAside(journal.run_id);
  for (const { service, container } of kept) {
    const was = containerInspect({ ...container, State: { Status: "running", Running: true } });
    const facts = { ...targetFacts(was, true, null), members: services, container: service };
    await journal.begin("create", facts);
    await journal.finish("create", { container: service });
  }
  const started: string[] = [];
  const client = engineClient({
    flavour: dockerFlavour,
    transport: {
      send: async ({ method, path, query }) => {
        const ok = (body: unknown) => ({ status: 200, contentType: "application/json", text: JSON.stringify(body) });
        if (path.endsWith("/containers/json")) {
          return ok(kept.map(({ container: { Id, Name } }) => ({ Id, Names: [Name] })));
        }
        const found = kept.find(({ container }) => path.includes(container.Id));
        if (found === undefined) throw new Error(`Nobody answers ${method} ${path}`);
        const { container } = found;
        if (path.endsWith("/rename")) container.Name = `/${query?.name}`;
        if (path.endsWith("/start")) {
          // In the middle of the way back, when the first one is up.
          if (isEnding) stop.abort(new Error("The process is ending"));
          started.push(nameOf(container));
          Object.assign(container.State, { Status: "running", Running: true, Health: { Status: "starting" } });
        }
        return ok(container);
      },
      stream: () => Promise.reject(new Error("Nothing is streamed here")),
    },
    apiVersion: "1.41",
    deadlines: defaultDeadlines,
  });
  const begun = clock.now();
  const context = { client, clock, apiVersion: "1.41", retryDelayMs: 0, stopping: stop.signal };
  const recovery = await clock.runUntil(undoRun(context, { kind: "compose", id: "shop" }, journal, null));
  expect(recovery).toMatchObject({ state: "untouched" });
  expect(started).toEqual(services);
  expect(clock.now() - begun).toBe(isEnding ? 0 : 2 * 60_000);
});
