import { createServer, type Server } from "node:net";
import { eventually } from "./eventually.ts";

/** Create JSON of a container that serves on a port of this machine, and is started again by the engine. */
export function published(port: number, policy = "unless-stopped") {
  return {
    ExposedPorts: { "80/tcp": {} },
    HostConfig: {
      PortBindings: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: String(port) }] },
      RestartPolicy: { Name: policy },
    },
  };
}

/** Takes a port away from whoever is to have it next. */
export async function holdPort(port: number): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  // What forwarded the port for the old container may need a moment to let go of it.
  return await eventually("the port", () => {
    return new Promise<Server>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => resolve(server));
    });
  });
}

export async function freeHeld(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

/** What the container behind a port answers; null for another answer than a good one. */
export async function answerAt(port: number): Promise<string | null> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(2_000) });
  return answer.ok ? await answer.text() : null;
}
