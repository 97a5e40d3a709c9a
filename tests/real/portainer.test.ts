import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { createAuthority } from "../peers/authority.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { freePort } from "../peers/free-port.ts";
import { type Portainer, portainerMissing, startPortainer, type Variable } from "../peers/portainer.ts";
import { type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { killingLimitMs, pointsOf, rounds } from "../support/engine-modes.ts";
import { eventually } from "../support/eventually.ts";
import { type Doomed, killAtEach } from "../support/killed-runs.ts";
import { watchLogs } from "../support/log-reader.ts";
import { pushImage, serveHttp } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { type RealRuns, realRuns } from "../support/real-runs.ts";

setDefaultTimeout(180_000);

const mode = "docker-29-containerd";
const live = new AbortController().signal;
/** One line of versions: `broken` cannot be started at all, and `gone` is in no registry. */
const versions = {
  old: "1.0.0",
  good: "1.1.0",
  crash: "1.2.0",
  sick: "1.3.0",
  broken: "1.4.0",
  gone: "1.5.0",
} as const;
const secret = "pa55word-of-the-database";

interface Found {
  Id: string;
  Image: string;
  State: string;
  Labels: Record<string, string>;
}

/** Standalone stacks of the stand-in, with the real compose and a real engine, updated by the product's runs. */
peerSuite("stacks of a Portainer", portainerMissing(mode) ?? registryMissing(), () => {
  let engine: TestEngine;
  let registry: Registry;
  let portainer: Portainer;
  let world: RealRuns;
  let connection: string;
  const digests = new Map<string, string>();

  beforeAll(async () => {
    [engine, registry] = await Promise.all([startEngine({ mode }), startRegistry()]);
    const second = 1_000_000_000;
    const check = (program: string) => ({ Test: ["CMD", program], Interval: second, Timeout: second, Retries: 2 });
    await push(versions.old, { cmd: serveHttp, healthcheck: check("true") });
    await push(versions.good, { cmd: serveHttp, healthcheck: check("true") });
    await push(versions.crash, { cmd: ["/bin/sh", "-c", "exit 3"] });
    await push(versions.broken, { cmd: ["/no/such/program"] });
    await push(versions.sick, { cmd: serveHttp, healthcheck: check("false") });
    portainer = await startPortainer({ engine });
    world = await realRuns();
    connection = await world.connectPortainer(config(), portainer.key);
  });
  afterAll(async () => {
    await world?.close();
    await portainer?.stop();
    await engine?.stop();
    await registry?.stop();
  });

  const push = async (tag: string, options: Parameters<typeof pushImage>[4]) => {
    digests.set(tag, await pushImage(registry.url, null, "acme/app", tag, options));
  };
  const config = () => ({ url: portainer.url, endpoint_id: portainer.environment, update_stall_seconds: 10 });
  const checkedWith = async (api_key: string) => {
    await using _detour = await world.detour(connection, config(), { api_key });
    return await world.main.connections.check(systemActor, connection, live);
  };
  const image = (tag: string) => `${registry.host}/acme/app:${tag}`;
  const desired = (tag: string) => ({
    image: `${registry.host}/acme/app`,
    tag,
    digest: digests.get(tag) ?? `sha256:${"a".repeat(64)}`,
  });
  const containers = async (stack: string) => {
    const filters = encodeURIComponent(JSON.stringify({ label: [`com.docker.compose.project=${stack}`] }));
    const found = (await engine.call("GET", `/containers/json?all=1&filters=${filters}`)) as Found[];
    return new Map(found.map((each) => [each.Labels["com.docker.compose.service"] ?? "", each]));
  };
  const answer = async (port: number) =>
    await eventually("an answer", async () => await (await fetch(`http://127.0.0.1:${port}/`)).text());
  /** `web` by its tag in the file, `api` by a variable of the stack, `db` bound to nothing. */
  const fileOf = (web: number, api: number, tag: string = versions.old) => `# The shop's stack\r
x-base: &base   # shared
    restart: "no"
services:
  web:
    <<: *base
    image: "${image(tag)}"   # the web server
    ports: ["127.0.0.1:${web}:80"]
  api:
    <<: *base
    image: ${registry.host}/acme/app:\${API_TAG:-0.0.0}
    ports:
      - '127.0.0.1:${api}:80'
  db:
    image: ${image(versions.old)}
    environment: {PASSWORD: "\${DB_PASSWORD}"}
    x-note: [1,   2]
`;
  let made = 0;
  interface Deployed {
    name: string;
    id: number;
    file: string;
    env: Variable[];
    web: number;
    api: number;
    executor: string;
  }
  const deploy = async (settings: Readonly<Record<string, unknown>> = {}): Promise<Deployed> => {
    made += 1;
    const name = `shop-${made}`;
    const [web, api] = [await freePort(), await freePort()];
    const file = fileOf(web, api);
    const env = [
      { name: "DB_PASSWORD", value: secret },
      { name: "API_TAG", value: versions.old },
    ];
    const id = await portainer.createStack(name, file, env);
    const executor = await world.addExecutor({
      connection,
      target: { kind: "stack", id: name },
      services: ["web", "api"],
      desired: desired(versions.good),
      settings: { health_check: { strategy: "auto" }, ...settings },
    });
    return { name, id, file, env, web, api, executor };
  };
  const updatesOf = (id: number) => portainer.requests.filter((each) => each === `PUT /stacks/${id}`).length;
  const stopped = async (name: string) => {
    for (const { Id } of (await containers(name)).values()) await engine.call("DELETE", `/containers/${Id}?force=1`);
  };
  afterEach(async () => {
    portainer.answerFirst(false);
    for (let each = 1; each <= made; each += 1) await stopped(`shop-${each}`);
  });

  describe("the stand-in", () => {
    const put = async (id: number, body: Readonly<Record<string, unknown>>) => {
      const response = await fetch(`${portainer.url}/api/stacks/${id}?endpointId=1`, {
        method: "PUT",
        headers: { "x-api-key": portainer.key },
        body: JSON.stringify(body),
      });
      return response.status;
    };

    test("loses the environment that an update leaves out", async () => {
      const { id, file } = await deploy();
      expect(
        await put(id, { stackFileContent: file.replaceAll(`\${API_TAG:-0.0.0}`, versions.old), pullImage: true }),
      ).toBe(200);
      expect(portainer.stack(id).Env).toBeNull();
    });

    test("takes a stack down when its start fails, and keeps it when its pull fails", async () => {
      const { id, file, env, name, web, api } = await deploy();
      const gone = file.replace(versions.old, versions.gone);
      expect(await put(id, { stackFileContent: gone, env, pullImage: true })).toBe(500);
      expect((await containers(name)).get("web")?.State).toBe("running");
      const taken = file.replace(`127.0.0.1:${api}:80`, `127.0.0.1:${web}:80`);
      expect(await put(id, { stackFileContent: taken, env, pullImage: true })).toBe(500);
      expect((await containers(name)).size).toBe(0);
      expect([portainer.file(id), portainer.stack(id).Env, portainer.stack(id).Status]).toEqual([file, env, 1]);
    });
  });

  test("the connection reports the version, a key that nobody knows, and missing rights", async () => {
    expect(await world.main.connections.check(systemActor, connection, live)).toMatchObject({
      ...{ ok: true, version: "2.23.0", platform: "linux/amd64", warnings: [] },
    });
    expect(await checkedWith("ptr_unknown")).toMatchObject({
      ok: false,
      code: "unauthorized",
      message_data: { code: "portainer.unauthenticated" },
    });
    const { ok, warnings } = await checkedWith(portainer.createKey("user"));
    expect([ok, warnings.map(({ code }) => code)]).toEqual([true, ["missing_right"]]);
    const other = await world.connectPortainer({ url: portainer.url, endpoint_id: 7 }, portainer.key);
    expect(await world.main.connections.check(systemActor, other, live)).toMatchObject({
      ok: false,
      message_data: { code: "portainer.environment_missing", params: { endpoint: 7, known: ["1 (primary)"] } },
    });
  });

  test("a private authority is verified by the certificate that the connection names", async () => {
    const authority = createAuthority();
    const secured = await startPortainer({ engine, certificate: authority.issue("127.0.0.1") });
    try {
      const at = { url: secured.url, endpoint_id: 1 };
      const own = await world.connectPortainer({ ...at, ca_certificate: authority.ca }, secured.key);
      expect(await world.main.connections.check(systemActor, own, live)).toMatchObject({ ok: true });
      await using _wary = await world.detour(own, at, { api_key: secured.key });
      expect(await world.main.connections.check(systemActor, own, live)).toMatchObject({
        ok: false,
        code: "unreachable",
      });
      expect(secured.requests.filter((each) => each.startsWith("GET /endpoints/1/"))).not.toEqual([]);
    } finally {
      await secured.stop();
      authority.remove();
    }
  });

  test("stacks are found with their services, and those that cannot be updated say why", async () => {
    const { name } = await deploy();
    const file = `services: {web: {image: "${image(versions.old)}"}}\n`;
    const records = [
      portainer.addRecord({ Name: "from-git", GitConfig: { URL: "https://git.example/shop.git" } }, file),
      portainer.addRecord({ Name: "swarming", Type: 1 }, file),
      portainer.addRecord({ Name: "clustered", Type: 3 }, "kind: Deployment\n"),
      portainer.addRecord({ Name: "at-rest", Status: 2 }, file),
      portainer.addRecord({ Name: "elsewhere", EndpointId: 2 }, file),
    ];
    const { items } = await world.main.connections.targets(connection, live);
    const found = items.find((each) => each.id === name);
    expect(found).toMatchObject({ kind: "stack", is_group: true, refusals: [], warnings: [] });
    expect(found?.services.map((each) => [each.name, each.state])).toEqual([
      ["api", "running"],
      ["db", "running"],
      ["web", "running"],
    ]);
    expect(JSON.stringify(items)).not.toContain(secret);
    const codes = items.flatMap(({ id, refusals }) => (id.startsWith("shop-") ? [] : [[id, refusals[0]?.code]]));
    expect(codes).toEqual([
      ["at-rest", "stopped"],
      ["clustered", "kubernetes"],
      ["from-git", "git"],
      ["swarming", "swarm"],
    ]);
    expect(records.map(updatesOf)).toEqual([0, 0, 0, 0, 0]);
  });

  test("two services are updated by one request, and everything else stays as it was", async () => {
    const { name, id, file, env, web, api, executor } = await deploy();
    expect([await answer(web), await answer(api)]).toEqual(["1.0.0\n", "1.0.0\n"]);
    const before = await containers(name);
    const { plan } = await world.main.executors.plan(executor, live);
    expect(plan).toMatchObject({ is_noop: false, refusals: [] });
    expect(plan?.files.map(({ service, path, patch }) => [service, path, patch])).toEqual([
      ["api", "stack.env", "--- stack.env\n+++ stack.env\n-API_TAG=1.0.0\n+API_TAG=1.1.0\n"],
      [
        "web",
        "docker-compose.yml",
        `--- docker-compose.yml\n+++ docker-compose.yml\n@@ -7 +7 @@\n-    image: "${image(versions.old)}"\n+    image: "${image(versions.good)}"\n`,
      ],
    ]);
    expect(plan?.warnings.map(({ code, message }) => [code, message.includes('"db"')])).toEqual([["pulled_too", true]]);
    const run = await world.update(executor, { plan_hash: plan?.hash });
    expect(run).toMatchObject({ state: "succeeded", serving: "desired" });
    expect([await answer(web), await answer(api)]).toEqual(["1.1.0\n", "1.1.0\n"]);
    const after = await containers(name);
    expect(after.get("db")?.Id).toBe(before.get("db")?.Id ?? "");
    expect(portainer.file(id)).toBe(file.replace(`"${image(versions.old)}"   #`, `"${image(versions.good)}"   #`));
    const expected = env.map((each) => (each.name === "API_TAG" ? { ...each, value: versions.good } : each));
    expect(portainer.stack(id).Env).toEqual(expected);
    expect(updatesOf(id)).toBe(1);
    expect(portainer.puts.at(-1)).toMatchObject({ prune: false, pullImage: true, env: expected });
    expect(JSON.stringify(await world.run(run.id))).not.toContain(secret);
    expect(await world.steps(run.id)).toContain("follow finish");
    expect(await world.update(executor)).toMatchObject({ state: "skipped", reason_code: "already_current" });
    expect(updatesOf(id)).toBe(1);
  });

  test("an image that cannot be pulled changes nothing", async () => {
    const { name, id, file, env, executor } = await deploy();
    const before = await containers(name);
    world.offer(executor, desired(versions.gone));
    const run = await world.update(executor);
    expect(run).toMatchObject({ state: "failed", reason_code: "update_failed", serving: "previous" });
    expect(JSON.stringify(run.reason)).toContain('"portainer.not_deployed"');
    expect((await containers(name)).get("web")?.Id).toBe(before.get("web")?.Id ?? "");
    expect([portainer.file(id), portainer.stack(id).Env]).toEqual([file, env]);
    expect(updatesOf(id)).toBe(1);
  });

  test("a stack that is not the product's to update is refused before any request", async () => {
    const { id, executor } = await deploy();
    for (const [code, record] of [
      ["git", { GitConfig: { URL: "https://git.example/shop.git" } }],
      ["swarm", { Type: 1 }],
      ["kubernetes", { Type: 3 }],
      ["stopped", { Status: 2 }],
    ] as const) {
      portainer.edit(id, { record });
      const run = await world.update(executor);
      expect([code, run.state, run.reason_code]).toEqual([code, "skipped", "target_refused"]);
      expect(JSON.stringify(run.reason)).toContain(`"portainer.${code}"`);
      portainer.edit(id, { record: { GitConfig: null, Type: 2, Status: 1 } });
    }
    expect(updatesOf(id)).toBe(0);
  });

  test("a stack that Portainer took down is put back, with its file and environment", async () => {
    const { id, file, env, web, api, executor } = await deploy();
    world.offer(executor, desired(versions.broken));
    const run = await world.update(executor);
    expect(run).toMatchObject({ state: "failed", reason_code: "update_failed", serving: "previous" });
    expect(JSON.stringify(run.reason)).toContain('"portainer.took_down"');
    expect([await answer(web), await answer(api)]).toEqual(["1.0.0\n", "1.0.0\n"]);
    expect([portainer.file(id), portainer.stack(id).Env]).toEqual([file, env]);
    expect(updatesOf(id)).toBe(2);
    expect(portainer.puts.at(-1)).toMatchObject({ stackFileContent: file, env, prune: false });
  });

  test("what cannot be put back at once is put back later", async () => {
    const { id, web, api, executor } = await deploy();
    // The port that somebody wrote into the file is taken, for the old version too.
    const holder = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("taken") });
    const ports = `'127.0.0.1:${api}:80'`;
    portainer.edit(id, { file: fileOf(web, api).replace(ports, `${ports}\n      - '127.0.0.1:${holder.port}:81'`) });
    const { id: failed } = await world.update(executor);
    expect(await world.run(failed)).toMatchObject({ state: "failed", reason_code: "target_down", serving: "none" });
    expect(updatesOf(id)).toBe(2);
    await holder.stop(true);
    world.clock.pass(60_000);
    await world.tick();
    expect((await world.run(failed)).outage).toMatchObject({ outcome: "recovered", serving: "previous" });
    expect([await answer(web), await answer(api)]).toEqual(["1.0.0\n", "1.0.0\n"]);
  });

  test("a service that crashes or fails its health check is put back, if the executor wants that", async () => {
    for (const [tag, restore_on_failure] of [
      [versions.crash, true],
      [versions.sick, true],
      [versions.sick, false],
    ] as const) {
      const { id, web, file, env, executor } = await deploy({ restore_on_failure });
      world.offer(executor, desired(tag));
      const run = await world.update(executor);
      expect([tag, run.state, run.reason_code, run.serving]).toEqual([
        tag,
        "failed",
        "unhealthy",
        restore_on_failure ? "previous" : "desired",
      ]);
      expect(updatesOf(id)).toBe(restore_on_failure ? 2 : 1);
      if (!restore_on_failure) continue;
      expect(await answer(web)).toBe("1.0.0\n");
      expect([portainer.file(id), portainer.stack(id).Env]).toEqual([file, env]);
    }
  });

  test("what the containers of a stack write is read and followed, without the secrets of its environment", async () => {
    const script = "echo begins $$SPOKEN; n=0; while :; do n=$$((n+1)); echo word $$n; sleep 0.5; done";
    const file = `services:
  voice:
    image: ${image(versions.old)}
    command: ["/bin/sh", "-c", "${script}"]
    environment: {SPOKEN: "\${DB_PASSWORD}"}
`;
    await portainer.createStack("shop-talk", file, [{ name: "DB_PASSWORD", value: secret }]);
    const executor = await world.addExecutor({
      ...{ connection, desired: desired(versions.good), services: ["voice"] },
      target: { kind: "stack", id: "shop-talk" },
    });
    const { logs } = world.main;
    const begun = await eventually("the first words", async () => {
      const found = await logs.read(systemActor, executor, {}, live);
      return (found.view.containers[0]?.lines.length ?? 0) > 1 && found;
    });
    const [part] = begun.view.containers;
    expect(part).toMatchObject({ service: "voice", pod: "", state: "running", why: null });
    expect(part?.lines[0]?.text).toBe("begins [redacted]");
    const known = part?.lines.length ?? 0;
    const watch = await watchLogs(logs, executor, { after: begun.marks });
    await eventually("three more words", () => watch.lines.length >= 3);
    await stopped("shop-talk");
    await eventually("the end of the container", () => watch.parts.length === 0);
    await watch.close();
    expect(watch.lines.slice(0, 3)).toEqual([0, 1, 2].map((more) => `${part?.name}: word ${known + more}`));
  });

  test("a plan that somebody's edit overtook is refused", async () => {
    const { id, file, executor } = await deploy();
    const { plan } = await world.main.executors.plan(executor, live);
    portainer.edit(id, { file: `${file}# edited\n` });
    const run = await world.update(executor, { plan_hash: plan?.hash });
    expect(run).toMatchObject({ state: "failed", reason_code: "target_changed" });
    expect(updatesOf(id)).toBe(0);
  });

  test("a key without rights fails with Portainer's own words", async () => {
    await using _reader = await world.detour(connection, config(), { api_key: portainer.createKey("reader") });
    const { id, web, executor } = await deploy();
    const run = await world.update(executor);
    expect(run).toMatchObject({ state: "failed", serving: "previous" });
    expect(JSON.stringify(run.reason)).toContain("Access denied to resource");
    expect(await answer(web)).toBe("1.0.0\n");
    expect([updatesOf(id), portainer.stack(id).UpdateDate]).toEqual([1, 0]);
  });

  test("the saved stack file leads back by a run of its own, also on a Portainer that answers first", async () => {
    const { id, web, file, env, executor } = await deploy();
    portainer.answerFirst(true);
    const { id: first } = await world.update(executor);
    expect(await answer(web)).toBe("1.1.0\n");
    expect(portainer.stack(id)).toMatchObject({ Status: 1, DeploymentStatus: [{ Message: "" }, { Message: "" }] });
    const run = await world.update(executor, { snapshot_id: await world.snapshotOf(first) });
    expect(run).toMatchObject({ kind: "rollback", state: "succeeded" });
    expect(await answer(web)).toBe("1.0.0\n");
    expect([portainer.file(id), portainer.stack(id).Env]).toEqual([file, env]);
    expect(updatesOf(id)).toBe(2);
  });

  describe("an update whose answer is lost", () => {
    test.each([
      ["after", "cut", "succeeded"],
      ["after", 504, "succeeded"],
      ["after", "hang", "succeeded"],
      ["before", "cut", "failed"],
      ["before", "hang", "failed"],
    ] as const)("%s it was carried out (%p): the run %s", async (when, how, state) => {
      const { id, web, file, executor } = await deploy();
      portainer.fail({ method: "PUT", path: `/stacks/${id}`, when, answer: how });
      const run = await world.update(executor);
      expect(run).toMatchObject({ state, serving: state === "failed" ? "previous" : "desired" });
      expect(await answer(web)).toBe(state === "failed" ? "1.0.0\n" : "1.1.0\n");
      expect(updatesOf(id)).toBe(1);
      if (state === "failed") expect(portainer.file(id)).toBe(file);
    });

    test("a failed one is found out, and the stack is put back", async () => {
      const { id, web, executor } = await deploy();
      world.offer(executor, desired(versions.broken));
      portainer.fail({ method: "PUT", path: `/stacks/${id}`, when: "after", answer: "cut" });
      const run = await world.update(executor);
      expect(run).toMatchObject({ state: "failed", serving: "previous" });
      expect(JSON.stringify(run.reason)).toContain('"portainer.took_down"');
      expect(await answer(web)).toBe("1.0.0\n");
      expect(updatesOf(id)).toBe(2);
    });
  });

  test.each([
    ["/stacks", "failed"],
    ["/stacks/%/file", "failed"],
    ["/endpoints/1/docker/containers/json", "failed"],
    ["/endpoints/1/docker/containers/", "failed"],
  ] as const)("a read that fails (%s) ends the run with a sentence, and nothing is sent", async (path, state) => {
    const { id, web, executor } = await deploy();
    portainer.fail({ method: "GET", path: path.replace("%", String(id)), when: "before", answer: 502 });
    const run = await world.update(executor);
    expect([run.state, run.reason_code]).toEqual([state, "unreachable"]);
    expect(await answer(web)).toBe("1.0.0\n");
    expect(updatesOf(id)).toBe(0);
  });

  /** Kills at one point after the other; no stack is left down or at work, and `judge` also gets how many updates were sent. */
  const killed = (
    { id, executor }: Deployed,
    wanted: string,
    judge: (updates: number, ...end: Parameters<Doomed["judge"]>) => Promise<void>,
  ) =>
    killAtEach(world, executor, pointsOf(mode), async () => {
      const before = portainer.puts.length;
      return {
        desired: desired(wanted),
        judge: async (run) => {
          expect([portainer.updating(), portainer.stack(id).Status]).toEqual([0, 1]);
          await judge(portainer.puts.slice(before).filter(({ pullImage }) => pullImage === true).length, run);
        },
      };
    });

  test.each(rounds)(
    "a process that ends at any point of a run sends one update, and the run comes to its end, round %i",
    async () => {
      const stack = await deploy();
      const { id, file, env } = stack;
      await killed(stack, versions.good, async (updates, { state }) => {
        // Before the update a run ends as interrupted, or is begun again; afterwards it is followed to its end.
        expect([updates, state]).toEqual([Math.min(updates, 1), updates === 0 ? "failed" : "succeeded"]);
        if (updates === 0) return;
        const body = JSON.stringify({ stackFileContent: file, env, pullImage: false });
        const headers = { "x-api-key": portainer.key };
        const url = `${portainer.url}/api/stacks/${id}?endpointId=1`;
        expect((await fetch(url, { method: "PUT", headers, body })).status).toBe(200);
      });
    },
    killingLimitMs,
  );

  test.each(rounds)(
    "and one that ends while a stack is put back leaves the previous version running, round %i",
    async () => {
      const stack = await deploy();
      const { id, file, env, web } = stack;
      await killed(stack, versions.broken, async (updates, { state, serving }) => {
        expect([updates, state, serving]).toEqual([Math.min(updates, 1), "failed", "previous"]);
        expect(await answer(web)).toBe("1.0.0\n");
        expect([portainer.file(id), portainer.stack(id).Env]).toEqual([file, env]);
      });
    },
    killingLimitMs,
  );
});
