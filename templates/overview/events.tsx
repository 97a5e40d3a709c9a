import * as v from "valibot";
import { saidAt } from "../../src/messages/message.ts";
import { Outage } from "../../src/notifications/outage-schema.ts";
import type { EventView } from "../../src/notifications/schema.ts";
import type { IconName } from "../components/icons.ts";
import { Section } from "../components/page-header.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { Badge, State } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import { FromTo, Version } from "../components/version.tsx";
import { dayKey, formatDay, formatDuration } from "../format.ts";
import { eventWord } from "../notifiers/deliveries.tsx";
import type { PageContext, Tone } from "../page.ts";
import { RunVersions } from "../runs/versions.tsx";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "../trackers/address.ts";
import { channelOf, remarkOf } from "../trackers/event-facts.ts";
import { reasonOf } from "../trackers/state.tsx";

const dayMs = 86_400_000;

/** Events by day in the system time zone, newest first. */
export function EventsByDay({ ctx, events }: { ctx: PageContext; events: readonly EventView[] }) {
  const days = Map.groupBy(events, (event) => dayKey(ctx, event.created_at));
  return (
    <>
      {[...days].map(([day, ofDay]) => (
        <Section title={dayTitle(ctx, day, ofDay[0]?.created_at ?? ctx.now)} id={`day-${day}`}>
          <Rows>
            {ofDay.map((event) => (
              <EventRow ctx={ctx} event={event} />
            ))}
          </Rows>
        </Section>
      ))}
    </>
  );
}

function dayTitle(ctx: PageContext, day: string, at: number): string {
  const t = texts(ctx).overview;
  if (day === dayKey(ctx, ctx.now)) return t.today;
  return day === dayKey(ctx, ctx.now - dayMs) ? t.yesterday : formatDay(ctx, at);
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function versionOf(value: unknown) {
  const version = isRecord(value) ? value : {};
  return { tag: text(version.tag), digest: text(version.digest) };
}

function EventRow({ ctx, event }: { ctx: PageContext; event: EventView }) {
  const outage = v.safeParse(Outage, event.facts);
  if (outage.success) return <OutageRow ctx={ctx} event={event} outage={outage.output} />;
  return event.kind === "new_release" || event.kind === "republish" ? (
    <ReleaseRow ctx={ctx} event={event} />
  ) : (
    <RunRow ctx={ctx} event={event} />
  );
}

function When({ ctx, event }: { ctx: PageContext; event: EventView }) {
  return (
    <span class="quiet num">
      <Time ctx={ctx} at={event.created_at} form="clock" />
    </span>
  );
}

function ReleaseRow({ ctx, event }: { ctx: PageContext; event: EventView }) {
  const t = texts(ctx);
  const { facts } = event;
  const tracker = text(facts.tracker) ?? "";
  const version = text(facts.version) ?? text(facts.tag) ?? "";
  const previous = text(facts.previous_version);
  const channel = channelOf(ctx, event);
  const also = Array.isArray(facts.also) ? facts.also.length : 0;
  const remark = remarkOf(event);
  const isRepublish = event.kind === "republish";
  return (
    <Row
      ctx={ctx}
      id={`event-${event.id}`}
      href={trackerPath(tracker)}
      lead={
        <State ctx={ctx} tone="quiet" icon={isRepublish ? "refresh-cw" : "tag"}>
          {isRepublish ? t.overview.event_words.republish : t.events[remark?.code ?? "new_release"]}
        </State>
      }
      title={tracker}
      fact={
        <>
          {previous === null || isRepublish || previous === version ? (
            <Version>{version}</Version>
          ) : (
            <FromTo ctx={ctx} from={previous} to={version} />
          )}{" "}
          {channel === null ? null : <Badge>{channel}</Badge>}
          {remark === null ? null : (
            <small class="quiet">
              {" "}
              {t.events.newest_is} <Version>{remark.newest}</Version>
            </small>
          )}
          {also === 0 ? null : <small class="quiet"> {t.overview.more(also)}</small>}
        </>
      }
      action={<When ctx={ctx} event={event} />}
    />
  );
}

/** The beginning of an outage with what it affects, or its end. */
function OutageRow({ ctx, event, outage }: { ctx: PageContext; event: EventView; outage: Outage }) {
  const t = texts(ctx);
  const lasted = event.facts.lasted_ms;
  const isOver = typeof lasted === "number";
  const [title, href] = placeOf(outage);
  const affected =
    outage.cause === "connection"
      ? t.overview.executors_affected(outage.executor_count)
      : outage.cause === "credential"
        ? t.overview.sources_at(outage.source_count, outage.host)
        : t.upstreams.sources_wait(outage.source_count);
  return (
    <Row
      ctx={ctx}
      id={`event-${event.id}`}
      href={href}
      lead={
        <State ctx={ctx} tone={isOver ? "current" : outage.cause === "upstream" ? "attention" : "failed"}>
          {eventWord(ctx, event.kind)}
        </State>
      }
      title={title}
      fact={isOver ? <small class="quiet">{t.overview.lasted(formatDuration(ctx.language, lasted))}</small> : affected}
      meta={
        isOver
          ? [outage.cause === "credential" ? outage.host : null]
          : [
              reasonOf(ctx, outage.reason_data),
              <>
                {t.overview.lost_since} <Time ctx={ctx} at={outage.since} form="short" />
              </>,
            ]
      }
      action={<When ctx={ctx} event={event} />}
    />
  );
}

function placeOf(outage: Outage): readonly [title: string, href: string] {
  switch (outage.cause) {
    case "connection":
      return [outage.connection, `/connections/${outage.connection_id}`];
    case "upstream":
      return [outage.host, "/upstreams"];
    case "credential":
      return [outage.credential, `/credentials/${outage.credential_id}/edit`];
  }
}

type EventWord = keyof ReturnType<typeof texts>["overview"]["event_words"];

/** A finished run's result: word, colour, icon. */
function outcomeOf({ kind, facts }: EventView): readonly [EventWord, Tone, IconName | undefined] {
  if (kind === "executor_run_awaiting_approval") return ["awaiting", "quiet", "send"];
  if (kind === "executor_target_recovered") return ["recovered", "current", undefined];
  switch (facts.outcome) {
    case "succeeded":
      return facts.kind === "rollback" ? ["rolled_back", "current", "undo-2"] : ["updated", "current", undefined];
    case "degraded":
      return ["degraded", "attention", undefined];
    case "skipped":
      return ["skipped", "quiet", "circle-minus"];
    default:
      return ["failed", "failed", undefined];
  }
}

function RunRow({ ctx, event }: { ctx: PageContext; event: EventView }) {
  const t = texts(ctx).overview;
  const { facts } = event;
  const [word, tone, icon] = outcomeOf(event);
  const reason = saidAt(facts, "reason");
  const serving = Object.entries(t.serving).find(([key]) => key === facts.serving)?.[1] ?? null;
  const isAsked = event.kind === "executor_run_awaiting_approval";
  const runId = event.run_id ?? text(facts.run);
  const isGood =
    isAsked ||
    event.kind === "executor_target_recovered" ||
    facts.outcome === "succeeded" ||
    facts.outcome === "skipped";
  const { downtime_ms: downtime } = facts;
  return (
    <Row
      ctx={ctx}
      id={`event-${event.id}`}
      href={runId === null ? `/executors/${event.executor_id ?? ""}` : `/runs/${runId}`}
      lead={
        <State ctx={ctx} tone={tone} icon={icon}>
          {t.event_words[word]}
        </State>
      }
      title={text(facts.executor) ?? ""}
      fact={
        <>
          <RunVersions ctx={ctx} run={{ from: versionOf(facts.from), to: versionOf(facts.to) }} empty="" />
          {typeof downtime === "number" && isGood ? (
            <small class="quiet"> {texts(ctx).common.down(formatDuration(ctx.language, downtime))}</small>
          ) : null}
        </>
      }
      meta={[isGood ? null : serving, reason === null ? null : translateMessage(ctx.language, reason)]}
      action={<When ctx={ctx} event={event} />}
    />
  );
}
