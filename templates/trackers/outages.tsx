import type { Child } from "hono/jsx";
import type { UpstreamOutageView } from "../../src/trackers/upstreams/schema.ts";
import { withCode } from "../components/code.tsx";
import { Names } from "../components/names.tsx";
import { Section } from "../components/page-header.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { State } from "../components/state.tsx";
import { Table } from "../components/table.tsx";
import { Duration, Time } from "../components/time.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "./address.ts";
import { reasonOf } from "./state.tsx";

/** Trackers named in a row. */
const namedTrackers = 5;
/** Beyond this, a time of day could be today's or tomorrow's. */
const halfDayMs = 12 * 3_600_000;

/** Since when a host does not respond, when it is tried again, and why. */
export function outageFacts(ctx: PageContext, outage: UpstreamOutageView): readonly Child[] {
  const t = texts(ctx).upstreams;
  return [
    <>
      {t.outage_since} <Time ctx={ctx} at={outage.since} form="short" />
    </>,
    outage.next_try_at === null ? null : (
      <>
        {t.next_try}{" "}
        <Time ctx={ctx} at={outage.next_try_at} form={outage.next_try_at - ctx.now < halfDayMs ? "clock" : "short"} />
      </>
    ),
    reasonOf(ctx, outage.error.message_data),
  ];
}

/** The trackers whose sources share a cause: their names, and how many sources more. */
export function MemberTrackers({
  ctx,
  sources,
  total,
  is_plain,
}: {
  ctx: PageContext;
  sources: UpstreamOutageView["sources"];
  total: number;
  is_plain?: true;
}) {
  const names = [...new Set(sources.map(({ tracker }) => tracker))].slice(0, namedTrackers);
  const named = sources.filter(({ tracker }) => names.includes(tracker)).length;
  return <Names ctx={ctx} names={names} more={total - named} pathOf={is_plain ? undefined : trackerPath} />;
}

/** The hosts that do not respond, each once with all that waits for it. */
export function Outages({ ctx, outages }: { ctx: PageContext; outages: readonly UpstreamOutageView[] }) {
  const t = texts(ctx).upstreams;
  if (outages.length === 0) return null;
  return (
    <Section title={t.states.not_responding}>
      <Rows id="outages">
        {outages.map((outage) => (
          <Row
            ctx={ctx}
            id={`outage-${outage.host}`}
            lead={
              <State ctx={ctx} tone="attention">
                {t.states.not_responding}
              </State>
            }
            title={outage.host}
            fact={t.sources_wait(outage.waiting)}
            meta={[
              ...outageFacts(ctx, outage),
              t.attempts(outage.failures),
              <MemberTrackers ctx={ctx} sources={outage.sources} total={outage.waiting} />,
            ]}
          />
        ))}
      </Rows>
    </Section>
  );
}

/** Outages that are over. */
export function PastOutages({ ctx, outages }: { ctx: PageContext; outages: readonly UpstreamOutageView[] }) {
  const t = texts(ctx).upstreams;
  if (outages.length === 0) return null;
  const columns = [
    { key: "host", title: t.host, grows: true },
    { key: "began", title: t.began },
    { key: "lasted", title: t.lasted, align: "end" as const },
    { key: "reason", title: t.reason, grows: true },
  ];
  const rows = outages.map((outage) => ({
    id: `past-${outage.host}-${outage.since}`,
    cells: {
      host: <span class="version host">{outage.host}</span>,
      began: <Time ctx={ctx} at={outage.since} form="short" />,
      lasted: <Duration ctx={ctx} ms={Math.max(0, (outage.ended_at ?? ctx.now) - outage.since)} />,
      reason: <span>{withCode(reasonOf(ctx, outage.error.message_data))}</span>,
    },
  }));
  return (
    <Section title={t.past_outages}>
      <Table ctx={ctx} caption={t.past_outages} columns={columns} rows={rows} />
    </Section>
  );
}
