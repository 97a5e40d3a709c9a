import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import type { ProposalsView, ProposalView } from "../../src/trackers/import/schema.ts";
import { Button } from "../components/button.tsx";
import { Form } from "../components/form.tsx";
import { Icon } from "../components/icon.tsx";
import { Table } from "../components/table.tsx";
import { Version } from "../components/version.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { TrackersSubpage } from "./subpage.tsx";

export interface TrackerImportPageProps {
  ctx: PageContext;
  fields: readonly FieldDescription[];
  values: Readonly<Record<string, unknown>>;
  errors: FieldErrors;
  /** Null before the text was read. */
  found: ProposalsView | null;
  /** The selected names; null for every new one that is ready. */
  chosen: ReadonlySet<string> | null;
  /** The names for which numbered versions were chosen instead of a moving tag. */
  by_version: ReadonlySet<string>;
}

/** A text to paste, and below it the trackers it proposes: nothing is created before it was shown here. */
export function TrackerImportPage(props: TrackerImportPageProps) {
  const { ctx, found } = props;
  const t = texts(ctx).imports;
  const canAdd = found?.proposals.some(({ state }) => state === "new") === true;
  return (
    <TrackersSubpage ctx={ctx} title={t.title} lead={t.lead}>
      <Form
        ctx={ctx}
        id="tracker-import"
        area="imports"
        action="/trackers/import"
        fields={props.fields}
        values={props.values}
        errors={props.errors}
        submit={found === null ? t.show : t.show_again}
        is_submit_minor={canAdd}
        cancel_href="/trackers"
        more_actions={
          canAdd ? (
            <Button type="submit" kind="main" name="_action" value="create">
              {t.add}
            </Button>
          ) : undefined
        }
      >
        {found === null ? null : <Found {...props} found={found} />}
      </Form>
    </TrackersSubpage>
  );
}

function Found({ ctx, found, chosen, by_version }: TrackerImportPageProps & { found: ProposalsView }) {
  const t = texts(ctx).imports;
  const columns = [
    { key: "name", title: texts(ctx).common.name },
    { key: "running", title: t.running, grows: true },
    { key: "proposed", title: t.proposed, grows: true },
    { key: "found_in", title: t.found_in, wide_only: true },
  ];
  const rows = found.proposals.map((proposal, position) => ({
    id: `proposal-${position}`,
    muted: proposal.state !== "new",
    cells: {
      name: <Choice ctx={ctx} proposal={proposal} chosen={chosen} />,
      running: <Running ctx={ctx} proposal={proposal} />,
      proposed: <Proposed ctx={ctx} proposal={proposal} by_version={by_version} />,
      found_in: <span class="quiet">{proposal.found_in.join(", ")}</span>,
    },
  }));
  return (
    <section class="proposals" aria-live="polite">
      <h2>{t.found(found.proposals.length)}</h2>
      <p class="meta">{t.read_as[found.format]}</p>
      {rows.length === 0 ? null : <Table ctx={ctx} caption={t.title} columns={columns} rows={rows} />}
      {found.skipped.length === 0 ? null : (
        <details class="unfolds">
          <summary>
            <Icon name="chevron-right" />
            {t.skipped(found.skipped.length)}
          </summary>
          <ul>
            {found.skipped.map(({ found_in, reason_data }) => (
              <li>
                <span class="version">{found_in}</span>{" "}
                <span class="quiet">{translateMessage(ctx.language, reason_data)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Choice({
  ctx,
  proposal,
  chosen,
}: {
  ctx: PageContext;
  proposal: ProposalView;
  chosen: ReadonlySet<string> | null;
}) {
  const t = texts(ctx).imports;
  const { name, state, existing } = proposal;
  if (state === "exists") return <span title={t.exists(existing ?? name)}>{t.exists(existing ?? name)}</span>;
  if (state === "invalid") return <span>{name}</span>;
  return (
    <label class="tick">
      <input
        type="checkbox"
        name="chosen"
        value={name}
        checked={chosen === null ? proposal.is_ready : chosen.has(name)}
        aria-label={t.choose(name)}
      />
      {name}
    </label>
  );
}

interface ShownSource {
  kind: string;
  address: string;
  patterns: readonly string[];
}

function shownSources(tracker: ProposalView["tracker"]): ShownSource[] {
  const list: readonly unknown[] = Array.isArray(tracker.sources) ? tracker.sources : [];
  return list.map((entry) => {
    const source = objectOf(entry);
    const config = objectOf(source.config);
    const [first, ...more] = Object.entries(config)
      .filter(([name]) => !["fetch_mode", "published_at_mode"].includes(name))
      .map(([, value]) => String(value));
    const channels: readonly unknown[] = Array.isArray(source.channels) ? source.channels : [];
    const patterns = channels.map((channel) => String(objectOf(channel).include_pattern ?? ""));
    return { kind: String(source.kind), address: [first, ...more].join(" · "), patterns };
  });
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function patternsOf(tracker: ProposalView["tracker"]): readonly string[] {
  return shownSources(tracker).flatMap((source) => source.patterns.filter((pattern) => pattern !== ""));
}

function Running({ ctx, proposal }: { ctx: PageContext; proposal: ProposalView }) {
  if (proposal.running.length === 0) return <span class="quiet">{texts(ctx).imports.not_running}</span>;
  return (
    <span class="stack">
      {proposal.running.map((reference) => (
        <Version>{reference}</Version>
      ))}
    </span>
  );
}

/** Where the versions come from, which are taken, and what to know before creating. */
function Proposed({
  ctx,
  proposal,
  by_version,
}: {
  ctx: PageContext;
  proposal: ProposalView;
  by_version: ReadonlySet<string>;
}) {
  const t = texts(ctx).imports;
  const kinds = Object.entries(texts(ctx).trackers.kinds);
  const patterns = patternsOf(proposal.tracker);
  const problems = Object.values(proposal.errors_data).map((message) => translateMessage(ctx.language, message));
  return (
    <span class="stack">
      {shownSources(proposal.tracker).map(({ kind, address }) => (
        <span>
          <span class="quiet">{kinds.find(([key]) => key === kind)?.[1] ?? kind}</span> <Version>{address}</Version>
        </span>
      ))}
      {proposal.remarks.map(({ code, subject }) => (
        <small>{t.remarks[code](subject)}</small>
      ))}
      {patterns.length === 0 ? (
        <small class="quiet">{t.takes_all}</small>
      ) : (
        patterns.map((text) => (
          <small class="quiet">
            <Version>{text}</Version>
          </small>
        ))
      )}
      {proposal.alternative === null || proposal.state !== "new" ? null : (
        <label class="tick">
          <input type="checkbox" name="by_version" value={proposal.name} checked={by_version.has(proposal.name)} />
          <small>
            {t.versions_instead}{" "}
            <span class="quiet">
              <Version>{patternsOf(proposal.alternative).join(" ")}</Version>
            </span>
          </small>
        </label>
      )}
      {problems.map((problem) => (
        <small class="field-error">{`${t.invalid}: ${problem}`}</small>
      ))}
    </span>
  );
}
