import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { httpLoopback, type SeenRequest } from "../../support/loopback.ts";
import type { HubRepository } from "./hub-content.ts";
import { answerGraphql } from "./hub-graphql.ts";
import { answerRest, etagOf, type HubAnswer, jsonAnswer, refusalAnswer } from "./hub-rest.ts";

/** A whole answer instead of the real one, or something that is none. */
export type HubFault = HubAnswer | "truncated_gzip" | "drip" | "reset";

export type HubDoor = "rest" | "graphql" | "git";

export interface HubRequest extends SeenRequest {
  door: HubDoor;
  status: number;
}

export interface StandInGithub extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, an instance's URL. */
  url: string;
  host: string;
  repositories: HubRepository[];
  /** Tokens that are known; they see private repositories and drafts. */
  tokens: Set<string>;
  /** Every request so far, in order, with the door it came by. */
  seen: HubRequest[];
  /** The requests so far as `rest 200 GET /path`, and forgets them. */
  take(): string[];
  /** Requests that GitHub would not have understood; a test that has one is wrong. */
  violations: string[];
  /** Asked before each answer; null lets the real answer through. */
  fault: (request: SeenRequest, door: HubDoor) => HubFault | null;
  /** Allowance by resource and token (`-` without one); counted down as GitHub does: a 304 with a token is free. */
  used: Map<string, number>;
  limits: { anonymous: number; token: number };
  reset_at: number;
  brokenTags: Set<string>;
}

const apiHeaders = {
  "x-github-api-version-selected": "2022-11-28",
  "x-github-media-type": "github.v3; format=json",
  "x-github-request-id": "C0DE:1234:ABCDEF",
  vary: "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With",
};

function tokenOf(request: SeenRequest, scheme: "bearer" | "basic"): string | null {
  const [kind = "", value = ""] = (request.headers.authorization ?? "").split(" ");
  if (kind === "") return null;
  if (kind.toLowerCase() !== scheme) return `unexpected ${kind}`;
  return scheme === "bearer" ? value : (Buffer.from(value, "base64").toString().split(":")[1] ?? "");
}

/** What is wrong with a request to the API, as far as GitHub itself would mind. */
function apiViolation(request: SeenRequest, door: HubDoor): string | null {
  const { headers, method, path } = request;
  if ((headers["user-agent"] ?? "") === "") return "Request forbidden by administrative rules: there is no user agent";
  if (door === "graphql")
    return method === "POST" && headers["content-type"]?.startsWith("application/json")
      ? null
      : "GraphQL takes JSON by POST";
  if (method !== "GET") return `REST is only read here, not ${method}`;
  if (!/^application\/vnd\.github(?:\.raw)?\+json$/.test(headers.accept ?? ""))
    return `The accepted form is "${headers.accept}"`;
  if (headers["x-github-api-version"] !== "2022-11-28") return "The version of the API is not named";
  const { searchParams } = new URL(path, "http://x");
  const perPage = searchParams.get("per_page");
  return perPage === null || (/^\d+$/.test(perPage) && Number(perPage) >= 1 && Number(perPage) <= 100)
    ? null
    : `per_page is ${perPage}`;
}

function packetLine(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, "0")}${text}`;
}

/** The lines of a request in git's wire format; `0000` and `0001` stand for themselves. */
function packetLines(body: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < body.length; ) {
    const length = Number.parseInt(body.slice(at, at + 4), 16);
    lines.push(length < 4 ? body.slice(at, at + 4) : body.slice(at + 4, at + length).replace(/\n$/, ""));
    at += Math.max(length, 4);
  }
  return lines;
}

function answerGit(repository: HubRepository, request: SeenRequest): HubAnswer | string {
  const lines = packetLines(request.body);
  const split = lines.indexOf("0001");
  const wanted = lines.slice(split + 1, -1);
  if (!/version=2/.test(request.headers["git-protocol"]?.toString() ?? ""))
    return "The request is not of protocol version 2";
  if (request.headers["content-type"] !== "application/x-git-upload-pack-request") return "The request's type is wrong";
  if (lines[0] !== "command=ls-refs" || split < 1 || lines.at(-1) !== "0000") return `No ls-refs: ${lines.join(" | ")}`;
  if (!wanted.includes("peel") || !wanted.includes("ref-prefix refs/tags/"))
    return `Not the peeled tags: ${wanted.join(" | ")}`;
  const refs = [...repository.tags]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { objects }]) => {
      const peeled = objects.length > 1 ? ` peeled:${objects.at(-1)}` : "";
      return packetLine(`${objects[0]} refs/tags/${name}${peeled}\n`);
    });
  const headers = { "content-type": "application/x-git-upload-pack-result", "cache-control": "no-cache" };
  return { status: 200, headers, body: `${refs.join("")}0000` };
}

function send(response: ServerResponse, answer: HubFault): void {
  if (answer === "reset") {
    response.socket?.destroy();
  } else if (answer === "truncated_gzip") {
    const whole = gzipSync(JSON.stringify(Array.from({ length: 200 }, (_, index) => ({ index }))));
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    response.end(whole.subarray(0, whole.length / 2));
  } else if (answer === "drip") {
    // Headers and a byte, and then nothing: only the caller's deadline ends it.
    response.writeHead(200, { "content-type": "application/json" });
    response.write("[");
  } else {
    response.writeHead(answer.status, answer.headers);
    response.end(answer.status === 304 ? undefined : answer.body);
  }
}

/** GitHub on loopback: REST, GraphQL by its real schema and git's `ls-refs`, with its rate limits. `now` is the test's clock. */
export async function startGithub(now: () => number): Promise<StandInGithub> {
  const server = await httpLoopback((request, response) => {
    answer(request).then(
      (given) => send(response, given),
      (error: unknown) => {
        hub.violations.push(`The stand-in broke: ${String(error)}`);
        response.destroy();
      },
    );
  });
  const url = `http://127.0.0.1:${server.port}`;
  const hub: StandInGithub = {
    url,
    host: `127.0.0.1:${server.port}`,
    repositories: [],
    tokens: new Set(),
    seen: [],
    take: () => hub.seen.splice(0).map(({ door, status, method, path }) => `${door} ${status} ${method} ${path}`),
    violations: [],
    fault: () => null,
    used: new Map(),
    limits: { anonymous: 60, token: 5_000 },
    reset_at: now() + 3_600_000,
    brokenTags: new Set(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };

  const doorOf = (path: string): HubDoor => {
    if (path.startsWith("/api/graphql")) return "graphql";
    return path.startsWith("/api/v3/") ? "rest" : "git";
  };

  const budget = (door: HubDoor, token: string | null, isFree: boolean) => {
    const resource = door === "graphql" ? "graphql" : "core";
    const key = `${resource} ${token ?? "-"}`;
    const limit = token === null ? hub.limits.anonymous : hub.limits.token;
    const before = hub.used.get(key) ?? 0;
    const isSpent = before >= limit;
    const used = isSpent || isFree ? before : before + 1;
    hub.used.set(key, used);
    const headers = {
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(limit - used),
      "x-ratelimit-reset": String(Math.floor(hub.reset_at / 1_000)),
      "x-ratelimit-used": String(used),
      "x-ratelimit-resource": resource,
    };
    return { isSpent, headers };
  };

  const find = (path: string): { repository: HubRepository; rest: string; isFormer: boolean } | null => {
    const [, id, restOfId = ""] = /^\/repositories\/(\d+)(\/[^?]*)?/.exec(path) ?? [];
    const numbered = hub.repositories.find((one) => String(one.id) === id);
    if (numbered !== undefined) return { repository: numbered, rest: restOfId, isFormer: false };
    const [, name = "", rest = ""] = /^(?:\/repos)?\/([^/]+\/[^/?]+?)(?:\.git)?(\/[^?]*)?(?:\?|$)/.exec(path) ?? [];
    const wanted = name.toLowerCase();
    const repository = hub.repositories.find((one) => `${one.owner}/${one.name}`.toLowerCase() === wanted);
    if (repository !== undefined) return { repository, rest, isFormer: false };
    const former = hub.repositories.find((one) => one.former.includes(wanted));
    return former === undefined ? null : { repository: former, rest, isFormer: true };
  };

  const restAnswer = (request: SeenRequest, token: string | null): HubAnswer => {
    const asked = new URL(request.path, url);
    const found = find(request.path.slice("/api/v3".length));
    if (found === null || (found.repository.is_private && token === null)) return refusalAnswer(404, "Not Found");
    if (found.isFormer) {
      const location = `${url}/api/v3/repositories/${found.repository.id}${found.rest}${asked.search}`;
      const body = { message: "Moved Permanently", url: location, documentation_url: "https://docs.github.com/rest" };
      return jsonAnswer(301, body, { location });
    }
    const view = { seesDrafts: token !== null, origin: url, accept: request.headers.accept ?? "" };
    return answerRest(found.repository, found.rest, asked, view);
  };

  const apiAnswer = async (request: SeenRequest, door: HubDoor): Promise<HubAnswer> => {
    const violation = apiViolation(request, door);
    if (violation !== null) {
      hub.violations.push(violation);
      return refusalAnswer(400, violation);
    }
    const token = tokenOf(request, "bearer");
    if (token !== null && !hub.tokens.has(token)) return refusalAnswer(401, "Bad credentials");
    if (door === "graphql" && token === null) {
      return jsonAnswer(401, {
        message: "This endpoint requires you to be authenticated.",
        documentation_url:
          "https://docs.github.com/graphql/guides/forming-calls-with-graphql#authenticating-with-graphql",
        status: "401",
      });
    }
    const common = { ...apiHeaders, date: new Date(now()).toUTCString() };
    if (door === "graphql") {
      const { isSpent, headers } = budget(door, token, false);
      const limited = { errors: [{ type: "RATE_LIMITED", message: "API rate limit exceeded for user ID 1." }] };
      const view = { repositories: hub.repositories, seesPrivate: true, origin: url, brokenTags: hub.brokenTags };
      return jsonAnswer(200, isSpent ? limited : await answerGraphql(JSON.parse(request.body), view), {
        ...common,
        ...headers,
      });
    }
    const given = restAnswer(request, token);
    const etag = etagOf(given, token ?? "-");
    const isKnown = given.status === 200 && request.headers["if-none-match"] === etag;
    const { isSpent, headers } = budget(door, token, isKnown && token !== null);
    if (isSpent) {
      const whose = token === null ? "127.0.0.1" : "user ID 1";
      return refusalAnswer(403, `API rate limit exceeded for ${whose}.`, { ...common, ...headers });
    }
    const validator = given.status === 200 ? { etag, "cache-control": "private, max-age=60, s-maxage=60" } : {};
    return {
      ...given,
      status: isKnown ? 304 : given.status,
      headers: { ...given.headers, ...common, ...headers, ...validator },
    };
  };

  const gitAnswer = (request: SeenRequest): HubAnswer => {
    const found = find(request.path);
    const token = tokenOf(request, "basic");
    const isRefused = token !== null && !hub.tokens.has(token);
    if (isRefused || found === null || (found.repository.is_private && token === null)) {
      const headers = { "content-type": "text/plain" };
      const body = "Repository not found.";
      // Whoever has signed in is not asked to sign in.
      if (token !== null && !isRefused) return { status: 404, headers, body };
      return { status: 401, headers: { ...headers, "www-authenticate": 'Basic realm="GitHub"' }, body };
    }
    const { repository, rest } = found;
    if (found.isFormer) {
      return {
        status: 301,
        headers: { location: `${url}/${repository.owner}/${repository.name}.git${rest}` },
        body: "",
      };
    }
    const given =
      rest === "/git-upload-pack" && request.method === "POST"
        ? answerGit(repository, request)
        : `${request.method} ${rest}`;
    if (typeof given !== "string") return given;
    hub.violations.push(given);
    return { status: 400, headers: { "content-type": "text/plain" }, body: given };
  };

  const answer = async (request: SeenRequest): Promise<HubFault> => {
    const door = doorOf(request.path);
    const given = hub.fault(request, door) ?? (door === "git" ? gitAnswer(request) : await apiAnswer(request, door));
    hub.seen.push({ ...request, door, status: typeof given === "string" ? 0 : given.status });
    return given;
  };
  return hub;
}
