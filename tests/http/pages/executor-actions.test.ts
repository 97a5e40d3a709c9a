import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { executors, runs, snapshots } from "../../../src/db/tables.ts";
import type { ServiceObservation } from "../../../src/executors/observation-schema.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const revision = `main ${digest("b")}`;

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let id: string;
let path: string;

beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
  await addSurroundings(app);
});
afterAll(() => app.close());

/** An executor that is seen to have an update from 1.0 to 1.1, on an engine that was just reached. */
beforeEach(async () => {
  const made = await person.api("POST", "/executors", {
    name: `web-${randomUUID().slice(0, 8)}`,
    connection_id: "connection-1",
    target: { kind: "container", id: randomUUID() },
    bindings: [{ tracker: "app", source: "main", channel: "stable" }],
    trigger: "immediate",
  });
  id = String(made.body.id);
  path = `/executors/${id}`;
  const image = { image: "app:1.0", image_id: "sha256:x", digest: digest("a"), platform: "linux/amd64" };
  const service: ServiceObservation = {
    ...{ service: "main", tracker: "app", source: "main", channel: "stable", difference: "other_version" },
    ...{ behind: null, unmet: null },
    found: { name: "main", containers: ["web"], ...image, state: "running", tag: "1.0" },
    desired: { version: "1.1", tag: "1.1", digest: digest("b"), reference: "app:1.1", published_at: null },
  };
  const observed = { services: [service], unbound: [], problem: null, waiting: null, desired_revision: revision };
  const now = app.clock.now();
  await app.db.client.execute({
    sql: "update connections set seen_at = ?, next_look_at = ?",
    args: [now, now + 60_000],
  });
  await app.db.write((tx) =>
    tx.update(executors).set({ observed, observed_at: now, next_evaluation_at: null }).where(eq(executors.id, id)),
  );
});

const act = (fields: Record<string, string>) => person.post(`${path}/actions`, fields);
type Answer = Promise<{ status: number; body: Readonly<Record<string, unknown>> }>;
const api = (body: Record<string, unknown>): Answer => person.api("POST", `${path}/actions`, body);
const read = (address: string): Answer => person.api("GET", address);
const stored = async () => (await read(path)).body;
/** The form of the toast that takes back what was done. */
const undoIn = (text: string): Record<string, string> | null => {
  const toast = /<div class="toast.*?<\/form>/s.exec(text)?.[0];
  if (toast === undefined) return null;
  const fields = [...toast.matchAll(/name="(?!csrf_token)(\w+)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name, value]) => [name, value]));
};

describe("the executor's page", () => {
  test.each([
    [{ action: "hold" }, "Updates on hold since", "are on hold", { action: "resume" }],
    [{ action: "snooze", for_hours: "24" }, "Updates snoozed until", "Snoozed updates of", { action: "end_snooze" }],
    [{ action: "skip", revision }, "You skipped 1.1", "Skipped this version", { action: "unskip", revision }],
  ])("tells %o with its undo, which works without script", async (fields, banner, notice, undo) => {
    const { text: before } = await person.get(path);
    expect(before).not.toContain(banner);
    const answer = await act({ ...fields, next: path });
    expect([answer.status, answer.location]).toEqual([303, path]);
    const { text } = await person.get(path);
    expect(text).toContain(banner);
    expect(text).toContain(notice);
    const form = undoIn(text);
    expect(form).toEqual({ ...undo, next: path });
    await act(form ?? {});
    expect((await person.get(path)).text).not.toContain(banner);
  });

  test("offers what its state calls for, and only that", async () => {
    const offered = (text: string) =>
      [...text.matchAll(/class="menu-item" type="submit".*?<span>(.*?)<\/span>/gs)].map(([, name]) => name);
    const { text } = await person.get(path);
    expect(offered(text)).toEqual(["Skip this version", "Snooze for 1 day", "Snooze for 1 week", "Hold updates"]);
    await act({ action: "hold" });
    expect(offered((await person.get(path)).text)).toEqual(["Resume updates", "Skip this version"]);
    await act({ action: "resume" });
    await act({ action: "skip", revision });
    expect(offered((await person.get(path)).text)).toEqual([
      "Stop skipping",
      "Snooze for 1 day",
      "Snooze for 1 week",
      "Hold updates",
    ]);
  });

  test("says what is stopped, and the list does; a group may have services that have done their work", async () => {
    const observe = async (...states: ("running" | "stopped")[]) => {
      const [row] = await app.db.read.select().from(executors).where(eq(executors.id, id));
      const before = row?.observed as { services: ServiceObservation[] };
      const services = states.flatMap((state) =>
        before.services.map((service) => ({ ...service, found: { ...service.found, state } })),
      );
      const observed = { ...before, services };
      await app.db.write((tx) => tx.update(executors).set({ observed }).where(eq(executors.id, id)));
      return await Promise.all([path, "/executors"].map(async (page) => (await person.get(page)).text));
    };
    for (const text of await observe("stopped")) expect(text).toContain("Update available, stopped");
    for (const text of await observe("stopped", "running")) expect(text).not.toContain(", stopped");
  });

  test("what changes nothing offers no undo", async () => {
    await act({ action: "hold" });
    await person.get(path);
    await act({ action: "hold", next: path });
    const { text } = await person.get(path);
    expect(text).toContain("Nothing to change");
    expect(undoIn(text)).toBeNull();
  });

  test("leads nowhere else afterwards", async () => {
    expect((await act({ action: "hold", next: "//evil.example" })).location).toBe(path);
    expect((await act({ action: "resume", next: "/executors?state=held" })).location).toBe("/executors?state=held");
  });

  test("is refused with the reason when the snooze that it restores would be over by now", async () => {
    const fields = { action: "snooze", until: "2020-01-01T00:00:00Z" };
    for (const htmx of [true, false]) {
      const refused = await person.post(`${path}/actions`, fields, { htmx });
      expect([refused.status, htmx]).toEqual([422, htmx]);
      expect(refused.text).toContain("Enter a time in the future");
    }
  });

  test("is refused with the reason when another version was found meanwhile", async () => {
    const answer = await act({ action: "skip", revision: `main ${digest("c")}` });
    expect(answer.status).toBe(409);
    expect(answer.text).toContain("Another version of");
  });

  test("offers to dismiss a failed run while the previous version runs", async () => {
    const run = await failedRun();
    expect((await stored()).dismissible_run_id).toBe(run);
    expect((await person.get(path)).text).toContain(">Dismiss failure<");
    await act({ action: "dismiss", run_id: run });
    const { text } = await person.get(path);
    expect(text).toContain("Failed, dismissed");
    expect(undoIn(text)).toMatchObject({ action: "undismiss", run_id: run });
    await app.db.write((tx) => tx.update(runs).set({ serving: "none" }).where(eq(runs.id, run)));
    await act({ action: "undismiss", run_id: run });
    expect((await person.get(path)).text).not.toContain(">Dismiss failure<");
  });

  test("speaks Chinese", async () => {
    await act({ action: "skip", revision });
    const { text } = await person.get(path, { headers: { "accept-language": "zh" } });
    expect(text).toContain("您已跳过 1.1");
    expect(text).toContain("不再跳过");
  });
});

describe("the list", () => {
  test("has a filter with the count of each", async () => {
    await act({ action: "hold" });
    const { text } = await person.get("/executors?state=held");
    expect(text).toContain(`id="executor-${id}"`);
    expect((await person.get("/executors?state=skipped")).text).not.toContain(`id="executor-${id}"`);
    const { body } = await read("/executors?state=held&limit=100");
    expect(body.items).toContainEqual(expect.objectContaining({ id, state: "held" }));
  });
});

/** The row of this executor, in the list or on the overview. */
const rowIn = (text: string, row: string) => new RegExp(`<(tr|li) id="${row}".*?</\\1>`, "s").exec(text)?.[0] ?? "";
/** Where its buttons send the shared form, and what each adds to it. */
const buttonsIn = (row: string): Readonly<Record<string, string | undefined>>[] =>
  [
    ...row.matchAll(
      /<button[^>]*? type="submit"(?: name="(\w+)" value="([^"]*)")? form="shared-form" formaction="([^"]*)"/g,
    ),
  ].map(([, name, value, to]) => ({ to, ...(name === undefined ? {} : { [name]: value }) }));
const labels = (row: string) =>
  [...row.matchAll(/<(?:button|a) class="btn[^"]*small[^"]*"[^>]*>(?:<svg.*?<\/svg>)?<span>(.*?)<\/span>/gs)].map(
    ([, label]) => label,
  );
const failedRun = async (values: Partial<typeof runs.$inferInsert> = {}): Promise<string> => {
  const at = app.clock.now();
  const run = {
    ...{ id: String(randomUUID()), executor_id: id, kind: "update", state: "failed", trigger: "manual" },
    ...{ due_at: at, created_at: at, started_at: at, ended_at: at, serving: "previous", desired_revision: revision },
    ...values,
  } satisfies typeof runs.$inferInsert;
  await app.db.write((tx) => tx.insert(runs).values(run));
  return run.id;
};
const snapshot = async (): Promise<string> => {
  const made = String(randomUUID());
  const image = { reference: "app:1.0", image_id: "sha256:x", size_bytes: 2 };
  const sealed_content = app.sealer.seal("{}");
  await app.db.write((tx) =>
    tx.insert(snapshots).values({ id: made, executor_id: id, sealed_content, ...image, created_at: 1 }),
  );
  return made;
};

test("the list of runs offers to dismiss the last one if it failed and the previous version runs", async () => {
  const before = await failedRun({ created_at: app.clock.now() - 1 });
  const run = await failedRun();
  const row = async (of: string) => rowIn((await person.get("/runs?state=failed")).text, `run-${of}`);
  expect(await row(before)).not.toContain("action=dismiss");
  expect(buttonsIn(await row(run))).toEqual([{ to: `${path}/actions?action=dismiss`, run_id: run }]);
  const answer = await act({ action: "dismiss", run_id: run, next: "/runs?state=failed" });
  expect([answer.status, answer.location]).toEqual([303, "/runs?state=failed"]);
  const after = await person.get("/runs?state=failed");
  expect(rowIn(after.text, `run-${run}`)).not.toContain("action=dismiss");
  expect(undoIn(after.text)).toMatchObject({ action: "undismiss", run_id: run });
  await act(undoIn(after.text) ?? {});
  const fields = { action: "dismiss", run_id: run, next: "/runs?state=failed" };
  const inPlace = await person.post(`${path}/actions`, fields, { htmx: true });
  expect(inPlace.text.match(/<tr /g)).toHaveLength(1);
  expect(rowIn(inPlace.text, `run-${run}`)).not.toContain("action=dismiss");
  expect(undoIn(inPlace.text)).toMatchObject({ action: "undismiss", run_id: run });
});

describe("a row of the list", () => {
  const row = async () => rowIn((await person.get("/executors")).text, `executor-${id}`);

  const menuOf = (html: string) =>
    [...html.matchAll(/class="menu-item"[^>]*>.*?<span>([^<]+)</g)].map(([, word]) => word);

  test("has the button that its state calls for", async () => {
    expect(labels(await row())).toEqual(["Update"]);
    await act({ action: "skip", revision });
    expect(labels(await row())).toEqual(["Stop skipping"]);
    await act({ action: "unskip" });
    await act({ action: "snooze", for_hours: "1" });
    expect(labels(await row())).toEqual(["End snooze"]);
    await act({ action: "hold" });
    expect(labels(await row())).toEqual(["Resume"]);
    await person.api("PATCH", path, { is_enabled: false });
    expect(labels(await row())).toEqual(["Enable"]);
    expect(menuOf(await row())).toContain("Resume updates");
  });

  test("offers to retry and to dismiss, and to roll back to the last snapshot if the target is down", async () => {
    const run = await failedRun();
    expect(labels(await row())).toEqual(["Retry"]);
    expect(menuOf(await row())[0]).toBe("Dismiss failure");
    await snapshot();
    const last = await snapshot();
    await app.db.write((tx) => tx.update(runs).set({ serving: "none" }).where(eq(runs.id, run)));
    const down = await row();
    expect(labels(down)).toEqual(["Retry"]);
    expect(menuOf(down)[0]).toBe("Roll back");
    const question = `${path}/snapshots/${last}/restore`;
    expect(down).toContain(`href="${question}"`);
    expect((await person.get(question)).status).toBe(200);
  });

  test("acts in place for htmx: the row comes back although its filter leaves it out, with the notice and its undo", async () => {
    const next = "/executors?state=update";
    const count = (text: string) => / aria-current="true">Update available<span class="amount">(\d+)/.exec(text)?.[1];
    const before = Number(count((await person.get(next)).text));
    const answer = await person.post(`${path}/actions`, { action: "hold", next }, { htmx: true });
    expect(answer.status).toBe(200);
    expect(answer.text.match(/<tr /g)).toHaveLength(1);
    expect(labels(rowIn(answer.text, `executor-${id}`))).toEqual(["Resume"]);
    expect(answer.text).toContain('hx-target="#executors-list &gt; .filters"');
    expect(Number(count(answer.text))).toBe(before - 1);
    const bar = /hx-target="#executors-selection &gt; \.choice-actions"[\s\S]*?<\/hx-partial>/.exec(answer.text)?.[0];
    expect(bar).toContain('value="resume"');
    expect(answer.text).toContain('hx-target="#toasts"');
    expect(undoIn(answer.text)).toEqual({ action: "resume", next });
    const all = await person.post(`${path}/actions`, { action: "resume", next: "/executors" }, { htmx: true });
    expect(labels(rowIn(all.text, `executor-${id}`))).toEqual(["Update"]);
  });

  test("is enabled where it stands", async () => {
    const disabled = () => person.api("PATCH", path, { is_enabled: false });
    const next = "/executors?state=disabled";
    await disabled();
    expect(buttonsIn(await row())).toContainEqual({ to: `${path}/enable` });
    expect((await person.post(`${path}/enable`, { next })).location).toBe(next);
    await disabled();
    const { text } = await person.post(`${path}/enable`, { next }, { htmx: true });
    expect(labels(rowIn(text, `executor-${id}`))).toEqual(["Update"]);
    expect(text).toContain('hx-target="#toasts"');
  });

  test("shares one form with the others: each button says where it goes, and adds at most one field", async () => {
    const { text } = await person.get("/executors?state=update");
    const html = rowIn(text, `executor-${id}`);
    expect(html).not.toContain("<form");
    const actions = `${path}/actions?action=`;
    expect(buttonsIn(html)).toEqual([
      { to: `${actions}skip`, revision },
      { to: `${actions}snooze`, for_hours: "24" },
      { to: `${actions}snooze`, for_hours: "168" },
      { to: `${actions}hold` },
    ]);
    const form = /<form id="shared-form".*?<\/form>/s.exec(text)?.[0];
    expect(form).toContain('name="next" value="/executors?state=update"');
    expect(form).toContain('name="csrf_token"');
    await person.post(`${actions}snooze`, { for_hours: "168" });
    expect((await stored()).snoozed_until).toBe(new Date(app.clock.now() + 168 * 3_600_000).toISOString());
  });
});

describe("a row of the overview", () => {
  const row = async () => rowIn((await person.get("/")).text, `need-${id}`);

  test("offers to put an update off, and is gone then", async () => {
    const shown = await row();
    expect(shown).toContain("Review");
    expect(shown).toContain("Skip this version");
    expect(shown).toContain("Hold updates");
    const answer = await person.post(`${path}/actions`, { action: "skip", revision, next: "/" }, { htmx: true });
    expect(answer.text).toContain('id="overview"');
    expect(rowIn(answer.text, `need-${id}`)).toBe("");
    expect(undoIn(answer.text)).toEqual({ action: "unskip", revision, next: "/" });
  });

  test("offers to dismiss a failure while the previous version runs, and only then", async () => {
    const run = await failedRun();
    expect(await row()).toContain(">Dismiss failure<");
    await app.db.write((tx) => tx.update(runs).set({ serving: "none" }).where(eq(runs.id, run)));
    expect(await row()).not.toContain(">Dismiss failure<");
    await app.db.write((tx) => tx.update(runs).set({ serving: "previous" }).where(eq(runs.id, run)));
    await act({ action: "dismiss", run_id: run });
    expect(await row()).toBe("");
  });
});

describe("a row of the runs", () => {
  test.each([
    ["failed", true],
    ["skipped", true],
    ["succeeded", false],
    ["degraded", false],
  ] as const)("that %s offers a retry: %p", async (state, isOffered) => {
    const run = await failedRun({ state });
    const { text } = await person.get(`/runs?executor_id=${id}`);
    expect(rowIn(text, `run-${run}`).includes(`${path}/run"`)).toBe(isOffered);
    const rollback = await failedRun({ state, kind: "rollback" });
    const { text: again } = await person.get(`/runs?executor_id=${id}`);
    expect(rowIn(again, `run-${rollback}`)).not.toContain(`${path}/run"`);
  });
});

describe("POST /api/executors/{id}/actions", () => {
  test("answers with the executor", async () => {
    const { status, body } = await api({
      action: "snooze",
      until: new Date(app.clock.now() + 3_600_000).toISOString(),
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, state: "snoozed", held_since: null });
    expect(body.snoozed_until).toBe(new Date(app.clock.now() + 3_600_000).toISOString());
    expect(await stored()).toMatchObject({ state: "snoozed" });
  });

  test.each([
    [{ action: "skip", revision: "main other" }, 409, "other_version"],
    [{ action: "dismiss", run_id: "nothing" }, 409, "not_dismissible"],
    [{ action: "skip" }, 422, "invalid_input"],
    [{ action: "hold", revision: "x" }, 422, "invalid_input"],
    [{ action: "snooze" }, 422, "invalid_input"],
    [{}, 422, "invalid_input"],
  ])("refuses %o", async (body, status, code) => {
    const answer = await api(body);
    expect(answer).toMatchObject({ status, body: { error: { code } } });
  });
});
