import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { freePort } from "../peers/free-port.ts";
import { type Portainer, portainerMissing, startPortainer } from "../peers/portainer.ts";
import { type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { eventually } from "../support/eventually.ts";
import { pushImage, serveHttp } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, checkUntil, firstSignIn, type RunningServer, startServer } from "../support/server.ts";

setDefaultTimeout(180_000);

const mode = "docker-29-containerd";
const missing = portainerMissing(mode) ?? registryMissing() ?? chromiumMissing();
const second = 1_000_000_000;
const healthcheck = { Test: ["CMD", "true"], Interval: second, Timeout: second, Retries: 2 };

/** A stack on the real compose and engine, updated, taken down and rolled back by a person with a browser. */
peerSuite("a Portainer, in a browser", missing, () => {
  let engine: TestEngine;
  let registry: Registry;
  let portainer: Portainer;
  let server: RunningServer;
  let api: ApiClient;
  let person: Person;
  let page: Page;
  let port: number;
  let stack: number;

  const push = (tag: string, options: Parameters<typeof pushImage>[4] = {}) =>
    pushImage(registry.url, null, "acme/web", tag, { cmd: serveHttp, healthcheck, ...options });
  const serves = () => eventually("an answer", async () => await (await fetch(`http://127.0.0.1:${port}/`)).text());
  const publish = async (tag: string, options?: Parameters<typeof pushImage>[4]) => {
    await push(tag, options);
    await checkUntil(api, "web", tag);
  };
  /** From the executor's page: the plan, and the run that it leads to. */
  const runNow = async (tag: string) => {
    await person.go("/executors");
    await page.getByRole("link", { name: "shop", exact: true }).first().click();
    await eventually("the update", async () => {
      await page.reload();
      return (await person.text()).includes(tag);
    });
    await page.getByRole("link", { name: "Run now" }).first().click();
    await person.button("Run this plan").waitFor();
  };

  beforeAll(async () => {
    [engine, registry, port] = await Promise.all([startEngine({ mode }), startRegistry(), freePort()]);
    await push("1.0.0");
    portainer = await startPortainer({ engine });
    const file = `services:\n  web:\n    image: ${registry.host}/acme/web:\${TAG}   # the shop\n    ports: ["127.0.0.1:${port}:80"]\n  cache:\n    image: ${registry.host}/acme/web:1.0.0\n`;
    stack = await portainer.createStack("shop", file, [{ name: "TAG", value: "1.0.0" }]);
    portainer.addRecord({ Name: "from-git", GitConfig: { URL: "https://git.example/shop.git" } }, file);
    server = await startServer();
    api = await firstSignIn(server);
    const source = {
      ...{ key: "registry", kind: "oci", config: { image: "acme/web", registry: registry.url } },
      channels: [{ type: "stable" }],
    };
    await api.ok("POST", "/trackers", { name: "web", sorting: "semantic", sources: [source] });
    person = await openBrowser(() => server.url);
    ({ page } = person);
    await person.signIn();
  });
  afterAll(async () => {
    await person?.close();
    await server?.kill("SIGTERM");
    await portainer?.stop();
    await engine?.stop();
    await registry?.stop();
  });

  test("the connection is stored with its key, and lists the stacks", async () => {
    await person.go("/credentials/new?kind=portainer");
    await person.fill("name", "portainer");
    await person.fill("secret.api_key", portainer.key);
    await person.save();
    await page.waitForURL("**/credentials");
    expect(await person.text()).not.toContain(portainer.key);
    await person.go("/connections/new?kind=portainer");
    await person.fill("name", "stacks");
    await person.fill("config.url", portainer.url);
    await person.fill("config.endpoint_id", "1");
    await person.field("credential_id").selectOption({ label: "portainer" });
    await person.save();
    // A new connection leads to what can be adopted there; its own page is above that.
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}\/adopt$/);
    await page.click("main .parent");
    await page.waitForURL(/\/connections\/[0-9a-f-]{36}$/);
    await person.row("shop").first().waitFor();
    expect(await person.text()).toContain("2.23.0");
    expect(await person.text("tr:has-text('from-git')")).toContain("git repository");
  });

  test("its plan shows the edit, and the run each service", async () => {
    await person.go("/executors/new");
    await person.field("connection_id").selectOption({ label: "stacks" });
    await page.locator("[name='target.choice'][value='stack:shop']").click();
    // Both services run the tracker's image; the first one, `cache`, is to stay as it is.
    await page.locator("#f-bindings-1-source").waitFor();
    await page.selectOption("#f-bindings-0-tracker", "");
    await page.locator("#f-bindings-0-source").waitFor({ state: "detached" });
    await person.field("trigger").selectOption("manual");
    await person.fill("name", "shop");
    await person.save();
    await page.waitForURL(/\/executors\/[0-9a-f-]{36}/);
    await publish("1.1.0");
    await runNow("1.1.0");
    const plan = await person.text("body");
    for (const words of ["stack.env", "-TAG=1.0.0", "+TAG=1.1.0", "Portainer pulls the images"]) {
      expect(plan).toContain(words);
    }
    await person.button("Run this plan").click();
    await person.untilRunEnds("Succeeded");
    for (const words of ["New stack file deployed", "Services run the new version"])
      expect(await person.text()).toContain(words);
    expect(await serves()).toBe("1.1.0\n");
    expect(portainer.stack(stack).Env).toEqual([{ name: "TAG", value: "1.1.0" }]);
  });

  test("a stack that is taken down is put back, and the page says so", async () => {
    await publish("1.2.0", { cmd: ["/no/such/program"] });
    await runNow("1.2.0");
    await person.button("Run this plan").click();
    await person.untilRunEnds("Failed");
    for (const words of ["removed the stack's containers", "Saved stack file deployed again"]) {
      expect(await person.text()).toContain(words);
    }
    expect(await serves()).toBe("1.1.0\n");
  });

  test("a saved stack file is deployed again by its own plan", async () => {
    await person.go("/executors");
    await page.getByRole("link", { name: "shop", exact: true }).first().click();
    const saved = page.locator("#snapshots");
    expect(await saved.textContent()).toContain("Saved stack files");
    await page.locator("#timeline", { hasText: "Updated by a run" }).waitFor();
    await saved.getByRole("link", { name: "Roll back" }).last().click();
    await person.button("Roll back").waitFor();
    expect(await person.text("body")).toContain("The whole stack file and environment are restored as saved");
    await person.button("Roll back").click();
    await person.untilRunEnds("Rolled back");
    expect(await serves()).toBe("1.0.0\n");
  });

  test("its pages hold at phone width in Chinese", async () => {
    const { body } = await api.get("/runs");
    const [connection] = (await api.get("/runtime-connections")).body.items as { id: string }[];
    const runs = (body.items as { id: string; executor_id: string }[]).map(({ id }) => `/runs/${id}`);
    const executor = (body.items as { executor_id: string }[])[0]?.executor_id;
    const paths = [
      "/connections/new?kind=portainer",
      `/connections/${connection?.id}`,
      `/executors/${executor}`,
      ...runs,
    ];
    await person.expectFit(paths);
    expect(await person.text()).toContain("堆栈文件");
    expect(person.complaints).toEqual([]);
  });
});
