import { afterEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { type RunningServer, startServer } from "./support/server.ts";

let server: RunningServer;
let sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  rmSync(server.data_dir, { recursive: true, force: true });
});

/** A server with a connection that rests, and a request whose body never comes to its end. */
async function busyServer(): Promise<RunningServer> {
  const started = await startServer();
  const { hostname, port } = new URL(started.url);
  const open = async (text: string) => {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on("error", () => undefined);
    await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
    await new Promise<void>((resolve) => socket.write(text, () => resolve()));
    return socket;
  };
  const answered = new Promise<void>((resolve) => {
    void open("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n").then((socket) => socket.once("data", () => resolve()));
  });
  await answered;
  await open("POST /api/session HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
  return started;
}

test("ends with 0 after SIGTERM, whatever is open", async () => {
  server = await busyServer();
  expect(await server.kill("SIGTERM")).toBe(0);
  expect(server.lines.some((line) => line.includes("Stopped"))).toBe(true);
  await expect(fetch(`${server.url}/health/live`)).rejects.toThrow();
}, 120_000);

test("a second signal ends it at once", async () => {
  server = await busyServer();
  // Of two kinds: two of one kind would count as one when both come before the first is looked at.
  process.kill(server.pid, "SIGTERM");
  process.kill(server.pid, "SIGINT");
  expect(await server.exited).toBe(1);
  expect(server.lines.some((line) => line.includes("Stopped"))).toBe(false);
}, 120_000);
