import { expect, test } from "bun:test";
import { unknownSettingsIn } from "../../../../src/executors/unknown-settings.ts";
import { plain } from "../../../../src/messages/message.ts";
import { sceneOf } from "../../../../src/runtimes/engine/container-plan.ts";
import { describeTarget } from "../../../../src/runtimes/engine/discover.ts";
import { targetIn } from "../../../../src/runtimes/engine/group/target.ts";
import { planTarget } from "../../../../src/runtimes/engine/group/target-plan.ts";
import { type TargetRef, untoldSettings } from "../../../../src/runtimes/target.ts";
import { testClient } from "../../../support/engine-client.ts";
import { english } from "../../../support/english.ts";
import { containerInspect, imageInspect } from "../inspect.ts";

// A container that lives in another one's network is recreated with it: what its engine does not report of it would be lost.
const untold = { code: untoldSettings, message: plain("Created through the API") };
const labelsOf = (service: string) => ({
  "com.docker.compose.project": "shop",
  "com.docker.compose.service": service,
  "com.docker.compose.container-number": "1",
});

async function look(ref: TargetRef, isSidecarMember: boolean) {
  const web = containerInspect({ Id: "1".repeat(64), Name: "/web", Config: { Labels: labelsOf("web") } });
  const sidecar = {
    ...containerInspect({
      Id: "2".repeat(64),
      Name: "/sidecar",
      Config: { Labels: isSidecarMember ? labelsOf("helper") : {} },
      HostConfig: { NetworkMode: `container:${web.Id}` },
    }),
    Warnings: [untold],
  };
  const all = [web, sidecar];
  const source = {
    client: testClient(() => null),
    apiVersion: "1.41",
    engine_platform: "linux/amd64",
    self: { hostname: "me", data_dir: "/data/tidemark" },
    address: { kind: "unix" as const, path: "/run/engine.sock" },
  };
  const found = targetIn({ all, sceneOf: async (each) => sceneOf(source, all, each, imageInspect()) }, ref);
  const service = ref.kind === "container" ? "main" : "web";
  const change = {
    kind: "image" as const,
    service: (await describeTarget(found)).services[0]?.name ?? service,
    reference: "app:2",
  };
  const desired = async () => imageInspect({ Id: `sha256:${"b".repeat(64)}` });
  const options = { start_first: false, drain_seconds: 0 };
  const { plan } = await planTarget(
    source.client,
    found,
    [{ ...change, digest: null, image_config: null }],
    options,
    desired,
  );
  const target = await describeTarget(found);
  return {
    seen: unknownSettingsIn(target.warnings).map(english),
    planned: unknownSettingsIn(plan.warnings).map(english),
  };
}

test.each([
  ["of a container", { kind: "container", id: "web" }, false, "sidecar"],
  ["outside of a group", { kind: "compose", id: "shop" }, false, "sidecar"],
  ["within a group", { kind: "compose", id: "shop" }, true, "helper"],
] as const)(
  "a dependant %s with settings that are not reported is named before an update",
  async (_what, ref, isMember, name) => {
    const messages = [`"${name}": ${english(untold.message)}`];
    // The words of the plan are those that the executor's page offers to accept.
    expect(await look(ref, isMember)).toEqual({ seen: messages, planned: messages });
  },
);
