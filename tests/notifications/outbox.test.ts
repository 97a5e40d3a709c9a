import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { auditRecorder } from "../../src/auth/audit.ts";
import { countedTime } from "../../src/counted-time.ts";
import { PluginError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { plain, say } from "../../src/messages/message.ts";
import { createOutbox, NotifierUnreadable, type SendMessage } from "../../src/notifications/outbox.ts";
import type { NewEvent } from "../../src/notifications/schema.ts";
import { notificationService } from "../../src/notifications/service.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { createSealer } from "../../src/secrets/sealed.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { type TemporaryDatabase, temporaryDatabase } from "../support/temporary-database.ts";

const actor = { name: "admin", address: null, request_id: null };
const newRelease: NewEvent = {
  kind: "new_release",
  tracker_id: "t1",
  facts: {
    tracker: "nginx",
    channel: "stable",
    channel_type: "stable",
    version: "1.28.0",
    tag: "1.28.0",
    maturity: "release" as const,
    remark: null,
    previous_version: "1.27.5",
    sources: ["hub"],
    url: null,
    notes: null,
    also: ["1.27.9"],
    previous_revision: null,
    revision: "sha256:aa",
  },
};

let temporary: TemporaryDatabase;
beforeEach(async () => {
  temporary = await temporaryDatabase();
});
afterEach(() => temporary.close());

/** An outbox whose network is `answers`, taken one by one; a function throws or answers, a number is the status. */
async function setUp(answers: readonly (number | Error)[], instance = "a") {
  const { db } = temporary;
  const clock = createFakeClock();
  const sent: { notifier: string; id: string; event: string; body: Readonly<Record<string, unknown>> }[] = [];
  const blocked: string[] = [];
  const queue = [...answers];
  const send: SendMessage = async (notifier, message) => {
    sent.push({ notifier: notifier.name, id: message.id, event: message.event, body: message.body });
    const answer = queue.shift() ?? 200;
    if (typeof answer !== "number") throw answer;
    return { status: answer, retry_after_ms: answer === 429 ? 300_000 : null };
  };
  const outbox = createOutbox({
    db,
    clock,
    counted: countedTime(clock, null),
    log: createLog({ level: "error", format: "text", clock, redact: (text) => text, write: () => undefined }),
    instance_id: instance,
    baseUrl: () => "https://tidemark.example",
    send,
    explainByClock: (reason, host) => say("phrases.joined", { items: [reason, plain(host)] }),
    excerpt: (text) => text,
    onDue: () => undefined,
    onBlocked: async (notifier) => {
      blocked.push(notifier.name);
    },
    approvalLink: ({ run, plan_hash, approval_until }) =>
      `https://tidemark.example/approvals/${run}/token-of-${plan_hash}-${approval_until}`,
  });
  const sealer = createSealer({ keys: { primary: generateFernetKey() }, clock, onOpen: () => undefined });
  const service = notificationService({
    db,
    clock,
    sealer,
    audit: auditRecorder({ clock }),
    outbox,
    judgeDestination: (url) => (url.includes("blocked") ? say("net.destination_blocked", { entry: null }) : null),
  });
  const notifier = async (name: string, more: Record<string, unknown> = {}) =>
    await service.create(actor, {
      name,
      url: "https://hooks.example/secret-path",
      language: "en",
      trigger_events: ["new_release"],
      ...more,
    });
  /** Delivers what is due now, as the scheduler would. */
  const deliverDue = async () => {
    for (const { id } of await outbox.due(clock.now(), 100)) await outbox.deliver(id, AbortSignal.timeout(60_000));
  };
  const record = () => db.write((tx) => outbox.recordEvent(tx, newRelease));
  return { clock, outbox, service, sent, blocked, notifier, deliverDue, record };
}

test.each([
  [401, true],
  [500, false],
])("a receiver that answers %d is told with what its clock explains: %p", async (status, isExplained) => {
  const { notifier, record, deliverDue, service } = await setUp([status]);
  const { id } = await notifier("hook");
  await record();
  await deliverDue();
  const [delivery] = (await service.deliveriesOf(id).list({})).items;
  expect(delivery?.last_error_data).toMatchObject({
    code: isExplained ? "phrases.joined" : "notifications.receiver_answered",
  });
});

describe("recordEvent()", () => {
  test("makes one delivery for each enabled notifier that wants the event", async () => {
    const { notifier, record, deliverDue, sent } = await setUp([]);
    await notifier("wants");
    await notifier("off", { is_enabled: false });
    await notifier("other", { trigger_events: ["executor_run_failed"] });
    await record();
    await deliverDue();
    expect(sent.map(({ notifier: name }) => name)).toEqual(["wants"]);
    expect(sent[0]?.body).toMatchObject({
      event: "new_release",
      title: "nginx 1.28.0 is out",
      tracker: "nginx",
      version: "1.28.0",
      previous_version: "1.27.5",
      also: ["1.27.9"],
      url: "https://tidemark.example/trackers/nginx",
    });
    for (const key of ["text", "content", "message"]) expect(sent[0]?.body[key]).toBeString();
  });

  test("leaves nothing behind when the caller's transaction fails", async () => {
    const { notifier, outbox, service, deliverDue, sent } = await setUp([]);
    await notifier("hook");
    const work = temporary.db.write(async (tx) => {
      await outbox.recordEvent(tx, newRelease);
      throw new Error("the caller failed");
    });
    await expect(work).rejects.toThrow("the caller failed");
    await deliverDue();
    expect(sent).toEqual([]);
    expect((await service.listEvents({})).items).toEqual([]);
  });

  test("writes the message in the notifier's language", async () => {
    const { notifier, record, deliverDue, sent } = await setUp([]);
    await notifier("zh", { language: "zh" });
    await record();
    await deliverDue();
    expect(sent[0]?.body.title).toBe("nginx 发布了 1.28.0");
  });

  test("says that the queue is full instead of growing without bound", async () => {
    const { notifier, record, service } = await setUp([]);
    const { id } = await notifier("hook");
    for (let count = 0; count < 1001; count += 1) await record();
    const [last] = (await service.deliveriesOf(id).list({ limit: 1 })).items;
    expect((await service.get(id)).pending_count).toBe(1000);
    expect(last).toMatchObject({ state: "failed" });
    expect(last?.last_error).toContain("queue of this notifier is full");
  }, 60_000);
});

describe("a run that awaits approval", () => {
  const facts = {
    executor: "web",
    run: "run-1",
    kind: "update",
    from: { tag: "1.0", digest: null },
    to: { tag: "1.1", digest: null },
    target: "web",
    plan_hash: "abc",
    approval_until: Date.UTC(2026, 10, 21, 9, 30),
  } as const;
  const asked = { kind: "executor_run_awaiting_approval", executor_id: "e", facts } as const;
  const link = `https://tidemark.example/approvals/run-1/token-of-abc-${facts.approval_until}`;

  test.each([
    ["en", "web: update needs approval", "Approve it by 2026-11-21 09:30 UTC", `Approve or refuse: ${link}`],
    ["zh", "web：更新待批准", "请在 2026-11-21 09:30 UTC 之前批准", `批准或拒绝：${link}`],
  ])("is told with its link in %s, which is put in when it is sent", async (language, title, until, line) => {
    const { notifier, outbox, deliverDue, sent } = await setUp([500]);
    await notifier("hook", { language, trigger_events: ["executor_run_awaiting_approval"] });
    await temporary.db.write((tx) => outbox.recordEvent(tx, asked));
    await deliverDue();
    expect(sent[0]?.body).toMatchObject({
      ...{ event: "executor_run_awaiting_approval", title, executor: "web", run: "run-1", plan_hash: "abc" },
      ...{ approval_until: "2026-11-21T09:30:00.000Z", url: link, link: "https://tidemark.example/runs/run-1" },
    });
    for (const key of ["text", "content", "message"]) {
      expect(sent[0]?.body[key]).toContain(until);
      expect(String(sent[0]?.body[key]).endsWith(line)).toBe(true);
    }
    const { rows } = await temporary.db.client.execute("select body, last_error from deliveries");
    const { rows: recorded } = await temporary.db.client.execute("select * from events");
    expect(JSON.stringify([rows, recorded])).not.toContain("token-of");
    expect(JSON.stringify(rows)).toContain("https://tidemark.example/runs/run-1");
    expect(recorded[0]).toMatchObject({ run_id: null, executor_id: "e" });
  });

  test("takes nothing of the run's one event, and may be told of again", async () => {
    const { notifier, outbox, deliverDue, sent } = await setUp([]);
    await notifier("hook", { trigger_events: ["executor_run_awaiting_approval", "executor_run_skipped"] });
    const ended = {
      ...facts,
      outcome: "skipped" as const,
      reason: null,
      reason_data: null,
      downtime_ms: null,
      serving: null,
    };
    await temporary.db.write(async (tx) => {
      await outbox.recordEvent(tx, asked);
      await outbox.recordEvent(tx, asked);
      await outbox.recordEvent(tx, { kind: "executor_run_skipped", executor_id: "e", run_id: "run-1", facts: ended });
    });
    await deliverDue();
    expect(sent.map(({ event }) => event).toSorted()).toEqual([
      "executor_run_awaiting_approval",
      "executor_run_awaiting_approval",
      "executor_run_skipped",
    ]);
  });
});

describe("deliver()", () => {
  test("waits as long as the notifier's URL cannot be read, counts no attempt, and goes on once it can be", async () => {
    const unreadable = new NotifierUnreadable(say("notifications.notifier_disabled"));
    const { clock, notifier, record, deliverDue, service, sent } = await setUp([...Array(9).fill(unreadable), 503]);
    const { id } = await notifier("hook");
    await record();
    const delivery = async () => (await service.deliveriesOf(id).list({})).items[0];
    for (let day = 0; day < 9; day += 1) {
      await deliverDue();
      const held = { state: "pending", attempt_count: 0, attempts: [], last_error: "The notifier is disabled" };
      expect(await delivery()).toMatchObject(held);
      await clock.advance(30 * 60_000);
    }
    await deliverDue();
    expect(await delivery()).toMatchObject({ state: "pending", attempt_count: 1, last_status: 503 });
    await service.update(actor, id, { url: "https://hooks.example/new" });
    await deliverDue();
    expect(await delivery()).toMatchObject({ state: "delivered", attempt_count: 2 });
    expect(new Set(sent.map((each) => each.id)).size).toBe(1);
  });

  test("tries again after 30 s, 2 min, 10 min and 30 min, then gives up", async () => {
    const { notifier, record, deliverDue, clock, service, sent } = await setUp([500, 500, 500, 500, 500]);
    const { id } = await notifier("hook");
    await record();
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await deliverDue();
      const [delivery] = (await service.deliveriesOf(id).list({})).items;
      if (delivery?.next_attempt_at == null) break;
      waits.push(delivery.next_attempt_at - clock.now());
      clock.set(delivery.next_attempt_at - 1);
      await deliverDue();
      clock.set(delivery.next_attempt_at);
    }
    expect(waits).toEqual([30_000, 120_000, 600_000, 1_800_000]);
    expect(new Set(sent.map((message) => message.id)).size).toBe(1);
    const [end] = (await service.deliveriesOf(id).list({})).items;
    expect(end).toMatchObject({ state: "failed", attempt_count: 5, last_status: 500 });
    expect(end?.attempts).toHaveLength(5);
  });

  test("waits longer when the receiver asks for it", async () => {
    const { notifier, record, deliverDue, clock, service } = await setUp([429]);
    const { id } = await notifier("hook");
    await record();
    await deliverDue();
    const [delivery] = (await service.deliveriesOf(id).list({})).items;
    expect((delivery?.next_attempt_at ?? 0) - clock.now()).toBe(300_000);
  });

  test("stops for good at 410 and says so", async () => {
    const { notifier, record, deliverDue, service, sent } = await setUp([410]);
    const { id } = await notifier("hook");
    await record();
    await deliverDue();
    expect((await service.get(id)).stopped_at).not.toBeNull();
    await record();
    await deliverDue();
    expect(sent).toHaveLength(1);
    await service.update(actor, id, { description: "there again" });
    await record();
    await deliverDue();
    expect(sent).toHaveLength(2);
  });

  test.each([
    ["a blocked destination", new PluginError("rejected", plain("Destination blocked"))],
    ["a redirect", 302],
  ] as const)("does not try %s again", async (_name, answer) => {
    const { notifier, record, deliverDue, service, blocked } = await setUp([answer]);
    const { id } = await notifier("hook");
    await record();
    await deliverDue();
    const [delivery] = (await service.deliveriesOf(id).list({})).items;
    expect(delivery).toMatchObject({ state: "failed", attempt_count: 1, next_attempt_at: null });
    expect(blocked).toEqual(typeof answer === "number" ? [] : ["hook"]);
  });

  test("sends again under the same id after the process died in the middle", async () => {
    const first = await setUp([]);
    await first.notifier("hook");
    await first.record();
    const [due] = await first.outbox.due(first.clock.now(), 10);
    // The first process claims, sends, and dies before it can write how it went.
    const dying = AbortSignal.abort(new Error("killed"));
    const { outbox: lost } = await setUp([new PluginError("unreachable", plain("killed"))], "dying");
    await expect(lost.deliver(due?.id ?? "", dying)).rejects.toThrow("killed");
    expect(await first.outbox.due(first.clock.now(), 10)).toEqual([]);
    first.clock.set(first.clock.now() + 60_000);
    await first.deliverDue();
    expect(first.sent.map(({ id }) => id)).toEqual([due?.id ?? ""]);
    first.clock.set(first.clock.now() + 3_600_000);
    await first.deliverDue();
    expect(first.sent).toHaveLength(1);
  });

  test("two processes send one delivery once", async () => {
    const a = await setUp([], "a");
    const b = await setUp([], "b");
    await a.notifier("hook");
    await a.record();
    const [due] = await a.outbox.due(a.clock.now(), 10);
    const signal = AbortSignal.timeout(60_000);
    await Promise.all([a.outbox.deliver(due?.id ?? "", signal), b.outbox.deliver(due?.id ?? "", signal)]);
    expect(a.sent.length + b.sent.length).toBe(1);
  });

  test("sends nothing for a notifier that was disabled meanwhile", async () => {
    const { notifier, record, deliverDue, service, sent } = await setUp([]);
    const { id } = await notifier("hook");
    await record();
    await service.update(actor, id, { is_enabled: false });
    await deliverDue();
    expect(sent).toEqual([]);
    expect((await service.deliveriesOf(id).list({})).items[0]?.last_error).toBe("The notifier is disabled");
  });
});

describe("notifiers", () => {
  test("show host and port of the URL and nothing else of it", async () => {
    const { notifier, service } = await setUp([]);
    const view = await notifier("hook", { url: "https://hooks.example:8443/T0/secret-path?token=query-token" });
    expect(view.destination).toBe("hooks.example:8443");
    expect(JSON.stringify(await service.get(view.id))).not.toMatch(/secret-path|query-token/);
  });

  test("keep URL and signing secret when an edit leaves them blank", async () => {
    const { notifier, record, deliverDue, service, sent } = await setUp([]);
    const { id } = await notifier("hook", { signing_secret: "0123456789abcdef" });
    const view = await service.update(actor, id, { url: "", signing_secret: "", name: "renamed" });
    expect(view).toMatchObject({ name: "renamed", destination: "hooks.example", has_signing_secret: true });
    expect((await service.update(actor, id, { signing_secret: null })).has_signing_secret).toBe(false);
    await record();
    await deliverDue();
    expect(sent).toHaveLength(1);
  });

  test.each([
    [{ url: "https://blocked.example/" }, { url: "Destination blocked" }],
    [{ name: " " }, { name: "This field is required" }],
    [{ trigger_events: [] }, { trigger_events: "Choose at least one" }],
    [{ language: "de" }, { language: "Choose one of en, zh" }],
    [{ url: "" }, { url: "This field is required" }],
  ])("refuse %j and name the field", async (input, fields) => {
    const { notifier, service } = await setUp([]);
    await expect(notifier("hook", input)).rejects.toMatchObject({ status: 422, fields });
    expect((await service.list({})).items).toEqual([]);
  });

  test("refuse a second one of the same name", async () => {
    const { notifier } = await setUp([]);
    await notifier("hook");
    await expect(notifier("hook")).rejects.toMatchObject({
      fields: { name: 'Another notifier is already named "hook"' },
    });
  });

  test("send one test message, once, and tell how it went", async () => {
    const { notifier, service, clock, deliverDue, sent } = await setUp([500]);
    const { id } = await notifier("hook");
    const delivery = await service.sendTest(actor, id, AbortSignal.timeout(60_000));
    expect(delivery).toMatchObject({ event: "test", state: "failed", last_status: 500, attempt_count: 1 });
    clock.set(clock.now() + 86_400_000);
    await deliverDue();
    expect(sent).toHaveLength(1);
  });

  test("send no test while disabled", async () => {
    const { notifier, service } = await setUp([]);
    const { id } = await notifier("hook", { is_enabled: false });
    await expect(service.sendTest(actor, id, AbortSignal.timeout(60_000))).rejects.toMatchObject({ status: 409 });
  });
});
