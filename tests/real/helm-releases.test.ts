import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemActor } from "../../src/auth/schema.ts";
import { isEndState } from "../../src/runs/states.ts";
import { createHelm, type Helm, helmMissing, helmProgram, helmVersions } from "../peers/helm.ts";
import { type Cluster, clusterMissing, startCluster } from "../peers/kubernetes.ts";
import { killingLimitMs, pointsBy, rounds } from "../support/engine-modes.ts";
import { podAnswers, webTemplate } from "../support/kubernetes-objects.ts";
import { peerSuite } from "../support/peer.ts";
import { type RealRuns, realRuns } from "../support/real-runs.ts";

setDefaultTimeout(120_000);

const live = new AbortController().signal;
const hook = (cluster: Cluster, command: string) => `
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations:
    helm.sh/hook: pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: migrate
          image: ${cluster.image("1")}
          command: [sh, -c, "${command}"]
`;

/** Releases on a real cluster, upgraded by the product's runs with the real helm. */
peerSuite("Helm releases", clusterMissing({ node: true }) ?? helmMissing(), () => {
  let cluster: Cluster;
  let charts: string;
  const archives = new Map<string, string>();

  beforeAll(async () => {
    cluster = await startCluster({ node: true });
    charts = mkdtempSync(join(tmpdir(), "tidemark-charts-"));
    using helm = createHelm();
    const pack = async (version: string, values: object, files: Readonly<Record<string, string>> = {}) => {
      const settings =
        'kind: ConfigMap\napiVersion: v1\nmetadata: {name: "{{ .Release.Name }}"}\ndata: {greeting: {{ .Values.greeting | quote }}}\n';
      const all = { "templates/web.yaml": webTemplate(cluster), "templates/settings.yaml": settings, ...files };
      const content = { values: { ...values, greeting: "hello" }, files: all };
      archives.set(version, await helm.pack({ name: "web", version, appVersion: version }, charts, content));
    };
    await pack("1.0.0", { tag: "1" });
    await pack(
      "1.1.0",
      { tag: "2", color: "blue" },
      { "templates/hook.yaml": hook(cluster, "true"), "crds/a.yaml": crd },
    );
    await pack("1.2.0", { tag: "bad" });
    await pack(
      "1.3.0",
      { tag: "2" },
      { "templates/needs.yaml": '{{ required "database.url is needed" .Values.database }}' },
    );
    await pack("1.4.0", { tag: "2" }, { "templates/hook.yaml": hook(cluster, "exit 3") });
    await pack("1.6.0", { tag: "2", defaults: manyValues("default") });
    await pack("1.5.0", { tag: "2" }, { "templates/hook.yaml": hook(cluster, "sleep 600") });
  });
  afterAll(async () => {
    rmSync(charts, { recursive: true, force: true });
    await cluster?.stop();
  });

  describe.each([...helmVersions])("with helm %s", (version) => {
    const namespace = `shop-${version[0]}`;
    let helm: Helm;
    let world: RealRuns;
    let connection: string;
    let dataDir: string;
    let kubeconfig: string;

    beforeAll(async () => {
      helm = createHelm(version);
      dataDir = mkdtempSync(join(tmpdir(), "tidemark-data-"));
      kubeconfig = join(helm.directory, "kubeconfig");
      writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
      await cluster.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
      world = await realRuns({
        data_dir: dataDir,
        helm: { program: helmProgram(version), search_path: process.env.PATH ?? "" },
      });
      connection = await world.connectCluster(
        { server: cluster.url, namespaces: namespace, stall_seconds: 10 },
        { token: cluster.admin.token, ca_certificate: cluster.ca },
      );
    });
    afterAll(async () => {
      await world?.close();
      helm?.[Symbol.dispose]();
      if (dataDir !== undefined) rmSync(dataDir, { recursive: true, force: true });
    });

    const archive = (chart: string) => archives.get(chart) ?? "";
    const desired = (chart: string) => ({
      image: "",
      tag: chart,
      digest: `sha256:${"a".repeat(64)}`,
      archive: archive(chart),
    });
    const run = (...args: string[]) => helm.run(...args, "--namespace", namespace, "--kubeconfig", kubeconfig);
    const install = async (name: string, settings: Readonly<Record<string, unknown>> = {}) => {
      await run("install", name, archive("1.0.0"), "--set", "greeting=mine", "--wait", "--timeout", "60s");
      return await world.addExecutor({
        connection,
        target: { kind: "helm_release", id: `${namespace}/${name}` },
        desired: desired("1.1.0"),
        settings: { health_check: { strategy: "auto" }, ...settings },
      });
    };
    const history = async (name: string) => {
      const found: { revision: number; status: string; chart: string }[] = JSON.parse(
        await run("history", name, "-o", "json"),
      );
      return found.map(({ revision, status, chart }) => `${revision} ${chart} ${status}`);
    };
    const answers = (app: string) => podAnswers(cluster, namespace, app);
    const greetingOf = async (name: string) =>
      (
        await cluster.request<{ data: { greeting: string } }>(
          "GET",
          `/api/v1/namespaces/${namespace}/configmaps/${name}`,
        )
      ).data.greeting;

    test("a release is listed with its chart, and its plan names what changes", async () => {
      const executor = await install("plan");
      const { items } = await world.main.connections.targets(connection, live);
      expect(items.find(({ kind }) => kind === "helm_release")).toMatchObject({
        id: `${namespace}/plan`,
        services: [
          { artifact: { kind: "chart", name: "web", version: "1.0.0", app_version: "1.0.0" }, state: "running" },
        ],
        refusals: [],
        warnings: [],
      });
      const { plan } = await world.main.executors.plan(executor, live);
      const paths = plan?.diff.map(({ path, before, after }) => `${path}: ${before} > ${after}`) ?? [];
      expect(paths).toContain("values.tag: 1 > 2");
      expect(paths).toContain("values.color: null > blue");
      const image = `spec.template.spec.containers[web].image: ${cluster.image("1")} > ${cluster.image("2")}`;
      expect(paths).toContain(`Deployment ${namespace}/plan: ${image}`);
      expect(plan?.warnings.map(({ message_data: { code } }) => code)).toEqual([
        "kubernetes.crds_left",
        "kubernetes.hooks_run",
      ]);
      expect(await history("plan")).toEqual(["1 web-1.0.0 deployed"]);
    });

    test("an upgrade keeps the release's values over the new defaults, and its pods answer in the new version", async () => {
      const executor = await install("web");
      expect(await answers("web")).toEqual(["1\n", "1\n"]);
      const done = await world.update(executor);
      expect(done).toMatchObject({ state: "succeeded", serving: "desired" });
      expect(await answers("web")).toEqual(["2\n", "2\n"]);
      expect(await greetingOf("web")).toBe("mine");
      expect(await history("web")).toEqual(["1 web-1.0.0 superseded", "2 web-1.1.0 deployed"]);
      expect(await world.update(executor)).toMatchObject({ state: "skipped", reason_code: "already_current" });
      expect(readdirSync(join(dataDir, "helm"))).toEqual([]);

      const back = await world.update(executor, { snapshot_id: await world.snapshotOf(done.id) });
      expect(back).toMatchObject({ state: "succeeded" });
      expect(await answers("web")).toEqual(["1\n", "1\n"]);
      expect(await greetingOf("web")).toBe("mine");
      expect((await history("web")).at(-1)).toBe("3 web-1.0.0 deployed");
    });

    test("a release with a megabyte of values is listed, its plan is short, and an upgrade keeps them all", async () => {
      const own = { greeting: "mine", table: manyValues("row") };
      const text = JSON.stringify(own);
      expect(text.length).toBeGreaterThan(1024 * 1024);
      const file = join(helm.directory, "values.json");
      writeFileSync(file, text);
      await run("install", "heavy", archive("1.0.0"), "--values", file, "--wait", "--timeout", "60s");
      const executor = await world.addExecutor({
        connection,
        target: { kind: "helm_release", id: `${namespace}/heavy` },
        desired: desired("1.6.0"),
        settings: { health_check: { strategy: "auto" } },
      });
      const { items } = await world.main.connections.targets(connection, live);
      expect(items.find(({ kind, id }) => kind === "helm_release" && id === `${namespace}/heavy`)).toMatchObject({
        refusals: [],
      });
      const { plan } = await world.main.executors.plan(executor, live);
      expect(plan?.diff.map(({ path }) => path)).toContain("values.tag");
      expect(JSON.stringify(plan).length).toBeLessThan(128 * 1024);
      expect(await world.update(executor, { plan_hash: plan?.hash })).toMatchObject({ state: "succeeded" });
      const kept: unknown = JSON.parse(await run("get", "values", "heavy", "-o", "json"));
      expect(kept).toEqual(own);
      expect(await answers("heavy")).toEqual(["2\n", "2\n"]);
    });

    test("a version that does not render with the release's values is refused before anything is touched", async () => {
      const executor = await install("needs");
      world.offer(executor, desired("1.3.0"));
      const skipped = await world.update(executor);
      expect(skipped).toMatchObject({ state: "skipped", reason_code: "target_refused" });
      expect(JSON.stringify(skipped.reason)).toContain("database.url is needed");
      expect(await history("needs")).toEqual(["1 web-1.0.0 deployed"]);
    });

    test.each([true, false])("a rollout that gets stuck fails with its reason; restored: %p", async (isRestored) => {
      const name = `stuck-${isRestored}`;
      const executor = await install(name, { restore_on_failure: isRestored });
      world.offer(executor, desired("1.2.0"));
      const failed = await world.update(executor);
      expect(failed).toMatchObject({ state: "failed", reason_code: "unhealthy", serving: "previous", outage: null });
      expect(JSON.stringify(failed.reason)).toContain('"kubernetes.not_ready"');
      const { logs, steps } = await world.main.runs.get(failed.id);
      expect(logs).toMatchObject([{ container: "web", is_previous: false, why: null }]);
      expect(steps.find(({ step, phase }) => step === "rollout" && phase === "fail")?.facts.rollout).toMatchObject({
        ...{ part: `Deployment ${namespace}/${name}`, desired: 2, new: { available: 0 } },
      });
      expect(new Set(await answers(name))).toEqual(new Set(["1\n"]));
      expect(await history(name)).toEqual(
        isRestored
          ? ["1 web-1.0.0 superseded", "2 web-1.2.0 superseded", "3 web-1.0.0 deployed"]
          : ["1 web-1.0.0 superseded", "2 web-1.2.0 deployed"],
      );
    });

    test("with the health check Helm release status, Helm's own word decides", async () => {
      const executor = await install("status", { health_check: { strategy: "release" } });
      world.offer(executor, desired("1.2.0"));
      expect(await world.update(executor)).toMatchObject({ state: "succeeded" });
      expect(await history("status")).toEqual(["1 web-1.0.0 superseded", "2 web-1.2.0 deployed"]);
      const other = { kind: "deployment", id: `${namespace}/status` };
      const refused = world.addExecutor({
        ...{ connection, target: other, services: ["web"], desired: desired("1.1.0") },
        settings: { health_check: { strategy: "release" } },
      });
      await expect(refused).rejects.toMatchObject({ fields: { "health_check.strategy": expect.anything() } });
    });

    test("a hook that fails ends the run with helm's words, and the release is rolled back", async () => {
      const executor = await install("hooked", { restore_on_failure: true });
      world.offer(executor, desired("1.4.0"));
      const failed = await world.update(executor);
      expect(failed).toMatchObject({ state: "failed", serving: "previous" });
      expect(JSON.stringify(failed.reason)).toContain('"kubernetes.upgrade_failed"');
      expect(JSON.stringify(failed.reason)).toContain("pre-upgrade hooks failed");
      expect((await history("hooked")).at(-1)).toBe("3 web-1.0.0 deployed");
    });

    test("a plan that somebody's upgrade overtook is refused, and a release that is gone is named", async () => {
      const executor = await install("edited");
      const { plan } = await world.main.executors.plan(executor, live);
      await run("upgrade", "edited", archive("1.0.0"), "--reuse-values");
      expect(await world.update(executor, { plan_hash: plan?.hash })).toMatchObject({
        state: "failed",
        reason_code: "target_changed",
      });
      await run("uninstall", "edited");
      expect(await world.update(executor)).toMatchObject({ state: "skipped", reason_code: "target_missing" });
    });

    test("an upgrade that helm never finished is explained, and ended first once somebody approved it", async () => {
      const executor = await install("pending", { restore_on_failure: false });
      world.offer(executor, desired("1.5.0"));
      const { id } = await world.main.runs.create(systemActor, executor, {});
      const performing = world.main.runs.work.perform({ id }, live);
      const ours = await untilFound(() => processOf(join(dataDir, "helm", id)));
      await untilFound(async () =>
        (await history("pending")).at(-1)?.includes("pending-upgrade") === true ? true : null,
      );
      process.kill(ours, "SIGKILL");
      await performing;
      const failed = await world.run(id);
      expect(failed).toMatchObject({ state: "failed", serving: "previous" });
      expect(JSON.stringify(failed.reason)).toContain('"kubernetes.upgrade_cut_off"');

      world.offer(executor, desired("1.1.0"));
      const unread = await world.update(executor);
      expect(unread).toMatchObject({ state: "skipped", reason_code: "target_refused" });
      expect(JSON.stringify(unread.reason)).toContain('"kubernetes.release_pending"');
      const { plan } = await world.main.executors.plan(executor, live);
      const done = await world.update(executor, { plan_hash: plan?.hash });
      expect(done).toMatchObject({ state: "succeeded", serving: "desired" });
      expect(await history("pending")).toEqual([
        "1 web-1.0.0 superseded",
        "2 web-1.5.0 pending-upgrade",
        "3 web-1.0.0 superseded",
        "4 web-1.1.0 deployed",
      ]);
    });

    test("helm goes on when its process is killed, and the next one waits for it", async () => {
      const executor = await install("left");
      const { id } = await world.main.runs.create(systemActor, executor, {});
      const killed = world.performAndDie(id, desired("1.1.0"), 0, (kill) => {
        void untilFound(() => processOf(join(dataDir, "helm", id))).then(kill);
      });
      expect(await killed).toBe(true);
      await world.main.runs.takeOver();
      await world.main.runs.work.perform({ id }, live);
      const ended = await world.run(id);
      const done = await history("left");
      // Helm may not have come so far as to write anything.
      expect(["1 succeeded", "0 failed"]).toContain(`${done.length - 1} ${ended.state}`);
      expect(done.at(-1)).toContain("deployed");
      expect(readdirSync(join(dataDir, "helm"))).toEqual([]);
    });

    test.each(rounds)(
      "a process that ends at any point of a run leaves one upgrade, and the run comes to its end, round %i",
      async (round) => {
        const name = `killed-${round}`;
        const executor = await install(name);
        // Each version of helm takes other points.
        for (const point of pointsBy(18, { first: version.startsWith("3") ? 1 : 10 })) {
          const { id } = await world.main.runs.create(systemActor, executor, {});
          const before = (await history(name)).length;
          const isKilled = await world.performAndDie(id, desired("1.1.0"), point);
          await world.main.runs.takeOver();
          for (let tries = 0; !isEndState((await world.run(id)).state); tries++) {
            expect(tries).toBeLessThan(4);
            await world.main.runs.work.perform({ id }, live);
          }
          const ended = await world.run(id);
          const upgrades = (await history(name)).length - before;
          expect([point, upgrades, ended.state]).toEqual([
            point,
            upgrades === 0 ? 0 : 1,
            upgrades === 0 ? "failed" : "succeeded",
          ]);
          if (!isKilled) break;
          expect(point).toBeLessThan(60);
          if (upgrades > 0) await run("rollback", name, "1", "--wait");
          // Helm keeps ten revisions.
          if (before > 6) {
            await run("uninstall", name, "--wait");
            await run("install", name, archive("1.0.0"), "--wait", "--timeout", "60s");
          }
        }
        expect(readdirSync(join(dataDir, "helm"))).toEqual([]);
      },
      killingLimitMs,
    );
  });
});

/** More than a megabyte, of which little is left when it is packed: a release has to fit into a Secret. */
function manyValues(kind: string): Readonly<Record<string, string>> {
  const text = `of this ${kind}, which is as long as all the others `.repeat(2);
  return Object.fromEntries(Array.from({ length: 9_500 }, (_, index) => [`${kind}-${index}`, `${index} ${text}`]));
}

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tides.tidemark.test}
spec:
  group: tidemark.test
  names: {kind: Tide, plural: tides}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;

async function untilFound<T>(look: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    await Bun.sleep(100);
  }
}

/** The helm that uses a folder. */
async function processOf(folder: string): Promise<number | null> {
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const line = await Bun.file(`/proc/${id}/cmdline`)
      .text()
      .catch(() => "");
    if (line.includes(`${folder}/`)) return Number(id);
  }
  return null;
}
