import type { Child } from "hono/jsx";
import type { RequestHours } from "../../src/stats/schema.ts";
import type { UpstreamOutageView, UpstreamsView, UpstreamView } from "../../src/trackers/upstreams/schema.ts";
import { Chart, Charts } from "../components/chart.tsx";
import { Empty } from "../components/empty.tsx";
import { AddButton } from "../components/list-page.tsx";
import { Banner } from "../components/notice.tsx";
import { Section } from "../components/page-header.tsx";
import { RowFacts } from "../components/row-facts.tsx";
import { State } from "../components/state.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { formatClock, formatNumber } from "../format.ts";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { Outages, PastOutages } from "./outages.tsx";
import { TrackersSubpage } from "./subpage.tsx";

export interface UpstreamsPageProps {
  ctx: PageContext;
  upstreams: UpstreamsView;
  /** Of the hosts with the most requests. */
  requests: readonly RequestHours[];
  /** The credentials' names by their ids. */
  credentials: ReadonlyMap<string, string>;
}

/** Every host that trackers ask, with its limit: who waits, and why. First those that do not respond. */
export function UpstreamsPage({ ctx, upstreams, requests, credentials }: UpstreamsPageProps) {
  const t = texts(ctx).upstreams;
  const columns = [
    { key: "host", title: t.host, grows: true },
    { key: "account", title: t.account, wide_only: true },
    { key: "sources", title: texts(ctx).trackers.sources, align: "end" },
    { key: "asked", title: t.asked, align: "end", leads: true },
    { key: "allowed", title: t.allowed, align: "end" },
    { key: "left", title: t.left, align: "end", wide_only: true },
    { key: "state", title: texts(ctx).common.state_title, card_label: "none" },
  ] as const satisfies Column[];
  const number = (value: number) => formatNumber(ctx.language, value);
  const outageOf = (host: string) => upstreams.outages.find((outage) => outage.host === host);
  const rows = upstreams.items.map((upstream) => {
    const cells = {
      host: <span class="version host">{upstream.host}</span>,
      account:
        upstream.credential_id === null ? (
          <span class="quiet">{t.anonymous}</span>
        ) : (
          (credentials.get(upstream.credential_id) ?? upstream.credential_id)
        ),
      sources: number(upstream.sources),
      asked: (
        <span>
          {t.asked_text(upstream.requests_per_hour)}
          {upstream.quota_per_hour === 0 ? null : (
            <>
              {" "}
              <small class="below quiet">{t.limited_text(upstream.requests_per_hour, upstream.quota_per_hour)}</small>
            </>
          )}
        </span>
      ),
      allowed: upstream.hourly_limit === null ? <span class="quiet">–</span> : number(upstream.hourly_limit),
      left: <Left ctx={ctx} upstream={upstream} />,
      state: <UpstreamState ctx={ctx} upstream={upstream} outage={outageOf(upstream.host)} />,
    };
    return {
      id: `upstream-${upstream.host}-${upstream.credential_id ?? "anonymous"}`,
      cells,
      actions: (
        <RowFacts ctx={ctx} of={upstream.host} items={columns.map(({ key, title }) => [title, cells[key]] as const)} />
      ),
    };
  });
  return (
    <TrackersSubpage ctx={ctx} title={t.title} lead={t.lead}>
      <WrongClock ctx={ctx} upstreams={upstreams} />
      <Outages ctx={ctx} outages={upstreams.outages} />
      {rows.length === 0 ? (
        <Empty ctx={ctx} icon="tag" title={t.empty} action={<AddButton ctx={ctx} section="trackers" />}>
          {t.empty_text}
        </Empty>
      ) : (
        <Section title={t.hosts}>
          <Table ctx={ctx} caption={t.title} columns={columns} rows={rows} is_list />
        </Section>
      )}
      <RequestCharts ctx={ctx} requests={requests} upstreams={upstreams} />
      <PastOutages ctx={ctx} outages={upstreams.past_outages} />
    </TrackersSubpage>
  );
}

/** One host's clock may be wrong itself; where several differ, it is ours. */
function WrongClock({ ctx, upstreams }: Pick<UpstreamsPageProps, "ctx" | "upstreams">) {
  const t = texts(ctx).upstreams;
  const [latest] = upstreams.clock_differences;
  if (latest === undefined) return null;
  return (
    <Banner tone="attention" title={t.clock_differs}>
      {translateMessage(ctx.language, latest.message_data)}
    </Banner>
  );
}

/** The requests to each host by hour, and what it allows if it counts all of one account together. */
function RequestCharts({ ctx, upstreams, requests }: Pick<UpstreamsPageProps, "ctx" | "upstreams" | "requests">) {
  const t = texts(ctx).charts;
  if (requests.length === 0) return null;
  return (
    <Section title={t.last_hours}>
      <Charts>
        {requests.map(({ host, hours }) => {
          const accounts = upstreams.items.filter((upstream) => upstream.host === host);
          const limit = accounts.length === 1 ? (accounts[0]?.hourly_limit ?? null) : null;
          return (
            <Chart
              ctx={ctx}
              title={host}
              series={[{ title: t.requests, tone: "plain" }]}
              points={hours.map((hour) => ({ label: formatClock(ctx, hour.starts_at), values: [hour.requests] }))}
              point_title={t.hour}
              limit={limit === null ? undefined : { title: t.limit, value: limit }}
              empty={t.no_requests}
            />
          );
        })}
      </Charts>
    </Section>
  );
}

function Left({ ctx, upstream }: { ctx: PageContext; upstream: UpstreamView }): Child {
  const t = texts(ctx).upstreams;
  const { remaining, reset_at } = upstream;
  if (remaining === null) return <span class="quiet">–</span>;
  return (
    <span>
      {t.left_text(remaining)}
      {reset_at === null || reset_at <= ctx.now ? null : (
        <small class="below quiet">
          {t.renewed} <Time ctx={ctx} at={reset_at} />
        </small>
      )}
    </span>
  );
}

interface StateProps {
  ctx: PageContext;
  upstream: UpstreamView;
  outage: UpstreamOutageView | undefined;
}

function UpstreamState({ ctx, upstream, outage }: StateProps): Child {
  const t = texts(ctx).upstreams;
  if (outage !== undefined) {
    return (
      <State ctx={ctx} tone="attention">
        {t.outages}
      </State>
    );
  }
  if (upstream.blocked_until !== null) {
    return (
      <span title={t.waits_help}>
        <State ctx={ctx} tone="attention">
          {t.waits}
        </State>{" "}
        <small class="below quiet">
          {t.until} <Time ctx={ctx} at={upstream.blocked_until} form="clock" />
        </small>
      </span>
    );
  }
  if (upstream.fair_interval_minutes !== null) {
    return (
      <span title={t.short_help}>
        <State ctx={ctx} tone="attention">
          {t.short(upstream.fair_interval_minutes)}
        </State>
      </span>
    );
  }
  return upstream.hourly_limit === null ? (
    <span class="quiet">{t.limit_unknown}</span>
  ) : (
    <State ctx={ctx} tone="current">
      {t.fits}
    </State>
  );
}
