import * as v from "valibot";
import { type ReachView, TargetServiceView } from "../connections/schema.ts";
import { NullableInstant } from "../forms/inputs.ts";
import { frozen } from "../frozen.ts";
import { type Message, say, told } from "../messages/message.ts";
import { MessageSchema, type Problem, ProblemSchema, withSaid } from "../messages/schema.ts";
import { BehindView } from "../trackers/schema.ts";
import { deferralReasons } from "./deferral-schema.ts";

/** Why a run was skipped: the condition that was not met at its start. */
export const skipReasons = [
  "already_current",
  "target_missing",
  "target_refused",
  "connection_disabled",
  "executor_disabled",
  "no_release",
  "no_image",
  "no_chart",
  "no_tag",
  "registry_failed",
  "settings_unknown",
  "would_downgrade",
  "would_leave",
  "too_young",
  "window_closed",
  "not_approved",
  ...deferralReasons,
] as const;
export type SkipReason = (typeof skipReasons)[number];

/** A condition that keeps a run from starting, with a message for people. */
export interface Unmet {
  code: SkipReason;
  message: Message;
}

/** As shown and stored. */
export const UnmetView = withSaid(
  "message",
  v.object({ code: v.picklist(skipReasons), message: v.string(), message_data: MessageSchema }),
);

export function unmetView(unmet: Unmet | null): v.InferOutput<typeof UnmetView> | null {
  return unmet === null ? null : { code: unmet.code, ...told(unmet.message) };
}

/** How what runs differs from what is desired; see `compareImages`. */
const imageDifferences = [
  "current",
  "new_digest",
  "other_mode",
  "other_tag",
  "other_version",
  "other_name",
  "unknown",
] as const;

/** Differences in content, which give an automatic run something to do. */
export const updateDifferences: readonly (typeof imageDifferences)[number][] = [
  "new_digest",
  "other_version",
  "other_name",
];

const Desired = v.object({
  version: v.string(),
  tag: v.string(),
  digest: v.nullable(v.string()),
  reference: v.string(),
  published_at: NullableInstant,
});

/** One service: what was found, and what it should become. */
export const ServiceObservation = v.object({
  service: v.string(),
  tracker: v.string(),
  source: v.string(),
  channel: v.string(),
  /** Null if the target has no such service. */
  found: v.nullable(v.object({ ...TargetServiceView.entries, tag: v.nullable(v.string()) })),
  /** Null if the channel has no eligible release. */
  desired: v.nullable(Desired),
  difference: v.nullable(v.picklist(imageDifferences)),
  download: v.optional(
    v.pipe(
      v.nullable(v.object({ from_bytes: v.nullable(v.number()), to_bytes: v.number() })),
      v.description("Compressed sizes of the running and the desired image on the target's platform, as far as known"),
    ),
  ),
  /** Null if nothing newer is desired, and if the versions cannot be compared. */
  behind: v.optional(v.nullable(BehindView), null),
  /** Why this service is left alone, or keeps a run from starting; null if it can be updated. */
  unmet: v.optional(v.nullable(UnmetView), null),
});
export type ServiceObservation = v.InferOutput<typeof ServiceObservation>;

/** What an update waits for before there is a run. */
export const updateWaits = ["window", "age", "retry"] as const;

/** What an evaluation found and decided; stored with its time. */
export const Observation = v.object({
  services: v.array(ServiceObservation),
  /** Services of the target that follow no tracker. */
  unbound: v.optional(v.array(TargetServiceView), []),
  /** Why the target could not be inspected, or why nothing can be done for it. */
  problem: v.nullable(ProblemSchema),
  /** An upcoming update, and what it waits for. */
  waiting: v.nullable(v.object({ reason: v.picklist(updateWaits), until: NullableInstant })),
  /** What automatic runs work towards; null if nothing is desired, or all of it is skipped. */
  desired_revision: v.nullable(v.string()),
});
export type Observation = v.InferOutput<typeof Observation>;

const observations = new WeakMap<object, Observation | null>();

/** A stored observation, which nobody may change; null before the first one, and for one that this version cannot read. */
export function observationOf({ observed }: { observed: object | null }): Observation | null {
  if (observed === null) return null;
  return observations.getOrInsertComputed(observed, () => {
    const parsed = v.safeParse(Observation, observed);
    return parsed.success ? frozen(parsed.output) : null;
  });
}

/** Problems of a target that was inspected; any other problem means that it was not. */
const seenProblems: ReadonlySet<string> = new Set(skipReasons.filter((code) => code !== "connection_disabled"));

/**
 * What may be said now about a target: nothing counts as current or as an update while its runtime does not respond. What was found last
 * stays, with its time. Null where `observationOf` is.
 */
export function observationNow(
  row: { observed: object | null },
  reach: Pick<ReachView, "problem"> | null,
): Observation | null {
  const observation = observationOf(row);
  const lost = reach?.problem ?? null;
  const problem = lost ?? observation?.problem ?? null;
  if (observation === null || problem === null || (lost === null && seenProblems.has(problem.code))) return observation;
  const services = observation.services.map((service) => ({ ...service, difference: "unknown" as const, unmet: null }));
  return { ...observation, problem, services };
}

/** Why an inspected service is unknown: it runs the desired tag, but in an unknown build. `target`: its name. */
export function unknownBuild({ found, desired, difference }: ServiceObservation, target: string): Problem | null {
  if (found === null || desired === null || difference !== "unknown") return null;
  const code = found.digest === null ? "running_build_unknown" : "desired_build_unknown";
  return { code: "build_unknown", ...told(say(`executors.${code}`, { target, tag: desired.tag })) };
}

/** `title`: what such targets are called. `artifact`: what its services run. */
export const ShownTarget = v.object({
  kind: v.string(),
  title: v.string(),
  title_data: MessageSchema,
  id: v.string(),
  is_group: v.boolean(),
  /** The runtime itself replaces what runs: there are no snapshots, except under the name `saved_as`. */
  is_declarative: v.boolean(),
  saved_as: v.optional(v.string()),
  saved_as_data: v.optional(MessageSchema),
  artifact: v.picklist(["image", "chart"]),
});
