import type { Reader } from "../db/client.ts";
import { type Message, say } from "../messages/message.ts";
import type { Target, TargetService } from "../runtimes/runtime.ts";
import { compareImages, type DesiredImage, desiredReference, type ImageDifference } from "../versions/desired-image.ts";
import {
  type ImageReference,
  ImageReferenceError,
  isImageId,
  parseImageReference,
} from "../versions/image-reference.ts";
import { type Move, moveOf, pairIn } from "../versions/running-tag.ts";
import { rememberedTag, tagsOfDigest, tagsWith } from "./queries.ts";
import type { AskedEngine, RegistryAccessDeps } from "./registry-access.ts";
import { tagOfRelease } from "./release-tag.ts";
import type { DesiredRelease, ReleaseChoice } from "./releases.ts";
import { type Observation, type ServiceObservation, type SkipReason, type Unmet, unmetView } from "./schema.ts";
import type { Binding, ExecutorSettings } from "./settings.ts";

export interface DesiredDeps extends RegistryAccessDeps {
  read: Reader;
}

export interface Comparison {
  services: readonly ServiceObservation[];
  /** Services of the target that are bound to nothing. */
  unbound: readonly ServiceObservationFound[];
  /** By service; only those for which a reference could be made. */
  images: ReadonlyMap<string, DesiredImage>;
  /** The first condition that a run would not meet, as far as it can be told without a plan. */
  unmet: Unmet | null;
  /** When a newer release reaches the minimum age; null when none waits for that. */
  ready_at: number | null;
  /** The worst move of a service; one that is not onward keeps automatic runs from going there. */
  move: Move;
  /** The service that `move` tells of; null when all go onward. */
  moved: string | null;
  /** Identity of what is desired over all services that have something desired; null when none has. */
  desired_revision: string | null;
}

type ServiceObservationFound = Observation["unbound"][number];

const hourMs = 60 * 60 * 1000;

/** Differences that mean other content, so that an automatic run has something to do. */
export const updateDifferences = ["new_digest", "other_version", "other_name"] as const satisfies ImageDifference[];

export function isUpdate(difference: ImageDifference | null): boolean {
  return updateDifferences.some((each) => each === difference);
}

/** The same content, whatever it is called: nothing for which an automatic run would restart anything. */
export function isSameContent(difference: ImageDifference | null): boolean {
  return difference === "current" || difference === "other_mode" || difference === "other_tag";
}

/** What a later check or some hours will mend: the service is left as it is and does not hold up the others. */
const postponing: ReadonlySet<SkipReason> = new Set(["no_release", "too_young", "no_tag", "registry_failed"]);

interface Compared {
  observation: ServiceObservation;
  unmet: Unmet | null;
  image: DesiredImage | null;
  ready_at: number | null;
  move: Move;
}

/**
 * What is desired for each bound service against what was found; `target` is null when it is missing, `engine` when it was seen
 * before.
 */
export async function compareWithDesired(
  deps: DesiredDeps,
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
      : { code: "target_refused", message: say("executors.target_refused", { target: id, cause: refusal.message }) };
  const worst = worstOf(compared);
  const readyTimes = compared.flatMap((each) => (each.ready_at === null ? [] : [each.ready_at]));
  const identities = compared.flatMap(({ observation: { service, desired } }) =>
    desired === null ? [] : [`${service} ${desired.digest ?? desired.reference}`],
  );
  return {
    services: compared.map((each) => each.observation),
    unbound: (target?.services ?? [])
      .filter(({ name }) => settings.bindings.every((binding) => binding.service !== name))
      .map((service) => ({ ...service })),
    images: new Map(
      compared.flatMap(({ observation, image }) => (image === null ? [] : [[observation.service, image] as const])),
    ),
    unmet: missing ?? refused ?? firstUnmet(compared),
    ready_at: readyTimes.length === 0 ? null : Math.min(...readyTimes),
    move: worst?.move ?? "same",
    moved: worst?.observation.service ?? null,
    desired_revision: identities.length === 0 ? null : identities.toSorted().join("\n"),
  };
}

/** A service that only has to wait keeps nothing from happening while another one has a release. */
function firstUnmet(compared: readonly Compared[]): Unmet | null {
  const unmet = compared.flatMap((each) => each.unmet ?? []);
  const blocking = unmet.find(({ code }) => !postponing.has(code));
  if (blocking !== undefined) return blocking;
  return unmet.length === compared.length ? (unmet[0] ?? null) : null;
}

/** Moves that are not onward, the gravest first. */
const graveMoves = ["other_line", "other_variant", "back", "unknown"] as const;

function worstOf(compared: readonly Compared[]): Compared | null {
  for (const move of graveMoves) {
    const found = compared.find((each) => each.move === move);
    if (found !== undefined) return found;
  }
  return null;
}

async function compareService(
  deps: DesiredDeps,
  settings: ExecutorSettings,
  binding: Binding,
  { target, engine }: { target: Target | null; engine: AskedEngine },
): Promise<Compared> {
  const { service, tracker, source, channel } = binding;
  const found = target?.services.find((each) => each.name === service) ?? null;
  const knownTags = await tagsOf(deps.read, binding, found);
  const runningTag = found === null ? null : await tagOf(deps.read, settings.id, service, found, knownTags);
  const observed = found === null ? null : { ...found, tag: runningTag };
  const choice = await deps.releases.desiredRelease(binding.source_id, channel, {
    minimum_age_ms: settings.minimum_age_hours * hourMs,
  });
  const base = { service, tracker, source, channel, found: observed };
  const nothing = ({ code, message }: Unmet): Compared => {
    const unmet = { code, message: inService(settings, service, message) };
    return {
      observation: { ...base, desired: null, difference: null, unmet: unmetView(unmet) },
      unmet,
      image: null,
      ready_at: choice.ready_at,
      move: "same",
    };
  };
  if (choice.release === null) return nothing(noRelease(binding, choice, settings.minimum_age_hours));
  const wanted = await wantedImage(deps, settings, { binding, found: observed, release: choice.release, engine });
  if (!("image" in wanted)) return nothing(wanted);
  const { image, tag } = wanted;
  const { version, published_at } = choice.release;
  const difference = found === null ? null : differenceOf(found, image);
  const unmet = target !== null && found === null ? serviceMissing(settings, service) : null;
  return {
    observation: {
      ...base,
      desired: { version, tag, digest: image.digest, reference: image.reference, published_at },
      difference,
      unmet: unmetView(unmet),
    },
    unmet,
    image,
    ready_at: choice.ready_at,
    move:
      found !== null && isUpdate(difference)
        ? await moveTo(deps.read, binding, { to: tag, found, runningTag, names: knownTags })
        : "same",
  };
}

/** A sentence about one service of several; a target that is one container needs no name for its only one. */
export function inService(settings: Pick<ExecutorSettings, "target">, service: string, said: Message): Message {
  return settings.target.is_group ? say("executors.of_service", { service, said }) : said;
}

function serviceMissing({ target }: Pick<ExecutorSettings, "target">, service: string): Unmet {
  return { code: "target_missing", message: say("executors.service_missing", { target: target.id, service }) };
}

function noRelease(binding: Binding, choice: ReleaseChoice, hours: number): Unmet {
  const { tracker, source, channel } = binding;
  if (choice.ready_at === null) {
    return { code: "no_release", message: say("executors.no_release", { tracker, source, channel }) };
  }
  return { code: "too_young", message: say("executors.too_young", { tracker, source, channel, hours }) };
}

interface WantedImage {
  image: DesiredImage;
  /** What the image's tag is called. */
  tag: string;
}

interface Wanted {
  binding: Binding;
  found: (TargetService & { tag: string | null }) | null;
  release: DesiredRelease;
  engine: AskedEngine;
}

async function wantedImage(
  deps: DesiredDeps,
  settings: ExecutorSettings,
  wanted: Wanted,
): Promise<WantedImage | Unmet> {
  const { binding, found, release, engine } = wanted;
  const watched = await deps.releases.imageFor(binding.source_id);
  const isTagless = watched === null;
  if (isTagless && settings.image_selection === "use_tracker") {
    const { tracker, source } = binding;
    return { code: "no_image", message: say("executors.no_image", { tracker, source }) };
  }
  if (isTagless && found === null) return serviceMissing(settings, binding.service);
  try {
    const named =
      isTagless && found !== null ? await tagOfRelease(deps, settings, { found, release, engine }) : release;
    if ("code" in named) return named;
    const tracker = watched ?? found?.image ?? "";
    const image = desiredReference({
      current: found?.image ?? tracker,
      tracker,
      tag: named.tag,
      digest: named.digest,
      policy: settings.image_selection,
      mode: settings.reference_mode,
    });
    return { image, tag: named.tag };
  } catch (error) {
    if (!(error instanceof ImageReferenceError)) throw error;
    return { code: "no_image", message: error.said };
  }
}

function differenceOf(found: TargetService, wanted: DesiredImage): ImageDifference {
  try {
    return compareImages(
      { reference: found.image, digest: found.digest },
      { reference: wanted.reference, digest: wanted.digest },
    );
  } catch (error) {
    // What the runtime calls its image is not ours to judge; then nobody can say how it differs.
    if (error instanceof ImageReferenceError) return "unknown";
    throw error;
  }
}

function tagIn(reference: string): string | null {
  const parsed = readReference(reference);
  return parsed === null ? null : (parsed.tag ?? (parsed.digest === null ? "latest" : null));
}

function repositoryIn(reference: string): string {
  return readReference(reference)?.repository ?? "";
}

/** Null for an image id and for what names no repository. */
function readReference(reference: string): ImageReference | null {
  if (isImageId(reference)) return null;
  try {
    return parseImageReference(reference);
  } catch (error) {
    if (error instanceof ImageReferenceError) return null;
    throw error;
  }
}

/** Of an image that runs by its digest, the name that the source gives it, else the one under which it was brought there. */
async function tagOf(
  read: Reader,
  executorId: string,
  service: string,
  { image, digest }: TargetService,
  knownTags: readonly string[],
): Promise<string | null> {
  const named = tagIn(image) ?? knownTags[0] ?? null;
  if (named !== null || digest === null || isImageId(image)) return named;
  return await rememberedTag(read, executorId, service, digest);
}

/** What the source calls the digest that was found: more exact than a floating tag. */
async function tagsOf(read: Reader, binding: Binding, found: TargetService | null): Promise<string[]> {
  if (found === null || found.digest === null) return [];
  return await tagsOfDigest(read, binding.source_id, found.digest);
}

/** A name that only its digest gives it says where it stands, not which line was chosen. */
async function moveTo(
  read: Reader,
  { source_id }: Binding,
  { to, found, runningTag, names }: { to: string; found: TargetService; runningTag: string | null; names: string[] },
): Promise<Move> {
  const tag = tagIn(found.image) ?? (names.length === 0 ? runningTag : null);
  const pair = tag === null ? null : pairIn(tag);
  const beside = pair === null ? [] : await tagsWith(read, source_id, `${pair}.`);
  return moveOf({ repository: repositoryIn(found.image), tag, names, beside }, to);
}
