import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UpdatePlan } from "../../src/runtimes/plan.ts";
import { engineMissing, startEngine, type TestEngine, trapCommand } from "../peers/engine.ts";
import { english } from "../support/english.ts";
import { eventually } from "../support/eventually.ts";
import { memoryJournal } from "../support/memory-journal.ts";
import { peerSuite } from "../support/peer.ts";
import { apply } from "../support/prepared.ts";
import { changeTo, openSession, removeContainers, runContainer, target } from "../support/update-target.ts";

// What an update must keep, a line of the requirements each, by hand; the random configurations are in a suite of their own.
setDefaultTimeout(120_000);

type Json = Record<string, unknown>;

const second = 1_000_000_000;
const oldImage = "lab/req:old";
const newImage = "lab/req:new";

/** Every default that an image can give, each another one. */
function defaults(version: string, port: string): Json {
  return {
    Env: [`VERSION=${version}`, `ONLY_${version}=1`, "MODE=image"],
    Labels: { version, [`only.${version}`]: "1", mode: "image" },
    Entrypoint: ["/bin/sh", "-c"],
    Cmd: [`: ${version}; ${trapCommand}`],
    WorkingDir: `/srv/${version}`,
    User: version === "old" ? "0" : "0:0",
    StopSignal: version === "old" ? "SIGINT" : "SIGTERM",
    ExposedPorts: { [port]: {} },
    Volumes: { [`/data-${version}`]: {} },
    Healthcheck: { Test: ["CMD", "/bin/true", version], Interval: version === "old" ? 600 * second : 900 * second },
  };
}

for (const mode of ["docker-20", "docker-29", "docker-29-containerd"] as const) {
  const isNew = mode !== "docker-20";

  peerSuite(`${mode}: what an update keeps`, engineMissing(mode), () => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-requirements-"));
    let engine: TestEngine;

    beforeAll(async () => {
      engine = await startEngine({ mode });
      for (const each of ["one/sub", "two"]) mkdirSync(join(folder, each), { recursive: true });
      await engine.importImage("lab/base:1");
      await engine.call("POST", "/containers/create?name=base", { Image: "lab/base:1" });
      for (const [tag, config] of [
        ["old", defaults("old", "80/tcp")],
        ["new", defaults("new", "81/tcp")],
      ] as const) {
        await engine.call("POST", `/commit?container=base&repo=lab/req&tag=${tag}&pause=0`, config);
      }
      await runContainer(engine, "anchor", {
        Image: "lab/base:1",
        Volumes: { "/anchor": {} },
        HostConfig: { IpcMode: "shareable" },
      });
      await engine.call("POST", "/networks/create", { Name: "front", IPAM: { Config: [{ Subnet: "10.97.1.0/24" }] } });
      const six = { Config: [{ Subnet: "10.97.2.0/24" }, { Subnet: "fd00:97::/64" }] };
      await engine.call("POST", "/networks/create", { Name: "six", EnableIPv6: true, IPAM: six });
    }, 120_000);
    afterAll(async () => {
      await engine.stop();
      rmSync(folder, { recursive: true, force: true });
    }, 60_000);

    const inspect = async (name: string) => (await engine.call("GET", `/containers/${name}/json`)) as Json;
    const host = async (name: string) => (await inspect(name)).HostConfig as Json;
    const config = async (name: string) => (await inspect(name)).Config as Json;
    const networks = async (name: string) => {
      return ((await inspect(name)).NetworkSettings as Json).Networks as Record<string, Json>;
    };
    const mountsOf = async (name: string) => {
      const mounts = (await inspect(name)).Mounts as {
        Destination: string;
        Name?: string;
        Source: string;
        RW: boolean;
      }[];
      return new Map(mounts.map((each) => [each.Destination, each]));
    };
    async function update(name: string): Promise<UpdatePlan> {
      const journal = memoryJournal();
      await using session = await openSession(engine);
      const plan = await session.plan(target(name), [changeTo(newImage)]);
      await apply(session, plan, journal);
      await session.finish(target(name), journal);
      expect(await config(name)).toMatchObject({ Image: newImage });
      return plan;
    }
    async function carried(body: Json): Promise<{ before: Json; after: Json }> {
      await engine.call("POST", "/containers/create?name=carried", { Image: oldImage, ...body });
      const before = await host("carried");
      await update("carried");
      const after = await host("carried");
      await removeContainers(engine, "carried");
      return { before, after };
    }

    describe("no setting is lost", () => {
      test.each<[string, Json]>([
        ["privileged and a read-only root", { Privileged: true, ReadonlyRootfs: true }],
        ["namespaces of the host", { PidMode: "host", IpcMode: "host", UTSMode: "host", UsernsMode: "host" }],
        ["namespaces of another container", { PidMode: "container:anchor", IpcMode: "container:anchor" }],
        [
          "cgroup settings",
          { CgroupnsMode: "private", CgroupParent: "/tidemark-own", DeviceCgroupRules: ["c 1:3 rmw"] },
        ],
        [
          "GPUs by DeviceRequests",
          { DeviceRequests: [{ Driver: "nvidia", Count: -1, DeviceIDs: null, Capabilities: [["gpu"]], Options: {} }] },
        ],
        [
          "limits of memory, processors, processes, files and devices",
          {
            Memory: 268_435_456,
            MemoryReservation: 134_217_728,
            MemorySwap: 536_870_912,
            CpuShares: 512,
            CpuPeriod: 50_000,
            CpuQuota: 25_000,
            CpusetCpus: "0",
            CpusetMems: "0",
            PidsLimit: 77,
            Ulimits: [{ Name: "nofile", Hard: 2048, Soft: 1024 }],
            BlkioDeviceReadBps: [{ Path: "/dev/null", Rate: 1_048_576 }],
            ShmSize: 134_217_728,
            OomScoreAdj: 321,
          },
        ],
        ["volumes of another container, read-only", { VolumesFrom: ["anchor:ro"] }],
        ["tmpfs with options", { Tmpfs: { "/run": "rw,noexec,size=65536k", "/bare": "" } }],
        [
          "security options, capabilities and sysctls",
          {
            SecurityOpt: ["no-new-privileges", "seccomp=unconfined"],
            CapAdd: ["NET_ADMIN"],
            CapDrop: ["ALL"],
            Sysctls: { "net.core.somaxconn": "1024" },
          },
        ],
        ["path lists that are empty on purpose", { MaskedPaths: [], ReadonlyPaths: [] }],
        [
          "names and groups",
          { Dns: ["192.0.2.53"], DnsSearch: ["a.test"], ExtraHosts: ["db.test:192.0.2.7"], GroupAdd: ["10"] },
        ],
        [
          "log config, restart policy and init",
          {
            LogConfig: { Type: "json-file", Config: { "max-size": "3m" } },
            RestartPolicy: { Name: "on-failure", MaximumRetryCount: 3 },
            Init: true,
          },
        ],
      ])("%s", async (_what, settings) => {
        const { before, after } = await carried({ HostConfig: settings });
        for (const key of Object.keys(settings)) {
          // A container is written down by its id.
          if (settings[key] === "container:anchor") expect(before[key]).toMatch(/^container:[0-9a-f]{64}$/);
          else expect(before[key], `the engine took ${key}`).toEqual(settings[key]);
          expect(after[key], key).toEqual(before[key]);
        }
      });

      test("binds with options, and two binds of one host path", async () => {
        const path = join(folder, "one");
        const Binds = [`${path}:/a:ro`, `${path}:/b`, `${path}/sub:/c:rslave,z`];
        const { after } = await carried({ HostConfig: { Binds } });
        expect(after.Binds).toEqual(Binds);
      });

      test("stop signal and timeout, user, working directory, labels and the health check that a person set", async () => {
        const body = {
          StopSignal: "SIGQUIT",
          StopTimeout: 42,
          User: "1000",
          WorkingDir: "/var",
          Labels: { own: "1", mode: "mine" },
          Healthcheck: { Test: ["CMD", "own"], Interval: 7 * second, Timeout: 3 * second, Retries: 4 },
        };
        await engine.call("POST", "/containers/create?name=own", { Image: oldImage, ...body });
        await update("own");
        expect(await config("own")).toMatchObject(body);
        await removeContainers(engine, "own");
      });

      test("anonymous volumes stay the same volumes with their data, made in each of the ways there are", async () => {
        const paths = ["/data-old", "/of-config", "/of-bind", "/of-mount", "/odd/path"];
        await runContainer(engine, "volumes", {
          Image: oldImage,
          Entrypoint: ["/bin/sh", "-c"],
          Cmd: [`for each in ${paths.join(" ")}; do echo kept > $each/file; done; ${trapCommand}`],
          Volumes: { "/of-config": {} },
          HostConfig: { Binds: ["/of-bind", "/odd/./path/"], Mounts: [{ Type: "volume", Target: "/of-mount/" }] },
        });
        const before = await mountsOf("volumes");
        const text = (each: Awaited<ReturnType<typeof mountsOf>>, path: string) => {
          return readFileSync(join(each.get(path)?.Source ?? "", "file"), "utf8");
        };
        await eventually("the data in all volumes", () => paths.every((path) => text(before, path) === "kept\n"));
        await update("volumes");
        const after = await mountsOf("volumes");
        for (const path of paths) {
          expect(after.get(path)?.Source, path).toBe(before.get(path)?.Source ?? "none");
          expect(text(after, path)).toBe("kept\n");
        }
        await removeContainers(engine, "volumes");
      });

      test("a random published port stays random, and the one that it happened to have is not frozen", async () => {
        await runContainer(engine, "ports", {
          Image: oldImage,
          HostConfig: {
            PortBindings: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "" }], "53/udp": [{ HostPort: "0" }] },
          },
        });
        const asked = (await host("ports")).PortBindings as Record<string, { HostPort: string }[]>;
        await update("ports");
        expect((await host("ports")).PortBindings).toEqual(asked);
        expect(["", "0"]).toContain(asked["80/tcp"]?.[0]?.HostPort ?? "none");
        const { Ports } = (await inspect("ports")).NetworkSettings as { Ports: Record<string, { HostPort: string }[]> };
        expect(Number(Ports["80/tcp"]?.[0]?.HostPort)).toBeGreaterThan(1024);
        await removeContainers(engine, "ports");
      });

      test("several networks with aliases, fixed addresses of both families and driver options", async () => {
        const front = { Aliases: ["web"], IPAMConfig: { IPv4Address: "10.97.1.50" }, DriverOpts: { own: "x" } };
        const six = { Aliases: ["six"], IPAMConfig: { IPv6Address: "fd00:97::50" }, Links: ["anchor:database"] };
        const priority = isNew ? { GwPriority: 7 } : {};
        const body = { Image: oldImage, HostConfig: { NetworkMode: "front" } };
        await engine.call("POST", "/containers/create?name=networks", {
          ...body,
          NetworkingConfig: { EndpointsConfig: { front } },
        });
        await engine.call("POST", "/networks/six/connect", {
          Container: "networks",
          EndpointConfig: { ...six, ...priority },
        });
        await engine.call("POST", "/containers/networks/start");
        await update("networks");
        const found = await networks("networks");
        expect(Object.keys(found).sort()).toEqual(["front", "six"]);
        expect(found.front).toMatchObject({ IPAddress: "10.97.1.50", DriverOpts: { own: "x" } });
        expect(found.front?.Aliases).toContain("web");
        expect(found.six).toMatchObject({ GlobalIPv6Address: "fd00:97::50", Links: ["anchor:database"], ...priority });
        await removeContainers(engine, "networks");
      });

      const chosen = "02:42:0a:61:01:77";

      test.each([true, false])("the MAC address that a person set; of one that runs: %p", async (runs) => {
        const place = isNew
          ? { NetworkingConfig: { EndpointsConfig: { front: { MacAddress: chosen } } } }
          : { MacAddress: chosen };
        await runContainer(engine, "mac", { Image: oldImage, HostConfig: { NetworkMode: "front" }, ...place });
        if (!runs) await engine.call("POST", "/containers/mac/stop?t=0");
        await update("mac");
        await engine.call("POST", "/containers/mac/start");
        expect((await networks("mac")).front).toMatchObject({ MacAddress: chosen });
        await removeContainers(engine, "mac");
      });

      test("no MAC address that nobody set", async () => {
        await runContainer(engine, "mac", { Image: oldImage, HostConfig: { NetworkMode: "front" } });
        await update("mac");
        // Up to this version the API tells what was asked for, and not what was made.
        const asked = (await engine.call("GET", `/v${isNew ? "1.51" : "1.41"}/containers/mac/json`)) as {
          Config: Json;
        };
        expect(asked.Config.MacAddress ?? "").toBe("");
        await removeContainers(engine, "mac");
      });

      test.if(isNew)("a chosen MAC address of a second network, or a refusal where the engine hides it", async () => {
        await runContainer(engine, "mac", { Image: oldImage, HostConfig: { NetworkMode: "front" } });
        await engine.call("POST", "/networks/six/connect", {
          Container: "mac",
          EndpointConfig: { MacAddress: chosen },
        });
        await update("mac");
        expect((await networks("mac")).six).toMatchObject({ MacAddress: chosen });
        await engine.call("POST", "/containers/mac/stop?t=0");
        await using session = await openSession(engine);
        const plan = await session.plan(target("mac"), [changeTo(oldImage)]);
        expect(plan.refusals).toMatchObject([{ code: "mac_unknown" }]);
        await removeContainers(engine, "mac");
      });

      test.if(isNew)(
        "settings that came later than we did: annotations, umask, images and parts of volumes as mounts",
        async () => {
          const Mounts = [
            { Type: "image", Source: "lab/base:1", Target: "/image", ImageOptions: { Subpath: "bin" } },
            { Type: "volume", Source: "parts", Target: "/part", VolumeOptions: { NoCopy: true, Subpath: "deep" } },
            {
              Type: "bind",
              Source: folder,
              Target: "/ro",
              ReadOnly: true,
              BindOptions: { ReadOnlyNonRecursive: true },
            },
            { Type: "tmpfs", Target: "/exec", TmpfsOptions: { Options: [["exec"]] } },
          ];
          const volume = (await engine.call("POST", "/volumes/create", { Name: "parts" })) as { Mountpoint: string };
          mkdirSync(join(volume.Mountpoint, "deep"));
          const { after } = await carried({ HostConfig: { Mounts, Annotations: { "io.own/a": "b" }, Umask: 18 } });
          expect(after).toMatchObject({ Annotations: { "io.own/a": "b" }, Umask: 18 });
          expect((after.Mounts as Json[]).slice(0, Mounts.length)).toEqual(Mounts);
        },
      );

      test.if(isNew)("a setting that only a newer version of the API shows is refused by its name", async () => {
        await engine.call("POST", "/containers/create?name=hidden", { Image: oldImage, HostConfig: { Umask: 18 } });
        await using session = await openSession(engine, { api_version: "1.50" });
        const plan = await session.plan(target("hidden"), [changeTo(newImage)]);
        expect(plan.refusals).toMatchObject([{ code: "hidden_settings" }]);
        expect(english(plan.refusals[0]?.message)).toContain("HostConfig.Umask");
        await removeContainers(engine, "hidden");
      });
    });

    describe("what came from the old image is not frozen", () => {
      test("every default becomes the new image's", async () => {
        await engine.call("POST", "/containers/create?name=plain", { Image: oldImage });
        await engine.call("POST", "/containers/create?name=fresh", { Image: newImage });
        await update("plain");
        const { Hostname: _old, Volumes: volumes, Labels: labels, Env: env, ...found } = await config("plain");
        const {
          Hostname: _new,
          Volumes: _volumes,
          Labels: freshLabels,
          Env: freshEnv,
          ...fresh
        } = await config("fresh");
        expect(found).toEqual(fresh);
        expect((env as string[]).sort()).toEqual((freshEnv as string[]).sort());
        expect(labels).toMatchObject(freshLabels as Json);
        expect(Object.keys(labels as Json)).not.toContain("only.old");
        expect(Object.keys(volumes as Json)).toEqual(["/data-new"]);
        for (const name of ["plain", "fresh"]) await removeContainers(engine, name);
      });

      test("one's own stays: a variable of two lines, a command, an entrypoint that was taken away", async () => {
        const body = { Env: ["MODE=mine", "MODE=image", "OWN="], Entrypoint: [], Cmd: ["/bin/sleep", "9"] };
        await engine.call("POST", "/containers/create?name=own", { Image: oldImage, ...body });
        await update("own");
        const found = await config("own");
        expect((found.Env as string[]).filter((line) => /^(MODE|OWN)/.test(line))).toEqual(body.Env);
        expect([found.Entrypoint ?? [], found.Cmd]).toEqual([[], body.Cmd]);
        await removeContainers(engine, "own");
      });

      test("a hostname from the id is made anew, a chosen one stays though the id begins with it", async () => {
        await engine.call("POST", "/containers/create?name=made", { Image: oldImage });
        await update("made");
        expect((await config("made")).Hostname).toBe(String((await inspect("made")).Id).slice(0, 12));
        await removeContainers(engine, "made");
        // One id in sixteen begins with it.
        for (let attempt = 0; attempt < 500; attempt += 1) {
          const { Id } = (await engine.call("POST", "/containers/create?name=begins", {
            Image: oldImage,
            Hostname: "a",
          })) as { Id: string };
          if (Id.startsWith("a")) break;
          await removeContainers(engine, "begins");
        }
        await update("begins");
        expect((await config("begins")).Hostname).toBe("a");
        await removeContainers(engine, "begins");
      });
    });

    describe("of what belongs together", () => {
      test("one in another's network is updated, though its image exposes ports", async () => {
        await runContainer(engine, "side", { Image: oldImage, HostConfig: { NetworkMode: "container:anchor" } });
        await update("side");
        expect((await host("side")).NetworkMode).toMatch(/^container:/);
        expect(await config("side")).toMatchObject({ ExposedPorts: { "81/tcp": {} } });
        await removeContainers(engine, "side");
      });

      test("compose's labels stay, service names with their case, and its image label becomes the new image's", async () => {
        const idOf = async (image: string) =>
          ((await engine.call("GET", `/images/${image}/json`)) as { Id: string }).Id;
        const Labels = {
          "com.docker.compose.project": "shop",
          "com.docker.compose.service": "WebServer",
          "com.docker.compose.config-hash": "ab".repeat(32),
          "com.docker.compose.image": await idOf(oldImage),
        };
        await engine.call("POST", "/containers/create?name=shop-WebServer-1", { Image: oldImage, Labels });
        await update("shop-WebServer-1");
        const expected = { ...Labels, "com.docker.compose.image": await idOf(newImage) };
        expect((await config("shop-WebServer-1")).Labels).toMatchObject(expected);
        await removeContainers(engine, "shop-WebServer-1");
      });
    });
  });
}

const upgradeMissing = engineMissing("docker-20") ?? engineMissing("docker-29");

peerSuite("docker 20.10 upgraded to 29: what an update keeps", upgradeMissing, () => {
  const data = mkdtempSync(join(tmpdir(), "tidemark-upgraded-"));
  const args = ["--data-root", data];
  let before: TestEngine;
  let engine: TestEngine;

  beforeAll(async () => {
    writeFileSync(join(data, "file.txt"), "");
    before = await startEngine({ mode: "docker-20", args });
    await before.importImage(oldImage, ["ENV VERSION=old"]);
    await before.importImage(newImage, ["ENV VERSION=new"]);
    const HostConfig = { NetworkMode: "default", Binds: ["/anonymous"], PortBindings: { "80/tcp": [] } };
    await before.call("POST", "/containers/create?name=older", { Image: oldImage, Env: ["OWN=1"], HostConfig });
    await before.kill();
    engine = await startEngine({ mode: "docker-29", args });
  }, 120_000);
  afterAll(async () => {
    await engine.stop();
    await before.stop();
    // An engine that was killed leaves its folder mounted on itself.
    const mounts = readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[1] ?? "");
    for (const path of mounts
      .filter((each) => each.startsWith(data))
      .sort()
      .reverse()) {
      execFileSync("/usr/bin/umount", ["-l", path]);
    }
    rmSync(data, { recursive: true, force: true });
  }, 60_000);

  test("a container that the old engine made is carried, as the new one writes it down", async () => {
    const inspect = async () =>
      (await engine.call("GET", "/containers/older/json")) as {
        HostConfig: Json;
        Config: Json;
        Mounts: { Source: string }[];
      };
    const old = await inspect();
    const journal = memoryJournal();
    await using session = await openSession(engine);
    await apply(session, await session.plan(target("older"), [changeTo(newImage)]), journal);
    await session.finish(target("older"), journal);
    const found = await inspect();
    expect(found.Config).toMatchObject({ Image: newImage, Env: expect.arrayContaining(["OWN=1", "VERSION=new"]) });
    const { NetworkMode: _default, Binds: _named, ...rest } = old.HostConfig;
    expect(found.HostConfig).toMatchObject(rest);
    const sources = [old, found].map((each) => each.Mounts.map(({ Source }) => Source));
    expect(sources[1]).toEqual(sources[0] ?? []);
  });
});
