import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemActor } from "../../src/auth/schema.ts";
import { neededRights } from "../../src/runtimes/kubernetes/rights.ts";
import { type Cluster, clusterMissing, startCluster } from "../peers/kubernetes.ts";
import { expiredName } from "../peers/kubernetes-plane.ts";
import { type CuttingProxy, startCuttingProxy } from "../support/cutting-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { isRolledOut, podAnswers, webDeployment } from "../support/kubernetes-objects.ts";
import { pushImage, serveHttp, waitForever } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { type RealRuns, realRuns } from "../support/real-runs.ts";
import { noMachine } from "../support/run-process.ts";

setDefaultTimeout(240_000);

const namespace = "shop";
const narrow = "narrow";
const live = new AbortController().signal;
const topologyKey = "kubernetes.io/hostname";
const restoring = { health_check: { strategy: "auto" }, restore_on_failure: true };
const merge = { type: "application/strategic-merge-patch+json" };
const rules = neededRights.map(({ group, resource, verbs }) => ({
  apiGroups: [group],
  resources: [resource],
  verbs: [...verbs],
}));
type Status = Parameters<typeof isRolledOut>[0];

/** What goes wrong around a rollout of real pods, and what does not hinder it. */
peerSuite("rollouts under adverse conditions", clusterMissing({ node: true }), () => {
  let cluster: Cluster;
  let world: RealRuns;
  let proxy: CuttingProxy;
  let connection: string;
  let token: string;
  /** Of our own pod. */
  const account = mkdtempSync(join(tmpdir(), "tidemark-account-"));
  const digests = new Map<string, string>();

  beforeAll(async () => {
    cluster = await startCluster({ node: true });
    proxy = await startCuttingProxy(Number(new URL(cluster.url).port));
    const web = { cmd: serveHttp, files: { "/www/ready": "yes\n" } };
    for (const tag of ["1.0.0", "1.1.0"]) {
      await push("app", tag, web);
      await push("side", tag, { cmd: waitForever });
      await push("prepare", tag, { cmd: ["/bin/sh", "-c", "exit 0"] });
    }
    const says = String.raw`echo starting; printf '\033[31mno database at %s\033[0m\n' "$DB_PASSWORD"; exit 3`;
    await push("app", "1.2.0", { cmd: ["/bin/sh", "-c", says] });
    const service_account = { server: cluster.url, folder: account };
    world = await realRuns({ ...noMachine, service_account });
    token = await cluster.createServiceAccount(namespace, "tidemark", rules);
    connection = await world.connectCluster({ ...usual, server: cluster.url }, { token, ca_certificate: cluster.ca });
  });
  afterAll(async () => {
    await world?.close();
    await proxy?.stop();
    await cluster?.stop();
    rmSync(account, { recursive: true, force: true });
  });

  const image = (tag: string, name = "app") => `${cluster.registry.host}/acme/${name}:${tag}`;
  const push = async (name: string, tag: string, options: Parameters<typeof pushImage>[4]) => {
    digests.set(`${name}:${tag}`, await pushImage(cluster.registry.url, null, `acme/${name}`, tag, options));
  };
  const desired = (tag = "1.1.0", name = "app") => ({
    image: `${cluster.registry.host}/acme/${name}`,
    tag,
    digest: digests.get(`${name}:${tag}`) ?? "",
  });
  const usual = { namespaces: namespace, stall_seconds: 10, helm: false };
  /** Until the end of the scope. */
  const detour = (config: Readonly<Record<string, unknown>>, secret: Readonly<Record<string, string>>) =>
    world.detour(connection, { ...usual, ...config }, { ca_certificate: cluster.ca, ...secret });
  const path = (resource: string, name: string, within = namespace) =>
    `/apis/apps/v1/namespaces/${within}/${resource}/${name}`;
  const read = (name: string) => cluster.request<Status>("GET", path("deployments", name));
  /** `web` of `name`, bound to the newer version. */
  const follow = (
    name: string,
    { kind = "deployment", within = namespace, by = connection, ...more }: Partial<Following> = {},
  ) =>
    world.addExecutor({
      connection: by,
      target: { kind, id: `${within}/${name}` },
      services: ["web"],
      desired: desired(),
      settings: { health_check: { strategy: "auto" }, restore_on_failure: false },
      ...more,
    });
  interface Following {
    kind: string;
    within: string;
    by: string;
    settings: typeof restoring;
    others: Readonly<Record<string, ReturnType<typeof desired>>>;
  }
  /** Deploys one pod of version 1, changed by `spec`, and waits until it is available. */
  const deploy = async (name: string, { spec = {}, pod = {}, replicas = 1, within = namespace }: Shape = {}) => {
    const manifest = webDeployment(name, image("1.0.0"), { namespace: within, replicas });
    const { template } = manifest.spec;
    await cluster.apply([
      {
        ...manifest,
        spec: { ...manifest.spec, template: { ...template, spec: { ...template.spec, ...pod } }, ...spec },
      },
    ]);
    return await cluster.waitFor<Status>(path("deployments", name, within), (found) => isRolledOut(found, replicas));
  };
  /** The same as a StatefulSet. */
  const deployStateful = async (name: string, replicas: number) => {
    const { selector, template } = webDeployment(name, image("1.0.0")).spec;
    await cluster.apply([
      {
        apiVersion: "apps/v1",
        kind: "StatefulSet",
        metadata: { name, namespace },
        spec: { replicas, serviceName: name, selector, template },
      },
    ]);
    await cluster.waitFor<Status>(path("statefulsets", name), ({ status }) => status.availableReplicas === replicas);
  };
  interface Shape {
    spec?: object;
    pod?: object;
    replicas?: number;
    within?: string;
  }
  /** Queues a run, and resolves when its patch has arrived; `ended` resolves at its end. */
  const begin = async (executor: string, name: string) => {
    const { generation } = (await read(name)).metadata;
    const { id } = await world.main.runs.create(systemActor, executor, {});
    const performing = world.main.runs.work.perform({ id }, live);
    await cluster.waitFor<Status>(path("deployments", name), ({ metadata }) => metadata.generation > generation);
    return {
      ended: async () => {
        await performing;
        const patches = (await read(name)).metadata.generation - generation;
        return { patches, ...(await world.run(id)) };
      },
    };
  };

  test("pods that no node takes, a quota and an admission policy end a rollout with their reasons", async () => {
    const narrowToken = await cluster.createServiceAccount(narrow, "tidemark", rules);
    const inNarrow = await world.connectCluster(
      { ...usual, server: cluster.url, namespaces: narrow },
      { token: narrowToken, ca_certificate: cluster.ca },
    );
    // The three run at once, by one connection and by two of one cluster.
    for (const id of [connection, inNarrow]) {
      await world.main.connections.update(systemActor, id, { concurrent_runs: 3 });
    }
    const labels = { matchLabels: { app: "alone" } };
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "pods", namespace: narrow } };
    const policy = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: "older-only" },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
          objectSelector: { matchLabels: { app: "judged" } },
        },
        validations: [
          {
            expression: "object.spec.containers.all(each, !each.image.endsWith(':1.1.0'))",
            message: "Version 1.1.0 is not approved here",
          },
        ],
      },
    };
    const binding = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: "older-only" },
      spec: { policyName: "older-only", validationActions: ["Deny"] },
    };
    const anywhere = { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: labels, topologyKey }] };
    await cluster.apply([policy, binding, { ...quota, spec: { hard: { pods: "1" } } }]);
    await cluster.waitFor<{ status: { used?: object } }>(
      `/api/v1/namespaces/${narrow}/resourcequotas/pods`,
      ({ status }) => status.used !== undefined,
    );
    await Promise.all([
      deploy("alone", { pod: { affinity: { podAntiAffinity: anywhere } } }),
      deploy("limited", { within: narrow }),
      deployStateful("judged", 1),
    ]);
    // A policy is in force some seconds after it was made.
    const probe = { metadata: { name: "probe", namespace, labels: { app: "judged" } } };
    const spec = { containers: [{ name: "web", image: image("1.1.0") }] };
    const pods = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
    await eventually("the policy in force", () =>
      cluster.request("POST", pods, { apiVersion: "v1", kind: "Pod", ...probe, spec }).then(
        () => false,
        (error) => String(error).includes("is not approved here"),
      ),
    );
    const executors = [
      await follow("alone"),
      await follow("limited", { within: narrow, by: inNarrow }),
      await follow("judged", { kind: "statefulset" }),
    ];
    const runs = await Promise.all(executors.map((executor) => world.update(executor)));
    expect(runs.map(({ state, reason_code }) => [state, reason_code])).toEqual([
      ["failed", "unhealthy"],
      ["failed", "unhealthy"],
      ["failed", "target_down"], // A StatefulSet deletes the previous pod before it creates the next one.
    ]);
    const [alone, limited, refused] = runs.map(({ reason }) => JSON.stringify(reason));
    expect(alone).toContain('"kubernetes.unschedulable"');
    expect(alone).toContain("anti-affinity");
    expect(limited).toContain('"kubernetes.not_created"');
    expect(limited).toContain("exceeded quota: pods");
    expect(refused).toContain('"kubernetes.not_created"');
    expect(refused).toContain("Version 1.1.0 is not approved here");
  });

  test("the last words of a container that crashes are in the run, without its secrets, with its pods", async () => {
    const { containers } = webDeployment("wordy", image("1.0.0")).spec.template.spec;
    const env = [{ name: "DB_PASSWORD", value: "kelp-otter-lantern" }];
    await deploy("wordy", { pod: { containers: containers.map((each) => ({ ...each, env })) } });
    const executor = await follow("wordy");
    world.offer(executor, desired("1.2.0"));
    const { id } = await world.main.runs.create(systemActor, executor, {});
    const performing = world.main.runs.work.perform({ id }, live);
    const read = () => world.main.runs.get(id);
    // While the rollout is still followed.
    const seen = await eventually("the log of a crash in a run that goes on", async () => {
      const run = await read();
      return run.logs.length > 0 && run.progress?.rollout !== undefined ? run : null;
    });
    expect(seen.state).toBe("verifying");
    await performing;
    const run = await read();
    expect(run).toMatchObject({ state: "failed", reason_code: "unhealthy", serving: "previous" });
    expect(run.logs).toMatchObject([
      { container: "web", lines: ["starting", "no database at [redacted]"], is_previous: true, why: null },
    ]);
    expect(run.logs[0]?.pod).toStartWith("wordy-");
    const failed = run.steps.find(({ step, phase }) => step === "rollout" && phase === "fail");
    expect(failed?.facts.rollout).toMatchObject({
      ...{ desired: 1, new: { pods: 1, ready: 0 }, old: { pods: 1, ready: 1, available: 1 } },
      pods: [
        { is_new: true, state: "failing" },
        { is_new: false, state: "ready" },
      ],
    });
  });

  test("a StatefulSet that cannot go back by itself names the pod to delete, and how many are ready", async () => {
    await deployStateful("pair", 2);
    const executor = await follow("pair", { kind: "statefulset", settings: restoring });
    world.offer(executor, desired("1.2.0"));
    const run = await world.update(executor);
    expect(run).toMatchObject({ state: "failed", reason_code: "unhealthy", serving: "previous" });
    const pod = "pair-1";
    const reason = JSON.stringify(run.reason);
    expect(reason).toContain('"runs.not_undone"');
    expect(reason).toContain(`"kubernetes.pod_in_the_way","params":{"pod":"${pod}"`);
    expect(reason).toContain('"kubernetes.pods_short","params":{"ready":1,"wanted":2}');
    await cluster.request("DELETE", `/api/v1/namespaces/${namespace}/pods/${pod}`);
    await cluster.waitFor<Status>(path("statefulsets", "pair"), ({ status }) => status.availableReplicas === 2);
    expect(await podAnswers(cluster, namespace, "pair")).toEqual(["1.0.0\n", "1.0.0\n"]);
  });

  test("a DaemonSet that gets stuck is patched back, and its pods answer as before", async () => {
    const { selector, template } = webDeployment("agent", image("1.0.0")).spec;
    const metadata = { name: "agent", namespace };
    await cluster.apply([{ apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec: { selector, template } }]);
    await cluster.waitFor<{ status: { numberAvailable?: number } }>(
      path("daemonsets", "agent"),
      ({ status }) => status.numberAvailable === 1,
    );
    const executor = await follow("agent", { kind: "daemonset", settings: restoring });
    world.offer(executor, desired("1.2.0"));
    const run = await world.update(executor);
    expect(run).toMatchObject({ state: "failed", reason_code: "unhealthy", serving: "previous" });
    expect(JSON.stringify(run.reason)).toContain('"kubernetes.crash_loop"');
    expect(JSON.stringify(run.reason)).not.toContain('"runs.not_undone"');
    expect(await podAnswers(cluster, namespace, "agent")).toEqual(["1.0.0\n"]);
  });

  test("a credential without the right to logs runs as before, and the run names the right", async () => {
    const fewer = rules.filter(({ resources }) => !resources.includes("pods/log"));
    expect(fewer).toHaveLength(rules.length - 1);
    const reader = await cluster.createServiceAccount(namespace, "without-logs", fewer);
    await using _reader = await detour({ server: cluster.url }, { token: reader });
    const { warnings } = await world.main.connections.check(systemActor, connection, live);
    expect(warnings).toMatchObject([
      { code: "missing_explanation", message_data: { params: { resource: "pods/log", verbs: ["get"] } } },
    ]);
    await deploy("mute");
    const executor = await follow("mute");
    world.offer(executor, desired("1.2.0"));
    const { id, state } = await world.update(executor);
    const { logs } = await world.main.runs.get(id);
    expect([state, logs]).toMatchObject([
      "failed",
      [{ container: "web", lines: [], why_data: { code: "kubernetes.logs_forbidden", params: { namespace } } }],
    ]);
  });

  test("two containers and an init container follow three sources, and change in one patch", async () => {
    const side = { name: "side", image: image("1.0.0", "side") };
    const prepare = { name: "prepare", image: image("1.0.0", "prepare") };
    const { containers } = webDeployment("trio", image("1.0.0")).spec.template.spec;
    const before = await deploy("trio", { pod: { containers: [...containers, side], initContainers: [prepare] } });
    const executor = await follow("trio", {
      others: { side: desired("1.1.0", "side"), prepare: desired("1.1.0", "prepare") },
    });
    expect(await world.update(executor)).toMatchObject({ state: "succeeded", serving: "desired" });
    const after = await cluster.request<Status & { spec: ReturnType<typeof webDeployment>["spec"] }>(
      "GET",
      path("deployments", "trio"),
    );
    const { spec } = after.spec.template;
    expect([
      ...spec.containers,
      ...((spec as { initContainers?: { image: string }[] }).initContainers ?? []),
    ]).toMatchObject([
      { image: image("1.1.0") },
      { image: image("1.1.0", "side") },
      { image: image("1.1.0", "prepare") },
    ]);
    expect(after.metadata.generation - before.metadata.generation).toBe(1);
  });

  test("in the cluster, the documented Role suffices, and a renewed token is used", async () => {
    writeFileSync(join(account, "ca.crt"), cluster.ca);
    writeFileSync(join(account, "token"), await cluster.createServiceAccount(namespace, "pod-before", rules));
    const config = { in_cluster: true, namespaces: namespace, helm: false };
    await using _own = await world.detour(connection, config, null);
    const check = () => world.main.connections.check(systemActor, connection, live);
    const identity = (name: string) => `system:serviceaccount:${namespace}:${name}`;
    expect(await check()).toMatchObject({ ok: true, warnings: [], identity: identity("pod-before") });
    await deploy("inside");
    const executor = await follow("inside");
    writeFileSync(join(account, "token"), await cluster.createServiceAccount(namespace, "pod-after", rules));
    expect(await check()).toMatchObject({ ok: true, warnings: [], identity: identity("pod-after") });
    expect(await world.update(executor)).toMatchObject({ state: "succeeded", serving: "desired" });
    rmSync(join(account, "token"));
    expect(await check()).toMatchObject({ ok: false, message_data: { code: "kubernetes.account_unreadable" } });
  });

  test("a rollout whose watch is cut every 200 ms succeeds, with one patch", async () => {
    await using _cut = await detour({ server: `https://localhost:${proxy.port}` }, { token });
    await deploy("cut", { spec: { minReadySeconds: 4 } });
    const run = await begin(await follow("cut"), "cut");
    proxy.cutAfter(200);
    expect(await run.ended()).toMatchObject({ state: "succeeded", serving: "desired", patches: 1 });
    proxy.cutAfter(null);
    expect(proxy.cuts()).toBeGreaterThan(2);
  });

  test("a rollout during which etcd is compacted and the API server restarted succeeds, with one patch", async () => {
    // On a busy machine a restarted API server refuses everybody for a while.
    await using _patient = await detour({ server: cluster.url, stall_seconds: 120 }, { token });
    await deploy("compacted", { spec: { minReadySeconds: 8 } });
    const run = await begin(await follow("compacted"), "compacted");
    await cluster.stopApiServer();
    await cluster.compactEtcd();
    await cluster.startApiServer();
    expect(await run.ended()).toMatchObject({ state: "succeeded", serving: "desired", patches: 1 });
  });

  test("an expired client certificate is named", async () => {
    const expired = cluster.issue("late", "client", { organization: "system:masters", is_expired: true });
    const [client_certificate, client_key] = [expired.cert_file, expired.key_file].map((file) =>
      readFileSync(file, "utf8"),
    ) as [string, string];
    await using _late = await detour({ server: cluster.url }, { client_certificate, client_key });
    expect(await world.main.connections.check(systemActor, connection, live)).toMatchObject({
      ok: false,
      code: "unauthorized",
      message_data: { code: "kubernetes.unauthenticated" },
    });
  });

  test("an expired certificate of the API server is named, with its host and what to do", async () => {
    const kubeconfig = cluster
      .kubeconfigOf(token)
      .replace(/^( *)server: .*$/m, `$&\n$1tls-server-name: ${expiredName}`);
    const { host } = new URL(cluster.url);
    await using _late = await detour({}, { kubeconfig });
    expect(await world.main.connections.check(systemActor, connection, live)).toMatchObject({
      ok: false,
      code: "unreachable",
      message: `The certificate of "${host}" has expired: renew it on the cluster, or correct the clock of this machine`,
    });
  });

  test("an autoscaler between plan and run does not refuse the plan", async () => {
    await deploy("scaled", { replicas: 2 });
    const executor = await follow("scaled");
    const { plan } = await world.main.executors.plan(executor, live);
    await cluster.request("PATCH", `${path("deployments", "scaled")}/scale`, { spec: { replicas: 3 } }, merge);
    expect(await world.update(executor, { plan_hash: plan?.hash })).toMatchObject({ state: "succeeded" });
    expect(isRolledOut(await read("scaled"), 3)).toBe(true);
  });

  test("a rollout without surge succeeds, even with a PodDisruptionBudget that allows no disruption", async () => {
    await cluster.apply([
      {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: "all", namespace },
        spec: { minAvailable: 2, selector: { matchLabels: { app: "tight" } } },
      },
    ]);
    const rollingUpdate = { maxSurge: 0, maxUnavailable: 1 };
    await deploy("tight", { replicas: 2, spec: { strategy: { type: "RollingUpdate", rollingUpdate } } });
    await cluster.waitFor<{ status: { currentHealthy?: number; disruptionsAllowed?: number } }>(
      `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/all`,
      ({ status }) => status.currentHealthy === 2 && status.disruptionsAllowed === 0,
    );
    expect(await world.update(await follow("tight"))).toMatchObject({ state: "succeeded", serving: "desired" });
  });

  test("what would not roll out is refused, and no replicas are updated with a warning", async () => {
    const { spec } = webDeployment("manual", image("1.0.0"), { namespace });
    await deploy("paused", { replicas: 0 });
    await cluster.request("PATCH", path("deployments", "paused"), { spec: { paused: true } }, merge);
    await cluster.apply([
      {
        apiVersion: "apps/v1",
        kind: "DaemonSet",
        metadata: { name: "manual", namespace },
        spec: { selector: spec.selector, template: spec.template, updateStrategy: { type: "OnDelete" } },
      },
    ]);
    await deploy("none", { replicas: 0 });
    const paused = await world.update(await follow("paused"));
    const manual = await world.update(await follow("manual", { kind: "daemonset" }));
    expect([paused, manual]).toMatchObject([
      { state: "skipped", reason_code: "target_refused" },
      { state: "skipped", reason_code: "target_refused" },
    ]);
    expect(JSON.stringify(paused.reason)).toContain('"kubernetes.paused"');
    expect(JSON.stringify(manual.reason)).toContain('"kubernetes.on_delete"');
    const executor = await follow("none");
    const { plan } = await world.main.executors.plan(executor, live);
    expect(plan?.warnings.map(({ code }) => code)).toEqual(["no_replicas"]);
    expect(await world.update(executor)).toMatchObject({ state: "succeeded" });
  });
});
