import type { VersionSpanView } from "../../src/executors/schema.ts";
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
/** Services in the drawing: those that changed last. */
const shownServices = 8;

/** The drawing's units are pixels at the usual width of a chart. */
const width = 300;
const rowHeight = 30;
const axisHeight = 16;
/** Between two versions, so that a change is visible. */
const gap = 1;
/** So is a version that ran for minutes. */
const leastWidth = 1.5;

interface TimelineProps {
  ctx: PageContext;
  /** Its services are named. */
  is_group: boolean;
  /** Newest first. */
  spans: readonly VersionSpanView[];
  /** The first instant that is drawn. */
  since: number;
}

function versionOf(ctx: PageContext, { reference, tag, digest }: VersionSpanView): string {
  if (reference === null) return texts(ctx).timeline.absent;
  return tag ?? (digest === null ? reference : shortDigest(digest));
}

/** Which version ran when, and why it changed: drawn for the last 30 days, and as a list. */
export function Timeline({ ctx, is_group, spans, since }: TimelineProps) {
  const t = texts(ctx).timeline;
  if (spans.length === 0) return null;
  return (
    <Section id="timeline" title={t.title} aside={t.lead}>
      <Panel>
        <Strips ctx={ctx} spans={spans} since={since} is_group={is_group} />
      </Panel>
      <Table
        ctx={ctx}
        caption={t.title}
        columns={[
          { key: "version", title: texts(ctx).common.version, grows: true },
          ...(is_group ? [{ key: "service", title: texts(ctx).executors.service, grows: true } as const] : []),
          { key: "from", title: t.from },
          { key: "until", title: t.until },
          { key: "cause", title: t.cause, grows: true },
        ]}
        rows={spans.slice(0, shownRows).map((span, place) => ({
          id: `version-${place}`,
          cells: {
            version: <Version>{versionOf(ctx, span)}</Version>,
            service: span.service,
            from: <Time ctx={ctx} at={span.from_at} form="short" />,
            until: <Time ctx={ctx} at={span.until_at} form="short" empty={t.now} />,
            cause:
              span.run_id === null ? (
                t.causes[span.cause]
              ) : (
                <Link ctx={ctx} href={`/runs/${span.run_id}`}>
                  {t.causes[span.cause]}
                </Link>
              ),
          },
        }))}
      />
    </Section>
  );
}

/** A strip for each service. Drawn by attributes alone: the CSP allows no inline style. */
function Strips({ ctx, spans, since, is_group }: TimelineProps) {
  const t = texts(ctx).timeline;
  const services = [...Map.groupBy(spans, ({ service }) => service)].slice(0, shownServices);
  const x = (at: number) => ((Math.min(Math.max(at, since), ctx.now) - since) / Math.max(ctx.now - since, 1)) * width;
  const height = services.length * rowHeight + axisHeight;
  const first = formatDate(ctx, since);
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
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={t.summary(services.length, first)}>
        {services.map(([service, own], row) => {
          const top = row * rowHeight;
          const [latest] = own;
          return (
            <>
              {is_group ? (
                <text class="chart-value" x={0} y={top + 11}>
                  {cut(service)}
                </text>
              ) : null}
              {latest === undefined ? null : (
                <text class="chart-value" x={width} y={top + 11} text-anchor="end">
                  {cut(versionOf(ctx, latest))}
                </text>
              )}
              <rect class="chart-room" x={0} y={top + 15} width={width} height={10} />
              {own.map((span, place) => {
                const [begin, end] = [x(span.from_at), x(span.until_at ?? ctx.now)];
                if ((span.until_at ?? ctx.now) <= since || span.reference === null) return null;
                const tone = span.cause === "outside" ? "outside" : (own.length - place) % 2 === 0 ? "other" : "plain";
                return (
                  <rect
                    class={`chart-${tone}`}
                    x={begin.toFixed(1)}
                    y={top + 15}
                    width={Math.max(end - begin - gap, leastWidth).toFixed(1)}
                    height={10}
                  >
                    <title>{`${versionOf(ctx, span)}, ${t.causes[span.cause]}`}</title>
                  </rect>
                );
              })}
            </>
          );
        })}
        <text class="chart-value" x={0} y={height - 3}>
          {first}
        </text>
        <text class="chart-value" x={width} y={height - 3} text-anchor="end">
          {formatDate(ctx, ctx.now)}
        </text>
      </svg>
    </figure>
  );
}

/** Long ones stand in the list in full. */
function cut(text: string): string {
  return text.length > 22 ? `${text.slice(0, 21)}…` : text;
}
