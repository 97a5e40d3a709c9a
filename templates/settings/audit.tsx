import type { AuditEntryView } from "../../src/auth/schema.ts";
import { Empty, NothingMatches } from "../components/empty.tsx";
import { Filters, Pagination } from "../components/navigation.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { State } from "../components/state.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext, Tone } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { SettingsTabs } from "./settings.tsx";

interface AuditPageProps {
  ctx: PageContext;
  entries: readonly AuditEntryView[];
  next_cursor: string | null;
  is_first_page: boolean;
  outcome: AuditEntryView["outcome"] | null;
}

const tones: Readonly<Record<AuditEntryView["outcome"], Tone>> = {
  ok: "current",
  failed: "failed",
  refused: "attention",
};

export function AuditPage({ ctx, entries, next_cursor, is_first_page, outcome }: AuditPageProps) {
  const t = texts(ctx).settings;
  return (
    <Layout ctx={ctx} title={t.audit} section="settings">
      <PageHeader ctx={ctx} title={t.title} lead={t.audit_lead} />
      <SettingsTabs ctx={ctx} current="audit" />
      <Filters
        ctx={ctx}
        groups={[
          {
            name: "outcome",
            title: t.outcome,
            current: outcome,
            options: [
              { title: texts(ctx).common.all, value: null },
              { title: t.outcomes.ok, value: "ok" },
              { title: t.outcomes.failed, value: "failed" },
              { title: t.outcomes.refused, value: "refused" },
            ],
          },
        ]}
      />
      {entries.length > 0 ? (
        <Entries ctx={ctx} entries={entries} />
      ) : outcome === null ? (
        <Empty ctx={ctx} icon="file-clock" title={t.audit_empty_title}>
          {t.audit_empty}
        </Empty>
      ) : (
        <NothingMatches ctx={ctx} href="/settings/audit" />
      )}
      <Pagination ctx={ctx} newer={is_first_page ? null : ""} older={next_cursor} />
    </Layout>
  );
}

function Entries({ ctx, entries }: { ctx: PageContext; entries: readonly AuditEntryView[] }) {
  const t = texts(ctx).settings;
  return (
    <Table
      ctx={ctx}
      caption={t.audit}
      columns={[
        { key: "event", title: t.event, grows: true },
        { key: "outcome", title: t.outcome, card_label: "none" },
        { key: "subject", title: t.subject, grows: true },
        { key: "actor", title: t.actor },
        { key: "address", title: t.address, wide_only: true },
        { key: "at", title: t.at, align: "end" },
      ]}
      rows={entries.map((entry) => ({
        id: `entry-${entry.id}`,
        cells: {
          event: (
            <>
              {eventWord(ctx, entry.event)}
              <Detail entry={entry} />
            </>
          ),
          outcome: (
            <State ctx={ctx} tone={tones[entry.outcome]}>
              {t.outcomes[entry.outcome]}
            </State>
          ),
          subject: entry.subject?.name ?? <span class="quiet">–</span>,
          actor: entry.actor === null ? <span class="quiet">{t.nobody}</span> : actorWord(ctx, entry.actor),
          address: entry.address === null ? <span class="quiet">–</span> : <code>{entry.address}</code>,
          at: <Time ctx={ctx} at={entry.at} />,
        },
      }))}
    />
  );
}

/** Names come from the services; one that has no words yet is shown as it is stored. */
function eventWord(ctx: PageContext, event: string): string {
  const words: Readonly<Record<string, string>> = texts(ctx).audit;
  return words[event] ?? event.replaceAll("_", " ");
}

function actorWord(ctx: PageContext, actor: string): string {
  return actor === "system" ? texts(ctx).settings.system : actor;
}

/** The facts of the entry, as they are stored. */
function Detail({ entry }: { entry: AuditEntryView }) {
  const facts = Object.entries(entry.detail);
  if (facts.length === 0) return null;
  return (
    <span class="audit-detail">
      {facts
        .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
        .join(" · ")}
    </span>
  );
}
