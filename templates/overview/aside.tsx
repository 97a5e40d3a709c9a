import type { NextWindow, StatsView } from "../../src/stats/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Chart, Charts } from "../components/chart.tsx";
import { Facts } from "../components/facts.tsx";
import { Link } from "../components/link.tsx";
import { Panel, Section } from "../components/page-header.tsx";
import { Meter } from "../components/progress.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { Duration, Time } from "../components/time.tsx";
import { openingStart } from "../executors/window-words.ts";
import { formatClock, formatDate, formatSoon } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** What a host allows one credential, by its latest responses. */
export interface Budget {
  host: string;
  /** Null without a credential. */
  credential: string | null;
  limit: number | null;
  remaining: number | null;
  reset_at: number | null;
  blocked_until: number | null;
}

interface AsideProps {
  ctx: PageContext;
  stats: StatsView;
  budgets: readonly Budget[];
}

export function OverviewAside({ ctx, stats, budgets }: AsideProps) {
  const t = texts(ctx).overview;
  return (
    <>
      <LastDays ctx={ctx} stats={stats} />
      {stats.windows.length === 0 ? null : (
        <Section title={t.next_windows}>
          <Rows>
            {stats.windows.map((window) => (
              <WindowRow ctx={ctx} window={window} />
            ))}
          </Rows>
        </Section>
      )}
      {budgets.length === 0 ? null : (
        <Section title={t.request_budgets}>
          <Rows>
            {budgets.map((budget) => (
              <BudgetRow ctx={ctx} budget={budget} />
            ))}
          </Rows>
        </Section>
      )}
      {stats.setup.has_executor && !stats.setup.has_notifier ? (
        <Section title={t.setup.no_notifiers}>
          <Panel>
            <p class="meta">{t.setup.notifier_text}</p>
            <p>
              <LinkButton ctx={ctx} href="/notifiers/new" small>
                {t.setup.notifier_action}
              </LinkButton>
            </p>
          </Panel>
        </Section>
      ) : null}
    </>
  );
}

function LastDays({ ctx, stats }: { ctx: PageContext; stats: StatsView }) {
  const t = texts(ctx);
  const series = [
    { title: t.charts.succeeded, tone: "plain" },
    { title: t.charts.failed, tone: "failed" },
  ] as const;
  // Skipped runs changed nothing and do not count.
  const days = stats.days.map((day) => ({ at: day.starts_at, values: [day.succeeded, day.failed + day.degraded] }));
  const good = days.reduce((sum, { values: [succeeded = 0] }) => sum + succeeded, 0);
  const total = good + days.reduce((sum, { values: [, failed = 0] }) => sum + failed, 0);
  const labelled = ({ at, values }: { at: number; values: readonly number[] }) => ({
    label: formatDate(ctx, at),
    values,
  });
  return (
    <Section title={t.overview.last_days}>
      <Panel>
        <Charts>
          <Chart
            ctx={ctx}
            title={t.charts.checks_by_day}
            series={series}
            points={stats.check_days.map((day) => labelled({ at: day.starts_at, values: [day.succeeded, day.failed] }))}
            point_title={t.charts.day}
            empty={t.charts.no_checks}
          />
          <Chart
            ctx={ctx}
            title={t.charts.runs_by_day}
            series={series}
            points={days.map(labelled)}
            point_title={t.charts.day}
            empty={t.charts.no_runs}
          />
        </Charts>
        {total === 0 ? null : (
          <Facts
            items={[
              [
                t.overview.runs,
                <Link ctx={ctx} href="/runs">
                  {good === total ? t.overview.runs_all_good(total) : t.overview.runs_good(total, good)}
                </Link>,
              ],
              [
                t.overview.median_downtime,
                stats.median_downtime_ms === null ? null : <Duration ctx={ctx} ms={stats.median_downtime_ms} />,
              ],
            ]}
          />
        )}
      </Panel>
    </Section>
  );
}

function WindowRow({ ctx, window }: { ctx: PageContext; window: NextWindow }) {
  const t = texts(ctx);
  return (
    <Row
      ctx={ctx}
      title={
        window.is_open
          ? t.overview.window_open(formatClock(ctx, window.closes_at))
          : t.executors.window_opening(openingStart(ctx, window), formatClock(ctx, window.closes_at))
      }
      meta={[
        window.is_open ? null : <Time ctx={ctx} at={window.opens_at} />,
        t.overview.window_executors(window.executors),
        window.updates === 0 ? null : t.overview.window_updates(window.updates),
      ]}
    />
  );
}

function BudgetRow({ ctx, budget }: { ctx: PageContext; budget: Budget }) {
  const t = texts(ctx).overview;
  const { limit, remaining, reset_at, blocked_until } = budget;
  const isBlocked = blocked_until !== null && blocked_until > ctx.now;
  const used = limit === null || remaining === null ? null : Math.max(0, limit - remaining);
  const words = [
    used === null || limit === null ? null : t.budget_used(used, limit),
    isBlocked
      ? t.budget_blocked(formatSoon(ctx, blocked_until))
      : reset_at === null
        ? null
        : t.budget_free(formatSoon(ctx, reset_at)),
  ].filter((word) => word !== null);
  return (
    <Row
      ctx={ctx}
      title={budget.host}
      fact={<small class="quiet">{budget.credential ?? t.anonymous}</small>}
      meta={used === null ? words : undefined}
    >
      {used === null || limit === null ? null : (
        <Meter label={budget.host} value={used} max={limit} tone={isBlocked ? "failed" : undefined}>
          {words.join(" · ")}
        </Meter>
      )}
    </Row>
  );
}
