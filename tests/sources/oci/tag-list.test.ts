import { afterEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../../src/clock.ts";
import { say } from "../../../src/messages/message.ts";
import { createHttp } from "../../../src/net/http.ts";
import { createRateLedger } from "../../../src/net/rate-ledger.ts";
import type { CachedResponse } from "../../../src/net/response-cache.ts";
import type { PluginContext } from "../../../src/plugin.ts";
import { nextLink } from "../../../src/sources/next-link.ts";
import { ociSource } from "../../../src/sources/oci/oci.ts";
import { maxTagPages, nextPage, readTags } from "../../../src/sources/oci/tag-list.ts";
import { json, type StandIn, standIn, testContext } from "./stand-in-registry.ts";

let registry: StandIn | null = null;
afterEach(async () => {
  await registry?.stop();
  registry = null;
});

function namesFrom(
  answer: (url: URL) => Response,
  context: PluginContext = testContext(),
  secret: unknown = null,
): Promise<readonly string[]> {
  registry ??= standIn((_, url) => answer(url));
  const source = ociSource().open({ image: "acme/app", registry: registry.url }, secret, context);
  return source.listNames?.() ?? Promise.resolve([]);
}

/** Pages of `size` out of `tags`; `link` writes the header for the last tag of a page. */
function paged(tags: readonly string[], size: number, link: (last: string, url: URL) => string) {
  return (url: URL) => {
    const start = tags.indexOf(url.searchParams.get("last") ?? "") + 1;
    const page = tags.slice(start, start + size);
    const isLast = start + size >= tags.length;
    const headers: Record<string, string> = isLast ? {} : { link: link(page.at(-1) ?? "", url) };
    return json({ name: "acme/app", tags: page }, { headers });
  };
}

const five = ["1", "2", "3", "4", "5"];
const path = (last: string) => `/v2/acme/app/tags/list?last=${last}&n=2`;

describe("listing tags", () => {
  test.each<[string, (last: string, url: URL) => string]>([
    ["relative with angle brackets", (last) => `<${path(last)}>; rel="next"`],
    ["relative without angle brackets", (last) => `${path(last)}; rel="next"`],
    ["absolute on the same origin", (last, url) => `<${url.origin}${path(last)}>; rel="next"`],
    ["relative to the page", (last) => `<list?last=${last}>; rel=next`],
    ["without a relation", (last) => `<${path(last)}>`],
    ["behind another relation", (last) => `</first>; rel="first", <${path(last)}>; rel="NEXT"`],
  ])("follows a link %s", async (_, link) => {
    expect(await namesFrom(paged(five, 2, link))).toEqual(five);
    expect(registry?.take()).toHaveLength(3);
  });

  test("asks for 1,000 a page, and takes what a registry gives that ignores it", async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `1.${index}`).toReversed();
    expect(await namesFrom(() => json({ name: "acme/app", tags: many }))).toEqual(many);
    expect(registry?.take()).toEqual(["GET /v2/acme/app/tags/list?n=1000"]);
  });

  test("reads 10,000 tags in pages of 50 within its budget", async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `1.${index}`);
    const names = await namesFrom(paged(many, 50, (last) => `<${path(last)}>; rel="next"`));
    expect(names).toHaveLength(10_000);
    expect(registry?.take()).toHaveLength(maxTagPages);
  });

  test("names a tag once though pages overlap", async () => {
    expect(await namesFrom(() => json({ name: "a", tags: ["1", "2", "1"] }))).toEqual(["1", "2"]);
  });

  test.each([
    ["null", { name: "acme/app", tags: null }],
    ["an empty list", { name: "acme/app", tags: [] }],
    ["nothing but a name", { name: "acme/app" }],
  ])("takes %s for no tags", async (_, body) => {
    expect(await namesFrom(() => json(body))).toEqual([]);
  });

  test.each<[string, (url: URL) => Response, string, string]>([
    [
      "a web page",
      () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } }),
      "malformed",
      "web page",
    ],
    ["a web page without a type", () => new Response("\n <html></html>"), "malformed", "web page"],
    ["JSON that breaks off", () => new Response('{"name":"acme/app","tags":["1'), "malformed", "complete JSON"],
    ["another JSON", () => json({ items: [] }), "malformed", 'neither "name" nor "tags"'],
    ["tags that are no list", () => json({ name: "a", tags: "1" }), "malformed", "tags"],
    [
      "errors in a success",
      () => json({ errors: [{ code: "X", message: "it is broken" }] }),
      "malformed",
      "it is broken",
    ],
    [
      "pages that run in a circle",
      (url) => json({ tags: ["1"] }, { headers: { link: `<${url.pathname}${url.search}>` } }),
      "malformed",
      "pages repeat",
    ],
    [
      "a next page on another origin",
      () => json({ tags: ["1"] }, { headers: { link: '<http://198.51.100.7/v2/>; rel="next"' } }),
      "malformed",
      "is not on",
    ],
    [
      "a next page with a user",
      () => json({ tags: ["1"] }, { headers: { link: '<//a:b@127.0.0.1/v2/>; rel="next"' } }),
      "malformed",
      "is not on",
    ],
    [
      "a next page that is no address",
      () => json({ tags: ["1"] }, { headers: { link: "<http://[>" } }),
      "malformed",
      "is not a URL",
    ],
    [
      "no repository",
      () => json({ errors: [{ code: "NAME_UNKNOWN", message: "not known" }] }, { status: 404 }),
      "not_found",
      "not known",
    ],
    [
      "a denial",
      () => json({ errors: [{ code: "DENIED", message: "access denied" }] }, { status: 403 }),
      "unauthorized",
      "access denied",
    ],
    ["a fault", () => json({ errors: [{ code: "UNKNOWN" }] }, { status: 503 }), "unreachable", "UNKNOWN"],
    ["a refusal", () => json({ errors: [] }, { status: 418 }), "rejected", "418"],
  ])("reports %s", async (_, answer, code, words) => {
    const work = namesFrom(answer);
    await expect(work).rejects.toMatchObject({ name: "PluginError", code });
    await expect(work).rejects.toThrow(words);
    await expect(work).rejects.toThrow(`list the tags of "${registry?.host}/acme/app"`);
  });

  test("stops after its budget of pages", async () => {
    let page = 0;
    const endless = () => {
      page += 1;
      return json({ tags: [`1.${page}`] }, { headers: { link: `<${path(String(page))}>; rel="next"` } });
    };
    await expect(namesFrom(endless)).rejects.toMatchObject({ code: "rejected" });
    expect(registry?.take()).toHaveLength(maxTagPages);
  });

  test("refuses more names than it can remember", async () => {
    const long = Array.from({ length: 20_000 }, (_, index) => `${String(index).padStart(6, "0")}${"a".repeat(110)}`);
    await expect(namesFrom(() => json({ tags: long }))).rejects.toThrow("at most 2000000 are read");
  });

  test("counts a name that is repeated once", async () => {
    const repeated = Array.from({ length: 20_000 }, () => "a".repeat(128));
    expect(await namesFrom(() => json({ tags: repeated }))).toHaveLength(1);
  });

  test("bounds and cleans the registry's words", async () => {
    const message = `\u001b[31m${"x".repeat(2_000)}\nERROR forged line`;
    const work = namesFrom(() => json({ errors: [{ code: "DENIED", message }] }, { status: 403 }));
    const text = await work.then(String, (error: unknown) => (error instanceof Error ? error.message : ""));
    expect(text.length).toBeLessThanOrEqual(500);
    expect(text).not.toMatch(/\p{Cc}/u);
    expect(text).toContain("xxx");
  });

  test("sends no credential to a next page on another origin", async () => {
    const other = standIn(() => json({ tags: ["9"] }));
    const first = () =>
      json({ tags: ["1"] }, { headers: { link: `<${other.url}/v2/acme/app/tags/list>; rel="next"` } });
    await expect(namesFrom(first, testContext(), { username: "ci", password: "x" })).rejects.toThrow("is not on");
    expect(other.seen).toEqual([]);
    await other.stop();
  });
});

describe("listing tags over the bounded fetch", () => {
  function realContext(store = new Map<string, CachedResponse>()): PluginContext {
    const find = async (key: string) => store.get(key) ?? null;
    const cache = { find, store: async (key: string, response: CachedResponse) => void store.set(key, response) };
    const ledgerStore = { load: async () => [], save: async () => undefined };
    const ledger = createRateLedger({ clock: systemClock, store: ledgerStore, onStoreError: () => undefined });
    const http = createHttp({ clock: systemClock, cache, ledger });
    return http.open({ timeout_ms: 10_000, credential_id: null, signal: new AbortController().signal });
  }

  test("reads the stored pages again when the registry answers 304", async () => {
    const context = realContext();
    let unchanged = 0;
    registry = standIn((request, url) => {
      const etag = `"${url.searchParams.get("last") ?? "first"}"`;
      if (request.headers.get("if-none-match") === etag) {
        unchanged += 1;
        return new Response(null, { status: 304, headers: { etag } });
      }
      const response = paged(five, 3, (last) => `<${path(last)}>; rel="next"`)(url);
      response.headers.set("etag", etag);
      return response;
    });
    const fail = () => json({}, { status: 500 });
    expect(await namesFrom(fail, context)).toEqual(five);
    expect(await namesFrom(fail, context)).toEqual(five);
    expect(unchanged).toBe(2);
  });

  test.each([
    [429, { "retry-after": "120" }, {}, 120_000],
    [403, {}, { errors: [{ code: "DENIED", message: "retry-after: 90s, allowed: 44000/minute" }] }, 90_000],
  ])("waits as a %i says, and asks nothing meanwhile", async (status, headers, body, wait) => {
    const context = realContext();
    let asked = 0;
    const refuse = () => {
      asked += 1;
      return json(body, { status, headers });
    };
    await expect(namesFrom(refuse, context)).rejects.toMatchObject({ code: "rate_limited", retry_after_ms: wait });
    await expect(namesFrom(refuse, context)).rejects.toMatchObject({ code: "rate_limited" });
    expect(asked).toBe(1);
  });

  test("refuses an answer of 50 MB", async () => {
    const chunk = new Uint8Array(1024 * 1024).fill(0x20);
    const body = () => {
      let left = 50;
      return new ReadableStream({
        pull(controller) {
          if (left === 0) controller.close();
          else controller.enqueue(chunk);
          left -= 1;
        },
      });
    };
    const work = namesFrom(() => new Response(body()), realContext());
    await expect(work).rejects.toMatchObject({ name: "PluginError", code: "malformed" });
  });

  test("keeps no token answer and no manifest for conditional requests", async () => {
    const store = new Map<string, CachedResponse>();
    const tokens = standIn(() => json({ token: "t" }, { headers: { etag: '"x"' } }));
    registry = standIn((request) =>
      request.headers.get("authorization") === "Bearer t"
        ? json({ name: "acme/app", tags: ["1"] }, { headers: { etag: '"y"' } })
        : json({}, { status: 401, headers: { "www-authenticate": `Bearer realm="${tokens.url}/t"` } }),
    );
    const fail = () => json({}, { status: 500 });
    expect(await namesFrom(fail, realContext(store))).toEqual(["1"]);
    expect([...store.values()].map((stored) => stored.etag)).toEqual(['"y"']);
    await tokens.stop();
  });
});

describe("readTags()", () => {
  test.each<[string, unknown[], string[]]>([
    ["tags", ["1.0.0", "latest", "_x", "A-b.c_d"], ["1.0.0", "latest", "_x", "A-b.c_d"]],
    ["128 characters", ["a".repeat(128)], ["a".repeat(128)]],
    ["overlong names", ["a".repeat(129), "b".repeat(1_000_000)], []],
    ["foreign characters", ["a b", "a/b", "a,b", "é", "a\u0000", "\ufffd", "<script>", "", "-x", ".x", "a\n"], []],
    ["what is no text", [1, null, {}, ["1"]], []],
    [
      "signatures and attestations",
      [`sha256-${"a".repeat(64)}`, `sha256-${"a".repeat(64)}.sig`, "1.0.att", "1.0.sbom", "x.sig"],
      [],
    ],
    ["builds named by a hash", ["sha256-abc", "sha-0a1b2c3"], ["sha256-abc", "sha-0a1b2c3"]],
  ])("keeps or drops %s", (_, values, kept) => {
    expect(readTags(values)).toEqual(kept);
  });
});

describe("nextLink()", () => {
  test.each<[string | null, string | null]>([
    [null, null],
    ["", null],
    ['</v2/a?n=1&last=a,b>; rel="next"', "/v2/a?n=1&last=a,b"],
    ['</a>; rel="prev"', null],
    ['</a>; rel="prev", </b>; title="x"; rel="next last"', "/b"],
    ["/v2/a?last=x; rel=next", "/v2/a?last=x"],
    [`<${"a".repeat(20_000)}>; rel="next"`, null],
  ])("of %p is %p", (header, link) => {
    expect(nextLink(header)).toBe(link);
  });
});

describe("nextPage()", () => {
  const action = say("sources.list_tags", { name: "reg.example/a" });

  test("reads http as https for a registry behind a proxy", () => {
    const current = new URL("https://reg.example/v2/a/tags/list");
    expect(nextPage("http://reg.example/v2/a/tags/list?last=1", current, action).href).toBe(
      "https://reg.example/v2/a/tags/list?last=1",
    );
    expect(() => nextPage("http://reg.example:8080/v2/", current, action)).toThrow("is not on");
    expect(() => nextPage("//evil.example/v2/", current, action)).toThrow("is not on");
    expect(() => nextPage("/\\evil.example/v2/", current, action)).toThrow("is not on");
  });
});
