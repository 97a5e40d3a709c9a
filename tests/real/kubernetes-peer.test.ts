import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { type Cluster, clusterMissing, startCluster } from "../peers/kubernetes.ts";
import { type Deployment, isRolledOut, type Pod, podAnswers, webDeployment } from "../support/kubernetes-objects.ts";
import { peerSuite } from "../support/peer.ts";

const deployments = "/apis/apps/v1/namespaces/shop/deployments";
const pods = "/api/v1/namespaces/shop/pods";

/** What the machine has of a cluster: processes, mounts, links and control groups, each as text. */
function tracesOf({ folder, bridge }: Pick<Cluster, "folder" | "bridge">): string[] {
  const processes = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(`${folder}/`));
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const groups = readdirSync("/sys/fs/cgroup").map((name) => `/sys/fs/cgroup/${name}/${bridge}`);
  const links = `/sys/class/net/${bridge}/brif`;
  return [
    ...processes.map((pid) => `process ${pid}: ${commandOf(pid)}`),
    ...mounts.filter((line) => line.includes(folder)).map((line) => `mount ${line}`),
    ...[folder, `/sys/class/net/${bridge}`, ...groups].filter((path) => existsSync(path)),
    ...(existsSync(links) ? readdirSync(links).map((name) => `/sys/class/net/${name}`) : []),
  ];
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return ""; // It is gone.
  }
}

peerSuite("a real Kubernetes cluster", clusterMissing({ node: true }), () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster({ node: true });
    await cluster.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }]);
  }, 120_000);
  afterAll(() => cluster.stop());

  const answers = (app: string) => podAnswers(cluster, "shop", app);

  test("rolls a deployment out to real pods, which answer in the new version after a patch", async () => {
    await cluster.apply([webDeployment("web", cluster.image("1"), { namespace: "shop" })]);
    await cluster.waitFor<Deployment>(`${deployments}/web`, (found) => isRolledOut(found));
    expect(await answers("web")).toEqual(["1\n", "1\n"]);
    const spec = { template: { spec: { containers: [{ name: "web", image: cluster.image("2") }] } } };
    await cluster.request("PATCH", `${deployments}/web`, { spec }, { type: "application/strategic-merge-patch+json" });
    await cluster.waitFor<Deployment>(`${deployments}/web`, (found) => isRolledOut(found));
    expect(await answers("web")).toEqual(["2\n", "2\n"]);
  }, 60_000);

  test("a version is never ready, and another ends again and again", async () => {
    for (const tag of ["bad", "crash"]) {
      await cluster.apply([webDeployment(tag, cluster.image(tag), { namespace: "shop", replicas: 1 })]);
    }
    const statusOf = async (
      app: string,
      isAsWanted: (status: NonNullable<Pod["status"]["containerStatuses"]>[0]) => boolean,
    ) => {
      type Found = { items: Pod[] };
      await cluster.waitFor<Found>(`${pods}?labelSelector=app%3D${app}`, ({ items }) => {
        const status = items[0]?.status.containerStatuses?.[0];
        return status !== undefined && isAsWanted(status);
      });
    };
    await statusOf("bad", (status) => status.state.running !== undefined && !status.ready);
    await statusOf("crash", (status) => status.restartCount > 0);
  }, 60_000);

  test("an account may do what its rules say and nothing else", async () => {
    const rule = { apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"] };
    const token = await cluster.createServiceAccount("shop", "updater", [rule]);
    await cluster.request("GET", deployments, undefined, { token });
    await expect(cluster.request("GET", pods, undefined, { token })).rejects.toMatchObject({ status: 403 });
    await expect(cluster.request("GET", deployments, undefined, { token: "wrong" })).rejects.toMatchObject({
      status: 401,
    });
  });

  test("keeps its objects when the API server crashes, and forgets revisions when it is told to", async () => {
    const list = "/api/v1/namespaces?limit=1";
    const first = await cluster.request<{ metadata: { continue: string } }>("GET", list);
    const next = `${list}&continue=${encodeURIComponent(first.metadata.continue)}`;
    await cluster.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "later" } }]);
    await cluster.compactEtcd();
    await cluster.stopApiServer();
    await expect(cluster.request("GET", "/version")).rejects.toThrow();
    await cluster.startApiServer();
    await expect(cluster.request("GET", next)).rejects.toMatchObject({ status: 410 });
    expect(await answers("web")).toEqual(["2\n", "2\n"]);
  }, 60_000);

  test("leaves nothing on the machine", async () => {
    const before = tracesOf(cluster);
    for (const part of ["apiserver", "etcd", "containerd-shim", "kubelet", "docker-registry"]) {
      expect(before.join("\n")).toContain(part);
    }
    await cluster.stop();
    expect(tracesOf(cluster)).toEqual([]);
    expect(before.filter((trace) => trace.startsWith("/") && existsSync(trace))).toEqual([]);
  }, 60_000);
});
