import { parseInstant } from "../../src/clock.ts";
import { type Message, withTexts } from "../../src/messages/message.ts";
import type { TrackerUse } from "../../src/stats/schema.ts";
import type { SourceView, TrackerView } from "../../src/trackers/schema.ts";
import { State } from "../components/state.tsx";
import { formatClock, formatDuration, formatShort } from "../format.ts";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

/** True while a check runs or is due: the page must reload. */
export function isChecking(ctx: Pick<PageContext, "now">, tracker: TrackerView): boolean {
  return tracker.sources.some((source) => isSourceChecking(ctx, source));
}

function isSourceChecking(ctx: Pick<PageContext, "now">, source: SourceView): boolean {
  if (source.state === "checking") return true;
  return !isWaiting(ctx, source) && source.next_check_at !== null && source.next_check_at <= ctx.now;
}

/** Its check is due but waits for its upstream's rate limit. */
export function isWaiting(ctx: Pick<PageContext, "now">, source: SourceView): boolean {
  return source.waits_until !== null && source.waits_until > ctx.now;
}

/** The same, or its host does not respond. */
function waits(ctx: Pick<PageContext, "now">, source: SourceView): boolean {
  return source.is_host_away || (source.state !== "failing" && isWaiting(ctx, source));
}

/** A source's failure in the page's language, with times in the system time zone. */
export function reasonOf(ctx: PageContext, message: Message, translate = translateMessage): string {
  const shown = withTexts(message, (text) => {
    const instant = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? parseInstant(text) : null;
    return instant === null ? text : formatShort(ctx, instant);
  });
  return translate(ctx.language, shown);
}

/** The actual time of a source's next check, including its upstream's rate limit. */
export function nextCheckOf(source: SourceView): number | null {
  return source.waits_until ?? source.next_check_at;
}

interface TrackerStateProps {
  ctx: PageContext;
  tracker: TrackerView;
  uses: readonly TrackerUse[];
  solid?: boolean;
}

/** A tracker's state, the most urgent first: a check, a failure, an update, unknown. */
export function TrackerState({ ctx, tracker, uses, solid = false }: TrackerStateProps) {
  const t = texts(ctx).trackers.states;
  const failing = tracker.sources.filter((source) => source.state === "failing" && !source.is_host_away);
  const updates = uses.filter((use) => use.state === "update").length;
  const look = { ctx, solid };
  const [worst] = failing;
  if (isChecking(ctx, tracker)) return <State {...look} tone="running" children={t.checking} />;
  if (!tracker.is_enabled) return <State {...look} tone="quiet" icon="pause" children={t.disabled} />;
  if (worst !== undefined) {
    const isAll = failing.length === tracker.sources.length;
    return (
      <State {...look} tone="failed" title={failureTitle(ctx, worst)}>
        {isAll ? t.failing : t.partly(failing.length, tracker.sources.length)}
      </State>
    );
  }
  // What waits leaves the state to the sources that do not.
  const others = tracker.sources.filter((source) => !waits(ctx, source));
  const [waiting] = tracker.sources;
  if (others.length === 0 && waiting !== undefined) return <Waiting ctx={ctx} source={waiting} solid={solid} />;
  if (others.some(({ state }) => state === "pending")) return <State {...look} tone="unknown" children={t.pending} />;
  if (updates > 0) {
    return <State {...look} tone="update" children={updates === 1 ? t.update : t.updates(updates)} />;
  }
  if (uses.length === 0) {
    return <State {...look} tone="current" icon="eye" title={t.watched_help} children={t.watched} />;
  }
  if (uses.some((use) => use.state === "unknown")) return <State {...look} tone="unknown" children={t.unknown} />;
  return <State {...look} tone="current" children={t.current} />;
}

function Waiting({ ctx, source, solid = false }: { ctx: PageContext; source: SourceView; solid?: boolean }) {
  const t = texts(ctx);
  const until = nextCheckOf(source);
  const help = source.state === "failing" ? failureTitle(ctx, source) : t.upstreams.waits_help;
  return (
    <State ctx={ctx} solid={solid} tone="attention" icon="clock" title={help}>
      {until === null ? t.upstreams.states.waiting : t.trackers.states.waits_until(formatClock(ctx, until))}
    </State>
  );
}

/** Whether one source responds. */
export function SourceState({ ctx, source }: { ctx: PageContext; source: SourceView }) {
  const t = texts(ctx).trackers.states;
  if (isSourceChecking(ctx, source)) return <State ctx={ctx} tone="running" children={t.checking} />;
  if (waits(ctx, source)) return <Waiting ctx={ctx} source={source} />;
  switch (source.state) {
    case "failing":
      return <State ctx={ctx} tone="failed" title={failureTitle(ctx, source)} children={t.failing} />;
    case "pending":
      return <State ctx={ctx} tone="unknown" children={t.pending} />;
    default:
      return <State ctx={ctx} tone="current" children={t.ok} />;
  }
}

function failureTitle(ctx: PageContext, source: SourceView): string {
  const reason = source.error === null ? "" : reasonOf(ctx, source.error.message_data);
  return source.failing_since === null ? reason : `${reason} (${failingFor(ctx, source.failing_since)})`;
}

/** "Failing for 9h 12m" */
export function failingFor(ctx: PageContext, since: number): string {
  const whole = Math.max(1, Math.floor((ctx.now - since) / 60_000)) * 60_000;
  return texts(ctx).trackers.failing_for(formatDuration(ctx.language, whole));
}
