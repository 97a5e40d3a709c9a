import { describe, expect, test } from "bun:test";
import { inEnglish, type Message, plain, say, told } from "../../src/messages/message.ts";
import { byCause, byConnection, bySharedReason } from "../../src/stats/causes.ts";
import type { FailingRow } from "../../src/stats/queries.ts";
import type { BadRun, LostTarget } from "../../src/stats/schema.ts";

let made = 0;

function badRun(executor: string, reason: Message | null, other: Partial<BadRun> = {}): BadRun {
  made += 1;
  const version = { tag: null, digest: null };
  return {
    ...{ executor_id: `e-${executor}`, executor, connection: "nas", target: executor, run_id: `r-${made}` },
    ...{ kind: "update", state: "failed", reason_code: "update_failed", serving: "previous", outage: null },
    ...{ approval: null, approval_until: null, from: version, to: version, downtime_ms: null, ended_at: made },
    ...{ is_dismissible: true, reason: reason === null ? null : inEnglish(reason), reason_data: reason },
    ...other,
  };
}

const unhealthy = (status: number) => {
  const cause = say("probes.status_unexpected", { status, expected: [] });
  return say("runs.unhealthy", { kind: "update", cause });
};
const failed = (container: string, answer: string) => {
  const cause = say("engine.refused", { request: `POST /containers/${container}/start`, status: 500, answer });
  return say("runs.failed", { kind: "update", container, cause });
};
const notPulled = (reference: string, answer: string) => say("engine.pull_failed", { reference, answer });
const found = (...runs: readonly BadRun[]) => {
  const { alone, shared } = byCause(runs);
  return [alone.map(({ executor }) => executor), shared.map((each) => each.runs.map(({ executor }) => executor))];
};

describe("byCause()", () => {
  test("tells once of a reason that several share, and leaves what runs now out of it", () => {
    const running = (serving: "previous" | "mixed") =>
      say("runs.with_serving", { reason: unhealthy(503), kind: "update", serving, is_resting: false });
    const { alone, shared } = byCause([
      badRun("web", running("previous")),
      badRun("db", unhealthy(404)),
      badRun("api", running("mixed"), { serving: "mixed" }),
    ]);
    expect(alone.map(({ executor }) => executor)).toEqual(["db"]);
    expect(shared).toMatchObject([{ connection: "nas", host: null, run_count: 2, is_down: false, ended_at: 3 }]);
    expect(shared[0]?.reason_data).toEqual(unhealthy(503));
  });

  test("sees one cause in reasons that differ in names and ids of the targets alone", () => {
    const full = "write /var/lib/docker/4f5e6d7c8b9a0f1e/web: no space left on device";
    const { alone, shared } = byCause([
      badRun("web", failed("web", full)),
      badRun("db", failed("shop-db-1", full.replace("4f5e6d7c8b9a0f1e/web", "0123456789ab/shop-db-1"))),
      badRun("api", failed("api", "port is already allocated")),
    ]);
    expect(alone.map(({ executor }) => executor)).toEqual(["api"]);
    expect(shared.map(({ reason }) => reason)).toEqual([
      "The update failed: the engine refused POST /containers/…/start (500): write /var/lib/docker/…: no space left on device",
    ]);
  });

  test("a registry that does not respond is one cause on all connections, and another registry is another one", () => {
    const down = "dial tcp: lookup ghcr.io: no such host";
    const at = (host: string, path: string) =>
      notPulled(`${host}/${path}`, `Head "https://${host}/v2/${path}": ${down}`);
    const { alone, shared } = byCause([
      badRun("web", at("ghcr.io", "acme/web:1.2")),
      badRun("db", at("ghcr.io", "team/sub/db:16"), { connection: "vps" }),
      badRun("api", at("quay.io", "acme/api:3")),
    ]);
    expect(alone.map(({ executor }) => executor)).toEqual(["api"]);
    expect(shared).toMatchObject([{ host: "ghcr.io", connection: null, run_count: 2 }]);
    expect(shared[0]?.reason).toBe(`The engine could not pull ghcr.io/…: Head "https://ghcr.io/v2/…": ${down}`);
    expect(found(badRun("a", notPulled("nginx:1", down)), badRun("b", notPulled("redis:7", down)))).toEqual([
      [],
      [["a", "b"]],
    ]);
  });

  test.each<[string, Partial<BadRun>]>([
    ["another connection", { connection: "vps" }],
    ["another result", { state: "degraded" }],
    ["what left the target down", { serving: "none" }],
    ["a rollback", { kind: "rollback" }],
    ["another reason", { reason_code: "unhealthy" }],
  ])("keeps %s apart", (_, other) => {
    const reason = plain("the engine said so");
    expect(found(badRun("web", reason), badRun("db", reason, other))).toEqual([["web", "db"], []]);
  });

  test("runs without a reason share none, and an executor's name is no word of a sentence", () => {
    expect(found(badRun("web", null), badRun("db", null))).toEqual([["web", "db"], []]);
    const { shared } = byCause([badRun("update", failed("update", "no")), badRun("failed", failed("failed", "no"))]);
    expect(shared.map(({ reason }) => reason)).toEqual([
      "The update failed: the engine refused POST /containers/…/start (500): no",
    ]);
  });

  test("lists the first twenty of more", () => {
    const { shared } = byCause(Array.from({ length: 25 }, (_, n) => badRun(`app-${n}`, unhealthy(503))));
    expect(shared.map(({ run_count, runs }) => [run_count, runs.length])).toEqual([[25, 20]]);
  });
});

function failing(tracker: string, reason: Message | null, other: Partial<FailingRow> = {}): FailingRow {
  const name = `ghcr.io/${tracker}/app`;
  const said = reason === null ? null : say("sources.failed", { action: say("sources.list_tags", { name }), reason });
  return {
    ...{ tracker, source: "main", kind: "oci", host: "ghcr.io", credential_id: null, credential: null },
    ...{ failing_since: 2, last_success_at: 1, last_checked_at: 3, next_check_at: 4 },
    ...{ last_error_code: "malformed", last_error_message: said },
    ...other,
  };
}

describe("bySharedReason()", () => {
  const page = say("sources.page_of_no_registry");
  const foundIn = (...rows: readonly FailingRow[]) => {
    const { alone, shared } = bySharedReason(rows);
    return [alone.map(({ tracker }) => tracker), shared.map((each) => each.sources.map(({ tracker }) => tracker))];
  };

  test("tells once why sources of a host fail, since the first of them", () => {
    const { alone, shared } = bySharedReason([
      failing("web", page, { failing_since: 5 }),
      failing("other", say("sources.answer_empty")),
      failing("db", page, { failing_since: 3 }),
    ]);
    expect(alone.map(({ tracker }) => tracker)).toEqual(["other"]);
    const sources = ["web", "db"].map((tracker) => ({ tracker, source: "main" }));
    expect(shared).toEqual([
      {
        ...{ host: "ghcr.io", credential_id: null, credential: null, since: 3, failing: 2, sources },
        error: {
          code: "malformed",
          message: `Could not list the tags of "ghcr.io/…": ${inEnglish(page)}`,
          message_data: expect.anything(),
        },
      },
    ]);
  });

  test("sees one reason where only the names of what was asked for differ", () => {
    const unknown = (path: string) => say("sources.answered", { status: 404, said: `no such repository: ${path}` });
    const { shared } = bySharedReason([failing("web", unknown("web/app")), failing("db", unknown("db/app"))]);
    expect(shared.map(({ error }) => error.message)).toEqual([
      `Could not list the tags of "ghcr.io/…": the response was 404: no such repository: …`,
    ]);
  });

  test.each<[string, Partial<FailingRow>]>([
    ["another host", { host: "quay.io" }],
    ["another credential", { credential_id: "c", credential: "ci" }],
    ["another kind of failure", { last_error_code: "rejected" }],
  ])("keeps %s apart", (_, other) => {
    expect(foundIn(failing("web", page), failing("db", page, other))).toEqual([["web", "db"], []]);
  });

  test("sources without a reason share none", () => {
    expect(foundIn(failing("web", null), failing("db", null))).toEqual([["web", "db"], []]);
  });

  test("lists the first twenty of more", () => {
    const { shared } = bySharedReason(Array.from({ length: 25 }, (_, n) => failing(`app-${n}`, page)));
    expect(shared.map(({ failing, sources }) => [failing, sources.length])).toEqual([[25, 20]]);
  });
});

describe("byConnection()", () => {
  const lost = (executor: string, connection: string, code: string, reason: Message): LostTarget => ({
    ...{ executor_id: `e-${executor}`, executor, connection, target: executor, observed_at: null },
    problem: { code, ...told(reason) },
  });
  const missing = (executor: string, connection = "nas") =>
    lost(executor, connection, "target_missing", say("executors.target_missing", { target: executor }));

  test("tells once of the targets of a connection that are lost for one reason", () => {
    const refused = lost("old", "nas", "target_refused", plain("No image"));
    const { alone, shared } = byConnection([missing("web"), refused, missing("db"), missing("web", "vps")]);
    expect(alone.map(({ executor, connection }) => [executor, connection])).toEqual([
      ["old", "nas"],
      ["web", "vps"],
    ]);
    expect(shared).toMatchObject([{ connection: "nas", problem: { code: "target_missing" }, target_count: 2 }]);
    expect(shared[0]?.problem.message).toBe(
      'The connection has no target "…"; start it, or edit the executor to choose another',
    );
    expect(shared[0]?.targets.map(({ executor }) => executor)).toEqual(["web", "db"]);
  });

  test("lists the first 20 of them and counts them all", () => {
    const { shared } = byConnection(Array.from({ length: 25 }, (_, n) => missing(`app-${n}`)));
    expect(shared.map(({ targets, target_count }) => [targets.length, target_count])).toEqual([[20, 25]]);
  });
});
