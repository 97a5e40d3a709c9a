import * as v from "valibot";
import { ContainerInspect, ImageInspect } from "../../../src/runtimes/engine/objects.ts";
import { isObject, type RawObject } from "../../../src/runtimes/engine/raw.ts";

const oldId = "1f".repeat(32);

/** A container's inspect as engine 20.10 writes it, with what a test changes laid over it, objects member by member. */
export function containerInspect(change: RawObject = {}): ContainerInspect {
  const whole: RawObject = {
    Id: oldId,
    Name: "/web",
    Image: `sha256:${"a".repeat(64)}`,
    RestartCount: 0,
    State: { Status: "running", Running: true, ExitCode: 0, StartedAt: "2026-01-05T12:00:00.5Z" },
    Config: {
      Hostname: oldId.slice(0, 12),
      Domainname: "",
      User: "",
      Image: "app:1",
      Cmd: ["serve"],
      Env: [],
      Labels: {},
    },
    HostConfig: { NetworkMode: "default", RestartPolicy: { Name: "always", MaximumRetryCount: 0 }, Binds: null },
    NetworkSettings: { Networks: { bridge: { NetworkID: "n1", IPAddress: "172.17.0.2", Aliases: null } } },
    Mounts: [],
  };
  return v.parse(ContainerInspect, overlaid(whole, change));
}

export function imageInspect(change: RawObject = {}): ImageInspect {
  const whole: RawObject = {
    Id: `sha256:${"a".repeat(64)}`,
    RepoTags: ["app:1"],
    RepoDigests: [`app@sha256:${"d".repeat(64)}`],
    Os: "linux",
    Architecture: "amd64",
    Config: { Env: [], Cmd: ["serve"] },
  };
  return v.parse(ImageInspect, overlaid(whole, change));
}

/** `undefined` takes a member away. */
function overlaid(below: RawObject, above: RawObject): RawObject {
  const entries = Object.entries(above).map(([key, value]) => {
    const under = below[key];
    return [key, isObject(under) && isObject(value) ? overlaid(under, value) : value] as const;
  });
  const all = Object.entries({ ...below, ...Object.fromEntries(entries) });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}
