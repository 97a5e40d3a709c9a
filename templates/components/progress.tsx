import type { Child } from "hono/jsx";
import { formatDate, formatNumber } from "../format.ts";
import { classes, type PageContext, type Tone } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** A share of the width as an SVG attribute: the CSP allows no inline style. */
function percent(value: number, max: number): string {
  return max <= 0 ? "0%" : `${Math.min(100, Math.max(0, (value / max) * 100)).toFixed(1)}%`;
}

interface ProgressProps {
  /** What is in progress, for assistive technology. */
  label: string;
  value: number;
  /** Null when the end is unknown: the bar then only shows activity. */
  max: number | null;
  /** The progress in words: "412 of 580 MB · 3 of 11 layers". */
  children?: Child;
  id?: string | undefined;
}

/** Measured progress, never a guess: without a known end pass `max={null}`. */
export function Progress({ label, value, max, children, id }: ProgressProps) {
  return (
    <div class="progress" id={id}>
      <svg
        class={classes("bar running", max === null && "endless")}
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={max ?? undefined}
        aria-valuenow={max === null ? undefined : value}
      >
        <rect class="bar-ground" width="100%" height="100%" />
        <rect class="bar-value" width={max === null ? "30%" : percent(value, max)} height="100%" />
      </svg>
      {children === undefined ? null : <p class="meta">{children}</p>}
    </div>
  );
}

interface MeterProps {
  /** The budget's owner: "api.github.com". */
  label: string;
  value: number;
  max: number;
  tone?: Tone | undefined;
  /** "55 of 60 this hour · next free 21:31" */
  children?: Child;
}

/** The used share of a budget; amber from 80 %, red at the end, unless `tone` overrides it. */
export function Meter({ label, value, max, tone, children }: MeterProps) {
  const share = max <= 0 ? 1 : value / max;
  const judged = tone ?? (share >= 1 ? "failed" : share >= 0.8 ? "attention" : "quiet");
  return (
    <div class="progress">
      <meter class="hidden" aria-label={label} min={0} max={max} value={value} />
      <svg class={classes("bar", judged)} aria-hidden="true">
        <rect class="bar-ground" width="100%" height="100%" />
        <rect class="bar-value" width={percent(value, max)} height="100%" />
      </svg>
      {children === undefined ? null : <p class="meta">{children}</p>}
    </div>
  );
}

export interface Day {
  /** Any instant of that day. */
  at: number;
  good: number;
  failed: number;
}

interface BarsProps {
  ctx: PageContext;
  title: string;
  /** Oldest first. */
  days: readonly Day[];
  /** The tooltip of a day: `(day) => "6 runs, 1 failed"`. */
  describe: (day: Day) => string;
}

const barWidth = 8;
const barStep = 10;
const barHeight = 48;

/** Counts by day, failures on top in their colour. Drawn with attributes only; readable as one sentence. */
export function Bars({ ctx, title, days, describe }: BarsProps) {
  const totals = days.map((day) => day.good + day.failed);
  const highest = Math.max(1, ...totals);
  const size = (count: number) => (count === 0 ? 0 : Math.max(2, (count / highest) * barHeight));
  const summary = texts(ctx).common.chart.summary(
    title,
    formatNumber(
      ctx.language,
      totals.reduce((sum, count) => sum + count, 0),
    ),
    formatNumber(ctx.language, Math.max(0, ...totals)),
  );
  const first = days[0];
  const last = days.at(-1);
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${days.length * barStep - (barStep - barWidth)} ${barHeight + 1}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={summary}
      >
        {days.map((day, index) => {
          const good = size(day.good);
          const failed = size(day.failed);
          const x = index * barStep;
          return (
            <g>
              <title>{`${formatDate(ctx, day.at)}: ${describe(day)}`}</title>
              <rect class="chart-room" x={x} y={0} width={barWidth} height={barHeight} />
              <rect class="chart-ground" x={x} y={barHeight} width={barWidth} height={1} />
              {good === 0 ? null : (
                <rect
                  class="chart-good"
                  x={x}
                  y={(barHeight - good).toFixed(1)}
                  width={barWidth}
                  height={good.toFixed(1)}
                />
              )}
              {failed === 0 ? null : (
                <rect
                  class="chart-failed"
                  x={x}
                  y={Math.max(0, barHeight - good - failed).toFixed(1)}
                  width={barWidth}
                  height={failed.toFixed(1)}
                />
              )}
            </g>
          );
        })}
      </svg>
      {first === undefined || last === undefined ? null : (
        <figcaption>
          <span>{formatDate(ctx, first.at)}</span>
          <span>{formatDate(ctx, last.at)}</span>
        </figcaption>
      )}
    </figure>
  );
}
