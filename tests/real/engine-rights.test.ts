import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeTar } from "../../src/runtimes/engine/compose/tar.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { type ProxyRule, type SocketProxy, startSocketProxy } from "../peers/socket-proxy.ts";
import { engineSuite, isPodman, kindOf } from "../support/engine-modes.ts";
import { english } from "../support/english.ts";
import { group, removeGroup, runService } from "../support/group-target.ts";
import { pushImage } from "../support/oci-image.ts";
import { quickCheck, type RealRuns, realRuns } from "../support/real-runs.ts";
import { removeContainers, runContainer, target } from "../support/update-target.ts";

setDefaultTimeout(600_000);

const repository = "lab/app";

/** What operations.md says is needed, and for what. `*` stands for one name, or for an image's whole reference. */
const rights = {
  any: [
    "GET /version",
    "GET /containers/json",
    "GET /containers/*/json",
    "GET /images/json",
    "GET /images/*/json",
    "POST /containers/create",
    "POST /containers/*/stop",
    "POST /containers/*/rename",
    "POST /containers/*/start",
    "POST /containers/*/update",
    "DELETE /containers/*",
    "POST /images/*/tag",
    "POST /images/create",
  ],
  networks: ["POST /networks/*/connect"],
  /** Of a container that was taken off the network that it was made with. */
  leaving: ["POST /networks/*/connect", "POST /networks/*/disconnect"],
  compose: ["GET /containers/*/changes"],
  /** Of a group with files in its containers' own layers. */
  files: ["HEAD /containers/*/archive", "GET /containers/*/archive", "PUT /containers/*/archive"],
  /** Not needed: the run says why there are no log lines. */
  logs: ["GET /containers/*/logs"],
} as const;

/** Podman's own API is under a prefix, where it is used. */
const plain = (text: string) => text.replace(/(\/v[0-9.]+)?\/libpod(?=\/)/g, "");

function allowing(verbs: readonly string[]): ProxyRule {
  const patterns = verbs.map(
    (verb) => new RegExp(`^${verb.replace("/images/*", "/images/.+").replace("*", "[^/]+")}$`),
  );
  // A name has no slash, and `json` and `create` are no names.
  return (method, path) => patterns.some((pattern) => pattern.test(`${method} ${plain(path)}`));
}

function without(verbs: readonly string[], verb: string): ProxyRule {
  return allowing(verbs.filter((each) => each !== verb));
}

interface Shape {
  shape: string;
  needs: readonly string[];
  make(name: string): Promise<void>;
  ref: (name: string) => ReturnType<typeof target>;
  services: readonly string[];
}

engineSuite(
  "behind a socket proxy",
  (mode) => {
    let engine: TestEngine;
    let registry: Registry;
    let proxy: SocketProxy;
    let runs: RealRuns;
    let image = "";
    let digest = "";
    let connection = "";
    beforeAll(async () => {
      engine = await startEngine({ mode });
      registry = await startRegistry();
      image = `${registry.host}/${repository}`;
      await pushImage(registry.url, null, repository, "1.0.0");
      digest = await pushImage(registry.url, null, repository, "2.0.0");
      await engine.pullImage(`${image}:1.0.0`);
      proxy = await startSocketProxy({ engine, allow: () => true });
      runs = await realRuns();
      connection = await runs.connect(kindOf(mode), proxy.address);
      await engine.call("POST", "/networks/create", { Name: "rights-one" });
      await engine.call("POST", "/networks/create", { Name: "rights-two" });
    }, 240_000);
    afterAll(async () => {
      await runs?.close();
      await proxy?.stop();
      await registry?.stop();
      await engine?.stop();
    }, 120_000);

    const old = () => `${image}:1.0.0`;
    const serve = (name: string, body: Readonly<Record<string, unknown>> = {}) =>
      runContainer(engine, name, { Image: old(), ...body });
    const connect = (network: string, Container: string) =>
      engine.call("POST", `/networks/${network}/connect`, { Container });
    const isDocker = !isPodman(mode);
    const any = rights.any.filter((verb) => isDocker || !verb.endsWith("/update"));

    const shapes: readonly Shape[] = [
      {
        shape: "a container",
        needs: any,
        make: async (name) => void (await serve(name)),
        ref: target,
        services: ["main"],
      },
      {
        shape: "a container of two networks",
        needs: [...any, ...rights.networks],
        make: async (name) => {
          await serve(name, { HostConfig: { NetworkMode: "rights-one" } });
          await connect("rights-two", name);
        },
        ref: target,
        services: ["main"],
      },
      ...(isDocker
        ? [
            {
              shape: "a container that was taken off its first network",
              needs: [...any, ...rights.leaving],
              make: async (name: string) => {
                await serve(name, { HostConfig: { NetworkMode: "rights-one" } });
                await connect("rights-two", name);
                await engine.call("POST", "/networks/rights-one/disconnect", { Container: name });
              },
              ref: target,
              services: ["main"],
            },
          ]
        : []),
      {
        shape: "a group",
        // Podman counts more among the changes, which are then looked at.
        needs: [...any, ...rights.compose, ...(isDocker ? [] : rights.files.slice(0, 1))],
        make: async (name) => {
          const a = await runService(engine, name, "a", { body: { Image: old() } });
          await runService(engine, name, "b", { body: { Image: old() }, host: { NetworkMode: `container:${a}` } });
        },
        ref: group,
        services: ["a", "b"],
      },
      {
        shape: "a group with a file of compose",
        needs: [...any, ...rights.compose, ...rights.files],
        make: (name) => composeWithFile(engine, name, old()),
        ref: group,
        services: ["a"],
      },
    ];

    /** Ids, names, states and starts of all containers: what must not change. */
    const everything = async () => {
      const listed = (await engine.call("GET", "/containers/json?all=1")) as { Id: string }[];
      const found: string[] = [];
      for (const { Id } of listed) {
        const { Name, State } = (await engine.call("GET", `/containers/${Id}/json`)) as {
          Name: string;
          State: { Status: string; StartedAt: string };
        };
        found.push(`${Name} ${Id.slice(0, 12)} ${State.Status} ${State.StartedAt}`);
      }
      return found.sort();
    };

    test.each(shapes)(
      "$shape is updated with the documented rights, and each that is missing is named before anything changes",
      async ({ shape, needs, make, ref, services }) => {
        const name = `rights-${shapes.findIndex((each) => each.shape === shape)}`;
        await make(name);
        proxy.allow(() => true);
        const desired = { image, tag: "2.0.0", digest };
        const executor = await runs.addExecutor({ connection, target: ref(name), services, desired });
        const before = await everything();
        for (const verb of needs) {
          // The pull is the first to need it, and where the image is here already nothing does.
          if (verb === "POST /images/create" || verb === "POST /images/*/tag") await forgetImage();
          proxy.allow(without(needs, verb));
          const run = await runs.update(executor);
          expect([verb, run.reason, run.state]).toEqual([
            verb,
            run.reason,
            run.state === "skipped" ? "skipped" : "failed",
          ]);
          const words = verb.replace(/[.*+?/]/g, (sign) => (sign === "*" ? ".+" : `\\${sign}`));
          expect(plain(english(run.reason) ?? "")).toMatch(new RegExp(words));
          expect(english(run.reason) ?? "").toContain("403");
          expect([verb, ...(await everything())]).toEqual([verb, ...before]);
          const touching = (await runs.steps(run.id)).filter((step) => /^(create|stop|rename|start|undo)/.test(step));
          expect([verb, ...touching]).toEqual([verb]);
        }
        const refusedBefore = proxy.refused.length;
        proxy.allow(allowing(needs));
        const run = await runs.update(executor);
        expect([run.state, run.reason, proxy.refused.slice(refusedBefore)]).toEqual(["succeeded", null, []]);
        await (ref === group ? removeGroup(engine, name) : removeContainers(engine, name));
        proxy.allow(() => true);
      },
    );

    test.each([
      { right: "with the right to logs, the last words of a container that ends are in the run", isTty: false },
      { right: "with the right to logs, also of a container with a terminal", isTty: true },
      { right: "without the right to logs, the run names it and ends as before", isTty: null },
    ])("$right", async ({ isTty }) => {
      const name = `logs-${isTty}`;
      const says = String.raw`echo starting; printf '\033[31mno database for %s\033[0m\n' "$DB_PASSWORD" >&2; exit 3`;
      const cmd = ["/bin/sh", "-c", says];
      const crashing = await pushImage(registry.url, null, repository, "3.0.0", { cmd });
      await serve(name, { Env: ["DB_PASSWORD=kelp-otter-lantern"], Tty: isTty === true });
      proxy.allow(allowing([...any, ...rights.networks, ...(isTty === null ? [] : rights.logs)]));
      const desired = { image, tag: "3.0.0", digest: crashing };
      const executor = await runs.addExecutor({
        ...{ connection, target: target(name), desired },
        settings: { health_check: quickCheck },
      });
      const { id, state, serving } = await runs.update(executor);
      const { logs } = await runs.main.runs.get(id);
      expect([state, serving]).toEqual(["failed", "previous"]);
      if (isTty === null) {
        expect(logs).toMatchObject([{ container: name, lines: [], why_data: { params: { status: 403 } } }]);
      } else {
        expect(logs.map(({ container, why }) => [container, why])).toEqual([[name, null]]);
        expect(logs[0]?.lines.toSorted()).toEqual(["no database for [redacted]", "starting"]);
      }
      await removeContainers(engine, name);
      proxy.allow(() => true);
    });

    /** So that it has to be pulled and tagged again. */
    async function forgetImage(): Promise<void> {
      for (const reference of [`${image}:2.0.0`, `${image}@${digest}`]) {
        await engine.call("DELETE", `/images/${reference}?force=1`).catch(() => undefined);
      }
    }
  },
  ["docker-20", "podman"],
  registryMissing(),
);

/** As compose makes a service with a config that has content: created, the file put in, started. */
async function composeWithFile(engine: TestEngine, project: string, image: string): Promise<void> {
  const name = `${project}-a-1`;
  await engine.call("POST", `/containers/create?name=${name}`, {
    Image: image,
    StopTimeout: 1,
    Labels: {
      "com.docker.compose.project": project,
      "com.docker.compose.service": "a",
      "com.docker.compose.container-number": "1",
      "com.docker.compose.oneoff": "False",
      "com.docker.compose.config-hash": "0".repeat(64),
      "com.docker.compose.depends_on": "",
    },
  });
  const content = new TextEncoder().encode("colour=blue\n");
  const mtime = Math.floor(Date.now() / 1000);
  const archive = await writeTar([{ path: "/settings.conf", mode: 0o444, uid: 0, gid: 0, mtime, content }]);
  const answer = await fetch(`http://localhost/containers/${name}/archive?path=/`, {
    method: "PUT",
    unix: engine.socket,
    headers: { "content-type": "application/x-tar" },
    body: Buffer.from(archive),
  });
  if (!answer.ok) throw new Error(`The file was not put in: ${await answer.text()}`);
  await engine.call("POST", `/containers/${name}/start`);
}
