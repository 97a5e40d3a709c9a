import type { VersionSpanUnderTracker } from "../../src/executors/version-schema.ts";
import type { EventView } from "../../src/notifications/schema.ts";
import type { TrackerUse } from "../../src/stats/schema.ts";
import type { ExplanationView } from "../../src/trackers/previews/schema.ts";
import type { VersionView } from "../../src/trackers/releases/schema.ts";
import type { TrackerView } from "../../src/trackers/schema.ts";
import { Behind } from "../components/behind.tsx";
import { ActionForm, LinkButton } from "../components/button.tsx";
import { DeleteUnused, type QuestionProps } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import { Link } from "../components/link.tsx";
import type { ListProps } from "../components/list-page.tsx";
import { ToastPartial } from "../components/notice.tsx";
import { Columns, EditAndDelete, PageHeader, Section } from "../components/page-header.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { Badge, State } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import { FromTo, Version } from "../components/version.tsx";
import { ProblemState } from "../executors/state.tsx";
import { Timeline } from "../executors/timeline.tsx";
import { ServiceLines, versionPair } from "../executors/versions.tsx";
import { formatDuration } from "../format.ts";
import { Layout } from "../layout.tsx";
import { type Notice, type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "./address.ts";
import { channelWord } from "./channel-words.ts";
import { channelOf, remarkOf } from "./event-facts.ts";
import { ExplainForm, Explanation } from "./explain.tsx";
import { History } from "./history.tsx";
import { notesSourceWords } from "./notes.tsx";
import { Sources } from "./sources.tsx";
import { isChecking, TrackerState } from "./state.tsx";

export interface TrackerPageProps {
  ctx: PageContext;
  tracker: TrackerView;
  uses: readonly TrackerUse[];
  versions: readonly VersionView[];
  /** How many lines of a release's notes announce what, by its id; none where nothing does. */
  marks: ReadonlyMap<string, { breaking: number; security: number }>;
  next_cursor: string | null;
  is_first_page: boolean;
  /** Filters of the history, and the versions of each option. */
  filters: ListProps<unknown>["asked"]["filters"];
  counts: ListProps<unknown>["counts"];
  /** What the services that follow it ran, newest first. */
  deployed: readonly VersionSpanUnderTracker[];
  events: readonly EventView[];
  /** The credentials' names by their ids. */
  credentials: ReadonlyMap<string, string>;
  /** The requested tag with its verdicts. */
  explanation: ExplanationView | null;
  /** When a check was requested whose result is still to be shown. */
  awaited_since: number | null;
}

const bodyId = "tracker-body";

export function TrackerPage(props: TrackerPageProps) {
  const { ctx, tracker } = props;
  const t = texts(ctx).trackers;
  const path = trackerPath(tracker.name);
  return (
    <Layout ctx={ctx} title={tracker.name} section="trackers">
      <PageHeader
        ctx={ctx}
        title={tracker.name}
        parent={{ title: t.title, href: "/trackers" }}
        state={<HeadState {...props} />}
        lead={tracker.description === "" ? undefined : tracker.description}
        actions={
          <>
            <ActionForm
              ctx={ctx}
              action={`${path}/checks`}
              fields={{ next: path }}
              target={`#${bodyId}`}
              kind="main"
              icon="refresh-cw"
            >
              {t.check_now}
            </ActionForm>
            <EditAndDelete ctx={ctx} path={path} />
          </>
        }
      />
      <TrackerBody {...props} />
    </Layout>
  );
}

function HeadState({ ctx, tracker, uses }: Pick<TrackerPageProps, "ctx" | "tracker" | "uses">) {
  return (
    <span id="tracker-state">
      <TrackerState ctx={ctx} tracker={tracker} uses={uses} solid />
    </span>
  );
}

/** Everything below the heading: what a check changes. */
function TrackerBody(props: TrackerPageProps) {
  const { ctx, tracker, explanation } = props;
  return (
    <div id={bodyId}>
      {explanation === null ? null : <Explanation ctx={ctx} explanation={explanation} />}
      <Columns aside={<Aside {...props} />}>
        <History {...props} />
        <Deployed {...props} />
        <Events {...props} />
      </Columns>
      {isChecking(ctx, tracker) || props.awaited_since !== null ? (
        <span
          id="look-again"
          hx-get={url(ctx, ctx.path, { since: props.awaited_since })}
          hx-trigger="every 1s"
          hx-target={`#${bodyId}`}
          hx-swap="outerMorph"
        />
      ) : null}
    </div>
  );
}

/** The body with the state beside the heading, and the result of a requested check. */
export function TrackerAnswer({ notice, ...props }: TrackerPageProps & { notice: Notice | null }) {
  return (
    <>
      <TrackerBody {...props} />
      <hx-partial hx-target="#tracker-state" hx-swap="outerMorph">
        <HeadState {...props} />
      </hx-partial>
      {notice === null ? null : <ToastPartial ctx={props.ctx} notice={notice} />}
    </>
  );
}

function Aside(props: TrackerPageProps) {
  const { ctx, tracker } = props;
  const t = texts(ctx).trackers;
  const interval = formatDuration(ctx.language, tracker.check_interval_minutes * 60_000);
  return (
    <>
      <Sources ctx={ctx} tracker={tracker} credentials={props.credentials} />
      <Section title={t.bound}>
        <Bound {...props} />
      </Section>
      <Section title={t.facts}>
        <Facts
          items={[
            [t.interval, interval],
            [t.latest_is, t.sorting[tracker.sorting]],
            [t.depth, t.depth_text(tracker.fetch_depth)],
            [texts(ctx).notes.source, notesSourceWords(ctx, tracker)],
          ]}
        />
      </Section>
      <Section title={t.explain}>
        <ExplainForm ctx={ctx} tracker={tracker} tag={props.explanation?.tag ?? ""} />
      </Section>
    </>
  );
}

function Bound({ ctx, tracker, uses }: TrackerPageProps) {
  const t = texts(ctx).trackers;
  if (uses.length === 0) {
    return (
      <div class="stack">
        <p class="quiet">{t.bound_none}</p>
        <div>
          <LinkButton ctx={ctx} href={`/executors/new?tracker=${encodeURIComponent(tracker.name)}`} small icon="plus">
            {texts(ctx).executors.add}
          </LinkButton>
        </div>
      </div>
    );
  }
  return (
    <Rows>
      {Map.groupBy(uses, ({ executor_id }) => executor_id)
        .entries()
        .map(([id, own]) => (
          <Row
            ctx={ctx}
            title={own[0]?.executor}
            href={`/executors/${id}`}
            fact={[...new Set(own.map(({ channel }) => channelWord(ctx, channel)))].map((word) => (
              <Badge>{word}</Badge>
            ))}
            meta={[
              <ServiceLines
                ctx={ctx}
                services={own}
                nameOf={({ service }) => (service === "main" ? null : service)}
                versionsOf={({ state, current, desired, problem }) =>
                  JSON.stringify([state, current, desired, problem?.code])
                }
              >
                {([use]) => <UseVersions ctx={ctx} use={use} />}
              </ServiceLines>,
            ]}
          />
        ))
        .toArray()}
    </Rows>
  );
}

function UseVersions({ ctx, use }: { ctx: PageContext; use: TrackerUse }) {
  const nothing = { tag: null, digest: null };
  const { state, current, desired, behind, problem } = use;
  const { from, to } = versionPair(current ?? nothing, (state === "update" ? desired : current) ?? nothing);
  if (problem !== null) return <ProblemState ctx={ctx} problem={problem} />;
  if (state === "unknown") return <State ctx={ctx} tone="unknown" />;
  if (to === null) return null;
  if (state !== "update") return <Version>{to}</Version>;
  return (
    <>
      <FromTo ctx={ctx} from={from} to={to} /> {behind === null ? null : <Behind ctx={ctx} behind={behind} />}
    </>
  );
}

/** What the executors that follow it ran. */
function Deployed({ ctx, deployed }: TrackerPageProps) {
  return (
    <Timeline
      ctx={ctx}
      title={texts(ctx).timeline.title_of_executors}
      runners={texts(ctx).common.executor}
      runnerOf={({ executor_id, executor, service }) => ({
        id: `${executor_id} ${service}`,
        name: serviceName(executor, service),
        href: `/executors/${executor_id}`,
      })}
      spans={deployed}
    />
  );
}

function serviceName(executor: string, service: string): string {
  return service === "main" ? executor : `${executor} · ${service}`;
}

function Events({ ctx, events }: TrackerPageProps) {
  const t = texts(ctx);
  return (
    <Section title={t.events.title}>
      {events.length === 0 ? (
        <p class="quiet">{t.trackers.events_none}</p>
      ) : (
        <Rows>
          {events.map((event) => {
            const remark = remarkOf(event);
            return (
              <Row
                ctx={ctx}
                lead={
                  <small>
                    <Time ctx={ctx} at={event.created_at} />
                  </small>
                }
                title={t.events[remark?.code ?? event.kind]}
                fact={<EventVersion event={event} />}
                meta={[
                  channelOf(ctx, event),
                  remark === null ? null : (
                    <>
                      {t.events.newest_is} <Version>{remark.newest}</Version>
                    </>
                  ),
                ]}
              />
            );
          })}
        </Rows>
      )}
    </Section>
  );
}

function EventVersion({ event }: { event: EventView }) {
  const { version } = event.facts;
  return typeof version === "string" ? <Version>{version}</Version> : null;
}

export function TrackerDelete({ ctx, tracker, error }: QuestionProps<{ tracker: TrackerView }>) {
  const t = texts(ctx).trackers;
  const users = [...new Map(tracker.executors.map(({ id, name: executor }) => [id, executor]))].map(
    ([id, executor]) => (
      <Link ctx={ctx} href={`/executors/${id}`}>
        {executor}
      </Link>
    ),
  );
  const path = trackerPath(tracker.name);
  return <DeleteUnused {...{ ctx, error, path, users }} section="trackers" texts={t} name={tracker.name} />;
}
