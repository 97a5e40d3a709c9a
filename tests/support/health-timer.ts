import type { TestEngine } from "../peers/engine.ts";
import { isPodman } from "./engine-modes.ts";

const everyMs = 300;

/**
 * Has a Podman run the health checks of its containers, as systemd's timers do on a host; there is no systemd where tests run.
 * Docker does it itself. Answers what ends it.
 */
export function startHealthTimer(engine: TestEngine): () => Promise<void> {
  if (!isPodman(engine.mode)) return async () => undefined;
  let isOver = false;
  const work = async () => {
    while (!isOver) {
      const listed = await engine.call("GET", "/containers/json").catch(() => []);
      for (const each of Array.isArray(listed) ? listed : []) {
        // Most have none, which is refused.
        await engine.call("GET", `/v4.0.0/libpod/containers/${each.Id}/healthcheck`).catch(() => undefined);
      }
      await Bun.sleep(everyMs);
    }
  };
  const working = work();
  return async () => {
    isOver = true;
    await working;
  };
}
