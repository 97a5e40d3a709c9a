import { describe, expect, test } from "bun:test";
import { dockerFlavour } from "../../../../src/runtimes/docker/flavour.ts";
import { engineClient } from "../../../../src/runtimes/engine/client.ts";
import type { SceneSource } from "../../../../src/runtimes/engine/container-plan.ts";
import { findSurvey, findTarget } from "../../../../src/runtimes/engine/group/target.ts";
import { tiesTo } from "../../../../src/runtimes/engine/group/ties.ts";
import { capture } from "../../../../src/runtimes/engine/group/units.ts";
import { type ContainerInspect, nameOf } from "../../../../src/runtimes/engine/objects.ts";
import { objectAt, type RawObject } from "../../../../src/runtimes/engine/raw.ts";
import { readSnapshot } from "../../../../src/runtimes/engine/snapshot.ts";
import { sharedReads } from "../../../../src/runtimes/engine/survey.ts";
import { createSurveyMemory } from "../../../../src/runtimes/engine/survey-memory.ts";
import type { EngineTransport } from "../../../../src/runtimes/engine/transport.ts";
import { containerInspect, imageInspect } from "../inspect.ts";

/** An engine whose containers a test changes; `listedState` is what its list says while its inspect says more. */
function engineOf(changes: Record<string, RawObject>) {
  const engine = { changes, listedState: {} as Record<string, string>, asked: [] as string[] };
  const idOf = (key: string) => key.repeat(64).slice(0, 64);
  const found = (key: string) => containerInspect({ Id: idOf(key), ...engine.changes[key] });
  const lineOf = (key: string) => {
    const { Id, Name, Image, Config, State } = found(key);
    const state = engine.listedState[key] ?? State.Status;
    return { Id, Names: [Name], ImageID: Image, Labels: Config.Labels, State: state, Status: "Up 5 minutes" };
  };
  const answer = (path: string): unknown => {
    if (path.endsWith("/containers/json")) return Object.keys(engine.changes).map(lineOf);
    if (path.endsWith("/images/json")) return [imageInspect()];
    if (path.includes("c".repeat(64))) return null;
    if (path.includes("/images/")) return imageInspect();
    if (path.endsWith("/changes")) return [];
    return found(Object.keys(engine.changes).find((key) => path.includes(idOf(key))) ?? "");
  };
  const transport: EngineTransport = {
    send: async ({ path }) => {
      engine.asked.push(path);
      const found = answer(path);
      return { status: found === null ? 404 : 200, contentType: "application/json", text: JSON.stringify(found ?? {}) };
    },
    stream: () => Promise.reject(new Error("Nothing is streamed here")),
  };
  const client = engineClient({
    flavour: dockerFlavour,
    transport,
    apiVersion: "1.41",
    deadlines: { readMs: 1, changeMs: 1, pullIdleMs: 1 },
    engineApi: { min: "1.12", max: "1.41" },
  });
  const source: SceneSource = {
    client,
    apiVersion: "1.41",
    engine_platform: "linux/amd64",
    self: { hostname: "", data_dir: "/data" },
    address: { kind: "unix", path: "/run/engine.sock" },
    reads: sharedReads(client, createSurveyMemory(), false),
  };
  return { engine, source };
}

const named = (all: readonly ContainerInspect[], name: string) => all.find((each) => nameOf(each) === name);
const composeLabels = (service: string, dependsOn: string) => ({
  "com.docker.compose.project": "shop",
  "com.docker.compose.service": service,
  "com.docker.compose.container-number": "1",
  "com.docker.compose.depends_on": dependsOn,
});

describe("findTarget()", () => {
  test.each<[string, RawObject]>([
    ["shares its network", { HostConfig: { NetworkMode: `container:${"d".repeat(64)}` } }],
    ["is restarted with it", { Config: { Labels: composeLabels("web", "db:service_started:true") } }],
  ])("asks anew for what %s: no list shows a changed limit or policy", async (_what, tied) => {
    const db = { Name: "/db", Config: { Labels: composeLabels("db", "") } };
    const { engine, source } = engineOf({ d: db, e: { Name: "/web", ...tied } });
    await findSurvey(source);
    engine.changes.e = { Name: "/web", ...tied, HostConfig: { ...objectAt(tied.HostConfig), Memory: 1024 } };
    const { all } = await findTarget(source, { kind: "container", id: "db" });
    expect(named(all, "web")?.HostConfig.Memory).toBe(1024);
  });

  test("knows an owner by the few digits of its id that somebody typed, and asks anew for what uses its volumes", async () => {
    const tied = { HostConfig: { VolumesFrom: ["dddddd"] } };
    const { engine, source } = engineOf({ d: { Name: "/db" }, e: { Name: "/web", ...tied } });
    await findSurvey(source);
    engine.changes.e = { Name: "/web", HostConfig: { ...tied.HostConfig, Memory: 1024 } };
    const { all } = await findTarget(source, { kind: "container", id: "db" });
    expect(named(all, "web")?.HostConfig.Memory).toBe(1024);
    const [web, db] = [named(all, "web"), named(all, "db")];
    if (web === undefined || db === undefined) throw new Error("Both are there");
    expect(tiesTo(web, db)).toEqual(["volumes"]);
  });

  test("follows a link to a container that has got another name", async () => {
    const { engine, source } = engineOf({
      d: { Name: "/db" },
      e: { Name: "/web", HostConfig: { Links: ["/db:/web/db"] } },
    });
    await findSurvey(source);
    engine.changes.d = { Name: "/store" };
    engine.changes.e = { Name: "/web", HostConfig: { Links: ["/store:/web/db"] } };
    const { all } = await findTarget(source, { kind: "container", id: "store" });
    expect(named(all, "web")?.HostConfig.Links).toEqual(["/store:/web/db"]);
  });
});

describe("a session for many targets at one moment", () => {
  test.each([
    [false, 3, 2],
    [true, 0, 1],
  ])("(%s) lists containers and reads images once, and inspects each target", async (isOnce, lists, images) => {
    const { engine, source } = engineOf({ d: { Name: "/db" }, e: { Name: "/web" } });
    const session = { ...source, reads: sharedReads(source.client, createSurveyMemory(), isOnce) };
    await findSurvey(session);
    engine.asked.length = 0;
    for (const id of ["db", "web"]) {
      const { all, sceneOf } = await findTarget(session, { kind: "container", id });
      const found = named(all, id);
      if (found !== undefined) await sceneOf(found);
    }
    await findSurvey(session);
    const count = (part: RegExp) => engine.asked.filter((path) => part.test(path)).length;
    expect(count(/containers\/json$/)).toBe(lists);
    expect(count(/containers\/.{64}\/json/)).toBe(2);
    expect(count(/images\/.*\/json/)).toBe(images);
  });
});

describe("findSurvey()", () => {
  test("keeps no state that a container had between two that look alike in the list", async () => {
    const running = { Name: "/web" };
    const { engine, source } = engineOf({ e: { Name: "/web", State: { Status: "exited", Running: false } } });
    // It ended after the list was written, and was started again.
    engine.listedState.e = "running";
    expect(named((await findSurvey(source)).all, "web")?.State.Status).toBe("exited");
    engine.changes.e = running;
    expect(named((await findSurvey(source)).all, "web")?.State.Status).toBe("running");
  });
});

describe("capture()", () => {
  const imageGone = { Image: `sha256:${"c".repeat(64)}` };
  const members = (of: RawObject) => ({
    a: { Name: "/shop-web-1", Config: { Labels: composeLabels("web", "") } },
    b: { Name: "/shop-db-1", Config: { Labels: composeLabels("db", "") }, ...of },
  });
  const ref = { kind: "compose", id: "shop" } as const;
  const savedOf = async (source: Awaited<ReturnType<typeof engineOf>>["source"]) =>
    readSnapshot(await capture(source, ref)).members.map(({ name }) => name);

  test("saves every container of a group", async () => {
    expect(await savedOf(engineOf(members({})).source)).toEqual(["shop-db-1", "shop-web-1"]);
  });

  test("leaves out one that cannot be saved, which no run replaces, and saves the others", async () => {
    expect(await savedOf(engineOf(members(imageGone)).source)).toEqual(["shop-web-1"]);
  });

  test("throws where nothing can be saved", async () => {
    const { source } = engineOf({ a: { Name: "/web", ...imageGone } });
    await expect(capture(source, { kind: "container", id: "web" })).rejects.toMatchObject({
      said: { code: "refusals.image_missing" },
    });
  });
});
