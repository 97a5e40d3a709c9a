import { afterEach, beforeEach, expect, test } from "bun:test";
import { PluginError } from "../../../src/errors.ts";
import { gitlab } from "../../../src/sources/gitlab/gitlab.ts";
import type { ListRequest, OpenSource } from "../../../src/sources/source.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";
import { type RealHttp, realHttp } from "../../support/real-http.ts";
import { project, releasesOf, type StandInGitLab, standInGitLab, token } from "./stand-in-gitlab.ts";

const startedAt = Date.UTC(2026, 0, 5, 12);
let instance: StandInGitLab;
let clock: FakeClock;
let http: RealHttp;
let source: OpenSource;

beforeEach(() => {
  instance = standInGitLab(project({ releases: releasesOf(3) }));
  clock = createFakeClock(startedAt);
  http = realHttp(clock);
  const context = http.open({ credential_id: "credential-1" });
  source = gitlab.open({ project: "acme/tools/app", instance_url: instance.url }, { token }, context);
});
afterEach(async () => {
  http.close();
  await instance[Symbol.asyncDispose]();
  expect(instance.violations).toEqual([]);
});

const request: ListRequest = { limit: 10, accepts: [() => true], known: new Map(), watch: [], memo: null };

async function failure(): Promise<PluginError> {
  const error = await clock.runUntil(
    source.listReleases(request).then(
      () => new Error("It did not fail"),
      (thrown: unknown) => thrown,
    ),
  );
  if (!(error instanceof PluginError)) throw error;
  return error;
}

const page = "<!DOCTYPE html><html><body>Sign in</body></html>";
const html = { headers: { "content-type": "text/html; charset=utf-8" } };
const dated = { date: new Date(startedAt).toUTCString() };

test.each<[string, () => Response, waitMs: number]>([
  ["429 with seconds", () => new Response("Retry later\n", { status: 429, headers: { "retry-after": "42" } }), 42_000],
  [
    "429 with a date",
    () =>
      new Response("Retry later\n", {
        status: 429,
        headers: { ...dated, "retry-after": new Date(startedAt + 90_000).toUTCString() },
      }),
    90_000,
  ],
  ["429 with nonsense", () => new Response("", { status: 429, headers: { "retry-after": "soon" } }), 60_000],
  [
    "429 that asks for a year",
    () => new Response("", { status: 429, headers: { "retry-after": "31536000" } }),
    86_400_000,
  ],
  ["403 with a wait", () => new Response("", { status: 403, headers: { "retry-after": "5" } }), 5_000],
  [
    "429 with nothing left until the reset",
    () =>
      new Response("Retry later\n", {
        status: 429,
        headers: {
          ...dated,
          "ratelimit-limit": "2000",
          "ratelimit-remaining": "0",
          "ratelimit-reset": String(startedAt / 1000 + 300),
        },
      }),
    300_000,
  ],
])("%s is waited for, and nothing is sent until then", async (_, answer, waitMs) => {
  instance.fault = answer;
  const error = await failure();
  expect([error.code, error.retry_after_ms]).toEqual(["rate_limited", waitMs]);
  instance.fault = () => null;
  const again = await failure();
  expect([again.code, again.retry_after_ms]).toEqual(["rate_limited", waitMs]);
  expect(instance.take()).toHaveLength(1);
  await clock.advance(waitMs);
  expect((await source.listReleases(request)).releases).toHaveLength(3);
});

test("waits after the last allowed answer, and keeps that answer", async () => {
  const headers = {
    ...dated,
    "ratelimit-limit": "2000",
    "ratelimit-remaining": "0",
    "ratelimit-reset": String(startedAt / 1000 + 20),
  };
  instance.fault = () => Response.json([], { headers });
  expect((await source.listReleases(request)).total).toBe(0);
  expect((await failure()).retry_after_ms).toBe(20_000);
  expect(instance.take()).toHaveLength(1);
});

test.each([500, 502, 503])("%d is asked twice more, then it failed", async (status) => {
  instance.fault = () => new Response(page, { status, ...html });
  expect((await failure()).code).toBe("unreachable");
  expect(instance.take()).toHaveLength(3);
});

test("a passing 502 is not noticed", async () => {
  let faults = 1;
  instance.fault = () => (faults-- > 0 ? new Response("", { status: 502 }) : null);
  const listing = await clock.runUntil(source.listReleases(request));
  expect([listing.total, instance.take().length]).toEqual([3, 2]);
});

test.each<[string, () => Response, code: string, words: string]>([
  [
    "401 in JSON",
    () => Response.json({ message: "401 Unauthorized" }, { status: 401 }),
    "unauthorized",
    "401 Unauthorized",
  ],
  [
    "a token without the scope",
    () =>
      Response.json(
        { error: "insufficient_scope", error_description: "The request requires higher privileges", scope: "api" },
        { status: 403 },
      ),
    "unauthorized",
    "The request requires higher privileges",
  ],
  [
    "words by field",
    () => Response.json({ message: { project: ["is archived", "is gone"] } }, { status: 400 }),
    "rejected",
    "project is archived; is gone",
  ],
  ["404 as a page", () => new Response(page, { status: 404, ...html }), "not_found", "web page"],
  ["a page", () => new Response(page, html), "malformed", "web page"],
  ["half an answer", () => new Response('[{"tag_name":"v1'), "malformed", "not JSON"],
  ["another form", () => Response.json([{ tag_name: 1 }]), "malformed", "0.tag_name"],
  ["an object", () => Response.json({ releases: [] }), "malformed", "unexpected JSON"],
  [
    "a next page elsewhere",
    () => Response.json([], { headers: { link: '<https://evil.example/?page=2>; rel="next"' } }),
    "malformed",
    "is not on",
  ],
])("%s ends in an error that says it, without a second try", async (_, answer, code, words) => {
  instance.fault = answer;
  const error = await failure();
  expect(error.code).toBe(code as PluginError["code"]);
  expect(error.message).toMatch(/^Could not list the releases of "acme\/tools\/app": |^"127\.0\.0\.1:\d+" returned /);
  expect(error.message).toContain(words);
  expect(error.message).not.toContain(token);
  expect(instance.take()).toHaveLength(1);
});
