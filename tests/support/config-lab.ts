import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestEngine } from "../peers/engine.ts";
import type { ConfigWorld, ContainerConfig, Json } from "./container-configs.ts";

/** Everything that a random configuration may refer to, on an engine of its own. */
export async function prepareEngine(engine: TestEngine, folder: string): Promise<ConfigWorld> {
  for (const each of ["one/sub", "two"]) mkdirSync(join(folder, each), { recursive: true });
  writeFileSync(join(folder, "file.txt"), "own = yes\n");
  await engine.importImage("lab/base:1", []);
  await engine.call("POST", "/containers/create?name=base", { Image: "lab/base:1" });
  for (const [name, config] of Object.entries(images)) {
    const query = new URLSearchParams({ container: "base", repo: "lab/configs", tag: name, pause: "0" });
    await engine.call("POST", `/commit?${query}`, config);
  }
  await engine.call("DELETE", "/containers/base");
  await engine.call("POST", "/containers/create?name=anchor", {
    Image: "lab/base:1",
    StopTimeout: 1,
    Volumes: { "/anchor-volume": {} },
    HostConfig: { IpcMode: "shareable", Binds: ["anchor-data:/shared", `${folder}/two:/anchor-bind:ro`] },
  });
  await engine.call("POST", "/containers/anchor/start");
  const networks = { front: "front", back: "back", six: "six" };
  const subnets = { front: ["10.98.1.0/24"], back: [], six: ["10.98.2.0/24", "fd00:98::/64"] };
  const network_ids: Record<string, string> = {};
  for (const [name, subnetsOfIt] of Object.entries(subnets)) {
    const Config = subnetsOfIt.map((Subnet) => ({ Subnet }));
    const made = await engine.call("POST", "/networks/create", {
      Name: name,
      EnableIPv6: name === "six",
      IPAM: { Config },
    });
    network_ids[name] = (made as { Id: string }).Id;
  }
  const { ApiVersion } = (await engine.call("GET", "/version")) as { ApiVersion: string };
  const tags = Object.keys(images).map((name) => `lab/configs:${name}`);
  return {
    api: Number(ApiVersion.split(".")[1]),
    folder,
    old_images: tags.filter((tag) => tag.includes("old")),
    new_images: tags.filter((tag) => tag.includes("new")),
    anchor: "anchor",
    networks,
    network_ids,
    mounted_image: "lab/base:1",
  };
}

const second = 1_000_000_000;

/** Old and new images with other defaults: some bring what others do not have. All of them run. */
const images: Readonly<Record<string, Json>> = {
  "old-plain": { Env: ["APP_VERSION=1.0.0"], Labels: { version: "1.0.0" } },
  "old-rich": {
    Env: ["APP_VERSION=1.0.0", "MODE=development", "OLD_ONLY=1"],
    Labels: { version: "1.0.0", kept: "same", own: "of the image" },
    User: "0",
    WorkingDir: "/srv/app",
    StopSignal: "SIGINT",
    ExposedPorts: { "80/tcp": {}, "5000/tcp": {} },
    Volumes: { "/data": {}, "/old-data": {} },
    Healthcheck: { Test: ["CMD", "/bin/true"], Interval: 7 * second, Retries: 3 },
    OnBuild: ["RUN true"],
    Shell: ["/bin/ash", "-c"],
    Tty: true,
    OpenStdin: true,
    StopTimeout: 42,
    Domainname: "example.test",
  },
  "old-entry": {
    Env: ["APP_VERSION=1.0.0", "EMPTY="],
    Entrypoint: ["/bin/busybox", "sh"],
    Cmd: ["-c", "trap exit TERM; while :; do sleep 1 & wait; done"],
    Healthcheck: { Test: ["NONE"] },
  },
  "new-plain": { Env: ["APP_VERSION=2.0.0"], Labels: { version: "2.0.0" } },
  "new-rich": {
    Env: ["APP_VERSION=2.0.0", "MODE=staging", "NEW_ONLY=1", "UNSET_ME=x"],
    Labels: { version: "2.0.0", kept: "same", brought: "by the new" },
    User: "0:0",
    WorkingDir: "/srv/new",
    StopSignal: "SIGTERM",
    ExposedPorts: { "80/tcp": {}, "7000/tcp": {} },
    Volumes: { "/data": {}, "/new-data": {} },
    Healthcheck: {
      Test: ["CMD", "/bin/busybox", "true"],
      Interval: 9 * second,
      Timeout: 5 * second,
      StartPeriod: second,
    },
    Shell: ["/bin/sh", "-e"],
    StopTimeout: 1,
  },
  "new-entry": {
    Env: ["APP_VERSION=2.0.0"],
    Entrypoint: ["/bin/sh"],
    Cmd: ["-c", "trap 'exit 0' TERM; while :; do sleep 1 & wait; done"],
    Volumes: { "/cache": {} },
    Healthcheck: { Test: ["NONE"] },
  },
};

/** With the MAC address that was chosen, which later versions of the API than 1.51 no longer tell. */
export async function inspectWhole(engine: TestEngine, name: string): Promise<Json> {
  const inspect = (await engine.call("GET", `/containers/${name}/json`)) as Json;
  if (engine.mode === "docker-20") return inspect;
  const older = (await engine.call("GET", `/v1.51/containers/${name}/json`)) as Json;
  const { MacAddress = "" } = older.Config as Json;
  return { ...inspect, Config: { ...(inspect.Config as Json), MacAddress } };
}

/** As a person would by the API: created, connected, and started where it is to start. */
export async function createConfigured(engine: TestEngine, name: string, config: ContainerConfig): Promise<void> {
  await engine.call("POST", `/containers/create?name=${name}`, config.body);
  for (const { network, endpoint } of config.connects) {
    await engine.call("POST", `/networks/${network}/connect`, { Container: name, EndpointConfig: endpoint });
  }
  // One that the kernel or the runtime refuses to start is a stopped container, whose settings count all the same.
  if (!config.is_to_start) return;
  await engine.call("POST", `/containers/${name}/start`).catch(() => undefined);
  if (config.is_to_stop) await engine.call("POST", `/containers/${name}/stop?t=0`);
}
