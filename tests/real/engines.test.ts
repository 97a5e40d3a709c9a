import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isPlainRegistry } from "../../src/runtimes/engine/plain-registry.ts";
import type { RawObject } from "../../src/runtimes/engine/raw.ts";
import { composeMissing, composeVersions, startCompose } from "../peers/compose.ts";
import { allEngineModes, type EngineMode, engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { account, type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { startSocketProxy } from "../peers/socket-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { pushImage, runnableImageMissing, serveHttp } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";

const limit = 120_000;
setDefaultTimeout(limit);
const versions: Readonly<Record<EngineMode, RegExp>> = {
  "docker-20": /^20\.10\..* 1\.41$/,
  "docker-29": /^29\..* 1\.5\d$/,
  "docker-29-containerd": /^29\..* 1\.5\d$/,
  podman: /^4\..* 1\.4\d$/,
  "podman-rootless": /^4\..* 1\.4\d$/,
};

/** Where images are kept: `overlayfs` is containerd's. */
const drivers: Readonly<Record<EngineMode, string>> = {
  "docker-20": "overlay2",
  "docker-29": "overlay2",
  "docker-29-containerd": "overlayfs",
  podman: "overlay",
  "podman-rootless": "overlay",
};

/** `name state`, of all containers. */
async function states(engine: TestEngine): Promise<string[]> {
  const listed = (await engine.call("GET", "/containers/json?all=1")) as { Names: string[]; State: string }[];
  return listed.map(({ Names, State }) => `${(Names[0] ?? "").slice(1)} ${State}`).sort();
}

async function run(engine: TestEngine, name: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  await engine.call("POST", `/containers/create?name=${name}`, body);
  await engine.call("POST", `/containers/${name}/start`);
}

async function remove(engine: TestEngine, ...names: readonly string[]): Promise<void> {
  for (const name of names) await engine.call("DELETE", `/containers/${name}?force=1&v=1`);
}

for (const mode of allEngineModes) {
  const missing = engineMissing(mode) ?? registryMissing() ?? runnableImageMissing() ?? composeMissing();
  peerSuite(`the real peer ${mode}`, missing, () => {
    let engine: TestEngine;
    let registry: Registry;
    const image = "lab/app:1.0.0";
    beforeAll(async () => {
      engine = await startEngine({ mode });
      registry = await startRegistry({ auth: "basic" });
      await engine.importImage(image, ["ENV APP_VERSION=1.0.0", "LABEL version=1.0.0"]);
    }, limit);
    afterAll(async () => {
      await registry?.stop();
      await engine?.stop();
    }, limit);

    test("is the engine that its name says", async () => {
      const { Version, ApiVersion } = (await engine.call("GET", "/version")) as Record<string, string>;
      expect(`${Version} ${ApiVersion}`).toMatch(versions[mode]);
      const { Driver } = (await engine.call("GET", "/info")) as { Driver: string };
      expect(Driver).toBe(drivers[mode]);
      if (!mode.startsWith("podman")) return;
      const { host } = (await engine.call("GET", "/v4.0.0/libpod/info")) as {
        host: { security: { rootless: boolean } };
      };
      expect(host.security.rootless).toBe(mode === "podman-rootless");
    });

    test("imports an image with its instructions", async () => {
      const found = (await engine.call("GET", `/images/${image}/json`)) as { Config: Record<string, unknown> };
      expect(found.Config).toMatchObject({ Labels: { version: "1.0.0" } });
      expect(found.Config.Env).toContain("APP_VERSION=1.0.0");
    });

    test("pulls from a registry only with its account, and publishes a port on loopback", async () => {
      await pushImage(registry.url, registry.auth, "lab/web", "1.0.0", { cmd: serveHttp });
      const reference = `${registry.host}/lab/web:1.0.0`;
      await expect(engine.pullImage(reference)).rejects.toThrow(/auth/);
      await engine.pullImage(reference, account);
      const kind = mode.startsWith("podman") ? "podman" : "docker";
      // Over plain http, as the engine itself says.
      expect(isPlainRegistry((await engine.call("GET", "/info")) as RawObject, reference, kind)).toBe(true);
      const PortBindings = { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "" }] };
      await run(engine, "web", { Image: reference, ExposedPorts: { "80/tcp": {} }, HostConfig: { PortBindings } });
      const { NetworkSettings } = (await engine.call("GET", "/containers/web/json")) as {
        NetworkSettings: { Ports: Record<string, { HostPort: string }[]> };
      };
      const port = NetworkSettings.Ports["80/tcp"]?.[0]?.HostPort;
      const answer = await eventually("the page", () => fetch(`http://127.0.0.1:${port}/`).then((each) => each.text()));
      expect(answer.trim()).toBe("1.0.0");
      await remove(engine, "web");
    });

    test("comes up again after kill -9 with its containers: Docker with those of a restart policy, Podman with all", async () => {
      await run(engine, "always", { Image: image, HostConfig: { RestartPolicy: { Name: "always" } } });
      await run(engine, "never", { Image: image, HostConfig: { RestartPolicy: { Name: "no" } } });
      await engine.kill();
      await expect(engine.call("GET", "/_ping")).rejects.toThrow();
      await engine.restart();
      const outlived = mode.startsWith("podman") ? "running" : "exited";
      const wanted = ["always running", `never ${outlived}`];
      await eventually(wanted.join(), async () => String(await states(engine)) === String(wanted));
      await remove(engine, "always", "never");
    });

    test.each(composeVersions)("takes a project of two services from compose %s", async (version) => {
      const folder = mkdtempSync(join(tmpdir(), "tidemark-project-"));
      // A name of its own in each mode: rootful Podmans that run at once share chains by the networks' names.
      const project = `two-${mode}`;
      const services = { db: { image }, web: { image, depends_on: ["db"], volumes: ["data:/data"] } };
      writeFileSync(join(folder, "compose.yaml"), JSON.stringify({ name: project, services, volumes: { data: {} } }));
      const compose = startCompose({ engine, version, folder });
      try {
        await compose.must(["up", "--detach"]);
        expect(await states(engine)).toEqual([`${project}-db-1 running`, `${project}-web-1 running`]);
        const { Config } = (await engine.call("GET", `/containers/${project}-web-1/json`)) as {
          Config: { Labels: Record<string, string> };
        };
        expect(Config.Labels["com.docker.compose.version"]).toBe(version);
        await compose.must(["down", "--volumes"]);
        expect(await states(engine)).toEqual([]);
        expect((await compose.run(["up", "--no-such-option"])).code).not.toBe(0);
      } finally {
        compose.stop();
        rmSync(folder, { recursive: true, force: true });
      }
    });

    test.each(["unix", "tcp"] as const)(
      "is seen through a socket proxy on %s that refuses with a page",
      async (listen) => {
        const allow = (method: string, path: string) => method === "GET" && path.startsWith("/containers/");
        const proxy = await startSocketProxy({ engine, allow, listen });
        const ask = (method: string, path: string) =>
          listen === "unix"
            ? fetch(`http://localhost${path}`, { method, unix: proxy.address.slice("unix://".length) })
            : fetch(`${proxy.address.replace("tcp:", "http:")}${path}`, { method });
        const passed = await ask("GET", "/v1.41/containers/json?all=1");
        expect([passed.status, await passed.json()]).toEqual([200, []]);
        const refused = await ask("POST", "/v1.41/containers/prune");
        expect([refused.status, refused.headers.get("content-type")]).toEqual([403, "text/html"]);
        expect(await refused.text()).toContain("<h1>403 Forbidden</h1>");
        expect(proxy.refused).toEqual(["POST /containers/prune"]);
        proxy.allow(() => true);
        expect((await ask("POST", "/v1.41/containers/prune")).status).toBe(200);
        await proxy.stop();
      },
    );
  });
}

peerSuite("the real peer docker-20 with live restore", engineMissing(), () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await startEngine({ liveRestore: true });
    await engine.importImage("lab/app:1.0.0");
  }, limit);
  afterAll(() => engine?.stop(), limit);

  test("keeps containers running over kill -9 whatever their restart policy", async () => {
    await run(engine, "never", { Image: "lab/app:1.0.0" });
    const started = async () =>
      ((await engine.call("GET", "/containers/never/json")) as { State: { Pid: number } }).State.Pid;
    const before = await started();
    await engine.kill();
    await engine.restart();
    expect([await states(engine), await started()]).toEqual([["never running"], before]);
  });
});
