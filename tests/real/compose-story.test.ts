import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  type ComposeStory,
  orders,
  type Service,
  type StoryOptions,
  services,
  startComposeStory,
  storyMissing,
} from "../support/compose-story.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiAnswer, type ApiClient, apiClient, firstSignIn } from "../support/server.ts";
import { differences, type Inspect } from "../support/stack-state.ts";

setDefaultTimeout(180_000);

const rows: readonly StoryOptions[] = [
  { mode: "docker-20", compose: "2.40.3", has_compose: true },
  { mode: "docker-29", compose: "5.6.0", has_compose: false },
  { mode: "docker-29-containerd", compose: "5.6.0", has_compose: true },
];

type Json = Record<string, unknown>;

interface RunDetail {
  id: string;
  kind: string;
  state: string;
  reason_code: string | null;
  reason: string | null;
  serving: string | null;
  downtime_ms: number | null;
  ended_at: string | null;
  containers: { container: string; service: string; because: string; outcome: string; detail: string | null }[];
  plan: { files: FileNotice[] } | null;
  steps: { step: string; phase: string; facts: Json }[];
}

interface FileNotice {
  service: string;
  path: string | null;
  patch: string;
  is_readable: boolean;
  message: string;
}

interface Plan {
  hash: string;
  containers: { name: string; service: string; because: string }[];
  files: FileNotice[];
  diff: { service: string; path: string; before: string | null; after: string | null }[];
  refusals: unknown[];
}

function must(answer: ApiAnswer, status: number): Json {
  if (answer.status !== status) throw new Error(`Answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Each text once, in its order: services whose line is the same edit say the same. */
function patchOf(files: readonly FileNotice[]): string {
  return files.map((file) => file.patch).join("");
}

// What an administrator does with a stack on a bad day, by the API alone, on real parts. The steps build on each other.
for (const options of rows) {
  const { mode, compose, has_compose: hasCompose } = options;
  const title = `the story of a stack: ${mode}, compose ${compose}, ${hasCompose ? "with" : "without"} one of our own`;
  peerSuite(title, storyMissing(options), () => {
    let story: ComposeStory;
    let api: ApiClient;
    let executor = "";
    let failedRun = "";
    let updateRun = "";
    let rollbackRun = "";
    let original: Readonly<Record<Service, Inspect>>;
    let originalIds: Readonly<Record<Service, string>>;
    let originalFile = "";
    const names = services.map((service) => `shop-${service}-1`);

    const check = async (service: Service, tag: string) => {
      must(await api.post(`/trackers/${service}/checks`), 202);
      await eventually(`${service} ${tag} to be found`, async () => {
        const { items } = (await api.get(`/trackers/${service}/releases`)).body as { items: { tag: string }[] };
        return items.some((each) => each.tag === tag);
      });
    };
    const readPlan = async () => {
      const body = must(await api.get(`/executors/${executor}/plan`), 200);
      const { plan, unmet } = body as { plan: Plan; unmet: unknown };
      return { plan, unmet };
    };
    const readRun = async (id: string) => must(await api.get(`/runs/${id}`), 200) as unknown as RunDetail;
    const begin = async (body: Json) => String(must(await api.post(`/executors/${executor}/runs`, body), 202).id);
    /** The run once it has ended and cleared up behind it. */
    const ended = async (id: string) => {
      const run = await eventually("the run to end", async () => {
        const found = await readRun(id);
        return found.ended_at === null ? null : found;
      });
      await eventually("the leftovers to be gone", async () => (await story.containers()).length === 3);
      return run;
    };
    const running = async () =>
      Object.fromEntries(
        (await story.containers()).map((line) => [line.split(" ")[0], line.split(" ").slice(1).join(" ")]),
      );
    const allOf = (db: string, web: string, worker: string) => ({
      "shop-db-1": `running ${db}`,
      "shop-web-1": `running ${web}`,
      "shop-worker-1": `running ${worker}`,
    });
    const inspectAll = async () => {
      const found = await Promise.all(services.map(async (each) => [each, await story.inspect(each)] as const));
      return Object.fromEntries(found) as Record<Service, Inspect>;
    };
    /** Everything in which the stack differs from the one that compose made at first. */
    const sinceThen = async () => {
      const [now, ids] = [await inspectAll(), await story.ids()];
      const known = { before: originalIds, after: ids };
      return services.flatMap((service) =>
        differences(original[service], now[service], known).map((line) => `${service} ${line}`),
      );
    };
    const expectServing = async (version: string) => {
      await eventually(`${version} on the published port`, async () => (await story.page("/")).trim() === version);
      expect(await story.page("/greeting.txt")).toBe("Welcome to the shop\n");
      expect(await story.volumeFile("db", "/var/lib/orders", "orders.txt")).toBe(orders);
      await eventually("the worker to see the web server on its own loopback", async () => {
        return (await story.volumeFile("worker", "/var/jobs", "seen")).trim() === version;
      });
    };
    const eventsOf = async (run: string) => {
      const { items } = must(await api.get("/events?limit=100"), 200) as { items: { run_id: string | null }[] };
      return items.filter((each) => each.run_id === run);
    };

    beforeAll(async () => {
      story = await startComposeStory(options);
      originalIds = await story.ids();
      originalFile = story.file();
      await eventually("the database to be healthy", async () => {
        return (await story.inspect("db")).State.Health?.Status === "healthy";
      });
      original = await inspectAll();
      api = await firstSignIn(story.server);
    });
    afterAll(async () => {
      await story?.stop();
    });

    test("compose's project is one target with its three services", async () => {
      const secret = { username: "ci", password: "reg-pass" };
      const credential = must(await api.post("/credentials", { name: "registry", kind: "oci", secret }), 201).id;
      const config = { address: story.engine.address };
      const connection = must(await api.post("/runtime-connections", { name: "nas", kind: "docker", config }), 201).id;
      const { items } = must(await api.get(`/runtime-connections/${connection}/targets`), 200) as { items: Json[] };
      expect(items.find((each) => each.kind === "compose")).toMatchObject({
        id: "shop",
        refusals: [],
        services: services.map((name) => ({ name, state: "running", containers: [`shop-${name}-1`] })),
      });
      for (const service of services) {
        const source = {
          key: "image",
          kind: "oci",
          config: { image: `shop/${service}`, registry: story.registry.url },
          credential_id: credential,
          channels: [{ type: "stable", include_pattern: "^\\d+\\.\\d+\\.\\d+$" }],
        };
        must(await api.post("/trackers", { name: service, sources: [source], sorting: "semantic" }), 201);
        await check(service, "1.0.0");
      }
      const notifier = {
        name: "hook",
        url: story.receiver.url,
        language: "en",
        trigger_events: ["new_release", "executor_run_succeeded", "executor_run_failed", "executor_run_skipped"],
      };
      must(await api.post("/notifiers", notifier), 201);
      const created = await api.post("/executors", {
        name: "shop",
        connection_id: connection,
        target: { kind: "compose", id: "shop" },
        bindings: services.map((service) => ({ service, tracker: service, source: "image", channel: "stable" })),
        trigger: "manual",
        health_check: {
          strategy: "auto",
          initial_delay_seconds: 0,
          probe_interval_seconds: 1,
          total_probe_duration_seconds: 40,
        },
      });
      executor = String(must(created, 201).id);
      expect((await readPlan()).unmet).toMatchObject({ code: "already_current" });
    });

    test("the plan shows what changes of each service, the containers in their order, and the compose file's lines", async () => {
      await story.push("db", "1.1.0");
      await story.push("web", "1.1.0");
      await story.push("worker", "1.1.0", { broken: true });
      for (const service of services) await check(service, "1.1.0");
      const { plan, unmet } = await readPlan();
      expect(unmet).toBeNull();
      expect(plan.refusals).toEqual([]);
      expect(plan.containers.map(({ name, because }) => `${name} ${because}`)).toEqual(
        names.map((name) => `${name} desired`),
      );
      for (const service of services) {
        const [image] = plan.diff.filter((line) => line.service === service && line.path === "Image");
        expect(image).toMatchObject({
          before: `${story.registry.host}/shop/${service}:1.0.0`,
          after: `${story.registry.host}/shop/${service}:1.1.0`,
        });
      }
      expect(plan.files.map(({ service, is_readable, path }) => [service, is_readable, path])).toEqual(
        services.map((service) => [service, true, `${story.folder}/compose.yaml`]),
      );
      // The new id is not known before the pull, and nothing is said to be taken away.
      expect(plan.diff.filter(({ path, after }) => path.startsWith("Labels.") && after === null)).toEqual([]);
      expect(plan.diff.filter(({ after }) => after === "")).toEqual([]);
      for (const { patch, message } of plan.files) {
        expect(patch).not.toContain("only-in-the-file");
        expect(message).toContain(hasCompose ? "recreates nothing" : "recreates the container");
      }
      expect(await story.ids()).toEqual(originalIds);
    });

    test("a worker that ends at once: everything is put back, and the run says what each container did and why", async () => {
      const { plan } = await readPlan();
      failedRun = await begin({ plan_hash: plan.hash });
      const run = await ended(failedRun);
      expect(run).toMatchObject({ state: "failed", reason_code: "unhealthy", serving: "previous" });
      expect(run.reason).toContain('"shop-worker-1": ');
      expect(run.reason).not.toContain("shop-web-1");
      expect(run.containers.map(({ container, outcome }) => [container, outcome])).toEqual(
        names.map((name) => [name, "put_back"]),
      );
      const steps = (name: string) =>
        run.steps.filter(({ phase, facts }) => phase === "finish" && facts.container === name).map(({ step }) => step);
      for (const name of names) {
        expect(steps(name)).toEqual(expect.arrayContaining(["create", "stop", "rename_old", "rename_new", "start"]));
      }
      expect(await running()).toEqual(allOf("1.0.0", "1.0.0", "1.0.0"));
      await expectServing("1.0.0");
      expect(await sinceThen()).toEqual([]);
      const ids = await story.ids();
      expect(await story.up()).toEqual(ids);
      expect(ids).toEqual(originalIds);
    });

    test("with the worker's tag mended the same stack is updated, and nothing of it is lost", async () => {
      await story.push("worker", "1.1.1");
      await check("worker", "1.1.1");
      const { plan } = await readPlan();
      updateRun = await begin({ plan_hash: plan.hash });
      const run = await ended(updateRun);
      expect(run).toMatchObject({ state: "succeeded", serving: "desired", reason_code: null });
      expect(run.downtime_ms).toBeGreaterThan(0);
      expect(run.containers.map(({ container, outcome }) => [container, outcome])).toEqual(
        names.map((name) => [name, "updated"]),
      );
      expect(await running()).toEqual(allOf("1.1.0", "1.1.0", "1.1.1"));
      await expectServing("1.1.0");
      const changed = await sinceThen();
      const ofImages = /^(db|web|worker) (Image|ImageManifestDescriptor\.[^:]*|Config\.(Image|Env|Labels\.[^:]*)): /;
      expect(changed.filter((line) => !ofImages.test(line))).toEqual([]);
      const labels = changed.flatMap((line) => / Config\.Labels\.([^:]*): /.exec(line)?.[1] ?? []);
      const expected = ["build", "org.opencontainers.image.version", "com.docker.compose.image"];
      expect([...new Set(labels)].sort()).toEqual(
        [...expected, ...(hasCompose ? ["com.docker.compose.config-hash"] : [])].sort(),
      );
    });

    test("with the run's patch in the compose file `up` goes back nowhere, and where the hash is known makes nothing anew", async () => {
      const run = await readRun(updateRun);
      const patch = patchOf(run.plan?.files ?? []);
      story.patch(patch);
      const wanted = originalFile
        .replace("shop/db:1.0.0", "shop/db:1.1.0")
        .replace("shop/web:1.0.0", "shop/web:1.1.0")
        .replace("shop/worker:1.0.0", "shop/worker:1.1.1");
      expect(story.file()).toBe(wanted);
      const ids = await story.ids();
      const after = await story.up();
      if (hasCompose) expect(after).toEqual(ids);
      expect(await running()).toEqual(allOf("1.1.0", "1.1.0", "1.1.1"));
      await expectServing("1.1.0");
    });

    test("a rollback brings every volume, address, alias, label and file back as it was", async () => {
      const { items } = must(await api.get(`/executors/${executor}/snapshots`), 200) as {
        items: { id: string; run_id: string }[];
      };
      const snapshot = items.find((each) => each.run_id === updateRun);
      const diff = must(await api.get(`/snapshots/${snapshot?.id}/diff`), 200) as {
        plan_hash: string;
        files: FileNotice[];
        warnings: unknown[];
      };
      expect(diff.warnings).toEqual([]);
      expect(diff.files.map(({ service }) => service)).toEqual([...services]);
      rollbackRun = await begin({ snapshot_id: snapshot?.id, plan_hash: diff.plan_hash });
      const run = await ended(rollbackRun);
      expect(run).toMatchObject({ kind: "rollback", state: "succeeded" });
      expect(await running()).toEqual(allOf("1.0.0", "1.0.0", "1.0.0"));
      await expectServing("1.0.0");
      const web = await story.inspect("web");
      expect(web.NetworkSettings.Networks.shop_front?.IPAddress).toBe(story.address);
      // The hash of what shares a network has the id of the one that it shares with in it.
      const different = (await sinceThen()).filter(
        (line) => !/^worker Config\.Labels\.com\.docker\.compose\.config-hash/.test(line),
      );
      expect(different).toEqual([]);
    });

    test("the rollback's patch leads the compose file back too, and `up` finds nothing to do", async () => {
      const run = await readRun(rollbackRun);
      story.patch(patchOf(run.plan?.files ?? []));
      expect(story.file()).toBe(originalFile);
      const ids = await story.ids();
      const after = await story.up();
      if (hasCompose) expect(after).toEqual(ids);
      expect(await running()).toEqual(allOf("1.0.0", "1.0.0", "1.0.0"));
      await expectServing("1.0.0");
    });

    test("the receiver got each event once", async () => {
      await eventually("the last delivery", () => story.receiver.of("executor_run_succeeded").length >= 2);
      const runsOf = (event: string) => story.receiver.of(event).map(({ body }) => body.run);
      expect(runsOf("executor_run_failed")).toEqual([failedRun]);
      expect(runsOf("executor_run_succeeded")).toEqual([updateRun, rollbackRun]);
      expect(runsOf("executor_run_skipped")).toEqual([]);
      const releases = story.receiver.of("new_release").map(({ body }) => `${body.tracker} ${body.tag}`);
      expect(releases.sort()).toEqual(["db 1.1.0", "web 1.1.0", "worker 1.1.0", "worker 1.1.1"]);
    });

    test.each([
      ["updating", "1.2.0"],
      ["verifying", "1.3.0"],
    ])("kill -9 of the server while the group is %s: one end, one event, one version", async (state, tag) => {
      for (const service of services) {
        await story.push(service, tag);
        await check(service, tag);
      }
      const before = await running();
      const id = await begin({ plan_hash: (await readPlan()).plan.hash });
      await eventually(`the run to be ${state}`, async () => {
        if (state === "verifying") return (await readRun(id)).state === state;
        return (await story.containers()).some((line) => line.includes("-previous "));
      });
      await story.server.kill("SIGKILL");
      const server = await story.restartServer();
      api = apiClient(server.url, api.token);
      const run = await ended(id);
      expect(["succeeded", "failed"]).toContain(run.state);
      expect(await running()).toEqual(run.state === "succeeded" ? allOf(tag, tag, tag) : before);
      await expectServing(run.state === "succeeded" ? tag : String(before["shop-web-1"]?.split(" ")[1]));
      expect(await eventsOf(id)).toHaveLength(1);
      await eventually("its delivery", () => story.receiver.received.some(({ body }) => body.run === id));
      expect(story.receiver.received.filter(({ body }) => body.run === id)).toHaveLength(1);
    });
  });
}
