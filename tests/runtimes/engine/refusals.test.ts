import { describe, expect, test } from "bun:test";
import { type EngineAddress, engineAddress } from "../../../src/runtimes/engine/address.ts";
import type { ContainerInspect } from "../../../src/runtimes/engine/objects.ts";
import type { RawObject } from "../../../src/runtimes/engine/raw.ts";
import { judgeReadiness } from "../../../src/runtimes/engine/readiness.ts";
import { refusalsOf, warningsOf } from "../../../src/runtimes/engine/refusals.ts";
import { stabilityMs } from "../../../src/runtimes/session.ts";
import { english } from "../../support/english.ts";
import { containerInspect } from "./inspect.ts";

const unix: EngineAddress = { kind: "unix", path: "/var/run/docker.sock" };
const nobody = { hostname: "build-host", data_dir: "/srv/tidemark" };
const id = (digits: string) => digits.repeat(64 / digits.length);

interface Around {
  others?: readonly ContainerInspect[];
  self?: { hostname: string; data_dir: string };
  address?: EngineAddress;
}

function codes(change: RawObject, { others = [], self = nobody, address = unix }: Around = {}): readonly string[] {
  const container = containerInspect(change);
  return refusalsOf(container, { all: [container, ...others], self, address }).map((each) => each.code);
}

const ours = { hostname: "1f1f1f1f1f1f", data_dir: "/data" };
const dataMount = { Type: "volume", Source: "/var/lib/docker/volumes/tm/_data", Destination: "/data", RW: true };

const silent = { NetworkID: "n", EndpointID: "", MacAddress: "", DNSNames: ["web"] };
const exited = { Running: false, Status: "exited" };
const atRest = { State: exited, NetworkSettings: { Networks: { bridge: silent, back: silent } } };

/** A newer engine could not start it, and left it on these networks. */
const failedOn = (mode: string, left: readonly string[], known: RawObject = { DNSNames: ["web"] }) => ({
  State: { ...exited, Status: "created", ExitCode: 128, Error: "failed to set up container networking: in use" },
  HostConfig: { NetworkMode: mode },
  NetworkSettings: { Networks: { bridge: undefined, ...Object.fromEntries(left.map((each) => [each, known])) } },
  Config: { Labels: { "com.docker.compose.project": "p" } },
});

const composed = (unit: string) => ({
  Config: { Labels: { PODMAN_SYSTEMD_UNIT: unit, "io.podman.compose.project": "shop" } },
});
const requiring = { HostConfig: { Dependencies: ["7".repeat(64)] } };
const required = (change: RawObject) => containerInspect({ Id: "7".repeat(64), Name: "/db", ...change });

describe("refusalsOf()", () => {
  test.each<[string, readonly string[], RawObject, Around]>([
    ["an ordinary container", [], {}, {}],
    ["--rm", ["auto_remove"], { HostConfig: { AutoRemove: true } }, {}],
    ["a systemd unit", ["systemd_owned"], { Config: { Labels: { PODMAN_SYSTEMD_UNIT: "a.service" } } }, {}],
    ["one of podman-compose", [], composed("podman-compose@shop.service"), {}],
    ["one of podman-compose with another's unit", ["systemd_owned"], composed("podman-compose@other.service"), {}],
    ["one of podman-compose in a unit of one's own", ["systemd_owned"], composed("shop.service"), {}],
    [
      "one whose unit only looks like podman-compose's",
      ["systemd_owned"],
      { Config: { Labels: { PODMAN_SYSTEMD_UNIT: "podman-compose@.service" } } },
      {},
    ],
    ["one that requires one that runs", [], requiring, { others: [required({})] }],
    [
      "one that requires one that does not run",
      ["requires_stopped"],
      requiring,
      { others: [required({ State: { ...exited, ExitCode: 137 } })] },
    ],
    ["one that requires one that ended well", [], requiring, { others: [required({ State: exited })] }],
    [
      "a stopped one that requires one that does not run",
      [],
      { ...requiring, State: exited },
      { others: [required({ State: { ...exited, ExitCode: 137 } })] },
    ],
    [
      "one that requires what an update keeps aside",
      ["requires_leftover"],
      requiring,
      { others: [required({ Name: "/db-tidemark-0badcafe-previous", State: exited })] },
    ],
    ["a pod's infrastructure", ["pod_infra"], { IsInfra: true }, {}],
    ["a swarm task", ["swarm_task"], { Config: { Labels: { "com.docker.swarm.task.id": "x" } } }, {}],
    ["what an update keeps aside", ["leftover"], { Name: "/web-tidemark-0badcafe-previous" }, {}],
    ["a paused one", ["paused"], { State: { Paused: true } }, {}],
    ["one that is being removed", ["being_removed"], { State: { Status: "removing", Running: false } }, {}],
    ["a crash loop", [], { State: { Status: "restarting", Restarting: true, Running: false } }, {}],
    ["a compose service", [], { Config: { Labels: { "com.docker.compose.project": "p" } } }, {}],

    [
      "one with a volume that nothing names",
      ["volume_unnamed"],
      { Mounts: [{ Type: "volume", Name: "", Driver: "elsewhere", Source: "/mnt/x", Destination: "/data" }] },
      {},
    ],
    ["one at rest whose second network may have had a chosen MAC address", ["mac_unknown"], atRest, {}],
    [
      "one that failed to start, of which the same is forgotten",
      ["mac_unknown"],
      { ...atRest, State: { ...exited, Status: "created", ExitCode: 128, Error: "no" } },
      {},
    ],
    ["one that was never started", [], { ...atRest, State: { ...exited, Status: "created" } }, {}],
    ["one that runs", [], { ...atRest, State: {} }, {}],
    ["one at rest on its own network alone", [], { ...atRest, NetworkSettings: { Networks: { bridge: silent } } }, {}],
    [
      "one at rest of an engine that takes no MAC address with a network",
      [],
      { State: exited, NetworkSettings: { Networks: { back: { NetworkID: "n" } } } },
      {},
    ],
    [
      "one at rest of a compose project, whose file knows",
      [],
      { ...atRest, Config: { Labels: { "com.docker.compose.project": "p" } } },
      {},
    ],
    ["one whose network a failed start dropped", ["network_lost"], failedOn("front", ["back"]), {}],
    ["one that lost its only network so", ["network_lost"], failedOn("front", []), {}],
    ["one that may have lost a further one so", ["network_lost"], failedOn("front", ["front"]), {}],
    [
      "one whose start failed at its command",
      [],
      { ...failedOn("front", ["front"]), State: { ...exited, ExitCode: 127, Error: "exec: not found" } },
      {},
    ],
    ["one that failed to start on no network", [], failedOn("none", []), {}],
    ["one that somebody took off its network", [], { ...failedOn("front", ["back"]), State: {} }, {}],
    ["one of an engine whose mode names no network", [], failedOn("bridge", ["podman1"], {}), {}],
    ["ourselves, by the id in our hostname", ["own_container"], {}, { self: ours }],
    [
      "ourselves, by a chosen hostname and our data",
      ["own_container"],
      { Config: { Hostname: "tidemark" }, Mounts: [dataMount] },
      { self: { hostname: "tidemark", data_dir: "/data" } },
    ],
    ["another with our host's name, on the host's network", [], { Config: { Hostname: "build-host" } }, {}],
    [
      "one that mounts our data on the host",
      ["own_data"],
      { Mounts: [{ Source: "/srv/tidemark", Destination: "/x" }] },
      {},
    ],
    [
      "one that mounts a part of our data",
      ["own_data"],
      { Mounts: [{ Source: "/srv/tidemark/backups", Destination: "/x" }] },
      {},
    ],
    [
      "one that sees the whole disk",
      [],
      {
        Mounts: [
          { Source: "/", Destination: "/host" },
          { Source: "/srv", Destination: "/srv" },
        ],
      },
      {},
    ],
    [
      "one whose path only begins like ours",
      [],
      { Mounts: [{ Source: "/srv/tidemark-other", Destination: "/x" }] },
      {},
    ],

    [
      "a socket proxy that publishes the port we use",
      ["own_connection"],
      { HostConfig: { PortBindings: { "2375/tcp": [{ HostPort: "2375" }] } } },
      { address: engineAddress("tcp://127.0.0.1:2375", false, null) },
    ],
    [
      "another that publishes another port",
      [],
      { HostConfig: { PortBindings: { "80/tcp": [{ HostPort: "8080" }] } } },
      { address: engineAddress("tcp://127.0.0.1:2375", false, null) },
    ],
    [
      "a socket proxy by its name",
      ["own_connection"],
      { Name: "/socket-proxy" },
      { address: engineAddress("tcp://socket-proxy:2375", false, null) },
    ],
    [
      "a socket proxy by its alias",
      ["own_connection"],
      { NetworkSettings: { Networks: { n: { Aliases: ["proxy"] } } } },
      { address: engineAddress("tcp://proxy:2375", false, null) },
    ],
    [
      "a socket proxy by its address",
      ["own_connection"],
      { NetworkSettings: { Networks: { n: { IPAddress: "172.18.0.4" } } } },
      { address: engineAddress("tcp://172.18.0.4:2375", false, null) },
    ],
    [
      "one on which others depend, as they are moved with it",
      [],
      {},
      {
        others: [
          containerInspect({ Id: id("3c"), Name: "/side", HostConfig: { NetworkMode: `container:${id("1f")}` } }),
          containerInspect({ Id: id("4d"), Name: "/heir", HostConfig: { VolumesFrom: ["web:ro"] } }),
        ],
      },
    ],
    [
      "one that itself shares another's network",
      [],
      { HostConfig: { NetworkMode: `container:${id("3c")}` } },
      { others: [containerInspect({ Id: id("3c"), Name: "/other" })] },
    ],
  ])("of %s: %j", (_what, expected, change, around) => {
    expect(codes(change, around)).toEqual([...expected]);
  });

  test("whoever shares our data volume is refused when we run in a container", () => {
    const us = containerInspect({ Mounts: [dataMount] });
    const other = containerInspect({
      Id: id("3c"),
      Name: "/backup",
      Mounts: [{ ...dataMount, Destination: "/elsewhere" }],
    });
    const around = { all: [us, other], self: ours, address: unix };
    expect(refusalsOf(other, around).map((each) => each.code)).toEqual(["own_data"]);
  });
});

describe("warningsOf()", () => {
  test("names the compose file and leftovers", () => {
    const container = containerInspect({ Config: { Labels: { "com.docker.compose.project": "p" } } });
    const leftover = containerInspect({ Id: id("3c"), Name: "/web-tidemark-0badcafe-previous" });
    const around = { all: [container, leftover], self: nobody, address: unix };
    const found = warningsOf(container, around);
    expect(found.map((each) => each.code)).toEqual(["leftovers", "compose_file"]);
  });

  test("says what starts or stops with it", () => {
    const container = containerInspect({ ...composed("podman-compose@shop.service"), ...requiring });
    const told = (state: RawObject) =>
      warningsOf({ ...container, State: { ...container.State, ...state } }, { all: [required({ State: exited })] });
    expect(told({}).map((each) => each.code)).toEqual(["requires_ended", "podman_compose_unit"]);
    expect(told({}).map((each) => english(each.message))).toEqual([
      expect.stringMatching(/^It requires "db", which has completed:/),
      expect.stringContaining('"podman-compose@shop.service"'),
    ]);
    expect(told(exited)).toEqual([]);
  });

  test("names the networks of a compose service at rest whose MAC address nobody tells", () => {
    const container = containerInspect({ ...atRest, Config: { Labels: { "com.docker.compose.project": "p" } } });
    const [found] = warningsOf(container, { all: [container] });
    expect(found).toMatchObject({ code: "mac_unknown" });
    expect(english(found?.message)).toContain('custom MAC address on "back"');
  });
});

describe("judgeReadiness()", () => {
  test.each<[string, RawObject, number, boolean, boolean]>([
    ["just started", {}, 0, false, false],
    ["a moment before the end of the period", {}, stabilityMs - 1, false, false],
    ["at the end of the period", {}, stabilityMs, true, false],
    ["restarted once, though it runs", { RestartCount: 1 }, stabilityMs, false, true],
    ["restarting", { State: { Status: "restarting", Running: true, Restarting: true } }, 0, false, true],
    ["ended with success", { State: { Status: "exited", Running: false, ExitCode: 0 } }, 0, false, true],
    ["ended with failure", { State: { Status: "exited", Running: false, ExitCode: 1 } }, stabilityMs, false, true],
    ["killed for memory, though it runs", { State: { OOMKilled: true } }, stabilityMs, false, true],
    ["healthy at once", { State: { Health: { Status: "healthy" } } }, 0, true, false],
    ["starting for long", { State: { Health: { Status: "starting" } } }, 60_000, false, false],
    ["unhealthy", { State: { Health: { Status: "unhealthy" } } }, 60_000, false, true],
    ["without a check, as the engine says it", { State: { Health: { Status: "none" } } }, stabilityMs, true, false],
    ["only created", { State: { Status: "created", Running: false } }, 0, false, true],
  ])("%s", (_what, change, ranMs, ready, isFinal) => {
    const found = judgeReadiness(containerInspect(change), ranMs);
    expect([found.ready, found.ready ? false : (found.final ?? false)]).toEqual([ready, isFinal]);
  });

  test.each([
    [
      "waits for its restart",
      { Restarting: true, ExitCode: 3 },
      "The engine restarted it once; the last exit code was 3",
    ],
    ["runs again", { Restarting: false, ExitCode: 0 }, "The engine restarted it once"],
  ])("names the exit code of one that %s only where the engine has it", (_what, state, detail) => {
    const container = containerInspect({ RestartCount: 1, State: { Status: "running", Running: true, ...state } });
    expect(english(judgeReadiness(container, 0).detail)).toBe(detail);
  });
});
