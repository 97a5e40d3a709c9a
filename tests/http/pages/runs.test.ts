import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { run_steps, runs, snapshots } from "../../../src/db/tables.ts";
import { plain, say, toldAs } from "../../../src/messages/message.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let executorId: string;
beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterAll(() => app.close());

type Step = readonly [step: string, phase: "begin" | "finish" | "fail", facts?: Record<string, unknown>];

const plan = {
  services: [
    {
      service: "main",
      from: { reference: "registry.test/app:1.0", digest: null, image_id: "old" },
      to: { reference: "registry.test/app:1.1", digest: `sha256:${"b".repeat(64)}` },
    },
  ],
  diff: [
    {
      service: "main",
      path: "Image",
      before: "registry.test/app:1.0",
      after: "registry.test/app:1.1",
      because: "desired",
    },
    { service: "main", path: "Env.APP_VERSION", before: "1.0", after: "1.1", because: "image" },
  ],
  carried: { settings: 40, mounts: 2 },
  was_running: true,
};

let made = 0;
/** A run as the journal of a real one leaves it, a second a step. */
async function addRun(steps: readonly Step[], columns: Partial<typeof runs.$inferInsert> = {}): Promise<string> {
  made += 1;
  const id = `00000000-0000-7000-8000-${String(made).padStart(12, "0")}`;
  const now = app.clock.now();
  await app.db.write(async (tx) => {
    const base = {
      id,
      executor_id: executorId,
      kind: "update" as const,
      state: "succeeded" as const,
      trigger: "manual" as const,
    };
    const tags = { from_tag: "1.0", to_tag: "1.1", plan, plan_hash: "a".repeat(64) };
    const times = { due_at: now, created_at: now, started_at: now, ended_at: now + 9_000 };
    await tx.insert(runs).values({ ...base, ...tags, ...times, ...columns });
    for (const [index, [step, phase, facts]] of steps.entries()) {
      await tx
        .insert(run_steps)
        .values({ run_id: id, seq: index + 1, step, phase, facts: facts ?? {}, at: now + index * 1000 });
    }
  });
  return id;
}

const upToStart: readonly Step[] = [
  ["queue", "finish", { trigger: "manual" }],
  ["claim", "begin"],
  ["capturing", "finish"],
  ["pull", "begin"],
  ["pull", "finish", { was_local: false }],
  ["snapshot", "begin"],
  ["snapshot", "finish"],
  ["updating", "finish"],
  ["create", "begin"],
  ["create", "finish"],
  ["stop", "begin"],
  ["rename_old", "begin", { from: "web", to: "web-previous" }],
  ["rename_old", "finish"],
  ["rename_new", "begin", { from: "web-next", to: "web" }],
  ["rename_new", "finish"],
  ["start", "begin"],
  ["stop", "finish", { stopping_at: 1_000, stopped_at: 1_250 }],
  ["start", "finish"],
  ["verifying", "finish"],
  ["verify", "begin"],
];

/** `done Image pulled`, for each step in the page. */
function stepsIn(html: string): string[] {
  const found = html.matchAll(/<li class="step (\w+)" id="step-\w+".*?<p class="step-title">(.*?)<\/p>/gs);
  return [...found].map(([, state = "", title = ""]) => `${state} ${title.replaceAll(/<[^>]+>/g, "")}`);
}

test("without runs the list says what a run is", async () => {
  expect((await person.get("/runs")).text).toContain("No runs yet");
  await addSurroundings(app);
  const created = await person.api("POST", "/executors", {
    name: "web",
    connection_id: "connection-1",
    target: { kind: "container", id: "web" },
    bindings: [{ tracker: "app", source: "main", channel: "stable" }],
    trigger: "manual",
  });
  executorId = String(created.body.id);
});

describe("a run's page", () => {
  test("says of an ended run when it is next tried to remove what was kept aside, and nothing once that is done", async () => {
    const words = "Next attempt to remove the kept containers";
    const ended: readonly Step[] = [
      ...upToStart,
      ["commit", "finish"],
      ["succeeded", "finish"],
      ["remove_old", "fail"],
    ];
    const owing = await addRun(ended, { cleanup_due_at: app.clock.now() + 60_000 });
    expect((await person.get(`/runs/${owing}`)).text).toContain(words);
    expect((await person.api("GET", `/runs/${owing}`)).body.cleanup_due_at).toBeString();
    expect((await person.get(`/runs/${await addRun(ended)}`)).text).not.toContain(words);
  });

  test("tells a success step by step, with its diff and without a stream", async () => {
    const id = await addRun(
      [
        ...upToStart,
        ["probe", "finish", { number: 1, detail: "Answered 200", duration_ms: 4 }],
        ["verify", "finish", { detail: "Answered 200", attempts: 1 }],
        ["commit", "finish"],
        ["succeeded", "finish"],
        ["remove_old", "begin"],
        ["remove_old", "finish"],
      ],
      { downtime_ms: 310, ready_ms: 900, serving: "desired" },
    );
    const { text } = await person.get(`/runs/${id}`);
    expect(stepsIn(text)).toEqual([
      "done Queued",
      "done Plan checked against the target",
      "done Image pulled registry.test/app:1.1",
      "done Configuration saved",
      "done New container created and compared with the plan",
      "done Previous container stopped",
      "done Names swapped",
      "done New container started",
      "done Healthy",
      "done Succeeded",
      "done Previous container removed",
    ]);
    expect(text).toContain("0.31 s");
    expect(text).toContain("Env.APP_VERSION");
    expect(text).toContain("set by the image");
    expect(text).toContain("42 other settings unchanged");
    expect(text).not.toContain("hx-sse");
  });

  test("says that the previous container serves again, and shows what the probes answered", async () => {
    const id = await addRun(
      [
        ...upToStart,
        ...[1, 2, 3, 4, 5, 6, 7].map(
          (number): Step => ["probe", "fail", { number, detail: `Answered 50${number}`, duration_ms: 4 }],
        ),
        ["verify", "fail", { detail: "Answered 507", attempts: 7 }],
        ["failure", "fail", { reason_code: "unhealthy" }],
        ["undo", "begin"],
        ["undo", "finish"],
        ["serving", "finish"],
        ["failed", "fail", { reason_code: "unhealthy", reason: "It did not pass" }],
      ],
      {
        state: "failed",
        reason_code: "unhealthy",
        reason: plain("It did not pass"),
        serving: "previous",
        downtime_ms: 2_200,
      },
    );
    const { text } = await person.get(`/runs/${id}`);
    expect(text).toContain("The previous version is running again");
    expect(stepsIn(text).slice(-3)).toEqual([
      "failed Not healthy",
      "done Previous container restored",
      "failed Failed, previous version running",
    ]);
    expect(text).toContain("2 earlier attempts");
    expect(text).toContain("Answered 503");
    expect(text).not.toContain("Answered 502");
    expect(text).toContain(`href="/executors/${executorId}/run"`);
  });

  test("says of a run that ended before its first step that it changed nothing, not that nobody knows what runs", async () => {
    const ended = (steps: readonly Step[]) =>
      addRun([...steps, ["failed", "fail", { reason: "No" }]], {
        ...{ state: "failed", reason_code: "plan_changed", reason: plain("No"), serving: "unknown" },
      });
    const early = (await person.get(`/runs/${await ended([["queue", "finish"]])}`)).text;
    expect(early).toContain("Nothing was changed");
    expect(early).not.toContain("The running version is unknown");
    const late = (await person.get(`/runs/${await ended([...upToStart])}`)).text;
    expect(late).toContain("The running version is unknown");
  });

  test("says loudly that nothing serves, and shows the engine's message as it is", async () => {
    const id = await addRun(
      [
        ["queue", "finish"],
        ["claim", "begin"],
        ["capturing", "finish"],
        ["pull", "begin"],
        ["pull", "fail", { error: "manifest for <b>app</b> unknown" }],
        ["failed", "fail", { reason: "No" }],
      ],
      { state: "failed", reason_code: "target_down", reason: plain("No"), serving: "none" },
    );
    const { text } = await person.get(`/runs/${id}`);
    expect(text).toContain("Nothing is running");
    // It saved none.
    expect(text).toContain("This run has no snapshot to roll back to");
    expect(text).not.toContain("roll back to the snapshot of this run");
    expect(text).toContain("manifest for &lt;b&gt;app&lt;/b&gt; unknown");
    expect(stepsIn(text)).toContain("failed Image not pulled registry.test/app:1.1");
  });

  test("shows what is still to come while it goes on, with progress as the engine reported it", async () => {
    const id = await addRun(
      [
        ["queue", "finish"],
        ["claim", "begin"],
        ["capturing", "finish"],
        ["pull", "begin"],
      ],
      {
        state: "capturing",
        ended_at: null,
        progress: { bytes: 5_000_000, total_bytes: 20_000_000, layers_done: 1, layers_total: 3 },
        lease_owner: "somebody",
        lease_until: app.clock.now() + 1e9,
      },
    );
    const { text } = await person.get(`/runs/${id}`);
    expect(stepsIn(text).slice(2, 5)).toEqual([
      "running Pulling the image registry.test/app:1.1",
      "waiting Save the configuration",
      "waiting Create the new container",
    ]);
    expect(text).toContain('aria-valuenow="5000000"');
    expect(text).toContain("5 MB of 20 MB");
    expect(text).toContain("1 of 3 layers");
    expect(text).toContain(`hx-sse:connect="/runs/${id}/stream"`);
    // Deferred scripts run when htmx no longer waits for the ones after it.
    expect(text).not.toMatch(/htmx(-sse)?\.[\w.-]*js" defer/);
    const parts = await person.get(`/runs/${id}/parts`, { htmx: true });
    expect(parts.text).toStartWith("<hx-partial");
    expect(parts.text).toContain('hx-target="#run-steps"');
    await app.db.write(async (tx) => {
      await tx.update(runs).set({ state: "failed", ended_at: app.clock.now(), lease_owner: null });
    });
  });

  test("offers the way back to what it saved", async () => {
    const id = await addRun(
      [
        ["queue", "finish"],
        ["succeeded", "finish"],
      ],
      { serving: "desired" },
    );
    const snapshot = {
      id: "saved",
      executor_id: executorId,
      run_id: id,
      sealed_content: app.sealer.seal('{"Env":["A=b"]}'),
    };
    await app.db.write(async (tx) => {
      await tx.insert(snapshots).values({
        ...snapshot,
        reference: "registry.test/app:1.0",
        image_id: "old",
        size_bytes: 14_000,
        created_at: app.clock.now(),
      });
    });
    const way = `/executors/${executorId}/snapshots/saved`;
    const down = { state: "failed", reason: plain("No"), serving: "none" } as const;
    await app.db.write((tx) => tx.update(runs).set(down).where(eq(runs.id, id)));
    expect((await person.get(`/runs/${id}`)).text).toContain("or roll back to the snapshot of this run");
    expect((await person.get(`/runs/${id}`)).text).toContain(`href="${way}/restore"`);
    const question = await person.get(`${way}/restore`, { htmx: true });
    expect(question.text).toContain("Data in volumes is not rolled back.");
    expect((await person.post(`${way}/lock`, { locked: "yes" }, { htmx: true })).text).toContain("Locked");
    expect((await person.post(`${way}/delete`)).status).toBe(409);
    await person.post(`${way}/lock`, { locked: "no" });
    expect((await person.post(`${way}/delete`)).location).toBe(`/executors/${executorId}`);
    expect((await person.get(`${way}/restore`)).status).toBe(404);
  });

  test("is complete in Chinese, without anything inline", async () => {
    const disabled = say("runs.connection_disabled");
    const id = await addRun([...upToStart, ["failed", "fail", toldAs("reason", disabled)]], {
      state: "failed",
      reason: disabled,
      serving: "unknown",
    });
    for (const address of ["/runs", "/runs?state=failed", `/runs/${id}`]) {
      const page = await person.get(address, { headers: { "accept-language": "zh" } });
      expect(page.status).toBe(200);
      expect(page.text).not.toMatch(/ (style|on\w+)="|\[object |>undefined|undefined</);
    }
    expect((await person.get(`/runs/${id}`, { headers: { "accept-language": "zh" } })).text).toContain("连接已停用");
  });
});

describe("the stream of a run", () => {
  const events = async (id: string, headers: Record<string, string> = {}) =>
    (await person.get(`/runs/${id}/stream`, { headers })).text.split("\n\n").filter((event) => event.startsWith("id:"));

  test("brings the parts that changed, then ends what listens, and resumes after the last id", async () => {
    const id = await addRun([
      ["queue", "finish"],
      ["claim", "begin"],
      ["succeeded", "finish"],
    ]);
    const all = await events(id);
    expect(all[0]).toContain("id: 1");
    expect(all[0]).toContain('hx-target="#run-steps"');
    expect(all.at(-1)).toContain('hx-target="#run-live" hx-swap="outerHTML"');
    expect(all.at(-1)).toContain('<div id="run-live"></div>');
    const rest = await events(id, { "last-event-id": "3" });
    expect(rest.map((event) => event.split("\n")[0])).toEqual(["id: 3"]);
    expect(rest[0]).toContain('hx-target="#run-live"');
  });

  test("says nothing to somebody who is not signed in, and 404 for no run", async () => {
    const id = await addRun([
      ["queue", "finish"],
      ["succeeded", "finish"],
    ]);
    const stranger = await app.browser().get(`/runs/${id}/stream`);
    expect(stranger.status).not.toBe(200);
    expect(stranger.text).not.toContain("run-steps");
    expect((await person.get("/runs/nobody/stream")).status).toBe(404);
  });
});

test("the list filters by outcome and executor, in its address", async () => {
  const all = await person.get("/runs");
  expect(all.text).toContain("Failed, previous version running");
  const succeeded = await person.get("/runs?state=succeeded");
  expect(succeeded.text).toContain("Succeeded");
  expect(succeeded.text).not.toContain("Failed, previous version running");
  expect((await person.get(`/runs?executor_id=${executorId}`)).text).toContain("Only web");
});

describe("a run on several containers", () => {
  const of = (container: string, seconds: readonly (readonly [string, "begin" | "finish" | "fail"])[]): Step[] =>
    seconds.map(([step, phase]) => [
      step,
      phase,
      { container, ...(phase === "fail" ? { error: `The port of ${container} is taken` } : {}) },
    ]);
  const swapped = [
    ["stop", "begin"],
    ["stop", "finish"],
    ["rename_old", "begin"],
    ["rename_old", "finish"],
    ["rename_new", "begin"],
    ["rename_new", "finish"],
    ["start", "begin"],
  ] as const;
  const groupPlan = {
    ...plan,
    containers: [
      { name: "shop-db-1", service: "db", because: "desired", is_running: true },
      { name: "shop-web-1", service: "web", because: "desired", is_running: true },
      { name: "shop-cron-1", service: "cron", because: "shares", is_running: true },
    ],
  };
  const container = (name: string, service: string, outcome: string, more = {}) => ({
    ...{ container: name, service, because: "desired", outcome, downtime_ms: null, detail: null },
    ...more,
  });

  test("tells each container by itself, what failed with its words, and what was not touched", async () => {
    const id = await addRun(
      [
        ...upToStart.slice(0, 5),
        ...of("shop-db-1", [["create", "begin"], ["create", "finish"], ...swapped, ["start", "finish"]]),
        ...of("shop-web-1", [["create", "begin"], ["create", "finish"], ...swapped, ["start", "fail"]]),
        ...of("shop-web-1", [
          ["undo", "begin"],
          ["undo", "finish"],
        ]),
        ...of("shop-db-1", [
          ["undo", "begin"],
          ["undo", "finish"],
        ]),
        ["failed", "fail", { reason_code: "update_failed" }],
      ],
      {
        ...{ state: "failed", serving: "previous", plan: groupPlan, downtime_ms: 21_000, reason_code: "update_failed" },
        containers: [
          container("shop-db-1", "db", "put_back", { downtime_ms: 21_000 }),
          container("shop-web-1", "web", "put_back", {
            downtime_ms: 9_000,
            detail: "The port of shop-web-1 is taken",
            is_cause: true,
          }),
          container("shop-cron-1", "cron", "untouched", { because: "shares" }),
        ],
      },
    );
    const { text } = await person.get(`/runs/${id}`);
    expect(text).toMatch(/shop-db-1<\/span> restored[\s\S]*?down 21/);
    expect(text).toMatch(
      /shop-web-1<\/span> <b>the run failed here<\/b>, restored[\s\S]*?The port of shop-web-1 is taken[\s\S]*?New container did not start/,
    );
    expect(text).toMatch(/shop-cron-1<\/span> unchanged[\s\S]*?shares something with a replaced container/);
    expect(text.match(/id="step-container-\d"/g)).toHaveLength(3);
    // The steps of all come before them, the end after them.
    expect(text).toMatch(/id="step-pull"[\s\S]*id="step-container-0"[\s\S]*id="step-container-2"[\s\S]*id="step-end"/);
    expect(text).not.toContain('id="step-stop"');
  });

  test("while it goes on shows which container is at work and which still wait", async () => {
    const id = await addRun(
      [
        ...upToStart.slice(0, 5),
        ...of("shop-db-1", [["create", "begin"], ["create", "finish"], ...swapped, ["start", "finish"]]),
        ...of("shop-web-1", [
          ["create", "begin"],
          ["create", "finish"],
          ["stop", "begin"],
        ]),
      ],
      { state: "updating", ended_at: null, plan: groupPlan },
    );
    const { text } = await person.get(`/runs/${id}`);
    const state = (index: number) => new RegExp(`class="step (\\w+)" id="step-container-${index}"`).exec(text)?.[1];
    expect([state(0), state(1), state(2)]).toEqual(["done", "running", "waiting"]);
    expect(text).toContain('id="step-verify"');
    await app.db.write((tx) => tx.delete(runs));
  });
});
