import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { systemActor } from "../../src/auth/schema.ts";
import { systemClock } from "../../src/clock.ts";
import { createGuard } from "../../src/net/guarded-fetch.ts";
import { parseOutboundAllow } from "../../src/net/outbound-allow.ts";
import { neededRights } from "../../src/runtimes/kubernetes/rights.ts";
import { createAuthority } from "../peers/authority.ts";
import { freePort } from "../peers/free-port.ts";
import { type Cluster, clusterMissing, startCluster } from "../peers/kubernetes.ts";
import type { KubernetesObject } from "../peers/kubernetes-api.ts";
import { nodeName } from "../peers/kubernetes-node.ts";
import { eventually } from "../support/eventually.ts";
import { isRolledOut, podAnswers, webDeployment, webWorkload } from "../support/kubernetes-objects.ts";
import { seenIn, watchLogs } from "../support/log-reader.ts";
import { pushImage, serveHttp } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { quickCheck, type RealRuns, realRuns } from "../support/real-runs.ts";

setDefaultTimeout(120_000);

const namespace = "shop";
const live = new AbortController().signal;
/** One line of versions, of which some never run; `gone` is in no registry. */
const versions = { good: "1.1.0", bad: "1.2.0", crash: "1.3.0", gone: "1.4.0" } as const;

/** Workloads of real pods, updated by the product's runs. */
peerSuite("workloads of a Kubernetes cluster", clusterMissing({ node: true }), () => {
  let cluster: Cluster;
  let world: RealRuns;
  let connection: string;
  let role: string;
  /** The node's address, and a port of it that the operator allows HTTP checks to ask. */
  let node: string;
  let served: number;

  beforeAll(async () => {
    cluster = await startCluster({ node: true });
    const ready = { cmd: serveHttp, files: { "/www/ready": "yes\n" } };
    await push("1.0.0", ready);
    await push(versions.good, ready);
    await push(versions.bad, { cmd: serveHttp });
    await push(versions.crash, { cmd: ["/bin/sh", "-c", "exit 3"] });
    const { status } = await cluster.request<{ status: { addresses: { type: string; address: string }[] } }>(
      "GET",
      `/api/v1/nodes/${nodeName}`,
    );
    node = status.addresses.find(({ type }) => type === "InternalIP")?.address ?? "";
    served = await freePort();
    world = await realRuns(
      undefined,
      createGuard({ clock: systemClock, allow: parseOutboundAllow(`${node}:${served}`) }),
    );
    await cluster.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
    const rules = neededRights.map(({ group, resource, verbs }) => ({
      apiGroups: [group],
      resources: [resource],
      verbs: [...verbs],
    }));
    role = await cluster.createServiceAccount(namespace, "tidemark", rules);
    connection = await world.connectCluster(
      { server: cluster.url, namespaces: namespace, stall_seconds: 10, helm: false },
      { token: role, ca_certificate: cluster.ca },
    );
  });
  afterAll(async () => {
    await world?.close();
    await cluster?.stop();
  });

  const path = (resource: string, name: string) =>
    `/apis/${resource === "cronjobs" ? "batch" : "apps"}/v1/namespaces/${namespace}/${resource}/${name}`;
  const image = (tag: string) => `${cluster.registry.host}/acme/app:${tag}`;
  const digests = new Map<string, string>();
  const desired = (tag: string) => {
    const digest = digests.get(tag) ?? `sha256:${"a".repeat(64)}`;
    return { image: `${cluster.registry.host}/acme/app`, tag, digest };
  };
  const push = async (tag: string, options: Parameters<typeof pushImage>[4]) => {
    digests.set(tag, await pushImage(cluster.registry.url, null, "acme/app", tag, options));
  };
  const answers = (app: string) => podAnswers(cluster, namespace, app);
  /** Deploys version 1 and follows it. */
  const deploy = async (name: string, settings: Readonly<Record<string, unknown>> = {}) => {
    await cluster.apply([webDeployment(name, image("1.0.0"), { namespace })]);
    await cluster.waitFor<Parameters<typeof isRolledOut>[0]>(path("deployments", name), (found) => isRolledOut(found));
    return await world.addExecutor({
      connection,
      target: { kind: "deployment", id: `${namespace}/${name}` },
      services: ["web"],
      desired: desired(versions.good),
      settings: { health_check: { strategy: "auto" }, ...settings },
    });
  };
  /** The test of the connection with another configuration and login. */
  const checkedWith = async (config: Readonly<Record<string, unknown>>, secret: Readonly<Record<string, string>>) => {
    await using _detour = await world.detour(connection, { server: cluster.url, ...config }, secret);
    return await world.main.connections.check(systemActor, connection, live);
  };

  test("the role that a connection's test offers grants exactly what was missing", async () => {
    const own = { kind: "Namespace", apiVersion: "v1" };
    await cluster.apply(["left", "right", "other"].map((name) => ({ ...own, metadata: { name } })));
    const token = await cluster.createServiceAccount("tools", "updater", []);
    const secret = { token, ca_certificate: cluster.ca };
    const testing = (namespaces: string) => checkedWith({ namespaces, helm: false }, secret);
    expect(await testing("")).toMatchObject({ ok: false, code: "unauthorized" });
    // A single namespace, several, and at last the whole cluster.
    for (const namespaces of ["left", "left, right", ""]) {
      const before = await testing(namespaces);
      const manifest = parseAllDocuments(before.remedy ?? "").map((each): KubernetesObject => each.toJS());
      await cluster.apply(manifest);
      // The API server learns of it by a watch.
      await eventually("every right", async () => {
        const { ok, warnings, remedy } = await testing(namespaces);
        return ok && warnings.length === 0 && remedy === null;
      });
      const elsewhere = await testing("other");
      expect(elsewhere.warnings.length > 0).toBe(namespaces !== "");
    }
  });

  test("a second connection to the cluster is refused by any address, unless it has other namespaces", async () => {
    const secret = { token: cluster.admin.token, ca_certificate: cluster.ca };
    const server = `https://localhost:${new URL(cluster.url).port}`;
    const connect = (namespaces: string) => world.connectCluster({ server, namespaces, helm: false }, secret);
    // A role of one namespace may not read what the cluster is: by its own address it is known all the same.
    await using _admin = await world.detour(connection, { server: cluster.url, namespaces: namespace }, secret);
    const taken = { code: "place_taken", status: 409 };
    await expect(connect("")).rejects.toMatchObject(taken);
    await expect(connect(`other, ${namespace}`)).rejects.toMatchObject(taken);
    await world.main.connections.remove(systemActor, await connect("other"));
  });

  test("the connection reports version and rights, and an unknown authority", async () => {
    const check = await world.main.connections.check(systemActor, connection, live);
    expect(check).toMatchObject({ ok: true, warnings: [] });
    expect(check.version).toMatch(/^v1\./);
    expect(check.identity).toBe(`system:serviceaccount:${namespace}:tidemark`);
    const input = { config: { helm: true } };
    await world.main.connections.update(systemActor, connection, input);
    const { warnings } = await world.main.connections.check(systemActor, connection, live);
    expect(warnings.map(({ code }) => code)).toEqual(["releases_not_listed"]);
    await world.main.connections.update(systemActor, connection, { config: { helm: false } });
    const other = createAuthority();
    const stranger = await checkedWith({}, { token: role, ca_certificate: other.ca });
    other.remove();
    expect(stranger).toMatchObject({
      ok: false,
      code: "unreachable",
    });
    const secret = { token: "not-a-token", ca_certificate: cluster.ca };
    expect(await checkedWith({ namespaces: namespace }, secret)).toMatchObject({
      ok: false,
      code: "unauthorized",
      message_data: { code: "kubernetes.unauthenticated" },
    });
  });

  test("what a credential lacks is named", async () => {
    const rule = { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list", "watch"] };
    const token = await cluster.createServiceAccount(namespace, "reader", [rule]);
    const secret = { token, ca_certificate: cluster.ca };
    const { ok, warnings } = await checkedWith({ namespaces: namespace }, secret);
    expect(ok).toBe(true);
    const missing = warnings.flatMap(({ message_data: { code, params } }) =>
      code === "kubernetes.missing_right" ? [`${params.resource}: ${String(params.verbs)}`] : [],
    );
    expect(missing).toContain("deployments: patch");
    expect(missing).toContain("statefulsets: get,list,watch,patch");
    // Blank namespaces are all that may be listed, and a role of one namespace cannot name them.
    expect(await checkedWith({}, secret)).toMatchObject({
      ok: false,
      message_data: { code: "kubernetes.namespaces_unlisted" },
    });
  });

  test("a Deployment is updated, and its pods answer in the new version", async () => {
    const executor = await deploy("web");
    expect(await answers("web")).toEqual(["1.0.0\n", "1.0.0\n"]);
    const run = await world.update(executor);
    expect(run).toMatchObject({ state: "succeeded", serving: "desired" });
    expect(await answers("web")).toEqual(["1.1.0\n", "1.1.0\n"]);
    expect(await world.update(executor)).toMatchObject({ state: "skipped", reason_code: "already_current" });
    const back = await world.update(executor, { snapshot_id: await world.snapshotOf(run.id) });
    expect(back).toMatchObject({ state: "succeeded" });
    expect(await answers("web")).toEqual(["1.0.0\n", "1.0.0\n"]);
  });

  test("an HTTP and a TCP check ask what a workload serves after its rollout", async () => {
    // Pods of the node's own network answer at its address.
    const manifest = webDeployment("asked", image("1.0.0"), { namespace, replicas: 1 });
    const { template } = manifest.spec;
    const [{ readinessProbe: _, ports: __, ...web } = { name: "web", image: "" }] = template.spec.containers;
    const containers = [{ ...web, env: [{ name: "PORT", value: String(served) }] }];
    const pod = { ...template.spec, hostNetwork: true, containers };
    const spec = { ...manifest.spec, strategy: { type: "Recreate" }, template: { ...template, spec: pod } };
    const deployOld = async () => {
      await cluster.apply([{ ...manifest, spec }]);
      await cluster.waitFor<Parameters<typeof isRolledOut>[0]>(path("deployments", "asked"), (found) =>
        isRolledOut(found, 1),
      );
    };
    await deployOld();
    const http = { protocol: "http", host: node, port: served, path: "/", method: "GET" };
    const follow = (strategy: string, probe: Readonly<Record<string, unknown>>) =>
      world.addExecutor({
        connection,
        target: { kind: "deployment", id: `${namespace}/asked` },
        services: ["web"],
        desired: desired(versions.good),
        settings: { health_check: { ...quickCheck, strategy, probe, total_probe_duration_seconds: 5 } },
      });
    const blocked = {
      fields: { "health_check.probe.host": expect.stringContaining(`add "${node}:8080" to OUTBOUND_ALLOW`) },
    };
    await expect(follow("http", { ...http, port: 8080 })).rejects.toMatchObject(blocked);
    const wrong = await follow("http", { ...http, expected_body_pattern: "^9" });
    const failed = await world.update(wrong);
    expect(failed).toMatchObject({ state: "failed", reason_code: "unhealthy", serving: "previous" });
    expect(JSON.stringify(failed.reason)).toContain('"probes.pattern_missing"');
    await world.main.executors.remove(systemActor, wrong);
    const newest = await follow("http", { ...http, expected_body_pattern: `^${versions.good}\\s` });
    expect(await world.update(newest)).toMatchObject({ state: "succeeded", serving: "desired" });
    await deployOld();
    await world.main.executors.remove(systemActor, newest);
    const byPort = await follow("tcp", { host: node, port: served });
    expect(await world.update(byPort)).toMatchObject({ state: "succeeded", serving: "desired" });
  });

  test("a StatefulSet and a DaemonSet are updated pod by pod, a CronJob for its next job", async () => {
    await cluster.apply([
      webWorkload("statefulset", "state", image("1.0.0"), { namespace }),
      webWorkload("daemonset", "daemon", image("1.0.0"), { namespace }),
      webWorkload("cronjob", "nightly", image("1.0.0"), { namespace, suspend: true }),
    ]);
    for (const [kind, name] of [
      ["statefulset", "state"],
      ["daemonset", "daemon"],
      ["cronjob", "nightly"],
    ] as const) {
      const target = { kind, id: `${namespace}/${name}` };
      const settings = { health_check: { strategy: "auto" } };
      const executor = await world.addExecutor({
        connection,
        target,
        services: ["web"],
        desired: desired(versions.good),
        settings,
      });
      expect([kind, (await world.update(executor)).state]).toEqual([kind, "succeeded"]);
    }
    expect(await answers("state")).toEqual(["1.1.0\n", "1.1.0\n"]);
    expect(await answers("daemon")).toEqual(["1.1.0\n"]);
    const cron = await cluster.request("GET", path("cronjobs", "nightly"));
    expect(JSON.stringify(cron)).toContain(`"image":"${image(versions.good)}"`);
  });

  describe("a rollout that gets stuck", () => {
    test.each([
      ["crash", "kubernetes.crash_loop"],
      ["gone", "kubernetes.image_not_pulled"],
      ["bad", "kubernetes.not_ready"],
    ] as const)("fails for %s with its reason, and the previous version serves", async (tag, code) => {
      const name = `stuck-${tag}`;
      const executor = await deploy(name, { restore_on_failure: tag === "bad" });
      world.offer(executor, desired(versions[tag]));
      const run = await world.update(executor);
      expect(run).toMatchObject({ state: "failed", reason_code: "unhealthy" });
      expect(JSON.stringify(run.reason)).toContain(`"${code}"`);
      expect((await answers(name)).filter((each) => each === "1.0.0\n").length).toBeGreaterThan(0);
      const steps = await world.steps(run.id);
      expect(steps).toContain("rollout fail");
      // Only an executor that restores on failure patches the previous image back.
      expect(steps.includes("undo finish")).toBe(tag === "bad");
      if (tag === "bad") {
        expect(run.serving).toBe("previous");
        expect(await answers(name)).toEqual(["1.0.0\n", "1.0.0\n"]);
      }
    });
  });

  test("a plan that somebody's edit overtook is refused", async () => {
    const executor = await deploy("edited");
    const { plan } = await world.main.executors.plan(executor, live);
    const spec = { template: { metadata: { annotations: { touched: "yes" } } } };
    const type = { type: "application/strategic-merge-patch+json" };
    await cluster.request("PATCH", path("deployments", "edited"), { spec }, type);
    const run = await world.update(executor, { plan_hash: plan?.hash });
    expect(run).toMatchObject({ state: "failed", reason_code: "target_changed" });
    expect(await answers("edited")).not.toContain("1.1.0\n");
  });

  test("what pods write is read and followed, without secrets, and a missing right is told", async () => {
    const { spec, ...rest } = webDeployment("talks", image("1.0.0"), { namespace, replicas: 1 });
    const script = "echo begins $API_TOKEN; n=0; while :; do n=$((n+1)); echo word $n; sleep 0.5; done";
    const container = { name: "web", image: image("1.0.0"), command: ["/bin/sh", "-c", script] };
    const containers = [{ ...container, env: [{ name: "API_TOKEN", value: "kelp-otter-lantern" }] }];
    const template = { ...spec.template, spec: { ...spec.template.spec, containers } };
    await cluster.apply([{ ...rest, spec: { ...spec, template } }]);
    const target = { kind: "deployment", id: `${namespace}/talks` };
    const follow = (of: string) =>
      world.addExecutor({ connection: of, target, services: ["web"], desired: desired("1.0.0") });
    const executor = await follow(connection);
    const { logs } = world.main;
    const begun = await eventually("the first words", async () => {
      const found = await logs.read(systemActor, executor, {}, live);
      return (found.view.containers[0]?.lines.length ?? 0) > 1 && found;
    });
    const [part] = begun.view.containers;
    expect(part).toMatchObject({ service: "web", container: "web", state: "running", why: null });
    expect(part?.name).toBe(`${part?.pod}/web`);
    expect(part?.lines[0]?.text).toBe("begins [redacted]");
    const known = part?.lines.length ?? 0;
    const watch = await watchLogs(logs, executor, { after: begun.marks });
    await eventually("five more words", () => watch.lines.length >= 5);
    await watch.close();
    expect(watch.lines.slice(0, 5)).toEqual([0, 1, 2, 3, 4].map((more) => `${part?.name}: word ${known + more}`));

    const rules = neededRights
      .filter(({ resource }) => resource !== "pods/log")
      .map(({ group, resource, verbs }) => ({ apiGroups: [group], resources: [resource], verbs: [...verbs] }));
    const token = await cluster.createServiceAccount(namespace, "deaf", rules);
    await using _deaf = await world.detour(
      connection,
      { server: cluster.url, namespaces: namespace, stall_seconds: 10, helm: false },
      { token, ca_certificate: cluster.ca },
    );
    await world.main.executors.remove(systemActor, executor);
    const other = await follow(connection);
    const refused = await logs.read(systemActor, other, {}, live);
    expect(Object.values(seenIn(refused.view))).toEqual([
      { state: "waiting", why: "kubernetes.logs_forbidden", lines: [] },
    ]);
    const waiting = await watchLogs(logs, other);
    await waiting.untilStates([`${part?.name} waiting`]);
    await eventually("the reason", () => waiting.parts[0]?.why_data?.code === "kubernetes.logs_forbidden");
    await waiting.close();
    expect([waiting.lines, waiting.end]).toEqual([[], null]);
    await cluster.request("DELETE", path("deployments", "talks"));
  });

  test("the API server crashes while a rollout goes on", async () => {
    // Nothing is seen to progress while it is away, for as long as a busy machine takes to start it.
    await using _patient = await world.detour(
      connection,
      { server: cluster.url, namespaces: namespace, stall_seconds: 120, helm: false },
      { token: role, ca_certificate: cluster.ca },
    );
    const executor = await deploy("outage");
    const { id } = await world.main.runs.create(systemActor, executor, {});
    const performing = world.main.runs.work.perform({ id }, live);
    await cluster.waitFor<{ metadata: { generation: number } }>(
      path("deployments", "outage"),
      ({ metadata }) => metadata.generation > 1,
    );
    await cluster.restartApiServer();
    await performing;
    expect(await world.run(id)).toMatchObject({ state: "succeeded", serving: "desired" });
  });

  test("a credential that is withdrawn ends the run with a sentence", async () => {
    const token = await cluster.createServiceAccount(namespace, "short-lived", [
      {
        apiGroups: ["apps"],
        resources: ["deployments", "statefulsets", "daemonsets"],
        verbs: ["get", "list", "watch", "patch"],
      },
      { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
    ]);
    await using _withdrawn = await world.detour(
      connection,
      { server: cluster.url, namespaces: namespace },
      { token, ca_certificate: cluster.ca },
    );
    // The API server believes a token for some seconds more: the rollout must not fail of itself before.
    const patient = webDeployment("withdrawn", image("1.0.0"), { namespace });
    await cluster.apply([{ ...patient, spec: { ...patient.spec, progressDeadlineSeconds: 600 } }]);
    await cluster.waitFor<Parameters<typeof isRolledOut>[0]>(path("deployments", "withdrawn"), (found) =>
      isRolledOut(found),
    );
    const executor = await world.addExecutor({
      connection,
      target: { kind: "deployment", id: `${namespace}/withdrawn` },
      services: ["web"],
      desired: desired(versions.bad),
      settings: { health_check: { strategy: "auto" }, restore_on_failure: false },
    });
    const { id } = await world.main.runs.create(systemActor, executor, {});
    const performing = world.main.runs.work.perform({ id }, live);
    await cluster.waitFor<{ metadata: { generation: number } }>(
      path("deployments", "withdrawn"),
      ({ metadata }) => metadata.generation > 1,
    );
    await cluster.request("DELETE", `/api/v1/namespaces/${namespace}/serviceaccounts/short-lived`);
    await performing;
    const run = await world.run(id);
    expect(run.state).toBe("failed");
    expect(JSON.stringify(run.reason)).toContain('"kubernetes.unauthenticated"');
  });
});
