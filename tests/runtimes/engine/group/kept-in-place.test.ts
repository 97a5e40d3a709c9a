import { describe, expect, test } from "bun:test";
import { targetFacts } from "../../../../src/runtimes/engine/facts.ts";
import { finishRun, recoverTogether, undoRun } from "../../../../src/runtimes/engine/group/recover.ts";
import { ownLabelsFor, runNames } from "../../../../src/runtimes/engine/names.ts";
import { type ContainerInspect, nameOf } from "../../../../src/runtimes/engine/objects.ts";
import type { RawObject } from "../../../../src/runtimes/engine/raw.ts";
import { testClient } from "../../../support/engine-client.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { memoryJournal } from "../../../support/memory-journal.ts";
import { containerInspect } from "../inspect.ts";

const ref = { kind: "compose", id: "shop" } as const;
const services = ["db", "web"] as const;
const down = { Status: "exited", Running: false };

/** A run that replaced both containers of a group, and an engine that refuses to start those of `stuck`, by name of service and role. */
async function replacedBoth(stuck: Set<string>, webHost: RawObject = {}) {
  const clock = createFakeClock();
  const journal = memoryJournal();
  const roles = new Map<string, string>();
  const containers: ContainerInspect[] = [];
  for (const [index, service] of services.entries()) {
    const names = runNames(service, journal.run_id);
    const Labels = { "com.docker.compose.project": "shop", "com.docker.compose.service": service };
    const [oldId, newId] = [`${index + 1}`.repeat(64), `${index + 5}`.repeat(64)];
    roles.set(oldId, `${service} previous`).set(newId, `${service} next`);
    const HostConfig = service === "web" ? webHost : {};
    const found = containerInspect({ Id: oldId, Name: `/${service}`, Config: { Labels }, HostConfig });
    const facts = { ...targetFacts(found, true, null), members: services, container: service };
    await journal.begin("create", facts);
    await journal.finish("create", { container: service });
    containers.push(
      containerInspect({ Id: oldId, Name: `/${names.aside}`, State: down, Config: { Labels }, HostConfig }),
      containerInspect({
        Id: newId,
        Name: `/${service}`,
        Config: { Labels: { ...Labels, ...ownLabelsFor(journal.run_id, service, oldId) } },
      }),
    );
  }
  const client = testClient(({ method, path, query, body }) => {
    if (path.endsWith("/containers/json")) {
      return { body: containers.map(({ Id, Name, Config }) => ({ Id, Names: [Name], Labels: Config.Labels })) };
    }
    const found = containers.find(({ Id }) => path.includes(Id));
    if (found === undefined) return null;
    if (path.endsWith("/start") && stuck.has(roles.get(found.Id) ?? "")) {
      return { status: 500, body: { message: "No space left on device" } };
    }
    if (path.endsWith("/rename")) found.Name = `/${query?.name}`;
    if (path.endsWith("/update")) Object.assign(found.HostConfig, body);
    if (path.endsWith("/stop")) Object.assign(found.State, down);
    if (path.endsWith("/start")) Object.assign(found.State, { Status: "running", Running: true });
    if (method === "DELETE") containers.splice(containers.indexOf(found), 1);
    return { body: found };
  });
  const states = () =>
    containers.map(
      (each) => `${roles.get(each.Id)} as ${nameOf(each).replace(/-tidemark-.*-/, "-")} ${each.State.Status}`,
    );
  return { clock, journal, containers, states, context: { client, clock, apiVersion: "1.41", retryDelayMs: 0 } };
}

/** The database's previous container refuses to come back, so that its new one is kept; of the web service neither starts. */
const stuck = () => new Set(["db previous", "web previous", "web next"]);
const webIsDown = "web previous as web exited";
const webStaysDown = { said: { code: "recovery.down", params: { name: "web" } } };

describe("a group of which one container stays down after a failed way back", () => {
  test.each(["undo", "recovery"])(
    "loses the previous container of another that is kept in its place; by %s",
    async (way) => {
      const { clock, journal, states, context } = await replacedBoth(stuck());
      if (way === "undo") {
        await expect(clock.runUntil(undoRun(context, ref, journal, null))).rejects.toMatchObject(webStaysDown);
      } else {
        await journal.begin("undo");
        expect(await clock.runUntil(recoverTogether(context, ref, journal, null))).toMatchObject({ state: "down" });
      }
      expect(states()).toEqual(["db previous as db-previous exited", "db next as db running", webIsDown]);
      await clock.runUntil(finishRun(context, ref, journal.reopened()));
      expect(states()).toEqual(["db next as db running", webIsDown]);
    },
  );

  test("keeps it for as long as the one in its place does not run, and says so", async () => {
    const { clock, journal, containers, states, context } = await replacedBoth(stuck());
    await expect(clock.runUntil(undoRun(context, ref, journal, null))).rejects.toThrow();
    const kept = containers.find((each) => nameOf(each) === "db");
    Object.assign(kept?.State ?? {}, down);
    await expect(clock.runUntil(finishRun(context, ref, journal))).rejects.toMatchObject({
      said: { code: "recovery.kept_not_running", params: { name: "db" } },
    });
    expect(states()).toContain("db previous as db-previous exited");
    Object.assign(kept?.State ?? {}, { Status: "running", Running: true });
    await clock.runUntil(finishRun(context, ref, journal));
    expect(states()).toEqual(["db next as db running", webIsDown]);
  });

  test("keeps it for one that is back in its place, down, and can only be started in its namespace", async () => {
    const host = { NetworkMode: `container:${"1".repeat(64)}` };
    const { clock, journal, containers, states, context } = await replacedBoth(stuck(), host);
    await expect(clock.runUntil(undoRun(context, ref, journal, null))).rejects.toMatchObject(webStaysDown);
    await expect(clock.runUntil(finishRun(context, ref, journal))).rejects.toMatchObject({
      said: { code: "recovery.kept_needed", params: { user: "web" } },
    });
    expect(states()).toEqual(["db previous as db-previous exited", "db next as db running", webIsDown]);
    // Whoever made the other one anew needs it no more.
    containers.splice(2, 1);
    await clock.runUntil(finishRun(context, ref, journal));
    expect(states()).toEqual(["db next as db running"]);
  });

  test("keeps the only one that there is to go back to", async () => {
    const { clock, journal, containers, states, context } = await replacedBoth(stuck());
    await expect(clock.runUntil(undoRun(context, ref, journal, null))).rejects.toThrow();
    const stranger = containerInspect({ Id: "9".repeat(64), Name: "/db" });
    containers.splice(1, 1, stranger);
    await clock.runUntil(finishRun(context, ref, journal));
    expect(states()).toContain("db previous as db-previous exited");
  });
});

test("recovery after the commit ends the way back of one whose new container somebody took away", async () => {
  const { clock, journal, containers, states, context } = await replacedBoth(new Set());
  await journal.begin("commit");
  await journal.finish("commit");
  containers.splice(1, 1);
  expect(await clock.runUntil(recoverTogether(context, ref, journal, null))).toMatchObject({ state: "mixed" });
  expect(states()).toEqual(["db previous as db running", "web next as web running"]);
  const last = journal.entries().findLast(({ step }) => step === "undo");
  expect(last).toMatchObject({ phase: "finish", facts: { container: "db", state: "untouched" } });
});
