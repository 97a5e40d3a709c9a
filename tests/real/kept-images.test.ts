import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { keptName } from "../../src/runtimes/engine/images.ts";
import type { RuntimeImages, RuntimeSession } from "../../src/runtimes/session.ts";
import { type EngineMode, engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { memoryJournal } from "../support/memory-journal.ts";
import { pushImage } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import {
  changeTo,
  inspectContainer,
  openSession,
  removeContainers,
  restore,
  runContainer,
  target,
} from "../support/update-target.ts";

setDefaultTimeout(120_000);

const modes: readonly EngineMode[] = ["docker-20", "docker-29", "docker-29-containerd", "podman"];

for (const mode of modes) {
  peerSuite(`kept images on ${mode}`, engineMissing(mode) ?? registryMissing(), () => suite(mode));
}

function suite(mode: EngineMode): void {
  let engine: TestEngine;
  let registry: Registry;
  let session: RuntimeSession;
  let images: RuntimeImages;

  beforeAll(async () => {
    engine = await startEngine({ mode });
    registry = await startRegistry();
    session = await openSession(engine);
    if (session.images === undefined) throw new Error("An engine has images");
    ({ images } = session);
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    await registry.stop();
    await engine.stop();
  });

  const push = (version: string) =>
    pushImage(registry.url, null, "acme/app", "latest", {
      version,
      cmd: ["/bin/sh", "-c", "trap exit TERM; while :; do sleep 1 & wait; done"],
    });
  const prune = () => engine.call("POST", "/images/prune?filters=%7B%22dangling%22%3A%5B%22true%22%5D%7D");
  const exists = async (id: string) => (await images.findPresent([id])).length === 1;

  /** A container whose tag has moved on: its old image has no name any more but the one that keeps it. */
  async function updated(name: string): Promise<{ old: string; snapshot: string }> {
    const reference = `${registry.host}/acme/app:latest`;
    await push(`1.${name}`);
    await engine.pullImage(reference);
    await runContainer(engine, name, { Image: reference });
    const old = String((await inspectContainer(engine, name)).Image);
    await push(`2.${name}`);
    const journal = memoryJournal();
    const plan = await session.plan(target(name), [changeTo(reference)]);
    const prepared = await session.prepare(plan, [], journal);
    const snapshot = await session.snapshots?.capture(target(name));
    if (snapshot === undefined) throw new Error("An engine has snapshots");
    await images.keep([old]);
    await prepared.apply();
    await session.finish(target(name), journal);
    expect((await inspectContainer(engine, name)).Image).not.toBe(old as never);
    return { old, snapshot };
  }

  test("an image that a snapshot names survives pruning, and the way back works", async () => {
    const { old, snapshot } = await updated("web");
    await prune();
    expect(await exists(old)).toBe(true);
    await restore(session, target("web"), snapshot, memoryJournal());
    expect(String((await inspectContainer(engine, "web")).Image)).toBe(old);
    await removeContainers(engine, "web");
  });

  test("without a name it does not survive", async () => {
    const { old } = await updated("prey");
    await engine.call("DELETE", `/images/${keptName(old)}`);
    await prune();
    expect(await exists(old)).toBe(false);
    await removeContainers(engine, "prey");
  });

  test("one that nothing uses is listed with its size and removed with all its names", async () => {
    const { old } = await updated("gone");
    await images.keep([old]);
    const listed = (await images.listUnused()).find((image) => image.id === old);
    expect(listed).toMatchObject({ is_kept: true });
    expect(listed?.size_bytes).toBeGreaterThan(100_000);
    expect(JSON.stringify(listed?.references)).not.toContain("tidemark");
    await engine.call("POST", `/images/${encodeURIComponent(old)}/tag?repo=lab/second&tag=name`);
    await images.remove(old);
    expect(await exists(old)).toBe(false);
    await removeContainers(engine, "gone");
  });

  test("one that a stopped container uses is not listed, and stays with its names", async () => {
    const { old } = await updated("used");
    await engine.call("POST", "/containers/create?name=user", { Image: old });
    expect((await images.listUnused()).map((image) => image.id)).not.toContain(old);
    await expect(images.remove(old)).rejects.toThrow("is used by a container");
    expect(await exists(keptName(old))).toBe(true);
    await removeContainers(engine, "user");
    await removeContainers(engine, "used");
  });

  test("keeping one that is gone is passed over, and keeping twice is one", async () => {
    await images.keep([`sha256:${"0".repeat(64)}`]);
    const { old } = await updated("twice");
    await images.keep([old, old]);
    await images.keep([old]);
    const found = (await engine.call("GET", `/images/${encodeURIComponent(old)}/json`)) as { RepoTags: string[] };
    expect(found.RepoTags.filter((tag) => tag.startsWith("tidemark.invalid/"))).toEqual([keptName(old)]);
    await removeContainers(engine, "twice");
  });
}
