import { describe, expect, test } from "bun:test";
import { blueprint } from "../../../src/runtimes/engine/carry.ts";
import { differences } from "../../../src/runtimes/engine/compare.ts";
import { planHash } from "../../../src/runtimes/engine/container-plan.ts";
import { blueprintDiffs } from "../../../src/runtimes/engine/diff.ts";
import { differingReplicas } from "../../../src/runtimes/engine/group/replicas.ts";
import type { ContainerInspect } from "../../../src/runtimes/engine/objects.ts";
import { type RawObject, stringAt } from "../../../src/runtimes/engine/raw.ts";
import { type Random, randomFrom, shuffled } from "../../support/random.ts";
import { containerInspect, imageInspect } from "./inspect.ts";

const apiVersion = "1.41";
const device = (path: string) => ({ PathOnHost: path, PathInContainer: path, CgroupPermissions: "rwm" });
const rate = (Path: string) => ({ Path, Rate: 1_000 });
const limit = (Name: string) => ({ Name, Soft: 1, Hard: 2 });
const mount = (Target: string) => ({ Type: "tmpfs", Target });

/** Lists that compose, an engine or a person may give in any order. */
const sets = {
  Env: ["A=1", "B=2", "C=3"],
};
const hostSets = {
  Binds: ["one:/a", "/srv:/b:ro", "two:/c"],
  BlkioDeviceReadBps: [rate("/dev/a"), rate("/dev/b"), rate("/dev/c")],
  BlkioDeviceReadIOps: [rate("/dev/a"), rate("/dev/b")],
  BlkioDeviceWriteBps: [rate("/dev/a"), rate("/dev/b")],
  BlkioDeviceWriteIOps: [rate("/dev/a"), rate("/dev/b")],
  BlkioWeightDevice: [
    { Path: "/dev/a", Weight: 1 },
    { Path: "/dev/b", Weight: 2 },
  ],
  CapAdd: ["CAP_NET_ADMIN", "CAP_SYS_TIME", "CAP_MKNOD"],
  CapDrop: ["CAP_CHOWN", "CAP_KILL", "CAP_FOWNER"],
  DeviceRequests: [{ Driver: "cdi", DeviceIDs: ["a"] }, { Driver: "nvidia" }],
  Devices: [device("/dev/a"), device("/dev/b"), device("/dev/c")],
  DnsOptions: ["ndots:1", "rotate", "timeout:2"],
  ExtraHosts: ["a:10.0.0.1", "b:10.0.0.2", "c:::1"],
  GroupAdd: ["1", "audio", "3"],
  Links: ["/db:/web/db", "/cache:/web/cache"],
  MaskedPaths: ["/proc/a", "/proc/b", "/proc/c"],
  Mounts: [mount("/x"), mount("/y"), mount("/z")],
  ReadonlyPaths: ["/proc/a", "/proc/b", "/proc/c"],
  SecurityOpt: ["no-new-privileges", "apparmor=x", "label=user:a"],
  Ulimits: [limit("nofile"), limit("nproc"), limit("core")],
};
const endpointSets = { Aliases: ["web", "app", "www"], Links: ["db:database", "cache:c"] };
const ports = [
  { HostIp: "127.0.0.1", HostPort: "80" },
  { HostIp: "", HostPort: "81" },
];
const addresses = ["169.254.1.1", "169.254.1.2", "169.254.1.3"];

type Order = <T>(list: readonly T[]) => readonly T[];
const asWritten: Order = (list) => list;
const byChance =
  (random: Random): Order =>
  (list) =>
    shuffled(list, random);

function members(lists: Readonly<Record<string, readonly unknown[]>>, order: Order): RawObject {
  return Object.fromEntries(Object.entries(lists).map(([field, list]) => [field, order<unknown>(list)]));
}

function container(order: Order, change: RawObject = {}): ContainerInspect {
  return containerInspect({
    Config: members(sets, order),
    HostConfig: { ...members(hostSets, order), PortBindings: { "80/tcp": order(ports) } },
    NetworkSettings: {
      Networks: {
        front: { NetworkID: "n1", ...members(endpointSets, order), IPAMConfig: { LinkLocalIPs: order(addresses) } },
      },
    },
    ...change,
  });
}

const image = imageInspect();
const shapeOf = (of: ContainerInspect) =>
  blueprint({
    container: of,
    oldImage: image,
    newImage: image,
    reference: stringAt(of.Config.Image),
    inherited: new Set(),
    apiVersion,
  });

/** Every comparison of containers that we make. */
function tellApart(one: ContainerInspect, other: ContainerInspect): readonly string[] {
  return [
    ...(differingReplicas([one, other]) ? ["replicas"] : []),
    ...(planHash(one, apiVersion, {}) === planHash(other, apiVersion, {}) ? [] : ["plan"]),
    ...differences(shapeOf(one), other).map(({ path }) => `made ${path}`),
    ...blueprintDiffs("main", one, shapeOf(one), shapeOf(other)).map(({ path }) => `restored ${path}`),
  ];
}

describe("lists whose order means nothing", () => {
  test("are the same in any of 300 orders", () => {
    const random = randomFrom(13);
    const first = container(asWritten);
    for (let round = 0; round < 300; round += 1) {
      expect(tellApart(first, container(byChance(random)))).toEqual([]);
    }
  });

  test("are those of what a replica depends on too, which compose writes in any order", () => {
    const replica = (needs: string, number: string) => {
      const of = { project: "shop", service: "app", "container-number": number, depends_on: needs };
      const labels = Object.entries(of).map(([key, value]) => [`com.docker.compose.${key}`, value]);
      return containerInspect({ Config: { Labels: Object.fromEntries(labels) } });
    };
    const [db, queue] = ["db:service_healthy:false", "queue:service_started:true"];
    const first = replica(`${db},${queue}`, "1");
    expect(differingReplicas([first, replica(`${queue},${db}`, "2")])).toBe(false);
    expect(differingReplicas([first, replica(db, "2")])).toBe(true);
    expect(differingReplicas([first, replica(`${queue},db:service_started:false`, "2")])).toBe(true);
  });

  test.each(Object.entries({ ...sets, ...hostSets }))("are told apart by what is in them: %s", (field, list) => {
    const change = field in sets ? { Config: { [field]: list.slice(1) } } : { HostConfig: { [field]: list.slice(1) } };
    expect(tellApart(containerInspect(change), containerInspect({}))).not.toEqual([]);
  });
});

describe("lists whose order means something", () => {
  test.each<[string, RawObject, RawObject]>([
    ["words of a command", { Config: { Cmd: ["a", "b"] } }, { Config: { Cmd: ["b", "a"] } }],
    ["words of an entrypoint", { Config: { Entrypoint: ["a", "b"] } }, { Config: { Entrypoint: ["b", "a"] } }],
    [
      "words of a health check",
      { Config: { Healthcheck: { Test: ["CMD", "a", "b"] } } },
      { Config: { Healthcheck: { Test: ["CMD", "b", "a"] } } },
    ],
    ["name servers", { HostConfig: { Dns: ["1.1.1.1", "8.8.8.8"] } }, { HostConfig: { Dns: ["8.8.8.8", "1.1.1.1"] } }],
    ["search domains", { HostConfig: { DnsSearch: ["a", "b"] } }, { HostConfig: { DnsSearch: ["b", "a"] } }],
    [
      "containers whose volumes it takes",
      { HostConfig: { VolumesFrom: ["a", "b"] } },
      { HostConfig: { VolumesFrom: ["b", "a"] } },
    ],
    [
      "rules for devices",
      { HostConfig: { DeviceCgroupRules: ["c 1:3 r", "c *:* rwm"] } },
      { HostConfig: { DeviceCgroupRules: ["c *:* rwm", "c 1:3 r"] } },
    ],
    ["values of one variable", { Config: { Env: ["A=1", "A=2"] } }, { Config: { Env: ["A=2", "A=1"] } }],
    [
      "addresses of one host",
      { HostConfig: { ExtraHosts: ["a:10.0.0.1", "a:10.0.0.2"] } },
      { HostConfig: { ExtraHosts: ["a:10.0.0.2", "a:10.0.0.1"] } },
    ],
  ])("%s", (_, one, other) => {
    expect(tellApart(containerInspect(one), containerInspect(other))).toContain("replicas");
  });
});
