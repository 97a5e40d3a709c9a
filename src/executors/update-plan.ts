import { say, toldEach } from "../messages/message.ts";
import { containersOf } from "../runtimes/containers-detail.ts";
import { type Change, needsReview, type UpdatePlan } from "../runtimes/plan.ts";
import type { RuntimeSession } from "../runtimes/session.ts";
import type { Target } from "../runtimes/target.ts";
import { isOnward } from "../versions/running-tag.ts";
import type { ArtifactDeps } from "./artifacts/artifact.ts";
import { isSkipped } from "./deferral-schema.ts";
import { type Comparison, compareWithDesired, inService, isSameContent } from "./desired.ts";
import { type ServiceObservation, type Unmet, unmetView } from "./observation-schema.ts";
import { detailOf, type PlanView } from "./plan-schema.ts";
import { owingPlan } from "./queries.ts";
import type { ExecutorSettings } from "./settings.ts";
import { inspectOrNull } from "./target-check.ts";
import { unacceptedSettings, unknownSettingsIn } from "./unknown-settings.ts";

/** How strict the conditions are: an automatic run restarts nothing for a new name alone and never downgrades unasked. */
export interface PlanPurpose {
  is_automatic: boolean;
  /** The administrator has seen the plan and approved it by its hash. */
  is_reviewed: boolean;
}

export interface PlannedUpdate extends Comparison {
  target: Target | null;
  /** Null if there is nothing to plan; `unmet` then says why. */
  plan: UpdatePlan | null;
}

/** Compares the target with what is desired and lets the runtime plan the update. Throws `PluginError`. */
export async function planUpdate(
  deps: ArtifactDeps,
  settings: ExecutorSettings,
  session: RuntimeSession,
  purpose: PlanPurpose,
): Promise<PlannedUpdate> {
  const target = await inspectOrNull(session, settings.target);
  const comparison = await compareWithDesired(deps, settings, target, session);
  const isBlocked = comparison.unmet !== null && comparison.unmet.code !== "target_refused";
  if (target === null || comparison.wanted.size === 0 || isBlocked) return { ...comparison, target, plan: null };
  const changes: Change[] = [];
  for (const { service } of toChange(comparison, settings, purpose)) {
    const wanted = comparison.wanted.get(service);
    if (wanted !== undefined) changes.push(await wanted.change(session));
  }
  const plan = await session.plan(settings.target, changes, {
    start_first: settings.start_first,
    drain_seconds: settings.drain_seconds,
    owed: await owedParts(deps, settings, purpose.is_automatic),
  });
  return { ...comparison, target, plan, unmet: comparison.unmet ?? judgePlan(plan, comparison, settings, purpose) };
}

/**
 * The services that a run should bring to their desired image. An automatic run touches only those whose content changes and whose version
 * is not skipped; if there is none, all are planned, so that there is something to show.
 */
function toChange(
  { services, wanted }: Comparison,
  settings: ExecutorSettings,
  purpose: PlanPurpose,
): readonly ServiceObservation[] {
  const possible = services.filter((each) => wanted.has(each.service));
  if (!purpose.is_automatic) return possible;
  const other = possible.filter((each) => !isSameContent(each.difference) && !isSkipped(settings, each));
  return other.length === 0 ? possible : other;
}

/** The parts that the last run left down although they should run. */
export async function owedParts(
  { read, connections }: Pick<ArtifactDeps, "read" | "connections">,
  { id, target }: Pick<ExecutorSettings, "id" | "target">,
  isAutomatic: boolean,
): Promise<readonly string[]> {
  const plan = await owingPlan(read, id, isAutomatic);
  if (plan === null) return [];
  const parts = connections.targetKind(target.kind).parts(detailOf(plan));
  return parts.filter((part) => part.is_running).map((part) => part.name);
}

function judgePlan(
  plan: UpdatePlan,
  comparison: Comparison,
  settings: ExecutorSettings,
  purpose: PlanPurpose,
): Unmet | null {
  const [refusal] = plan.refusals;
  if (refusal !== undefined) {
    return { code: "target_refused", message: say("executors.target_refused", { cause: refusal.message }) };
  }
  const unreviewed = plan.warnings.find(({ code }) => needsReview.has(code));
  if (unreviewed !== undefined && !purpose.is_reviewed && !settings.requires_approval) {
    return { code: "target_refused", message: say("executors.unreviewed", { cause: unreviewed.message }) };
  }
  const isSame = ({ desired, difference }: ServiceObservation) => desired === null || isSameContent(difference);
  const isLeft = comparison.services.every((each) => isSame(each) || isSkipped(settings, each));
  if (purpose.is_automatic && isLeft && !comparison.services.every(isSame)) {
    return { code: "version_skipped", message: say("executors.version_skipped") };
  }
  if (plan.is_noop || (purpose.is_automatic && isLeft)) {
    return { code: "already_current", message: say("executors.already_current") };
  }
  const unaccepted = unacceptedSettings(settings, unknownSettingsIn(plan.warnings));
  if (unaccepted !== null && purpose.is_automatic && !purpose.is_reviewed) return unaccepted;
  return judgeMove(comparison, settings, purpose);
}

const moves = {
  other_line: "other_line",
  other_variant: "other_variant",
  back: "downgrade",
  unknown: "incomparable",
} as const;

/** Allowing downgrades does not cover other variants and lines: these need a person who saw the plan. */
function judgeMove(comparison: Comparison, settings: ExecutorSettings, purpose: PlanPurpose): Unmet | null {
  const { move, service: moved } = purpose.is_automatic ? comparison.worst_wanted : comparison.worst;
  if (isOnward(move)) return null;
  const leaves = move === "other_line" || move === "other_variant";
  if ((settings.allow_downgrade && !leaves) || (!purpose.is_automatic && purpose.is_reviewed)) return null;
  const name = moved ?? "";
  const service = comparison.services.find((each) => each.service === name);
  const from = service?.found?.tag ?? null;
  const to = service?.desired?.tag ?? null;
  const message = say(`executors.${moves[move]}`, { from, to });
  return { code: leaves ? "would_leave" : "would_downgrade", message: inService(settings, name, message) };
}

/** The middle value; of two the longer, because that is the one to plan for. */
function median(ascending: readonly number[]): number | null {
  return ascending[Math.floor(ascending.length / 2)] ?? null;
}

/** `downtimes`: of the last runs, in ascending order. */
export function planView(
  settings: Pick<ExecutorSettings, "target">,
  planned: PlannedUpdate,
  downtimes: readonly number[],
): PlanView {
  const { plan } = planned;
  return {
    target: settings.target,
    services: [...planned.services],
    unbound: [...planned.unbound],
    unmet: unmetView(planned.unmet),
    is_downgrade: !isOnward(planned.worst.move),
    expected_downtime_ms: median(downtimes),
    expected_downtime_runs: downtimes.length,
    plan:
      plan === null
        ? null
        : {
            hash: plan.hash,
            is_noop: plan.is_noop,
            services: plan.services.map(({ service, from, to }) => ({
              service,
              from: { reference: from.reference, digest: from.digest, image_id: from.image_id },
              to: { reference: to.reference, digest: to.digest },
            })),
            containers: containersOf(plan.detail),
            detail: { ...plan.detail },
            order: plan.order,
            drain_seconds: plan.drain_seconds,
            files: toldEach(plan.files),
            diff: plan.diff.map((line) => ({ ...line })),
            carried: { ...plan.carried },
            refusals: toldEach(plan.refusals),
            warnings: toldEach(plan.warnings),
          },
  };
}
