import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type WorkloadKind, workloadKinds } from "../../src/runtimes/kubernetes/workloads.ts";
import { type Cluster, clusterMissing, startCluster } from "../peers/kubernetes.ts";
import type { KubernetesObject } from "../peers/kubernetes-api.ts";
import { isWholeMatrix, killingLimitMs, pointsBy, repeated, rounds } from "../support/engine-modes.ts";
import { eventually } from "../support/eventually.ts";
import { killAtEach } from "../support/killed-runs.ts";
import { podAnswers, webDeployment, webWorkload } from "../support/kubernetes-objects.ts";
import { pushImage, serveHttp } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { type RealRuns, realRuns } from "../support/real-runs.ts";

setDefaultTimeout(120_000);

const namespace = "shop";
/** Two that serve, and one that ends at once. */
const versions = { old: "1.0.0", new: "1.1.0", crash: "1.2.0" } as const;
type Serving = Exclude<keyof typeof versions, "crash">;
const otherOf = { old: "new", new: "old" } as const;
const interrupted = "failed interrupted previous";
const succeeded = "succeeded null desired";
const failed = "failed unhealthy previous";

/** Workloads of real pods, updated by processes that end at any point. */
peerSuite("kill -9 of our process while it updates a workload", clusterMissing({ node: true }), () => {
  let cluster: Cluster;
  let world: RealRuns;
  let connection: string;
  let made = 0;

  beforeAll(async () => {
    cluster = await startCluster({ node: true });
    const serving = { cmd: serveHttp, files: { "/www/ready": "yes\n" } };
    await push("old", serving);
    await push("new", serving);
    await push("crash", { cmd: ["/bin/sh", "-c", "exit 3"] });
    world = await realRuns();
    await cluster.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
    connection = await world.connectCluster(
      { server: cluster.url, namespaces: namespace, stall_seconds: 10, helm: false },
      { token: cluster.admin.token, ca_certificate: cluster.ca },
    );
  });
  afterAll(async () => {
    await world?.close();
    await cluster?.stop();
  });

  const digests = new Map<string, string>();
  const push = async (version: keyof typeof versions, options: Parameters<typeof pushImage>[4]) => {
    const tag = versions[version];
    digests.set(tag, await pushImage(cluster.registry.url, null, "acme/app", tag, options));
  };
  const repository = () => `${cluster.registry.host}/acme/app`;
  const image = (version: keyof typeof versions) => `${repository()}:${versions[version]}`;
  const desired = (version: keyof typeof versions) => {
    const tag = versions[version];
    return { image: repository(), tag, digest: digests.get(tag) ?? "" };
  };
  /** Applies what makes the old version, and follows it. */
  const deploy = async (kind: WorkloadKind, make: (name: string) => KubernetesObject, settings = {}) => {
    made += 1;
    const name = `${kind}-${made}`;
    await cluster.apply([make(name)]);
    const path = `/apis/${kind === "cronjob" ? "batch" : "apps"}/v1/namespaces/${namespace}/${kind}s/${name}`;
    const read = () => cluster.request<{ metadata: { generation: number } }>("GET", path);
    const expectServing = async (version: Serving) => {
      expect(JSON.stringify(await read())).toContain(`"image":"${image(version)}"`);
      if (kind !== "cronjob") expect(await podAnswers(cluster, namespace, name)).toEqual([`${versions[version]}\n`]);
    };
    await eventually("the first pod", async () => await expectServing("old").then(() => true));
    const executor = await world.addExecutor({
      ...{ connection, target: { kind, id: `${namespace}/${name}` }, services: ["web"], desired: desired("new") },
      settings: { health_check: { strategy: "auto" }, allow_downgrade: true, ...settings },
    });
    const generation = async () => (await read()).metadata.generation;
    return { executor, expectServing, generation };
  };

  test.each(repeated(workloadKinds.map((kind, place) => ({ kind, first: 4 + place }))))(
    "at any point of an update of a $kind leaves one patch, and the run comes to its end",
    async ({ kind, first }) => {
      const make = (name: string) => webWorkload(kind, name, image("old"), { namespace, replicas: 1 });
      const { executor, expectServing, generation } = await deploy(kind, make);
      let version: Serving = "old";
      const ends = await killAtEach(world, executor, pointsBy(19, { first }), async () => {
        const before = await generation();
        const next = otherOf[version];
        return {
          desired: desired(next),
          judge: async ({ state, serving }) => {
            const patches = (await generation()) - before;
            // Before the patch a run ends as interrupted, or is begun again; afterwards it is followed to its end.
            const end = patches === 0 ? ["failed", "previous"] : ["succeeded", "desired"];
            expect([patches, state, serving]).toEqual([Math.min(patches, 1), ...end]);
            if (patches === 1) version = next;
            await expectServing(version);
          },
        };
      });
      expect(ends.at(-1)).toBe(succeeded);
      if (isWholeMatrix) expect(new Set(ends)).toEqual(new Set([interrupted, succeeded]));
    },
    killingLimitMs,
  );

  test.each(rounds)(
    "at any point of an update that is patched back leaves one patch there and one back, round %i",
    async () => {
      // The pods before stay until new ones are ready, so a short deadline only ends what fails.
      const make = (name: string) => webDeployment(name, image("old"), { namespace, replicas: 1, deadline: 2 });
      const { executor, expectServing, generation } = await deploy("deployment", make, { restore_on_failure: true });
      const ends = await killAtEach(world, executor, pointsBy(17, { first: 10 }), async () => {
        const before = await generation();
        return {
          desired: desired("crash"),
          judge: async ({ state, reason_code, serving }) => {
            const patches = (await generation()) - before;
            const reason = patches === 0 ? "interrupted" : "unhealthy";
            expect([patches, state, reason_code, serving]).toEqual([patches && 2, "failed", reason, "previous"]);
            await expectServing("old");
          },
        };
      });
      expect(ends.at(-1)).toBe(failed);
      if (isWholeMatrix) expect(new Set(ends)).toEqual(new Set([interrupted, failed]));
    },
    killingLimitMs,
  );

  test.each(rounds)(
    "at any point of a rollback to earlier images leaves one patch, and the run comes to its end, round %i",
    async () => {
      const make = (name: string) => webDeployment(name, image("old"), { namespace, replicas: 1 });
      const { executor, expectServing, generation } = await deploy("deployment", make);
      let version: Serving = "old";
      const ends = await killAtEach(world, executor, pointsBy(23, { first: 15 }), async () => {
        const [earlier, later] = [version, otherOf[version]];
        world.offer(executor, desired(later));
        const { id, state: updated } = await world.update(executor);
        expect(updated).toBe("succeeded");
        const before = await generation();
        return {
          input: { snapshot_id: await world.snapshotOf(id) },
          desired: desired(later),
          judge: async ({ kind, state, serving }) => {
            const patches = (await generation()) - before;
            const end = patches === 0 ? ["failed", "previous"] : ["succeeded", "desired"];
            expect([kind, patches, state, serving]).toEqual(["rollback", Math.min(patches, 1), ...end]);
            version = patches === 0 ? later : earlier;
            await expectServing(version);
          },
        };
      });
      expect(ends.at(-1)).toBe(succeeded);
      if (isWholeMatrix) expect(new Set(ends)).toEqual(new Set([interrupted, succeeded]));
    },
    killingLimitMs,
  );
});
