import type { VersionSpanView } from "../../src/executors/schema.ts";
import { Link } from "../components/link.tsx";
import { Panel, Section } from "../components/page-header.tsx";
import { Time } from "../components/time.tsx";
import { shortDigest, Version } from "../components/version.tsx";
import { formatDate } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** Rows of the list; the API has all of them. */
const shownRows = 20;
/** Services in the drawing: those that changed last. */
const shownServices = 8;
const drawnMs = 30 * 86_400_000;

/** The units of a strip, which is as wide as its place. */
const width = 1_000;
/** Between two versions, so that a change is visible. */
const gap = 2;
/** So is a version that ran for minutes. */
const leastWidth = 4;

interface TimelineProps {
  ctx: PageContext;
  /** Its services are named. */
  is_group: boolean;
  /** Newest first. */
  spans: readonly VersionSpanView[];
}

function versionOf(ctx: PageContext, { reference, tag, digest }: VersionSpanView): string {
  if (reference === null) return texts(ctx).timeline.absent;
  return tag ?? (digest === null ? reference : shortDigest(digest));
}

/** Which version ran when, and why it changed: drawn for the last 30 days, and as a list. */
export function Timeline({ ctx, is_group, spans }: TimelineProps) {
  const t = texts(ctx).timeline;
  if (spans.length === 0) return null;
  return (
    <Section id="timeline" title={t.title}>
      <Panel>
        <Strips ctx={ctx} spans={spans} is_group={is_group} />
        <ol class="changes">
          {spans.slice(0, shownRows).map((span) => (
            <li>
              {is_group ? <span>{span.service}</span> : null}
              <Version>{versionOf(ctx, span)}</Version>
              <span class="quiet">
                <Time ctx={ctx} at={span.from_at} form="short" /> –{" "}
                <Time ctx={ctx} at={span.until_at} form="short" empty={t.now} />
              </span>
              {span.run_id === null ? (
                <span>{t.causes[span.cause]}</span>
              ) : (
                <Link ctx={ctx} href={`/runs/${span.run_id}`}>
                  {t.causes[span.cause]}
                </Link>
              )}
            </li>
          ))}
        </ol>
      </Panel>
    </Section>
  );
}

/** A strip for each service, with what it runs now. The list has the same in words, so that screen readers pass the drawing over. */
function Strips({ ctx, spans, is_group }: TimelineProps) {
  const t = texts(ctx).timeline;
  const since = ctx.now - drawnMs;
  const services = [...Map.groupBy(spans, ({ service }) => service)].slice(0, shownServices);
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
      {services.map(([service, own]) => (
        <div class="strip">
          <div>
            {is_group ? <span>{service}</span> : null}
            {own.slice(0, 1).map((latest) => (
              <Version>{versionOf(ctx, latest)}</Version>
            ))}
          </div>
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
