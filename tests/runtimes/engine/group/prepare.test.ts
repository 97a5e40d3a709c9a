import { describe, expect, test } from "bun:test";
import { say } from "../../../../src/messages/message.ts";
import { dockerFlavour } from "../../../../src/runtimes/docker/flavour.ts";
import { openEngine } from "../../../../src/runtimes/engine/session.ts";
import type { EngineTransport } from "../../../../src/runtimes/engine/transport.ts";
import type { Change } from "../../../../src/runtimes/plan.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { memoryJournal } from "../../../support/memory-journal.ts";
import { containerInspect, imageInspect } from "../inspect.ts";

const ref = { kind: "container", id: "web" } as const;
const change = (digest: string | null): Change => {
  return { kind: "image", service: "main", reference: "app:2", digest, image_config: null };
};
const imageId = (letter: string) => `sha256:${letter.repeat(64)}`;
const digestOf = (letter: string) => `app@sha256:${letter.repeat(63)}0`;

/** An engine with one container of `app:1`, which is image a; `app:2` is image b, or a again. Nothing can be created. */
function engineWith(second: "a" | "b", configured = "app:1") {
  const calls: string[] = [];
  const engine = { calls, memory: 1, is_there: true };
  const imageOf = (letter: string) => imageInspect({ Id: imageId(letter), RepoDigests: [digestOf(letter)] });
  const container = () => {
    const found = containerInspect({ Image: imageId("a"), HostConfig: { Memory: engine.memory } });
    return { ...found, Config: { ...found.Config, Image: configured } };
  };
  const answer = (method: string, path: string): unknown => {
    if (path === "/version") return { Version: "20.10", ApiVersion: "1.41", Os: "linux", Arch: "amd64" };
    if (method !== "GET") return null;
    if (path.endsWith("/containers/json")) return engine.is_there ? [{ Id: container().Id, Names: ["/web"] }] : [];
    if (path.includes("/images/")) return imageOf(/app:2|b{60}/.test(decodeURIComponent(path)) ? second : "a");
    return engine.is_there && /containers\/(web|1f1f)/.test(path) ? container() : null;
  };
  const transport: EngineTransport = {
    send: async ({ method, path }) => {
      if (!path.includes("tidemark-probe-")) calls.push(`${method} ${path.replace(/^\/v1\.41/, "")}`);
      const found = answer(method, path);
      const text = JSON.stringify(found ?? { message: "No such thing" });
      return { status: found === null ? 404 : 200, contentType: "application/json", text };
    },
    stream: async (_, onChunk) => {
      onChunk('{"status":"Image is up to date"}');
      return { status: 200, contentType: "application/json", text: "" };
    },
  };
  const context = {
    clock: createFakeClock(),
    signal: new AbortController().signal,
    self: { hostname: "me", data_dir: "/data" },
  };
  const open = () =>
    openEngine({
      flavour: dockerFlavour,
      address: { kind: "unix", path: "/run/engine.sock" },
      api_version: null,
      registry_auth: null,
      context,
      transport,
    });
  return { engine, open };
}

describe("a prepared update", () => {
  test("surveys the engine once in the plan, and once before the first change", async () => {
    const { engine, open } = engineWith("b");
    const surveys = () => engine.calls.splice(0).filter((call) => call === "GET /containers/json").length;
    await using session = await open();
    const plan = await session.plan(ref, [change(digestOf("b"))]);
    expect(surveys()).toBe(1);
    const prepared = await session.prepare(plan, [], memoryJournal());
    expect(prepared.is_noop).toBe(false);
    expect(surveys()).toBe(0);
    await expect(prepared.apply()).rejects.toMatchObject({ said: { params: { answer: "No such thing" } } });
    expect(engine.calls.indexOf("GET /containers/json")).toBeLessThan(engine.calls.indexOf("POST /containers/create"));
    expect(surveys()).toBe(1);
  });

  test.each([
    ["is set to something else", { memory: 2 }, "engine.container_changed"],
    ["is gone", { is_there: false }, "engine.no_container"],
  ])("changes nothing once its target %s", async (_, meanwhile, code) => {
    const { engine, open } = engineWith("b");
    const journal = memoryJournal();
    await using session = await open();
    const prepared = await session.prepare(await session.plan(ref, [change(digestOf("b"))]), [], journal);
    Object.assign(engine, meanwhile);
    await expect(prepared.apply()).rejects.toMatchObject({ said: { code } });
    expect(journal.written()).toEqual(["pull begin", "pull finish"]);
  });

  test("has nothing to do when the image that was pulled is the one that runs under the same reference", async () => {
    for (const configured of ["app:2", "app:1"]) {
      const { engine, open } = engineWith("a", configured);
      await using session = await open();
      const plan = await session.plan(ref, [change(null)]);
      expect(plan.is_noop).toBe(false);
      const prepared = await session.prepare(plan, [], memoryJournal());
      expect(prepared.is_noop).toBe(configured === "app:2");
      engine.calls.splice(0);
      if (prepared.is_noop) await prepared.apply();
      expect(engine.calls).toEqual([]);
    }
  });

  test("is refused before any request where its plan is", async () => {
    const { engine, open } = engineWith("b");
    await using session = await open();
    const plan = await session.plan(ref, [change(digestOf("b"))]);
    const refusals = [{ code: "refused", message: say("runs.target_changed") }];
    engine.calls.splice(0);
    await expect(session.prepare({ ...plan, refusals }, [], memoryJournal())).rejects.toMatchObject({
      said: { code: "refusals.not_updatable" },
    });
    expect(engine.calls).toEqual([]);
  });
});
