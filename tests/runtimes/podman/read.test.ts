import { describe, expect, test } from "bun:test";
import { objectAt, type RawObject, stringsAt } from "../../../src/runtimes/engine/raw.ts";
import { bytesOf, connectSpec, createSpec } from "../../../src/runtimes/podman/create.ts";
import { readContainer } from "../../../src/runtimes/podman/read.ts";
import { readImage } from "../../../src/runtimes/podman/read-image.ts";

const id = "1f".repeat(32);
const image = readImage({
  Id: "a".repeat(64),
  Config: { Env: ["APP=1"], Cmd: ["serve"], Entrypoint: ["/init"], Labels: { version: "1" } },
  Healthcheck: { Test: ["CMD", "true"] },
});

/** Podman's own inspect, as 4.3 writes it, with what a test changes in its members. */
function inspect(
  change: { [K in "State" | "Config" | "HostConfig" | "NetworkSettings"]?: RawObject } & RawObject = {},
) {
  const { State, Config, HostConfig, NetworkSettings, ...rest } = change;
  return {
    Id: id,
    Name: "web",
    Image: "a".repeat(64),
    ImageName: "docker.io/lab/app:1",
    Path: "/init",
    Args: ["serve"],
    OCIRuntime: "crun",
    Pod: "",
    Mounts: [],
    Dependencies: [],
    State: { Status: "running", Running: true, Health: { Status: "", Log: null }, ...State },
    Config: {
      Hostname: id.slice(0, 12),
      Env: [
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "TERM=xterm",
        "container=podman",
        "APP=1",
      ],
      Cmd: ["serve"],
      Entrypoint: "",
      WorkingDir: "/",
      StopSignal: 15,
      StopTimeout: 10,
      Labels: { version: "1" },
      CreateCommand: ["podman", "run", "-d", "lab/app:1"],
      ...Config,
    },
    HostConfig: { NetworkMode: "bridge", IpcMode: "shareable", PidMode: "private", PidsLimit: 2048, ...HostConfig },
    NetworkSettings: {
      Networks: { front: { NetworkID: "front", Aliases: ["web", id.slice(0, 12)] } },
      ...NetworkSettings,
    },
    ...rest,
  };
}

const read = (change?: Parameters<typeof inspect>[0]) => readContainer(inspect(change), image);
const config = (change?: RawObject) => objectAt(read({ Config: change ?? {} }).Config);
const host = (change?: RawObject) => objectAt(read({ HostConfig: change ?? {} }).HostConfig);

describe("readContainer()", () => {
  test("says in Docker's words what Podman added by itself to nothing", () => {
    expect(config()).toMatchObject({ Env: ["APP=1"], WorkingDir: "", StopSignal: "", Image: "docker.io/lab/app:1" });
    expect(host()).toMatchObject({ NetworkMode: "front", Runtime: "crun" });
    expect(read()).toMatchObject({
      Name: "/web",
      Image: `sha256:${"a".repeat(64)}`,
      NetworkSettings: { Networks: { front: { Aliases: ["web"] } } },
      Refusals: [],
      Warnings: [],
    });
  });

  test.each([
    ["a variable of one's own", { Env: ["APP=1", "MINE=2"] }, ["APP=1", "MINE=2"]],
    ["a PATH of one's own", { Env: ["PATH=/mine"] }, ["PATH=/mine"]],
    ["the name made of the id", { Env: [`HOSTNAME=${id.slice(0, 12)}`] }, []],
    ["another name", { Env: ["HOSTNAME=other"] }, ["HOSTNAME=other"]],
    ["a home that was looked up", { Env: ["HOME=/root"] }, []],
    [
      "a home that was chosen",
      { Env: ["HOME=/x"], CreateCommand: ["podman", "run", "-e", "HOME=/x", "lab/app:1"] },
      ["HOME=/x"],
    ],
  ])("treats %s", (_what, change, variables) => {
    expect(config(change).Env).toEqual(variables);
  });

  test.each([
    ["both of the image", { Entrypoint: "", Cmd: null }, "/init", ["serve"], ["/init"], ["serve"]],
    ["a command", { Entrypoint: "", Cmd: ["a b"] }, "/init", ["a b"], ["/init"], ["a b"]],
    [
      "an entrypoint of two words",
      { Entrypoint: "/bin/sh -c", Cmd: ["x"] },
      "/bin/sh",
      ["-c", "x"],
      ["/bin/sh", "-c"],
      ["x"],
    ],
    ["an entrypoint alone", { Entrypoint: "/bin/sh", Cmd: null }, "/bin/sh", [], ["/bin/sh"], null],
    ["an entrypoint that was reset", { Entrypoint: "", Cmd: ["x", "y"] }, "x", ["y"], null, ["x", "y"]],
    ["a list, as newer ones write it", { Entrypoint: ["/e", "f g"], Cmd: null }, "/e", ["f g"], ["/e", "f g"], null],
  ])("tells %s", (_what, change, path, args, entrypoint, command) => {
    const found = objectAt(read({ Config: change, Path: path, Args: args }).Config);
    expect([found.Entrypoint, found.Cmd]).toEqual([entrypoint, command]);
  });

  test.each([
    ["stopping", { Status: "running", Running: true }],
    ["stopped", { Status: "exited", Running: false }],
    ["initialized", { Status: "created", Running: false }],
    ["configured", { Status: "created", Running: false }],
    ["exited", { Status: "exited", Running: false }],
  ])("shows the state %s as Docker would", (status, state) => {
    expect(read({ State: { Status: status, Running: false } }).State).toMatchObject(state);
  });

  test.each([
    ["Health", { Health: { Status: "healthy" } }],
    ["Healthcheck", { Health: undefined, Healthcheck: { Status: "healthy" } }],
  ])("reads the health of the member %s", (_member, state) => {
    expect(read({ State: state }).State).toMatchObject({ Health: { Status: "healthy" } });
  });

  test("leaves out what the image's health check was filled up with", () => {
    const filled = { Test: ["CMD", "true"], Interval: 30_000_000_000, Timeout: 30_000_000_000 };
    expect(config({ Healthcheck: filled }).Healthcheck).toEqual({ Test: ["CMD", "true"] });
    expect(config({ Healthcheck: { ...filled, Interval: 5 } }).Healthcheck).toEqual({
      Test: ["CMD", "true"],
      Interval: 5,
    });
  });

  test("tells a health check without an interval from one with Podman's own", () => {
    const check = { Test: ["CMD", "true"], Timeout: 30_000_000_000 };
    expect(config({ Healthcheck: { ...check, Interval: 30_000_000_000 } })).not.toHaveProperty("HealthcheckInterval");
    const never = read({ Config: { Healthcheck: check } });
    expect(objectAt(never.Config)).toMatchObject({ HealthcheckInterval: "disable" });
    const spec = createSpec("web", { ...objectAt(never.Config), HostConfig: objectAt(never.HostConfig) }, null);
    expect(spec.healthconfig).toMatchObject({ Interval: 0 });
  });

  test.each([
    ["podman_secrets", { Config: { Secrets: [{ Name: "key" }] } }],
    [
      "podman_secrets",
      { Config: { CreateCommand: ["podman", "run", "--secret", "key,type=env,target=PASSWORD", "lab/app:1"] } },
    ],
    ["no_image", { Rootfs: "/srv/root", ImageName: "" }],
    ["untold_settings", { Config: { CreateCommand: ["podman", "run", "--personality", "LINUX32", "lab/app:1"] } }],
    ["foreign_namespace", { HostConfig: { NetworkMode: "ns:/run/netns/x" } }],
    ["pod_service", { IsService: true }],
    ["pid_file", { PidFile: "/run/web.pid" }],
  ])("refuses with %s", (code, change) => {
    expect(read(change).Refusals).toMatchObject([{ code }]);
  });

  test("warns that a file will name the id of the container that was", () => {
    expect(read({ HostConfig: { ContainerIDFile: "/run/web.cid" } }).Warnings).toMatchObject([{ code: "id_file" }]);
  });

  test("warns of a container whose command line is unknown", () => {
    const found = read({ Config: { CreateCommand: ["podman", "system", "service"] } });
    expect(found).toMatchObject({ Refusals: [], Warnings: [{ code: "untold_settings" }] });
  });
});

describe("createSpec()", () => {
  const spec = (change?: Parameters<typeof inspect>[0]) => {
    const found = read(change);
    return createSpec("web", { ...objectAt(found.Config), HostConfig: objectAt(found.HostConfig) }, null);
  };

  test.each([
    ["the image in the command line", {}, { containerCreateCommand: ["podman", "run", "-d", "docker.io/lab/app:1"] }],
    [
      "limits",
      { HostConfig: { Memory: 1024, CpuShares: 2 } },
      { resource_limits: { memory: { limit: 1024 }, cpu: { shares: 2 } } },
    ],
    ["no limit of processes", { HostConfig: { PidsLimit: 0 } }, { resource_limits: { pids: { limit: 0 } } }],
    [
      "ulimits",
      { HostConfig: { Ulimits: [{ Name: "RLIMIT_CORE", Soft: 1, Hard: 2 }] } },
      { r_limits: [{ type: "core", soft: 1, hard: 2 }] },
    ],
    [
      "a device",
      { HostConfig: { Devices: [{ PathOnHost: "/dev/a", PathInContainer: "/dev/b" }] } },
      { devices: [{ path: "/dev/a:/dev/b" }] },
    ],
    [
      "tmpfs",
      { HostConfig: { Tmpfs: { "/t": "rw,size=1k,tmpcopyup" } } },
      { mounts: [{ type: "tmpfs", destination: "/t", options: ["rw", "size=1k", "tmpcopyup"] }] },
    ],
    [
      "tmpfs to which nothing of the image is copied",
      { HostConfig: { Tmpfs: { "/t": "rw,size=1k" } } },
      { mounts: [{ type: "tmpfs", destination: "/t", options: ["rw", "size=1k", "notmpcopyup"] }] },
    ],
    [
      "annotations, those of the OCI runtime and of images too",
      {
        Config: {
          Annotations: {
            "run.oci.keep_original_groups": "1",
            "org.opencontainers.image.title": "mine",
            "org.opencontainers.image.stopSignal": "15",
            "io.container.manager": "libpod",
          },
        },
      },
      { annotations: { "run.oci.keep_original_groups": "1", "org.opencontainers.image.title": "mine" } },
    ],
    ["a PID file of conmon's", { ConmonPidFile: "/run/web.pid" }, { conmon_pid_file: "/run/web.pid" }],
    [
      "a file with its id",
      { HostConfig: { ContainerIDFile: "/run/web.cid" } },
      { annotations: { "io.podman.annotations.cid-file": "/run/web.cid" } },
    ],
    [
      "what it requires",
      { Dependencies: ["9".repeat(64), "3".repeat(64)] },
      { dependencyContainers: ["3".repeat(64), "9".repeat(64)] },
    ],
    [
      "a writable image mount of one that runs",
      {
        Mounts: [
          { Type: "image", Source: "lab/data:1", Destination: "/im", RW: true, Options: null },
          { Type: "bind", Source: "/x/merge", Destination: "/im", RW: true, Options: ["lowerdir=/l", "upperdir=/u"] },
        ],
      },
      { image_volumes: [{ Source: "lab/data:1", Destination: "/im", ReadWrite: true }] },
    ],
    [
      "a volume with its options",
      {
        Mounts: [
          {
            Type: "volume",
            Name: "data",
            Destination: "/d",
            RW: false,
            Options: ["nodev"],
            Propagation: "rprivate",
            Mode: "Z",
          },
        ],
      },
      { volumes: [{ Name: "data", Dest: "/d", Options: ["Z", "nodev", "ro", "rprivate"] }] },
    ],
    [
      "security options",
      { HostConfig: { SecurityOpt: ["no-new-privileges", "label=disable", "seccomp=/p.json"] } },
      {
        no_new_privileges: true,
        selinux_opts: ["disable"],
        seccomp_profile_path: "/p.json",
      },
    ],
    [
      "published and exposed ports",
      { HostConfig: { PortBindings: { "80/tcp": [{ HostIp: "", HostPort: "81" }], "9/udp": null } } },
      {
        portmappings: [{ container_port: 80, host_port: 81, host_ip: "", protocol: "tcp", range: 1 }],
        expose: { "80": "tcp", "9": "udp" },
      },
    ],
    [
      "kernel parameters",
      { Config: { CreateCommand: ["podman", "run", "--sysctl", "net.a=1", "x"] } },
      { sysctl: { "net.a": "1" } },
    ],
    [
      "the host's IPC",
      { Config: { CreateCommand: ["podman", "run", "--ipc=host", "x"] } },
      { ipcns: { nsmode: "host" } },
    ],
    [
      "user name spaces",
      { HostConfig: { UsernsMode: "private", IDMappings: { UidMap: ["0:10:5"], GidMap: ["0:20:5"] } } },
      {
        userns: { nsmode: "private" },
        idmappings: { UIDMap: [{ container_id: 0, host_id: 10, size: 5 }] },
      },
    ],
    [
      "slirp with options",
      { HostConfig: { NetworkMode: "slirp4netns:mtu=1500" } },
      { netns: { nsmode: "slirp4netns", value: "mtu=1500" } },
    ],
  ])("makes %s again", (_what, change, made) => {
    expect(spec(change)).toMatchObject(made);
  });

  test("leaves to a pod what is the pod's", () => {
    const infra = `container:${"9".repeat(64)}`;
    const modes = { NetworkMode: infra, IpcMode: infra, UTSMode: infra };
    const made = spec({ Pod: "p".repeat(64), Dependencies: ["9".repeat(64)], HostConfig: modes });
    expect(made).toMatchObject({ pod: "p".repeat(64) });
    expect(made).not.toHaveProperty("dependencyContainers");
    for (const key of ["netns", "ipcns", "utsns", "hostname", "Networks", "portmappings"])
      expect(made).not.toHaveProperty(key);
  });

  test("requires others of its pod besides the pod's own one", () => {
    const infra = "9".repeat(64);
    const other = "5".repeat(64);
    const shared = { NetworkMode: `container:${infra}` };
    const inPod = { Pod: "p".repeat(64), Dependencies: [infra, other] };
    expect(spec({ ...inPod, HostConfig: shared })).toMatchObject({ dependencyContainers: [other] });
    expect(spec(inPod)).toMatchObject({ dependencyContainers: [other, infra] });
  });

  test("binds nothing of what lays a running container's images on each other", () => {
    const overlay = { Type: "bind", Source: "/x/merge", Destination: "/im", RW: true, Options: ["lowerdir=/l"] };
    const image = { Type: "image", Source: "lab/data:1", Destination: "/im", RW: false, Options: null };
    expect(spec({ Mounts: [image, overlay] })).not.toHaveProperty("mounts");
    expect(read({ Mounts: [image, overlay] }).Mounts).toEqual([]);
  });

  test("leaves annotations of the image to the image, and a conmon without a file of one's own to Podman", () => {
    const annotated = readImage({
      Id: "a".repeat(64),
      Config: {},
      Annotations: { "org.opencontainers.image.title": "app" },
    });
    const raw = {
      ...inspect({ Config: { Annotations: { "org.opencontainers.image.title": "app", mine: "1" } } }),
      ConmonPidFile: `/run/${id}/userdata/conmon.pid`,
      PidFile: `/run/${id}/userdata/pidfile`,
    };
    const found = readContainer(raw, annotated);
    expect(objectAt(found.Config).Annotations).toEqual({ mine: "1" });
    expect(found.Config).not.toHaveProperty("ConmonPidFile");
    expect(found.Refusals).toEqual([]);
  });

  describe("names of interfaces", () => {
    const names = (Networks: RawObject, ...options: readonly string[]) => {
      const found = read({
        NetworkSettings: { Networks },
        Config: { CreateCommand: ["podman", "run", ...options, "x"] },
      });
      const networks = Object.entries(objectAt(objectAt(found.NetworkSettings).Networks));
      return Object.fromEntries(networks.map(([name, endpoint]) => [name, objectAt(endpoint).InterfaceName]));
    };
    const two = { back: {}, front: {} };
    test.each<[string, RawObject, readonly string[], RawObject]>([
      ["are Podman's where nobody chose one", two, ["--network=front", "--network=back"], {}],
      [
        "are chosen for the others, too, in the order written",
        { ...two, third: {} },
        ["--network=third", "--network", "front:interface_name=eth0,ip=10.0.0.5", "--network=back"],
        { front: "eth0", third: "eth1", back: "eth2" },
      ],
      ["of the only network", { podman: {} }, ["--network", "bridge:interface_name=lan0"], { podman: "lan0" }],
    ])("%s", (_what, networks, options, expected) => {
      expect(names(networks, ...options)).toEqual(expected);
    });

    test("are told to Podman with the network", () => {
      expect(connectSpec("web", { InterfaceName: "eth7", Aliases: ["a"] })).toEqual({
        container: "web",
        aliases: ["a"],
        interface_name: "eth7",
      });
    });
  });

  test("reads every variable whole", () => {
    const made = spec({ Config: { Env: ["A=b=c", "EMPTY=", "SPACE=a b"] } });
    expect(made.env).toMatchObject({ A: "b=c", EMPTY: "", SPACE: "a b" });
    expect(stringsAt(made.command)).toEqual(["serve"]);
  });
});

describe("bytesOf()", () => {
  test.each([
    ["0B", 0],
    ["512", 512],
    ["3MB", 3_000_000],
    ["10.49MB", 10_490_000],
    ["1.5kB", 1500],
    ["2GB", 2_000_000_000],
    ["nonsense", 0],
  ])("of %p", (text, bytes) => {
    expect(bytesOf(text)).toBe(bytes);
  });
});
