import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { readRetryAfter } from "../../net/rate-headers.ts";
import { readJson, readText } from "../../net/read-json.ts";
import type { PluginContext } from "../../plugin.ts";
import type { Project } from "./project.ts";
import type { GitLabSecret } from "./schema.ts";

/** A project that was moved is looked for at as many further places. */
const maxMoves = 3;
/** Longest message of an error that carries GitLab's own words, in characters. */
const maxMessageCharacters = 500;

const Words = v.union([
  v.string(),
  v.pipe(
    v.array(v.string()),
    v.transform((list) => list.join("; ")),
  ),
  v.pipe(
    v.record(v.string(), v.array(v.string())),
    v.transform((fields) =>
      Object.entries(fields)
        .map(([name, list]) => `${name} ${list.join(", ")}`)
        .join("; "),
    ),
  ),
]);
/** GitLab's words come as `message` (text, list, or texts by field) or as OAuth's `error` and `error_description`. */
const Refusal = v.object({
  message: v.fallback(v.optional(Words), undefined),
  error: v.fallback(v.optional(Words), undefined),
  error_description: v.fallback(v.optional(Words), undefined),
});

/** Text from elsewhere on one line and bounded: control characters would let it forge lines or colours. */
export function oneLine(text: string, characters: number): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return line.length > characters ? `${line.slice(0, characters - 1)}…` : line;
}

function isWebPage(response: Response, body: string): boolean {
  return /^(?:text\/html|application\/xhtml)/i.test(response.headers.get("content-type") ?? "") || /^\s*</.test(body);
}

/** What GitLab itself said; nothing for a web page. */
function wordsOf(response: Response, body: string): string {
  if (isWebPage(response, body)) return "";
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return oneLine(body.slice(0, 2_000), 300); // plain text, as its rate limiter says "Retry later"
  }
  const parsed = v.safeParse(Refusal, json);
  if (!parsed.success) return "";
  const { message, error, error_description } = parsed.output;
  return oneLine((message ?? error_description ?? error ?? "").slice(0, 2_000), 300);
}

/** What was asked for, in words: the message of a failure is `Could not ${action}, …`. */
export function failure(code: "rejected" | "malformed" | "unauthorized" | "not_found", action: string, reason: string) {
  return new PluginError(code, oneLine(`Could not ${action}, ${reason}`, maxMessageCharacters));
}

/** Judges an answer that is no success. `hint` adds what a 403 means here. */
export function refusal(answer: GitLabAnswer, action: string, hint = ""): PluginError {
  const { response, body, now } = answer;
  const { status } = response;
  const words = wordsOf(response, body);
  const page = isWebPage(response, body) ? " with a web page, so the address may not be a GitLab instance" : "";
  const told = hint === "" || status !== 403 || words.includes("scope") ? "" : `; ${hint}`;
  const said = `the answer was ${status}${page}${words === "" ? "" : `: ${words}`}${told}`;
  const message = oneLine(`Could not ${action}, ${said}`, maxMessageCharacters);
  const wait = readRetryAfter(response.headers, now);
  if (status === 429 || (status === 403 && wait !== null)) {
    return new PluginError("rate_limited", message, { retry_after_ms: wait });
  }
  if (status === 401 || status === 403) return new PluginError("unauthorized", message);
  if (status === 404) return new PluginError("not_found", message);
  if (status >= 500) return new PluginError("unreachable", message, { retry_after_ms: wait });
  return new PluginError("rejected", message);
}

export interface GitLabAnswer {
  response: Response;
  body: string;
  /** Where it came from in the end. */
  url: URL;
  now: number;
}

export interface GitLabApi {
  /** Sends a GET and follows a moved project within the instance. Answers of every status are returned. */
  get(url: URL, action: string): Promise<GitLabAnswer>;
}

/** Where a moved project is now; throws for every other place. */
function movedTo(location: string, current: URL, instance: string, action: string): URL {
  if (!URL.canParse(location, current))
    throw failure("malformed", action, "it redirects to a place that is no address");
  const url = new URL(location, current);
  url.hash = "";
  // An instance behind a proxy that ends TLS names itself with http.
  const namesItself = url.protocol === "http:" && url.hostname === current.hostname;
  if (namesItself && current.protocol === "https:" && ["", "80", "443", current.port].includes(url.port)) {
    url.protocol = "https:";
    url.port = current.port;
  }
  if (url.origin !== current.origin || url.username !== "" || url.password !== "") {
    const place = `"${url.host}" instead of "${current.host}"`;
    throw failure("rejected", action, `it redirects to ${place}, which is not followed`);
  }
  if (url.pathname.includes("/users/sign_in")) {
    throw failure("unauthorized", action, "GitLab asks to sign in: store a token as a credential");
  }
  if (!url.href.startsWith(`${instance}/api/v4/`)) {
    throw failure("rejected", action, `it redirects to "${url.pathname.slice(0, 100)}", which is no part of the API`);
  }
  return url;
}

/** The API of one instance. The token is sent to the instance's origin and to no other. */
export function gitLabApi(project: Project, secret: GitLabSecret | null, context: PluginContext): GitLabApi {
  const { origin } = new URL(project.instance);
  return {
    async get(first, action) {
      let url = first;
      for (let moves = 0; moves <= maxMoves; moves++) {
        if (url.origin !== origin) throw failure("rejected", action, `"${url.host}" is another host`);
        const headers: Record<string, string> = { accept: "application/json" };
        if (secret !== null) headers["private-token"] = secret.token;
        const response = await context.fetch(url, { headers, redirect: "manual" });
        const body = await readText(response);
        const location = response.headers.get("location");
        if (location === null || ![301, 302, 303, 307, 308].includes(response.status)) {
          return { response, body, url, now: context.clock.now() };
        }
        url = movedTo(location, url, project.instance, action);
      }
      throw failure("rejected", action, `it redirects more than ${maxMoves} times`);
    },
  };
}

/** The body of a success by its schema; a web page, broken JSON or another shape is `malformed`, with the cause said. */
export async function parseAnswer<const S extends v.GenericSchema>(
  answer: GitLabAnswer,
  schema: S,
  action: string,
): Promise<v.InferOutput<S>> {
  const { response, body } = answer;
  if (isWebPage(response, body)) {
    throw failure("malformed", action, "the answer is a web page: the address may not be a GitLab instance");
  }
  try {
    return await readJson(new Response(body), schema);
  } catch (cause) {
    if (!(cause instanceof PluginError)) throw cause;
    const reason = cause.message.replace("The upstream answered", "it answered");
    throw new PluginError(cause.code, oneLine(`Could not ${action}, ${reason}`, maxMessageCharacters), { cause });
  }
}
