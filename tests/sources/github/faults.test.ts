import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { codesIn } from "../../support/meaning.ts";
import {
  failureOf,
  type GithubWorld,
  githubWorld,
  listRequest,
  type Mode,
  nextRequest,
  token,
} from "./github-world.ts";
import { addReleases } from "./hub-content.ts";
import { jsonAnswer, refusalAnswer } from "./hub-rest.ts";
import type { HubFault } from "./stand-in-github.ts";

let world: GithubWorld;

beforeEach(async () => {
  world = await githubWorld();
  addReleases(world.repository("acme", "app"), 3);
});
afterEach(async () => {
  const { violations } = world.hub;
  await world[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

const modes: Mode[] = ["rest", "graphql"];
const check = (mode: Mode) => world.open("acme/app", mode).listReleases(listRequest());
const inSeconds = (seconds: number) => String(Math.floor(world.clock.now() / 1_000) + seconds);

/** REL-12: what upstream answers, and for how many seconds nothing is sent to this host with this token. */
const refusals: readonly [name: string, answer: () => HubFault, seconds: number][] = [
  ["429 with seconds", () => refusalAnswer(429, "Too many requests", { "retry-after": "120" }), 120],
  ["429 without a time", () => refusalAnswer(429, "Too many requests"), 60],
  ["403 with retry-after in seconds", () => refusalAnswer(403, "Wait", { "retry-after": "30" }), 30],
  [
    "403 with retry-after as a date",
    () =>
      refusalAnswer(403, "Wait", {
        "retry-after": new Date(world.clock.now() + 90_000).toUTCString(),
        date: new Date(world.clock.now()).toUTCString(),
      }),
    90,
  ],
  ["403 with a wait that is nonsense", () => refusalAnswer(403, "Wait", { "retry-after": "soon" }), 60],
  ["403 with a wait of years", () => refusalAnswer(403, "Wait", { "retry-after": "999999999" }), 86_400],
  [
    "403 with nothing remaining",
    () =>
      refusalAnswer(403, "API rate limit exceeded for user ID 1.", {
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": inSeconds(1_800),
        date: new Date(world.clock.now()).toUTCString(),
      }),
    1_800,
  ],
  [
    "403 of the secondary limit, without headers",
    () =>
      refusalAnswer(403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."),
    60,
  ],
];

describe.each(modes)("%s: rate limits", (mode) => {
  test.each(refusals)("%s stops all requests for as long", async (_name, answer, seconds) => {
    world.hub.fault = answer;
    const failure = await failureOf(check(mode));
    expect([failure.code, failure.retry_after_ms]).toEqual(["rate_limited", seconds * 1_000]);
    world.hub.take();
    world.hub.fault = () => null;
    for (const other of modes) expect((await failureOf(check(other))).code).toBe("rate_limited");
    await world.clock.advance(seconds * 1_000 - 1);
    expect((await failureOf(check(mode))).retry_after_ms).toBe(1);
    expect(world.hub.take()).toEqual([]);
    await world.clock.advance(1);
    expect((await check(mode)).total).toBe(3);
  });

  test("another credential is not held up by it", async () => {
    world.hub.fault = () => refusalAnswer(429, "Too many requests", { "retry-after": "120" });
    await failureOf(check(mode));
    world.hub.fault = () => null;
    const anonymous = await world.open("acme/app", "rest", null).listReleases(listRequest());
    expect(anonymous.total).toBe(3);
  });

  test("the secondary limit doubles from time to time, up to an hour", async () => {
    world.hub.fault = () => refusalAnswer(403, "You have exceeded a secondary rate limit.");
    const waits: number[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      const { retry_after_ms } = await failureOf(check(mode));
      waits.push((retry_after_ms ?? 0) / 60_000);
      await world.clock.advance(retry_after_ms ?? 0);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });
});

test("graphql: the last request of an hour is the last one that is sent", async () => {
  world.hub.limits.token = 2;
  for (let turn = 0; turn < 2; turn += 1) expect((await check("graphql")).total).toBe(3);
  world.hub.take();
  const failure = await failureOf(check("graphql"));
  expect([failure.code, world.hub.take()]).toEqual(["rate_limited", []]);
  expect(world.ledger.view().map(({ limit, remaining }) => [limit, remaining])).toEqual([[2, 0]]);
});

test("rest: with a token, answers that nothing has changed use up nothing", async () => {
  world.hub.limits.token = 2;
  for (let turn = 0; turn < 5; turn += 1) expect((await check("rest")).total).toBe(3);
  expect(world.ledger.view().map(({ limit, remaining }) => [limit, remaining])).toEqual([[2, 1]]);
});

test.each(["RATE_LIMITED", "RATE_LIMIT"])("graphql: a 200 with %s is a refusal like the 403", async (type) => {
  world.hub.fault = () =>
    jsonAnswer(
      200,
      { errors: [{ type, message: "API rate limit already exceeded for user ID 1." }] },
      {
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": inSeconds(600),
        date: new Date(world.clock.now()).toUTCString(),
      },
    );
  const failure = await failureOf(check("graphql"));
  expect([failure.code, failure.retry_after_ms]).toEqual(["rate_limited", 600_000]);
  world.hub.take();
  await failureOf(check("graphql"));
  expect(world.hub.take()).toEqual([]);
});

describe.each(modes)("%s: errors", (mode) => {
  const refused: readonly [status: number, message: string, code: string, meaning: string][] = [
    [401, "Bad credentials", "unauthorized", "sources.credential_rejected"],
    [403, "Resource not accessible by personal access token", "unauthorized", "sources.github_unreadable"],
    [404, "Not Found", "not_found", "sources.github_unreadable"],
    [451, "Repository access blocked", "rejected", "sources.answered"],
  ];
  test.each(refused)(
    "%d is the source's error with GitHub's words and what it may mean, and not sent again",
    async (status, message, code, meaning) => {
      world.hub.fault = () => refusalAnswer(status, message);
      const failure = await failureOf(check(mode));
      expect(failure.code).toBe(code as never);
      expect(failure.message).toContain(message);
      expect(failure.message).toContain('"acme/app"');
      expect(codesIn(failure.said).at(-1)).toBe(meaning);
      expect(world.hub.take().length).toBe(1);
    },
  );

  test("502 is tried three times, and the third answer counts", async () => {
    let times = 0;
    world.hub.fault = () => {
      times += 1;
      return times < 3 ? { status: 502, headers: {}, body: "Bad gateway" } : null;
    };
    expect((await world.clock.runUntil(check(mode))).total).toBe(3);
    expect(world.hub.take().length).toBe(mode === "rest" ? 4 : 3);
  });

  test("503 that stays is unreachable with its words", async () => {
    world.hub.fault = () => ({ status: 503, headers: {}, body: "No server is currently available" });
    const work = failureOf(check(mode));
    const failure = await world.clock.runUntil(work);
    expect([failure.code, failure.message.includes("No server is currently available")]).toEqual(["unreachable", true]);
    expect(world.hub.take().length).toBe(3);
  });

  test("a connection that is reset is unreachable after three times", async () => {
    world.hub.fault = () => "reset";
    const failure = await world.clock.runUntil(failureOf(check(mode)));
    expect(failure.code).toBe("unreachable");
    expect(world.hub.take().length).toBe(3);
  });

  test.each<[string, () => HubFault]>([
    ["a web page", () => ({ status: 200, headers: { "content-type": "text/html" }, body: "<html>Sign in</html>" })],
    [
      "a web page that says that it is JSON",
      () => ({ status: 200, headers: { "content-type": "application/json" }, body: "<html>" }),
    ],
    ["half a JSON", () => ({ status: 200, headers: { "content-type": "application/json" }, body: '{"data": {"repo' })],
    ["nothing", () => ({ status: 200, headers: {}, body: "" })],
    ["another form", () => jsonAnswer(200, { data: { repository: { releases: "many" } }, tag_name: 1 })],
    ["no data", () => jsonAnswer(200, { data: null })],
    ["more than 16 MiB", () => jsonAnswer(200, { data: "x".repeat(17 * 1024 * 1024) })],
  ])("%s is malformed", async (_name, answer) => {
    world.hub.fault = answer;
    const failure = await failureOf(check(mode));
    expect(failure.code).toBe("malformed");
    expect(failure.message.length).toBeLessThanOrEqual(500);
  });

  test("half a gzip is a source error", async () => {
    world.hub.fault = () => "truncated_gzip";
    const failure = await world.clock.runUntil(failureOf(check(mode)));
    expect(["malformed", "unreachable"]).toContain(failure.code);
  });

  test("an answer that drips ends at the deadline of the tracker", async () => {
    world.hub.fault = () => "drip";
    const failure = await world.clock.runUntil(failureOf(check(mode)));
    expect(failure.code).toBe("unreachable");
  });

  test("a failing mode never asks by the other", async () => {
    world.hub.fault = (_request, door) => (door === mode ? refusalAnswer(403, "Denied") : null);
    await failureOf(check(mode));
    expect(new Set(world.hub.seen.map(({ door }) => door))).toEqual(new Set([mode]));
  });
});

describe("rest: where it is sent", () => {
  test("a rename is followed at most three times", async () => {
    world.hub.fault = (request) => {
      const location = `${world.hub.url}${request.path}&again`;
      return jsonAnswer(301, { message: "Moved Permanently" }, { location });
    };
    const failure = await failureOf(check("rest"));
    expect([failure.code, failure.message]).toEqual(["rejected", expect.stringContaining("more than 3 times")]);
    expect(world.hub.take().length).toBe(4);
  });

  test("a redirect to another host is refused, and the token stays here", async () => {
    await using other = await githubWorld();
    world.hub.fault = () => jsonAnswer(301, {}, { location: `${other.hub.url}/api/v3/repos/acme/app/releases` });
    const failure = await failureOf(check("rest"));
    expect(failure.code).toBe("rejected");
    expect(other.hub.seen).toEqual([]);
  });

  test("the next page is on the same host, whatever the link says", async () => {
    addReleases(world.repository("acme", "large"), 150);
    await using other = await githubWorld();
    const source = world.open("acme/large", "rest");
    const real = await source.listReleases(listRequest({ limit: 100, accepts: [(tag) => /[02468]\.0$/.test(tag)] }));
    expect(real.releases.length).toBe(75);
    expect(other.hub.seen).toEqual([]);
  });

  test("without a token it sends none, with one it goes to the API and to git alone", async () => {
    await world.open("acme/app", "rest", null).listReleases(listRequest());
    await check("rest");
    const basic = `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`;
    expect(world.hub.seen.map(({ door, headers }) => [door, headers.authorization])).toEqual([
      ["rest", undefined],
      ["git", undefined],
      ["rest", `Bearer ${token}`],
      ["git", basic],
    ]);
  });

  test("git that fails fails the check with git's own words, for a release without its commit is half an answer", async () => {
    world.hub.fault = (_request, door) =>
      door === "git" ? { status: 403, headers: {}, body: "Repository is locked" } : null;
    const failure = await failureOf(check("rest"));
    expect([failure.code, failure.message]).toEqual(["unauthorized", expect.stringContaining("Repository is locked")]);
  });

  test("304 with a token costs no allowance", async () => {
    let request = listRequest();
    for (let turn = 0; turn < 4; turn += 1) {
      const listing = await world.open("acme/app", "rest").listReleases(request);
      request = nextRequest(listing, request);
    }
    expect(world.hub.seen.filter(({ door }) => door === "rest").map(({ status }) => status)).toEqual([
      200, 200, 304, 304,
    ]);
    expect(world.hub.used.get(`core ${token}`)).toBe(2);
  });

  test("what one credential may see is asked anew for another", async () => {
    world.hub.tokens.add("ghp_another");
    await check("rest");
    await world.open("acme/app", "rest", null).listReleases(listRequest());
    expect(world.hub.seen.filter(({ door }) => door === "rest").map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe("graphql: errors inside a 200", () => {
  const answers: readonly [name: string, body: unknown, code: string, words: string][] = [
    [
      "a repository that is not there",
      {
        data: { repository: null },
        errors: [
          {
            type: "NOT_FOUND",
            path: ["repository"],
            message: "Could not resolve to a Repository with the name 'acme/app'.",
          },
        ],
      },
      "not_found",
      "Could not resolve to a Repository",
    ],
    [
      "single sign-on",
      {
        data: { repository: null },
        errors: [
          { type: "FORBIDDEN", path: ["repository"], message: "Resource protected by organization SAML enforcement." },
        ],
      },
      "unauthorized",
      "SAML enforcement",
    ],
    [
      "a token without the scope",
      { errors: [{ type: "INSUFFICIENT_SCOPES", message: "Your token has not been granted the required scopes" }] },
      "unauthorized",
      "required scopes",
    ],
    [
      "a query that took too long",
      {
        data: null,
        errors: [{ message: "Something went wrong while executing your query. This may be the result of a timeout" }],
      },
      "unreachable",
      "Something went wrong",
    ],
    [
      "a field that this instance does not know",
      {
        errors: [
          {
            path: ["query"],
            extensions: { code: "undefinedField" },
            message: "Field 'x' doesn't exist on type 'Release'",
          },
        ],
      },
      "rejected",
      "doesn't exist",
    ],
    ["an error without words", { data: null, errors: [{ type: "STRANGE" }] }, "rejected", "STRANGE"],
    [
      "releases that failed as a whole",
      {
        data: { repository: { nameWithOwner: "acme/app" } },
        errors: [{ type: "INTERNAL", path: ["repository", "releases"], message: "Loading failed" }],
      },
      "unreachable",
      "Loading failed",
    ],
  ];
  test.each(answers)("%s", async (_name, body, code, words) => {
    world.hub.fault = () => jsonAnswer(200, body);
    const failure = await failureOf(check("graphql"));
    expect(failure.code).toBe(code as never);
    expect(failure.message).toContain(words);
  });

  test("a tag that could not be read leaves its release without a revision this time", async () => {
    world.hub.brokenTags.add("v1.1.0");
    const listing = await check("graphql");
    expect(listing.releases.map(({ tag, revision }) => [tag, revision === null])).toEqual([
      ["v1.2.0", false],
      ["v1.1.0", true],
      ["v1.0.0", false],
    ]);
  });

  test("without a token nothing is sent, and the reason is said", async () => {
    const failure = await failureOf(world.open("acme/app", "graphql", null).listReleases(listRequest()));
    expect([failure.code, failure.message]).toEqual(["unauthorized", expect.stringContaining("needs a credential")]);
    expect(world.hub.seen).toEqual([]);
  });
});
