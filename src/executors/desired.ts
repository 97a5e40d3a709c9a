import { serviceView } from "../connections/schema.ts";
import { type Message, say } from "../messages/message.ts";
import type { Target, TargetService } from "../runtimes/target.ts";
import { type Behind, distanceBehind } from "../versions/behind.ts";
import type { ImageDifference } from "../versions/desired-image.ts";
import { parsePlatform, platformName } from "../versions/platform.ts";
import type { Move } from "../versions/running-tag.ts";
import { tagsOfRelease } from "../versions/tag-form.ts";
import { type ArtifactDeps, type FoundService, serviceMissing, type Wanted } from "./artifacts/artifact.ts";
import { artifacts } from "./artifacts/index.ts";
import type { AskedEngine } from "./artifacts/registry-access.ts";
import { identityOf, isSkipped, revisionOf, type SkippedVersion } from "./deferral-schema.ts";
import {
  type Observation,
  type ServiceObservation,
  type SkipReason,
  type Unmet,
  unmetView,
  updateDifferences,
} from "./observation-schema.ts";
import type { ChannelHistory, ReleaseChoice } from "./releases.ts";
import { type Binding, type ExecutorSettings, watchesImage } from "./settings.ts";

export interface Comparison {
  services: readonly ServiceObservation[];
  /** Services of the target without a binding. */
  unbound: readonly ServiceObservationFound[];
  /** By service; only those for which a reference could be formed. */
  wanted: ReadonlyMap<string, Wanted>;
  /** The first condition that a run would not meet, as far as known without a plan. */
  unmet: Unmet | null;
  /** When a newer release reaches the minimum age; null if none is waiting for that. */
  ready_at: number | null;
  /** The worst move of all services. */
  worst: WorstMove;
  /** The worst move among services that are not skipped; automatic runs start only if it is onward. */
  worst_wanted: WorstMove;
  /** Identifies what is desired across all services; null if nothing is. */
  desired_revision: string | null;
  /** The same without what is skipped: what automatic runs work towards. */
  wanted_revision: string | null;
  /** Skipped versions that no longer matter: they, or newer ones, are installed. */
  outlived: readonly SkippedVersion[];
}

interface WorstMove {
  move: Move;
  /** The service that it is about; null if all moves are onward. */
  service: string | null;
}

type ServiceObservationFound = Observation["unbound"][number];

const hourMs = 60 * 60 * 1000;

export function isUpdate(difference: ImageDifference | null): boolean {
  return updateDifferences.some((each) => each === difference);
}

/** The same content under whatever name: no reason for an automatic run to restart anything. */
export function isSameContent(difference: ImageDifference | null): boolean {
  return difference === "current" || difference === "other_mode" || difference === "other_tag";
}

/** Resolved by a later check or by time: the service is left alone and does not hold up the others. */
const postponing: ReadonlySet<SkipReason> = new Set(["no_release", "too_young", "no_tag", "registry_failed"]);

interface Compared {
  observation: ServiceObservation;
  unmet: Unmet | null;
  wanted: Wanted | null;
  ready_at: number | null;
  move: Move;
  outlived: SkippedVersion | null;
}

/**
 * Compares what is desired for each bound service with what was found. `target` is null if it is missing; `engine` is null if `target` is
 * the last observation.
 */
export async function compareWithDesired(
  deps: ArtifactDeps,
  settings: ExecutorSettings,
  target: Target | null,
  engine: AskedEngine,
): Promise<Comparison> {
  const compared = await Promise.all(
    settings.bindings.map((each) => compareService(deps, settings, each, { target, engine })),
  );
  const { id } = settings.target;
  const [refusal] = target?.refusals ?? [];
  const missing: Unmet | null =
    target === null ? { code: "target_missing", message: say("executors.target_missing", { target: id }) } : null;
  const refused: Unmet | null =
    refusal === undefined
      ? null
      : { code: "target_refused", message: say("executors.target_refused", { cause: refusal.message }) };
  const readyTimes = compared.flatMap((each) => (each.ready_at === null ? [] : [each.ready_at]));
  const observed = compared.map(({ observation }) => observation);
  return {
    services: observed,
    unbound: (target?.services ?? [])
      .filter(({ name }) => settings.bindings.every((binding) => binding.service !== name))
      .map(serviceView),
    wanted: new Map(
      compared.flatMap(({ observation, wanted }) => (wanted === null ? [] : [[observation.service, wanted] as const])),
    ),
    unmet: missing ?? refused ?? firstUnmet(compared),
    ready_at: readyTimes.length === 0 ? null : Math.min(...readyTimes),
    worst: worstOf(compared),
    worst_wanted: worstOf(compared.filter(({ observation }) => !isSkipped(settings, observation))),
    desired_revision: revisionOf(observed),
    wanted_revision: revisionOf(observed.filter((each) => !isSkipped(settings, each))),
    outlived: compared.flatMap((each) => each.outlived ?? []),
  };
}

/** A service that only has to wait does not block others that have a release. */
function firstUnmet(compared: readonly Compared[]): Unmet | null {
  const unmet = compared.flatMap((each) => each.unmet ?? []);
  const blocking = unmet.find(({ code }) => !postponing.has(code));
  if (blocking !== undefined) return blocking;
  return unmet.length === compared.length ? (unmet[0] ?? null) : null;
}

/** Moves that are not onward, the worst first. */
const graveMoves = ["other_line", "other_variant", "back", "unknown"] as const;

function worstOf(compared: readonly Compared[]): WorstMove {
  for (const move of graveMoves) {
    const found = compared.find((each) => each.move === move);
    if (found !== undefined) return { move, service: found.observation.service };
  }
  return { move: "same", service: null };
}

async function compareService(
  deps: ArtifactDeps,
  settings: ExecutorSettings,
  binding: Binding,
  { target, engine }: { target: Target | null; engine: AskedEngine },
): Promise<Compared> {
  const { service, tracker, source, channel } = binding;
  const found = await findService(deps, settings, binding, target?.services ?? []);
  const rules = artifacts[found?.service.artifact.kind ?? settings.target.artifact];
  const choice = await deps.releases.desiredRelease(binding.source_id, channel, {
    minimum_age_ms: settings.minimum_age_hours * hourMs,
  });
  const base = { service, tracker, source, channel, found: shownService(found) };
  const nothing = ({ code, message }: Unmet): Compared => {
    const unmet = { code, message: inService(settings, service, message) };
    return {
      observation: { ...base, desired: null, difference: null, behind: null, unmet: unmetView(unmet) },
      unmet,
      wanted: null,
      ready_at: choice.ready_at,
      move: "same",
      outlived: null,
    };
  };
  const { release } = choice;
  if (release === null) return nothing(noRelease(binding, choice, settings.minimum_age_hours));
  const wanted = await rules.desired(deps, { settings, binding, found, release, engine });
  if ("code" in wanted) return nothing(wanted);
  const { label, digest, reference } = wanted;
  const { version, published_at } = release;
  const difference = found === null ? null : rules.compare(found.service.artifact, wanted);
  const isUpdatable = found !== null && isUpdate(difference);
  const history = isUpdatable ? await deps.releases.knownVersions(binding.source_id, channel) : null;
  const unmet = target !== null && found === null ? serviceMissing(settings, service) : null;
  return {
    observation: {
      ...base,
      desired: { version, tag: label, digest, reference, published_at },
      difference,
      download: found === null || history === null ? null : downloadOf(binding, found, wanted, history),
      behind: found === null || history === null ? null : behindOf(binding, found, wanted, history),
      unmet: unmetView(unmet),
    },
    unmet,
    wanted,
    ready_at: choice.ready_at,
    move: isUpdatable ? await rules.move(deps, binding, found, label) : "same",
    // What was only last seen may be out of date.
    outlived: engine === null || found === null ? null : await outlivedBy(deps, settings, binding, found, wanted),
  };
}

/** A bound service among those of its target, with its names; null if it is missing. */
async function findService(
  deps: ArtifactDeps,
  settings: ExecutorSettings,
  binding: Binding,
  services: readonly TargetService[],
): Promise<FoundService | null> {
  const service = services.find(({ name }) => name === binding.service);
  if (service === undefined) return null;
  return { service, ...(await artifacts[service.artifact.kind].names(deps, settings, binding, service)) };
}

function shownService(found: FoundService | null): ServiceObservation["found"] {
  return found === null ? null : { ...serviceView(found.service), tag: found.label };
}

/** What the bound services run, without a request; missing ones are left out. */
export async function boundServices(
  deps: ArtifactDeps,
  settings: ExecutorSettings,
  services: readonly TargetService[],
): Promise<Pick<ServiceObservation, "service" | "found">[]> {
  const found = await Promise.all(settings.bindings.map((each) => findService(deps, settings, each, services)));
  return found.flatMap((each) => (each === null ? [] : [{ service: each.service.name, found: shownService(each) }]));
}

/** The service's skipped version, if it or a newer one is what runs. */
async function outlivedBy(
  deps: ArtifactDeps,
  settings: ExecutorSettings,
  binding: Binding,
  found: FoundService,
  wanted: Wanted,
): Promise<SkippedVersion | null> {
  const skipped = settings.skipped_versions.find((each) => each.service === binding.service);
  if (skipped === undefined) return null;
  const { artifact } = found.service;
  const rules = artifacts[artifact.kind];
  const runs = (version: Pick<Wanted, "label" | "reference" | "digest">) =>
    isSameContent(rules.compare(artifact, version));
  if (runs({ ...skipped, label: skipped.tag })) return skipped;
  if (identityOf(artifact) === skipped.from) return null;
  const move = await rules.move(deps, binding, found, skipped.tag);
  // A later build under the same name.
  const isRebuilt = move === "same" && identityOf(wanted) !== identityOf(skipped) && runs(wanted);
  return move === "back" || isRebuilt ? skipped : null;
}

/** A release that is no image counts under the tag that it would have in the running repository. */
function behindOf(
  binding: Binding,
  { service, label, others }: FoundService,
  wanted: Wanted,
  history: ChannelHistory,
): Behind | null {
  if (label === null) return null;
  const isNamedAlike = service.artifact.kind !== "image" || watchesImage(binding);
  const versions = isNamedAlike
    ? history.versions
    : history.versions.map((known) => ({ ...known, tag: tagsOfRelease(label, known)[0] ?? known.tag }));
  return distanceBehind({ tag: label, others }, { tag: wanted.label, digest: wanted.digest }, { ...history, versions });
}

/** From the sizes that checks have read for the platform that runs; null without the desired one's. */
function downloadOf(
  binding: Binding,
  { service: { artifact }, label }: FoundService,
  wanted: Wanted,
  { versions }: ChannelHistory,
): ServiceObservation["download"] {
  if (artifact.kind !== "image" || !watchesImage(binding)) return null;
  const platform = platformName(parsePlatform(artifact.platform === "" ? "linux/amd64" : artifact.platform));
  const sizeOf = (tag: string | null, digest: string | null): number | null => {
    // A build is known by its digest; a tag alone may have moved on to another one.
    const known =
      versions.find((each) => digest !== null && each.digest === digest) ??
      versions.find((each) => each.tag === tag && (digest === null || each.digest === null));
    return known?.size_platform === platform ? (known.size_bytes ?? null) : null;
  };
  const to_bytes = sizeOf(wanted.label, wanted.digest);
  return to_bytes === null ? null : { from_bytes: sizeOf(label, artifact.digest), to_bytes };
}

/** A message about one of several services; a target with a single container does not name it. */
export function inService(settings: Pick<ExecutorSettings, "target">, service: string, said: Message): Message {
  return settings.target.is_group ? say("executors.of_service", { service, said }) : said;
}

function noRelease(binding: Binding, choice: ReleaseChoice, hours: number): Unmet {
  const { tracker, source, channel } = binding;
  if (choice.ready_at === null) {
    return { code: "no_release", message: say("executors.no_release", { tracker, source, channel }) };
  }
  return { code: "too_young", message: say("executors.too_young", { tracker, source, channel, hours }) };
}
