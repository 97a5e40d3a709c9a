import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../src/clock.ts";
import { PluginError, type PluginErrorCode } from "../../../src/errors.ts";
import type { PluginContext } from "../../../src/plugin.ts";
import { listTagCommits, maxRefs } from "../../../src/sources/forge/git-refs.ts";

const fixtures = join(import.meta.dir, "../../fixtures/gitea");
const realAnswer = readFileSync(join(fixtures, "ls-refs.txt"), "latin1");
const realListing = readFileSync(join(fixtures, "info-refs.bin"), "latin1");
const commit = "7a33335df2d3bac681817f5da86d73049f32fc1f";
const other = "e2a65a26cefd5cdf61ed266ea1a152c43867d930";
const repository = new URL("https://host.example/owner/app");
const question = "0014command=ls-refs\n00010009peel\n001aref-prefix refs/tags/\n0000";

interface Sent {
  line: string;
  headers: Record<string, string>;
  body: unknown;
}

const packet = (line: string) => `${(Buffer.byteLength(line, "latin1") + 4).toString(16).padStart(4, "0")}${line}`;
const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const git = (text: string) => new Response(bytes(text), { headers: { "content-type": "application/x-git-result" } });

/** Answers one after the other; a text is git's. */
function contextOf(...answers: readonly (string | Response)[]): { context: PluginContext; sent: Sent[] } {
  const sent: Sent[] = [];
  const fetch = async (url: URL, init: RequestInit = {}) => {
    const headers = Object.fromEntries(new Headers(init.headers));
    sent.push({ line: `${init.method} ${url.href}`, headers, body: init.body ?? null });
    const answer = answers[sent.length - 1] ?? new Response("unexpected", { status: 418 });
    return typeof answer === "string" ? git(answer) : answer;
  };
  return { context: { fetch, signal: new AbortController().signal, clock: systemClock }, sent };
}

async function failure(work: Promise<unknown>): Promise<PluginError> {
  const error = await work.then(
    () => new Error("It did not fail"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PluginError)) throw error;
  return error;
}

const expected = new Map([
  ["v0.9.0", commit],
  ["v1.0.0", commit],
  ["v1.1.0-rc1", commit],
]);

describe("listTagCommits() question", () => {
  test("is one request of version 2 to the repository's git address", async () => {
    const { context, sent } = contextOf(realAnswer);
    expect(await listTagCommits(repository, context, "Basic abc", () => null)).toEqual(expected);
    expect(sent).toEqual([
      {
        line: "POST https://host.example/owner/app.git/git-upload-pack",
        headers: {
          accept: "application/x-git-upload-pack-result",
          authorization: "Basic abc",
          "content-type": "application/x-git-upload-pack-request",
          "git-protocol": "version=2",
        },
        body: question,
      },
    ]);
  });

  test.each([["https://host.example/owner/app/"], ["https://host.example/owner/app.git"]])(
    "goes to the same place for %s, without a credential where there is none",
    async (address) => {
      const { context, sent } = contextOf("0000");
      expect(await listTagCommits(new URL(address), context, null, () => null)).toEqual(new Map());
      expect(sent[0]?.line).toBe("POST https://host.example/owner/app.git/git-upload-pack");
      expect(sent[0]?.headers.authorization).toBeUndefined();
    },
  );

  test.each([
    ["nothing", ""],
    ["an error", packet("ERR unknown command\n")],
  ])("is asked the old way after %s", async (_what, answer) => {
    const { context, sent } = contextOf(answer, realListing);
    expect(await listTagCommits(repository, context, "Basic abc", () => null)).toEqual(expected);
    expect(sent[1]).toEqual({
      line: "GET https://host.example/owner/app.git/info/refs?service=git-upload-pack",
      headers: { accept: "application/x-git-upload-pack-advertisement", authorization: "Basic abc" },
      body: null,
    });
  });

  test("is repeated as it was where the repository has moved to", async () => {
    const moved = new Response(null, { status: 301, headers: { location: "/new/name.git/git-upload-pack" } });
    const { context, sent } = contextOf(moved, realAnswer);
    expect(await listTagCommits(repository, context, "Basic abc", () => null)).toEqual(expected);
    expect(sent[1]).toEqual({ ...sent[0], line: "POST https://host.example/new/name.git/git-upload-pack" } as Sent);
  });

  test("never goes to another host", async () => {
    const moved = new Response(null, { status: 307, headers: { location: "https://evil.example/git-upload-pack" } });
    const { context, sent } = contextOf(moved);
    const error = await failure(listTagCommits(repository, context, "Basic abc", () => null));
    expect(error.code).toBe("rejected");
    expect(error.message).toBe(
      'Could not list the tags of "host.example/owner/app": "host.example" redirects to "https://evil.example"; enter the address that the repository has there',
    );
    expect(sent.length).toBe(1);
  });
});

describe("listTagCommits() answer", () => {
  const ask = (...answers: readonly (string | Response)[]) =>
    listTagCommits(repository, contextOf(...answers).context, null, () => null);
  const line = (ref: string, more = "") => packet(`${commit} ${ref}${more}\n`);

  test("names are text; what is none, too long, or forbidden by git is left out", async () => {
    const utf8 = Buffer.from("版本-1").toString("latin1");
    const names = [utf8, "bad\xff\xfe", "a".repeat(1_025), "a b", "tab\t", "x^{}", "nul\0", "ok/1.0", ""];
    const answer = names.map((name) => line(`refs/tags/${name}`)).join("");
    // A blank cannot be told from what follows a name.
    expect([...(await ask(`${answer}0000`)).keys()]).toEqual(["版本-1", "a", "ok/1.0"]);
  });

  test("refs that are no tags, attributes and SHA-256 names are understood", async () => {
    const long = "a".repeat(64);
    const answer = [
      line("refs/heads/main", " symref-target:refs/heads/x"),
      packet(`${other} refs/tags/v1 peeled:${commit}\n`),
      packet(`${long} refs/tags/v2`),
      "0000",
    ].join("");
    expect([...(await ask(answer))]).toEqual([
      ["v1", commit],
      ["v2", long],
    ]);
  });

  test("an empty repository has none, in both versions", async () => {
    expect(await ask("0000")).toEqual(new Map());
    const none = `${packet("# service=git-upload-pack\n")}0000${packet(`${"0".repeat(40)} capabilities^{}\0agent=x`)}0000`;
    expect(await ask("", none)).toEqual(new Map());
  });

  test.each<[what: string, answers: readonly (string | Response)[], code: PluginErrorCode, words: string]>([
    ["a web page", [new Response("<html>", { headers: { "content-type": "text/html" } })], "malformed", "web page"],
    ["no packets", ["hello, world"], "malformed", '"hell" is not the length of a packet'],
    ["half a packet", [line("refs/tags/v1").slice(0, -3)], "malformed", "it ends within a packet"],
    ["no end", [line("refs/tags/v1")], "malformed", "it ends too early"],
    ["no object", [`${packet("zz refs/tags/v1\n")}0000`], "malformed", '"zz" is not the ID of an object'],
    ["no reference", [`${packet(`${commit}\n`)}0000`], "malformed", "is not a reference"],
    ["nothing, twice", ["", ""], "malformed", "it ends too early"],
    ["an error, twice", [packet("ERR no\n"), packet("ERR access\u001bdenied\n")], "rejected", "access denied"],
    ["401", [new Response("Unauthorized\n", { status: 401 })], "unauthorized", "the response was 401: Unauthorized"],
    ["403", [new Response("", { status: 403 })], "unauthorized", "the response was 403"],
    ["404", [Response.json({ message: "Not Found" }, { status: 404 })], "not_found", "404: Not Found"],
    ["another refusal", [new Response("", { status: 405 })], "rejected", "the response was 405"],
  ])("%s is an error that says so", async (_what, answers, code, words) => {
    const error = await failure(ask(...answers));
    expect(error.code).toBe(code);
    expect(error.message).toStartWith('Could not list the tags of "host.example/owner/app": ');
    expect(error.message).toContain(words);
  });

  test("reads as many tags as it promises, and refuses more", async () => {
    const listing = (count: number) =>
      `${Array.from({ length: count }, (_, n) => line(`refs/tags/${n}`)).join("")}0000`;
    expect((await ask(listing(maxRefs))).size).toBe(maxRefs);
    const error = await failure(ask(listing(maxRefs + 1)));
    expect([error.code, error.message]).toEqual([
      "rejected",
      'Could not list the tags of "host.example/owner/app": there are more than 200000',
    ]);
  });
});
