import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { sourceKinds } from "../src/sources/source.ts";
import { hostileSamples } from "./sources/hostile-samples.ts";
import { eventually } from "./support/eventually.ts";
import { type HeardRequest, hostileResponses } from "./support/hostile-responses.ts";
import { type HostileServer, hostileServer } from "./support/hostile-server.ts";
import { type HttpLoopback, httpLoopback } from "./support/loopback.ts";
import {
  type ApiClient,
  apiClient,
  firstSignIn,
  type RunningServer,
  startServer,
  temporaryDir,
  testPassword,
} from "./support/server.ts";

// Every peer that the process has lies in every way of the table: at its start, in the background, and while somebody waits. The
// process is the one that people run; it goes on, and a peer of good will is served meanwhile.

const secret = "tdm-canary-8Rt4vB1n6Yq3";

type Question = readonly [method: string, path: string, body?: unknown];

let dir = "";
let server: RunningServer;
let api: ApiClient;
let liar: HostileServer;
let good: HttpLoopback;
let play: (socket: Socket, heard: HeardRequest) => void = (socket) => void socket.end();
/** What a person or a program asks for that makes us ask a peer. */
let questions: readonly Question[] = [];
let released = 0;

const start = () =>
  startServer({
    data_dir: dir,
    env: {
      OUTBOUND_ALLOW: `127.0.0.1:${liar.port}`,
      LOG_LEVEL: "info",
      OIDC_ALLOW_LOOPBACK_HTTP: "true",
    },
  });
const alive = async () => expect((await fetch(`${server.url}/health/live`)).status).toBe(200);

async function created(path: string, body: unknown): Promise<string> {
  const answer = await api.post(path, body);
  expect([path, answer.status, answer.body.error]).toEqual([path, 201, undefined]);
  return String(answer.body.id);
}

/** Asks and waits for no longer than a moment: whoever is held is held by a deadline, which the other suite looks at. */
async function askAll(): Promise<void> {
  const ask = async ([method, path, body]: Question) => {
    const headers = { authorization: `Bearer ${api.token}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const init = { method, headers, signal: AbortSignal.timeout(400), ...sent };
    const answer = await fetch(`${server.url}/api${path}`, init).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      () => null, // it waits for its deadline
    );
    if (answer === null) return;
    expect([path, answer.status < 500]).toEqual([path, true]);
    expect(answer.text).not.toContain(secret);
  };
  await Promise.all([...questions.map(ask), alive()]);
}

/** A release of a good registry that we are told of. */
async function servesOthers(): Promise<void> {
  released += 1;
  const tag = `1.${released}.0`;
  await eventually("a good registry to be checked", async () => {
    await api.post("/trackers/good/checks");
    const { items } = (await api.get("/trackers/good/releases")).body as { items: readonly { tag: string }[] };
    return items.some((release) => release.tag === tag);
  });
}

beforeAll(async () => {
  dir = temporaryDir();
  liar = await hostileServer({ play: (socket, heard) => play(socket, heard) });
  good = await httpLoopback((request, response) => {
    const tags = Array.from({ length: released }, (_, index) => `1.${index + 1}.0`);
    const isList = request.path.includes("/tags/list");
    response.writeHead(isList ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isList ? { name: "acme/good", tags } : { errors: [] }));
  });
  server = await start();
  api = await firstSignIn(server);
  const origin = `http://127.0.0.1:${liar.port}`;
  const login = { username: "ci", password: secret };
  const credential_id = await created("/credentials", { name: "engine", kind: "docker", secret: login });
  const asked: Question[] = [];
  for (const kind of ["docker", "podman"] as const) {
    const id = await created("/runtime-connections", {
      name: kind,
      kind,
      config: { address: `tcp://127.0.0.1:${liar.port}`, tls_verification: false },
      ...(kind === "docker" ? { credential_id } : {}),
    });
    const path = `/runtime-connections/${id}`;
    asked.push(["POST", `${path}/checks`], ["GET", `${path}/targets`], ["GET", `${path}/images`]);
  }
  for (const kind of sourceKinds) {
    for (const [index, sample] of hostileSamples[kind].entries()) {
      const name = `${kind}-${index}`;
      const channels = [{ type: "stable" }];
      const config = sample.config(origin);
      const answer = await api.post("/trackers", { name, sources: [{ key: "main", kind, config, channels }] });
      // Some ways of asking need a credential, and the kind is asked without one in another.
      if (answer.status !== 201) continue;
      asked.push(["POST", `/trackers/${name}/checks`]);
    }
  }
  const notifier = await created("/notifiers", {
    name: "hook",
    url: `${origin}/hooks/${secret}`,
    signing_secret: secret,
    language: "en",
    trigger_events: ["new_release"],
  });
  asked.push(["POST", `/notifiers/${notifier}/deliveries`]);
  // The provider would send the browser back there.
  expect((await api.request("PATCH", "/settings", { base_url: "https://tidemark.test" })).status).toBe(200);
  const provider = await created("/oidc-providers", {
    display_name: "Home",
    slug: "home",
    client_id: "tidemark",
    client_secret: secret,
    issuer_url: origin,
  });
  const path = `/oidc-providers/${provider}/admin-binding/authorize`;
  asked.push(["POST", path, { current_password: testPassword }]);
  const config = { image: "acme/good", registry: `http://127.0.0.1:${good.port}` };
  await created("/trackers", {
    name: "good",
    sources: [{ key: "main", kind: "oci", config, channels: [{ type: "stable" }] }],
  });
  questions = asked;
}, 240_000);

afterAll(async () => {
  await server?.kill("SIGKILL");
  await liar?.[Symbol.asyncDispose]();
  await good?.[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});

/** The server's own words for the first question of a start. */
const enforced = {
  baton: null,
  base_url: null,
  results: [
    {
      type: "ok",
      response: {
        type: "execute",
        result: {
          cols: [{ name: "foreign_keys", decltype: null }],
          rows: [[{ type: "integer", value: "1" }]],
          affected_row_count: 0,
          last_insert_rowid: null,
        },
      },
    },
    { type: "ok", response: { type: "close" } },
  ],
};

/** Starts on a database server that lies after so many good answers; what it says on its way out. */
async function refusedStart(answer: (socket: Socket, heard: HeardRequest) => void, goodAnswers: number) {
  const text = JSON.stringify(enforced);
  await using database = await hostileServer({
    play: answer,
    good: (_request, count) => (count > goodAnswers ? null : { type: "application/json", text }),
  });
  const folder = temporaryDir();
  const child = Bun.spawn([process.execPath, "src/main.ts"], {
    cwd: join(import.meta.dir, ".."),
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      PORT: "0",
      DATA_DIR: folder,
      DATABASE_URL: `http://127.0.0.1:${database.port}`,
      DATABASE_AUTH_TOKEN: secret,
    },
    stdout: "pipe",
    stderr: "pipe",
    stdin: "ignore",
  });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const code = await child.exited;
  rmSync(folder, { recursive: true, force: true });
  return { code, output, errors };
}

describe("a process whose database server lies from the start", () => {
  const isWordy = (name: string) => /^400|^what it heard/.test(name);
  test("ends with one sentence, which shows no secret and nothing unseen", async () => {
    const waiting = [
      ...hostileResponses.map(([name, answer]) => [name, answer, 0] as const),
      ...hostileResponses.filter(([name]) => isWordy(name)).map(([name, answer]) => [name, answer, 1] as const),
    ];
    const start = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [name, answer, goodAnswers] = next;
        const { code, output, errors } = await refusedStart(answer, goodAnswers);
        // The runtime has words of its own for a broken gzip.
        const told = errors.slice(errors.indexOf("Tidemark cannot start."));
        expect([name, code, told]).toEqual([
          name,
          1,
          expect.stringMatching(/^Tidemark cannot start\.\n[^\p{C}\p{Zl}\p{Zp}]{20,800}\n$/u),
        ]);
        expect([name, output + errors]).toEqual([name, expect.not.stringContaining(secret)]);
      }
    };
    await Promise.all(Array.from({ length: 4 }, start));
  }, 240_000);
});

describe("a process whose peers lie", () => {
  test("goes on, and serves others meanwhile", async () => {
    expect(questions.length).toBeGreaterThan(10);
    for (const [index, [, answer]] of hostileResponses.entries()) {
      play = answer;
      await askAll();
      if (index % 20 === 0) await servesOthers();
    }
    await servesOthers();
    expect(
      server.lines.filter((line) =>
        /Unhandled rejection|Uncaught exception|Check failed with an internal error|internal_error/.test(line),
      ),
    ).toEqual([]);
    expect(server.lines.join("\n")).not.toContain(secret);
  }, 240_000);

  test("starts with work due at them, and ends when it is told", async () => {
    const nasty = ["300 to ftp", "302 to no URL", "101 that switches", "a gzip bomb", "a million objects"];
    for (const [, answer] of hostileResponses.filter(([name]) => nasty.includes(name))) {
      // What is asked when the process is told to end is due again at the next start.
      play = () => undefined;
      const before = liar.connections();
      for (const [method, path] of questions) if (path.startsWith("/trackers/")) await api.request(method, path);
      await eventually("a check to wait for its answer", () => liar.connections() > before);
      expect(await server.kill("SIGTERM")).toBe(0);
      play = answer;
      const connections = liar.connections();
      server = await start();
      api = apiClient(server.url, api.token);
      await eventually("the liar to be asked in the background", () => liar.connections() > connections);
      await alive();
    }
    expect(await server.kill("SIGTERM")).toBe(0);
    expect(server.lines.filter((line) => /Unhandled rejection|Uncaught exception/.test(line))).toEqual([]);
  }, 240_000);
});
