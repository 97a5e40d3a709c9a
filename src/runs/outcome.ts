import type { RunView, Serving } from "./schema.ts";

/** How a run's reason begins and ends, in the words of its kind: a rollback leads to no new version. */
interface OutcomeTexts {
  unhealthy: string;
  failed: string;
  serving: Readonly<Record<Serving, string>>;
  /** Of a target that is not to run. */
  resting: Pick<Readonly<Record<Serving, string>>, "desired" | "previous">;
}

const update: OutcomeTexts = {
  unhealthy: "The new version did not pass its health check",
  failed: "The update failed",
  serving: {
    desired: "The new version is kept running",
    previous: "The previous version is running",
    mixed: "Some services run the new version, others the previous one",
    none: "Target down: neither version runs",
    unknown: "What runs now could not be seen",
  },
  resting: {
    desired: "The new version is kept, stopped",
    previous: "The previous version is in place, stopped as it was",
  },
};

const rollback: OutcomeTexts = {
  unhealthy: "The version of the snapshot did not pass its health check",
  failed: "The rollback failed",
  serving: {
    desired: "The version of the snapshot is kept running",
    previous: "What ran before the rollback is running",
    mixed: "Some services run the version of the snapshot, others what ran before",
    none: "Target down: neither version runs",
    unknown: "What runs now could not be seen",
  },
  resting: {
    desired: "The version of the snapshot is kept, stopped",
    previous: "What was there before the rollback is in place, stopped as it was",
  },
};

export const outcomeTexts: Readonly<Record<RunView["kind"], OutcomeTexts>> = { update, rollback };

/** For a group of which some are down while the rest runs. */
export function partlyDown(services: readonly string[]): string {
  const names = services.map((name) => `"${name}"`).join(", ");
  return `Target down: ${names} ${services.length === 1 ? "does" : "do"} not run in either version, the other services run`;
}

const endings: ReadonlySet<string> = new Set(
  [update, rollback].flatMap(({ serving, resting }) => [...Object.values(serving), ...Object.values(resting)]),
);

/** A reason without its last sentence, should that tell of the whole target what runs now: for places that tell it themselves. */
export function withoutServing(reason: string): string {
  const at = reason.lastIndexOf(". ");
  return at >= 0 && endings.has(reason.slice(at + 2)) ? reason.slice(0, at) : reason;
}
