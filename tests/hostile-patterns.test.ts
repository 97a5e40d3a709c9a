import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { type HttpLoopback, httpLoopback } from "./support/loopback.ts";
import { type ApiClient, firstSignIn, type RunningServer, startServer } from "./support/server.ts";

// A person's pattern meets an upstream's list: each search is bounded, and ten thousand of them in a row must not silence the process
// either. Whoever looks after it would take it for dead and kill it.

/** 900 names of the length that a registry takes, on which such a pattern costs some of the most. */
const hostile = (count: number) => `^(?:a?){${count}}(?:a?){${count}}a{120}$`;
const names = Array.from({ length: 900 }, (_, index) => `${"a".repeat(120)}${String(index).padStart(8, "0")}`);

let server: RunningServer;
let api: ApiClient;
let registry: HttpLoopback;

beforeAll(async () => {
  registry = await httpLoopback((request, response) => {
    const isList = request.path.includes("/tags/list");
    response.writeHead(isList ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isList ? { name: "acme/app", tags: names } : { errors: [] }));
  });
  server = await startServer();
  api = await firstSignIn(server);
}, 240_000);
afterAll(async () => {
  await server?.kill("SIGKILL");
  await registry?.[Symbol.asyncDispose]();
  if (server !== undefined) rmSync(server.data_dir, { recursive: true, force: true });
});

// Each asks by another pattern: what took long is remembered.
const channels = (count: number) => [{ type: "stable", include_pattern: hostile(count) }];
const config = { image: "acme/app", registry: "" };

/** Asks whether the process lives, one question after the other, until `work` has ended; how many answers came before that. */
async function answersDuring(work: Promise<unknown>): Promise<number> {
  let hasEnded = false;
  const ended = work.finally(() => {
    hasEnded = true;
  });
  let answers = 0;
  while (!hasEnded) {
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
    if (!hasEnded) answers += 1;
  }
  await ended;
  return answers;
}

test("/health/live answers while a preview judges a long list by a hostile pattern", async () => {
  const registered = { ...config, registry: `http://127.0.0.1:${registry.port}` };
  const input = { kind: "oci", config: registered, channels: channels(120), sorting: "semantic" };
  let seen: Awaited<ReturnType<ApiClient["post"]>> | undefined;
  const preview = async () => {
    seen = await api.post("/tracker-previews", input);
  };
  expect(await answersDuring(preview())).toBeGreaterThan(20);
  expect([seen?.status, seen?.body.total]).toEqual([200, names.length]);
}, 240_000);

test("/health/live answers while a check judges a long list by a hostile pattern", async () => {
  const registered = { ...config, registry: `http://127.0.0.1:${registry.port}` };
  const source = { key: "main", kind: "oci", config: registered, channels: channels(119) };
  const created = await api.post("/trackers", { name: "app", sources: [source] });
  expect([created.status, created.body.error]).toEqual([201, undefined]);
  const asked = registry.seen.length;
  const check = async () => {
    await api.post("/trackers/app/checks");
    for (;;) {
      const { sources } = (await api.get("/trackers/app/checks")).body as { sources: { is_waiting: boolean }[] };
      if (!sources.some((each) => each.is_waiting)) return;
    }
  };
  expect(await answersDuring(check())).toBeGreaterThan(20);
  expect(registry.seen.length).toBeGreaterThan(asked);
}, 240_000);
