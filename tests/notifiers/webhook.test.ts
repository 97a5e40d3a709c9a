import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import * as v from "valibot";
import { createGuard } from "../../src/net/guarded-fetch.ts";
import { parseOutboundAllow } from "../../src/net/outbound-allow.ts";
import { notifiers } from "../../src/notifiers/index.ts";
import type { Message } from "../../src/notifiers/notifier.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { fakeResolver, httpLoopback } from "../support/loopback.ts";

const { webhook } = notifiers;
const message: Message = {
  id: "019b0000-0000-7000-8000-000000000001",
  event: "new_release",
  sent_at: 1_767_614_400_999,
  body: { event: "new_release", text: "nginx 1.27 — 新版本" },
};

function opened(port: number, config: Record<string, unknown> = {}) {
  const clock = createFakeClock();
  const guard = createGuard({
    clock,
    allow: parseOutboundAllow(`hooks.example.test:${port}`),
    resolve: fakeResolver({ "hooks.example.test": ["127.0.0.1"] }).resolve,
  });
  const context = guard.open({ purpose: "webhook", timeout_ms: 1000, signal: new AbortController().signal });
  return webhook.open({ url: `http://hooks.example.test:${port}/T0/B0?x=1`, ...config }, context);
}

describe("webhook.open().send()", () => {
  test("posts the body as JSON with the delivery's id, event and time", async () => {
    await using server = await httpLoopback((_request, response) => response.end("ok"));
    expect(await opened(server.port).send(message)).toEqual({ status: 200, retry_after_ms: null });
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: "POST", path: "/T0/B0?x=1", body: JSON.stringify(message.body) });
    expect(seen?.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "Tidemark",
      "x-tidemark-delivery": message.id,
      "x-tidemark-event": "new_release",
      "x-tidemark-timestamp": "1767614400",
    });
    expect(seen?.headers["x-tidemark-signature"]).toBeUndefined();
  });

  test("signs timestamp and body when there is a secret", async () => {
    await using server = await httpLoopback((_request, response) => response.end("ok"));
    await opened(server.port, { signing_secret: "a secret of sixteen letters" }).send(message);
    const [seen] = server.seen;
    const expected = createHmac("sha256", "a secret of sixteen letters")
      .update(`1767614400.${seen?.body}`)
      .digest("hex");
    expect(seen?.headers["x-tidemark-signature"]).toBe(`sha256=${expected}`);
  });

  test.each([
    [429, { "retry-after": "30" }, { status: 429, retry_after_ms: 30_000 }],
    [503, { "retry-after": "Mon, 05 Jan 2026 12:01:00 GMT" }, { status: 503, retry_after_ms: 60_000 }],
    [410, {}, { status: 410, retry_after_ms: null }],
    [500, {}, { status: 500, retry_after_ms: null }],
  ])("reports %i with its wait", async (status, headers, answer) => {
    await using server = await httpLoopback((_request, response) => {
      response.sendDate = false;
      response.writeHead(status, headers).end("no");
    });
    expect(await opened(server.port).send(message)).toEqual(answer);
  });

  test("throws rejected for a redirect and does not follow it", async () => {
    await using server = await httpLoopback((_request, response) => response.writeHead(307, { location: "/x" }).end());
    await expect(opened(server.port).send(message)).rejects.toMatchObject({ code: "rejected" });
    expect(server.seen.length).toBe(1);
  });
});

describe("webhook.Config", () => {
  test.each([
    [{ url: "https://hooks.example.test/x" }, true],
    [{ url: "https://hooks.example.test/x", signing_secret: "s".repeat(16) }, true],
    [{ url: "ftp://hooks.example.test/x" }, false],
    [{ url: "https://u:p@hooks.example.test/x" }, false],
    [{ url: "hooks.example.test" }, false],
    [{ url: "https://hooks.example.test/x", signing_secret: "s".repeat(257) }, false],
    [{ url: "https://hooks.example.test/x", other: 1 }, false],
    [{}, false],
  ])("judges %j: %p", (config, is) => {
    expect(v.safeParse(webhook.Config, config).success).toBe(is);
  });

  test("names the destination that has to be judged", () => {
    const url = "https://hooks.example.test/x";
    expect(webhook.destination({ url })).toEqual({ url, purpose: "webhook" });
  });
});
