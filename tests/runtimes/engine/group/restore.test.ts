import { describe, expect, test } from "bun:test";
import { planRestore } from "../../../../src/runtimes/engine/group/restore.ts";
import { targetIn } from "../../../../src/runtimes/engine/group/target.ts";
import type { ContainerInspect, ImageInspect } from "../../../../src/runtimes/engine/objects.ts";
import { type Scene, sceneOf } from "../../../../src/runtimes/engine/plan.ts";
import type { RawObject } from "../../../../src/runtimes/engine/raw.ts";
import { writeSnapshot } from "../../../../src/runtimes/engine/snapshot.ts";
import type { UpdatePlan } from "../../../../src/runtimes/runtime.ts";
import { containerInspect, imageInspect } from "../inspect.ts";

const apiVersion = "1.41";
const image = imageInspect();
const otherImage = imageInspect({ Id: `sha256:${"b".repeat(64)}` });
const volume = (name: string) => ({
  Type: "volume",
  Name: name,
  Source: `/var/lib/docker/volumes/${name}/_data`,
  Destination: "/data",
  Driver: "local",
  RW: true,
});
/** With a volume that nothing but the image asked for. */
const anonymous = (change: RawObject = {}) => containerInspect({ Mounts: [volume("4f2a")], ...change });
const stopped = { State: { Status: "exited", Running: false } };

function sceneIn(all: readonly ContainerInspect[], container: ContainerInspect, of: ImageInspect = image): Scene {
  const source = {
    apiVersion,
    engine_platform: "linux/amd64",
    self: { hostname: "build-host", data_dir: "/srv/tidemark" },
    address: { kind: "unix" as const, path: "/var/run/docker.sock" },
  };
  return sceneOf(source, all, container, of);
}

async function restoreOf(
  captured: readonly ContainerInspect[],
  now: readonly ContainerInspect[],
  imageNow: ImageInspect = image,
): Promise<UpdatePlan> {
  const ref = { kind: "container" as const, id: "web" };
  const members = captured.map((container) => ({
    scene: sceneIn(captured, container),
    service: "main",
    role: "target" as const,
    files: null,
  }));
  const found = targetIn({ all: now, sceneOf: async (container) => sceneIn(now, container, imageNow) }, ref);
  const client = { inspectImage: async () => image };
  return (await planRestore(client, found, apiVersion, writeSnapshot(ref, apiVersion, members))).plan;
}

describe("planRestore()", () => {
  test("lists nothing of a container with an anonymous volume that is as it was captured", async () => {
    const plan = await restoreOf([anonymous()], [anonymous()]);
    expect([plan.is_noop, plan.diff]).toEqual([true, []]);
  });

  test("lists nothing of a successor that names the volume and has another id", async () => {
    const Id = "2e".repeat(32);
    const successor = anonymous({
      Id,
      Config: { Hostname: Id.slice(0, 12) },
      HostConfig: { Mounts: [{ Type: "volume", Source: "4f2a", Target: "/data" }] },
    });
    const plan = await restoreOf([anonymous()], [successor]);
    expect([plan.is_noop, plan.diff]).toEqual([true, []]);
  });

  test("of a container that changes only lists what does", async () => {
    const plan = await restoreOf([anonymous({ Config: { Env: ["A=1"] } })], [anonymous()]);
    expect(plan.is_noop).toBe(false);
    expect(plan.diff).toEqual([{ service: "main", path: "Env.A", before: null, after: "1", because: "desired" }]);
  });

  const restart = { Name: "no", MaximumRetryCount: 0 };
  test.each<[string, ContainerInspect, ImageInspect]>([
    ["Image", anonymous(), otherImage],
    ["HostConfig.RestartPolicy", anonymous({ HostConfig: { RestartPolicy: restart } }), image],
    ["HostConfig.Mounts", anonymous({ Mounts: [volume("9c1b")] }), image],
    ["Networks.back", anonymous({ NetworkSettings: { Networks: { back: { NetworkID: "n2" } } } }), image],
    ["State.Running", anonymous(stopped), image],
  ])("says %s where only that would change", async (path, now, imageNow) => {
    const plan = await restoreOf([anonymous()], [now], imageNow);
    expect(plan.is_noop).toBe(false);
    expect(plan.diff.map((line) => line.path)).toEqual([path]);
  });
});
