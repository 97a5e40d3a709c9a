import type { DayOfRuns, NextWindow, StatsView } from "../../src/stats/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Facts } from "../components/facts.tsx";
import { Link } from "../components/link.tsx";
import { Panel, Section } from "../components/page-header.tsx";
import { Bars, type Day, Meter } from "../components/progress.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { Duration, Time } from "../components/time.tsx";
import { openingStart } from "../executors/window-words.ts";
import { formatClock, formatShort } from "../format.ts";
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
        <Section title={t.setup.nobody_told}>
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

function dayOf(day: DayOfRuns): Day {
  // Skipped runs changed nothing and do not count.
  return { at: day.starts_at, good: day.succeeded, failed: day.failed + day.degraded };
}

function LastDays({ ctx, stats }: { ctx: PageContext; stats: StatsView }) {
  const t = texts(ctx).overview;
  const days = stats.days.map(dayOf);
  const good = days.reduce((sum, day) => sum + day.good, 0);
  const total = good + days.reduce((sum, day) => sum + day.failed, 0);
  return (
    <Section title={t.last_days}>
      {total === 0 ? (
        <Panel>
          <p class="meta">{t.no_runs}</p>
        </Panel>
      ) : (
        <Panel>
          <Bars ctx={ctx} title={t.chart} days={days} describe={(day) => t.day_words(day.good, day.failed)} />
          <Facts
            items={[
              [
                t.runs,
                <Link ctx={ctx} href="/runs">
                  {good === total ? t.runs_all_good(total) : t.runs_good(total, good)}
                </Link>,
              ],
              [
                t.median_downtime,
                stats.median_downtime_ms === null ? null : <Duration ctx={ctx} ms={stats.median_downtime_ms} />,
              ],
            ]}
          />
        </Panel>
      )}
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
  const at = (instant: number) =>
    instant - ctx.now < 86_400_000 ? formatClock(ctx, instant) : formatShort(ctx, instant);
  const used = limit === null || remaining === null ? null : Math.max(0, limit - remaining);
  const words = [
    used === null || limit === null ? null : t.budget_used(used, limit),
    isBlocked ? t.budget_blocked(at(blocked_until)) : reset_at === null ? null : t.budget_free(at(reset_at)),
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
