import { type AuditEntryView, isAuditEvent } from "../../src/auth/schema.ts";
import { isMessage } from "../../src/messages/message.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty, NothingMatches } from "../components/empty.tsx";
import { Facts } from "../components/facts.tsx";
import { Menu } from "../components/menu.tsx";
import { Pagination } from "../components/navigation.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { State } from "../components/state.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { formatBytes, formatList, formatNumber } from "../format.ts";
import { Layout } from "../layout.tsx";
import { type PageContext, type Tone, url } from "../page.ts";
import { fieldWord } from "../texts/fields.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { SettingsTabs } from "./settings.tsx";

/** Values of the filters, "" for none; days as "2026-01-05". */
export type AuditFields = Readonly<
  Record<"event" | "outcome" | "actor" | "subject" | "address" | "from" | "to", string>
>;

interface AuditPageProps {
  ctx: PageContext;
  fields: AuditFields;
  /** Every event that occurs in the audit. */
  events: readonly string[];
  entries: readonly AuditEntryView[];
  next_cursor: string | null;
  is_first_page: boolean;
  retention_days: number;
}

const outcomes = ["ok", "failed", "refused"] as const;

const tones: Readonly<Record<AuditEntryView["outcome"], Tone>> = {
  ok: "current",
  failed: "failed",
  refused: "attention",
};

export function AuditPage(props: AuditPageProps) {
  const { ctx, fields, entries, next_cursor, is_first_page } = props;
  const t = texts(ctx).settings;
  const isFiltered = askedFor(fields).length > 0;
  return (
    <Layout ctx={ctx} title={t.audit} section="settings">
      <PageHeader ctx={ctx} title={t.title} lead={t.audit_lead(props.retention_days)} />
      <SettingsTabs ctx={ctx} current="audit" />
      <AuditFilters {...props} />
      {entries.length > 0 ? (
        <Entries ctx={ctx} entries={entries} />
      ) : !isFiltered ? (
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

function askedFor(fields: AuditFields): [string, string][] {
  return Object.entries(fields).filter(([, value]) => value !== "");
}

/** All matching entries, not only this page. */
function Export({ ctx, fields }: { ctx: PageContext; fields: AuditFields }) {
  const t = texts(ctx).settings;
  const asked = askedFor(fields);
  const query = new URLSearchParams(asked).toString();
  return (
    <a class="btn bare" href={url(ctx, `/settings/audit/export${query === "" ? "" : `?${query}`}`)} download="">
      {asked.length === 0 ? t.audit_export : t.audit_export_matching}
    </a>
  );
}

/** A GET form: a filtered audit has an address to share. */
function AuditFilters({ ctx, fields, events, entries }: AuditPageProps) {
  const t = texts(ctx).settings;
  const all = texts(ctx).common.all;
  const words = events
    .map((event) => ({ value: event, title: eventWord(ctx, event) }))
    .toSorted((a, b) => a.title.localeCompare(b.title, ctx.language));
  return (
    <form
      class="audit-filters"
      method="get"
      action={url(ctx, "/settings/audit")}
      aria-label={texts(ctx).common.filters}
    >
      <Choice name="event" title={t.event} current={fields.event} all={all} options={words} />
      <Choice
        name="outcome"
        title={texts(ctx).common.outcome}
        current={fields.outcome}
        all={all}
        options={outcomes.map((value) => ({ value, title: t.outcomes[value] }))}
      />
      <Text name="subject" title={t.subject} current={fields.subject} />
      <Text name="actor" title={t.actor} current={fields.actor} />
      <Text name="address" title={t.address} current={fields.address} />
      <Text name="from" title={t.from_day} current={fields.from} type="date" />
      <Text name="to" title={t.to_day} current={fields.to} type="date" />
      <div class="audit-filters-actions">
        <Button type="submit">{t.audit_filter}</Button>
        {askedFor(fields).length > 0 ? (
          <LinkButton ctx={ctx} href="/settings/audit" kind="bare">
            {t.audit_all}
          </LinkButton>
        ) : null}
        {entries.length === 0 ? null : <Export ctx={ctx} fields={fields} />}
      </div>
    </form>
  );
}

interface FilterFieldProps {
  name: string;
  title: string;
  current: string;
}

function Choice(props: FilterFieldProps & { all: string; options: readonly { value: string; title: string }[] }) {
  return (
    <label>
      <span>{props.title}</span>
      <select class="input" name={props.name}>
        <option value="">{props.all}</option>
        {props.options.map((option) => (
          <option value={option.value} selected={option.value === props.current}>
            {option.title}
          </option>
        ))}
      </select>
    </label>
  );
}

function Text({ name, title, current, type = "text" }: FilterFieldProps & { type?: "text" | "date" }) {
  return (
    <label>
      <span>{title}</span>
      <input
        class="input"
        type={type}
        name={name}
        value={current}
        maxlength={200}
        autocomplete="off"
        spellcheck={false}
      />
    </label>
  );
}

function Entries({ ctx, entries }: { ctx: PageContext; entries: readonly AuditEntryView[] }) {
  const t = texts(ctx).settings;
  return (
    <Table
      ctx={ctx}
      caption={t.audit}
      is_list
      columns={[
        { key: "event", title: t.event, grows: true },
        { key: "outcome", title: texts(ctx).common.outcome, card_label: "none" },
        { key: "subject", title: t.subject },
        { key: "actor", title: t.actor },
        { key: "at", title: t.at, align: "end", leads: true },
      ]}
      rows={entries.map((entry) => ({
        id: `entry-${entry.id}`,
        cells: {
          event: (
            <div class="audit-event">
              {eventWord(ctx, entry.event)}
              <Detail ctx={ctx} entry={entry} />
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
        actions: <WholeEntry ctx={ctx} entry={entry} />,
      }))}
    />
  );
}

/** One that an earlier version recorded may have no words. */
function eventWord(ctx: PageContext, event: string): string {
  return isAuditEvent(event) ? texts(ctx).audit[event] : event.replaceAll("_", " ");
}

function Subject({ name }: { name: string }) {
  if (name === "") return <span class="quiet">–</span>;
  return (
    <span class="audit-subject" title={name.length > 60 ? name : undefined}>
      {name}
    </span>
  );
}

/** Where a row has no room for all of its entry. */
function WholeEntry({ ctx, entry }: { ctx: PageContext; entry: AuditEntryView }) {
  const t = texts(ctx).settings;
  return (
    <Menu
      label={t.audit_facts_of(eventWord(ctx, entry.event))}
      small
      items={
        <Facts
          items={[
            entry.subject?.name == null ? null : [t.subject, entry.subject.name],
            [t.actor, <By ctx={ctx} entry={entry} />],
            [t.at, <Time ctx={ctx} at={entry.at} form="short" />],
            ...factsOf(ctx, entry),
          ]}
        />
      }
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
function Detail({ ctx, entry }: { ctx: PageContext; entry: AuditEntryView }) {
  const facts = factsOf(ctx, entry);
  if (facts.length === 0) return null;
  const { of_field } = texts(ctx).common.form;
  const line = facts.map(([name, value]) => of_field(name, value)).join(" · ");
  return (
    <span class="audit-detail" title={line.length > 160 ? line : undefined}>
      {line}
    </span>
  );
}

/** The names and values of an entry's facts, in words. */
function factsOf(ctx: PageContext, { detail }: AuditEntryView): [name: string, value: string][] {
  return Object.entries(detail)
    .filter(([, value]) => !isMessage(value) && value !== null)
    .map(([name, value]) => [nameWord(ctx, name), valueWord(ctx, detail, name, value)]);
}

function nameWord(ctx: PageContext, name: string): string {
  const { names }: { names: Readonly<Record<string, string>> } = texts(ctx).audit_facts;
  return names[name] ?? name.replaceAll("_", " ");
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
      : formatList(
          ctx.language,
          value.map((field) => fieldWord(ctx, String(field))),
        );
  }
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) {
    return value.length === 0 ? none : formatList(ctx.language, value);
  }
  return typeof value === "string" ? (values[value] ?? value) : JSON.stringify(value);
}
