import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemActor } from "../../src/auth/schema.ts";
import { createHelm, helmMissing, helmVersions } from "../peers/helm.ts";
import { type Cluster, clusterMissing, startCluster } from "../peers/kubernetes.ts";
import { eventually } from "../support/eventually.ts";
import { type HelmWorld, helmWorld, hookTemplate } from "../support/helm-world.ts";
import { podAnswers, webTemplate } from "../support/kubernetes-objects.ts";
import { peerSuite } from "../support/peer.ts";
import type { RealRuns } from "../support/real-runs.ts";

setDefaultTimeout(120_000);

const live = new AbortController().signal;

/** Releases on a real cluster, upgraded by the product's runs with the real helm. */
peerSuite("Helm releases", clusterMissing({ node: true }) ?? helmMissing(), () => {
  let cluster: Cluster;
  let charts: string;
  const archives = new Map<string, string>();

  beforeAll(async () => {
    cluster = await startCluster({ node: true });
    charts = mkdtempSync(join(tmpdir(), "tidemark-charts-"));
    using helm = createHelm();
    const hook = (command: string) => hookTemplate(cluster, "pre-upgrade", command);
    const pack = async (version: string, values: object, files: Readonly<Record<string, string>> = {}) => {
      const settings =
        'kind: ConfigMap\napiVersion: v1\nmetadata: {name: "{{ .Release.Name }}"}\ndata: {greeting: {{ .Values.greeting | quote }}}\n';
      const all = { "templates/web.yaml": webTemplate(cluster), "templates/settings.yaml": settings, ...files };
      const content = { values: { ...values, greeting: "hello" }, files: all };
      archives.set(version, await helm.pack({ name: "web", version, appVersion: version }, charts, content));
    };
    await pack("1.0.0", { tag: "1" });
    await pack("1.1.0", { tag: "2", color: "blue" }, { "templates/hook.yaml": hook("true"), "crds/a.yaml": crd });
    await pack("1.2.0", { tag: "bad" });
    await pack(
      "1.3.0",
      { tag: "2" },
      { "templates/needs.yaml": '{{ required "database.url is needed" .Values.database }}' },
    );
    await pack("1.4.0", { tag: "2" }, { "templates/hook.yaml": hook("exit 3") });
    await pack("1.6.0", { tag: "2", defaults: manyValues("default") });
    await pack("1.5.0", { tag: "2" }, { "templates/hook.yaml": hook("sleep 600") });
  });
  afterAll(async () => {
    rmSync(charts, { recursive: true, force: true });
    await cluster?.stop();
  });

  describe.each([...helmVersions])("with helm %s", (version) => {
    const namespace = `shop-${version[0]}`;
    let releases: HelmWorld;
    let world: RealRuns;
    let connection: string;

    beforeAll(async () => {
      releases = await helmWorld(cluster, version, { namespace });
      ({ world, connection } = releases);
    });
    afterAll(async () => {
      await releases?.[Symbol.asyncDispose]();
    });

    const archive = (chart: string) => archives.get(chart) ?? "";
    const desired = (chart: string) => ({
      image: "",
      tag: chart,
      digest: `sha256:${"a".repeat(64)}`,
      archive: archive(chart),
    });
    const run = (...args: string[]) => releases.run(...args);
    const install = (name: string, settings: Readonly<Record<string, unknown>> = {}) =>
      releases.install(name, archive("1.0.0"), { desired: desired("1.1.0"), settings, values: ["greeting=mine"] });
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
      expect(releases.folders()).toEqual([]);

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
      const file = join(releases.helm.directory, "values.json");
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
      const ours = await eventually("helm", () => releases.helmOf(id));
      await eventually(
        "its revision",
        async () => (await releases.revisions("pending")).at(-1)?.status === "pending-upgrade",
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
