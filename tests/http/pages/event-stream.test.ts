import { expect, test } from "bun:test";
import { Hono } from "hono";
import type { AppEnv } from "../../../src/http/context.ts";
import { eventStream } from "../../../src/http/pages/event-stream.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

function appWithStream() {
  const asked: AbortSignal[] = [];
  const app = new Hono<AppEnv>();
  app.get("/stream", (c) =>
    eventStream(c, { clock: createFakeClock(), holds: async () => true }, async function* (signal) {
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
