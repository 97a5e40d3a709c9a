import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { chromiumMissing, startChromium } from "../peers/chromium.ts";
import { createHelm, type Helm, helmMissing, helmProgram, helmVersions } from "../peers/helm.ts";
import { type Cluster, clusterMissing, startCluster } from "../peers/kubernetes.ts";
import { eventually } from "../support/eventually.ts";
import { isRolledOut, type Pod, webDeployment } from "../support/kubernetes-objects.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, firstSignIn, type RunningServer, startServer, testPassword } from "../support/server.ts";

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
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  const at = (path: string) => `${server.url}${path}`;
  const field = (name: string) => page.locator(`[name="${name}"]`);
  const text = async (selector = "main") => (await page.textContent(selector)) ?? "";
  const save = async () => await page.locator('.form-actions [name="_action"][value="save"]').click();
  const pack = async (version: string, tag: string) => {
    const template = JSON.stringify(webDeployment("RELEASE", "IMAGE", { namespace: "NAMESPACE" }))
      .replaceAll("RELEASE", "{{ .Release.Name }}")
      .replaceAll("NAMESPACE", "{{ .Release.Namespace }}")
      .replaceAll("IMAGE", `${cluster.registry.host}/acme/web:{{ .Values.tag }}`);
    const content = { values: { tag }, files: { "templates/web.yaml": template } };
    return await helm.pack({ name: "web", version, appVersion: version }, charts, content);
  };
  /** What each ready pod of an application answers. */
  const answers = async (app: string) => {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const { items } = await cluster.request<{ items: Pod[] }>("GET", `${path}?labelSelector=app%3D${app}`);
    const ready = items.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined && status.containerStatuses?.every((each) => each.ready) === true,
    );
    return await Promise.all(
      ready.map(({ metadata }) => cluster.request<string>("GET", `${path}/${metadata.name}:80/proxy/`)),
    );
  };
  /** From the form of a new executor to the end of its first run. */
  const updateByHand = async (target: string, name: string, words: readonly string[]) => {
    await page.goto(at("/executors/new"));
    await field("connection_id").selectOption({ label: "cluster" });
    await page.locator(`[name='target.choice'][value='${target}']`).click();
    await page.locator("#f-bindings-0-source").waitFor();
    await field("trigger").selectOption("manual");
    await field("name").fill(name);
    await save();
    await page.waitForURL(/\/executors\/[0-9a-f-]{36}/);
    await page.locator("main a[href$='/run']").first().click();
    await page.locator("dialog[open] button[type=submit]").waitFor();
    const plan = await text("dialog[open]");
    for (const each of words) expect(plan).toContain(each);
    await page.locator("dialog[open] button[type=submit]").click();
    await page.waitForURL("**/runs/*");
    await page.locator("#run-live:not([data-poll])").waitFor({ state: "attached", timeout: 120_000 });
    expect(await text(".page-title")).toContain("Succeeded");
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
      expect((await api.post("/trackers", { name, sorting: "semantic", sources: [source] })).status).toBe(201);
      await eventually(`the versions of ${name}`, async () => {
        const { body } = await api.get(`/trackers/${name}/releases`);
        return Array.isArray(body.items) && body.items.length > 0;
      });
    }
    browser = await startChromium();
    page = await (await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB" })).newPage();
    page.setDefaultTimeout(60_000);
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(at("/login"));
    await field("username").fill("admin");
    await field("password").fill(testPassword);
    await page.keyboard.press("Enter");
    await page.waitForURL(at("/"));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.kill("SIGTERM");
    await repository?.stop(true);
    helm?.[Symbol.dispose]();
    if (charts !== undefined) rmSync(charts, { recursive: true, force: true });
    await cluster?.stop();
  });

  test("a pasted kubeconfig connects it, and its workloads and releases are listed", async () => {
    await page.goto(at("/connections/new?kind=kubernetes"));
    await field("name").fill("cluster");
    await page.locator("textarea[name='secret.kubeconfig']").fill(cluster.kubeconfig);
    await save();
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}\/adopt$/);
    const found = await text();
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

  test("its pages hold at phone width in Chinese", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.context().addCookies([{ name: "tidemark_language", value: "zh", url: server.url }]);
    const list = async (path: string) => (await api.get(path)).body.items as { id: string }[];
    const paths = [
      ...(await list("/runtime-connections")).map(({ id }) => `/connections/${id}`),
      ...(await list("/executors")).map(({ id }) => `/executors/${id}`),
      ...(await list("/runs")).map(({ id }) => `/runs/${id}`),
    ];
    expect(paths).toHaveLength(5);
    for (const path of paths) {
      await page.goto(at(path));
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect([path, await page.getAttribute("html", "lang"), overflow <= 0]).toEqual([path, "zh-CN", true]);
    }
    expect(complaints).toEqual([]);
  });
});
