import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that the system gives by itself, to servers on port 0 and to connections: one of those can be taken again before
 * its user listens there, and then another server answers in its place.
 */
const [lowest, highest] = [12_000, 32_000];

/** A port of loopback that nothing uses at the moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
