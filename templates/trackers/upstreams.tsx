import type { Child } from "hono/jsx";
import type { RequestHours } from "../../src/stats/schema.ts";
import {
  type UpstreamState,
  type UpstreamsView,
  type UpstreamView,
  upstreamStates,
} from "../../src/trackers/upstreams/schema.ts";
import { Chart, Charts } from "../components/chart.tsx";
import { Empty } from "../components/empty.tsx";
import { AddButton, isEmpty, ListBody, type ListProps } from "../components/list-page.tsx";
import { Banner } from "../components/notice.tsx";
import { Section } from "../components/page-header.tsx";
import { RowFacts } from "../components/row-facts.tsx";
import { State } from "../components/state.tsx";
import type { Column } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { formatClock, formatNumber } from "../format.ts";
import type { PageContext, Tone } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { Outages, PastOutages } from "./outages.tsx";
import { TrackersSubpage } from "./subpage.tsx";

interface Beside {
  /** All of them, whatever the list shows. */
  upstreams: Omit<UpstreamsView, "next_cursor">;
}

interface UpstreamsPageProps extends ListProps<UpstreamView>, Beside, RowNames {
  /** Of the hosts with the most requests. */
  requests: readonly RequestHours[];
}

interface RowNames {
  /** The credentials' names by their ids. */
  credentials: ReadonlyMap<string, string>;
}

/** Every host that trackers ask, with its limit: who waits, and why. First those that do not respond. */
export function UpstreamsPage({ upstreams, requests, ...list }: UpstreamsPageProps) {
  const { ctx } = list;
  const t = texts(ctx).upstreams;
  return (
    <TrackersSubpage ctx={ctx} title={t.title} lead={t.lead}>
      <WrongClock ctx={ctx} upstreams={upstreams} />
      <Outages ctx={ctx} outages={upstreams.outages} />
      {isEmpty(list) ? (
        <Empty ctx={ctx} icon="tag" title={t.empty} action={<AddButton ctx={ctx} section="trackers" />}>
          {t.empty_text}
        </Empty>
      ) : (
        <Section title={t.hosts}>
          <UpstreamList {...list} />
        </Section>
      )}
      <RequestCharts ctx={ctx} requests={requests} upstreams={upstreams} />
      <PastOutages ctx={ctx} outages={upstreams.past_outages} />
    </TrackersSubpage>
  );
}

function UpstreamList({ credentials, ...list }: ListProps<UpstreamView> & RowNames) {
  const { ctx } = list;
  const t = texts(ctx).upstreams;
  const columns = [
    { key: "host", title: t.host, grows: true, sort: "host" },
    { key: "account", title: t.account, clips: true, wide_only: true, sort: "account" },
    { key: "sources", title: texts(ctx).trackers.sources, align: "end", sort: "-sources" },
    { key: "asked", title: t.asked, align: "end", leads: true, sort: "-requests" },
    { key: "allowed", title: t.allowed, align: "end", sort: "-limit" },
    { key: "left", title: t.left, align: "end", wide_only: true, sort: "remaining" },
    { key: "state", title: texts(ctx).common.state_title, card_label: "none", sort: "state" },
  ] as const satisfies Column[];
  const rows = list.items.map((upstream) => {
    const cells = {
      host: (
        <span class="version host" title={upstream.host}>
          {upstream.host}
        </span>
      ),
      account:
        upstream.credential_id === null ? (
          <span class="quiet">{t.anonymous}</span>
        ) : (
          (credentials.get(upstream.credential_id) ?? upstream.credential_id)
        ),
      sources: formatNumber(ctx.language, upstream.sources),
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
      allowed: <Allowed ctx={ctx} upstream={upstream} />,
      left: <Left ctx={ctx} upstream={upstream} />,
      state: <StateOf ctx={ctx} upstream={upstream} />,
    };
    return {
      id: `upstream-${upstream.host}-${upstream.credential_id ?? "anonymous"}`,
      cells,
      actions: (
        <RowFacts ctx={ctx} of={upstream.host} items={columns.map(({ key, title }) => [title, cells[key]] as const)} />
      ),
    };
  });
  const state = {
    name: "state",
    title: texts(ctx).common.state_title,
    options: upstreamStates.map((value) => [value, t.states[value]] as const),
  };
  return (
    <ListBody
      {...list}
      id="upstream-list"
      is_section
      caption={t.title}
      search_label={t.filter_text}
      filters={[state]}
      table={{ columns, rows }}
    />
  );
}

/** One host's clock may be wrong itself; where several differ, it is ours. */
function WrongClock({ ctx, upstreams }: { ctx: PageContext } & Beside) {
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
function RequestCharts({ ctx, requests, upstreams }: Pick<UpstreamsPageProps, "ctx" | "requests"> & Beside) {
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

function Allowed({ ctx, upstream }: { ctx: PageContext; upstream: UpstreamView }): Child {
  const { hourly_limit, fair_interval_minutes } = upstream;
  if (hourly_limit === null) return <span class="quiet">–</span>;
  return (
    <span>
      {formatNumber(ctx.language, hourly_limit)}
      {fair_interval_minutes === null ? null : (
        <>
          {" "}
          <small class="below quiet">{texts(ctx).upstreams.short(fair_interval_minutes)}</small>
        </>
      )}
    </span>
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

/** What is usual has none. */
const tones: Readonly<Record<UpstreamState, Tone | null>> = {
  not_responding: "attention",
  waiting: "attention",
  limit_too_low: "attention",
  within_limit: "current",
  limit_unknown: null,
};

function StateOf({ ctx, upstream }: { ctx: PageContext; upstream: UpstreamView }): Child {
  const t = texts(ctx).upstreams;
  const { state, blocked_until } = upstream;
  const tone = tones[state];
  if (tone === null) return <span class="quiet">{t.states[state]}</span>;
  const help: Partial<Record<UpstreamState, string>> = { waiting: t.waits_help, limit_too_low: t.short_help };
  return (
    <>
      <State ctx={ctx} tone={tone} title={help[state]}>
        {t.states[state]}
      </State>{" "}
      {state === "waiting" && blocked_until !== null ? (
        <small class="below quiet">
          {t.until} <Time ctx={ctx} at={blocked_until} form="clock" />
        </small>
      ) : null}
    </>
  );
}
