import { describe, expect, test } from "bun:test";
import { type Message, plain, say, toldAs } from "../../../src/messages/message.ts";
import { containerOutcomes } from "../../../src/runtimes/engine/outcomes.ts";
import type { JournalEntry } from "../../../src/runtimes/journal.ts";
import { downtimeOf } from "../../../src/runtimes/journal-times.ts";

/** `12 web stop begin`: seconds, container (`-` for none), step, phase; facts as JSON after it. */
function journal(lines: readonly string[]): readonly JournalEntry[] {
  return lines.map((line) => {
    const [, at = "", container = "", step = "", phase, facts = "{}"] =
      /^(\d+) (\S+) (\S+) (\S+)(?: (.*))?$/.exec(line) ?? [];
    if (phase !== "begin" && phase !== "finish" && phase !== "fail") throw new Error(`Not a line: ${line}`);
    const named = container === "-" ? {} : { container };
    return { step, phase, at: Number(at) * 1000, facts: { ...JSON.parse(facts), ...named } };
  });
}

const plan = {
  containers: [
    { name: "db", service: "db", because: "desired", is_running: true },
    { name: "web", service: "web", because: "desired", is_running: true },
    { name: "worker", service: "worker", because: "shares", is_running: true },
  ],
} as const;

const swap = (name: string, from: number, to: number) => [
  `${from} ${name} stop begin`,
  `${from} ${name} stop finish`,
  `${to} ${name} start finish`,
];
const created = ["1 db create begin", "1 db create finish", "1 web create begin", "1 web create finish"];
const outcomes = (entries: readonly JournalEntry[]) =>
  (containerOutcomes(plan, entries) ?? []).map(({ container, outcome, downtime_ms }) => [
    container,
    outcome,
    downtime_ms,
  ]);

describe("containerOutcomes()", () => {
  test("tells each container's way and how long it was down, and the run's downtime is the longest", () => {
    const entries = journal([...created, ...swap("db", 2, 5), ...swap("web", 6, 7), ...swap("worker", 6, 8)]);
    expect(outcomes(entries)).toEqual([
      ["db", "updated", 3_000],
      ["web", "updated", 1_000],
      ["worker", "moved", 2_000],
    ]);
    expect(downtimeOf(entries).downtime_ms).toBe(3_000);
  });

  test("tells which one failed and why, which were put back, and which were never touched", () => {
    const entries = journal([
      ...created,
      ...swap("db", 2, 3),
      "4 web stop begin",
      "4 web stop finish",
      '5 web start fail {"error":"port is taken"}',
      "6 db undo begin",
      "6 web undo begin",
      '7 web undo finish {"state":"untouched"}',
      '9 db undo finish {"state":"untouched"}',
    ]);
    expect(containerOutcomes(plan, entries)).toEqual([
      {
        container: "db",
        service: "db",
        because: "desired",
        outcome: "put_back",
        downtime_ms: 7_000,
        detail: null,
        detail_data: null,
        is_cause: false,
      },
      {
        container: "web",
        service: "web",
        because: "desired",
        outcome: "put_back",
        downtime_ms: 3_000,
        detail: "port is taken",
        detail_data: plain("port is taken"),
        is_cause: true,
      },
      {
        container: "worker",
        service: "worker",
        because: "shares",
        outcome: "untouched",
        downtime_ms: null,
        detail: null,
        detail_data: null,
        is_cause: false,
      },
    ]);
  });

  const running = [...created, ...swap("db", 2, 3), ...swap("web", 4, 5), ...swap("worker", 4, 6)];
  const back = ["20 db undo begin", "20 web undo begin", '21 web undo finish {"state":"untouched"}'];
  const exited = say("readiness.restarted", { count: 3, exit_code: 1 });
  const fault = (step: string, facts: object, at = 10) => `${at} - ${step} fail ${JSON.stringify(facts)}`;
  const unhealthy = say("readiness.check_fails", { output: 'no route; "web": try again' });
  const wait = say("readiness.needs_healthy", { name: "web", needed: "db", cause: unhealthy });
  const failed = say("readiness.job_failed", { name: "db", exit_code: 3 });
  const slow = say("readiness.not_ready_beside", { name: "web", cause: exited });
  const about = (name: string, said: Message) => say("phrases.about", { name, said });
  const judged = (...items: readonly Message[]) =>
    fault("verify", toldAs("detail", items.length === 1 && items[0] ? items[0] : say("phrases.joined", { items })));
  test.each<readonly [string, readonly string[], [string, Message][]]>([
    [
      "the one that ended, when the health of all is judged",
      [...running, judged(about("web", exited)), ...back],
      [["web", exited]],
    ],
    [
      "each that the judgement names, with its own verdict",
      [...running, judged(about("db", unhealthy), about("worker", exited)), ...back],
      [
        ["db", unhealthy],
        ["worker", exited],
      ],
    ],
    [
      "the one that did not get healthy, not the one that waited for it",
      [
        ...created,
        ...swap("db", 2, 3),
        `4 web wait fail ${JSON.stringify({ for: "db", ...toldAs("error", wait) })}`,
        fault("failure", toldAs("message", say("runs.failed", { kind: "update", container: null, cause: wait }))),
        ...back,
      ],
      [["db", unhealthy]],
    ],
    [
      "a job that came to a bad end",
      [...created, `4 db wait fail ${JSON.stringify({ for: "db", job: true, ...toldAs("error", failed) })}`, ...back],
      [["db", failed]],
    ],
    [
      "the one that the reason names, where no step of it failed",
      [...created, fault("failure", toldAs("message", slow)), ...back],
      [["web", slow]],
    ],
    ["nobody, when it was one answer for all", [...running, judged(plain("Answered 503")), ...back], []],
    [
      "nobody, when it is what is to be removed that stays",
      [...running, '30 db remove_old fail {"error":"in use"}'],
      [],
    ],
  ])("blames %s", (_name, lines, blamed) => {
    const found = containerOutcomes(plan, journal(lines)) ?? [];
    expect(found.flatMap((each) => (each.is_cause ? [[each.container, each.detail_data ?? plain("")]] : []))).toEqual(
      blamed,
    );
  });

  test("says of one that did not come back why, also when the run failed because of it", () => {
    const entries = journal([...running, judged(about("web", exited)), '22 web undo fail {"error":"gone"}']);
    expect(containerOutcomes(plan, entries)?.[1]).toMatchObject({ outcome: "down", detail: "gone", is_cause: true });
  });

  test("blames the only one that was to run for a judgement that names none", () => {
    const alone = { ...plan, containers: plan.containers.map((each, index) => ({ ...each, is_running: index === 1 })) };
    const found = containerOutcomes(alone, journal([...running, judged(exited)])) ?? [];
    expect(found.map((each) => [each.is_cause, each.detail_data])).toEqual([
      [false, null],
      [true, exited],
      [false, null],
    ]);
  });

  test.each<readonly [string, readonly string[], string, number | null]>([
    [
      "created alone, then removed again",
      ["2 db undo begin", '3 db undo finish {"state":"untouched"}'],
      "untouched",
      null,
    ],
    ["one that does not come back", ["2 db stop begin", '5 db undo fail {"error":"gone"}'], "down", null],
    [
      "the new one kept, because the previous refused",
      ["2 db stop begin", '5 db undo finish {"state":"finished"}'],
      "updated",
      3_000,
    ],
    ["found whole after a crash", [...swap("db", 2, 3), '9 - recover finish {"state":"started"}'], "updated", 1_000],
    ["put back after a crash", ["2 db stop begin", '9 - recover finish {"state":"untouched"}'], "put_back", null],
    [
      "stopped before and stopped after",
      ['2 db stop begin {"is_skipped":true}', "3 db rename_new finish"],
      "updated",
      null,
    ],
    [
      "started before the previous one was stopped",
      ["2 db start finish", '3 db stop begin {"is_overlapped":true}', "4 db stop finish"],
      "updated",
      0,
    ],
    ["removed with nothing in its place", ["2 db remove_old begin", "3 db remove_old finish"], "removed", null],
  ])("of %s", (_name, lines, outcome, downtime) => {
    expect(outcomes(journal([...created, ...lines]))[0]).toEqual(["db", outcome, downtime]);
  });

  test("reads the journal of a run whose steps name no container", () => {
    const entries = journal(["1 - create begin", ...swap("-", 2, 4), '20 - verify finish {"ready_at":19000}']);
    const single = {
      services: [],
      containers: [{ name: "web", service: "main", because: "desired", is_running: true }],
    } as const;
    expect(containerOutcomes(single, entries)).toMatchObject([
      { container: "web", outcome: "updated", downtime_ms: 2_000 },
    ]);
    expect(downtimeOf(entries)).toEqual({ downtime_ms: 2_000, ready_ms: 17_000 });
  });

  test("says nothing of a run that made no plan or came to no container", () => {
    expect(containerOutcomes({}, journal(created))).toBeNull();
    expect(containerOutcomes(plan, journal(["1 - pull begin", "2 - pull fail"]))).toBeNull();
  });
});
