import type { VersionSpanView } from "../../src/executors/version-schema.ts";
import { Link } from "../components/link.tsx";
import { Panel, Section } from "../components/page-header.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { shortDigest, Version } from "../components/version.tsx";
import { formatDate } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** Rows of the list; the API has all of them. */
const shownRows = 20;
/** Strips of the drawing: those that changed last. */
const shownStrips = 8;
const drawnMs = 30 * 86_400_000;

/** The units of a strip, which is as wide as its place. */
const width = 1_000;
/** Between two versions, so that a change is visible. */
const gap = 2;
/** So is a version that ran for minutes. */
const leastWidth = 4;

/** What runs the versions of a strip. */
interface Runner {
  id: string;
  /** Null if there is only this one. */
  name: string | null;
  href?: string;
}

interface TimelineProps<S> {
  ctx: PageContext;
  title: string;
  /** Heads the names of what runs. */
  runners: string;
  runnerOf: (span: S) => Runner;
  /** Newest first. */
  spans: readonly S[];
}

function versionOf(ctx: PageContext, { reference, tag, digest }: VersionSpanView): string {
  if (reference === null) return texts(ctx).timeline.absent;
  return tag ?? (digest === null ? reference : shortDigest(digest));
}

/** Which version ran when, and why it changed: drawn for the last 30 days, and as a table. */
export function Timeline<S extends VersionSpanView>({ ctx, title, runners, runnerOf, spans: all }: TimelineProps<S>) {
  const t = texts(ctx).timeline;
  if (all.length === 0) return null;
  const spans = all.map((span) => ({ ...span, runner: runnerOf(span) }));
  const isNamed = spans.some(({ runner }) => runner.name !== null);
  return (
    <Section id="timeline" title={title}>
      <div class="stack">
        <Panel>
          <Strips ctx={ctx} spans={spans} />
        </Panel>
        <Table
          ctx={ctx}
          caption={title}
          is_list
          columns={[
            ...(isNamed ? [{ key: "runner", title: runners, grows: true }] : []),
            { key: "version", title: texts(ctx).common.version, grows: true, leads: true },
            { key: "cause", title: t.cause, card_label: "none", grows: true },
            { key: "time", title: t.from },
          ]}
          rows={spans.slice(0, shownRows).map((span, place) => ({
            id: `change-${place}`,
            cells: {
              runner: <RunnerName ctx={ctx} runner={span.runner} />,
              version: <Version>{versionOf(ctx, span)}</Version>,
              cause:
                span.run_id === null ? (
                  t.causes[span.cause]
                ) : (
                  <Link ctx={ctx} href={`/runs/${span.run_id}`}>
                    {t.causes[span.cause]}
                  </Link>
                ),
              time: (
                <span>
                  <Time ctx={ctx} at={span.from_at} form="short" />
                  <span class="until">
                    {" – "}
                    <Time ctx={ctx} at={span.until_at} form="short" empty={t.now} />
                  </span>
                </span>
              ),
            },
          }))}
        />
      </div>
    </Section>
  );
}

function RunnerName({ ctx, runner: { name, href } }: { ctx: PageContext; runner: Runner }) {
  if (name === null) return null;
  return href === undefined ? (
    <span>{name}</span>
  ) : (
    <Link ctx={ctx} href={href}>
      {name}
    </Link>
  );
}

interface StripsProps {
  ctx: PageContext;
  spans: readonly (VersionSpanView & { runner: Runner })[];
}

/** A strip for each service, with what it runs now. The table has the same in words, so that screen readers pass the drawing over. */
function Strips({ ctx, spans }: StripsProps) {
  const t = texts(ctx).timeline;
  const since = ctx.now - drawnMs;
  const strips = [...Map.groupBy(spans, ({ runner }) => runner.id).values()];
  return (
    <figure class="chart">
      <figcaption>
        {texts(ctx).charts.last_days}
        {spans.some(({ cause }) => cause === "outside") ? (
          <span class="chart-legend">
            <span>
              <svg class="chart-sign" viewBox="0 0 10 10" aria-hidden="true">
                <rect class="chart-outside" width={10} height={10} />
              </svg>
              {t.causes.outside}
            </span>
          </span>
        ) : null}
      </figcaption>
      {strips.slice(0, shownStrips).map((own) => (
        <div class="strip">
          {own.slice(0, 1).map((latest) => (
            <div>
              <RunnerName ctx={ctx} runner={latest.runner} />
              <Version>{versionOf(ctx, latest)}</Version>
            </div>
          ))}
          <svg viewBox={`0 0 ${width} 10`} preserveAspectRatio="none" aria-hidden="true">
            {own.map((span, place) => (
              <Bar ctx={ctx} span={span} since={since} is_even={(own.length - place) % 2 === 0} />
            ))}
          </svg>
        </div>
      ))}
      <div class="strip-ends">
        <span>{formatDate(ctx, since)}</span>
        <span>{formatDate(ctx, ctx.now)}</span>
      </div>
      {strips.length > shownStrips ? <p class="quiet">{t.bounded(shownStrips)}</p> : null}
    </figure>
  );
}

interface BarProps {
  ctx: PageContext;
  span: VersionSpanView;
  since: number;
  is_even: boolean;
}

/** Drawn by attributes alone: the CSP allows no inline style. */
function Bar({ ctx, span, since, is_even }: BarProps) {
  const until = span.until_at ?? ctx.now;
  if (until <= since || span.reference === null) return null;
  const x = (at: number) => (Math.min(Math.max(at - since, 0), drawnMs) / drawnMs) * width;
  const [begin, end] = [x(span.from_at), x(until)];
  const tone = span.cause === "outside" ? "outside" : is_even ? "other" : "plain";
  return (
    <rect
      class={`chart-${tone}`}
      x={begin.toFixed(1)}
      width={Math.max(end - begin - gap, leastWidth).toFixed(1)}
      height={10}
    >
      <title>{`${versionOf(ctx, span)}, ${texts(ctx).timeline.causes[span.cause]}`}</title>
    </rect>
  );
}
