import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeExport } from "../../src/runtimes/engine/export/write-export.ts";
import { objectAt } from "../../src/runtimes/engine/raw.ts";
import { type Compose, composeMissing, composeVersions, startCompose } from "../peers/compose.ts";
import { type EngineMode, engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { comparable, runScript, snapshotOf } from "../support/break-glass.ts";
import { shareOf } from "../support/engine-modes.ts";
import { peerSuite } from "../support/peer.ts";
import { images, importImages, inspectContainer, removeContainers, runContainer } from "../support/update-target.ts";

setDefaultTimeout(120_000);

type Json = Record<string, unknown>;

const folder = mkdtempSync(join(tmpdir(), "tidemark-glass-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const second = 1_000_000_000;
/** What would be executed, or would break out of its place, if it were not quoted. */
const hostile = `'; touch ${folder}/executed; echo '$(touch ${folder}/executed)\`touch ${folder}/executed\`"\\\n\${HOME} $$ #!%s\n\tEOF\nTIDEMARK`;

const rows: readonly (readonly [what: string, body: Json])[] = [
  ["nothing of its own", {}],
  [
    "hostile values everywhere",
    {
      Env: [`HOSTILE=${hostile}`, "EMPTY=", "EQUALS=a=b=c", `DOLLAR=$HOME \${HOME} $$`],
      Labels: { "some.label": hostile, unicode: "\u2028 \u0085 ünï 日本" },
      Cmd: ["/bin/sh", "-c", "trap exit TERM; while :; do sleep 1 & wait; done", hostile, "", "--"],
    },
  ],
  ["a command that begins with a dash", { Entrypoint: ["/bin/busybox"], Cmd: ["sleep", "600"], WorkingDir: "/var" }],
  ["an entrypoint without a command", { Entrypoint: ["/bin/yes"] }],
  [
    "who it is",
    {
      stopped: true,
      Hostname: "chosen-name",
      Domainname: "example.test",
      User: "1000:1000",
      WorkingDir: "/tmp",
      StopSignal: "SIGQUIT",
      StopTimeout: 42,
      Tty: true,
    },
  ],
  ["an open standard input", { OpenStdin: true, Tty: true }],
  [
    "a health check in a shell",
    {
      Healthcheck: {
        Test: ["CMD-SHELL", "test \"$HOME\" != '' && true"],
        Interval: 7 * second,
        Timeout: 3 * second,
        StartPeriod: 2 * second,
        Retries: 4,
      },
    },
  ],
  ["no health check", { Healthcheck: { Test: ["NONE"] } }],
  [
    "ports",
    {
      ExposedPorts: { "80/tcp": {}, "81/tcp": {}, "53/udp": {}, "9000/tcp": {} },
      HostConfig: {
        PortBindings: {
          "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "18223" }],
          "81/tcp": [{ HostIp: "", HostPort: "18224" }],
          "53/udp": [{ HostIp: "", HostPort: "" }],
        },
      },
    },
  ],
  ["all ports", { ExposedPorts: { "80/tcp": {} }, HostConfig: { PublishAllPorts: true } }],
  [
    "binds and volumes",
    {
      Volumes: { "/of-container": {} },
      HostConfig: {
        Binds: [
          `${folder}/one:/a:ro`,
          `${folder}/one:/b:rw`,
          "named-volume:/c",
          "other-volume:/d:nocopy",
          "/anonymous",
        ],
        Tmpfs: { "/run": "rw,noexec,size=65536k", "/scratch": "" },
      },
    },
  ],
  [
    "mounts",
    {
      HostConfig: {
        Mounts: [
          { Type: "volume", Source: "named-volume", Target: "/v", ReadOnly: true, VolumeOptions: { NoCopy: true } },
          { Type: "bind", Source: `${folder}/a, "comma"`, Target: "/w", BindOptions: { Propagation: "rprivate" } },
          { Type: "tmpfs", Target: "/t", TmpfsOptions: { SizeBytes: 65_536, Mode: 448 } },
          { Type: "volume", Target: "/nameless" },
        ],
      },
    },
  ],
  [
    "two networks with addresses, aliases and a MAC address",
    {
      MacAddress: "02:42:0a:63:02:77",
      HostConfig: { NetworkMode: "front" },
      NetworkingConfig: {
        EndpointsConfig: {
          front: { IPAMConfig: { IPv4Address: "10.99.2.50" }, Aliases: ["web", "www"], DriverOpts: { some: "option" } },
        },
      },
      also: { back: { Aliases: ["web-back"], IPAMConfig: { IPv4Address: "10.99.3.7" } } },
    },
  ],
  ["the host's network", { HostConfig: { NetworkMode: "host" } }],
  ["no network", { HostConfig: { NetworkMode: "none" } }],
  [
    "another's namespaces and volumes",
    {
      HostConfig: {
        NetworkMode: "container:anchor",
        PidMode: "container:anchor",
        IpcMode: "container:anchor",
        VolumesFrom: ["anchor:ro"],
      },
    },
  ],
  [
    "names",
    {
      HostConfig: {
        Dns: ["192.0.2.53"],
        DnsOptions: ["ndots:2"],
        DnsSearch: ["corp.test"],
        ExtraHosts: ["db.test:192.0.2.7"],
        Links: ["anchor:database"],
      },
    },
  ],
  [
    "rights",
    {
      stopped: true,
      HostConfig: {
        CapAdd: ["NET_ADMIN", "SYS_TIME"],
        CapDrop: ["MKNOD"],
        SecurityOpt: ["no-new-privileges", 'seccomp={"defaultAction":"SCMP_ACT_ALLOW"}'],
        ReadonlyRootfs: true,
        GroupAdd: ["10", "audio"],
        CgroupnsMode: "private",
        IpcMode: "shareable",
        UTSMode: "host",
        UsernsMode: "host",
        Init: true,
        Sysctls: { "net.core.somaxconn": "1024" },
      },
    },
  ],
  ["privileged", { stopped: true, HostConfig: { Privileged: true, PidMode: "host" } }],
  ["unmasked system paths", { HostConfig: { MaskedPaths: [], ReadonlyPaths: [] } }],
  [
    "limits",
    {
      HostConfig: {
        Memory: 268_435_456,
        MemoryReservation: 134_217_728,
        MemorySwap: 536_870_912,
        NanoCpus: 1_500_000_000,
        CpuShares: 512,
        CpusetCpus: "0",
        PidsLimit: 77,
        OomScoreAdj: 321,
        ShmSize: 134_217_728,
        BlkioWeight: 300,
        Ulimits: [{ Name: "nofile", Soft: 1024, Hard: 2048 }],
        CgroupParent: "/tidemark-glass",
      },
    },
  ],
  ["processor quotas", { HostConfig: { CpuPeriod: 50_000, CpuQuota: 25_000 } }],
  [
    "devices",
    {
      stopped: true,
      HostConfig: {
        Devices: [{ PathOnHost: "/dev/null", PathInContainer: "/dev/nothing", CgroupPermissions: "r" }],
        DeviceCgroupRules: ["c 1:3 rmw"],
        BlkioDeviceReadBps: [{ Path: "/dev/null", Rate: 1_048_576 }],
      },
    },
  ],
  ["logging", { HostConfig: { LogConfig: { Type: "json-file", Config: { "max-size": "3m", tag: "{{.Name}}" } } } }],
  ["a restart policy", { HostConfig: { RestartPolicy: { Name: "on-failure", MaximumRetryCount: 3 } } }],
];

/** What compose, or one version of it on one engine, cannot restore, and how the file says so. */
const said: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "another's namespaces and volumes": { compose: "compose mounts the volumes of a container that is not in the file" },
  "two networks with addresses, aliases and a MAC address": { "5.6.0 on docker-20": "compose 5 does not pass its MAC" },
  "all ports": { compose: "HostConfig.PublishAllPorts is not restored" },
  rights: { compose: "seccomp profile has to be written to a file" },
};

/** Each with the client of its time: new ones refuse old engines some settings, such as a MAC address. */
const modes = [
  ["docker-20", "/usr/bin/docker"],
  ["docker-29-containerd", "docker"],
] as const;

const names = modes.map(([mode]) => mode);

for (const [mode, cli] of modes)
  peerSuite(`break-glass on ${mode}`, engineMissing(mode) ?? composeMissing(), () => suite(mode, cli));

function suite(mode: EngineMode, cli: string): void {
  let engine: TestEngine;
  let composes: readonly Compose[];
  let api = { api_version: "1.41" };

  beforeAll(async () => {
    engine = await startEngine({ mode });
    await importImages(engine);
    const { ApiVersion } = (await engine.call("GET", "/version")) as { ApiVersion: string };
    api = { api_version: ApiVersion };
    for (const name of ["one", 'a, "comma"']) mkdirSync(join(folder, name), { recursive: true });
    await engine.call("POST", "/networks/create", { Name: "front", IPAM: { Config: [{ Subnet: "10.99.2.0/24" }] } });
    await engine.call("POST", "/networks/create", { Name: "back", IPAM: { Config: [{ Subnet: "10.99.3.0/24" }] } });
    await runContainer(engine, "anchor", { HostConfig: { IpcMode: "shareable", Binds: ["anchor-data:/shared"] } });
    composes = composeVersions.map((version) => startCompose({ engine, version, folder }));
  });
  afterEach(() => removeContainers(engine, "web"));
  afterAll(async () => {
    for (const compose of composes) compose.stop();
    await engine.stop();
  });

  async function begin(name: string, { also = {}, stopped = false, ...body }: Json): Promise<Json> {
    await engine.call("POST", `/containers/create?name=${name}`, { Image: images.old, StopTimeout: 1, ...body });
    for (const [network, EndpointConfig] of Object.entries(also as Record<string, Json>)) {
      await engine.call("POST", `/networks/${network}/connect`, { Container: name, EndpointConfig });
    }
    // Some cannot be started inside of the container that the tests may run in; their settings show all the same.
    if (stopped === false) await engine.call("POST", `/containers/${name}/start`);
    return await inspectContainer(engine, name);
  }
  // Without its anonymous volumes' removal: data stays where a container is removed by `docker rm`.
  const remove = (name: string) => engine.call("DELETE", `/containers/${name}?force=1`);

  test.each(shareOf(rows, mode, names, 1))("the script restores: %s", async (what, body) => {
    const before = await begin("web", body);
    const inherited = what.includes("volumes") && body.Volumes === undefined ? ["/shared"] : [];
    const snapshot = await snapshotOf(engine, ["web"], { ...api, inherited });
    const script = writeExport(snapshot, { format: "script", with_secrets: true });
    await remove("web");
    const result = await runScript(engine, script, { cli });
    expect(result).toMatchObject({ code: 0 });
    expect(comparable(await inspectContainer(engine, "web"), "script")).toEqual(comparable(before, "script"));
    expect(existsSync(`${folder}/executed`)).toBe(false);
  });

  test.each(shareOf(rows, mode, names.toReversed(), 1))("compose restores: %s", async (what, body) => {
    const before = await begin("web", body);
    const inherited = what.includes("volumes") && body.Volumes === undefined ? ["/shared"] : [];
    const snapshot = await snapshotOf(engine, ["web"], { ...api, inherited });
    const file = writeExport(snapshot, { format: "compose", with_secrets: true });
    writeFileSync(join(folder, "restore.yaml"), file);
    const wanted = comparable(before, "compose");
    for (const compose of composes) {
      await compose.must(["-f", "restore.yaml", "config", "--quiet"]);
      await remove("web");
      await compose.must(["-f", "restore.yaml", ...(body.stopped === true ? ["create"] : ["up", "--detach"])]);
      const note = said[what]?.compose ?? said[what]?.[`${compose.version} on ${mode}`];
      if (note === undefined) expect(comparable(await inspectContainer(engine, "web"), "compose")).toEqual(wanted);
      else expect(file).toContain(note);
    }
    expect(existsSync(`${folder}/executed`)).toBe(false);
  });

  const secrets = {
    password: "correct-horse-battery",
    url: "postgres://app:staple-staple@db/app",
    word: "hunter2-hunter2",
  };
  const secretive = {
    Env: [`DB_PASSWORD=${secrets.password}`, `UPSTREAM=${secrets.url}`, `COPY=<${secrets.password}>`, "PLAIN=seen"],
    Labels: { "proxy.auth.users": "admin:$apr1$very$secret" },
    Cmd: ["/bin/sh", "-c", "trap exit TERM; while :; do sleep 1 & wait; done", "--requirepass", secrets.word],
  };
  const hidden = [secrets.password, "staple-staple", secrets.word, "apr1"];
  const given = {
    DB_PASSWORD: secrets.password,
    UPSTREAM: secrets.url,
    COPY: `<${secrets.password}>`,
    LABEL_proxy_auth_users: "admin:$apr1$very$secret",
    COMMAND_5: secrets.word,
  };
  const upper = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key.replace(/^LABEL_.*/, (k) => k.toUpperCase()), value]),
  );

  test("a script without secrets demands them, changes nothing until it has them, and restores with them", async () => {
    const before = await begin("web", secretive);
    const snapshot = await snapshotOf(engine, ["web"], api);
    const script = writeExport(snapshot, { format: "script", with_secrets: false });
    for (const secret of hidden) expect(script).not.toContain(secret);
    expect(script).toContain("PLAIN=seen");
    await remove("web");
    const refused = await runScript(engine, script, { cli });
    expect(refused.code).toBe(2);
    for (const name of Object.keys(upper)) expect(refused.out).toContain(name);
    await expect(inspectContainer(engine, "web")).rejects.toThrow("404");
    expect(await runScript(engine, script, { cli, env: upper })).toMatchObject({ code: 0 });
    expect(comparable(await inspectContainer(engine, "web"), "script")).toEqual(comparable(before, "script"));
    expect(writeExport(snapshot, { format: "script", with_secrets: true })).toContain("SECRETS IN CLEAR TEXT");
  });

  test("a compose file without secrets demands them, and restores with them", async () => {
    const before = await begin("web", secretive);
    const snapshot = await snapshotOf(engine, ["web"], api);
    const file = writeExport(snapshot, { format: "compose", with_secrets: false });
    for (const secret of hidden) expect(file).not.toContain(secret);
    writeFileSync(join(folder, "restore.yaml"), file);
    const lines = Object.entries(upper).map(([key, value]) => `${key}='${value}'`);
    writeFileSync(join(folder, "secrets.env"), lines.join("\n"));
    for (const compose of composes) {
      const refused = await compose.run(["-f", "restore.yaml", "config", "--quiet"]);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain("to what it was");
      await remove("web");
      await compose.must(["--env-file", "secrets.env", "-f", "restore.yaml", "up", "--detach"]);
      expect(comparable(await inspectContainer(engine, "web"), "compose")).toEqual(comparable(before, "compose"));
    }
  });

  test("a container of that name is left alone, and put aside only when that is asked for", async () => {
    const before = await begin("web", { HostConfig: { RestartPolicy: { Name: "always" } } });
    const script = writeExport(await snapshotOf(engine, ["web"], api), { format: "script", with_secrets: true });
    const refused = await runScript(engine, script, { cli });
    expect(refused).toMatchObject({
      code: 1,
      out: "There is a container web already; --replace puts it aside first\n",
    });
    expect((await inspectContainer(engine, "web")).Id).toBe(before.Id as never);
    const result = await runScript(engine, script, { cli, args: ["--replace"] });
    expect(result).toMatchObject({ code: 0 });
    const kept = /web-before-[0-9]+/.exec(result.out)?.[0] ?? "?";
    expect(await inspectContainer(engine, kept)).toMatchObject({ Id: before.Id, State: { Running: false } } as never);
    expect(comparable(await inspectContainer(engine, "web"), "script")).toEqual(comparable(before, "script"));
    await remove(kept);
  });

  test.each(["script", "compose"] as const)(
    "a group comes back as a %s, in its order and by its names",
    async (format) => {
      const names = ["glass-web", "glass-worker"];
      const [web, worker] = names as [string, string];
      const before = [
        await begin(web, { HostConfig: { NetworkMode: "front", IpcMode: "shareable" } }),
        await begin(worker, {
          HostConfig: { NetworkMode: `container:${web}`, IpcMode: `container:${web}`, VolumesFrom: [web] },
        }),
      ];
      const text = writeExport(await snapshotOf(engine, names, api), { format, with_secrets: true });
      for (const name of names) await remove(name);
      if (format === "script") expect(await runScript(engine, text, { cli })).toMatchObject({ code: 0 });
      else {
        writeFileSync(join(folder, "restore.yaml"), text);
        await composes[1]?.must(["-f", "restore.yaml", "up", "--detach"]);
      }
      const after = await Promise.all(names.map((name) => inspectContainer(engine, name)));
      const host = objectAt(after[1]?.HostConfig);
      expect(host).toMatchObject({ NetworkMode: `container:${after[0]?.Id}`, IpcMode: `container:${after[0]?.Id}` });
      expect(comparable(after[0] ?? {}, format)).toEqual(comparable(before[0] ?? {}, format));
      expect(after.map((each) => objectAt(each.State).Running)).toEqual([true, true]);
      for (const name of names.toReversed()) await remove(name);
    },
  );

  test("files that were put into a container come back with secrets, and are only told of without", async () => {
    const before = await begin("web", {});
    writeFileSync(join(folder, "token"), hostile);
    const tar = execFileSync("tar", ["-C", folder, "-cf", "-", "--transform=s,^,run-secrets/,", "token"]);
    const snapshot = await snapshotOf(engine, ["web"], { ...api, files: { web: tar.toString("base64") } });
    await remove("web");
    expect(writeExport(snapshot, { format: "script", with_secrets: false })).toContain("files were put into it");
    const script = writeExport(snapshot, { format: "script", with_secrets: true });
    expect(await runScript(engine, script, { cli })).toMatchObject({ code: 0 });
    const found = execFileSync(cli, ["exec", "web", "cat", "/run-secrets/token"], {
      env: { DOCKER_HOST: engine.address, PATH: process.env.PATH },
    });
    expect(String(found)).toBe(hostile);
    expect(comparable(await inspectContainer(engine, "web"), "script")).toEqual(comparable(before, "script"));
  });

  test.each([{ shell: ["bash", "--posix"] }, { shell: ["busybox", "sh"] }, { shell: ["bash"] }])(
    "the script runs in $shell",
    async ({ shell }) => {
      const before = await begin("web", { Env: [`HOSTILE=${hostile}`], Labels: { hostile } });
      const script = writeExport(await snapshotOf(engine, ["web"], api), { format: "script", with_secrets: true });
      await remove("web");
      expect(await runScript(engine, script, { cli, shell })).toMatchObject({ code: 0 });
      expect(comparable(await inspectContainer(engine, "web"), "script")).toEqual(comparable(before, "script"));
      expect(existsSync(`${folder}/executed`)).toBe(false);
    },
  );

  test("networks and volumes that are gone are made again, with the subnet that a fixed address needs", async () => {
    await engine.call("POST", "/networks/create", { Name: "lost", IPAM: { Config: [{ Subnet: "10.99.9.0/24" }] } });
    const EndpointsConfig = { lost: { IPAMConfig: { IPv4Address: "10.99.9.77" } } };
    await begin("web", {
      HostConfig: { NetworkMode: "lost", Binds: ["lost-data:/d"] },
      NetworkingConfig: { EndpointsConfig },
    });
    const script = writeExport(await snapshotOf(engine, ["web"], api), { format: "script", with_secrets: true });
    await remove("web");
    await engine.call("DELETE", "/networks/lost");
    await engine.call("DELETE", "/volumes/lost-data");
    const result = await runScript(engine, script, { cli });
    expect(result).toMatchObject({ code: 0 });
    expect(result.out).toContain("The volume lost-data is not here: an EMPTY one is created");
    const after = await inspectContainer(engine, "web");
    expect(objectAt(after.NetworkSettings).Networks).toMatchObject({ lost: { IPAddress: "10.99.9.77" } });
  });
}
