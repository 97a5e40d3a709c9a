import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import http, { type IncomingHttpHeaders } from "node:http";
import https from "node:https";
import { join } from "node:path";
import { openDatabase } from "../../src/db/client.ts";
import { executors, runs } from "../../src/db/tables.ts";
import { contentSecurityPolicy } from "../../src/http/middleware/security-headers.ts";
import { type Authority, authorityMissing, type Certificate, createAuthority } from "../peers/authority.ts";
import { freePort } from "../peers/free-port.ts";
import { type ProxyKind, proxiesMissing, type ReverseProxy, startReverseProxy } from "../peers/reverse-proxy.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { peerSuite } from "../support/peer.ts";
import { apiClient, firstSignIn, type RunningServer, startServer, testPassword } from "../support/server.ts";
import { addSurroundings } from "../support/surroundings.ts";

const name = "tide.test";
/** Loopback has more than one address: clients come from one, the proxy from 127.0.0.1. */
const clientAddress = "127.0.0.9";
const liar = "203.0.113.66";
const documentation = readFileSync(join(import.meta.dir, "../../docs/security.md"), "utf8");
const runId = "00000000-0000-7000-8000-000000000001";
const planHash = "a".repeat(64);

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** In order, with every repetition. */
  rawHeaders: readonly string[];
  text: string;
}

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** The block of docs/security.md that begins with this comment: what is documented is what runs. */
function documentedSite(kind: ProxyKind, title: string): string {
  const block = documentation.split("```").find((each) => each.startsWith(`${kind}\n# ${title}\n`));
  if (block === undefined) throw new Error(`docs/security.md has no block "${title}" for ${kind}`);
  return block.slice(kind.length + 1);
}

function placed(site: string, ports: { proxy: number; server: number }, tls: Certificate): string {
  return site
    .replaceAll("listen 443 ssl", `listen 127.0.0.1:${ports.proxy} ssl`)
    .replaceAll(/https:\/\/\S+ \{/g, `https://${name}:${ports.proxy} {\n  bind 127.0.0.1`)
    .replaceAll(/server_name \S+;/g, `server_name ${name};`)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${ports.server}`)
    .replaceAll("/etc/ssl/tidemark.pem", tls.cert_file)
    .replaceAll("/etc/ssl/tidemark.key", tls.key_file);
}

const taken = {
  // Nginx then buffers as it does by default, unless the answer says that it must not.
  nginx: (site: string) =>
    site
      .replace("proxy_pass http://127.0.0.1:8080;", "proxy_pass http://127.0.0.1:8080/;")
      .replace("proxy_buffering off;", ""),
  caddy: (site: string) =>
    site.replace(
      "reverse_proxy /tide/* 127.0.0.1:8080",
      "handle_path /tide/* {\n    reverse_proxy 127.0.0.1:8080\n  }",
    ),
} as const;

const cases: readonly { kind: ProxyKind; what: string; prefix: string; site: string }[] = (
  ["nginx", "caddy"] as const
).flatMap((kind) => {
  const said = kind === "nginx" ? "nginx" : "Caddy";
  const below = documentedSite(kind, `${said}, below a path`);
  return [
    { kind, what: "a host of its own", prefix: "", site: documentedSite(kind, `${said}, a host of its own`) },
    { kind, what: "a path that is passed on", prefix: "/tide", site: below },
    { kind, what: "a path that is taken away", prefix: "/tide", site: taken[kind](below) },
  ];
});

/** A browser's cookies and its form token, over TLS with the private authority, from an address of its own. */
function browserOver(ca: string, port: number, prefix: string) {
  const cookies = new Map<string, string>();
  const origin = `https://${name}:${port}`;
  let formToken = "";
  const open = (path: string, sent: Sent = {}) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const cookie = [...cookies].map(([key, value]) => `${key}=${value}`).join("; ");
      const headers = {
        host: `${name}:${port}`,
        ...(cookie === "" ? {} : { cookie }),
        ...(sent.body === undefined ? {} : { "content-length": String(Buffer.byteLength(sent.body)) }),
        ...sent.headers,
      };
      const options = { host: "127.0.0.1", port, servername: name, ca, localAddress: clientAddress };
      const request = https.request({ ...options, agent: false, method: sent.method ?? "GET", path, headers }, resolve);
      request.on("error", reject);
      request.end(sent.body);
    });
  const send = async (path: string, sent: Sent = {}): Promise<Answer> => {
    const message = await open(path, sent);
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString();
    for (const line of message.headers["set-cookie"] ?? []) {
      const [key = "", value = ""] = (line.split(";")[0] ?? "").split(/=(.*)/s, 2);
      if (line.includes("Max-Age=0")) cookies.delete(key);
      else cookies.set(key, value);
    }
    formToken = /name="csrf_token" value="([^"]+)"/.exec(text)?.[1] ?? formToken;
    return { status: message.statusCode ?? 0, headers: message.headers, rawHeaders: message.rawHeaders, text };
  };
  const form = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams({ csrf_token: formToken, ...fields }).toString();
    const type = "application/x-www-form-urlencoded";
    return send(`${prefix}${path}`, {
      method: "POST",
      body,
      headers: { "content-type": type, origin, "sec-fetch-site": "same-origin", ...headers },
    });
  };
  return { cookies, origin, open, send, form, get: (path: string, sent?: Sent) => send(`${prefix}${path}`, sent) };
}

function timesOf(answer: Answer, header: string): number {
  return answer.rawHeaders.filter((each, index) => index % 2 === 0 && each.toLowerCase() === header).length;
}

/** An executor with a run that waits for consent: refusing it is a change that a live page shows. */
async function addWaitingRun(dataDir: string): Promise<void> {
  const db = await openDatabase({ url: `file:${dataDir}/tidemark.db` });
  const now = Date.now();
  await addSurroundings({ db, clock: createFakeClock(now) });
  await db.write(async (tx) => {
    await tx.insert(executors).values({
      id: "executor-1",
      name: "web",
      connection_id: "connection-1",
      target_kind: "container",
      target_id: "web",
      trigger: "immediate",
      image_selection: "keep_name",
      reference_mode: "digest",
      health_check: { strategy: "disabled" },
      restore_on_failure: true,
      created_at: now,
      updated_at: now,
    });
    await tx.insert(runs).values({
      id: runId,
      executor_id: "executor-1",
      kind: "update",
      state: "pending",
      trigger: "immediate",
      approval: "awaiting",
      approval_until: now + 86_400_000,
      plan: { services: [], diff: [], carried: { settings: 0, mounts: 0 }, was_running: true },
      plan_hash: planHash,
      due_at: now,
      created_at: now,
    });
  });
  await db.close();
}

peerSuite("behind a real reverse proxy", proxiesMissing() ?? authorityMissing(), () => {
  let authority: Authority;
  let tls: Certificate;
  beforeAll(() => {
    authority = createAuthority();
    tls = authority.issue(name);
  });
  afterAll(() => authority.remove());

  for (const { kind, what, prefix, site } of cases) {
    peerSuite(`${kind} with ${what}`, null, () => {
      let server: RunningServer | undefined;
      let proxy: ReverseProxy;
      let person: ReturnType<typeof browserOver>;
      let direct: string;
      // Caddy answers for another host itself; nginx takes its only site for every host.
      const hostReachesUs = kind === "nginx";

      beforeAll(async () => {
        const ports = { proxy: await freePort(), server: await freePort() };
        const baseUrl = `https://${name}:${ports.proxy}${prefix}`;
        const env = { BASE_URL: baseUrl, PORT: String(ports.server), TRUSTED_PROXIES: "127.0.0.1" };
        const started = await startServer({ env });
        server = started;
        direct = `http://127.0.0.1:${ports.server}`;
        await firstSignIn({ ...started, url: direct });
        await addWaitingRun(started.data_dir);
        proxy = await startReverseProxy(kind, ports.proxy, placed(site, ports, tls));
        person = browserOver(authority.ca, ports.proxy, prefix);
      }, 240_000);
      afterAll(async () => {
        await proxy?.stop();
        await server?.kill("SIGTERM");
        if (server !== undefined) rmSync(server.data_dir, { recursive: true, force: true });
      }, 120_000);

      test("a stranger is led to the sign-in below the base URL, and nowhere else", async () => {
        const forwarded = { "x-forwarded-host": "evil.test", "x-forwarded-proto": "http", forwarded: "host=evil.test" };
        const lies = [{}, forwarded, ...(hostReachesUs ? [{ ...forwarded, host: "evil.test" }] : [])];
        for (const headers of lies) {
          const answer = await person.get("/", { headers });
          expect(answer.status).toBe(303);
          expect(new URL(answer.headers.location ?? "", `${person.origin}${prefix}/`).href).toStartWith(
            `${person.origin}${prefix}/login`,
          );
        }
      });

      test("signing in sets one cookie that only this address gets", async () => {
        await person.get("/login");
        const answer = await person.form("/login", { username: "admin", password: testPassword });
        expect(answer.status).toBe(303);
        const lines = (answer.headers["set-cookie"] ?? []).filter((line) => line.includes("session"));
        expect(lines.length).toBe(1);
        const [pair = "", ...attributes] = (lines[0] ?? "").split("; ");
        expect(pair.split("=")[0]).toBe(prefix === "" ? "__Host-tidemark_session" : "__Secure-tidemark_session");
        expect(attributes).toContain(`Path=${prefix === "" ? "/" : prefix}`);
        for (const each of ["Secure", "HttpOnly", "SameSite=Lax"]) expect(attributes).toContain(each);
        expect(attributes.some((each) => each.startsWith("Domain"))).toBe(false);
        expect((await person.get("/account")).status).toBe(200);
      });

      test.each(["/account", "/login", "/nothing-here", "/api/settings", "/openapi.json"])(
        "%s has each security header once",
        async (path) => {
          const answer = await person.get(path);
          const wanted = {
            "content-security-policy": contentSecurityPolicy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
            "x-frame-options": "DENY",
            "strict-transport-security": "max-age=31536000",
            "cache-control": "no-store",
          };
          for (const [header, value] of Object.entries(wanted)) {
            expect([header, timesOf(answer, header), answer.headers[header]]).toEqual([header, 1, value]);
          }
          expect(answer.headers["x-powered-by"]).toBeUndefined();
        },
      );

      test("every link, form and file of a page is below the base URL and is there", async () => {
        const page = await person.get("/account");
        const found = [...page.text.matchAll(/ (?:href|src|action)="(\/[^"#]*)"/g)].map((match) => match[1] ?? "");
        expect(found.length).toBeGreaterThan(5);
        for (const path of found) expect(path).toStartWith(`${prefix}/`);
        const files = [...new Set(found.filter((path) => path.includes("/assets/")))];
        expect(files.length).toBeGreaterThan(1);
        for (const path of files) {
          const file = await person.send(path);
          expect([path, file.status, file.headers["cache-control"]]).toEqual([
            path,
            200,
            "public, max-age=31536000, immutable",
          ]);
        }
      });

      test.each([
        ["a foreign Origin", { origin: "https://evil.test", "sec-fetch-site": "cross-site" }],
        [
          "a foreign Origin that Host repeats",
          { origin: "https://evil.test", host: "evil.test", "sec-fetch-site": "" },
        ],
        ["the origin of the server behind", { origin: "http://127.0.0.1:8080", "sec-fetch-site": "" }],
        [
          "forwarded headers that repeat a foreign Origin",
          { origin: "https://evil.test", "x-forwarded-host": "evil.test", "sec-fetch-site": "" },
        ],
      ])("a form with %s is refused", async (_what, headers) => {
        await person.get("/account");
        const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""));
        const body = new URLSearchParams({ language: "zh" }).toString();
        const type = "application/x-www-form-urlencoded";
        const answer = await person.get("/preferences", {
          method: "POST",
          body,
          headers: { "content-type": type, ...sent },
        });
        if (sent.host === undefined || hostReachesUs) expect(answer.status).toBe(403);
        else expect(answer.headers["x-request-id"]).toBeUndefined();
      });

      test("the client's address is what the proxy saw, never what the client wrote", async () => {
        const lies = { "x-forwarded-for": liar, "x-real-ip": liar, forwarded: `for=${liar}` };
        await person.form("/login", { username: "nobody-by-proxy", password: "not the password" }, lies);
        // Past the proxy: this peer is not trusted, so its header counts for nothing.
        await new Promise<void>((resolve, reject) => {
          const body = JSON.stringify({ username: "nobody-direct", password: "not the password" });
          const headers = { ...lies, "content-type": "application/json", "content-length": String(body.length) };
          const { hostname, port } = new URL(direct);
          const options = { host: hostname, port, localAddress: "127.0.0.8", agent: false as const };
          const request = http.request({ ...options, method: "POST", path: "/api/session", headers }, (message) => {
            message.resume();
            message.on("end", () => resolve());
          });
          request.on("error", reject);
          request.end(body);
        });
        const client = apiClient(direct);
        const signedIn = await client.post("/session", { username: "admin", password: testPassword });
        client.token = String(signedIn.body.token);
        const entries = JSON.stringify((await client.get("/audit-entries?limit=20")).body);
        expect(entries).toContain(`"${clientAddress}"`);
        expect(entries).toContain('"127.0.0.8"');
        expect(entries).not.toContain(liar);
      });

      test("a live page gets what happens while its stream is open", async () => {
        const saysRefused = /data: .*refused/i;
        const stream = await person.open(`${prefix}/runs/${runId}/stream`);
        expect(stream.statusCode).toBe(200);
        expect(stream.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
        const chunks = stream[Symbol.asyncIterator]();
        let text = "";
        const until = async (wanted: RegExp) => {
          while (!wanted.test(text)) {
            const next = await chunks.next();
            if (next.done) throw new Error(`The stream ended without ${wanted}: ${text.slice(-500)}`);
            text += String(next.value);
          }
        };
        // A proxy that buffers would keep this back until the stream ends, which it does not by itself.
        await until(/event: ping/);
        expect(text).not.toMatch(saysRefused);
        await person.get(`/runs/${runId}`);
        const refused = await person.form(`/runs/${runId}/approvals`, { decision: "refuse", plan_hash: planHash });
        expect([refused.status, refused.headers.location]).toEqual([303, `${prefix}/runs/${runId}`]);
        await until(saysRefused);
        stream.destroy();
      });

      test("a body that is too large is refused by the application, with all its headers", async () => {
        const body = "a".repeat(1024 * 1024 + 1);
        const sent = { method: "POST", body, headers: { "content-type": "application/json" } };
        // The proxy still sends when the answer is there: once would pass by luck.
        for (let round = 0; round < 20; round += 1) {
          const answer = await person.get("/api/session", sent);
          expect(answer.status).toBe(413);
          expect(answer.headers["content-security-policy"]).toBe(contentSecurityPolicy);
          expect(JSON.parse(answer.text).error.code).toBe("body_too_large");
        }
      });

      test("signing out takes the cookie away where it is", async () => {
        const answer = await person.form("/logout", {});
        expect(answer.status).toBe(303);
        expect([...person.cookies.keys()].some((key) => key.includes("session"))).toBe(false);
        expect((await person.get("/account")).status).toBe(303);
      });
    });
  }
});
