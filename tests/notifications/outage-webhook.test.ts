import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { systemActor } from "../../src/auth/schema.ts";
import { toIso } from "../../src/clock.ts";
import { FakeEngine, fakeRuntimes } from "../support/fake-runtime.ts";
import { type TestApp, testApp } from "../support/test-app.ts";

interface Received {
  event: string | null;
  body: Record<string, unknown>;
  is_signed: boolean;
}

const minute = 60_000;
const secret = "a secret of sixteen";
let engine: FakeEngine;
let received: Received[];
let receiver: ReturnType<typeof Bun.serve>;
let app: TestApp;
beforeEach(async () => {
  received = [];
  receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const text = await request.text();
      const stamp = request.headers.get("x-tidemark-timestamp");
      const signature = createHmac("sha256", secret).update(`${stamp}.${text}`).digest("hex");
      received.push({
        event: request.headers.get("x-tidemark-event"),
        body: JSON.parse(text),
        is_signed: request.headers.get("x-tidemark-signature") === `sha256=${signature}`,
      });
      return new Response("ok");
    },
  });
  engine = new FakeEngine();
  app = await testApp({
    env: { OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}`, BASE_URL: "https://tidemark.example" },
    runtimes: fakeRuntimes(engine),
  });
});
afterEach(async () => {
  await app.close();
  await receiver.stop(true);
});

async function watch(ms: number): Promise<void> {
  const { scheduler } = app.services;
  for (const until = app.clock.elapsed() + ms; app.clock.elapsed() < until; ) {
    await app.clock.advance(5_000);
    await scheduler.tick(app.clock.now());
    await scheduler.idle();
  }
}
const subscribe = async (name: string, trigger_events: readonly string[]) =>
  await app.services.notifications.create(systemActor, {
    ...{ name, url: `http://127.0.0.1:${receiver.port}/${name}`, signing_secret: secret, language: "en" },
    trigger_events,
  });

test("a lost connection reaches the webhook that asked for it, once, and so does its end", async () => {
  await subscribe("asked", ["connection_lost"]);
  await subscribe("other", ["executor_run_failed", "upstream_unreachable"]);
  const { connections } = app.services;
  const { id } = await connections.create(systemActor, {
    ...{ name: "Home", kind: "docker", config: { address: "fake://home" } },
  });
  await watch(minute);
  engine.isUnreachable = true;
  await watch(10 * minute);
  expect(received).toEqual([]);
  await watch(10 * minute);
  const { since, problem } = (await connections.get(id)).reach;
  const facts = {
    ...{ cause: "connection", connection: "Home", connection_id: id, since: toIso(since ?? 0) },
    ...{ code: "unreachable", reason: problem?.message, executor_count: 0, executors: [] },
    link: `https://tidemark.example/connections/${id}`,
  };
  expect(received).toMatchObject([
    { event: "connection_lost", is_signed: true, body: { event: "connection_lost", ...facts, lasted_ms: null } },
  ]);
  await watch(30 * minute);
  engine.isUnreachable = false;
  await watch(minute);
  const [lost, recovered] = received;
  expect(received).toHaveLength(2);
  const end = { event: "connection_recovered", ...facts, outage: lost?.body.outage };
  expect(recovered).toMatchObject({ event: "connection_recovered", is_signed: true, body: end });
  expect(Number(recovered?.body.lasted_ms) / minute).toBeCloseTo(50, 0);
  for (const key of ["title", "text", "content", "message"]) expect(recovered?.body[key]).toBeString();
});
