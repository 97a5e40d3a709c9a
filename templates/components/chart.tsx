import type { Child } from "hono/jsx";
import { formatNumber } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Icon } from "./icon.tsx";

/** One place of a chart: a day, an hour, a run. */
export interface Point {
  /** Its name in the table, and below the chart: "20 Nov". */
  label: string;
  /** Below the chart, where the name may be longer than there is room. */
  short?: string;
  /** In the order of the series; a point without a value has zeros. */
  values: readonly number[];
}

/**
 * What a chart counts. Failures are drawn on top, in their own colour and narrower, so that they can be distinguished without colours too.
 */
export interface Series {
  title: string;
  tone: "plain" | "failed";
}

export interface ChartProps {
  ctx: PageContext;
  /** What it shows: "Checks by day". */
  title: string;
  /** One or two. */
  series: readonly Series[];
  /** Oldest first. */
  points: readonly Point[];
  /** The heading of the table's first column: "Day". */
  point_title: string;
  /** A value in words; by default the number. */
  format?: (value: number) => string;
  /** A value that must not be exceeded: a line across the chart. */
  limit?: { title: string; value: number } | undefined;
  /** Instead of the chart when every value is zero. */
  empty: string;
  /** Where the axis may end, ascending, such as round durations; by default at a round number. */
  steps?: readonly number[] | undefined;
}

/** The drawing's units are pixels at the usual width of a panel. */
const width = 300;
const top = 8;
const bottom = 92;
const height = 108;
/** A few values do not fill the chart. */
const maxBarWidth = 16;
/** Where the bars begin, right of the values. */
const left = 40;

/** The end of the axis: the least of `steps`, or else of the round numbers, that holds the highest value. Its half is round too. */
export function axisEnd(highest: number, steps: readonly number[] = []): number {
  const step = steps.find((each) => each >= highest);
  if (step !== undefined) return step;
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, 1)));
  const ends = power === 1 ? [2, 4, 6, 10] : [1, 2, 4, 6, 10];
  return ends.map((end) => end * power).find((end) => end >= highest) ?? 20 * power;
}

/** Bars with a value axis, and the same numbers in a table that unfolds. Drawn by attributes alone: the CSP allows no inline style. */
export function Chart(props: ChartProps) {
  const { ctx, title, series, points, point_title, empty, limit, steps } = props;
  const format = props.format ?? ((value: number) => formatNumber(ctx.language, value));
  const t = texts(ctx).common.chart;
  const totals = points.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const highest = Math.max(0, ...totals);
  if (highest === 0) {
    return (
      <figure class="chart">
        <figcaption>{title}</figcaption>
        <p class="meta">{empty}</p>
      </figure>
    );
  }
  const end = axisEnd(Math.max(highest, limit === undefined || limit.value > highest * 4 ? 0 : limit.value), steps);
  const y = (value: number) => bottom - (Math.min(value, end) / end) * (bottom - top);
  const step = (width - left) / points.length;
  const barWidth = Math.min(Math.max(step * 0.75, 1), maxBarWidth);
  const [first, last] = [points[0], points.at(-1)];
  const ends = new Set([first, last].map((point) => point?.short ?? point?.label ?? ""));
  return (
    <figure class="chart">
      <figcaption>
        {title}
        {series.length < 2 && limit === undefined ? null : <Legend series={series} limit={limit} format={format} />}
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={t.summary(title, first?.label ?? "", last?.label ?? "", format(highest))}
      >
        {[0, end / 2, end].map((value) => (
          <>
            <line class="chart-line" x1={left} x2={width} y1={y(value)} y2={y(value)} />
            <text class="chart-value" x={left - 5} y={y(value) + 3.5} text-anchor="end">
              {format(value)}
            </text>
          </>
        ))}
        {points.map((point, index) => (
          <g>
            <title>{`${point.label}: ${describe(series, point, format)}`}</title>
            <rect class="chart-room" x={at(left + index * step)} y={top} width={at(step)} height={bottom - top} />
            {bars(point.values, y).map(([from, to], place) => (
              <rect
                class={`chart-${series[place]?.tone}`}
                x={at(left + index * step + (step - barWidth * share(series[place])) / 2)}
                y={at(to)}
                width={at(barWidth * share(series[place]))}
                height={at(from - to)}
              />
            ))}
          </g>
        ))}
        {limit === undefined || limit.value > end ? null : (
          <line class="chart-limit" x1={left} x2={width} y1={at(y(limit.value))} y2={at(y(limit.value))} />
        )}
        {[...ends].map((end, place) => (
          <text
            class="chart-value"
            x={place === 0 ? left : width}
            y={height - 2}
            text-anchor={place === 0 ? "start" : "end"}
          >
            {end}
          </text>
        ))}
      </svg>
      <details class="chart-numbers">
        <summary>
          <Icon name="chevron-right" />
          {t.numbers}
          <span class="hidden">: {title}</span>
        </summary>
        <table>
          <caption class="hidden">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{point_title}</th>
              {series.map((each) => (
                <th scope="col" class="end">
                  {each.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.toReversed().map((point) => (
              <tr>
                <th scope="row">{point.label}</th>
                {series.map((_, place) => (
                  <td class="end">{format(point.values[place] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** The signs of a chart with their meaning. */
function Legend({
  series,
  limit,
  format,
}: Pick<ChartProps, "series" | "limit"> & { format: (value: number) => string }) {
  return (
    <span class="chart-legend">
      {series.map((each) => (
        <span>
          <svg class="chart-sign" viewBox="0 0 10 10" aria-hidden="true">
            <rect class={`chart-${each.tone}`} x={5 - 5 * share(each)} width={10 * share(each)} height={10} />
          </svg>
          {each.title}
        </span>
      ))}
      {limit === undefined ? null : (
        <span>
          <svg class="chart-sign" viewBox="0 0 10 10" aria-hidden="true">
            <line class="chart-limit" x1={0} x2={10} y1={5} y2={5} />
          </svg>
          {limit.title} {format(limit.value)}
        </span>
      )}
    </span>
  );
}

/** How much of a bar's width a series takes. */
function share({ tone }: Series = { title: "", tone: "plain" }): number {
  return tone === "failed" ? 0.5 : 1;
}

/** From where to where each value is drawn, one on top of the other; what is not zero is visible. */
function bars(values: readonly number[], y: (value: number) => number): (readonly [number, number])[] {
  let below = 0;
  return values.map((value) => {
    const from = y(below);
    below += value;
    return [from, value === 0 ? from : Math.min(y(below), from - 1.5)] as const;
  });
}

function describe(series: readonly Series[], point: Point, format: (value: number) => string): string {
  return series.map((each, place) => `${each.title} ${format(point.values[place] ?? 0)}`).join(", ");
}

function at(value: number): string {
  return value.toFixed(1);
}

/** Several charts side by side, as far as there is room. */
export function Charts({ children }: { children: Child }) {
  return <div class="charts">{children}</div>;
}
