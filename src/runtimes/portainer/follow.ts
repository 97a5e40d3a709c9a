import type { Clock } from "../../clock.ts";
import { PluginError } from "../../errors.ts";
import { type Message, plain, say, withTexts } from "../../messages/message.ts";
import { withoutSecrets } from "../engine/hide-secrets.ts";
import { endOf, judgeReadiness } from "../engine/readiness.ts";
import { digestFor, splitReference } from "../engine/reference.ts";
import { type Readiness, stabilityMs } from "../session.ts";
import { Refused, shortened } from "./client.ts";
import { secretsOf } from "./compose.ts";
import type { StackDetail } from "./plan.ts";
import { type Found, isMarkedAs, type Marks, type Member, referenceOf, stackStates } from "./stacks.ts";

const pollMs = 1_000;
/** How long a request whose response was lost may leave no trace. */
const quietMs = 60_000;

export interface Watching {
  /** Reads the stack; throws `PluginError`. */
  look: () => Promise<Found>;
  clock: Clock;
  signal: AbortSignal;
  /** After this long without any change, the awaited state will not come. */
  stall_ms: number;
}

/** A change of a stack's file and environment by one request. */
export interface Move {
  from: Marks;
  to: Marks;
  /** Portainer's time of the last update before the request. */
  update_date: number;
  /** It pulls images first, during which nothing about the containers changes. */
  pulls?: boolean;
}

/**
 * `applied`: Portainer has carried it out; `as_before`: it has not, or it failed and file and environment are as before; `stuck`: the new
 * file is stored, but Portainer does not finish; `foreign`: somebody else changed the stack.
 */
export type MoveEnd = { end: "applied" | "as_before" | "stuck" | "foreign"; found: Found };

/** As far as one reading shows. */
export function endOfMove(found: Found, move: Move): MoveEnd["end"] {
  const state = stateOf(found, move);
  return state === "working" ? "stuck" : state;
}

/** What the record says about a move. During an update Portainer has the new file already, and its record is still the old one. */
function stateOf({ stack, content }: Found, { from, to, update_date }: Move): MoveEnd["end"] | "working" {
  if (content === null) return "foreign";
  const isLater = (stack.UpdateDate ?? 0) !== update_date;
  if (isMarkedAs(content, to) && isLater) return "applied";
  if (isMarkedAs(content, from) && !isLater) return "as_before";
  const isHalf = isMarkedAs(content, { file: to.file, env: from.env }) || isMarkedAs(content, to);
  return isHalf && !isLater ? "working" : "foreign";
}

/** Reads until the outcome of a request without a response is certain; never sends anything. */
export async function awaitMove(watching: Watching, move: Move): Promise<MoveEnd> {
  // If file and environment stay the same, nothing shows that Portainer is pulling.
  const isHidden = move.pulls === true && move.from.file === move.to.file && move.from.env === move.to.env;
  const quiet = isHidden ? watching.stall_ms : Math.min(quietMs, watching.stall_ms);
  for await (const { found, unchanged_ms } of looks(watching)) {
    const end = stateOf(found, move);
    if (end === "applied" || end === "foreign") return { end, found };
    if (end === "as_before" && unchanged_ms >= quiet) return { end, found };
    if (end === "working" && unchanged_ms >= watching.stall_ms) return { end: "stuck", found };
  }
  throw new Error("Looking never ends");
}

/** Which version the services have to run: the one after the update, or the one before it. */
export type Side = "after" | "before";

export type Judged = Pick<StackDetail, "services" | "running" | "containers">;

export interface Verdict {
  readiness: Readiness;
  /** Services that run the wanted version, of all that have to. */
  done: number;
  total: number;
}

/** Judges a stack service by service. `ranMs`: for how long a container without its own health check has run. */
export function judgeServices(
  { members, images }: Found,
  { services, running, containers }: Judged,
  side: Side,
  ranMs: (member: Member) => number,
): Verdict {
  const waiting: Readiness[] = [];
  let done = 0;
  const changed = new Map(services.map((each) => [each.service, each]));
  const names = namesToJudge({ services, running });
  for (const service of names) {
    const own = members.filter((each) => each.service === service);
    const wanted = changed.get(service);
    const stale = wanted === undefined ? [] : own.filter((each) => !isWanted(each, images, wanted, side));
    const verdicts =
      own.length === 0
        ? [{ ready: false as const, detail: say("portainer.no_container") }]
        : stale.length > 0
          ? [{ ready: false as const, detail: say("portainer.not_replaced") }]
          : own.map((each) =>
              (wanted === undefined || side === "before") && containers.includes(each.container.Id)
                ? judgeUntouched(each)
                : judgeReadiness(each.container, ranMs(each)),
            );
    const worst = verdicts.find((each) => !each.ready && each.final === true) ?? verdicts.find((each) => !each.ready);
    if (worst === undefined) done += 1;
    else waiting.push({ ...worst, detail: say("phrases.about", { name: service, said: worst.detail }) });
  }
  // What must not run need not; but it has to have its image once its container is replaced.
  const first = waiting.find((each) => !each.ready && each.final === true) ?? waiting[0];
  const detail = say("portainer.all_run", { services: names.length });
  return { readiness: first ?? { ready: true, detail }, done, total: names.length };
}

/** The services that ran, and those that the update changes and that were not stopped: they may have kept crashing. */
function namesToJudge({ services, running }: Pick<Judged, "services" | "running">): readonly string[] {
  return [...new Set([...running, ...services.filter((each) => each.is_running).map(({ service }) => service)])];
}

/** Whether everything that has to runs in this version, healthy or not. What kept crashing before has to be there. */
export function doRun({ members, images }: Found, { services, running, containers }: Judged, side: Side): boolean {
  // Nothing is left of a stack that had containers, none of which ran.
  if (members.length === 0 && containers.length > 0) return false;
  return namesToJudge({ services, running }).every((service) => {
    const own = members.filter((each) => each.service === service);
    const wanted = services.find((each) => each.service === service);
    const hasToRun = running.includes(service);
    return (
      own.length > 0 &&
      own.every((each) => (isUp(each) || !hasToRun) && (wanted === undefined || isWanted(each, images, wanted, side)))
    );
  });
}

/** A container that the update left alone may have been restarted long ago. */
function judgeUntouched(member: Member): Readiness {
  if (isUp(member)) return { ready: true, detail: say("readiness.running", { seconds: 0 }) };
  return { ready: false, detail: endOf(member.container) ?? say("readiness.paused") };
}

function isUp({ container: { State: state } }: Member): boolean {
  return state.Running === true && state.Restarting !== true;
}

function isWanted(
  member: Member,
  images: Found["images"],
  { before, after, image_id, digest }: StackDetail["services"][number],
  side: Side,
): boolean {
  const reference = referenceOf(member);
  if (reference !== (side === "after" ? after : before)) return false;
  if (before !== after) return true;
  // The tag is the same, and has moved: only the image tells the versions apart.
  const isOld = member.container.Image === image_id;
  if (side === "before") return isOld;
  const image = images.get(member.container.Image);
  const isDesired =
    digest !== null && digestFor(image?.RepoDigests ?? [], splitReference(reference).repository) === digest;
  return isDesired || !isOld;
}

export interface Followed {
  /** Null when everything that has to runs the wanted version, else why not. */
  failure: Message | null;
  detail: Message;
  found: Found;
}

/** Follows the services until all run the wanted version and are ready, one cannot be any more, or nothing changes for too long. */
export async function followServices(
  watching: Watching,
  detail: Judged,
  side: Side,
  onProgress: (verdict: Verdict) => void,
): Promise<Followed> {
  const { clock } = watching;
  const seenAt = new Map<string, number>();
  const stall_ms = Math.max(watching.stall_ms, 2 * stabilityMs);
  const ranMs = ({ container }: Member) => {
    // A restart begins the period again.
    const key = `${container.Id} ${container.State.StartedAt}`;
    const at = seenAt.get(key) ?? clock.elapsed();
    seenAt.set(key, at);
    return clock.elapsed() - at;
  };
  for await (const { found, unchanged_ms } of looks(watching)) {
    const verdict = judgeServices(found, detail, side, ranMs);
    const { readiness } = verdict;
    onProgress(verdict);
    const failed = await whyNotDeployed(found);
    if (failed !== null) return { failure: failed, detail: failed, found };
    // As long as Portainer is at work, what is ready may be replaced, and what was created only is started.
    const isAtWork = found.stack.Status === stackStates.deploying;
    if (!isAtWork && (readiness.ready || readiness.final === true)) {
      return { failure: readiness.ready ? null : readiness.detail, detail: readiness.detail, found };
    }
    if (unchanged_ms >= stall_ms) {
      const seconds = Math.round(stall_ms / 1000);
      const cause = readiness.ready ? say("portainer.deploying") : readiness.detail;
      const failure = say("portainer.stalled", { seconds, cause });
      return { failure, detail: failure, found };
    }
  }
  throw new Error("Looking never ends");
}

/** Why a service that has to run no longer does; null while all do. */
export function endOfServices({ members }: Pick<Found, "members">, { running, containers }: Judged): Message | null {
  for (const service of running) {
    const own = members.filter((each) => each.service === service);
    if (own.length === 0) return say("phrases.about", { name: service, said: say("readiness.removed") });
    for (const member of own) {
      const { container } = member;
      const end = isUp(member) && containers.includes(container.Id) ? null : endOf(container);
      if (end !== null) return say("phrases.about", { name: service, said: end });
    }
  }
  return null;
}

/** What Portainer says of a deployment that failed after it had answered; null for any other. */
async function whyNotDeployed({ stack, content }: Found): Promise<Message | null> {
  if (stack.Status !== stackStates.failed) return null;
  const secrets = content === null ? [] : await secretsOf(content);
  const said = withoutSecrets(plain(stack.DeploymentStatus?.at(-1)?.Message ?? ""), secrets);
  return say("portainer.deployment_failed", { said: withTexts(said, (text) => shortened(text) ?? "") });
}

interface Look {
  found: Found;
  /** How long nothing about the stack has changed. */
  unchanged_ms: number;
}

/**
 * One look a second. Failures are tolerated until the standstill is over, because Portainer may be restarted meanwhile; a missing stack or
 * a withdrawn key are not.
 */
async function* looks({ look, clock, signal, stall_ms }: Watching): AsyncGenerator<Look, never> {
  let [sign, changedAt, seenAt] = ["", clock.elapsed(), clock.elapsed()];
  for (;;) {
    signal.throwIfAborted();
    try {
      const found = await look();
      seenAt = clock.elapsed();
      const now = signOf(found);
      if (now !== sign) [sign, changedAt] = [now, seenAt];
      yield { found, unchanged_ms: seenAt - changedAt };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PluginError)) throw error;
      const isFinal = error.code === "not_found" || (error instanceof Refused && error.code === "unauthorized");
      if (isFinal || clock.elapsed() - seenAt >= stall_ms) throw error;
    }
    await clock.sleep(pollMs, signal);
  }
}

function signOf({ stack, content, members }: Found): string {
  const containers = members.map(({ container: { Id, State } }) => [
    Id,
    State.Status,
    State.Health?.Status,
    State.StartedAt,
  ]);
  return JSON.stringify([stack.UpdateDate, stack.Env, content?.file, containers]);
}
