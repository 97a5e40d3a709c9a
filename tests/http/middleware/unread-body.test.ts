import { expect, test } from "bun:test";
import { Hono } from "hono";
import type { AppEnv } from "../../../src/http/context.ts";
import { readUnreadBody } from "../../../src/http/middleware/unread-body.ts";

const chunkBytes = 64 * 1024;
const mib = 1024 * 1024;

function refusing(maxWaitMs?: number): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.use(readUnreadBody(maxWaitMs));
  app.post("/refused", (c) => c.text("no", 413));
  app.post("/read", async (c) => c.text(String((await c.req.arrayBuffer()).byteLength)));
  app.post("/thrown", () => {
    throw new Error("no");
  });
  app.onError((_error, c) => c.text("failed", 500));
  return app;
}

/** A sender of so many bytes, who can say how many were taken and whether it was told to stop. */
function sender(total: number) {
  const told = { sent: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (told.sent >= total) return controller.close();
        told.sent += chunkBytes;
        controller.enqueue(new Uint8Array(chunkBytes));
      },
      cancel: () => {
        told.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { told, body };
}

test.each(["/refused", "/thrown"])("%s: what nobody read is read before the answer", async (path) => {
  const { told, body } = sender(2 * mib);
  const answer = await refusing().request(path, { method: "POST", body });
  expect([answer.status, told.sent, told.isCancelled]).toEqual([path === "/refused" ? 413 : 500, 2 * mib, false]);
});

test("what does not end is given up", async () => {
  const { told, body } = sender(Number.POSITIVE_INFINITY);
  const answer = await refusing().request("/refused", { method: "POST", body });
  expect([answer.status, told.isCancelled]).toEqual([413, true]);
  expect(told.sent).toBeLessThan(9 * mib);
});

test("a sender that stops in the middle is not waited for without end", async () => {
  const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
  expect((await refusing(50).request("/refused", { method: "POST", body })).status).toBe(413);
});

test("a sender that goes away still gets an answer", async () => {
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("reset")) });
  expect((await refusing().request("/refused", { method: "POST", body })).status).toBe(413);
});

test("a body that somebody reads still is left to them", async () => {
  const app = refusing();
  app.post("/raced", (c) => {
    c.req.text().catch(() => undefined);
    return c.text("stopping", 503);
  });
  const sent = Bun.serve({ port: 0, fetch: (request) => app.fetch(request) });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => fetch(new URL("/raced", sent.url), { method: "POST", body: "x".repeat(mib) })),
  );
  await sent.stop(true);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
});

test("a body that was read is left alone", async () => {
  const { body } = sender(2 * mib);
  const answer = await refusing().request("/read", { method: "POST", body });
  expect(await answer.text()).toBe(String(2 * mib));
});
