import { isMessage, type Message, plain, saidAt, says, toldAs } from "../../messages/message.ts";
import { containersOf, type PlannedContainer } from "../containers-detail.ts";
import type { JournalEntry } from "../journal.ts";
import { containerOf, entriesOf, firstOf, gapOf, lastOf } from "../journal-times.ts";
import type { PlanDetail } from "../plan.ts";
import type { PartOutcome } from "../target-kind.ts";
import { touching } from "./steps.ts";

type Entries = readonly JournalEntry[];

type Place = Exclude<PartOutcome["outcome"], "updated" | "moved"> | "in_place";

/** The state in which a container was left. */
function placeOf(own: Entries): Place {
  const isTouched = own.some(({ step }) => touching.has(step));
  const undo = own.findLast(({ step, phase }) => step === "undo" && phase !== "begin") ?? null;
  const recovered = lastOf(own, "recover", "finish");
  const way = undo ?? recovered;
  if (way !== null) {
    const { state } = way.facts;
    if (way.phase === "fail" || state === "down") return isTouched ? "down" : "untouched";
    const isBack = state === "untouched" || (way === undo && state === undefined);
    if (isBack) return isTouched ? "put_back" : "untouched";
    if (state !== "mixed") return "in_place";
  }
  const start = lastOf(own, "start", "finish");
  if (start !== null || lastOf(own, "rename_new", "finish") !== null) return "in_place";
  if (lastOf(own, "remove_old", "finish") !== null) return "removed";
  return isTouched ? "down" : "untouched";
}

function saidIn(entry: JournalEntry | null | undefined): Message | null {
  const facts = entry?.facts ?? {};
  return saidAt(facts, "error") ?? saidAt(facts, "message") ?? saidAt(facts, "detail");
}

function failureOf(own: Entries, name: string): Message | null {
  return saidIn(own.findLast((entry) => entry.phase === "fail" && containerOf(entry) === name));
}

/** What a verdict on several containers says about each. */
function saidOf(verdict: Message, names: readonly string[]): ReadonlyMap<string, Message> {
  const items = says(verdict, "phrases.joined") ? verdict.params.items : [verdict];
  const about = items.flatMap((item) => (says(item, "phrases.about") ? [item.params] : []));
  return new Map(about.filter(({ name }) => names.includes(name)).map(({ name, said }) => [name, said]));
}

/** Steps towards the new version; the first that fails ends the update. */
const leading: ReadonlySet<string> = new Set(["create", "wait", "drain", ...touching]);

/**
 * The containers that made the run fail, each with its reason. If one waited in vain for another, the other one is at
 * fault; a failed probe of the whole target blames none.
 */
function causesOf(containers: readonly PlannedContainer[], entries: Entries): ReadonlyMap<string, Message> {
  const names = containers.map(({ name }) => name);
  const verdict = lastOf(entries, "verify", "fail");
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
  const said = saidIn(failed) ?? saidIn(lastOf(entries, "failure", "fail")) ?? plain("");
  if (says(said, "readiness.needs_healthy") && names.includes(said.params.needed)) {
    return new Map([[said.params.needed, said.params.cause]]);
  }
  const name = (failed === undefined ? null : containerOf(failed)) ?? namedIn(said, names);
  return name === null ? new Map() : new Map([[name, said]]);
}

/** The first name that is a value of the message, or of a message inside it. */
function namedIn({ params }: Message, names: readonly string[]): string | null {
  for (const value of Object.values(params)) {
    const found = isMessage(value) ? namedIn(value, names) : (names.find((name) => name === value) ?? null);
    if (found !== null) return found;
  }
  return null;
}

/** What was done to each container, in the order of the plan; null for a run that created none. */
export function containerOutcomes(detail: PlanDetail, entries: Entries): readonly PartOutcome[] | null {
  const containers = containersOf(detail);
  if (containers.length === 0 || firstOf(entries, "create", "begin") === null) return null;
  const causes = causesOf(containers, entries);
  return containers.map(({ name, service, because }) => {
    const own = entriesOf(entries, name);
    const place = placeOf(own);
    const failure = failureOf(own, name);
    const cause = causes.get(name) ?? null;
    return {
      container: name,
      service,
      because,
      outcome: place === "in_place" ? (because === "desired" ? "updated" : "moved") : place,
      downtime_ms: gapOf(own),
      // For one that is down, why it did not come back matters more.
      ...toldAs("detail", place === "down" ? (failure ?? cause) : (cause ?? failure)),
      is_cause: cause !== null,
    };
  });
}
