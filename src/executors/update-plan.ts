import { PluginError } from "../errors.ts";
import { say, toldEach } from "../messages/message.ts";
import type { Change, RuntimeSession, Target, UpdatePlan } from "../runtimes/runtime.ts";
import type { DesiredImage } from "../versions/desired-image.ts";
import { isOnward } from "../versions/running-tag.ts";
import { type Comparison, compareWithDesired, type DesiredDeps, inService, isSameContent } from "./desired.ts";
import { owedContainers } from "./queries.ts";
import { registryAccess } from "./registry-access.ts";
import type { ImagePlace } from "./releases.ts";
import { type PlanView, type ServiceObservation, type Unmet, unmetView } from "./schema.ts";
import { type Binding, type ExecutorSettings, watchesImage } from "./settings.ts";
import { unacceptedSettings, unknownSettingsIn } from "./unknown-settings.ts";

/** How strict the conditions are: an automatic run restarts nothing for a mere spelling and never steps back unasked. */
export interface PlanPurpose {
  is_automatic: boolean;
  /** The administrator has seen the plan and consented to it, by its hash. */
  is_reviewed: boolean;
}

export interface PlannedUpdate extends Comparison {
  target: Target | null;
  /** Null when there is nothing to plan; `unmet` then says why. */
  plan: UpdatePlan | null;
}

/** Looks at the target and at what is desired, and lets the runtime plan the way between. Throws `PluginError`. */
export async function planUpdate(
  deps: DesiredDeps,
  settings: ExecutorSettings,
  session: RuntimeSession,
  purpose: PlanPurpose,
): Promise<PlannedUpdate> {
  const target = await inspectOrNull(session, settings);
  const comparison = await compareWithDesired(deps, settings, target, session);
  const isBlocked = comparison.unmet !== null && comparison.unmet.code !== "target_refused";
  if (target === null || comparison.images.size === 0 || isBlocked) return { ...comparison, target, plan: null };
  const changes: Change[] = [];
  for (const observation of toChange(comparison, purpose)) {
    const image = comparison.images.get(observation.service);
    const binding = settings.bindings.find((each) => each.service === observation.service);
    if (image !== undefined && binding !== undefined) {
      changes.push(await changeOf(deps, settings, session, { binding, observation, image }));
    }
  }
  const plan = await session.plan(settings.target, changes, {
    start_first: settings.start_first,
    drain_seconds: settings.drain_seconds,
    owed: await owedContainers(deps.read, settings.id, purpose.is_automatic),
  });
  return { ...comparison, target, plan, unmet: comparison.unmet ?? judgePlan(plan, comparison, settings, purpose) };
}

/**
 * The services that a run is to bring to their desired image. An automatic run touches only those that get other content; where
 * none does, all are planned, so that there is something to show.
 */
function toChange({ services, images }: Comparison, purpose: PlanPurpose): readonly ServiceObservation[] {
  const possible = services.filter((each) => images.has(each.service));
  if (!purpose.is_automatic) return possible;
  const other = possible.filter((each) => !isSameContent(each.difference));
  return other.length === 0 ? possible : other;
}

/** Null when the target is gone. */
export async function inspectOrNull(session: RuntimeSession, settings: ExecutorSettings): Promise<Target | null> {
  try {
    return await session.inspect(settings.target);
  } catch (error) {
    if (error instanceof PluginError && error.code === "not_found") return null;
    throw error;
  }
}

interface Planned {
  binding: Binding;
  observation: ServiceObservation;
  image: DesiredImage;
}

async function changeOf(
  deps: DesiredDeps,
  settings: ExecutorSettings,
  session: RuntimeSession,
  planned: Planned,
): Promise<Change> {
  const { observation, image } = planned;
  return {
    service: observation.service,
    reference: image.reference,
    digest: image.digest === null ? null : image.pull,
    image_config: await imageConfig(deps, settings, session, planned),
  };
}

/** Asked where the source watches an image; what another source leads to, at the registry of the image that runs. */
async function imageConfig(
  deps: DesiredDeps,
  settings: ExecutorSettings,
  session: RuntimeSession,
  { binding, observation: { desired, found } }: Planned,
): Promise<Readonly<Record<string, unknown>> | null> {
  if (desired === null || found === null) return null;
  try {
    const place: ImagePlace = watchesImage(binding)
      ? { source_id: binding.source_id }
      : { image: found.image, access: await registryAccess(deps, settings, found.image, session) };
    return await deps.releases.readImageConfig(place, desired.digest ?? desired.tag, found.platform);
  } catch (error) {
    // Without the defaults the diff shows less; the pull will tell what is wrong with the registry.
    if (error instanceof PluginError) return null;
    throw error;
  }
}

function judgePlan(
  plan: UpdatePlan,
  comparison: Comparison,
  settings: ExecutorSettings,
  purpose: PlanPurpose,
): Unmet | null {
  const target = settings.target.id;
  const [refusal] = plan.refusals;
  if (refusal !== undefined) {
    return { code: "target_refused", message: say("executors.target_refused", { target, cause: refusal.message }) };
  }
  const isSame = comparison.services.every((each) => each.desired === null || isSameContent(each.difference));
  if (plan.is_noop || (purpose.is_automatic && isSame)) {
    return { code: "already_current", message: say("executors.already_current", { target }) };
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

/** The consent to a downgrade says nothing of other variants and lines: these take a person who saw the plan. */
function judgeMove(comparison: Comparison, settings: ExecutorSettings, purpose: PlanPurpose): Unmet | null {
  const { move } = comparison;
  if (isOnward(move)) return null;
  const leaves = move === "other_line" || move === "other_variant";
  if ((settings.allow_downgrade && !leaves) || (!purpose.is_automatic && purpose.is_reviewed)) return null;
  const name = comparison.moved ?? "";
  const service = comparison.services.find((each) => each.service === name);
  const from = service?.found?.tag ?? null;
  const to = service?.desired?.tag ?? null;
  const message = say(`executors.${moves[move]}`, { from, to });
  return { code: leaves ? "would_leave" : "would_downgrade", message: inService(settings, name, message) };
}

/** The middle one; of two middle ones the longer, because it is what somebody counts with. */
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
    is_downgrade: !isOnward(planned.move),
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
            containers: plan.containers.map((container) => ({ ...container })),
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
