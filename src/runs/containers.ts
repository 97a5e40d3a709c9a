import { isMessage, type Message, plain, saidAt, says, toldAs } from "../messages/message.ts";
import type { JournalEntry } from "../runtimes/runtime.ts";
import type { StoredPlan } from "./context.ts";
import type { ContainerOutcome, RunContainer } from "./schema.ts";

type Entries = readonly JournalEntry[];

/** Steps that change what runs; a new container that was only created has touched nothing. */
export const touchingSteps = ["stop", "rename_old", "rename_new", "start"] as const;
const touching: ReadonlySet<string> = new Set(touchingSteps);

const last = (entries: Entries, step: string, phase: JournalEntry["phase"]) =>
  entries.findLast((entry) => entry.step === step && entry.phase === phase) ?? null;
const first = (entries: Entries, step: string, phase: JournalEntry["phase"]) =>
  entries.find((entry) => entry.step === step && entry.phase === phase) ?? null;

function containerOf(entry: JournalEntry): string | null {
  return typeof entry.facts.container === "string" ? entry.facts.container : null;
}

/** The containers that a journal is about; a single nameless one for a journal from before there were names. */
function namesIn(entries: Entries): readonly (string | null)[] {
  const names = [...new Set(entries.map(containerOf))].filter((name) => name !== null);
  return names.length === 0 ? [null] : names;
}

/** What the journal says of one container. What names none is about every one. */
function entriesOf(entries: Entries, name: string | null): Entries {
  return entries.filter((entry) => {
    const own = containerOf(entry);
    return own === null || own === name;
  });
}

/** Whether the run changed what runs. */
export function hasTouched(entries: Entries): boolean {
  return entries.some(({ step }) => touching.has(step));
}

/** When the run stopped the first container; null when it stopped none. */
export function wentDownAt(entries: Entries): number | null {
  return firstStop(entries)?.at ?? null;
}

function firstStop(entries: Entries): JournalEntry | null {
  const isStop = ({ step, phase, facts }: JournalEntry) => {
    return step === "stop" && phase === "begin" && facts.is_skipped !== true;
  };
  return entries.find(isStop) ?? null;
}

/** From the stop of a container to the next start of anything under its name; null when it was not stopped or is still down. */
function gapOf(own: Entries): number | null {
  const stopped = first(own, "stop", "begin");
  if (stopped === null || stopped.facts.is_skipped === true) return null;
  const after = own.filter((entry) => entry.at >= stopped.at && entry.phase === "finish");
  const at = (step: string) => after.find((entry) => entry.step === step)?.at;
  // A new one that was put away again served nobody for sure: the gap lasts until the previous one is back.
  const undone = at("undo");
  if (undone !== undefined) return undone - stopped.at;
  // The new one served before the previous one was stopped.
  if (stopped.facts.is_overlapped === true) return 0;
  const started = at("start");
  return started === undefined ? null : started - stopped.at;
}

export interface Downtime {
  /** The longest of its containers: from the stop of the previous one to the next start of anything; null when nothing was stopped. */
  downtime_ms: number | null;
  /** From the first stop to the first probe that passed; null when none did. */
  ready_ms: number | null;
}

/** Measured from the journal, so that it survives the process that measured it. */
export function downtimeOf(entries: Entries): Downtime {
  const gaps = namesIn(entries).flatMap((name) => gapOf(entriesOf(entries, name)) ?? []);
  const stopped = firstStop(entries);
  const verified = last(entries, "verify", "finish")?.facts.ready_at;
  return {
    downtime_ms: gaps.length === 0 ? null : Math.max(...gaps),
    ready_ms: stopped !== null && typeof verified === "number" ? verified - stopped.at : null,
  };
}

type Place = Exclude<ContainerOutcome, "updated" | "moved"> | "in_place";

/** Where one container was left. */
function placeOf(own: Entries): Place {
  const isTouched = own.some(({ step }) => touching.has(step));
  const undo = own.findLast(({ step, phase }) => step === "undo" && phase !== "begin") ?? null;
  const recovered = last(own, "recover", "finish");
  const way = undo ?? recovered;
  if (way !== null) {
    const { state } = way.facts;
    if (way.phase === "fail" || state === "down") return isTouched ? "down" : "untouched";
    const isBack = state === "untouched" || (way === undo && state === undefined);
    if (isBack) return isTouched ? "put_back" : "untouched";
    if (state !== "mixed") return "in_place";
  }
  const start = last(own, "start", "finish");
  if (start !== null || last(own, "rename_new", "finish") !== null) return "in_place";
  if (last(own, "remove_old", "finish") !== null) return "removed";
  return isTouched ? "down" : "untouched";
}

function saidIn(entry: JournalEntry | null | undefined): Message | null {
  const facts = entry?.facts ?? {};
  return saidAt(facts, "error") ?? saidAt(facts, "message") ?? saidAt(facts, "detail");
}

function failureOf(own: Entries, name: string): Message | null {
  return saidIn(own.findLast((entry) => entry.phase === "fail" && containerOf(entry) === name));
}

/** What a verdict on several containers says of each. */
function saidOf(verdict: Message, names: readonly string[]): ReadonlyMap<string, Message> {
  const items = says(verdict, "phrases.joined") ? verdict.params.items : [verdict];
  const about = items.flatMap((item) => (says(item, "phrases.about") ? [item.params] : []));
  return new Map(about.filter(({ name }) => names.includes(name)).map(({ name, said }) => [name, said]));
}

/** Steps that lead to the new version; the first of them that fails is where an update ends. */
const leading: ReadonlySet<string> = new Set(["create", "wait", "drain", ...touching]);

/**
 * The containers that made the run fail, each with what was said of it. Where one waited in vain for another, that other one is at
 * fault; none is where a probe of the whole target failed, which says of no container that it is to blame.
 */
function causesOf({ containers }: Pick<StoredPlan, "containers">, entries: Entries): ReadonlyMap<string, Message> {
  const names = containers.map(({ name }) => name);
  const verdict = last(entries, "verify", "fail");
  if (verdict !== null) {
    const whole = saidIn(verdict) ?? plain("");
    const said = saidOf(whole, names);
    const judged = containers.filter((each) => each.is_running);
    const [only] = judged;
    return said.size === 0 && only !== undefined && judged.length === 1 ? new Map([[only.name, whole]]) : said;
  }
  const failed = entries.find(({ step, phase, facts }) => {
    return phase === "fail" && leading.has(step) && typeof facts.container === "string";
  });
  const said = saidIn(failed) ?? saidIn(last(entries, "failure", "fail")) ?? plain("");
  if (says(said, "readiness.needs_healthy") && names.includes(said.params.needed)) {
    return new Map([[said.params.needed, said.params.cause]]);
  }
  const name = (failed === undefined ? null : containerOf(failed)) ?? namedIn(said, names);
  return name === null ? new Map() : new Map([[name, said]]);
}

/** The first of the names that is a value of the message, or of one inside it. */
function namedIn({ params }: Message, names: readonly string[]): string | null {
  for (const value of Object.values(params)) {
    const found = isMessage(value) ? namedIn(value, names) : (names.find((name) => name === value) ?? null);
    if (found !== null) return found;
  }
  return null;
}

/** What was done to each container of the plan, in its order; null for a run that did not come so far as to make one. */
export function containerOutcomes(
  plan: Pick<StoredPlan, "containers"> | null,
  entries: Entries,
): readonly RunContainer[] | null {
  if (plan === null || plan.containers.length === 0) return null;
  if (first(entries, "create", "begin") === null) return null;
  const causes = causesOf(plan, entries);
  return plan.containers.map(({ name, service, because }) => {
    const own = entriesOf(entries, name);
    const place = placeOf(own);
    const failure = failureOf(own, name);
    const cause = causes.get(name) ?? null;
    // Of one that is down it is more urgent why it did not come back.
    const detail = place === "down" ? (failure ?? cause) : (cause ?? failure);
    return {
      container: name,
      service,
      because,
      outcome: place === "in_place" ? (because === "desired" ? "updated" : "moved") : place,
      downtime_ms: gapOf(own),
      ...toldAs("detail", detail),
      is_cause: cause !== null,
    };
  });
}

/** The container at which an update failed, where there are several to choose from. */
export function failedContainer(plan: Pick<StoredPlan, "containers"> | null, entries: Entries): string | null {
  if (plan === null || plan.containers.length < 2) return null;
  const failed = entries.findLast((entry) => entry.phase === "fail");
  return failed === undefined ? null : containerOf(failed);
}
