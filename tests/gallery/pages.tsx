import * as v from "valibot";
import type { FieldErrors } from "../../src/errors.ts";
import { fields } from "../../src/forms/fields.ts";
import { plain } from "../../src/messages/message.ts";
import { ActionForm, Button, Csrf, LinkButton } from "../../templates/components/button.tsx";
import { Code } from "../../templates/components/code.tsx";
import { Confirm } from "../../templates/components/confirm.tsx";
import { DiffView } from "../../templates/components/diff.tsx";
import { Empty, NothingMatches } from "../../templates/components/empty.tsx";
import { Facts } from "../../templates/components/facts.tsx";
import { Form } from "../../templates/components/form.tsx";
import { SafeLink } from "../../templates/components/link.tsx";
import { Live } from "../../templates/components/live.tsx";
import { Filters, Pagination, Tabs } from "../../templates/components/navigation.tsx";
import { Banner, Partial, Toast } from "../../templates/components/notice.tsx";
import { Columns, PageHeader, Panel, Section } from "../../templates/components/page-header.tsx";
import { Bars, Meter, Progress } from "../../templates/components/progress.tsx";
import { Row, Rows } from "../../templates/components/rows.tsx";
import { Badge, State } from "../../templates/components/state.tsx";
import { Steps } from "../../templates/components/steps.tsx";
import { Table } from "../../templates/components/table.tsx";
import { Time } from "../../templates/components/time.tsx";
import { Digest, FromTo, Version } from "../../templates/components/version.tsx";
import { BareLayout, Layout } from "../../templates/layout.tsx";
import { type PageContext, type Tone, url } from "../../templates/page.ts";
import { texts } from "../../templates/texts/texts.ts";

/** Every component with sample data, for looking at and for the tests of the design; nothing of it is in the product. */
const minute = 60_000;
const hour = 60 * minute;

export function sampleContext(changes: globalThis.Partial<PageContext> = {}): PageContext {
  return {
    language: "en",
    theme: "system",
    time_zone: "Europe/Berlin",
    now: Date.UTC(2026, 10, 20, 20, 14, 0),
    base_path: "",
    user: { name: "admin" },
    csrf_token: "form-token",
    path: "/trackers?state=update",
    assets: (name) => `/assets/${name}`,
    notices: [],
    counts: { overview: 3 },
    status: { tone: "current", text: "48 sources checked 2 minutes ago", href: "/trackers" },
    ...changes,
  };
}

const digests = {
  old: "sha256:7b1f0c5aa0b54c1c8f2be0c5d2a37f0a1f7f1d2c3b4a59687766554433221100",
  new: "sha256:c04ea9d10b3e9a8d7c6b5a493827160594837261504938271605948372615049",
};

export function OverviewSample({ ctx }: { ctx: PageContext }) {
  const isChinese = ctx.language === "zh";
  const say = (en: string, zh: string) => (isChinese ? zh : en);
  const days = Array.from({ length: 30 }, (_, index) => ({
    at: ctx.now - (29 - index) * 24 * hour,
    good: (index * 7) % 6,
    failed: index % 9 === 4 ? 1 : 0,
  }));
  return (
    <Layout ctx={ctx} title={texts(ctx).common.overview} section="overview" live>
      <PageHeader
        ctx={ctx}
        title={say("3 updates to review, 1 source failing", "3 个更新待处理，1 个来源失败")}
        lead={<Time ctx={ctx} at={ctx.now} form="short" />}
      />
      <Columns
        aside={
          <>
            <Section title={texts(ctx).overview.last_days}>
              <Panel>
                <Bars
                  ctx={ctx}
                  title={texts(ctx).common.runs}
                  days={days}
                  describe={(day) => `${day.good} + ${day.failed}`}
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
              action={
                <LinkButton ctx={ctx} href="/x">
                  {say("Review", "查看")}
                </LinkButton>
              }
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
              action={
                <LinkButton ctx={ctx} href="/x">
                  {say("Review", "查看")}
                </LinkButton>
              }
            />
            <Row
              ctx={ctx}
              lead={<State ctx={ctx} tone="failed" />}
              title="paperless-ngx-with-a-very-long-name-that-somebody-really-gave-to-a-container"
              href="/runs/1"
              fact={<Version tone="old">2.18.4</Version>}
              meta={[
                say("update to 3.0.5 failed its health check", "更新到 3.0.5 时健康检查失败"),
                say("put back in 1.1 s", "1.1 秒内恢复"),
              ]}
              action={
                <LinkButton ctx={ctx} href="/x">
                  {say("See why", "查看原因")}
                </LinkButton>
              }
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
                say("registry answered 401", "仓库返回 401"),
                say("last success today 12:03", "最近一次正常应答：今天 12:03"),
              ]}
              action={
                <LinkButton ctx={ctx} href="/x">
                  {say("Open source", "打开来源")}
                </LinkButton>
              }
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

const trackerRows: readonly [string, string, string, string, Tone, string, number][] = [
  ["authentik", "GitHub, OCI, Helm", "2026.10.2", "2026.12.0-rc1", "current", "", 12],
  ["caddy", "GitHub, OCI", "2.10.2", "–", "current", "", 12],
  ["gitea", "Gitea, OCI", "1.26.0", "–", "unknown", "Unknown, 9 h", 540],
  ["home-assistant", "OCI", "2026.11.2", "2026.12.0b3", "running", "Updating", 3],
  ["immich", "GitHub, OCI", "2.0.0", "–", "attention", "Breaking update", 2],
  ["kube-prometheus-stack", "Helm", "79.2.1", "–", "update", "1 behind", 40],
  ["paperless", "GitHub, OCI", "3.0.5", "–", "failed", "Failed, put back", 5],
  [
    "postgres-with-a-very-long-name-of-a-tracker-that-wraps",
    "OCI",
    "17.6-bookworm-with-extensions",
    "18beta3",
    "update",
    "Republished",
    60,
  ],
];

export function TrackersSample({ ctx, count = trackerRows.length }: { ctx: PageContext; count?: number }) {
  const t = texts(ctx);
  const rows = Array.from(
    { length: count },
    (_, index) => trackerRows[index % trackerRows.length] ?? trackerRows[0],
  ).flatMap((row, index) => {
    if (row === undefined) return [];
    const [name, sources, stable, pre, tone, word, age] = row;
    return [
      {
        id: `tracker-${index}`,
        href: `/trackers/${name}`,
        muted: index === 1,
        cells: {
          name,
          sources: <span class="quiet">{sources}</span>,
          stable: <Version>{stable}</Version>,
          pre: <Version tone="old">{pre}</Version>,
          state: (
            <State ctx={ctx} tone={tone}>
              {word === "" || ctx.language === "zh" ? undefined : word}
            </State>
          ),
          checked: (
            <span class="quiet">
              <Time ctx={ctx} at={ctx.now - age * minute} />
            </span>
          ),
        },
        actions: (
          <ActionForm
            ctx={ctx}
            action="/check"
            kind="bare"
            small
            icon="refresh-cw"
            label={t.common.retry}
            target="#rows"
          />
        ),
      },
    ];
  });
  return (
    <Layout ctx={ctx} title={t.trackers.title} section="trackers">
      <PageHeader
        ctx={ctx}
        title={t.trackers.title}
        actions={
          <>
            <Button icon="refresh-cw">Check all</Button>
            <LinkButton ctx={ctx} href="/trackers/new" kind="main" icon="plus">
              {t.trackers.new_tracker}
            </LinkButton>
          </>
        }
      />
      <Filters
        ctx={ctx}
        search={{ name: "q", value: "", label: t.common.search, target: "#rows" }}
        groups={[
          {
            name: "state",
            title: "State",
            current: "update",
            options: [
              { title: t.common.all, value: null, count: 48 },
              { title: t.common.state.update, value: "update", count: 5 },
              { title: t.common.state.failed, value: "failed", count: 1 },
              { title: t.common.state.unknown, value: "unknown", count: 1 },
            ],
          },
          {
            name: "kind",
            title: "Source",
            current: null,
            options: [
              { title: t.common.all, value: null },
              { title: "GitHub", value: "github" },
              { title: "OCI", value: "oci" },
            ],
          },
        ]}
      />
      <div id="rows">
        {rows.length === 0 ? (
          <NothingMatches ctx={ctx} href="/trackers" />
        ) : (
          <Table
            ctx={ctx}
            caption={t.trackers.title}
            sorted="name"
            columns={[
              { key: "name", title: t.common.name, sort: "name", grows: true },
              { key: "sources", title: "Sources", wide_only: true },
              { key: "stable", title: "Stable" },
              { key: "pre", title: "Prerelease" },
              { key: "state", title: "State", sort: "state", card_label: "none" },
              { key: "checked", title: "Checked", align: "end", sort: "checked_at" },
            ]}
            rows={rows}
          />
        )}
      </div>
      <Pagination ctx={ctx} newer={null} older="abc" summary="1–8 of 48" />
    </Layout>
  );
}

export function RunSample({ ctx }: { ctx: PageContext }) {
  const at = ctx.now - 17 * hour;
  return (
    <Layout ctx={ctx} title="paperless" section="runs">
      <PageHeader
        ctx={ctx}
        parent={{ title: texts(ctx).runs.title, href: "/runs" }}
        title={
          <>
            paperless <FromTo ctx={ctx} from="2.18.4" to="3.0.5" />
          </>
        }
        state={
          <State ctx={ctx} tone="failed" solid>
            Failed, previous version running
          </State>
        }
        lead="Automatic, window Fri 02:00 to 04:00 · 3 min 22 s · down 1.1 s + 1.0 s"
        actions={
          <>
            <LinkButton ctx={ctx} href="/runs/1/retry" icon="rotate-ccw" opens_dialog>
              {texts(ctx).common.retry}
            </LinkButton>
            <LinkButton ctx={ctx} href="/executors/1">
              Open executor
            </LinkButton>
          </>
        }
      />
      <Banner tone="failed" title="The new container answered 503 for 180 s" action={<Button small>Rollback</Button>}>
        The previous container was put back at 03:15:31 and has answered on <code>/api/health</code> since.
      </Banner>
      <Columns
        aside={
          <Section title="Facts">
            <Panel>
              <Facts
                items={[
                  ["Executor", <a href={url(ctx, "/e")}>paperless</a>],
                  ["Runs on", "nas, Docker 29.1"],
                  ["Started by", "new release, window"],
                  ["Digest", <Digest ctx={ctx} value={digests.new} copy />],
                  [
                    "Release notes",
                    <SafeLink ctx={ctx} href="https://github.com/paperless-ngx/paperless-ngx/releases/tag/v3.0.5">
                      v3.0.5
                    </SafeLink>,
                  ],
                  ["Snapshot", <Time ctx={ctx} at={at} form="short" />],
                ]}
              />
            </Panel>
          </Section>
        }
      >
        <Section title="Timeline">
          <Steps
            ctx={ctx}
            steps={[
              {
                id: "s1",
                state: "done",
                title: "Plan checked against the container",
                detail: "unchanged since review, 41 settings compared",
                started_at: at,
                duration_ms: 84,
              },
              {
                id: "s2",
                state: "done",
                title: "Pulled ghcr.io/paperless-ngx/paperless-ngx:3.0.5",
                detail: "412 MB, 3 of 11 layers new",
                started_at: at + 200,
                duration_ms: 12_700,
              },
              {
                id: "s3",
                state: "done",
                title: "Old stopped, new started",
                detail: "down 1.1 s",
                started_at: at + 13_000,
                duration_ms: 1100,
              },
              {
                id: "s4",
                state: "failed",
                title: "Health: HTTP GET http://paperless:8000/api/health",
                detail: "36 attempts, last answer 503 “database migration pending”",
                started_at: at + 14_000,
                duration_ms: 187_000,
              },
              {
                id: "s5",
                state: "running",
                title: "Restoring the previous container",
                started_at: ctx.now - 4000,
                content: (
                  <Progress label="Pull" value={3} max={null}>
                    waiting for the engine
                  </Progress>
                ),
              },
              { id: "s6", state: "waiting", title: "Remove the new container", started_at: null },
            ]}
          />
        </Section>
        <Section title="Plan" aside="hash 5f0c91…">
          <DiffView
            ctx={ctx}
            carried={41}
            changes={[
              {
                field: "image",
                before: `ghcr.io/paperless-ngx/paperless-ngx:2.18.4@${digests.old}`,
                after: `ghcr.io/paperless-ngx/paperless-ngx:3.0.5@${digests.new}`,
              },
              { field: "Env.PAPERLESS_VERSION", before: "2.18.4", after: "3.0.5", reason: "set by the image" },
              { field: "Env.PAPERLESS_LEGACY", before: "1", after: null, reason: "no longer in the image" },
            ]}
          />
        </Section>
        <Section title="As a command">
          <Code
            ctx={ctx}
            what="command"
            text={
              "docker run -d --name paperless --restart unless-stopped \\\n  -p 8000:8000 ghcr.io/paperless-ngx/paperless-ngx:2.18.4"
            }
          />
        </Section>
      </Columns>
    </Layout>
  );
}

const channel = v.object({
  name: v.pipe(
    v.picklist(["stable", "prerelease"]),
    v.title("Channel"),
    v.metadata({ option_titles: { stable: "Stable", prerelease: "Prerelease" } }),
  ),
  include: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(512),
      v.title("Include pattern"),
      v.description("Regular expression, searched in the tag. Blank takes every version."),
      v.metadata({ code: true, placeholder: "^\\d+\\.\\d+\\.\\d+$" }),
    ),
    "",
  ),
});

const SampleInput = v.object({
  name: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(100),
    v.title("Tracker name"),
    v.description("Shown everywhere. Cannot be changed later."),
    v.metadata({ immutable: true }),
  ),
  description: v.optional(v.pipe(v.string(), v.title("Description"), v.metadata({ multiline: true })), ""),
  enabled: v.optional(
    v.pipe(v.boolean(), v.title("Enabled"), v.description("When off, scheduled checks leave it out.")),
    true,
  ),
  events: v.pipe(v.array(v.picklist(["new_release", "republish"])), v.title("Trigger events")),
  source: v.pipe(
    v.variant("kind", [
      v.object({
        kind: v.pipe(
          v.literal("oci"),
          v.title("Type"),
          v.metadata({ option_titles: { oci: "OCI registry", github: "GitHub" } }),
        ),
        image: v.pipe(
          v.string(),
          v.title("Image name"),
          v.description("As in a compose file. A pasted tag or digest is taken off."),
          v.metadata({ code: true, placeholder: "library/traefik" }),
        ),
        token: v.optional(v.pipe(v.string(), v.title("Token"), v.metadata({ secret: true }))),
        channels: v.pipe(v.array(channel), v.minLength(1), v.title("Channels")),
      }),
      v.object({
        kind: v.literal("github"),
        repository: v.pipe(v.string(), v.title("Repository"), v.metadata({ code: true })),
      }),
    ]),
    v.title("Source"),
  ),
  check_interval_minutes: v.optional(
    v.pipe(
      v.number(),
      v.minValue(1),
      v.maxValue(10080),
      v.title("Check interval (minutes)"),
      v.metadata({ advanced: true }),
    ),
    360,
  ),
  fetch_depth: v.optional(
    v.pipe(
      v.number(),
      v.minValue(1),
      v.maxValue(100),
      v.title("Versions per check"),
      v.description("Most versions fetched per check."),
      v.metadata({ advanced: true }),
    ),
    10,
  ),
  fallback: v.optional(v.pipe(v.boolean(), v.title("Release fallback"), v.metadata({ advanced: true })), false),
});

export const sampleValues = {
  name: "traefik",
  events: ["new_release"],
  source: { kind: "oci", image: "library/traefik", channels: [{ name: "stable", include: "(?<!x)rc" }] },
};

export function FormSample({
  ctx,
  errors,
  values = sampleValues,
  is_edit = false,
}: {
  ctx: PageContext;
  errors?: FieldErrors;
  values?: Record<string, unknown>;
  is_edit?: boolean;
}) {
  return (
    <Layout ctx={ctx} title="New tracker" section="trackers">
      <PageHeader
        ctx={ctx}
        parent={{ title: texts(ctx).trackers.title, href: "/trackers" }}
        title={texts(ctx).trackers.new_tracker}
      />
      <Form
        ctx={ctx}
        id="tracker-form"
        area="sample"
        action="/form"
        fields={fields(SampleInput, values)}
        values={values}
        errors={errors}
        submit={texts(ctx).common.create}
        cancel_href="/trackers"
        is_edit={is_edit}
        has_secret={is_edit}
      />
    </Layout>
  );
}

export const sampleErrors = {
  name: plain('There is already a tracker "traefik"'),
  "source.channels.0.include": plain(
    "Lookbehind “(?<!x)” cannot be run in bounded time. Write what to refuse instead, for example -rc",
  ),
  check_interval_minutes: plain("Write a number from 1 to 10080, not 0"),
};

export function ConfirmSample({ ctx }: { ctx: PageContext }) {
  return (
    <Confirm
      ctx={ctx}
      title="Update paperless to 3.0.5?"
      verb="Update now"
      kind="main"
      action="/runs"
      cancel_href="/runs/1"
    >
      <DiffView
        ctx={ctx}
        carried={41}
        changes={[{ field: "image", before: "paperless-ngx:2.18.4", after: "paperless-ngx:3.0.5" }]}
      />
      <Facts
        items={[
          ["Down for", "about 0.4 s"],
          ["On failure", "the previous container is put back"],
        ]}
      />
    </Confirm>
  );
}

export function EmptySample({ ctx }: { ctx: PageContext }) {
  const notice = { tone: "current" as const, text: "Tracker traefik was created", href: "/trackers/traefik" };
  return (
    <Layout
      ctx={{ ...ctx, notices: [notice, { tone: "failed", text: "The test message was refused with 404" }] }}
      title="Notifiers"
      section="notifiers"
    >
      <PageHeader ctx={ctx} title={texts(ctx).notifiers.title} state={<Badge icon="webhook">webhook</Badge>} />
      <Banner tone="attention" title="The base URL differs from the address in use">
        Links in messages lead to https://old.example.org. <a href={url(ctx, "/settings")}>Change it in the settings</a>
        .
      </Banner>
      <Tabs
        ctx={ctx}
        label="Views"
        items={[
          { title: "All", href: "/notifiers", current: true, count: 0 },
          { title: "Deliveries", href: "/notifiers?tab=deliveries", current: false, count: 12 },
        ]}
      />
      <Empty
        ctx={ctx}
        icon="send"
        title="No notifications set up yet"
        action={
          <LinkButton ctx={ctx} href="/notifiers/new" kind="main" icon="plus">
            {texts(ctx).notifiers.new_notifier}
          </LinkButton>
        }
        example={
          <>
            “traefik 3.6.24 is out (stable). 3.6.23 runs on edge.” as JSON to{" "}
            <code>https://ntfy.example.org/updates</code>
          </>
        }
      >
        A notifier sends a message to a webhook when a release appears or a run ends: Slack, Discord, ntfy, Gotify, or
        your own.
      </Empty>
      <Section title="All states">
        <Panel>
          {(["current", "update", "running", "attention", "failed", "unknown", "quiet"] as const).map((tone) => (
            <p>
              <State ctx={ctx} tone={tone} /> <State ctx={ctx} tone={tone} solid />
            </p>
          ))}
        </Panel>
      </Section>
    </Layout>
  );
}

export function SignInSample({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).auth;
  return (
    <BareLayout ctx={{ ...ctx, user: null }} title={t.sign_in}>
      <form class="form" method="post" action={url(ctx, "/login")}>
        <Csrf ctx={ctx} />
        <div>
          <h1>{t.sign_in}</h1>
        </div>
        <div class="field">
          <label for="username">{t.user_name}</label>
          <input class="input" id="username" name="username" autocomplete="username" />
        </div>
        <div class="field">
          <label for="password">{t.password}</label>
          <input class="input" id="password" name="password" type="password" autocomplete="current-password" />
        </div>
        <Button type="submit" kind="main">
          {t.sign_in}
        </Button>
      </form>
    </BareLayout>
  );
}

/** What the sample stream and the sample check answer. */
export function PartialSample({ ctx, text }: { ctx: PageContext; text: string }) {
  return (
    <Partial target="#toasts" swap="beforeend">
      <Toast ctx={ctx} notice={{ tone: "current", text }} />
    </Partial>
  );
}
