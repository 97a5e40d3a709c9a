import type { Message } from "../../../messages/message.ts";
import type { ApplyContext } from "../apply.ts";
import type { EngineClient } from "../client.ts";
import { isRunning } from "../objects.ts";
import { listAt, objectAt } from "../raw.ts";
import { endOf, findMade, judgeReadiness, type Made } from "../readiness.ts";

/** How often a container's health is read. */
export const healthPollMs = 250;
const waitMarginMs = 30_000;
/** The longest wait, however long a health check may take. */
export const longestWaitMs = 60 * 60 * 1000;

interface HealthWait {
  atMostMs?: number;
  /** At each read: throws when further waiting is pointless. */
  alsoRequire?: () => Promise<void>;
}

/**
 * Waits until a container is healthy, or running when it has no health check. Returns null, or why it is not and will not be: its check
 * failed, it ended, or it gave no result in the time its check can take and within `atMostMs`. Throws the reason of `stopping` instead of
 * waiting.
 */
export async function healthFailure(
  { client, clock, stopping }: Pick<ApplyContext, "client" | "clock" | "stopping">,
  made: Made,
  { atMostMs = longestWaitMs, alsoRequire = async () => undefined }: HealthWait = {},
): Promise<Message | null> {
  const since = clock.elapsed();
  for (;;) {
    const { container: found, lost } = await findMade(client, made);
    if (lost !== null) return lost;
    // As the engine has it: it mostly comes from the image, and no blueprint contains it.
    const deadline = since + Math.min(healthBudgetMs(found.Config.Healthcheck), atMostMs);
    const status = found.State.Health?.Status ?? "";
    const isUp = found.State.Running === true && found.State.Restarting !== true;
    if (isUp && (status === "healthy" || status === "" || status === "none")) return null;
    if (status === "unhealthy" || !isUp || clock.elapsed() >= deadline) {
      return judgeReadiness(found, 0).detail;
    }
    await alsoRequire();
    await clock.sleep(healthPollMs, stopping);
  }
}

/**
 * What happened to a container while others were awaited, if it no longer runs. One that its engine is restarting may recover: the final
 * health check decides.
 */
export async function findLoss(client: EngineClient, made: Made): Promise<Message | null> {
  const { container, lost } = await findMade(client, made);
  return lost ?? (isRunning(container) ? null : endOf(container));
}

/** The longest that a health check can take: its start period and all its retries, in milliseconds. */
export function healthBudgetMs(healthcheck: unknown): number {
  const check = objectAt(healthcheck);
  // Nanoseconds, and the engine's own defaults.
  const ms = (value: unknown, otherwise: number) => (typeof value === "number" && value > 0 ? value / 1e6 : otherwise);
  const tries = (typeof check.Retries === "number" && check.Retries > 0 ? check.Retries : 3) + 1;
  const isOff = listAt(check.Test)[0] === "NONE";
  const needed = isOff
    ? 0
    : ms(check.StartPeriod, 0) + tries * (ms(check.Interval, 30_000) + ms(check.Timeout, 30_000));
  return Math.min(needed + waitMarginMs, longestWaitMs);
}
