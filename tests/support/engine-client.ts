import { dockerFlavour } from "../../src/runtimes/docker/flavour.ts";
import { defaultDeadlines, type EngineClient, engineClient } from "../../src/runtimes/engine/client.ts";
import type { EngineTransport } from "../../src/runtimes/engine/transport.ts";

type Request = Parameters<EngineTransport["send"]>[0];

export interface TestAnswer {
  status?: number;
  body: unknown;
}

/** A client of an engine that answers as it is told; null stands for what is not there. Nothing is streamed. */
export function testClient(answer: (request: Request) => TestAnswer | null): EngineClient {
  return engineClient({
    transport: {
      send: async (request) => {
        const { status = 200, body } = answer(request) ?? { status: 404, body: { message: "No such thing" } };
        return { status, contentType: "application/json", text: JSON.stringify(body) };
      },
      stream: () => Promise.reject(new Error("Nothing is streamed here")),
    },
    apiVersion: "1.41",
    deadlines: defaultDeadlines,
    flavour: dockerFlavour,
  });
}
