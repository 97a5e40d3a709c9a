import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiAnswer, type ApiClient, apiClient, firstSignIn, testPassword } from "../support/server.ts";
import { type Story, startStory, storyMissing } from "../support/story.ts";

const stepLimit = 180_000;

interface Source {
  state: string;
  last_checked_at: string | null;
  last_request_count: number;
}

function text(answer: ApiAnswer, key: string): string {
  const value = answer.body[key];
  if (typeof value !== "string") throw new Error(`No text "${key}" in ${JSON.stringify(answer.body)}`);
  return value;
}

function expectStatus(answer: ApiAnswer, status: number): ApiAnswer {
  if (answer.status !== status) throw new Error(`Answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}

// The whole way from a fresh data directory to an updated container, by the API alone, on real parts. The steps build on each
// other, as they do for the person who takes them.
peerSuite("the story, by the API", storyMissing(), () => {
  let world: Story;
  let api: ApiClient;
  let credential = "";
  let connection = "";
  let notifier = "";
  let executor = "";

  const source = async () => {
    const [first] = (await api.get("/trackers/web")).body.sources as Source[];
    if (first === undefined) throw new Error("The tracker has no source");
    return first;
  };
  /** Checks, and gives the source as it is afterwards. */
  const check = async () => {
    const before = await source();
    expectStatus(await api.post("/trackers/web/checks"), 202);
    return await eventually("the check to end", async () => {
      const now = await source();
      return now.state === "ok" && now.last_checked_at !== before.last_checked_at ? now : null;
    });
  };
  const runs = async () => (await api.get(`/executors/${executor}/runs`)).body.items as Record<string, unknown>[];
  /** The run after those that `count` says, once it has ended. */
  const endedRun = async (count: number) =>
    await eventually("a run to end", async () => {
      const list = await runs();
      const [newest] = list;
      return list.length > count && newest?.ended_at !== null ? newest : null;
    });
  const onlyOneContainer = async (image: string) => {
    const list = await eventually("the leftovers to be gone", async () => {
      const found = await world.containers();
      return found.length === 1 ? found : null;
    });
    expect(list).toEqual([
      { name: "web", state: "running", image: `${world.registry.host}/${world.repository}:${image}` },
    ]);
  };

  beforeAll(async () => {
    world = await startStory();
  }, stepLimit);
  afterAll(async () => {
    await world.stop();
  }, stepLimit);

  test("the first start says the bootstrap password once, and nothing works before it is changed", async () => {
    const lines = world.server.lines.filter((line) => line.includes("bootstrap password"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(" INFO ");
    const first = apiClient(world.server.url);
    const password = world.server.bootstrapPassword();
    first.token = text(expectStatus(await first.post("/session", { username: "admin", password }), 201), "token");
    expect((await first.get("/trackers")).body.error).toMatchObject({ code: "password_change_required" });
    api = await firstSignIn(world.server);
    expect((await api.get("/trackers")).status).toBe(200);
    expect((await first.get("/trackers")).status).toBe(401);
  });

  test("/openapi.json describes every operation that this story uses", async () => {
    const document = await (await fetch(`${world.server.url}/openapi.json`)).json();
    for (const path of [
      "/api/session",
      "/api/account/password",
      "/api/credentials",
      "/api/runtime-connections/{id}/targets",
      "/api/trackers/{name}/checks",
      "/api/tracker-previews",
      "/api/notifiers/{id}/deliveries",
      "/api/executors/{id}/plan",
      "/api/executors/{id}/runs",
      "/api/runs/{id}",
      "/api/snapshots/{id}",
    ]) {
      expect(Object.keys(document.paths)).toContain(path);
    }
  });

  test("a credential and a connection are stored and tested, and the engine's containers are targets", async () => {
    credential = text(
      expectStatus(
        await api.post("/credentials", {
          name: "registry",
          kind: "oci",
          secret: { username: "ci", password: "reg-pass" },
        }),
        201,
      ),
      "id",
    );
    connection = text(
      expectStatus(
        await api.post("/runtime-connections", {
          name: "lab",
          kind: "docker",
          config: { address: world.engine.address },
        }),
        201,
      ),
      "id",
    );
    const tested = await api.post(`/runtime-connections/${connection}/checks`);
    expect(tested.body).toMatchObject({ ok: true, version: expect.any(String) });
    await world.engine.call("POST", "/containers/create?name=throwaway", {
      Image: `${world.registry.host}/${world.repository}:1.0.0`,
      HostConfig: { AutoRemove: true },
    });
    const targets = (await api.get(`/runtime-connections/${connection}/targets`)).body.items as Record<
      string,
      unknown
    >[];
    const byName = Object.fromEntries(targets.map((target) => [String(target.name), target]));
    expect(byName.web).toMatchObject({ refusals: [] });
    expect(byName.throwaway?.refusals).toEqual([expect.objectContaining({ message: expect.stringContaining("--rm") })]);
  });

  test("a tracker is previewed before it is saved, then has a silent baseline", async () => {
    const source = {
      kind: "oci",
      config: { image: world.repository, registry: world.registry.url },
      credential_id: credential,
      channels: [{ type: "stable", include_pattern: "^\\d+\\.\\d+\\.\\d+$", exclude_pattern: "" }],
    };
    await world.push("0.9.0-rc1");
    const preview = expectStatus(await api.post("/tracker-previews", source), 200).body;
    const verdicts = Object.fromEntries(
      (preview.tags as { tag: string; verdicts: { accepted: boolean; rule: string }[] }[]).map(({ tag, verdicts }) => [
        tag,
        verdicts[0]?.rule,
      ]),
    );
    expect(verdicts).toEqual({ "1.0.0": "included", "0.9.0-rc1": "not_included" });
    const refused = await api.post("/tracker-previews", {
      ...source,
      channels: [{ type: "stable", include_pattern: "(?<!x)rc" }],
    });
    expect(refused.status).toBe(422);
    expect((refused.body.error as { fields: object }).fields).toHaveProperty(["channels.0.include_pattern"]);
    const tracker = { name: "web", sources: [{ key: "registry", ...source }], sorting: "semantic" };
    expectStatus(await api.post("/trackers", tracker), 201);
    await check();
    const releases = (await api.get("/trackers/web/releases")).body.items as { tag: string }[];
    expect(releases.map(({ tag }) => tag)).toEqual(["1.0.0"]);
    expect((await api.get("/events")).body.items).toEqual([]);
  });

  test("a notifier sends a test and shows its answer", async () => {
    const created = await api.post("/notifiers", {
      name: "hook",
      url: world.receiver.url,
      signing_secret: "0123456789abcdef",
      language: "en",
      trigger_events: [
        "new_release",
        "republish",
        "executor_run_succeeded",
        "executor_run_failed",
        "executor_run_skipped",
      ],
    });
    notifier = text(expectStatus(created, 201), "id");
    const delivery = expectStatus(await api.post(`/notifiers/${notifier}/deliveries`), 201).body;
    expect(delivery).toMatchObject({ state: "delivered", last_status: 200 });
    expect(world.receiver.of("test")[0]?.headers.get("x-tidemark-signature")).toStartWith("sha256=");
  });

  test("an executor shows its plan and, being current, does nothing", async () => {
    const created = await api.post("/executors", {
      name: "web",
      connection_id: connection,
      target: { kind: "container", id: "web" },
      bindings: [{ tracker: "web", source: "registry", channel: "stable" }],
      trigger: "immediate",
      health_check: {
        strategy: "auto",
        initial_delay_seconds: 0,
        probe_interval_seconds: 1,
        total_probe_duration_seconds: 30,
      },
    });
    executor = text(expectStatus(created, 201), "id");
    const plan = expectStatus(await api.get(`/executors/${executor}/plan`), 200).body;
    expect(plan.unmet).toMatchObject({ code: "already_current" });
    await eventually("the executor to be seen as current", async () => {
      return (await api.get(`/executors/${executor}`)).body.state === "current";
    });
    expect(await runs()).toEqual([]);
  });

  test(
    "a newer tag is found, announced and rolled out without a touch",
    async () => {
      await world.push("1.1.0");
      await check();
      const run = await endedRun(0);
      expect(run).toMatchObject({
        state: "succeeded",
        from: { tag: "1.0.0" },
        to: { tag: "1.1.0" },
        serving: "desired",
      });
      expect(run.downtime_ms).toBeGreaterThan(0);
      expect(await world.serves()).toBe("1.1.0");
      await onlyOneContainer("1.1.0");
      const detail = (await api.get(`/runs/${run.id}`)).body;
      const begun = (detail.steps as { step: string; phase: string }[])
        .filter(({ phase }) => phase === "begin")
        .map(({ step }) => step);
      for (const step of ["pull", "snapshot", "create", "stop", "rename_old", "rename_new", "start", "verify"]) {
        expect(begun).toContain(step);
      }
      await eventually("both deliveries", () => world.receiver.of("executor_run_succeeded").length === 1);
      expect(world.receiver.of("new_release").map(({ body }) => body.version)).toEqual(["1.1.0"]);
      const inspected = (await world.engine.call("GET", "/containers/web/json")) as {
        Config: { Env: string[]; Labels: Record<string, string> };
        HostConfig: { RestartPolicy: { Name: string } };
      };
      expect(inspected.Config.Env).toContain("COLOUR=blue");
      expect(inspected.Config.Env).toContain("APP_VERSION=1.1.0");
      expect(inspected.Config.Labels["com.example.owner"]).toBe("tests");
      expect(inspected.HostConfig.RestartPolicy.Name).toBe("unless-stopped");
    },
    stepLimit,
  );

  test.each([
    ["whose process exits", "1.2.0", { cmd: ["/bin/sh", "-c", "exit 3"] }],
    [
      "whose health check never passes",
      "1.3.0",
      { healthcheck: { Test: ["CMD", "/bin/false"], Interval: 1e9, Timeout: 1e9, Retries: 2 } },
    ],
  ] as const)(
    "an image %s is put back, and the previous one serves again",
    async (_what, tag, image) => {
      const before = (await runs()).length;
      await world.push(tag, image);
      await check();
      const run = await endedRun(before);
      expect(run).toMatchObject({ state: "failed", reason_code: "unhealthy", serving: "previous", to: { tag } });
      expect(await eventually("the previous one to serve", async () => await world.serves())).toBe("1.1.0");
      await onlyOneContainer("1.1.0");
      await eventually("the delivery", () => {
        return world.receiver
          .of("executor_run_failed")
          .some(({ body }) => body.run === run.id && body.serving === "previous");
      });
    },
    stepLimit,
  );

  test(
    "a new digest under the same tag is a republish, and is taken",
    async () => {
      await world.push("1.4.0");
      await check();
      let count = (await runs()).length;
      await eventually(
        "1.4.0 to run",
        async () => (await runs())[0]?.state === "succeeded" && (await world.serves()) === "1.4.0",
      );
      count = (await runs()).length;
      const digest = await world.push("1.4.0", { version: "1.4.0 again" });
      await check();
      const run = await endedRun(count);
      expect(run).toMatchObject({ state: "succeeded", from: { tag: "1.4.0" }, to: { tag: "1.4.0", digest } });
      expect(await world.serves()).toBe("1.4.0 again");
      await eventually("the republish delivery", () => world.receiver.of("republish").length === 1);
    },
    stepLimit,
  );

  test("when nothing is pushed nothing happens, and a check costs two requests, every fourth one more", async () => {
    // Events, not messages: the one of the last run may still be on its way.
    const events = async () => (await api.get("/events?limit=100")).body.items as unknown[];
    const told = (await events()).length;
    const count = (await runs()).length;
    const costs: number[] = [];
    for (let checks = 0; checks < 4; checks += 1) costs.push((await check()).last_request_count);
    expect(costs.toSorted()).toEqual([2, 2, 2, 3]);
    expect((await runs()).length).toBe(count);
    expect(await events()).toHaveLength(told);
  });

  test(
    "a snapshot brings the version before back",
    async () => {
      const snapshots = (await api.get(`/executors/${executor}/snapshots`)).body.items as {
        id: string;
        reference: string;
      }[];
      const older = snapshots.find(({ reference }) => reference.endsWith(":1.1.0"));
      const count = (await runs()).length;
      expectStatus(await api.post(`/executors/${executor}/runs`, { snapshot_id: older?.id }), 202);
      const run = await endedRun(count);
      expect(run).toMatchObject({ kind: "rollback", state: "succeeded" });
      expect(await world.serves()).toBe("1.1.0");
      await onlyOneContainer("1.1.0");
    },
    stepLimit,
  );

  test(
    "kill -9 in the middle of an update: one container, one end, one event",
    async () => {
      const count = (await runs()).length;
      const plan = (await api.get(`/executors/${executor}/plan`)).body.plan as { hash: string };
      expectStatus(await api.post(`/executors/${executor}/runs`, { plan_hash: plan.hash }), 202);
      await eventually("the old one to be moved aside", async () => {
        return (await world.containers()).some(({ name }) => name.endsWith("-previous"));
      });
      await world.server.kill("SIGKILL");
      const server = await world.restartServer();
      expect(server.lines.some((line) => line.includes("bootstrap password"))).toBe(false);
      api = apiClient(server.url, api.token);
      const run = await endedRun(count);
      expect(["succeeded", "failed"]).toContain(String(run.state));
      await onlyOneContainer(run.state === "succeeded" ? "1.4.0" : "1.1.0");
      const ends = (await api.get("/events?limit=100")).body.items as { run_id: string | null }[];
      expect(ends.filter(({ run_id }) => run_id === run.id)).toHaveLength(1);
    },
    stepLimit,
  );

  describe("a forgotten password", () => {
    test("is reset on the host, and the old session is dead", async () => {
      const reset = Bun.spawn([process.execPath, "src/commands/reset-password.ts", "--stdin"], {
        cwd: `${import.meta.dir}/../..`,
        env: { PATH: process.env.PATH ?? "", DATA_DIR: world.server.data_dir },
        stdin: new Blob([`${testPassword} anew\n`]),
        stdout: "pipe",
        stderr: "pipe",
      });
      expect(await reset.exited).toBe(0);
      expect((await api.get("/trackers")).status).toBe(401);
      const again = apiClient(world.server.url);
      expect((await again.post("/session", { username: "admin", password: testPassword })).status).toBe(401);
      const signedIn = await again.post("/session", { username: "admin", password: `${testPassword} anew` });
      expectStatus(signedIn, 201);
    });
  });

  test("no secret is in the log, at debug level", () => {
    const log = world.server.lines.join("\n");
    for (const secret of ["reg-pass", "very-secret-token", "0123456789abcdef", testPassword]) {
      expect(log).not.toContain(secret);
    }
  });
});
