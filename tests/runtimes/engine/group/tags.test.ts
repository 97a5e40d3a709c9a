import { describe, expect, test } from "bun:test";
import { dockerFlavour } from "../../../../src/runtimes/docker/flavour.ts";
import type { RawObject } from "../../../../src/runtimes/engine/raw.ts";
import { openEngine } from "../../../../src/runtimes/engine/session.ts";
import type { EngineTransport } from "../../../../src/runtimes/engine/transport.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { memoryJournal } from "../../../support/memory-journal.ts";
import { containerInspect, imageInspect } from "../inspect.ts";

const imageId = (letter: string) => `sha256:${letter.repeat(64)}`;

const digestOf = (letter: string) => `app@sha256:${letter.repeat(63)}0`;

/** An engine with one container and two images, one of which has the tag `app:1`; keeps what it is told to tag. */
function engineOf(image = "a") {
  const engine = { image, tagged: [] as string[] };
  const imageOf = (text: string) => {
    const letter = text.includes("b".repeat(64)) ? "b" : "a";
    return imageInspect({ Id: imageId(letter), RepoDigests: [digestOf(letter)] });
  };
  const container = () => containerInspect({ Image: imageId(engine.image), HostConfig: { Memory: 1 } });
  const answer = (method: string, path: string, query: RawObject): unknown => {
    if (path === "/version") return { Version: "20.10", ApiVersion: "1.41", Os: "linux", Arch: "amd64" };
    if (method === "GET" && path.endsWith("/containers/json")) return [{ Id: container().Id, Names: ["/web"] }];
    if (method === "GET" && path.endsWith("/images/json")) return [];
    if (method === "GET" && path.includes("/images/app:1/")) return imageOf(imageId(engine.image));
    if (method === "GET" && path.includes("/images/sha256:")) return imageOf(path);
    if (method === "GET" && /containers\/(web|1f1f)/.test(path)) return container();
    if (path.endsWith("/tag") && path.includes("sha256:")) {
      engine.image = path.includes(imageId("b")) ? "b" : "a";
      engine.tagged.push(`${query.repo}:${query.tag} ${engine.image}`);
      return {};
    }
    return null;
  };
  const transport: EngineTransport = {
    send: async ({ method, path, query }) => {
      const found = answer(method, path, query ?? {});
      const text = JSON.stringify(found ?? { message: "No such thing" });
      return { status: found === null ? 404 : 200, contentType: "application/json", text };
    },
    stream: () => Promise.reject(new Error("Nothing is pulled here")),
  };
  const open = () =>
    openEngine({
      flavour: dockerFlavour,
      address: { kind: "unix", path: "/run/engine.sock" },
      api_version: null,
      registry_auth: null,
      context: {
        clock: createFakeClock(),
        signal: new AbortController().signal,
        self: { hostname: "me", data_dir: "/data" },
      },
      transport,
    });
  return { engine, open };
}

describe("undo()", () => {
  test("points a tag back to what it named before the first of several services that share it", async () => {
    const { engine, open } = engineOf("b");
    const journal = memoryJournal();
    await journal.begin("pull", { service: "web", reference: "app:1", tag_was: imageId("a") });
    await journal.begin("pull", { service: "worker", reference: "app:1", tag_was: imageId("b") });
    await using session = await open();
    await session.undo({ kind: "compose", id: "shop" }, journal, null);
    expect(engine.tagged.at(-1)).toBe("app:1 a");
  });

  test.each([
    ["that somebody moved on since its pull", "b", "c", []],
    ["that names what its pull brought", "b", "b", ["app:1 a"]],
    ["of a pull that did not end", "b", null, ["app:1 a"]],
    ["that names again what it named", "a", "b", []],
  ])("a tag %s", async (_, named, pulled, tagged) => {
    const { engine, open } = engineOf(named);
    const journal = memoryJournal();
    await journal.begin("pull", { service: "main", reference: "app:1", tag_was: imageId("a") });
    if (pulled !== null) await journal.finish("pull", { service: "main", image_id: imageId(pulled) });
    await using session = await open();
    await session.undo({ kind: "container", id: "web" }, journal, null);
    expect(engine.tagged).toEqual(tagged);
  });

  test.each([
    ["this image", "b", ["app:1 a"]],
    ["another image than the one that somebody gave it", "c", []],
  ])("a tag of a pull by digest, or of a rollback, that did not end and asked for %s", async (_, asked, tagged) => {
    for (const pulled of [digestOf(asked), imageId(asked)]) {
      const { engine, open } = engineOf("b");
      const journal = memoryJournal();
      await journal.begin("pull", { service: "main", reference: "app:1", pulled, tag_was: imageId("a") });
      await using session = await open();
      await session.undo({ kind: "container", id: "web" }, journal, null);
      expect(engine.tagged).toEqual(tagged);
    }
  });

  test("of a rollback points the tag back that the rollback moved", async () => {
    const { engine, open } = engineOf();
    const ref = { kind: "container", id: "web" } as const;
    const journal = memoryJournal();
    await using session = await open();
    const snapshot = (await session.snapshots?.capture(ref)) ?? "";
    engine.image = "b";
    const plan = await session.snapshots?.planRestore(ref, snapshot);
    if (plan === undefined) throw new Error("An engine has snapshots");
    await session.snapshots?.prepareRestore(plan, snapshot, [], journal);
    expect(engine.tagged).toEqual(["app:1 a"]);
    await session.undo(ref, journal, null);
    expect(engine.tagged).toEqual(["app:1 a", "app:1 b"]);
  });
});
