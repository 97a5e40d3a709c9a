import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import net from "node:net";
import { contentSecurityPolicy } from "../../src/http/middleware/security-headers.ts";
import { type Browser, goodPassword, type TestApp, testApp } from "../support/test-app.ts";

// What a scanner of a site's headers would find, of every kind of answer there is, signed in and not. It begins at 100 and takes away
// for each weakness, as Mozilla's Observatory does.

const baseUrl = "https://tidemark.example";

interface Found {
  status: number;
  headers: Headers;
  text: string;
}

function directives(policy: string): Map<string, readonly string[]> {
  const all = policy.split(";").map((each) => each.trim().split(/\s+/));
  return new Map(all.map(([name = "", ...values]) => [name, values]));
}

function policyLosses(policy: string | null): [string, number][] {
  if (policy === null) return [["no Content-Security-Policy", 25]];
  const parts = directives(policy);
  const sources = (name: string) => parts.get(name) ?? parts.get("default-src") ?? ["*"];
  const isOpen = (name: string) => sources(name).some((each) => /^(\*|https?:|data:|blob:)$/.test(each));
  const found: [string, number][] = [];
  if (policy.includes("unsafe-inline")) found.push(["unsafe-inline", 20]);
  if (policy.includes("unsafe-eval")) found.push(["unsafe-eval", 10]);
  if (parts.get("default-src")?.join() !== "'none'") found.push(["default-src is not 'none'", 5]);
  for (const name of ["script-src", "style-src", "object-src", "connect-src", "font-src"]) {
    if (isOpen(name)) found.push([`${name} is open`, 20]);
  }
  // These do not fall back to default-src.
  for (const name of ["form-action", "base-uri", "frame-ancestors"]) {
    if (!parts.has(name)) found.push([`no ${name}`, 10]);
  }
  return found;
}

function cookieLosses(headers: Headers): [string, number][] {
  return headers.getSetCookie().flatMap((line) => {
    const [pair = "", ...attributes] = line.split("; ");
    const name = pair.split("=")[0] ?? "";
    const has = (attribute: string) => attributes.includes(attribute);
    const found: [string, number][] = [];
    if (!has("Secure")) found.push([`${name} is not Secure`, 40]);
    if (!/SameSite=(Lax|Strict)/.test(line)) found.push([`${name} has no SameSite`, 20]);
    if (name.includes("session") && !has("HttpOnly")) found.push([`${name} is readable by scripts`, 30]);
    if (name.includes("session") && !name.startsWith("__Host-")) found.push([`${name} has no prefix`, 10]);
    return found;
  });
}

function bodyLosses({ headers, text }: Found): [string, number][] {
  if (!(headers.get("content-type") ?? "").includes("text/html")) return [];
  const found: [string, number][] = [];
  if (/<(script|link|img|iframe)[^>]+(src|href)="(https?:)?\/\//.test(text))
    found.push(["something from elsewhere", 50]);
  if (/<script(?![^>]* src=)/.test(text) || /<style[\s>]/.test(text)) found.push(["something inline", 20]);
  if (/ (style|on\w+|hx-on[\w:-]*)=["']/.test(text) || /["'](js|javascript):/.test(text)) {
    found.push(["an attribute that runs", 20]);
  }
  return found;
}

/** What is weak about an answer, with what it costs. */
function losses(found: Found): [string, number][] {
  const { headers } = found;
  const wanted: [string, (value: string) => boolean, number][] = [
    ["content-security-policy", (value) => value === contentSecurityPolicy, 5],
    ["strict-transport-security", (value) => Number(/max-age=(\d+)/.exec(value)?.[1]) >= 31_536_000, 20],
    ["x-content-type-options", (value) => value === "nosniff", 5],
    ["x-frame-options", (value) => value === "DENY", 20],
    ["referrer-policy", (value) => value === "no-referrer", 5],
    ["cross-origin-opener-policy", (value) => value === "same-origin", 5],
    ["cross-origin-resource-policy", (value) => value === "same-origin", 10],
    ["cache-control", (value) => value === "no-store" || (found.status === 200 && value.includes("immutable")), 10],
  ];
  const forbidden = [
    "server",
    "x-powered-by",
    "access-control-allow-origin",
    "access-control-allow-credentials",
    "via",
  ];
  return [
    ...policyLosses(headers.get("content-security-policy")),
    ...wanted
      .filter(([name, holds]) => !holds(headers.get(name) ?? ""))
      .map(([name, , cost]): [string, number] => [`${name}: ${headers.get(name)}`, cost]),
    ...forbidden.filter((name) => headers.has(name)).map((name): [string, number] => [`${name} is sent`, 20]),
    ...cookieLosses(headers),
    ...bodyLosses(found),
  ];
}

const scoreOf = (found: Found) => 100 - losses(found).reduce((sum, [, cost]) => sum + cost, 0);

let app: TestApp;
let person: Browser & { api: Awaited<ReturnType<TestApp["signedIn"]>>["api"] };
let asset = "";
beforeAll(async () => {
  app = await testApp({ env: { BASE_URL: baseUrl } });
  person = await app.signedIn();
  asset = /href="(\/assets\/[^"]+\.css)"/.exec((await app.browser().get("/login")).text)?.[1] ?? "";
});
afterAll(() => app.close());

describe("the self-check scores 100", () => {
  const large = "a".repeat(1024 * 1024 + 1);
  const json = { "content-type": "application/json" };
  const asked: [what: string, method: string, path: string, init: RequestInit, status: number][] = [
    ["the sign-in page", "GET", "/login", {}, 200],
    ["a redirect to it", "GET", "/settings", {}, 303],
    ["HEAD of a page", "HEAD", "/login", {}, 200],
    ["a page that is not there, to a stranger", "GET", "/nothing", {}, 303],
    ["public documentation", "GET", "/docs", {}, 200],
    ["the OpenAPI document", "GET", "/openapi.json", {}, 200],
    ["health", "GET", "/health/live", {}, 200],
    ["readiness", "GET", "/health/ready", {}, 200],
    ["a file", "GET", "ASSET", {}, 200],
    ["a file that is not there", "GET", "/assets/gone.css", {}, 404],
    ["an operation without a token", "GET", "/api/settings", {}, 401],
    ["an operation that is not there", "GET", "/api/nothing", {}, 404],
    [
      "another method of an operation",
      "PUT",
      "/api/trackers",
      { headers: { ...json, authorization: "Bearer x" } },
      405,
    ],
    ["TRACE", "TRACE", "/", {}, 405],
    ["a preflight", "OPTIONS", "/api/trackers", { headers: { origin: "https://evil.test" } }, 403],
    ["a body that is too large", "POST", "/api/session", { headers: json, body: large }, 413],
    ["a form that is too large", "POST", "/login", { body: large }, 413],
    ["a body that is no JSON", "POST", "/api/session", { headers: json, body: "{" }, 400],
    ["a body that is declared as something else", "POST", "/api/session", { body: "{}" }, 415],
    ["fields that are refused", "POST", "/api/session", { headers: json, body: "{}" }, 422],
    ["a foreign form", "POST", "/login", { headers: { origin: "https://evil.test" }, body: "a=b" }, 403],
    ["a consent link of nobody", "GET", "/approvals/x/y", {}, 404],
  ];
  test.each(asked)("for a stranger: %s", async (_what, method, path, init, status) => {
    const answer = await app.send(path === "ASSET" ? asset : path, { method, ...init });
    const found = { status: answer.status, headers: answer.headers, text: await answer.text() };
    expect([found.status, losses(found), scoreOf(found)]).toEqual([status, [], 100]);
  });

  test.each([
    ["the overview", "/", 200],
    ["a form", "/credentials/new", 200],
    ["settings", "/settings", 200],
    ["the audit", "/settings/audit", 200],
    ["the account", "/account", 200],
    ["a page that is not there", "/nothing", 404],
    ["a thing that is not there", "/executors/none", 404],
    ["the sign-in page, which leads on", "/login", 303],
    ["a search", "/search?q=%3Cscript%3E", 200],
  ])("for who is signed in: %s", async (_what, path, status) => {
    const found = await person.get(path);
    expect([found.status, losses(found), scoreOf(found)]).toEqual([status, [], 100]);
  });

  test("for forms: refused, done and signing out", async () => {
    const other = app.browser();
    await other.get("/login");
    const answers = [
      await other.post("/login", { username: "admin", password: "not the password" }),
      await other.post("/login", { username: "admin", password: goodPassword }),
      await other.post("/account", { username: "no spaces" }),
      await other.post("/preferences", { language: "zh" }),
      await other.post("/logout"),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 303, 422, 303, 303]);
    expect(answers.flatMap(losses)).toEqual([]);
    expect(answers.flatMap(({ headers }) => headers.getSetCookie()).length).toBeGreaterThan(3);
  });

  test("when the database is gone: of a page and of an operation", async () => {
    const broken = await testApp({ env: { BASE_URL: baseUrl } });
    await broken.db.close();
    const json500 = await broken.send("/api/session", {
      method: "POST",
      headers: json,
      body: '{"username":"a","password":"b"}',
    });
    const page500 = await broken.send("/login", { method: "POST", body: new URLSearchParams({ username: "a" }) });
    for (const answer of [json500, page500]) {
      const found = { status: answer.status, headers: answer.headers, text: await answer.text() };
      expect([found.status >= 500 || found.status === 403, losses(found)]).toEqual([true, []]);
      expect(found.text).not.toMatch(/SELECT|INSERT|\.ts:\d+|node_modules|\/src\//);
    }
    expect(json500.status).toBe(500);
  });
});

/** Sends exactly these bytes and gives back everything that comes. */
async function raw(port: number, request: string): Promise<{ status: number; head: string; body: string }> {
  const text = await new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = net.connect(port, "127.0.0.1", () => socket.write(Buffer.from(request, "latin1")));
    socket.on("data", (chunk) => chunks.push(Buffer.from(chunk)));
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
    socket.on("error", reject);
  });
  const end = text.indexOf("\r\n\r\n");
  const [head, body] = [text.slice(0, end), text.slice(end + 4)];
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body };
}

describe("over a real connection", () => {
  let port = 0;
  let server: ReturnType<typeof Bun.serve>;
  beforeAll(() => {
    server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, self) => app.app.fetch(request, { peer_address: self.requestIP(request)?.address ?? null }),
    });
    port = server.port ?? 0;
  });
  afterAll(() => server.stop(true));
  const get = (path: string, headers = "Host: tidemark.example") =>
    raw(port, `GET ${path} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`);

  test.each([
    "Host: evil.test",
    "Host: evil.test:443",
    "Host: tidemark.example@evil.test",
    "Host: tidemark.example\r\nX-Forwarded-Host: evil.test",
    "Host: tidemark.example\r\nForwarded: host=evil.test;proto=http",
    "Host: tidemark.example\r\nX-Original-URL: //evil.test/\r\nX-Rewrite-URL: //evil.test/",
    "Host: tidemark.example\r\nX-Forwarded-Prefix: //evil.test",
    "Host: tidemark.example\r\nX-HTTP-Method-Override: DELETE",
    "Host: tidemark.example\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Port: 80",
    "Host: 127.0.0.1",
    "Host: [::1]",
    "Host: evil.test\r\nHost: tidemark.example",
  ])("%p changes no link, cookie or protection", async (headers) => {
    const answers = [
      await get("/settings", headers),
      await get("/login", headers),
      await get("/api/settings", headers),
    ];
    for (const { status, head, body } of answers) {
      // Two hosts, or a host that is none, may be refused before they are ours.
      expect([200, 303, 400, 401]).toContain(status);
      expect(`${head}${body}`).not.toContain("evil.test");
      if (status === 303) expect(head).toMatch(/\r\nlocation: (https:\/\/tidemark\.example)?\/login/i);
      if (status !== 400) expect(head.toLowerCase()).toContain("strict-transport-security: max-age=31536000");
    }
  });

  test.each([
    "//evil.test/",
    "//evil.test/%2e%2e",
    "/\\evil.test/",
    "/\\/evil.test",
    "/.//evil.test",
    "/%2f%2fevil.test",
    "/%5c%5cevil.test",
    "/login/..;/settings",
    "/..%2f..%2fetc/passwd",
    "/%2e%2e/%2e%2e/keys.json",
    "/assets/..%2f..%2fpackage.json",
    "/assets/%2e%2e%2f%2e%2e%2fkeys.json",
    "/assets/....//keys.json",
    "/keys.json",
    "/tidemark.db",
    "/.git/config",
    "/.env",
    "/api/../settings",
    "/api%2Fsettings",
    "/API/settings",
    "/api//settings",
    "/api/settings/",
    "/api/settings;x=1",
    "/settings%00",
    "/settings%0d%0aSet-Cookie:%20a=b",
    "/%ff%fe",
    "/%",
    "/%zz",
    "/<script>alert(1)</script>",
    "/%3Cscript%3Ealert(1)%3C/script%3E",
    "/settings?next=//evil.test",
    "/login?next=//evil.test",
    "/login?next=https://evil.test",
    "/login?next=/%5cevil.test",
    "/login?next=/%09/evil.test",
    "/login?next=javascript:alert(1)",
    "http://evil.test/settings",
    `/${"a".repeat(8_000)}`,
    `/login?${"a=b&".repeat(2_000)}`,
  ])("%p leads nowhere else and shows nothing", async (path) => {
    const { status, head, body } = await get(path);
    expect([200, 303, 400, 401, 404, 405, 414, 431]).toContain(status);
    const location = /\r\nlocation: ([^\r\n]*)/i.exec(head)?.[1];
    if (location !== undefined) {
      const target = new URL(location, `${baseUrl}/`);
      expect([target.origin, target.pathname]).toEqual([baseUrl, "/login"]);
    }
    expect(head).not.toMatch(/\r\nset-cookie: a=b/i);
    expect(body).not.toContain("<script>alert");
    expect(body).not.toMatch(/"session"|root:x:|SQLite format|"dependencies"/);
    // What the administrator would see after signing in never leaves this origin.
    expect(/name="next" value="([^"]*)"/.exec(body)?.[1] ?? "").not.toContain("evil");
    if (status !== 400 && status !== 431 && status !== 414) {
      expect(head.toLowerCase()).toContain("content-security-policy: default-src 'none'");
    }
  });
});
