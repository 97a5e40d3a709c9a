import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { plain, say } from "../../src/messages/message.ts";
import { createGuard } from "../../src/net/guarded-fetch.ts";
import { parseOutboundAllow } from "../../src/net/outbound-allow.ts";
import { probes } from "../../src/probes/index.ts";
import type { ProbeContext } from "../../src/probes/probe.ts";
import { english } from "../support/english.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { fakeResolver, httpLoopback, rawLoopback } from "../support/loopback.ts";

const signal = new AbortController().signal;
const name = "app.example.test";

function contextFor(port: number, ownPort: number | null = null): ProbeContext {
  const guard = createGuard({
    clock: createFakeClock(),
    allow: parseOutboundAllow(`${name}:${port}`),
    resolve: fakeResolver({ [name]: ["127.0.0.1"], "evil.example.test": ["93.184.215.14", "10.0.0.1"] }).resolve,
    ownPort: () => ownPort,
  });
  return {
    ...guard.open({ purpose: "probe", timeout_ms: 10_000, signal }),
    connect: guard.connect,
    readiness: async () => ({ ready: true, detail: plain("running for 10 s") }),
  };
}

const basic = { protocol: "http", host: name, port: 8080, path: "/health", method: "GET" };

describe("http probe", () => {
  test.each([
    [200, "", true],
    [204, "", true],
    [299, "", true],
    [300, "", true],
    [304, "", true],
    [400, "", false],
    [404, "", false],
    [500, "", false],
    [200, "200, 204", true],
    [204, "200, 204", true],
    [201, "200, 204", false],
    [404, "404", true],
    [301, "", false],
    [302, "302", false],
    [308, "200,308", false],
  ])("takes status %i with expected codes %p: %p", async (status, expected_status_codes, is) => {
    await using server = await httpLoopback((_request, response) =>
      response.writeHead(status, { location: "/next" }).end(),
    );
    const config = { ...basic, port: server.port, expected_status_codes };
    const readiness = await probes.http.open(config, contextFor(server.port)).attempt(signal);
    expect(readiness.ready).toBe(is);
    expect(server.seen.length).toBe(1);
    expect(server.seen[0]?.path).toBe("/health");
  });

  test.each(["GET", "HEAD"])("sends %s", async (method) => {
    await using server = await httpLoopback((_request, response) => response.end());
    const probe = probes.http.open({ ...basic, port: server.port, method }, contextFor(server.port));
    expect(await probe.attempt(signal)).toEqual({ ready: true, detail: say("probes.answered", { status: 200 }) });
    expect(server.seen[0]?.method).toBe(method);
  });

  test.each([
    ["", true],
    ['"status":\\s*"(ok|UP)"', true],
    ["^\\{", true],
    ["degraded", false],
    ["^ok$", false],
  ])("takes a body by the pattern %p: %p", async (expected_body_pattern, is) => {
    await using server = await httpLoopback((_request, response) => response.end('{"status": "UP"}'));
    const config = { ...basic, port: server.port, expected_body_pattern };
    const readiness = await probes.http.open(config, contextFor(server.port)).attempt(signal);
    expect(readiness.ready).toBe(is);
    if (!is) expect(english(readiness.detail)).toContain("is not in the first 16 characters of the response");
  });

  test("looks for a pattern in the kept 64 KiB alone", async () => {
    await using server = await httpLoopback((_request, response) => response.end(`${"a".repeat(65_536)}needle`));
    const config = { ...basic, port: server.port, expected_body_pattern: "needle" };
    const readiness = await probes.http.open(config, contextFor(server.port)).attempt(signal);
    expect(english(readiness.detail)).toContain("is not in the first 65536 characters");
  });

  test("looks for a costly pattern in less of the body", async () => {
    await using server = await httpLoopback((_request, response) => response.end("a".repeat(65_536)));
    const config = { ...basic, port: server.port, expected_body_pattern: "[a-z]{500}[0-9]" };
    const readiness = await probes.http.open(config, contextFor(server.port)).attempt(signal);
    expect(english(readiness.detail)).toMatch(/is not in the first [34]\d{3} characters/);
  });

  test("says what it found and what it wanted", async () => {
    await using server = await httpLoopback((_request, response) => response.writeHead(503).end());
    const probe = probes.http.open({ ...basic, port: server.port }, contextFor(server.port));
    const detail = say("probes.status_unexpected", { status: 503, expected: [] });
    expect(await probe.attempt(signal)).toEqual({ ready: false, detail });
    expect(english(detail)).toBe("Returned 503, expected 2xx or 3xx");
  });

  test("gives up on a blocked destination and names no address of it", async () => {
    const probe = probes.http.open({ ...basic, host: "evil.example.test" }, contextFor(1));
    expect(await probe.attempt(signal)).toEqual({
      ready: false,
      detail: say("net.destination_blocked", { entry: "evil.example.test:8080" }),
      final: true,
    });
  });

  test("goes on after a refused connection", async () => {
    const server = await rawLoopback(() => undefined);
    await server[Symbol.asyncDispose]();
    const probe = probes.http.open({ ...basic, port: server.port }, contextFor(server.port));
    expect(await probe.attempt(signal)).toMatchObject({ ready: false, final: false });
  });

  test.each([
    [{}, true],
    [{ path: "/" }, true],
    [{ path: "/a/b?c=d" }, true],
    [{ path: "/a//b" }, true],
    [{ path: "" }, false],
    [{ path: "health" }, false],
    [{ path: "//evil.example.test/x" }, false],
    [{ path: "/\\evil.example.test" }, false],
    [{ path: "/a b" }, false],
    [{ path: "/a\r\nx: y" }, false],
    [{ path: "/a#b" }, false],
    [{ path: "@evil.example.test/" }, false],
    [{ path: `/${"a".repeat(1_024)}` }, false],
    [{ host: "app.example.test/x" }, false],
    [{ host: "app.example.test:80" }, false],
    [{ host: "u@app.example.test" }, false],
    [{ host: "[2606:4700::1]" }, false],
    [{ host: "2606:4700::1" }, true],
    [{ host: "" }, false],
    [{ method: "POST" }, false],
    [{ protocol: "ftp" }, false],
    [{ port: 0 }, false],
    [{ port: 65_536 }, false],
    [{ port: 80.5 }, false],
    [{ expected_status_codes: "200" }, true],
    [{ expected_status_codes: " 200 , 204 " }, true],
    [{ expected_status_codes: "200;204" }, false],
    [{ expected_status_codes: "200," }, false],
    [{ expected_status_codes: "2xx" }, false],
    [{ expected_status_codes: "99" }, false],
    [{ expected_status_codes: "600" }, false],
    [{ expected_status_codes: Array(21).fill("200").join(",") }, false],
    [{ body: "x" }, false],
    [{ expected_body_pattern: "ok|UP" }, true],
    [{ expected_body_pattern: "(ok" }, false],
    [{ expected_body_pattern: "(?=ok)" }, false],
    [{ expected_body_pattern: "a".repeat(513) }, false],
    [{ expected_body_pattern: "ok", method: "HEAD" }, false],
    [{ expected_body_pattern: "", method: "HEAD" }, true],
  ])("judges the configuration with %j: %p", (change, is) => {
    expect(v.safeParse(probes.http.Config, { ...basic, ...change }).success).toBe(is);
  });

  test.each([
    [basic, `http://${name}:8080/health`],
    [{ ...basic, protocol: "https", port: 443, host: "2606:4700::1" }, "https://[2606:4700::1]:443/health"],
  ])("names the destination of %j", (config, url) => {
    expect(probes.http.destination?.(config)).toEqual({ url, purpose: "probe" });
  });
});

describe("tcp probe", () => {
  test("is ready when a private port accepts", async () => {
    await using server = await rawLoopback(() => undefined);
    const probe = probes.tcp.open({ host: "127.0.0.1", port: server.port }, contextFor(1));
    expect(await probe.attempt(signal)).toEqual({
      ready: true,
      detail: say("probes.port_open", { port: server.port }),
    });
  });

  test.each([
    ["169.254.169.254", null],
    ["fe80::1", null],
    ["127.0.0.1", 6379],
  ])("gives up on %s with our own port at %p", async (host, ownPort) => {
    const probe = probes.tcp.open({ host, port: 6379 }, contextFor(1, ownPort));
    expect(await probe.attempt(signal)).toEqual({
      ready: false,
      detail: say("net.destination_blocked", { entry: null }),
      final: true,
    });
  });

  test("goes on when nobody listens yet", async () => {
    const server = await rawLoopback(() => undefined);
    await server[Symbol.asyncDispose]();
    const probe = probes.tcp.open({ host: "127.0.0.1", port: server.port }, contextFor(1));
    expect(await probe.attempt(signal)).toMatchObject({ ready: false, final: false });
  });

  test("does not begin when its attempt is over", async () => {
    await using server = await rawLoopback(() => undefined);
    const probe = probes.tcp.open({ host: "127.0.0.1", port: server.port }, contextFor(1));
    expect((await probe.attempt(AbortSignal.abort())).ready).toBe(false);
    expect(server.connections()).toBe(0);
  });
});

describe("native probe", () => {
  test("passes the runtime's judgement on", async () => {
    expect(await probes.native.open({}, contextFor(1)).attempt(signal)).toEqual({
      ready: true,
      detail: plain("running for 10 s"),
    });
  });
});

describe("probes", () => {
  test.each(Object.entries(probes))("%s is registered under its own kind", (kind, probe) => {
    expect<string>(probe.kind).toBe(kind);
    expect(probe.title).not.toBe("");
  });
});
