import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Cluster, clusterMissing, startCluster } from "../peers/kubernetes.ts";
import { type ApiFront, startApiFront } from "../support/api-front.ts";
import { openClusterSession } from "../support/cluster-session.ts";
import { makeManyWorkloads, manyNamespaces, manyWorkloads } from "../support/many-workloads.ts";
import { peerSuite } from "../support/peer.ts";

setDefaultTimeout(600_000);

/** More than this in one answer is a page that grows with the cluster. */
const mostPerPage = 500;

peerSuite("a large cluster", clusterMissing(), () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster();
    await makeManyWorkloads(cluster);
  });
  afterAll(async () => {
    await cluster?.stop();
  });

  const discover = async (front: ApiFront) => {
    await using session = await openClusterSession(front.url, cluster.admin.token, cluster.ca);
    return await session.discover();
  };
  const lists = ({ asked }: ApiFront) => asked.filter(({ path }) => path.startsWith("/apis/"));

  test("is listed by pages", async () => {
    const front = await startApiFront(cluster);
    const targets = await discover(front).finally(front.stop);
    const ids = new Set(targets.map(({ ref }) => `${ref.kind} ${ref.id}`));
    expect([targets.length, ids.size]).toEqual([manyWorkloads, manyWorkloads]);
    expect(new Set(targets.map(({ ref }) => ref.id.split("/")[0])).size).toBe(manyNamespaces);
    const limits = lists(front).map(({ query }) => Number(query.get("limit")));
    expect(Math.max(...limits)).toBeLessThanOrEqual(mostPerPage);
    expect(Math.min(...limits)).toBeGreaterThan(0);
    expect(limits.length).toBeLessThanOrEqual(manyWorkloads / Math.min(...limits) + 4);
  });

  test("is listed whole, each workload once, although a list expires in its middle", async () => {
    const front = await startApiFront(cluster, async (count) => {
      if (count !== 3) return;
      // The newest revision is never forgotten: the list's own must not be it.
      await cluster.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "later" } }]);
      await cluster.stopApiServer();
      await cluster.compactEtcd();
      await cluster.startApiServer();
    });
    const targets = await discover(front).finally(front.stop);
    expect(lists(front).filter(({ status }) => status === 410)).toHaveLength(1);
    const ids = new Set(targets.map(({ ref }) => `${ref.kind} ${ref.id}`));
    expect([targets.length, ids.size]).toEqual([manyWorkloads, manyWorkloads]);
  });
});
