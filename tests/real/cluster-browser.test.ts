import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { createHelm, type Helm, helmMissing, helmProgram, helmVersions } from "../peers/helm.ts";
import { type Cluster, clusterMissing, startCluster } from "../peers/kubernetes.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { eventually } from "../support/eventually.ts";
import { isRolledOut, podAnswers, webDeployment, webTemplate } from "../support/kubernetes-objects.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, checkUntil, firstSignIn, type RunningServer, startServer } from "../support/server.ts";

setDefaultTimeout(180_000);

const namespace = "shop";
const missing = clusterMissing({ node: true }) ?? helmMissing() ?? chromiumMissing();

/** A workload and a Helm release on a real cluster, connected by a pasted kubeconfig and updated by a person with a browser. */
peerSuite("a cluster, in a browser", missing, () => {
  let cluster: Cluster;
  let helm: Helm;
  let charts: string;
  let repository: ReturnType<typeof Bun.serve>;
  let server: RunningServer;
  let api: ApiClient;
  let person: Person;
  let page: Page;

  const pack = async (version: string, tag: string) => {
    const content = { values: { tag }, files: { "templates/web.yaml": webTemplate(cluster) } };
    return await helm.pack({ name: "web", version, appVersion: version }, charts, content);
  };
  const answers = (app: string) => podAnswers(cluster, namespace, app);
  /** From the form of a new executor to the end of its first run. */
  const updateByHand = async (target: string, name: string, words: readonly string[]) => {
    await person.go("/executors/new");
    await person.field("connection_id").selectOption({ label: "cluster" });
    await page.locator(`[name='target.choice'][value='${target}']`).click();
    await page.locator("#f-bindings-0-source").waitFor();
    await person.field("trigger").selectOption("manual");
    await person.fill("name", name);
    await person.save();
    await page.waitForURL(/\/executors\/[0-9a-f-]{36}/);
    const plan = await person.openPlan();
    for (const each of words) expect(plan).toContain(each);
    const executor = page.url();
    await person.confirm();
    await person.untilRunEnds("Succeeded");
    await page.goto(executor);
    await page.locator("#timeline", { hasText: "Updated by a run" }).waitFor();
  };

  beforeAll(async () => {
    cluster = await startCluster({ node: true });
    helm = createHelm();
    charts = mkdtempSync(join(tmpdir(), "tidemark-charts-"));
    repository = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: ({ url }) => new Response(Bun.file(join(charts, new URL(url).pathname))),
    });
    const first = await pack("1.0.0", "1");
    await pack("1.1.0", "2");
    await helm.run("repo", "index", charts);
    await cluster.apply([
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      webDeployment("front", cluster.image("1"), { namespace }),
    ]);
    const kubeconfig = join(helm.directory, "kubeconfig");
    await Bun.write(kubeconfig, cluster.kubeconfig);
    await helm.run("install", "site", first, "--namespace", namespace, "--kubeconfig", kubeconfig, "--wait");
    await eventually("the pods", async () => (await answers("front")).length === 2);
    server = await startServer({ env: { HELM_PATH: helmProgram(helmVersions[0]) } });
    api = await firstSignIn(server);
    const image = { image: "acme/web", registry: cluster.registry.url };
    const chart = { chart: "web", repository_url: `http://127.0.0.1:${repository.port}` };
    for (const [name, kind, config] of [
      ["image", "oci", image],
      ["chart", "helm", chart],
    ] as const) {
      const source = { key: "main", kind, config, channels: [{ type: "stable" }] };
      await api.ok("POST", "/trackers", { name, sorting: "semantic", sources: [source] });
      await checkUntil(api, name, name === "image" ? "2" : "1.1.0");
    }
    person = await openBrowser(() => server.url);
    ({ page } = person);
    await person.signIn();
  });
  afterAll(async () => {
    await person?.close();
    await server?.kill("SIGTERM");
    await repository?.stop(true);
    helm?.[Symbol.dispose]();
    if (charts !== undefined) rmSync(charts, { recursive: true, force: true });
    await cluster?.stop();
  });

  test("a pasted kubeconfig connects it, and its workloads and releases are listed", async () => {
    await person.go("/connections/new?kind=kubernetes");
    await person.fill("name", "cluster");
    await page.locator("textarea[name='secret.kubeconfig']").fill(cluster.kubeconfig);
    await person.save();
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}\/adopt$/);
    const found = await person.text();
    for (const words of ["front", "site"]) expect(found).toContain(words);
    expect(found).not.toContain("PRIVATE KEY");
  });

  test("a Deployment is updated, and its pods answer in the new version", async () => {
    await updateByHand(`deployment:${namespace}/front`, "front", [cluster.image("1"), cluster.image("2")]);
    expect(await answers("front")).toEqual(["2\n", "2\n"]);
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/front`;
    expect(isRolledOut(await cluster.request("GET", path))).toBe(true);
  });

  test("a Helm release is upgraded to its chart's new version", async () => {
    await updateByHand(`helm_release:${namespace}/site`, "site", ["1.0.0", "1.1.0", "values.tag"]);
    expect(await answers("site")).toEqual(["2\n", "2\n"]);
  });

  test("everything else is adopted by one click, grouped by namespace, and each image is followed once", async () => {
    await cluster.apply([
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } },
      webDeployment("cache", cluster.image("1"), { namespace, replicas: 1 }),
      ...["api", "jobs"].map((name) => webDeployment(name, cluster.image("1"), { namespace: "team", replicas: 1 })),
    ]);
    await person.go("/adopt");
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}\/adopt$/);
    const groups = await page.locator("tbody:has(input.choice)").allTextContents();
    expect(
      groups.map((text) => ["shop", "team", "cache", "api", "jobs"].filter((name) => text.includes(name))),
    ).toEqual([
      ["shop", "cache"],
      ["team", "api", "jobs"],
    ]);
    await page.locator("main", { hasText: "Checking" }).waitFor({ state: "detached" });
    // The registry uses http, which the cluster does not tell but the tracker does.
    expect(await page.locator("main").textContent()).not.toContain("Registry uses http");
    // Its release is followed already.
    await person.row("managed by Helm").locator("input.choice").uncheck();
    const before = person.effort.clicks;
    await person.click(page.locator('.choice-bar [name="_action"][value="adopt"]'));
    await page.getByRole("heading", { level: 1, name: "Adopted 3 targets" }).waitFor();
    expect(person.effort.clicks - before).toBe(1);
    const { items } = await api.ok("GET", "/executors");
    const followed = (items as { target: { id: string }; bindings: { tracker: string }[] }[]).map(
      ({ target, bindings }) => [target.id, bindings[0]?.tracker] as const,
    );
    const ids = followed.map(([id]) => id);
    expect(ids.toSorted()).toEqual(["shop/cache", "shop/front", "shop/site", "team/api", "team/jobs"]);
    const trackers = new Map(followed);
    const tracker = trackers.get("team/api") ?? "";
    expect([trackers.get("shop/cache"), trackers.get("team/jobs")]).toEqual([tracker, tracker]);
    await person.go(`/trackers/${tracker}`);
    for (const name of ["cache", "api", "jobs"]) expect(await person.text()).toContain(name);
  });

  test("its pages hold at phone width in Chinese", async () => {
    const list = async (path: string) => (await api.get(path)).body.items as { id: string }[];
    const paths = [
      ...(await list("/runtime-connections")).map(({ id }) => `/connections/${id}`),
      ...(await list("/executors")).map(({ id }) => `/executors/${id}`),
      ...(await list("/runs")).map(({ id }) => `/runs/${id}`),
    ];
    expect(paths).toHaveLength(8);
    await person.expectFit(paths);
    expect(person.complaints).toEqual([]);
  });
});
