import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { PluginError } from "../../src/errors.ts";
import { sources } from "../../src/sources/index.ts";
import { type KnownRelease, type Listing, sourceKinds } from "../../src/sources/source.ts";
import { type HostileSample, hostileSamples, type Json } from "../sources/hostile-samples.ts";
import { allVerbs, ask, askAll, expectSafe, type Verb } from "../sources/hostile-verbs.ts";
import { hurriedClock } from "../support/hurried-clock.ts";
import {
  fakeResolver,
  type HttpLoopback,
  httpLoopback,
  type Loopback,
  rawLoopback,
  type SeenRequest,
} from "../support/loopback.ts";
import { type RealHttp, realHttp } from "../support/real-http.ts";

type Answer = (request: SeenRequest, response: ServerResponse, count: number) => void;

/** Far above what any kind asks in one check, far below an endless list. */
const maxRequests = 250;
const deep = 20_000;
/** A host that is not on this machine, as far as anybody can tell by its name. */
const otherName = "elsewhere.example.test";

let upstream: HttpLoopback;
let elsewhere: HttpLoopback;
let http: RealHttp;
let answer: Answer;

beforeEach(async () => {
  upstream = await httpLoopback((request, response, count) => answer(request, response, count));
  elsewhere = await httpLoopback((_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end("[]"),
  );
  const { resolve } = fakeResolver({ [otherName]: ["127.0.0.1"] });
  http = realHttp(hurriedClock(), resolve);
});
afterEach(async () => {
  http.close();
  await upstream[Symbol.asyncDispose]();
  await elsewhere[Symbol.asyncDispose]();
});

function originOf(server: Loopback, name = "127.0.0.1"): string {
  return `http://${name}:${server.port}`;
}

/** The request of the next check, after the listing was stored. */
function after(listing: Listing) {
  const known = new Map<string, KnownRelease>(listing.releases.map(({ tag, ...facts }) => [tag, facts]));
  return ask({ known, memo: listing.memo, watch: [...known.keys()] });
}

interface OpenOptions {
  timeout_ms?: number;
  origin?: string;
}

function send(
  response: ServerResponse,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
  status = 200,
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

/** Answers as a good upstream would, with `changed` in place of one document. */
function good(sample: HostileSample, changed: Record<string, string | Uint8Array> = {}): Answer {
  return (request, response) => {
    const place = sample.route(request);
    if (place === null) send(response, '{"message":"404 Not Found"}', {}, 404);
    else if ("text" in place) send(response, place.text, { "content-type": place.type });
    else {
      const value = sample.documents[place.document] ?? null;
      send(response, changed[place.document] ?? JSON.stringify(value), sample.headers?.(value));
    }
  };
}

const webPage = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Hello</body></html>";
const html = { "content-type": "text/html; charset=utf-8" };
const packed = { "content-encoding": "gzip" };
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20), { level: 9 });
const large = `[${'{"a":"0123456789abcdef0123456789abcdef"},'.repeat(500_000)}1]`;

/** Answers to everything that is asked; what they end in for most kinds. */
const everywhere: readonly [name: string, answer: Answer][] = [
  ["a web page", (_, response) => send(response, webPage, html)],
  ["a web page that says it is JSON", (_, response) => send(response, webPage)],
  ["a 401 with a web page", (_, response) => send(response, webPage, html, 401)],
  ["a 403 with a web page", (_, response) => send(response, webPage, html, 403)],
  ["a 404 with a web page", (_, response) => send(response, webPage, html, 404)],
  ["a 500 with a web page", (_, response) => send(response, webPage, html, 500)],
  ["a truncated gzip", (_, response) => send(response, gzipSync(JSON.stringify([1, 2, 3])).subarray(0, 15), packed)],
  ["a gzip that is none", (_, response) => send(response, "[]", packed)],
  ["a gzip bomb", (_, response) => send(response, bomb, packed)],
  ["20 MB of JSON", (_, response) => send(response, large)],
  ["a deep list", (_, response) => send(response, "[".repeat(deep) + "]".repeat(deep))],
  ["a deep object", (_, response) => send(response, `${'{"a":'.repeat(deep)}1${"}".repeat(deep)}`)],
  [
    "deep words of refusal",
    (_, response) => send(response, `${'{"message":'.repeat(deep)}1${"}".repeat(deep)}`, {}, 400),
  ],
  ["deep errors", (_, response) => send(response, `{"errors":${"[".repeat(deep)}${"]".repeat(deep)}}`, {}, 403)],
  ["null", (_, response) => send(response, "null")],
  ["a number", (_, response) => send(response, "1e999")],
  ["a text", (_, response) => send(response, '"v1.0.0"')],
  ["a list of nothing", (_, response) => send(response, "[null,null]")],
  ["a list of lists", (_, response) => send(response, "[[],[[]]]")],
  ["an object of nothing", (_, response) => send(response, '{"data":null,"tags":null,"errors":null}')],
  [
    "a prototype",
    (_, response) => send(response, '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
  ],
  ["nothing", (_, response) => send(response, "")],
  ["204", (_, response) => response.writeHead(204).end()],
  ["bytes that are no text", (_, response) => send(response, Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]))],
  [
    "control characters in words",
    (_, response) => send(response, '{"message":"\\u001b[31mred\\r\\nforged line\\u2028x"}', {}, 400),
  ],
  ["words without end", (_, response) => send(response, `{"message":"${"long ".repeat(100_000)}"}`, {}, 400)],
  [
    "words in every wrong type",
    (_, response) =>
      send(response, '{"message":{"a":[{"b":1}]},"errors":[1,null,{"message":[2]}],"error":false}', {}, 422),
  ],
  ["an unknown status", (_, response) => send(response, "{}", {}, 799)],
  ["a redirect to nowhere", (_, response) => response.writeHead(301, { location: "http://[" }).end()],
  ["a redirect to a file", (_, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end()],
  ["a redirect to itself", (request, response) => response.writeHead(301, { location: request.path }).end()],
  ["a refusal that asks for ages", (_, response) => send(response, "", { "retry-after": "99999999999999" }, 429)],
  [
    "a Link made to be slow",
    (_, response) => send(response, "[]", { link: `${"<".repeat(4_000)}${", <".repeat(1_000)};rel=` }),
  ],
  ["a validator that is no text", (_, response) => send(response, "[]", { etag: `"${"\u00ff".repeat(500)}"` })],
];

describe.each(
  sourceKinds.flatMap((kind) => hostileSamples[kind].map((sample) => [sample.name, kind, sample] as const)),
)("source %s", (_, kind, sample) => {
  const open = ({ timeout_ms = 60_000, origin = originOf(upstream) }: OpenOptions = {}) => {
    const source = sources[kind];
    const limits = source.max_bytes === undefined ? {} : { max_bytes: source.max_bytes };
    return source.open(sample.config(origin), sample.secret, http.open({ credential_id: "c1", timeout_ms, ...limits }));
  };

  test("lists the good answers of this suite, without which it proves nothing", async () => {
    answer = good(sample);
    const listing = await open().listReleases(ask());
    expectSafe(listing);
    expect(listing.releases.length).toBe(2);
    expect(await askAll(sample, open())).toEqual([]);
  });

  test.each([...everywhere])("meets %s, at first and after a good answer", async (_name, hostile) => {
    answer = good(sample);
    const before = await open().listReleases(ask());
    const sent = upstream.seen.length;
    answer = hostile;
    await askAll(sample, open());
    expect(upstream.seen.length - sent).toBeLessThanOrEqual(maxRequests);
    await askAll(sample, open(), after(before), ["listReleases", "listTags"]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  /** Which verbs read a document. */
  const readersOf = async (document: string): Promise<readonly Verb[]> => {
    const readers: Verb[] = [];
    for (const verb of allVerbs) {
      let isRead = false;
      answer = (request, response) => {
        const place = sample.route(request);
        isRead ||= place !== null && "document" in place && place.document === document;
        good(sample)(request, response, 0);
      };
      await askAll(sample, open(), ask(), [verb]);
      if (isRead) readers.push(verb);
    }
    return readers;
  };

  /** Each place in the good answers, with each of these in it. */
  const wrong: readonly [name: string, text: string][] = [
    ["null", "null"],
    ["a number", "-1.5"],
    ["a huge number", "1e308"],
    ["an empty text", '""'],
    ["a long text", `"${"9".repeat(10_000)}"`],
    ["control characters", '"a\\u0000\\u001b[31m\\r\\nb"'],
    ["half a character", '"\\ud800"'],
    ["a prototype's name", '"__proto__"'],
    ["a path", '"../../../../etc/passwd"'],
    ["an address", '"javascript:alert(1)"'],
    ["an empty list", "[]"],
    ["an empty object", "{}"],
    ["a deep list", "[".repeat(deep) + "]".repeat(deep)],
    ["a deep target", `${'{"target":'.repeat(deep)}null${"}".repeat(deep)}`],
    ["a deep message", `${'{"message":'.repeat(deep)}null${"}".repeat(deep)}`],
    ["a prototype", '{"__proto__":{"polluted":true}}'],
  ];
  const mark = "@@hostile@@";

  test.each([...wrong])("meets %s in every place of its answers", async (_name, text) => {
    let places = 0;
    for (const [document, value] of Object.entries(sample.documents)) {
      const readers = await readersOf(document);
      for (const changed of variants(value, mark)) {
        places += readers.length;
        answer = good(sample, { [document]: JSON.stringify(changed).replaceAll(`"${mark}"`, text) });
        await askAll(sample, open(), ask(), readers);
      }
    }
    expect(places).toBeGreaterThan(3);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test("meets names that are not UTF-8 in every place of its answers", async () => {
    for (const [document, value] of Object.entries(sample.documents)) {
      const readers = await readersOf(document);
      for (const changed of variants(value, mark)) {
        const [before = "", after = ""] = JSON.stringify(changed).split(mark);
        const body = Buffer.concat([Buffer.from(before), Buffer.from([0x76, 0xff, 0xfe, 0x31]), Buffer.from(after)]);
        answer = good(sample, { [document]: body });
        await askAll(sample, open(), ask(), readers);
      }
    }
  });

  test.each([301, 302, 303, 307, 308])("does not carry its credential to where a %d leads", async (status) => {
    for (const location of [
      `${originOf(elsewhere, otherName)}/stolen`,
      `//${otherName}:${elsewhere.port}/stolen`,
      `${originOf(elsewhere)}/stolen`,
    ]) {
      answer = (_request, response) => response.writeHead(status, { location }).end();
      await askAll(sample, open());
      answer = (request, response) => {
        if (request.headers.authorization === undefined) {
          response.writeHead(401, { "www-authenticate": 'Basic realm="registry"' }).end();
        } else response.writeHead(status, { location }).end();
      };
      await askAll(sample, open());
    }
    const seen = JSON.stringify(elsewhere.seen);
    for (const word of sample.secret_words) expect(seen).not.toContain(word);
  });

  test("does not carry its credential to a sign-in elsewhere", async () => {
    const realm = `${originOf(elsewhere, otherName)}/token`;
    answer = (_request, response) =>
      response.writeHead(401, { "www-authenticate": `Bearer realm="${realm}",service="x"` }).end();
    await askAll(sample, open());
    const seen = JSON.stringify(elsewhere.seen);
    for (const word of sample.secret_words) expect(seen).not.toContain(word);
  });

  test.each<[string, (other: string) => string]>([
    ["another origin", (other) => `<${other}/next>; rel="next"`],
    ["another origin without a scheme", (other) => `<${other.replace("http:", "")}/next>; rel="next"`],
    ["a user name", (other) => `<${other.replace("http://", `http://127.0.0.1:${upstream.port}@`)}/next>; rel="next"`],
    ["no address", () => '<http://[>; rel="next"'],
    ["a file", () => '<file:///etc/passwd>; rel="next"'],
  ])("does not follow a Link to %s", async (_name, link) => {
    answer = (request, response) => {
      response.setHeader("link", link(originOf(elsewhere, otherName)));
      good(sample)(request, response, 0);
    };
    await askAll(sample, open(), ask({ accepts: [() => false] }));
    expect(elsewhere.seen).toEqual([]);
    expect(upstream.seen.length).toBeLessThanOrEqual(maxRequests);
  });

  // An index has no pages.
  for (const page of sample.page === undefined ? [] : [sample.page]) {
    test("ends in an endless list", async () => {
      answer = (request, response) => {
        const place = sample.route(request);
        const number = sample.pageOf(request);
        const { document, value } = page(number);
        if (place === null || "text" in place || place.document !== document) return good(sample)(request, response, 0);
        const link = sample.link(request, originOf(upstream), number + 1);
        send(response, JSON.stringify(value), link === null ? {} : { link });
      };
      await askAll(sample, open(), ask({ accepts: [() => false], limit: 100 }));
      expect(upstream.seen.length).toBeGreaterThan(5);
      // Every verb of the source, each within its own bound.
      expect(upstream.seen.length).toBeLessThanOrEqual(3 * maxRequests);
    });

    test("ends in a list that is the same page for ever", async () => {
      const { document, value } = page(1);
      answer = (request, response) => {
        const place = sample.route(request);
        if (place === null || "text" in place || place.document !== document) return good(sample)(request, response, 0);
        const link = sample.link(request, originOf(upstream), upstream.seen.length + 2);
        send(response, JSON.stringify(value), link === null ? {} : { link });
      };
      await askAll(sample, open(), ask({ accepts: [() => false], limit: 100 }));
      expect(upstream.seen.length).toBeLessThanOrEqual(3 * maxRequests);
    });
  }

  test("says that a list is empty that was not", async () => {
    answer = good(sample);
    const before = await open().listReleases(ask());
    const { document, value } = sample.emptied;
    answer = (request, response) => {
      const place = sample.route(request);
      if (place === null || "text" in place || place.document !== document) return good(sample)(request, response, 0);
      send(response, JSON.stringify(value), sample.headers?.(value));
    };
    // Both keep what is stored: an empty list, and an error that says what is missing.
    const outcome: unknown = await open()
      .listReleases(after(before))
      .catch((error: unknown) => error);
    if (outcome instanceof PluginError) expect(outcome.code).toBe("not_found");
    else expect(outcome).toEqual(expect.objectContaining({ releases: [], total: 0 }));
  });

  test.each<[string, Answer]>([
    ["never answers", () => undefined],
    ["stops within the body", (_request, response) => response.writeHead(200, { "content-length": "1000" }).write("[")],
    [
      "stops after the headers",
      (_request, response) => response.writeHead(200, { "content-type": "application/json" }).flushHeaders(),
    ],
    [
      "drips",
      (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const drip = setInterval(() => response.write("["), 5);
        response.on("close", () => clearInterval(drip));
      },
    ],
  ])("gives up on an upstream that %s", async (_name, slow) => {
    answer = slow;
    const failures = await askAll(sample, open({ timeout_ms: 25 }), ask(), ["listReleases"]);
    expect(failures.length).toBeGreaterThan(0);
    expect(new Set(failures.map((failure) => failure.code))).toEqual(new Set(["unreachable"]));
  });

  test.each<[string, (write: (text: string) => void, end: () => void) => void]>([
    ["hangs up", (_write, end) => end()],
    ["does not speak HTTP", (write, end) => [write("SSH-2.0-OpenSSH_9.2\r\n"), end()]],
    ["hangs up within a body", (write, end) => [write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[1"), end()]],
    [
      "sends broken chunks",
      (write, end) => [write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n[]"), end()],
    ],
    ["sends endless headers", (write, end) => [write(`HTTP/1.1 200 OK\r\n${"x-long: y\r\n".repeat(50_000)}`), end()]],
  ])("reports an upstream that %s", async (_name, speak) => {
    await using server = await rawLoopback((socket) =>
      speak(
        (text) => socket.write(text),
        () => socket.end(),
      ),
    );
    const failures = await askAll(sample, open({ origin: originOf(server), timeout_ms: 900 }));
    expect(failures.length).toBeGreaterThan(0);
  });
});

/** The value with the mark in place of each of its parts, one at a time. */
function* variants(value: Json, mark: string): Generator<Json> {
  yield mark;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      // Entries of a list are alike: the first stands for the others.
      if (index > 0) return;
      for (const changed of variants(item, mark)) yield [changed, ...value.slice(1)];
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      for (const changed of variants(item, mark)) yield { ...value, [name]: changed };
    }
  }
}
