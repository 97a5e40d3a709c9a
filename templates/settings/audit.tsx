import * as v from "valibot";
import { type AuditEntryView, auditEvents, isAuditEvent } from "../../src/auth/audit-schema.ts";
import { isMessage, type Message } from "../../src/messages/message.ts";
import { withCode } from "../components/code.tsx";
import { Empty } from "../components/empty.tsx";
import { isEmpty, isFiltered, ListBody, type ListProps } from "../components/list-page.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { RowFacts } from "../components/row-facts.tsx";
import { State } from "../components/state.tsx";
import type { Column } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { formatBytes, formatLabels, formatList, formatNumber } from "../format.ts";
import { Layout } from "../layout.tsx";
import { type PageContext, partsOf, type Tone, url, withQuery } from "../page.ts";
import { fieldWord } from "../texts/fields.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { SettingsTabs } from "./settings.tsx";

interface AuditPageProps extends ListProps<AuditEntryView> {
  /** As entered: "2026-01-05", "" for none. */
  days: { from: string; to: string };
  retention_days: number;
  title_of_targets: TitleOfTargets;
}

/** What targets of a kind are called; null where that is not known any more. */
type TitleOfTargets = (kind: string) => Message | null;

const tones: Readonly<Record<AuditEntryView["outcome"], Tone>> = {
  ok: "current",
  failed: "failed",
  refused: "attention",
};

export function AuditPage({ retention_days, days, title_of_targets, ...list }: AuditPageProps) {
  const { ctx } = list;
  const t = texts(ctx).settings;
  const events = auditEvents
    .map((event) => [event, texts(ctx).audit[event]] as const)
    .toSorted(([, a], [, b]) => a.localeCompare(b, ctx.language));
  return (
    <Layout ctx={ctx} title={t.audit} section="settings">
      <PageHeader ctx={ctx} title={t.title} lead={t.audit_lead(retention_days)} />
      <SettingsTabs ctx={ctx} current="audit" />
      {isEmpty(list) ? (
        <Empty ctx={ctx} icon="file-clock" title={t.audit_empty_title}>
          {t.audit_empty}
        </Empty>
      ) : (
        <ListBody
          {...list}
          id="audit-list"
          caption={t.audit}
          search_label={t.audit_search}
          filters={[
            { name: "outcome", title: texts(ctx).common.outcome, options: Object.entries(t.outcomes) },
            { name: "event", title: t.event, options: events, is_long: true },
          ]}
          days={[
            { name: "from", title: t.from_day, value: days.from },
            { name: "to", title: t.to_day, value: days.to },
          ]}
          tools={list.items.length === 0 ? null : <Export {...list} />}
          table={auditTable(ctx, list.items, title_of_targets)}
        />
      )}
    </Layout>
  );
}

/** All matching entries, not only this page. */
function Export(list: ListProps<AuditEntryView>) {
  const t = texts(list.ctx).settings;
  const { query } = partsOf(withQuery(list.ctx.path, { cursor: null, sort: null }));
  return (
    <a class="btn bare" href={url(list.ctx, "/settings/audit/export", Object.fromEntries(query))} download="">
      {isFiltered(list) ? t.audit_export_matching : t.audit_export}
    </a>
  );
}

function auditTable(ctx: PageContext, entries: readonly AuditEntryView[], titleOfTargets: TitleOfTargets) {
  const t = texts(ctx).settings;
  const told = entries.map((entry) => ({ entry, facts: factsOf(ctx, entry, titleOfTargets) }));
  return {
    columns: [
      { key: "event", title: t.event, grows: true },
      { key: "outcome", title: texts(ctx).common.outcome, card_label: "none" },
      { key: "subject", title: t.subject, leads: true, sort: "subject" },
      { key: "actor", title: t.actor, sort: "actor" },
      { key: "at", title: t.at, align: "end", leads: true, sort: "-time" },
    ] satisfies Column[],
    rows: told.map(({ entry, facts }) => ({
      id: `entry-${entry.id}`,
      cells: {
        event: (
          <div class="audit-event">
            {eventWord(ctx, entry.event)}
            <Detail ctx={ctx} facts={facts} />
          </div>
        ),
        outcome: (
          <State ctx={ctx} tone={tones[entry.outcome]}>
            {t.outcomes[entry.outcome]}
          </State>
        ),
        subject: <Subject name={entry.subject?.name ?? ""} />,
        actor: <By ctx={ctx} entry={entry} />,
        at: (
          <span class="audit-at">
            <Time ctx={ctx} at={entry.at} form="short" />
          </span>
        ),
      },
      actions: <WholeEntry ctx={ctx} entry={entry} facts={facts} />,
    })),
  };
}

/** One that an earlier version recorded may have no words. */
function eventWord(ctx: PageContext, event: string): string {
  return isAuditEvent(event) ? texts(ctx).audit[event] : event.replaceAll("_", " ");
}

function Subject({ name }: { name: string }) {
  if (name === "") return <span class="quiet absent">–</span>;
  return (
    <span class="audit-subject" title={name.length > 60 ? name : undefined}>
      {name}
    </span>
  );
}

type Facts = readonly (readonly [name: string, value: string])[];

function WholeEntry({ ctx, entry, facts }: { ctx: PageContext; entry: AuditEntryView; facts: Facts }) {
  const t = texts(ctx).settings;
  return (
    <RowFacts
      ctx={ctx}
      of={eventWord(ctx, entry.event)}
      items={[
        entry.subject?.name == null ? null : [t.subject, entry.subject.name],
        [t.actor, <By ctx={ctx} entry={entry} />],
        [t.at, <Time ctx={ctx} at={entry.at} form="short" />],
        ...facts.map(([name, value]) => [name, withCode(value)] as const),
      ]}
    />
  );
}

/** Who, and from which address. */
function By({ ctx, entry: { actor, address } }: { ctx: PageContext; entry: AuditEntryView }) {
  return (
    <div class="audit-by">
      {actor === null ? <span class="quiet">{texts(ctx).settings.nobody}</span> : <span>{actorWord(ctx, actor)}</span>}
      {address === null ? null : <code class="address">{address}</code>}
    </div>
  );
}

function actorWord(ctx: PageContext, actor: string): string {
  return actor === "system" ? texts(ctx).settings.system : actor;
}

/** The entry's facts in words; the style sheet shows four lines, the tooltip all. */
function Detail({ ctx, facts }: { ctx: PageContext; facts: Facts }) {
  if (facts.length === 0) return null;
  const { of_field } = texts(ctx).common.form;
  const line = facts.map(([name, value]) => of_field(name, value)).join(" · ");
  return (
    <span class="audit-detail" title={line.length > 160 ? line : undefined}>
      {withCode(line)}
    </span>
  );
}

/** The names and values of an entry's facts, in words. */
function factsOf(ctx: PageContext, { detail, subject }: AuditEntryView, titleOfTargets: TitleOfTargets): Facts {
  const factWord = (name: string, value: unknown) => {
    if (name === "kind") return kindWord(ctx, subject?.kind, value);
    const named = v.safeParse(NamedOfKind, value);
    return named.success ? namedWords(ctx, named.output, titleOfTargets) : valueWord(ctx, detail, name, value);
  };
  return Object.entries(detail)
    .filter(([, value]) => !isMessage(value) && value !== null)
    .map(([name, value]) => [nameWord(ctx, name), factWord(name, value)] as const);
}

/** Sources or targets, each with its kind; earlier versions recorded them as text. */
const Named = v.object({ kind: v.string(), name: v.string() });
const NamedOfKind = v.union([
  v.pipe(v.array(Named), v.minLength(1)),
  v.pipe(
    Named,
    v.transform((one) => [one]),
  ),
]);

function namedWords(
  ctx: PageContext,
  named: v.InferOutput<typeof NamedOfKind>,
  titleOfTargets: TitleOfTargets,
): string {
  const sources: Readonly<Record<string, string>> = texts(ctx).trackers.kinds;
  const words = named.map(({ kind, name }) => {
    const title = titleOfTargets(kind);
    const word = title === null ? (sources[kind] ?? kind) : translateMessage(ctx.language, title);
    return texts(ctx).settings.of_kind(name, word);
  });
  return formatList(ctx.language, words);
}

function nameWord(ctx: PageContext, name: string): string {
  const { names }: { names: Readonly<Record<string, string>> } = texts(ctx).audit_facts;
  return names[name] ?? name.replaceAll("_", " ");
}

/** The name of a credential's or a connection's kind; other kinds are values like others. */
function kindWord(ctx: PageContext, subject: string | undefined, kind: unknown): string {
  const t = texts(ctx);
  const kinds: Readonly<Record<string, string>> = subject === "connection" ? t.connections.kinds : t.credentials.kinds;
  return kinds[String(kind)] ?? valueWord(ctx, {}, "kind", kind);
}

function valueWord(ctx: PageContext, detail: AuditEntryView["detail"], name: string, value: unknown): string {
  const { values }: { values: Readonly<Record<string, string>> } = texts(ctx).audit_facts;
  const { yes, no, none } = texts(ctx).common;
  const said = detail[`${name}_data`];
  if (isMessage(said)) return translateMessage(ctx.language, said);
  if (typeof value === "boolean") return value ? yes : no;
  if (name === "size_bytes" && typeof value === "number") return formatBytes(ctx.language, value);
  if (typeof value === "number") return formatNumber(ctx.language, value);
  if (name === "fields" && Array.isArray(value)) {
    return value.length === 0
      ? none
      : formatLabels(
          ctx.language,
          value.map((field) => fieldWord(ctx, String(field))),
        );
  }
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) {
    return value.length === 0 ? none : formatList(ctx.language, value);
  }
  return typeof value === "string" ? (values[value] ?? value) : JSON.stringify(value);
}
