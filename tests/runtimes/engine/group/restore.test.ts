import { describe, expect, test } from "bun:test";
import { say } from "../../../../src/messages/message.ts";
import { containersOf } from "../../../../src/runtimes/containers-detail.ts";
import { dockerFlavour } from "../../../../src/runtimes/docker/flavour.ts";
import { type Scene, sceneOf } from "../../../../src/runtimes/engine/container-plan.ts";
import { planRestore } from "../../../../src/runtimes/engine/group/restore.ts";
import { targetIn } from "../../../../src/runtimes/engine/group/target.ts";
import { ownLabels, ownLabelsFor } from "../../../../src/runtimes/engine/names.ts";
import type { ContainerInspect, ImageInspect } from "../../../../src/runtimes/engine/objects.ts";
import type { RawObject } from "../../../../src/runtimes/engine/raw.ts";
import { writeSnapshot } from "../../../../src/runtimes/engine/snapshot.ts";
import type { UpdatePlan } from "../../../../src/runtimes/plan.ts";
import type { TargetRef } from "../../../../src/runtimes/target.ts";
import { english } from "../../../support/english.ts";
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

function sceneIn(
  all: readonly ContainerInspect[],
  container: ContainerInspect,
  of: ImageInspect | null = image,
): Scene {
  const source = {
    apiVersion,
    engine_platform: "linux/amd64",
    self: { hostname: "build-host", data_dir: "/srv/tidemark" },
    address: { kind: "unix" as const, path: "/var/run/docker.sock" },
  };
  return sceneOf(source, all, container, of);
}

interface Now {
  image?: ImageInspect | null;
  ref?: TargetRef;
  /** What the engine says of volumes and networks: all are there when left out, and nobody may ask for `null`. */
  has?: (name: string) => boolean | null;
}

async function restoreOf(
  captured: readonly ContainerInspect[],
  now: readonly ContainerInspect[],
  { image: imageNow = image, ref = { kind: "container", id: "web" }, has = () => true }: Now = {},
): Promise<UpdatePlan> {
  const members = captured.map((container) => ({
    scene: sceneIn(captured, container),
    service: "main",
    role: "target" as const,
    files: null,
  }));
  const found = targetIn({ all: now, sceneOf: async (container) => sceneIn(now, container, imageNow) }, ref);
  const client = {
    inspectImage: async () => image,
    hasVolume: async (name: string) => has(name),
    hasNetwork: async (name: string) => has(name),
    flavour: dockerFlavour,
  };
  return (await planRestore(client, found, apiVersion, writeSnapshot(ref, apiVersion, members))).plan;
}

const codes = (plan: UpdatePlan) => plan.refusals.map((each) => each.code);

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
    const plan = await restoreOf([anonymous()], [now], { image: imageNow });
    expect(plan.is_noop).toBe(false);
    expect(plan.diff.map((line) => line.path)).toEqual([path]);
  });
});

describe("planRestore() of a group", () => {
  const ref = { kind: "compose", id: "gone" } as const;
  const of = (project: string, service: string, change: RawObject = {}) =>
    containerInspect({
      Id: (service + project).padEnd(64, "0"),
      Name: "/gone-e-1",
      Config: { Labels: { "com.docker.compose.project": project, "com.docker.compose.service": service } },
      ...change,
    });
  const captured = [of("gone", "e")];

  test.each<[string, ContainerInspect]>([
    ["another project", of("other", "e")],
    ["no project", containerInspect({ Name: "/gone-e-1" })],
  ])("is refused where a container of %s has a member's name now", async (_, stranger) => {
    const plan = await restoreOf(captured, [stranger], { ref });
    expect(plan.refusals).toEqual([
      {
        code: "name_taken",
        message: say("restoring.name_taken", { name: "gone-e-1", target: "gone" }),
      },
    ]);
    expect(plan.services.map(({ from }) => from.image_id)).toEqual([""]);
  });

  test("takes one of its own for what it was, although it was made anew since", async () => {
    const plan = await restoreOf(captured, [of("gone", "e", { Id: "9".repeat(64), Image: otherImage.Id })], { ref });
    expect(plan.refusals).toEqual([]);
    expect(plan.services.map(({ from }) => from.image_id)).toEqual([otherImage.Id]);
  });
});

describe("planRestore() without what the snapshot mounts and is connected to", () => {
  const refusal = (kind: "volume" | "network", name: string) => `${kind}_gone ${name} of web`;
  const networks = (mode: string, ...names: readonly string[]) => ({
    HostConfig: { NetworkMode: mode },
    NetworkSettings: { Networks: Object.fromEntries(names.map((name) => [name, { NetworkID: `id-of-${name}` }])) },
  });
  const none: readonly ContainerInspect[] = [];

  test.each<[string, RawObject, readonly string[]]>([
    ["a mounted volume", { Mounts: [volume("data")] }, [refusal("volume", "data")]],
    [
      "a volume of a bind",
      { HostConfig: { Binds: ["data:/data:ro", "/srv:/srv", "/x"] } },
      [refusal("volume", "data")],
    ],
    ["one that is told twice", { Mounts: [volume("d")], HostConfig: { Binds: ["d:/data"] } }, [refusal("volume", "d")]],
    ["a folder", { Mounts: [{ Type: "bind", Source: "/srv", Destination: "/srv" }] }, []],
    ["the engine's own network", networks("bridge", "bridge"), []],
    ["the host's network", networks("host", "host"), []],
    ["no network", networks("none", "none"), []],
    ["Podman's own ways", networks("slirp4netns:mtu=1500"), []],
    ["a network", networks("front", "back", "front"), [refusal("network", "back"), refusal("network", "front")]],
    ["one that it was taken off", networks("front", "bridge"), [refusal("network", "front")]],
  ])("says so of %s", async (_, change, refusals) => {
    const plan = await restoreOf([containerInspect(change)], none, { has: () => false });
    const told = plan.refusals.map(({ code, message: { params } }) => `${code} ${params.name} of ${params.users}`);
    expect(told.sort()).toEqual([...refusals]);
  });

  test.each([true, null])("refuses nothing where the engine says %s", async (answer) => {
    const container = containerInspect({ Mounts: [volume("data")], ...networks("front", "front") });
    expect(codes(await restoreOf([container], none, { has: () => answer }))).toEqual([]);
  });

  test("says so where a container stands in its place, and nothing where that would stay", async () => {
    const asked: string[] = [];
    const has = (name: string) => {
      asked.push(name);
      return false;
    };
    expect(codes(await restoreOf([anonymous()], [anonymous({ Mounts: [] })], { has }))).toEqual(["volume_gone"]);
    expect(asked.splice(0)).toContain("4f2a");
    expect(codes(await restoreOf([anonymous()], [anonymous()], { has }))).toEqual([]);
    expect(asked).toEqual([]);
  });
});

describe("planRestore() where somebody else's container has the name", () => {
  const captured = [containerInspect({ Config: { Env: ["A=1"] } })];
  const other = { Id: "2e".repeat(32) };
  const compose = (service: string) => ({
    Config: { Labels: { "com.docker.compose.project": "shop", "com.docker.compose.service": service } },
  });
  const told = (plan: UpdatePlan) => plan.warnings.map(({ code }) => code).filter((code) => code === "other_container");

  test("says that it would be replaced", async () => {
    const plan = await restoreOf(captured, [containerInspect(other)]);
    expect(plan.is_noop).toBe(false);
    expect(plan.warnings).toContainEqual({
      code: "other_container",
      message: say("restoring.other_container", { name: "web" }),
    });
  });

  test("is consented to as that very container: another stranger, or the known one, has another hash", async () => {
    const hashes = await Promise.all(
      [{}, other, { Id: "3e".repeat(32) }].map(async (change) => {
        return (await restoreOf(captured, [containerInspect(change)])).hash;
      }),
    );
    expect(new Set(hashes).size).toBe(3);
  });

  test.each<[string, readonly ContainerInspect[], RawObject]>([
    ["the one of the snapshot", captured, {}],
    ["one that a run made", captured, { ...other, Config: { Labels: ownLabelsFor("r".repeat(24), "web", null) } }],
    ["one that a run made again", captured, { ...other, Config: { Labels: { [ownLabels.remade]: "r" } } }],
    [
      "one that compose made anew",
      [containerInspect({ ...compose("web"), HostConfig: { Init: true } })],
      { ...other, ...compose("web") },
    ],
  ])("says nothing of %s", async (_, of, now) => {
    const plan = await restoreOf(of, [containerInspect(now)]);
    expect([plan.is_noop, told(plan)]).toEqual([false, []]);
  });

  test.each<[string, RawObject]>([
    ["another service", { ...other, ...compose("db") }],
    ["a run under another name", { ...other, Config: { Labels: ownLabelsFor("r".repeat(24), "db", null) } }],
  ])("says it of one of %s", async (_, now) => {
    const of = [containerInspect({ ...compose("web"), HostConfig: { Init: true } })];
    expect(told(await restoreOf(of, [containerInspect(now)]))).toEqual(["other_container"]);
  });
});

describe("planRestore() of one that requires others", () => {
  const id = (digits: string) => digits.repeat(32);
  const named = (name: string, digits: string) => containerInspect({ Id: id(digits), Name: `/${name}` });
  const web = (...required: readonly string[]) =>
    containerInspect({ Id: id("77"), HostConfig: { Dependencies: required.map(id).sort() } });
  const captured = [web("11", "22", "33")];

  test("takes those that it requires now for those that were made anew since", async () => {
    const now = [web("aa", "22", "99"), named("db", "aa"), named("cache", "22"), named("queue", "99")];
    const plan = await restoreOf(captured, now);
    expect([plan.is_noop, plan.diff, codes(plan)]).toEqual([true, [], []]);
  });

  test("is refused where one is gone with nobody in its place", async () => {
    const plan = await restoreOf(captured, [web("22", "99"), named("cache", "22"), named("queue", "99")]);
    expect(codes(plan)).toEqual(["owner_gone", "owner_gone"]);
    expect(plan.refusals[0]?.message.params).toMatchObject({ owner: "111111111111", setting: "Dependencies" });
  });
});

describe("planRestore() over a broken container", () => {
  const running = { State: { Status: "running", Running: true } };
  const broken = { State: { Status: "exited", Running: false, ExitCode: 3 } };
  const endpoint = (MacAddress: string) => ({ NetworkID: "n", EndpointID: "", MacAddress, DNSNames: ["web"] });
  const onTwo = (mac: string) => ({ NetworkSettings: { Networks: { bridge: endpoint(mac), back: endpoint(mac) } } });
  const unnamed = {
    Mounts: [{ Type: "volume", Name: "", Driver: "elsewhere", Source: "/mnt/x", Destination: "/data" }],
  };
  const untold = { Refusals: [{ code: "hidden_settings", message: "It hides something" }] };
  const stateless = { ...onTwo(""), ...untold, ...unnamed };

  test("is about the snapshot: nothing that cannot be told of what is replaced is in its way", async () => {
    const plan = await restoreOf(
      [containerInspect({ ...running, ...onTwo("02:42:00:00:00:09") })],
      [containerInspect({ ...broken, ...stateless })],
      { image: otherImage },
    );
    expect([plan.refusals, plan.warnings]).toEqual([[], []]);
  });

  test("says what nothing will lead back to", async () => {
    const plan = await restoreOf([containerInspect(running)], [containerInspect(broken)], { image: null });
    expect(codes(plan)).toEqual([]);
    expect(plan.warnings.map(({ code }) => code)).toEqual(["not_saved"]);
  });

  test("is refused for what the snapshot does not tell", async () => {
    const captured = [containerInspect({ ...broken, ...stateless })];
    const plan = await restoreOf(captured, [containerInspect(running)], { image: otherImage });
    expect(codes(plan)).toEqual(["hidden_settings", "volume_unnamed", "mac_unknown"]);
    expect(english(plan.refusals[0]?.message)).toBe("The snapshot cannot be restored exactly: It hides something");
  });

  test.each<[string, RawObject]>([
    ["paused", { State: { Paused: true } }],
    ["swarm_task", { Config: { Labels: { "com.docker.swarm.task.id": "x" } } }],
    ["being_removed", { State: { Status: "removing", Running: false } }],
    ["auto_remove", { HostConfig: { AutoRemove: true } }],
  ])("is refused where what is replaced cannot get out of the way (%s)", async (code, now) => {
    expect(
      codes(await restoreOf([containerInspect(running)], [containerInspect(now)], { image: otherImage })),
    ).toContain(code);
  });

  const named = (name: string, digits: string, change: RawObject) =>
    containerInspect({ Id: digits.repeat(32), Name: `/${name}`, ...change });
  const inGroup = (service: string) => ({
    Config: { Labels: { "com.docker.compose.project": "shop", "com.docker.compose.service": service, moved: "1" } },
  });
  const requires = (digits: string) => ({ HostConfig: { Dependencies: [digits.repeat(32)] } });

  test("takes what it requires for what the same rollback makes of it", async () => {
    const captured = [
      named("db", "11", { ...inGroup("db"), ...running }),
      named("web", "22", { ...inGroup("web"), ...running, ...requires("11") }),
    ];
    const now = [
      named("db", "33", { ...inGroup("db"), ...broken }),
      named("web", "44", { ...inGroup("web"), ...running, ...requires("33") }),
    ];
    const plan = await restoreOf(captured, now, { ref: { kind: "compose", id: "shop" }, image: otherImage });
    expect(containersOf(plan.detail).map(({ name }) => name)).toEqual(["db", "web"]);
    expect(codes(plan)).toEqual([]);
  });

  test("does not hold against what hangs on it that it is down", async () => {
    const captured = [named("web", "11", running)];
    const now = [named("web", "11", broken), named("worker", "22", { ...running, ...requires("11") })];
    const plan = await restoreOf(captured, now, { image: otherImage });
    expect([containersOf(plan.detail).map(({ name }) => name), codes(plan)]).toEqual([["web", "worker"], []]);
  });
});
