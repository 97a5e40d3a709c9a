import type { Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";

/** What a hostile peer has heard when it answers. */
export interface HeardRequest {
  head: string;
  body: string;
}
type Play = (socket: Socket, heard: HeardRequest) => void;

/** Writes and hangs up. */
const say =
  (bytes: string | Buffer): Play =>
  (socket) =>
    void socket.end(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
/** Writes and leaves the connection open. */
const sayAndStay =
  (bytes: string | Buffer): Play =>
  (socket) =>
    void socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);

const head = (status: number | string, headers: Readonly<Record<string, string>> = {}) =>
  [`HTTP/1.1 ${status} Odd`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), "", ""].join(
    "\r\n",
  );

const json = { "Content-Type": "application/json", Connection: "close" };
const answer = (body: string | Buffer, headers: Readonly<Record<string, string>> = {}, status = 200): Play => {
  const bytes = Buffer.from(body);
  const all = { ...json, "Content-Length": String(bytes.byteLength), ...headers };
  return say(Buffer.concat([Buffer.from(head(status, all), "latin1"), bytes]));
};
const redirect = (status: number, location: string | null): Play =>
  say(
    head(status, { Connection: "close", "Content-Length": "0", ...(location === null ? {} : { Location: location }) }),
  );

/** One piece after the other for as long as somebody listens. */
const drip =
  (first: string, piece: string | Buffer, ms: number): Play =>
  (socket) => {
    socket.write(first, "latin1");
    const timer = setInterval(() => {
      if (socket.writableLength < 1024 * 1024) socket.write(piece);
    }, ms);
    socket.on("close", () => clearInterval(timer));
  };

const chunked = head(200, { ...json, "Transfer-Encoding": "chunked" });
const blank = Buffer.alloc(48 * 1024 * 1024, 0x20);
const bombs = { gzip: gzipSync(blank), deflate: deflateSync(blank), br: brotliCompressSync(blank) };
const deep = 50_000;
const metadata = "http://169.254.169.254/latest/meta-data/";
const unseen = "\u0000\u001b[31mred\u001b]0;title\u0007\r\nforged line\u2028\u202egnirts\u2066\u200b\ufeff";

/** Answers that no peer of good will gives, by their names. A new fault of a peer joins them by a line; every client meets it. */
export const hostileResponses: readonly (readonly [name: string, play: Play])[] = [
  // Status lines.
  ["101 that switches", sayAndStay(`${head(101, { Connection: "upgrade", Upgrade: "tcp" })}\u0001\u0002`)],
  ["101 without a word", sayAndStay(head(101))],
  ["100 and nothing more", sayAndStay(head(100))],
  ["100 without end", drip("", head(100).repeat(50), 5)],
  ["103 and the end", say(head(103, { Link: "</x>; rel=preload" }))],
  ["199", say(head(199))],
  ["status 0", say(head("000", json))],
  ["status 99", say(head("099", json))],
  ["status -1", say(head("-1", json))],
  ["status 999", answer("{}", {}, 999)],
  ["status 600", answer("{}", {}, 600)],
  ["status 1000", say(head(1000, json))],
  ["no status", say("HTTP/1.1\r\n\r\n{}")],
  ["a version that is none", say("HTTP/9.9 200 OK\r\n\r\n{}")],
  ["a body alone", say("{}")],
  // Redirects.
  ["300 to ftp", redirect(300, "ftp://x/y")],
  ["301 to a script", redirect(301, "javascript:alert(1)")],
  ["302 to no URL", redirect(302, "http://[::1")],
  ["302 to a file", redirect(302, "file:///etc/passwd")],
  ["302 to nothing", redirect(302, null)],
  ["302 to blank", redirect(302, "")],
  ["302 to bytes", redirect(302, "\u00ff\u00fe:\u0001\u0080")],
  ["302 with a password", redirect(302, "http://user:hunter22@127.0.0.1:1/")],
  ["303 to the metadata address", redirect(303, metadata)],
  ["304 unasked", redirect(304, null)],
  ["305 by a proxy", redirect(305, "http://127.0.0.1:1")],
  ["307 to itself", redirect(307, ".")],
  ["308 to the same place", redirect(308, "?again=1")],
  ["399 to mail", redirect(399, "mailto:a@b")],
  // Refusals.
  ["400 in bytes", answer(Buffer.from([0xff, 0xfe, 0, 0xc3, 0x28]), {}, 400)],
  ["400 with unseen words", answer(JSON.stringify({ message: unseen, error: unseen, errors: [unseen] }), {}, 400)],
  ["400 with raw unseen words", answer(unseen, { "Content-Type": "text/plain" }, 400)],
  ["400 with endless words", answer(JSON.stringify({ message: "word ".repeat(200_000) }), {}, 400)],
  ["401 with a broken challenge", answer("{}", { "WWW-Authenticate": 'Bearer realm="http://[",,=;x="' }, 401)],
  ["401 with the metadata address as realm", answer("{}", { "WWW-Authenticate": `Bearer realm="${metadata}"` }, 401)],
  ["403 in HTML", answer("<html><script>alert(1)</script></html>", { "Content-Type": "text/html" }, 403)],
  ["429 for ages", answer("{}", { "Retry-After": "9".repeat(40) }, 429)],
  ["429 until no time", answer("{}", { "Retry-After": "-1", "X-RateLimit-Reset": "NaN" }, 429)],
  ["500 that is not there", answer("", {}, 500)],
  ["503 for a moment", answer("{}", { "Retry-After": "1" }, 503)],
  // Headers.
  ["headers without end", drip("HTTP/1.1 200 OK\r\n", `X-Long: ${"y".repeat(1_000)}\r\n`, 5)],
  ["one giant header", say(`HTTP/1.1 200 OK\r\nX-Long: ${"y".repeat(1024 * 1024)}\r\n\r\n{}`)],
  ["a header line without a colon", say("HTTP/1.1 200 OK\r\nnothing\r\n\r\n{}")],
  ["NUL in a header", say("HTTP/1.1 200 OK\r\nX-A: b\u0000c\r\n\r\n{}")],
  ["bytes in a header", say("HTTP/1.1 200 OK\r\nX-A: \u00ff\u00fe\r\nContent-Length: 2\r\n\r\n{}")],
  ["bare line feeds", say("HTTP/1.1 200 OK\nContent-Length: 2\n\n{}")],
  ["length -1", say(`${head(200, { ...json, "Content-Length": "-1" })}{}`)],
  ["a length beyond numbers", say(`${head(200, { ...json, "Content-Length": "9".repeat(30) })}{}`)],
  ["two lengths", say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\n{}xyz")],
  [
    "a length and chunks",
    say(`${head(200, { ...json, "Content-Length": "2", "Transfer-Encoding": "chunked" })}0\r\n\r\n`),
  ],
  ["a length too long", say(`${head(200, { ...json, "Content-Length": "1000" })}{}`)],
  ["a length too short", answer('{"a":1}', { "Content-Length": "3" })],
  ["no content with a body", say(`${head(204, { "Content-Length": "5" })}hello`)],
  ["chunks of no size", say(`${chunked}zz\r\n{}\r\n0\r\n\r\n`)],
  ["chunks of size -1", say(`${chunked}-1\r\n{}\r\n0\r\n\r\n`)],
  ["chunks beyond numbers", say(`${chunked}${"f".repeat(20)}\r\n{}`)],
  ["a chunk's endless extension", say(`${chunked}2;${"x".repeat(1024 * 1024)}\r\n{}\r\n0\r\n\r\n`)],
  ["trailers without end", drip(`${chunked}2\r\n{}\r\n0\r\n`, "X-Long: y\r\n".repeat(100), 5)],
  ["an unknown transfer", say(`${head(200, { ...json, "Transfer-Encoding": "gzip, lies" })}{}`)],
  // Ends.
  ["the end at once", (socket) => void socket.end()],
  ["a reset at once", (socket) => void socket.resetAndDestroy()],
  ["the end within the status", say("HTTP/1.1 20")],
  ["the end within the head", say("HTTP/1.1 200 OK\r\nContent-Le")],
  ["the end behind the head", say(head(200, { ...json, "Content-Length": "10" }))],
  ["the end within a chunk", say(`${chunked}ff\r\n{"a"`)],
  [
    "a reset within the body",
    (socket) => void socket.write(`${head(200, { ...json, "Content-Length": "99" })}{`, () => socket.resetAndDestroy()),
  ],
  // Time.
  ["silence", () => undefined],
  ["silence behind the head", sayAndStay(head(200, { ...json, "Content-Length": "10" }))],
  ["silence within the body", sayAndStay(`${head(200, { ...json, "Content-Length": "10" })}{`)],
  ["a head by drops", drip("HTTP/1.1 200 OK\r\nX-A: ", "a", 20)],
  ["a body by drops", drip(chunked, "1\r\n \r\n", 20)],
  [
    "a stream of JSON lines without end",
    drip(chunked, `40\r\n{"status":"Downloading","id":"${"a".repeat(29)}"}\n\r\n`, 2),
  ],
  // Encodings.
  ["a gzip bomb", answer(bombs.gzip, { "Content-Encoding": "gzip" })],
  ["a deflate bomb", answer(bombs.deflate, { "Content-Encoding": "deflate" })],
  ["a brotli bomb", answer(bombs.br, { "Content-Encoding": "br" })],
  ["gzip in gzip", answer(gzipSync(bombs.gzip), { "Content-Encoding": "gzip, gzip" })],
  ["gzip that is none", answer("{}", { "Content-Encoding": "gzip" })],
  ["half a gzip", answer(bombs.gzip.subarray(0, 1_000), { "Content-Encoding": "gzip" })],
  ["an encoding of control characters", answer("{}", { "Content-Encoding": "x\u0009\u0009y" })],
  // Bodies.
  ["null", answer("null")],
  ["a list", answer("[]")],
  ["a text", answer('"text"')],
  ["a number", answer("-1e999")],
  ["a list of nulls", answer(`[${"null,".repeat(1_000_000)}null]`)],
  ["a deep list", answer("[".repeat(deep) + "]".repeat(deep))],
  ["a deep object", answer(`${'{"a":'.repeat(deep)}1${"}".repeat(deep)}`)],
  ["a deep refusal", answer(`${'{"message":'.repeat(deep)}1${"}".repeat(deep)}`, {}, 400)],
  ["a million objects", answer(`[${"{},".repeat(1_000_000)}{}]`)],
  ["a list of 20 MB", answer(`["${"a".repeat(20 * 1024 * 1024)}"]`)],
  ["one name twice", answer('{"Version":"1","Version":2,"tags":[],"tags":"x"}')],
  ["a prototype", answer('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')],
  ["numbers beyond numbers", answer(`{"ApiVersion":${"9".repeat(400)},"Size":1e400,"tags":[1e999]}`)],
  ["bytes that are no UTF-8", answer(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]))],
  ["lone surrogates", answer('{"Version":"\\ud800","ApiVersion":"\\udfff","message":"\\ud83d"}')],
  ["NUL in the middle", answer('{"a\u0000b":"\\u0000"}')],
  ["HTML", answer("<!DOCTYPE html><title>Sign in</title>", { "Content-Type": "text/html" })],
  ["half of JSON", answer('{"tags":["1.0.0"')],
  ["HTML that says it is JSON", answer("<!DOCTYPE html><title>Sign in</title>")],
  // Other protocols.
  ["TLS", sayAndStay(Buffer.from([0x16, 3, 3, 0, 0x7a, 2, 0, 0, 0x76, 3, 3, 1, 2, 3]))],
  ["HTTP/2", say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")],
  ["SSH", say("SSH-2.0-OpenSSH_9.2\r\n")],
  ["noise", say(Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 167 + 13) % 256)))],
  // What was heard, in every place.
  [
    "what it heard, as a refusal",
    (socket, { head: heard, body }) =>
      answer(JSON.stringify({ message: `${heard}${body}`, errors: [heard] }), {}, 400)(socket, { head: heard, body }),
  ],
  [
    "what it heard, as a success",
    (socket, heard) => answer(`${heard.head}${heard.body}`, { "Content-Type": "text/plain" })(socket, heard),
  ],
  [
    "what it heard, as a place to go",
    (socket, heard) =>
      redirect(302, `http://127.0.0.1:1/?${encodeURIComponent(heard.head.slice(0, 2_000))}`)(socket, heard),
  ],
];
