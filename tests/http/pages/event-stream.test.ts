import { expect, test } from "bun:test";
import { Hono } from "hono";
import type { AppEnv } from "../../../src/http/context.ts";
import { eventStream } from "../../../src/http/pages/event-stream.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

const { signal: closing } = new AbortController();

function appWithStream() {
  const asked: AbortSignal[] = [];
  const app = new Hono<AppEnv>();
  app.get("/stream", (c) =>
    eventStream(c, { clock: createFakeClock(), holds: async () => true, closing }, async function* (signal) {
      asked.push(signal);
      yield { id: "1", data: "<p>\n</p>" };
    }),
  );
  return { app, asked };
}

test("eventStream() sends messages with their ids, then ends", async () => {
  const { app, asked } = appWithStream();
  const answer = await app.request("/stream");
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(await answer.text()).toBe("event: ping\ndata:\n\nid: 1\ndata: <p>\ndata: </p>\n\n");
  expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
});

test("eventStream() begins no work for HEAD, whose body nobody reads", async () => {
  const { app, asked } = appWithStream();
  const answer = await app.request("/stream", { method: "HEAD" });
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(await answer.text()).toBe("");
  expect(asked).toEqual([]);
});

test("eventStream() ends within a second of its session, and tells nothing more", async () => {
  const clock = createFakeClock();
  let isLive = true;
  const asked: AbortSignal[] = [];
  const app = new Hono<AppEnv>();
  app.get("/stream", (c) =>
    eventStream(c, { clock, holds: async () => isLive, closing }, async function* (signal) {
      asked.push(signal);
      yield { id: "1", data: "before" };
      await clock.sleep(60_000, signal);
      yield { id: "2", data: "after" };
    }),
  );
  const answer = await app.request("/stream");
  const text = answer.text();
  await clock.advance(11_000);
  isLive = false;
  await clock.advance(1000);
  expect(await text).toBe("event: ping\ndata:\n\nid: 1\ndata: before\n\nevent: ping\ndata:\n\n");
  expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
});

test("eventStream() looks at the session before each message", async () => {
  let looks = 0;
  const app = new Hono<AppEnv>();
  const holds = async () => {
    looks += 1;
    return looks < 2;
  };
  app.get("/stream", (c) =>
    eventStream(c, { clock: createFakeClock(), holds, closing }, async function* () {
      yield { id: "1", data: "one" };
      yield { id: "2", data: "two" };
    }),
  );
  expect(await (await app.request("/stream")).text()).toBe("event: ping\ndata:\n\nid: 1\ndata: one\n\n");
});

test("eventStream() ends at once with the process", async () => {
  const ending = new AbortController();
  const asked: AbortSignal[] = [];
  const clock = createFakeClock();
  const app = new Hono<AppEnv>();
  app.get("/stream", (c) =>
    eventStream(c, { clock, holds: async () => true, closing: ending.signal }, async function* (signal) {
      asked.push(signal);
      yield { id: "1", data: "before" };
      await clock.sleep(60_000, signal);
    }),
  );
  const answer = await app.request("/stream");
  const text = answer.text();
  await clock.advance(1000);
  ending.abort();
  expect(await text).toBe("event: ping\ndata:\n\nid: 1\ndata: before\n\n");
  expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
});
