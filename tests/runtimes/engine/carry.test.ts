import { describe, expect, test } from "bun:test";
import { attachments, blueprint, createBody, linkForCreate } from "../../../src/runtimes/engine/carry.ts";
import { differences } from "../../../src/runtimes/engine/compare.ts";
import { planHash } from "../../../src/runtimes/engine/container-plan.ts";
import { fieldDiffs } from "../../../src/runtimes/engine/diff.ts";
import type { RawObject } from "../../../src/runtimes/engine/raw.ts";
import { containerInspect, imageInspect } from "./inspect.ts";

const newId = "2e".repeat(32);

function shapeOf(container: RawObject = {}, newImage: RawObject = {}, apiVersion = "1.41") {
  const inherited = new Set<string>();
  const next = imageInspect({ Id: `sha256:${"b".repeat(64)}`, ...newImage });
  const input = { oldImage: imageInspect(), newImage: next, reference: "app:2", inherited, apiVersion };
  return blueprint({ container: containerInspect(container), ...input });
}

describe("blueprint()", () => {
  test("leaves out the hostname that comes from the id, and keeps a chosen one", () => {
    expect(shapeOf().config).toMatchObject({ Hostname: "", Image: "app:2" });
    expect(shapeOf({ Config: { Hostname: "chosen" } }).config).toMatchObject({ Hostname: "chosen" });
  });

  test("keeps a chosen hostname with which the id happens to begin", () => {
    expect(shapeOf({ Config: { Hostname: "1f" } }).config).toMatchObject({ Hostname: "1f" });
  });

  test.each([{ NetworkMode: "container:abc" }, { UTSMode: "host" }])("gives no hostname with %p", (hostConfig) => {
    const shape = shapeOf({ Config: { Hostname: "of-another", Domainname: "example.test" }, HostConfig: hostConfig });
    expect(shape.config).toMatchObject({ Hostname: "", Domainname: "" });
  });

  test("drops the labels of an earlier run and keeps every other", () => {
    const Labels = { "tidemark.run": "before", "tidemark.previous": "x", mine: "1" };
    expect(shapeOf({ Config: { Labels } }).config.Labels).toEqual({ mine: "1" });
  });

  test("rewrites compose's image label in the kind of id that it had", () => {
    const label = (value: string) => ({ Config: { Labels: { "com.docker.compose.image": value } } });
    const oldImageId = `sha256:${"a".repeat(64)}`;
    const byId = shapeOf(label(oldImageId)).config.Labels;
    expect(byId).toEqual({ "com.docker.compose.image": `sha256:${"b".repeat(64)}` });
    const manifests = [
      { Kind: "attestation", Available: true, ID: "sha256:no" },
      { Kind: "image", Available: false, ID: "sha256:other-platform" },
      { Kind: "image", Available: true, ID: "sha256:new-manifest" },
    ];
    const byManifest = shapeOf(
      { ...label("sha256:old-manifest"), ImageManifestDescriptor: { digest: "sha256:old-manifest" } },
      { Manifests: manifests },
    ).config.Labels;
    expect(byManifest).toEqual({ "com.docker.compose.image": "sha256:new-manifest" });
  });

  test("keeps a published port exposed, though only the old image had exposed it", () => {
    const ports = { "80/tcp": {}, "81/tcp": {} };
    const oldImage = imageInspect({ Config: { ExposedPorts: ports } });
    const container = containerInspect({
      Config: { ExposedPorts: ports },
      HostConfig: { PortBindings: { "80/tcp": [{ HostPort: "8080" }] } },
    });
    const newImage = imageInspect({ Config: { ExposedPorts: { "8080/tcp": {} } } });
    const inherited = new Set<string>();
    const shape = blueprint({ container, oldImage, newImage, reference: "app:2", inherited, apiVersion: "1.41" });
    expect(shape.config.ExposedPorts).toEqual({ "80/tcp": {}, "8080/tcp": {} });
  });

  test("names anonymous volumes, wherever they come from, and touches nothing else", () => {
    const shape = shapeOf({
      HostConfig: {
        Binds: ["/anonymous-bind", "/host:/a:ro", "/host:/b"],
        Mounts: [
          { Type: "volume", Target: "/anonymous-mount" },
          { Type: "tmpfs", Target: "/t" },
        ],
      },
      Mounts: [
        { Type: "volume", Name: "v1", Destination: "/of-image", RW: true },
        { Type: "volume", Name: "v2", Destination: "/anonymous-bind", RW: true },
        { Type: "volume", Name: "v3", Destination: "/anonymous-mount", RW: true },
        { Type: "bind", Source: "/host", Destination: "/a", RW: false },
        { Type: "bind", Source: "/host", Destination: "/b", RW: true },
      ],
    });
    expect(shape.host_config).toMatchObject({
      Binds: ["v2:/anonymous-bind", "/host:/a:ro", "/host:/b"],
      Mounts: [
        { Type: "volume", Target: "/anonymous-mount", Source: "v3" },
        { Type: "tmpfs", Target: "/t" },
        { Type: "volume", Source: "v1", Target: "/of-image" },
      ],
    });
  });

  test("finds anonymous volumes by their path, whatever way it was written", () => {
    const shape = shapeOf({
      HostConfig: { Binds: ["/up/../a/"], Mounts: [{ Type: "volume", Target: "/x/./b/" }] },
      Mounts: [
        { Type: "volume", Name: "v1", Destination: "/a", RW: true },
        { Type: "volume", Name: "v2", Destination: "/x/b", RW: true },
      ],
    });
    expect(shape.host_config).toMatchObject({
      Binds: ["v1:/up/../a/"],
      Mounts: [{ Type: "volume", Target: "/x/./b/", Source: "v2" }],
    });
  });

  test("names an anonymous volume by its folder where the engine leaves its name out", () => {
    const Source = "/var/lib/docker/volumes/0e52db6e30e5/_data";
    const shape = shapeOf({
      HostConfig: { Binds: ["/a"] },
      Mounts: [{ Type: "volume", Name: "", Driver: "local", Source, Destination: "/a", RW: true }],
    });
    expect(shape.host_config).toMatchObject({ Binds: ["0e52db6e30e5:/a"] });
  });

  test("leaves to volumes_from what comes from there", () => {
    const container = containerInspect({
      HostConfig: { VolumesFrom: ["other"] },
      Mounts: [{ Type: "volume", Name: "v", Destination: "/theirs", RW: true }],
    });
    const shape = blueprint({
      container,
      oldImage: imageInspect(),
      newImage: imageInspect(),
      reference: "app:2",
      inherited: new Set(["/theirs"]),
      apiVersion: "1.41",
    });
    expect(shape.host_config.Mounts).toBeUndefined();
    expect(shape.mounts).toEqual([]);
  });

  test("carries host settings that nobody here knows", () => {
    expect(shapeOf({ HostConfig: { FutureSetting: { deep: [1] } } }).host_config.FutureSetting).toEqual({
      deep: [1],
    });
  });
});

describe("createBody()", () => {
  test("names one network, the run, and the restart policy that the container is to end with", () => {
    const networks = { front: { NetworkID: "f", Aliases: ["web", "1f1f1f1f1f1f"] }, back: { NetworkID: "b" } };
    const shape = shapeOf({ HostConfig: { NetworkMode: "front" }, NetworkSettings: { Networks: networks } });
    const body = createBody(shape, {}, { "tidemark.run": "r" }, "1.41");
    expect(body.NetworkingConfig).toEqual({ EndpointsConfig: { front: { Aliases: ["web"] } } });
    expect(body.HostConfig).toMatchObject({ RestartPolicy: { Name: "always" } });
    expect(body.Labels).toEqual({ "tidemark.run": "r" });
    expect(shape.restart_policy).toMatchObject({ Name: "always" });
  });

  test.each(["host", "none", "container:abc"])("attaches nothing in the network mode %s", (mode) => {
    const shape = shapeOf({ HostConfig: { NetworkMode: mode }, NetworkSettings: { Networks: { [mode]: {} } } });
    expect(createBody(shape, {}, {}, "1.41").NetworkingConfig).toBeUndefined();
  });

  test("leaves exposed ports to the image where another's network is shared, as the engine refuses them", () => {
    const ports = { "80/tcp": {} };
    const container = { Config: { ExposedPorts: ports }, HostConfig: { NetworkMode: "container:abc" } };
    const shape = shapeOf(container, { Config: { ExposedPorts: ports } });
    expect(createBody(shape, { ExposedPorts: ports }, {}, "1.41").ExposedPorts).toBeUndefined();
    const alone = shapeOf({ Config: { ExposedPorts: ports } });
    expect(createBody(alone, {}, {}, "1.41").ExposedPorts).toEqual(ports);
  });

  test("knows the network of a mode that is an id, though a container that never ran does not show it", () => {
    const id = "9c".repeat(32);
    const endpoint = { NetworkID: "", Aliases: ["web"] };
    const container = {
      HostConfig: { NetworkMode: id },
      NetworkSettings: { Networks: { bridge: null, front: endpoint } },
    };
    const shape = shapeOf(container);
    const only = { ...shape, attachments: shape.attachments.filter((each) => each.network === "front") };
    expect(createBody(only, {}, {}, "1.41").NetworkingConfig).toEqual({
      EndpointsConfig: { front: { Aliases: ["web"] } },
    });
  });

  test("puts a chosen MAC address where the version of the API wants it", () => {
    const chosen = { Config: { MacAddress: "02:42:aa:bb:cc:dd" } };
    expect(createBody(shapeOf(chosen), {}, {}, "1.41").MacAddress).toBe("02:42:aa:bb:cc:dd");
    const newer = createBody(shapeOf(chosen, {}, "1.44"), {}, {}, "1.44");
    expect(newer.MacAddress).toBeUndefined();
    expect(newer.NetworkingConfig).toEqual({
      EndpointsConfig: { bridge: { MacAddress: "02:42:aa:bb:cc:dd" } },
    });
  });
});

describe("attachments()", () => {
  const endpoint = {
    NetworkID: "n",
    EndpointID: "e",
    Gateway: "10.0.0.1",
    IPAddress: "10.0.0.7",
    MacAddress: "02:42:0a:00:00:07",
    DNSNames: ["web"],
    IPAMConfig: { IPv4Address: "10.0.0.7" },
    DriverOpts: { a: "b" },
    GwPriority: 5,
    Aliases: ["web", "1f1f1f1f1f1f"],
  };
  const container = (change: RawObject = {}) =>
    containerInspect({
      HostConfig: { NetworkMode: "n" },
      NetworkSettings: { Networks: { n: { ...endpoint, ...change } } },
    });

  test("keeps configuration, known or not, and drops what is made at start", () => {
    const carried = {
      IPAMConfig: { IPv4Address: "10.0.0.7" },
      DriverOpts: { a: "b" },
      GwPriority: 5,
      Aliases: ["web"],
    };
    expect(attachments(container(), "1.41")).toContainEqual({ network: "n", network_id: "n", endpoint: carried });
    expect(attachments(container(), "1.48")).toContainEqual({ network: "n", network_id: "n", endpoint: carried });
  });

  test.each([
    ["1.41", "n", undefined, "de:ad:be:ef:00:01", undefined],
    // The container's own word is the last: up to 1.51 in its inspect, later only where an older version was asked as well.
    ["1.48", "n", undefined, "de:ad:be:ef:00:01", undefined],
    ["1.48", "n", "02:42:0a:00:00:07", "02:42:0a:00:00:07", "02:42:0a:00:00:07"],
    ["1.56", "n", "", "de:ad:be:ef:00:01", undefined],
    ["1.56", "n", "02:42:0a:00:00:07", "", "02:42:0a:00:00:07"],
    ["1.56", "n", undefined, "de:ad:be:ef:00:01", "de:ad:be:ef:00:01"],
    // Engines look the network up by what the mode says, which finds nothing for an id.
    ["1.56", "c0ffee".repeat(10), "", "de:ad:be:ef:00:01", "de:ad:be:ef:00:01"],
    // Of another network nobody says it: what was derived from the IP address was not chosen, anything else may have been.
    ["1.56", "other", "", "de:ad:be:ef:00:01", "de:ad:be:ef:00:01"],
    ["1.56", "other", "02:42:aa:bb:cc:dd", "02:42:0a:00:00:07", undefined],
  ])("API %s, network %s, chosen %p, found %p: carries %p", (api, mode, chosen, MacAddress, carried) => {
    const config = chosen === undefined ? {} : { Config: { MacAddress: chosen } };
    const networks = { n: { ...endpoint, MacAddress }, other: { NetworkID: "o" } };
    const inspect = containerInspect({
      ...config,
      HostConfig: { NetworkMode: mode },
      NetworkSettings: { Networks: networks },
    });
    const found = attachments(inspect, api).find((each) => each.network === "n");
    expect(found?.endpoint.MacAddress).toBe(carried);
  });
});

test.each([
  ["/db:/web/database", "db:database"],
  ["db:database", "db:database"],
  ["/db", "db"],
])("linkForCreate() turns %s into %s", (link, text) => {
  expect(linkForCreate(link)).toBe(text);
});

describe("differences()", () => {
  const shape = shapeOf({ Config: { Env: ["A=1"], Labels: { mine: "1" } } });
  const faithful: RawObject = {
    Id: newId,
    Image: `sha256:${"b".repeat(64)}`,
    Config: {
      Hostname: newId.slice(0, 12),
      Image: "app:2",
      Env: ["A=1"],
      Cmd: ["serve"],
      Labels: { mine: "1", "tidemark.run": "r" },
    },
    HostConfig: { RestartPolicy: { Name: "no" } },
    NetworkSettings: { Networks: { bridge: { NetworkID: "", Aliases: null } } },
  };

  test("finds none in what an engine makes of its blueprint", () => {
    expect(differences(shape, containerInspect(faithful))).toEqual([]);
  });

  test.each([
    ["Image", { Image: "sha256:other" }],
    ["Config.Env", { Config: { ...(faithful.Config as RawObject), Env: ["A=2"] } }],
    ["Config.Labels", { Config: { ...(faithful.Config as RawObject), Labels: {} } }],
    ["Config.Tty", { Config: { ...(faithful.Config as RawObject), Tty: true } }],
    ["Config.Hostname", { Config: { ...(faithful.Config as RawObject), Hostname: "other" } }],
    ["HostConfig.Binds", { HostConfig: { Binds: ["/etc:/etc"] } }],
    ["HostConfig.Privileged", { HostConfig: { Privileged: true } }],
    ["HostConfig.FutureSetting", { HostConfig: { FutureSetting: 1 } }],
    ["Networks.extra", { NetworkSettings: { Networks: { bridge: {}, extra: {} } } }],
    ["Networks.bridge", { NetworkSettings: { Networks: { bridge: { IPAMConfig: { IPv4Address: "10.0.0.1" } } } } }],
    ["Mounts./x", { Mounts: [{ Type: "volume", Name: "v", Destination: "/x", RW: true }] }],
  ])("names %s when it differs", (path, change) => {
    const found = differences(shape, containerInspect({ ...faithful, ...change }));
    expect(found.map((each) => each.path)).toEqual([path]);
  });

  test("compares a chosen MAC address with its network, wherever the engine shows it", () => {
    const mac = "02:42:aa:bb:cc:dd";
    const networks = (MacAddress: string) => ({ Networks: { bridge: { NetworkID: "", MacAddress } } });
    const chosen = shapeOf({ Config: { Env: ["A=1"], Labels: { mine: "1" }, MacAddress: mac } }, {}, "1.56");
    const found = (address: string, Config: RawObject) =>
      differences(chosen, containerInspect({ ...faithful, Config, NetworkSettings: networks(address) }));
    expect(found(mac, faithful.Config as RawObject)).toEqual([]);
    expect(found(mac, { ...(faithful.Config as RawObject), MacAddress: mac })).toEqual([]);
    expect(found("", faithful.Config as RawObject).map((each) => each.path)).toEqual(["Networks.bridge"]);
  });

  test("takes the default network by either of its names, as engines write it down differently", () => {
    expect(differences(shape, containerInspect({ ...faithful, HostConfig: { NetworkMode: "bridge" } }))).toEqual([]);
  });

  test("takes no alias for a difference that the engine adds, and misses one that it drops", () => {
    const networks = (aliases: readonly string[]) => ({ Networks: { bridge: { NetworkID: "", Aliases: aliases } } });
    const aliased = shapeOf({
      Config: { Hostname: "chosen", Env: ["A=1"], Labels: { mine: "1" } },
      NetworkSettings: networks(["web"]),
    });
    const found = (aliases: readonly string[]) => {
      const Config = { ...(faithful.Config as RawObject), Hostname: "chosen" };
      return differences(aliased, containerInspect({ ...faithful, Config, NetworkSettings: networks(aliases) }));
    };
    expect(found(["web", newId.slice(0, 12), "chosen"])).toEqual([]);
    expect(found(["chosen"]).map((each) => each.path)).toEqual(["Networks.bridge"]);
    expect(found(["web", "stranger"]).map((each) => each.path)).toEqual(["Networks.bridge"]);
  });

  test("knows a volume without a name by its folder, and an image by its name", () => {
    const mounts = (folder: string) => [
      { Type: "volume", Name: "", Driver: "local", Source: `/v/volumes/${folder}/_data`, Destination: "/a", RW: true },
      { Type: "image", Name: "app:1", Source: `/overlay/${folder}/merged`, Destination: "/b", RW: false },
    ];
    const shape = shapeOf({
      Config: { Env: ["A=1"], Labels: { mine: "1" } },
      HostConfig: { Binds: ["/a"] },
      Mounts: mounts("one"),
    });
    const found = (folder: string) =>
      differences(shape, containerInspect({ ...faithful, HostConfig: { Binds: ["one:/a"] }, Mounts: mounts(folder) }));
    expect(found("one")).toEqual([]);
    expect(found("two").map((each) => each.path)).toEqual(["Mounts./a"]);
  });

  test("compares nothing of a check that is switched off but that it is", () => {
    const off = (more: RawObject) => ({
      Env: ["A=1"],
      Labels: { mine: "1" },
      Healthcheck: { Test: ["NONE"], ...more },
    });
    const shape = shapeOf({ Config: off({}) });
    const Config = { ...(faithful.Config as RawObject), ...off({ Interval: 9 }) };
    expect(differences(shape, containerInspect({ ...faithful, Config }))).toEqual([]);
  });

  test("names a setting that was lost", () => {
    const limited = shapeOf({
      Config: { Env: ["A=1"], Labels: { mine: "1" } },
      HostConfig: { Memory: 5, MaskedPaths: [] },
    });
    const found = differences(limited, containerInspect({ ...faithful, HostConfig: { MaskedPaths: ["/proc/kcore"] } }));
    expect(found.map((each) => each.path)).toEqual(["HostConfig.MaskedPaths", "HostConfig.Memory"]);
  });
});

describe("fieldDiffs()", () => {
  const diffsOf = (container: RawObject, newImage: RawObject) =>
    fieldDiffs("main", containerInspect(container), shapeOf(container, newImage));

  test("shows the desired image first, and what its defaults change", () => {
    const found = diffsOf(
      { Config: { Cmd: ["serve"], Env: ["A=1"] } },
      { Config: { Cmd: ["serve", "--new"], Env: ["B=2"] } },
    );
    expect(found).toEqual([
      { service: "main", path: "Image", before: "app:1", after: "app:2", because: "desired" },
      { service: "main", path: "Cmd", before: '["serve"]', after: '["serve","--new"]', because: "image" },
      { service: "main", path: "Env.B", before: null, after: "2", because: "image" },
    ]);
  });

  test("masks Podman's command line, which repeats the variables", () => {
    const commandOf = (value: string) => ({
      Config: { CreateCommand: ["podman", "run", "-e", `A=${value}`, "app:1"] },
    });
    const found = fieldDiffs("main", containerInspect(commandOf("hunter2")), shapeOf(commandOf("letmein")));
    expect(found.find(({ path }) => path === "CreateCommand")).toMatchObject({
      before: "••••",
      after: "•••• (differs)",
    });
    expect(JSON.stringify(found)).not.toMatch(/hunter2|letmein/);
  });

  test.each([
    "DB_PASSWORD",
    "API_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "STRIPE_KEY",
    "GPG_PASSPHRASE",
    "SESSION_COOKIE",
    "MYSQL_PWD",
  ])("masks the value of %s and says that it differs", (name) => {
    const [, found] = fieldDiffs(
      "main",
      containerInspect({ Config: { Cmd: ["serve"], Env: [`${name}=old-value`] } }),
      blueprint({
        container: containerInspect({ Config: { Cmd: ["serve"], Env: [`${name}=old-value`] } }),
        oldImage: imageInspect({ Config: { Env: [`${name}=old-value`] } }),
        newImage: imageInspect({ Config: { Env: [`${name}=new-value`] } }),
        reference: "app:2",
        inherited: new Set(),
        apiVersion: "1.41",
      }),
    );
    expect(found).toMatchObject({ path: `Env.${name}`, before: "••••", after: "•••• (differs)" });
  });

  test("masks what a volume's driver is told, and the values of options of a command that are called like secrets", () => {
    const volume = (options: string) => ({
      Type: "volume",
      Source: "nas",
      Target: "/media",
      VolumeOptions: { DriverConfig: { Name: "local", Options: { type: "cifs", o: options } } },
    });
    const before = {
      Config: { Cmd: ["redis-server", "--requirepass", "hunter2", "--token=letmein", "--port", "6379"] },
      HostConfig: { Mounts: [volume("username=u,password=hunter2")] },
    };
    const after = {
      Config: { Cmd: ["redis-server", "--requirepass", "letmein", "--port", "6380"] },
      HostConfig: { Mounts: [volume("username=u,password=letmein"), { ...volume("ro"), Target: "/more" }] },
    };
    const found = JSON.stringify(fieldDiffs("main", containerInspect(before), shapeOf(after)));
    expect(found).not.toMatch(/hunter2|letmein/);
    expect(found).toContain("6380");
    expect(found).toContain("/more");
  });

  test("masks a password inside a URL, whatever the variable is called", () => {
    const found = diffsOf({ Config: { Cmd: ["serve"] } }, { Config: { Env: ["UPSTREAM=postgres://me:hunter2@db/x"] } });
    expect(JSON.stringify(found)).not.toContain("hunter2");
  });

  test("bounds a long value", () => {
    const found = diffsOf({ Config: { Cmd: ["serve"] } }, { Config: { Env: [`LONG=${"x".repeat(9000)}`] } });
    expect(found.at(-1)?.after?.length).toBe(500);
  });
});

describe("planHash()", () => {
  const volume = { Type: "volume", Name: "e".repeat(64), Destination: "/b", RW: true };
  const found = (change: RawObject = {}) => containerInspect({ Mounts: [volume], ...change });
  const base = planHash(found(), "1.41", { reference: "app:2" });

  test.each([
    ["a restart", { State: { StartedAt: "2026-02-02T00:00:00Z", Pid: 7 }, RestartCount: 3 }],
    ["another address from the pool", { NetworkSettings: { Networks: { bridge: { IPAddress: "172.17.0.9" } } } }],
    ["another order of keys", { HostConfig: { Binds: [], NetworkMode: "default" } }],
    ["being made anew, equal", { Id: newId, Config: { Hostname: newId.slice(0, 12) } }],
    ["the labels of an earlier run", { Config: { Labels: { "tidemark.run": "x" } } }],
  ])("stays the same after %s", (_what, change) => {
    expect(planHash(found(change), "1.41", { reference: "app:2" })).toBe(base);
  });

  test.each([
    ["a variable", { Config: { Env: ["A=1"] } }],
    ["a label", { Config: { Labels: { a: "1" } } }],
    ["a host setting", { HostConfig: { Memory: 1 } }],
    ["the restart policy", { HostConfig: { RestartPolicy: { Name: "no" } } }],
    ["a network", { NetworkSettings: { Networks: { more: {} } } }],
    ["a mount", { Mounts: [{ Type: "bind", Source: "/a", Destination: "/b", RW: true }] }],
    ["a new anonymous volume", { Mounts: [{ ...volume, Name: "f".repeat(64) }] }],
    ["the image", { Image: "sha256:other" }],
    ["being stopped", { State: { Running: false, Status: "exited" } }],
  ])("changes with %s", (_what, change) => {
    expect(planHash(found(change), "1.41", { reference: "app:2" })).not.toBe(base);
  });

  test("changes with what is desired", () => {
    expect(planHash(found(), "1.41", { reference: "app:3" })).not.toBe(base);
  });
});
