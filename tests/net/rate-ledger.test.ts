import { describe, expect, test } from "bun:test";
import { createRateLedger, type RateState, type RateStore } from "../../src/net/rate-ledger.ts";
import { createFakeClock } from "../support/fake-clock.ts";

const host = "api.example.test";
const start = Date.UTC(2026, 0, 5, 12);
const inAnHour = String(start / 1000 + 3_600);

function begin(stored: readonly RateState[] = []) {
  const clock = createFakeClock(start);
  const saved: RateState[] = [];
  const errors: unknown[] = [];
  const store: RateStore = {
    load: async () => stored,
    save: async (state) => {
      saved.push(state);
    },
  };
  const ledger = createRateLedger({ clock, store, onStoreError: (error) => errors.push(error) });
  const observe = (status: number, headers: Record<string, string> = {}, text = "", credential: string | null = "c1") =>
    ledger.observe(host, credential, { status, headers: new Headers(headers), text });
  const blockedFor = (credential: string | null = "c1") => {
    const until = ledger.blockedUntil(host, credential);
    return until === null ? null : (until - clock.now()) / 1000;
  };
  return { clock, ledger, saved, errors, store, observe, blockedFor };
}

type Row = readonly [
  what: string,
  status: number,
  headers: Record<string, string>,
  text: string,
  seconds: number | null,
];

const rows: readonly Row[] = [
  ["429 with seconds", 429, { "retry-after": "120" }, "", 120],
  ["403 with seconds", 403, { "retry-after": "30" }, "", 30],
  ["a fraction of a second", 429, { "retry-after": "0.5" }, "", 0.5],
  ["429 with an HTTP date", 429, { "retry-after": "Mon, 05 Jan 2026 12:02:00 GMT" }, "", 120],
  [
    "a date by the server's own clock",
    429,
    { date: "Sun, 04 Jan 2026 12:00:00 GMT", "retry-after": "Sun, 04 Jan 2026 12:01:30 GMT" },
    "",
    90,
  ],
  ["more than a day", 429, { "retry-after": "9999999" }, "", 86_400],
  ["nonsense", 429, { "retry-after": "soon" }, "", 60],
  ["a negative number", 429, { "retry-after": "-5" }, "", 60],
  ["429 without a word", 429, {}, "", 60],
  ["429, spent, with its reset", 429, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": inAnHour }, "", 3_600],
  ["403, spent, with its reset", 403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": inAnHour }, "", 3_600],
  ["403, spent, without a reset", 403, { "x-ratelimit-remaining": "0" }, "", 60],
  [
    "403, spent, reset in milliseconds",
    403,
    { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${inAnHour}000` },
    "",
    3_600,
  ],
  ["GitLab's names", 429, { "ratelimit-remaining": "0", "ratelimit-reset": inAnHour }, "", 3_600],
  ["the IETF draft's seconds from now", 429, { "ratelimit-remaining": "0", "ratelimit-reset": "45" }, "", 45],
  [
    "a reset by a server whose clock is a day behind",
    403,
    {
      date: "Sun, 04 Jan 2026 12:00:00 GMT",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(start / 1000 - 86_400 + 600),
    },
    "",
    600,
  ],
  [
    "both: the later one",
    403,
    { "retry-after": "10", "x-ratelimit-remaining": "0", "x-ratelimit-reset": inAnHour },
    "",
    3_600,
  ],
  ["403 with a secondary rate limit in its text", 403, {}, "You have exceeded a secondary rate limit", 60],
  [
    "GHCR's text",
    429,
    {},
    '{"errors":[{"code":"TOOMANYREQUESTS","message":"retry-after: 1.5s, allowed: 44000/minute"}]}',
    1.5,
  ],
  ["GHCR's text in a fraction of a millisecond", 429, {}, "retry-after: 301.071µs, allowed: 44000/minute", 0.001],
  [
    "GHCR's text in a 403",
    403,
    {},
    '{"errors":[{"code":"DENIED","message":"retry-after: 90s, allowed: 44000/minute"}]}',
    90,
  ],
  ["Docker Hub's spent window", 429, { "ratelimit-limit": "100;w=21600", "ratelimit-remaining": "0;w=21600" }, "", 60],
  ["the structured header", 429, { ratelimit: '"default";r=0;t=90' }, "", 90],
  ["the structured header on a 403", 403, { ratelimit: '"default";r=0;t=90' }, "", 90],
  [
    "the spent policy of several",
    429,
    { ratelimit: '"a, b";r=5;t=10, "day";r=0;t=700;pk=:dGU=:, sec;r=0;t=1' },
    "",
    700,
  ],
  ["the IETF draft's dictionary", 429, { ratelimit: "limit=100, remaining=0, reset=45" }, "", 45],
  [
    "a structured header that is spent beside one that is not",
    429,
    { "x-ratelimit-remaining": "7", "x-ratelimit-reset": inAnHour, ratelimit: '"default";r=0;t=90' },
    "",
    90,
  ],
  ["a structured header that cannot be read", 429, { ratelimit: '"default;r=0;;t=90,,"' }, "", 60],
  [
    "GraphQL's refusal inside a 200",
    200,
    {},
    '{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}',
    60,
  ],
  [
    "the type that GitHub sends for it since",
    200,
    {},
    '{"errors":[{"type":"RATE_LIMIT","code":"graphql_rate_limit","message":"API rate limit already exceeded"}]}',
    60,
  ],
  [
    "GraphQL's secondary limit inside a 200",
    200,
    { "retry-after": "30" },
    '{"errors":[{"message":"You have exceeded a secondary rate limit. Please wait a few minutes"}]}',
    30,
  ],
  [
    "release notes that quote such a refusal",
    200,
    {},
    JSON.stringify({ description: '{"type":"RATE_LIMITED","message":"secondary rate limit"}' }),
    null,
  ],
  [
    "GraphQL's refusal with a reset",
    200,
    { "x-ratelimit-remaining": "0", "x-ratelimit-reset": inAnHour },
    '{"errors":[{ "type": "RATE_LIMITED" }]}',
    3_600,
  ],
];

describe("createRateLedger().observe()", () => {
  test.each(rows)("waits after %s", (_what, status, headers, text, seconds) => {
    const { observe, blockedFor } = begin();
    const wait = observe(status, headers, text);
    expect(wait === null ? null : wait / 1000).toBe(seconds);
    expect(blockedFor()).toBe(seconds);
  });

  test.each<Row>([
    ["401", 401, {}, "Bad credentials", null],
    [
      "403 for want of rights",
      403,
      { "x-ratelimit-remaining": "4999", "x-ratelimit-reset": inAnHour },
      "Resource not accessible",
      null,
    ],
    ["404", 404, {}, "Not Found", null],
    ["404 with nothing left", 404, { "x-ratelimit-limit": "60" }, "Not Found", null],
    ["200", 200, { "x-ratelimit-remaining": "12" }, "", null],
    ["304", 304, { "x-ratelimit-remaining": "12" }, "", null],
    ["503 without a word", 503, {}, "", null],
    [
      "Docker Hub's window while it answers",
      200,
      { "ratelimit-limit": "100;w=21600", "ratelimit-remaining": "0;w=21600" },
      "",
      null,
    ],
    ["a release note that speaks of rate limits", 200, {}, "fixes: secondary rate limit", null],
  ])("does not wait after %s", (_what, status, headers, text) => {
    const { observe, blockedFor } = begin();
    expect([observe(status, headers, text), blockedFor()]).toEqual([null, null]);
  });

  test.each([
    [500, "30", 30],
    [502, "30", 30],
    [503, "120", 120],
    [503, "Mon, 05 Jan 2026 12:02:00 GMT", 120],
    [504, "soon", 60],
  ])("sends nothing after a %i that asks for %s, which is a fault and no refusal", (status, wish, seconds) => {
    const { observe, blockedFor } = begin();
    expect([observe(status, { "retry-after": wish }), blockedFor(), blockedFor(null)]).toEqual([null, seconds, null]);
  });

  test("sends nothing after the last allowed answer by the structured header", () => {
    const { observe, blockedFor, ledger } = begin();
    const policy = '"burst";q=10;w=1, "default";q=100;w=90';
    expect(observe(200, { ratelimit: '"burst";r=9;t=1, "default";r=0;t=90', "ratelimit-policy": policy })).toBeNull();
    expect([blockedFor(), ledger.view()[0]?.limit]).toEqual([90, 100]);
  });

  test("waits for 0 seconds when it is told to, and that is a refusal all the same", () => {
    const { observe, blockedFor } = begin();
    expect([observe(429, { "retry-after": "0" }), blockedFor()]).toEqual([0, null]);
  });

  test("waits for the reset after the last allowed answer", () => {
    const { observe, blockedFor } = begin();
    expect(observe(200, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": inAnHour })).toBeNull();
    expect(blockedFor()).toBe(3_600);
  });

  test("doubles the wait of refusals that name none, an hour at most, and forgets them after a success", async () => {
    const { observe, clock } = begin();
    const waits: unknown[] = [];
    for (let times = 0; times < 9; times++) {
      const wait = observe(403, {}, "You have exceeded a secondary rate limit");
      waits.push(wait === null ? null : wait / 1000);
      await clock.advance(wait ?? 0);
    }
    expect(waits).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]);
    observe(200, { "x-ratelimit-remaining": "10" });
    expect(observe(403, {}, "You have exceeded a secondary rate limit")).toBe(60_000);
  });

  test("counts each host and credential for itself", () => {
    const { observe, blockedFor, ledger } = begin();
    observe(429, { "retry-after": "60" }, "", "c1");
    expect([blockedFor("c1"), blockedFor("c2"), blockedFor(null)]).toEqual([60, null, null]);
    expect(ledger.blockedUntil("other.example.test", "c1")).toBeNull();
  });

  test("stores a block at once and counts once a minute", async () => {
    const { observe, saved, clock } = begin();
    for (let left = 100; left > 0; left--) observe(200, { "x-ratelimit-remaining": String(left) });
    expect(saved.length).toBe(1);
    observe(429, { "retry-after": "60" });
    expect(saved.map((state) => state.blocked_until)).toEqual([null, start + 60_000]);
    await clock.advance(61_000);
    observe(200, { "x-ratelimit-remaining": "99" });
    expect(saved.at(-1)).toMatchObject({ remaining: 99, blocked_until: null });
  });

  test("writes nothing for a host that speaks of no limits", () => {
    const { observe, saved, ledger } = begin();
    observe(200);
    observe(404);
    expect([saved, ledger.view()]).toEqual([[], []]);
  });

  test("keeps its blocks over a restart", async () => {
    const first = begin();
    first.observe(429, { "retry-after": "600" });
    const second = begin(first.saved);
    await second.ledger.load();
    expect(second.blockedFor()).toBe(600);
  });

  test("reports a state that could not be stored and goes on", async () => {
    const { errors, observe, blockedFor, store, clock } = begin();
    store.save = async () => Promise.reject(new Error("disk full"));
    observe(429, { "retry-after": "600" });
    await clock.advance(0);
    expect([errors.length, blockedFor()]).toEqual([1, 600]);
  });

  test("keeps a block's length when the clock is set back, and ends it when it is set forward", () => {
    const { clock, observe, blockedFor } = begin();
    observe(429, { "retry-after": "60" });
    clock.set(start - 86_400_000);
    expect(blockedFor()).toBe(60);
    clock.set(start + 86_400_000);
    expect(blockedFor()).toBeNull();
  });
});

describe("createRateLedger().view()", () => {
  test("shows what each host allows each credential", () => {
    const { observe, ledger } = begin();
    observe(200, { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "57", "x-ratelimit-reset": inAnHour }, "", null);
    observe(200, { "ratelimit-limit": "100;w=21600", "ratelimit-remaining": "42;w=21600" });
    expect(ledger.view()).toMatchObject([
      { host, credential_id: null, limit: 60, remaining: 57, reset_at: start + 3_600_000, blocked_until: null },
      { host, credential_id: "c1", limit: 100, remaining: 42, reset_at: null, blocked_until: null },
    ]);
  });
});
