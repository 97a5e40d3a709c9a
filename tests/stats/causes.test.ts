import { describe, expect, test } from "bun:test";
import { inEnglish, type Message, plain, say } from "../../src/messages/message.ts";
import { byCause } from "../../src/stats/causes.ts";
import type { BadRun } from "../../src/stats/schema.ts";

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
      "The update failed: The engine refused POST /containers/…/start (500): write /var/lib/docker/…: no space left on device",
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
      "The update failed: The engine refused POST /containers/…/start (500): no",
    ]);
  });

  test("lists the first twenty of more", () => {
    const { shared } = byCause(Array.from({ length: 25 }, (_, n) => badRun(`app-${n}`, unhealthy(503))));
    expect(shared.map(({ run_count, runs }) => [run_count, runs.length])).toEqual([[25, 20]]);
  });
});
