import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { errorMessage } from "../../src/errors.ts";
import { lowered } from "../../src/messages/nested.ts";
import { containersOf } from "../../src/runtimes/containers-detail.ts";
import { allEngineModes, type EngineMode, startEngine, type TestEngine } from "../peers/engine.ts";
import { engineSuite, isPodman, shareOf } from "../support/engine-modes.ts";
import { english } from "../support/english.ts";
import { memoryJournal } from "../support/memory-journal.ts";
import { apply } from "../support/prepared.ts";
import {
  changeTo,
  containersNamed,
  familiar,
  images,
  importImages,
  openSession,
  removeContainers,
  runContainer,
  target,
} from "../support/update-target.ts";

// Each is over in a second; a machine that builds something beside them needs longer.
setDefaultTimeout(60_000);

type Json = Record<string, unknown>;
type Row = readonly [path: string, body: Json];

const folder = mkdtempSync(join(tmpdir(), "tidemark-fidelity-"));
// Also for a rootless engine.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const host = (HostConfig: Json): Json => ({ HostConfig });
const second = 1_000_000_000;

/** Each sets one field to something that no default has; the path is where inspect shows it. */
const rows: readonly Row[] = [
  ["Config.Hostname", { Hostname: "chosen-name" }],
  ["Config.Domainname", { Domainname: "example.test" }],
  ["Config.User", { User: "1000:1000" }],
  ["Config.AttachStdin", { AttachStdin: true }],
  ["Config.AttachStdout", { AttachStdout: true }],
  ["Config.AttachStderr", { AttachStderr: true }],
  ["Config.ExposedPorts", { ExposedPorts: { "8125/udp": {}, "9000/tcp": {} } }],
  ["Config.Tty", { Tty: true }],
  ["Config.OpenStdin", { OpenStdin: true }],
  ["Config.StdinOnce", { OpenStdin: true, StdinOnce: true }],
  ["Config.Env.0", { Env: ["MINE=some value with = and spaces"] }],
  ["Config.Cmd", { Cmd: ["/bin/sleep", "600"] }],
  ["Config.Entrypoint", { Entrypoint: ["/bin/busybox"], Cmd: ["sleep", "600"] }],
  [
    "Config.Healthcheck",
    {
      Healthcheck: {
        Test: ["CMD-SHELL", "true"],
        Interval: 7 * second,
        Timeout: 3 * second,
        StartPeriod: 2 * second,
        Retries: 4,
      },
    },
  ],
  ["Config.Healthcheck.Test", { Healthcheck: { Test: ["NONE"] } }],
  ["Config.Volumes", { Volumes: { "/cache": {} } }],
  ["Config.WorkingDir", { WorkingDir: "/var" }],
  ["Config.NetworkDisabled", { NetworkDisabled: true }],
  ["Config.MacAddress", { MacAddress: "02:42:ac:11:aa:bb" }],
  ["Config.Labels.some\\.label", { Labels: { "some.label": "a value" } }],
  ["Config.StopSignal", { StopSignal: "SIGQUIT" }],
  ["Config.StopTimeout", { StopTimeout: 42 }],
  ["Config.Shell", { Shell: ["/bin/ash", "-c"] }],
  ["Config.OnBuild", { OnBuild: ["RUN true"] }],
  ["HostConfig.Binds", host({ Binds: [`${folder}/one:/a:ro`, `${folder}/one:/b:rw`, "named-volume:/c"] })],
  ["HostConfig.LogConfig", host({ LogConfig: { Type: "json-file", Config: { "max-size": "3m", tag: "{{.Name}}" } } })],
  ["HostConfig.NetworkMode", host({ NetworkMode: "host" })],
  ["HostConfig.NetworkMode", host({ NetworkMode: "none" })],
  ["HostConfig.NetworkMode", host({ NetworkMode: "container:anchor" })],
  [
    "HostConfig.PortBindings",
    host({ PortBindings: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "18123" }], "53/udp": [{ HostPort: "" }] } }),
  ],
  ["HostConfig.PublishAllPorts", host({ PublishAllPorts: true })],
  ["HostConfig.RestartPolicy", host({ RestartPolicy: { Name: "on-failure", MaximumRetryCount: 3 } })],
  ["HostConfig.RestartPolicy", host({ RestartPolicy: { Name: "unless-stopped" } })],
  ["HostConfig.VolumeDriver", host({ VolumeDriver: "local" })],
  ["HostConfig.VolumesFrom", host({ VolumesFrom: ["anchor:ro"] })],
  ["HostConfig.CapAdd", host({ CapAdd: ["NET_ADMIN", "SYS_TIME"] })],
  ["HostConfig.CapDrop", host({ CapDrop: ["ALL"] })],
  ["HostConfig.CgroupnsMode", host({ CgroupnsMode: "private" })],
  ["HostConfig.Dns", host({ Dns: ["192.0.2.53"] })],
  ["HostConfig.DnsOptions", host({ DnsOptions: ["ndots:2"] })],
  ["HostConfig.DnsSearch", host({ DnsSearch: ["corp.test"] })],
  ["HostConfig.ExtraHosts", host({ ExtraHosts: ["db.test:192.0.2.7"] })],
  ["HostConfig.GroupAdd", host({ GroupAdd: ["10", "audio"] })],
  ["HostConfig.IpcMode", host({ IpcMode: "shareable" })],
  ["HostConfig.IpcMode", host({ IpcMode: "container:anchor" })],
  ["HostConfig.Cgroup", host({ Cgroup: "" })],
  ["HostConfig.OomScoreAdj", host({ OomScoreAdj: 321 })],
  ["HostConfig.PidMode", host({ PidMode: "host" })],
  ["HostConfig.PidMode", host({ PidMode: "container:anchor" })],
  ["HostConfig.Privileged", host({ Privileged: true })],
  ["HostConfig.ReadonlyRootfs", host({ ReadonlyRootfs: true })],
  ["HostConfig.SecurityOpt", host({ SecurityOpt: ["no-new-privileges", "seccomp=unconfined"] })],
  ["HostConfig.StorageOpt", host({ StorageOpt: {} })],
  ["HostConfig.Tmpfs", host({ Tmpfs: { "/run": "rw,noexec,size=65536k" } })],
  ["HostConfig.UTSMode", host({ UTSMode: "host" })],
  ["HostConfig.UsernsMode", host({ UsernsMode: "host" })],
  ["HostConfig.ShmSize", host({ ShmSize: 134_217_728 })],
  ["HostConfig.Sysctls", host({ Sysctls: { "net.core.somaxconn": "1024" } })],
  ["HostConfig.Runtime", host({ Runtime: "runc" })],
  ["HostConfig.Isolation", host({ Isolation: "default" })],
  ["HostConfig.CpuShares", host({ CpuShares: 512 })],
  ["HostConfig.Memory", host({ Memory: 268_435_456 })],
  ["HostConfig.NanoCpus", host({ NanoCpus: 1_500_000_000 })],
  ["HostConfig.CgroupParent", host({ CgroupParent: "/tidemark-test" })],
  ["HostConfig.CpuPeriod", host({ CpuPeriod: 50_000, CpuQuota: 25_000 })],
  ["HostConfig.CpuQuota", host({ CpuPeriod: 50_000, CpuQuota: 25_000 })],
  ["HostConfig.CpusetCpus", host({ CpusetCpus: "0" })],
  ["HostConfig.CpusetMems", host({ CpusetMems: "0" })],
  ["HostConfig.BlkioDeviceReadBps", host({ BlkioDeviceReadBps: [{ Path: "/dev/null", Rate: 1_048_576 }] })],
  ["HostConfig.BlkioDeviceWriteBps", host({ BlkioDeviceWriteBps: [{ Path: "/dev/null", Rate: 1_048_576 }] })],
  ["HostConfig.BlkioDeviceReadIOps", host({ BlkioDeviceReadIOps: [{ Path: "/dev/null", Rate: 1000 }] })],
  ["HostConfig.BlkioDeviceWriteIOps", host({ BlkioDeviceWriteIOps: [{ Path: "/dev/null", Rate: 1000 }] })],
  [
    "HostConfig.Devices",
    host({ Devices: [{ PathOnHost: "/dev/null", PathInContainer: "/dev/nothing", CgroupPermissions: "r" }] }),
  ],
  ["HostConfig.DeviceCgroupRules", host({ DeviceCgroupRules: ["c 1:3 rmw"] })],
  [
    "HostConfig.DeviceRequests",
    host({ DeviceRequests: [{ Driver: "nvidia", Count: -1, Capabilities: [["gpu"]], Options: { a: "b" } }] }),
  ],
  ["HostConfig.MemoryReservation", host({ MemoryReservation: 134_217_728 })],
  ["HostConfig.MemorySwap", host({ Memory: 268_435_456, MemorySwap: 536_870_912 })],
  ["HostConfig.MemorySwappiness", host({ MemorySwappiness: 30 })],
  ["HostConfig.OomKillDisable", host({ Memory: 268_435_456, OomKillDisable: true })],
  ["HostConfig.PidsLimit", host({ PidsLimit: 77 })],
  ["HostConfig.Ulimits", host({ Ulimits: [{ Name: "nofile", Soft: 1024, Hard: 2048 }] })],
  ["HostConfig.Init", host({ Init: false })],
  [
    "HostConfig.Mounts",
    host({
      Mounts: [
        { Type: "volume", Source: "named-volume", Target: "/v", ReadOnly: true, VolumeOptions: { NoCopy: true } },
        { Type: "bind", Source: folder, Target: "/w", BindOptions: { Propagation: "rslave" } },
        { Type: "tmpfs", Target: "/t", TmpfsOptions: { SizeBytes: 65_536, Mode: 448 } },
      ],
    }),
  ],
  ["HostConfig.MaskedPaths", host({ MaskedPaths: ["/proc/kcore"] })],
  ["HostConfig.ReadonlyPaths", host({ ReadonlyPaths: ["/proc/bus"] })],
  ["HostConfig.ConsoleSize", host({ ConsoleSize: [40, 120] })],
  ["HostConfig.Links", host({ Links: ["anchor:database"] })],
];

/** Where these are switched off in the kernel the engine drops them, so nothing can be proved about them here. */
const dropped = new Set(["HostConfig.MemorySwappiness", "HostConfig.OomKillDisable", "HostConfig.KernelMemory"]);
/** Set to what every container has; the row only proves that nothing is made of it. */
const defaults = new Set([
  "HostConfig.Cgroup",
  "HostConfig.StorageOpt",
  "HostConfig.ConsoleSize",
  "HostConfig.Isolation",
  "HostConfig.Runtime",
  "HostConfig.Init",
]);

/** What Podman's Docker-compatible create call takes without a word and does nothing with, or what its inspect never shows. */
const unknownToPodman = new Set([
  ...["Config.Domainname", "Config.AttachStdin", "Config.AttachStdout", "Config.AttachStderr", "Config.StdinOnce"],
  ...["Config.Volumes", "Config.NetworkDisabled", "Config.MacAddress", "Config.Shell", "Config.OnBuild"],
  ...["HostConfig.LogConfig", "HostConfig.PublishAllPorts", "HostConfig.VolumeDriver", "HostConfig.CgroupnsMode"],
  ...["HostConfig.IpcMode", "HostConfig.UsernsMode", "HostConfig.Sysctls", "HostConfig.DeviceCgroupRules"],
  ...["HostConfig.DeviceRequests", "HostConfig.Mounts", "HostConfig.MaskedPaths", "HostConfig.ReadonlyPaths"],
]);
/** What it drops for an unprivileged user wherever no controllers of control groups, or no devices, were given to that user. */
const dropsWhenRootless = new Set([
  ...["HostConfig.CpuPeriod", "HostConfig.CpuQuota", "HostConfig.CpuShares", "HostConfig.CpusetCpus"],
  ...["HostConfig.CpusetMems", "HostConfig.Devices", "HostConfig.Memory", "HostConfig.MemoryReservation"],
  ...["HostConfig.MemorySwap", "HostConfig.NanoCpus", "HostConfig.PidsLimit", "HostConfig.Ulimits"],
]);
/** What it refuses to make. */
const refusedByPodman = new Set(["HostConfig.Links"]);

/** Podman keeps variables and the options of a mount in no order. */
function unordered(mode: EngineMode, container: Json): Json {
  if (!isPodman(mode)) return container;
  const { Config: config, HostConfig: host } = container as Record<string, Record<string, string[] | null>>;
  const binds = host?.Binds?.map((bind) => bind.split(/[:,]/).sort().join(",")).sort();
  const isMine = (line: string) => line.startsWith("MINE=");
  const env = [...(config?.Env ?? []).filter(isMine), ...(config?.Env ?? []).filter((line) => !isMine(line)).sort()];
  return { ...container, Config: { ...config, Env: env }, HostConfig: { ...host, Binds: binds } };
}

function at(value: unknown, path: string): unknown {
  let found: unknown = value;
  for (const key of path.replaceAll("\\.", "\u0000").split(".")) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Json)[key.replaceAll("\u0000", ".")];
  }
  return found;
}

engineSuite("configuration fidelity", (mode) => {
  let engine: TestEngine;
  let number = 0;
  // Podman looks at the whole machine for who else has a subnet.
  const subnet = `10.99.${10 + (process.pid % 200)}`;

  beforeAll(async () => {
    engine = await startEngine({ mode });
    await importImages(engine);
    mkdirSync(join(folder, "one"), { recursive: true });
    await runContainer(engine, "anchor", { HostConfig: { IpcMode: "shareable", Binds: ["anchor-data:/shared"] } });
    await engine.call("POST", "/containers/create?name=plain", { Image: images.old, HostConfig: {} });
    await engine.call("POST", "/networks/create", { Name: "front", IPAM: { Config: [{ Subnet: `${subnet}.0/24` }] } });
    await engine.call("POST", "/networks/create", { Name: "back", Driver: "bridge" });
  }, 120_000);
  afterAll(async () => {
    await engine.stop();
  }, 60_000);

  async function inspect(name: string): Promise<Json> {
    return unordered(mode, (await engine.call("GET", `/containers/${name}/json`)) as Json);
  }

  async function update(name: string, image: string = images.next): Promise<void> {
    const journal = memoryJournal();
    await using session = await openSession(engine);
    const plan = await session.plan(target(name), [changeTo(image)]);
    await apply(session, plan, journal);
    await session.finish(target(name), journal);
  }

  test("the table sets at least 60 different fields", () => {
    expect(new Set(rows.map(([path]) => path)).size).toBeGreaterThanOrEqual(60);
  });

  // A stopped container shows its whole configuration too, and updating it takes a tenth of the time.
  test.each(shareOf(rows, mode, allEngineModes, 2))("%s is the same after an update", async (path, body) => {
    if (isPodman(mode) && refusedByPodman.has(path)) return;
    // Engine 29 takes it with a network and shows it nowhere else.
    if (mode.startsWith("docker-29") && path === "Config.MacAddress") return;
    number += 1;
    const name = `field-${number}`;
    await engine.call("POST", `/containers/create?name=${name}`, { Image: images.old, ...body });
    const before = await inspect(name);
    const plain = await inspect("plain");
    const droppedByUser = mode === "podman-rootless" && dropsWhenRootless.has(path);
    const mayBeLost = dropped.has(path) || droppedByUser || (isPodman(mode) && unknownToPodman.has(path));
    if (mayBeLost && isDeepStrictEqual(at(before, path), at(plain, path))) return;
    if (!defaults.has(path)) expect(at(before, path), "the row must set something").not.toEqual(at(plain, path));
    await update(name);
    const after = await inspect(name);
    expect(familiar(String(at(after, "Config.Image")))).toBe(images.next);
    expect(at(after, path)).toEqual(at(before, path));
    expect(await containersNamed(engine, name)).toMatchObject([{ name, state: "created" }]);
    await removeContainers(engine, name);
  });

  const api = isPodman(mode) ? "podman" : "docker";
  test.if(api === "podman")(
    "networks keep what a command line chose, and say of the API's that it is unknown",
    async () => {
      const name = "chosen";
      const [address, mac] = [`${subnet}.51`, "92:d0:c6:0a:29:33"];
      await engine.call("POST", "/v4.0.0/libpod/containers/create", {
        name,
        image: images.old,
        stop_timeout: 1,
        netns: { nsmode: "bridge" },
        networks: { front: { static_ips: [address], static_mac: mac, aliases: ["web"] }, back: { aliases: ["www"] } },
        containerCreateCommand: [
          ...["podman", "run", "-d", "--name", name, "--network", `front:ip=${address},mac=${mac},alias=web`],
          ...["--network", "back:alias=www", `docker.io/${images.old}`],
        ],
      });
      await engine.call("POST", `/containers/${name}/start`);
      for (const image of [images.next, images.old]) {
        await update(name, image);
        const networks = at(await inspect(name), "NetworkSettings.Networks");
        expect(networks).toMatchObject({
          front: { IPAddress: address, MacAddress: mac, Aliases: expect.arrayContaining(["web"]) },
          back: { Aliases: expect.arrayContaining(["www"]) },
        });
      }
      await removeContainers(engine, name);
      await runContainer(engine, "by-api", { HostConfig: { NetworkMode: "front" } });
      await using session = await openSession(engine);
      const plan = await session.plan(target("by-api"), [changeTo(images.next)]);
      expect(plan).toMatchObject({ refusals: [], warnings: [{ code: "untold_settings" }] });
      await removeContainers(engine, "by-api");
    },
  );

  test.if(api === "docker")(
    "networks keep aliases, static addresses, links and driver options, and the order does not matter",
    async () => {
      const name = "networked";
      await engine.call("POST", `/containers/create?name=${name}`, {
        Image: images.old,
        StopTimeout: 1,
        MacAddress: "02:42:0a:63:01:77",
        HostConfig: { NetworkMode: "front" },
        NetworkingConfig: {
          EndpointsConfig: {
            front: {
              IPAMConfig: { IPv4Address: `${subnet}.50` },
              Aliases: ["web", "www"],
              DriverOpts: { some: "option" },
              // Where newer engines take it; older ones look at the container alone.
              MacAddress: "02:42:0a:63:01:77",
            },
          },
        },
      });
      await engine.call("POST", "/networks/back/connect", {
        Container: name,
        EndpointConfig: { Aliases: ["web-back"], Links: ["anchor:a"] },
      });
      await engine.call("POST", `/containers/${name}/start`);
      const before = await inspect(name);
      await update(name);
      const after = await inspect(name);
      const networks = (of: Json) => at(of, "NetworkSettings.Networks") as Record<string, Json>;
      expect(Object.keys(networks(after)).sort()).toEqual(["back", "front"]);
      for (const network of ["front", "back"]) {
        const [old, now] = [networks(before)[network] ?? {}, networks(after)[network] ?? {}];
        for (const key of ["IPAMConfig", "Links", "DriverOpts", "NetworkID"]) expect(now[key]).toEqual(old[key]);
        const aliases = (of: Json, owner: Json) =>
          (of.Aliases as string[]).filter((alias) => !String(owner.Id).startsWith(alias));
        expect(aliases(now, after)).toEqual(aliases(old, before));
        // The old container's short id was an alias of the engine's making.
        expect(now.Aliases).not.toContain(String(before.Id).slice(0, 12));
      }
      expect(networks(after).front).toMatchObject({ IPAddress: `${subnet}.50`, MacAddress: "02:42:0a:63:01:77" });
      expect(at(after, "Config.Hostname")).toBe(String(after.Id).slice(0, 12));
      expect(await containersNamed(engine, name)).toMatchObject([{ name, state: "running" }]);
      await removeContainers(engine, name);
    },
  );

  test("a container that was taken off its own network is not put back on it", async () => {
    const name = "detached";
    await runContainer(engine, name, { HostConfig: { NetworkMode: "front" } });
    await engine.call("POST", "/networks/back/connect", { Container: name });
    await engine.call("POST", "/networks/front/disconnect", { Container: name });
    await update(name);
    expect(Object.keys(at(await inspect(name), "NetworkSettings.Networks") as Json)).toEqual(["back"]);
    await removeContainers(engine, name);
  });

  test("anonymous volumes keep their data, of the image, of the container and of mounts without a source", async () => {
    await engine.importImage("lab/volumes:1.0.0", ["VOLUME /of-image"]);
    const name = "volumes";
    await runContainer(engine, name, {
      Image: "lab/volumes:1.0.0",
      Volumes: { "/of-container": {} },
      HostConfig: { Binds: ["/of-bind"], Mounts: [{ Type: "volume", Target: "/of-mount" }] },
    });
    // By its folder, as engine 29 leaves out the name of a volume that a path alone asked for.
    const byPath = (of: Json) =>
      Object.fromEntries((of.Mounts as Json[]).map((each) => [String(each.Destination), each.Source]));
    const before = byPath(await inspect(name));
    expect(Object.keys(before).sort()).toEqual(["/of-bind", "/of-container", "/of-image", "/of-mount"]);
    // The next image declares no volume: the data stays mounted all the same.
    await update(name);
    expect(byPath(await inspect(name))).toEqual(before);
    await update(name, images.old);
    expect(byPath(await inspect(name))).toEqual(before);
    await removeContainers(engine, name);
  });

  test("a volume that only the new image declares is no unexplained difference", async () => {
    await engine.importImage("lab/volumes:2.0.0", ["VOLUME /brought"]);
    const name = "brought";
    await runContainer(engine, name);
    await update(name, "lab/volumes:2.0.0");
    expect((await inspect(name)).Mounts).toMatchObject([{ Destination: "/brought", Type: "volume" }]);
    await removeContainers(engine, name);
  });

  test("a random published port stays random, a fixed one fixed", async () => {
    const name = "ports";
    await runContainer(engine, name, {
      ExposedPorts: { "80/tcp": {}, "81/tcp": {} },
      HostConfig: { PortBindings: { "80/tcp": [{ HostPort: "" }], "81/tcp": [{ HostPort: "18124" }] } },
    });
    const before = await inspect(name);
    await update(name);
    const after = await inspect(name);
    // Podman chooses when it makes a container, and shows no difference afterwards.
    const random = isPodman(mode) ? at(before, "HostConfig.PortBindings.80/tcp.0.HostPort") : "";
    expect(at(after, "HostConfig.PortBindings")).toMatchObject({ "80/tcp": [{ HostPort: random }] });
    expect(at(after, "NetworkSettings.Ports.81/tcp.0.HostPort")).toBe("18124");
    expect(Number(at(after, "NetworkSettings.Ports.80/tcp.0.HostPort"))).toBeGreaterThan(1024);
    await removeContainers(engine, name);
  });

  test.each([
    ["auto_remove", { HostConfig: { AutoRemove: true } }],
    ["systemd_owned", { Labels: { PODMAN_SYSTEMD_UNIT: "web.service" } }],
    ["swarm_task", { Labels: { "com.docker.swarm.task.id": "abc" } }],
    ["pod_infra", { Labels: { "io.kubernetes.docker.type": "podsandbox" } }],
  ])("%s is refused by name before anything happens", async (code, body) => {
    const name = `refused-${code.replaceAll("_", "-")}`;
    const id = await runContainer(engine, name, body);
    await using session = await openSession(engine);
    const plan = await session.plan(target(name), [changeTo(images.next)]);
    expect(plan.refusals.map((each) => each.code)).toEqual([code]);
    const journal = memoryJournal();
    const refusal = String(await session.prepare(plan, [], journal).catch(errorMessage));
    expect(refusal).toContain("cannot be updated");
    expect(refusal).toContain(lowered(english(plan.refusals[0]?.message) ?? "?"));
    expect(journal.written()).toEqual([]);
    expect(await inspect(name)).toMatchObject({ Id: id, State: { Running: true } });
    await removeContainers(engine, name);
  });

  test("containers that live in another's namespaces or volumes move along with it", async () => {
    const anchor = await runContainer(engine, "owner", { HostConfig: { Binds: ["anchor-data:/shared"] } });
    await runContainer(engine, "side", { HostConfig: { NetworkMode: "container:owner" } });
    await runContainer(engine, "heir", { HostConfig: { VolumesFrom: ["owner"] } });
    await using session = await openSession(engine);
    const plan = await session.plan(target("owner"), [changeTo(images.next)]);
    expect(plan.refusals).toEqual([]);
    expect(containersOf(plan.detail).find((each) => each.name === "side")).toMatchObject({
      because: "shares",
      is_running: true,
    });
    const journal = memoryJournal();
    await apply(session, plan, journal);
    await session.finish(target("owner"), journal);
    const owner = String((await inspect("owner")).Id);
    expect(owner).not.toBe(anchor);
    expect(at(await inspect("side"), "HostConfig.NetworkMode")).toBe(`container:${owner}`);
    for (const name of ["side", "heir", "owner"]) {
      expect(await containersNamed(engine, name)).toMatchObject([{ name, state: "running" }]);
      await removeContainers(engine, name);
    }
  });
});
