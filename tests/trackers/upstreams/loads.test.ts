import { describe, expect, test } from "bun:test";
import { type SourceLoad, upstreamLoads } from "../../../src/trackers/upstreams/loads.ts";
import type { RateState } from "../../../src/trackers/upstreams/stored-responses.ts";

const load = (changes: Partial<SourceLoad> = {}): SourceLoad => ({
  host: "api.github.com",
  credential_id: null,
  check_interval_minutes: 60,
  cost: { requests: 2, quota: 1, hourly_limit: 60 },
  ...changes,
});
const state = (changes: Partial<RateState> = {}): RateState => ({
  host: "api.github.com",
  credential_id: null,
  limit: 60,
  remaining: 0,
  reset_at: 5_000,
  blocked_until: 5_000,
  strikes: 0,
  observed_at: 1_000,
  ...changes,
});

describe("upstreamLoads()", () => {
  test("counts what is asked of each host and credential in an hour", () => {
    const loads = [load(), load({ check_interval_minutes: 30 }), load({ credential_id: "token" })];
    expect(upstreamLoads(loads, [], [])).toMatchObject([
      { credential_id: null, sources: 2, requests_per_hour: 6, quota_per_hour: 3, hourly_limit: 60 },
      { credential_id: "token", sources: 1, requests_per_hour: 2, quota_per_hour: 1 },
    ]);
  });

  test("says how often each can be checked where the limit is short", () => {
    const [github] = upstreamLoads(
      Array.from({ length: 200 }, () => load()),
      [],
      [],
    );
    expect(github).toMatchObject({ quota_per_hour: 200, hourly_limit: 60, fair_interval_minutes: 200 });
    expect(upstreamLoads([load()], [], [])[0]?.fair_interval_minutes).toBeNull();
  });

  test("believes the host's own words before what is documented", () => {
    const [github] = upstreamLoads([load()], [state({ limit: 5_000, blocked_until: null, remaining: 4_000 })], []);
    expect(github).toMatchObject({ hourly_limit: 5_000, remaining: 4_000, blocked_until: null });
  });

  test("has a state for each, and puts first what needs attention, then the strained", () => {
    const loads = [
      load({ host: "registry.test", cost: { requests: 2, quota: 0, hourly_limit: null } }),
      load({ host: "calm.test" }),
      load({ host: "busy.test", check_interval_minutes: 2 }),
      load({ host: "short.test", check_interval_minutes: 0.5 }),
      load({ host: "away.test" }),
      load(),
    ];
    const blocked = [state(), state({ host: "away.test" })];
    const upstreams = upstreamLoads(loads, blocked, [{ host: "away.test" }]);
    expect(upstreams.map((upstream) => [upstream.host, upstream.state])).toEqual([
      ["away.test", "not_responding"],
      ["api.github.com", "waiting"],
      ["short.test", "limit_too_low"],
      ["busy.test", "within_limit"],
      ["calm.test", "within_limit"],
      ["registry.test", "limit_unknown"],
    ]);
  });
});
