import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { inEnglish, say, told } from "../src/messages/message.ts";
import { type HttpLoopback, httpLoopback } from "./support/loopback.ts";
import { type ApiClient, firstSignIn, type RunningServer, startServer } from "./support/server.ts";

// A person's pattern meets an upstream's list: each search is bounded, and ten thousand of them in a row must not silence the process
// either. Whoever looks after it would take it for dead and kill it.

/** 3,000 names of the length that a registry takes, on which such a pattern costs some of the most: some milliseconds for each. */
const hostile = (count: number) => `^(.?){${count}}$`;
const names = Array.from({ length: 3_000 }, (_, index) => `${"a".repeat(120)}${String(index).padStart(8, "0")}`);

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

const sourceBy = (channels: readonly object[]) => ({
  key: "main",
  kind: "oci",
  config: { ...config, registry: `http://127.0.0.1:${registry.port}` },
  channels,
});

test("/health/live answers while a preview judges a long list by a hostile pattern, which is too costly", async () => {
  const { key: _key, ...source } = sourceBy([{ type: "beta", include_pattern: "^1" }, ...channels(250)]);
  let seen: Awaited<ReturnType<ApiClient["post"]>> | undefined;
  const preview = async () => {
    seen = await api.post("/tracker-previews", { ...source, sorting: "semantic" });
  };
  expect(await answersDuring(preview())).toBeGreaterThan(5);
  const said = say("fields.pattern_too_slow", { pattern: hostile(250) });
  const field = "channels.1.include_pattern";
  expect([seen?.status, seen?.body.error]).toEqual([
    422,
    { code: "too_costly", ...told(said), fields: { [field]: inEnglish(said) }, fields_data: { [field]: said } },
  ]);
}, 240_000);

test("an ordinary pattern judges the same list", async () => {
  const { key: _key, ...source } = sourceBy([{ type: "stable", include_pattern: "^a+0+1?[0-9]{2}$" }]);
  const seen = await api.post("/tracker-previews", { ...source, sorting: "semantic" });
  expect([seen.status, seen.body.total]).toEqual([200, names.length]);
}, 240_000);

test("/health/live answers while a check judges a long list by a hostile pattern, and what was known stays", async () => {
  const check = async () => {
    await api.post("/trackers/app/checks");
    for (;;) {
      const { sources } = (await api.get("/trackers/app/checks")).body as { sources: { is_waiting: boolean }[] };
      if (!sources.some((each) => each.is_waiting)) return;
    }
  };
  const known = async () => {
    const { sources } = (await api.get("/trackers/app")).body as { sources: { error: { code: string } | null }[] };
    const { items } = (await api.get("/trackers/app/versions")).body as { items: readonly { tag: string }[] };
    return { error: sources[0]?.error?.code, count: items.length };
  };
  const created = await api.post("/trackers", { name: "app", sources: [sourceBy([{ type: "stable" }])] });
  expect([created.status, created.body.error]).toEqual([201, undefined]);
  await check();
  const before = await known();
  expect(before.error).toBeUndefined();
  expect(before.count).toBeGreaterThan(0);
  const edited = await api.request("PATCH", "/trackers/app", { sources: [sourceBy(channels(251))] });
  expect([edited.status, edited.body.error]).toEqual([200, undefined]);
  const asked = registry.seen.length;
  expect(await answersDuring(check())).toBeGreaterThan(5);
  expect(registry.seen.length).toBeGreaterThan(asked);
  expect(await known()).toEqual({ error: "too_costly", count: before.count });
}, 240_000);

test("a body full of patterns is too costly to read", async () => {
  const many = Array.from({ length: 8_000 }, (_, index) => ({
    type: "stable",
    include_pattern: `${"\\pL\\pM\\pN\\pP".repeat(5)}${index}`,
  }));
  const refused = await api.post("/trackers", { name: "many", sources: [sourceBy(many)] });
  expect([refused.status, (refused.body.error as { code: string }).code]).toEqual([422, "too_costly"]);
}, 240_000);
