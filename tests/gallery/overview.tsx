import { LinkButton } from "../../templates/components/button.tsx";
import { Chart } from "../../templates/components/chart.tsx";
import { Facts } from "../../templates/components/facts.tsx";
import { Live } from "../../templates/components/live.tsx";
import { Columns, PageHeader, Panel, Section } from "../../templates/components/page-header.tsx";
import { Meter, Progress } from "../../templates/components/progress.tsx";
import { Row, Rows } from "../../templates/components/rows.tsx";
import { State } from "../../templates/components/state.tsx";
import { Time } from "../../templates/components/time.tsx";
import { FromTo, Version } from "../../templates/components/version.tsx";
import { formatDate } from "../../templates/format.ts";
import { Layout } from "../../templates/layout.tsx";
import { type PageContext, url } from "../../templates/page.ts";
import { texts } from "../../templates/texts/texts.ts";
import { sayIn } from "./sample-context.ts";

const hour = 60 * 60_000;

export function OverviewSample({ ctx }: { ctx: PageContext }) {
  const say = sayIn(ctx);
  const button = (en: string, zh: string) => (
    <LinkButton ctx={ctx} href="/x">
      {say(en, zh)}
    </LinkButton>
  );
  const days = Array.from({ length: 30 }, (_, index) => ({
    label: formatDate(ctx, ctx.now - (29 - index) * 24 * hour),
    values: [(index * 7) % 6, index % 9 === 4 ? 1 : 0],
  }));
  const { charts } = texts(ctx);
  return (
    <Layout ctx={ctx} title={texts(ctx).common.overview} section="overview" live>
      <PageHeader
        ctx={ctx}
        title={say("1 source failing, 3 updates to review", "1 个来源失败，3 个更新待处理")}
        lead={<Time ctx={ctx} at={ctx.now} form="short" />}
      />
      <Columns
        aside={
          <>
            <Section title={texts(ctx).overview.last_days}>
              <Panel>
                <Chart
                  ctx={ctx}
                  title={charts.runs_by_day}
                  series={[
                    { title: charts.succeeded, tone: "plain" },
                    { title: charts.failed, tone: "failed" },
                  ]}
                  points={days}
                  point_title={charts.day}
                  empty={charts.no_runs}
                />
                <Facts
                  items={[
                    [say("Runs", "运行"), say("86, 84 good", "86 次，成功 84 次")],
                    [say("Median downtime", "停机中位数"), "0.38 s"],
                    [say("Behind upstream", "落后上游"), say("1.2 days", "1.2 天")],
                  ]}
                />
              </Panel>
            </Section>
            <Section title={texts(ctx).overview.request_budgets}>
              <Rows>
                <Row ctx={ctx} title="api.github.com" fact={<small>{say("no token", "无令牌")}</small>}>
                  <Meter label="api.github.com" value={55} max={60}>
                    {say("55 of 60 this hour · next free 21:31", "本小时已用 55 / 60 · 21:31 恢复")}
                  </Meter>
                </Row>
                <Row ctx={ctx} title="Docker Hub" fact={<small>admin</small>}>
                  <Meter label="Docker Hub" value={36} max={200}>
                    {say("36 of 200 in 6 h", "6 小时内 36 / 200")}
                  </Meter>
                </Row>
              </Rows>
            </Section>
          </>
        }
      >
        <Section
          title={texts(ctx).overview.needs_you}
          aside={<a href={url(ctx, "/runs")}>{say("Review all 3", "全部查看")}</a>}
        >
          <Rows>
            <Row
              ctx={ctx}
              lead={
                <State ctx={ctx} tone="attention">
                  {say("Breaking", "重大变更")}
                </State>
              }
              title="immich"
              href="/executors/immich"
              fact={<FromTo ctx={ctx} from="1.142.1" to="2.0.0" />}
              meta={[
                say("compose group on nas", "nas 上的 compose 组"),
                <Time ctx={ctx} at={ctx.now - 50 * hour} />,
                say("“Requires the new database image before start”", "“启动前需要新的数据库镜像”"),
              ]}
              action={
                <LinkButton ctx={ctx} href="/x" kind="main">
                  {say("Review", "查看")}
                </LinkButton>
              }
            />
            <Row
              ctx={ctx}
              lead={<State ctx={ctx} tone="update" />}
              title="traefik"
              href="/executors/traefik"
              fact={<FromTo ctx={ctx} from="3.6.23" to="3.6.24" />}
              meta={[
                "edge on docker-1",
                <Time ctx={ctx} at={ctx.now - 5 * hour} />,
                say("would be down about 0.4 s", "预计停机约 0.4 秒"),
              ]}
              action={button("Review", "查看")}
            />
            <Row
              ctx={ctx}
              lead={
                <State ctx={ctx} tone="update">
                  {texts(ctx).events.republish}
                </State>
              }
              title="postgres"
              href="/executors/postgres"
              fact={
                <>
                  <Version>17.6</Version> <FromTo ctx={ctx} from="sha256:7b1f0c5aa0b5" to="sha256:c04ea9d10b3e" />
                </>
              }
              meta={["db on nas", say("same tag, new build", "同一标签，新的构建")]}
              action={button("Review", "查看")}
            />
            <Row
              ctx={ctx}
              lead={<State ctx={ctx} tone="failed" />}
              title="paperless-ngx-with-a-very-long-name-that-somebody-really-gave-to-a-container"
              href="/runs/1"
              fact={<Version tone="old">2.18.4</Version>}
              meta={[
                say("update to 3.0.5 failed its health check", "更新到 3.0.5 时健康检查失败"),
                say("restored in 1.1 s", "1.1 秒内恢复"),
              ]}
              action={button("See why", "查看原因")}
            />
            <Row
              ctx={ctx}
              lead={
                <State ctx={ctx} tone="unknown">
                  {say("Unknown, 9 h", "未知，9 小时")}
                </State>
              }
              title="gitea"
              href="/trackers/gitea"
              meta={[
                say("registry returned 401", "仓库返回 401"),
                say("last success today 12:03", "最近一次正常响应：今天 12:03"),
              ]}
              action={button("Open source", "打开来源")}
            />
          </Rows>
        </Section>
        <Section title={texts(ctx).overview.going_on}>
          <Rows>
            <Row
              ctx={ctx}
              lead={
                <State ctx={ctx} tone="running">
                  {say("Updating", "更新中")}
                </State>
              }
              title="home-assistant"
              href="/runs/2"
              fact={<FromTo ctx={ctx} from="2026.11.1" to="2026.11.2" />}
              action={
                <LinkButton ctx={ctx} href="/runs/2" kind="bare">
                  {say("Watch", "查看进度")}
                </LinkButton>
              }
            >
              <Progress label="home-assistant" value={412} max={580}>
                {say("Pulling, 412 of 580 MB", "正在拉取，412 / 580 MB")}
              </Progress>
            </Row>
            <Row
              ctx={ctx}
              lead={<State ctx={ctx} tone="quiet" />}
              title="vaultwarden"
              fact={<FromTo ctx={ctx} from="1.37.1" to="1.37.2" />}
              meta={[say("window opens Saturday 02:00", "窗口周六 02:00 开启")]}
            />
          </Rows>
        </Section>
      </Columns>
      <Live ctx={ctx} id="live" events="/events" poll="/events?poll" />
    </Layout>
  );
}
