import type { EventView } from "../../src/notifications/schema.ts";
import type { StatsView } from "../../src/stats/schema.ts";
import { adoptPath } from "../adoption/props.ts";
import { LinkButton, SharedForm } from "../components/button.tsx";
import { Link } from "../components/link.tsx";
import { Banner, ToastPartial } from "../components/notice.tsx";
import { Columns, PageHeader, Section } from "../components/page-header.tsx";
import { UpdateSafe } from "../executors/bulk.tsx";
import { formatClock, formatDay } from "../format.ts";
import { Layout, ShellPartials } from "../layout.tsx";
import { type Notice, type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { type Budget, OverviewAside } from "./aside.tsx";
import { EventsByDay } from "./events.tsx";
import { headline, stepsLeft } from "./headline.ts";
import { InProgress } from "./in-progress.tsx";
import { Needs } from "./needs.tsx";
import { SetupSteps } from "./setup.tsx";

export interface OverviewProps {
  ctx: PageContext;
  stats: StatsView;
  /** Newest first. */
  events: readonly EventView[];
  budgets: readonly Budget[];
  /** The latest of executors whose last run failed. */
  snapshots: ReadonlyMap<string, string>;
  /** Connections with targets that had no executor when they were last listed. */
  unadopted?: readonly { id: string; name: string; count: number }[];
}

export function OverviewPage(props: OverviewProps) {
  const { ctx } = props;
  return (
    <Layout ctx={ctx} title={texts(ctx).common.overview} section="overview">
      <OverviewNow {...props} />
    </Layout>
  );
}

/** The response to the page's refresh every ten seconds: its content and the frame's numbers. */
export function OverviewRefresh(props: OverviewProps) {
  return (
    <>
      <OverviewNow {...props} />
      <ShellPartials ctx={props.ctx} section="overview" />
    </>
  );
}

/** The same after an action on one of its rows, with what was done. */
export function OverviewAnswer({ notice, ...props }: OverviewProps & { notice: Notice }) {
  return (
    <>
      <OverviewRefresh {...props} />
      <ToastPartial ctx={props.ctx} notice={notice} />
    </>
  );
}

/** In one line, however many connections they are on: what needs somebody comes first. */
function Unadopted({ ctx, unadopted }: { ctx: PageContext; unadopted: Required<OverviewProps>["unadopted"] }) {
  const t = texts(ctx).adoption;
  const [first, ...others] = unadopted;
  if (first === undefined) return null;
  const count = unadopted.reduce((sum, each) => sum + each.count, 0);
  const isOne = others.length === 0;
  return (
    <Banner
      tone="quiet"
      title={isOne ? t.new_on(count, first.name) : t.new_on_many(count, unadopted.length)}
      action={
        <LinkButton ctx={ctx} href={isOne ? adoptPath(first.id) : "/connections"}>
          {isOne ? t.open_new(count) : t.show_connections}
        </LinkButton>
      }
    />
  );
}

function OverviewNow({ ctx, stats, events, budgets, snapshots, unadopted = [] }: OverviewProps) {
  const t = texts(ctx).overview;
  const live = { "hx-get": url(ctx, "/"), "hx-trigger": "every 10s", "hx-swap": "outerMorph" };
  const isSettingUp = stepsLeft(stats) > 0;
  const { counts } = stats;
  const isInProgress = counts.active_runs + counts.waiting > 0;
  return (
    <div id="overview" data-calm {...live}>
      <PageHeader
        ctx={ctx}
        title={headline(ctx, stats)}
        lead={t.date(formatDay(ctx, ctx.now), formatClock(ctx, ctx.now))}
      />
      {isSettingUp ? null : <Unadopted ctx={ctx} unadopted={unadopted} />}
      <Columns aside={<OverviewAside ctx={ctx} stats={stats} budgets={budgets} />}>
        {isSettingUp ? (
          <Section title={t.setup.title}>
            <SetupSteps ctx={ctx} setup={stats.setup} />
          </Section>
        ) : null}
        {counts.needs > 0 ? (
          <Section title={t.needs_attention} aside={counts.updates > 0 ? <UpdateSafe ctx={ctx} small /> : undefined}>
            <Needs ctx={ctx} stats={stats} snapshots={snapshots} />
            <NeedsMore ctx={ctx} stats={stats} />
          </Section>
        ) : isSettingUp ? null : (
          <Section title={t.needs_attention}>
            <p class="panel nothing">{t.nothing_needed}</p>
          </Section>
        )}
        {isInProgress ? (
          <Section title={t.in_progress}>
            <InProgress ctx={ctx} stats={stats} />
          </Section>
        ) : null}
        {events.length > 0 ? (
          <EventsByDay ctx={ctx} events={events} />
        ) : isSettingUp ? null : (
          <Section title={t.happened}>
            <p class="panel nothing">{t.nothing_happened}</p>
          </Section>
        )}
      </Columns>
      <SharedForm ctx={ctx} target="#overview" />
    </div>
  );
}

/** Links to the full lists where they were cut. */
function NeedsMore({ ctx, stats }: { ctx: PageContext; stats: StatsView }) {
  const { counts, sources } = stats;
  const t = texts(ctx).overview;
  const cut = [
    [counts.bad_runs > stats.bad_runs.length, "/executors?state=failed", t.headline.runs(counts.bad_runs)],
    [
      counts.lost_targets > stats.lost_targets.length,
      "/executors?state=unknown",
      t.headline.targets(counts.lost_targets),
    ],
    [
      counts.failing_sources > stats.failing_sources.length,
      "/trackers?state=failing",
      t.status.failing(sources.failing, sources.total),
    ],
    [counts.updates > stats.updates.length, "/executors?state=update", t.headline.updates(counts.updates)],
  ] as const;
  if (!cut.some(([isCut]) => isCut)) return null;
  return (
    <p class="meta needs-more">
      {cut.map(([isCut, href, words]) =>
        isCut ? (
          <span>
            <Link ctx={ctx} href={href}>
              {words}
            </Link>
          </span>
        ) : null,
      )}
    </p>
  );
}
