import type { ExecutorHistory } from "../../src/stats/schema.ts";
import { Chart } from "../components/chart.tsx";
import { Section } from "../components/page-header.tsx";
import { formatDate, formatDuration } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
/** Ends of an axis of durations: their halves are round too. */
const durations = [
  ...[second, 2 * second, 4 * second, 10 * second, 20 * second, minute, 2 * minute, 4 * minute, 10 * minute],
  ...[20 * minute, hour, 2 * hour, 4 * hour, 12 * hour, day, 2 * day, 4 * day, 10 * day, 20 * day, 60 * day, 120 * day],
  ...[240 * day, 400 * day, 1_000 * day, 2_000 * day, 4_000 * day, 10_000 * day],
];

interface ExecutorChartsProps {
  ctx: PageContext;
  history: ExecutorHistory;
  /** False where a run does not stop what it updates. */
  has_downtime: boolean;
}

/** What the executor did on each of the last 30 days, and how soon its updates followed upstream. */
export function ExecutorCharts({ ctx, history, has_downtime }: ExecutorChartsProps) {
  const t = texts(ctx).charts;
  const duration = (ms: number) => (ms === 0 ? "0" : formatDuration(ctx.language, ms));
  const days = history.days.map((each) => ({ ...each, label: formatDate(ctx, each.starts_at) }));
  const hasRun = days.some(({ succeeded, failed, downtime_ms }) => succeeded + failed + downtime_ms > 0);
  if (!hasRun && history.lags.length === 0) {
    return (
      <Section title={t.last_days}>
        <p class="meta">{t.no_runs}</p>
      </Section>
    );
  }
  return (
    <Section title={t.last_days}>
      <Chart
        ctx={ctx}
        title={t.runs_by_day}
        series={[
          { title: t.succeeded, tone: "plain" },
          { title: t.failed, tone: "failed" },
        ]}
        points={days.map(({ label, succeeded, failed }) => ({ label, values: [succeeded, failed] }))}
        point_title={t.day}
        empty={t.no_runs}
      />
      {has_downtime ? (
        <Chart
          ctx={ctx}
          title={t.downtime_by_day}
          series={[{ title: t.downtime, tone: "plain" }]}
          points={days.map(({ label, downtime_ms }) => ({ label, values: [downtime_ms] }))}
          point_title={t.day}
          format={duration}
          steps={durations}
          empty={t.no_downtime}
        />
      ) : null}
      <Chart
        ctx={ctx}
        title={t.lag}
        series={[{ title: t.after_release, tone: "plain" }]}
        points={history.lags.map(({ ended_at, tag, lag_ms }) => ({
          label: `${tag} · ${formatDate(ctx, ended_at)}`,
          short: formatDate(ctx, ended_at),
          values: [lag_ms],
        }))}
        point_title={t.update}
        format={duration}
        steps={durations}
        empty={t.no_lag}
      />
    </Section>
  );
}
