import { PluginError } from "../errors.ts";
import type { Serving } from "../executors/outage-schema.ts";
import type { Message } from "../messages/message.ts";
import type { Standing, StandingLook } from "../runtimes/session.ts";
import type { TargetService } from "../runtimes/target.ts";
import type { RunContext } from "./context.ts";

/** `down`: services of which neither version runs. */
export interface Seen {
  serving: Serving;
  down: readonly string[];
  /** Other services of the target are running. */
  is_partly: boolean;
  /** The runtime reported what is there. */
  is_seen: boolean;
  /** Parts of what runs that are not ready. */
  shortfall: Message | null;
  /** What the runtime reported. */
  services: readonly TargetService[];
}

/** What the run left; see `RuntimeSession.standing`. */
export function lookAt(
  { session, settings, journal }: Pick<RunContext, "session" | "settings" | "journal">,
  { before = null, ran_ms = 0 }: Partial<StandingLook> = {},
): Promise<Standing> {
  return session.standing(settings.target, journal, { before, ran_ms });
}

/** For a target that could not be inspected. */
export const unseen: Seen = {
  ...{ serving: "unknown", down: [], is_partly: false },
  ...{ is_seen: false, shortfall: null, services: [] },
};

const whole = { down: [], is_partly: false, is_seen: true, shortfall: null, services: [] } as const;

/**
 * What now runs under the target's name, as the runtime reports it. `expected` decides if both versions match: a rollback may change
 * settings alone, or only whether something runs.
 */
export async function observeServing(context: RunContext, expected: "desired" | "previous"): Promise<Seen> {
  const { session, settings, plan } = context;
  try {
    const target = await session.inspect(settings.target);
    const verdicts = target.services.map((found): Serving => {
      const planned = plan?.services.find((each) => each.service === found.name);
      // A group has other services, which may be stopped.
      if (plan !== null && planned === undefined) return "unknown";
      if (planned?.to.is_running !== false && found.state !== "running") return "none";
      if (planned === undefined) return "unknown";
      const { artifact } = found;
      const id = artifact.kind === "image" ? artifact.image_id : "";
      const isPrevious = artifact.reference === planned.from.reference && id === planned.from.image_id;
      const isDesired =
        artifact.reference === planned.to.reference ||
        (artifact.digest !== null && artifact.digest === planned.to.digest);
      if (isPrevious && isDesired) return expected;
      if (isPrevious) return "previous";
      return isDesired ? "desired" : "unknown";
    });
    const planned = verdicts.filter((verdict) => verdict !== "unknown");
    const down = target.services.filter((_, index) => verdicts[index] === "none").map(({ name }) => name);
    const isPartly = target.services.some(({ name, state }) => state === "running" && !down.includes(name));
    const { services, shortfall = null } = target;
    if (down.length > 0) return { ...whole, services, serving: "none", down, is_partly: isPartly };
    const serving = new Set(planned).size > 1 ? "mixed" : (planned[0] ?? "unknown");
    return { ...whole, services, shortfall, serving };
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    return error.code === "not_found" ? { ...whole, serving: "none" } : unseen;
  }
}
