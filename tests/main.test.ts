import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type RunningServer, startServer } from "./support/server.ts";

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.kill("SIGTERM"));

/** The head of the answer to bytes as they are: `fetch` would put them right. */
async function answerTo(request: string): Promise<{ status: number; head: string }> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const head = await new Promise<string>((resolve, reject) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (text.includes("\r\n\r\n")) resolve(text.slice(0, text.indexOf("\r\n\r\n")));
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`The connection was closed after "${text}"`)));
    socket.write(request);
  }).finally(() => socket.destroy());
  return { status: Number(head.split(" ")[1]), head: head.toLowerCase() };
}

const json = "Content-Type: application/json";

describe("the listening server", () => {
  test.each([
    ["no host at all", "GET /login HTTP/1.0\r\n\r\n", 400],
    ["a blank host", "GET /login HTTP/1.1\r\nHost:\r\n\r\n", 400],
    ["a host that is none", 'GET /api/session HTTP/1.1\r\nHost: a b<>"\r\n\r\n', 400],
    [
      "a body beyond all bounds",
      `POST /api/session HTTP/1.1\r\nHost: a\r\n${json}\r\nContent-Length: 5000000000\r\n\r\n`,
      413,
    ],
    [
      "a body of more than 1 MiB",
      `POST /api/session HTTP/1.1\r\nHost: a\r\n${json}\r\nContent-Length: 1048577\r\n\r\n`,
      413,
    ],
  ])("answers %s with its own error and headers", async (_name, request, status) => {
    const answer = await answerTo(request);
    expect(answer.status).toBe(status);
    for (const name of ["content-security-policy", "x-frame-options", "x-content-type-options", "x-request-id"]) {
      expect(answer.head).toContain(`\r\n${name}: `);
    }
    expect(answer.head).toContain("\r\ncache-control: no-store");
    expect(server.lines.filter((line) => line.includes("internal_error"))).toEqual([]);
  });
});
