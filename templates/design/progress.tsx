import type { VersionSpanView } from "../../src/executors/version-schema.ts";
import { Chart, Charts } from "../components/chart.tsx";
import { DiffView } from "../components/diff.tsx";
import { Panel, Section } from "../components/page-header.tsx";
import { Meter, Progress } from "../components/progress.tsx";
import { Steps } from "../components/steps.tsx";
import { Timeline } from "../executors/timeline.tsx";
import { formatDate, formatNumber } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

const day = 86_400_000;

/** Services that were updated, rolled back, changed by others and removed, the newest change first. */
export function spansAt(now: number): VersionSpanView[] {
  const span = (
    service: string,
    tag: string | null,
    cause: VersionSpanView["cause"],
    [from, until]: readonly [number, number | null],
  ): VersionSpanView => ({
    ...{ service, tag, cause, digest: null, reference: tag === null ? null : `registry.example/${service}:${tag}` },
    run_id: cause === "run" || cause === "rolled_back" ? "run" : null,
    from_at: now - from * day,
    until_at: until === null ? null : now - until * day,
  });
  return [
    span("web", "3.0.5", "run", [2, null]),
    span("web", "2.18.4", "rolled_back", [11, 2]),
    span("worker", null, "outside", [5, null]),
    span("web", "3.0.4", "run", [11.5, 11]),
    span("database-with-a-long-name", "17.2-bookworm-2026-01-20-build.4711", "outside", [16, null]),
    span("database-with-a-long-name", "17.1-bookworm", "first_seen", [45, 16]),
    span("web", "2.18.4", "first_seen", [20, 11.5]),
    span("worker", "2.18.4", "first_seen", [20, 5]),
  ];
}

export function ProgressSamples({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).design;
  const { charts } = texts(ctx);
  const number = (value: number) => formatNumber(ctx.language, value);
  const started_at = ctx.now - 60_000;
  return (
    <>
      <Section title={t.steps}>
        <Steps
          ctx={ctx}
          steps={[
            { id: "plan", state: "done", title: t.step_plan, started_at, duration_ms: 300 },
            {
              id: "pull",
              state: "running",
              title: t.step_pull,
              started_at,
              content: (
                <Progress label={t.step_pull} value={412} max={580}>
                  {t.pulled}
                </Progress>
              ),
            },
            { id: "start", state: "failed", title: t.step_start, detail: t.sentence, started_at, duration_ms: 4_200 },
            { id: "undo", state: "undone", title: t.step_undo, started_at, duration_ms: 900 },
            { id: "health", state: "skipped", title: t.step_health, started_at: null },
            { id: "remove", state: "waiting", title: t.step_remove, started_at: null },
          ]}
        />
      </Section>
      <Section title={t.bars}>
        <Panel>
          <Progress label={t.waiting} value={0} max={null}>
            {t.waiting}
          </Progress>
          {[12, 50, 60].map((used) => (
            <Meter label={t.budget} value={used} max={60}>
              {`api.github.com: ${number(used)} / ${number(60)}`}
            </Meter>
          ))}
        </Panel>
      </Section>
      <Section title={t.days}>
        <Panel>
          <Charts>
            <Chart
              ctx={ctx}
              title={charts.runs_by_day}
              series={[
                { title: charts.succeeded, tone: "plain" },
                { title: charts.failed, tone: "failed" },
              ]}
              points={Array.from({ length: 30 }, (_, index) => ({
                label: formatDate(ctx, ctx.now - (29 - index) * day),
                values: [(index * 7) % 11, index % 9 === 0 ? 2 : 0],
              }))}
              point_title={charts.day}
              limit={{ title: charts.limit, value: 10 }}
              empty={charts.no_runs}
            />
            <Chart
              ctx={ctx}
              title={charts.downtime_by_day}
              series={[]}
              points={[]}
              point_title={charts.day}
              empty={charts.no_downtime}
            />
          </Charts>
        </Panel>
      </Section>
      <Timeline
        ctx={ctx}
        title={texts(ctx).timeline.title}
        runners={texts(ctx).executors.service}
        runnerOf={({ service }) => ({ id: service, name: service })}
        spans={spansAt(ctx.now)}
      />
      <Section title={t.diff}>
        <div class="stack">
          <DiffView
            ctx={ctx}
            carried={41}
            changes={[
              { field: "image", before: "paperless-ngx:2.18.4", after: "paperless-ngx:3.0.5" },
              { field: "Env.PAPERLESS_WORKERS", before: null, after: "2" },
              { field: "Labels.com.example.long", before: "a".repeat(120), after: null },
            ]}
          />
          <DiffView ctx={ctx} changes={[]} />
        </div>
      </Section>
    </>
  );
}
