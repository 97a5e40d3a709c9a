import { expect, test } from "bun:test";
import { sceneOf } from "../../../../src/runtimes/engine/container-plan.ts";
import { targetIn } from "../../../../src/runtimes/engine/group/target.ts";
import { planTarget } from "../../../../src/runtimes/engine/group/target-plan.ts";
import type { PlanOptions } from "../../../../src/runtimes/plan.ts";
import { testClient } from "../../../support/engine-client.ts";
import { containerInspect, imageInspect } from "../inspect.ts";

const labelsOf = (service: string, dependsOn = "") => ({
  "com.docker.compose.project": "shop",
  "com.docker.compose.service": service,
  "com.docker.compose.container-number": "1",
  "com.docker.compose.depends_on": dependsOn,
});

async function planAfter(exitCode: number, options: PlanOptions = { start_first: false, drain_seconds: 0 }) {
  const migrate = containerInspect({
    Id: "1".repeat(64),
    Name: "/shop-migrate-1",
    State: { Status: "exited", Running: false, ExitCode: exitCode },
    Config: { Labels: labelsOf("migrate") },
    HostConfig: { RestartPolicy: { Name: "no", MaximumRetryCount: 0 } },
  });
  const web = containerInspect({
    Id: "2".repeat(64),
    Name: "/shop-web-1",
    Config: { Labels: labelsOf("web", "migrate:service_completed_successfully:false") },
  });
  const all = [migrate, web];
  const source = {
    client: testClient(() => null),
    apiVersion: "1.41",
    engine_platform: "linux/amd64",
    self: { hostname: "me", data_dir: "/data/tidemark" },
    address: { kind: "unix" as const, path: "/run/engine.sock" },
  };
  const found = targetIn(
    { all, sceneOf: async (container) => sceneOf(source, all, container, imageInspect()) },
    { kind: "compose", id: "shop" },
  );
  const change = { kind: "image" as const, service: "migrate", reference: "app:2", digest: null, image_config: null };
  const desired = async () => imageInspect({ Id: `sha256:${"b".repeat(64)}` });
  return (await planTarget(source.client, found, [change], options, desired)).plan;
}

test("a job that is run once from the new image is part of what was consented to", async () => {
  const [failed, ended] = [await planAfter(1), await planAfter(0)];
  expect(failed.warnings).toEqual([]);
  expect(ended.warnings.map(({ code }) => code)).toEqual(["job"]);
  expect(ended.hash).not.toBe(failed.hash);
  expect((await planAfter(0)).hash).toBe(ended.hash);
});

test("a plan that is made again from what it says of itself is the same one", async () => {
  for (const start_first of [false, true]) {
    const plan = await planAfter(0, { start_first, drain_seconds: 10 });
    expect(plan.drain_seconds).toBe(start_first ? 10 : 0);
    const again = await planAfter(0, { start_first, drain_seconds: plan.drain_seconds });
    expect(again.hash).toBe(plan.hash);
  }
});

test("how long both run is part of what was consented to", async () => {
  const of = async (drain_seconds: number) => (await planAfter(0, { start_first: true, drain_seconds })).hash;
  expect(await of(10)).not.toBe(await of(20));
});
