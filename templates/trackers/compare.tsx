import type { Child } from "hono/jsx";
import type { ComparedVersion, ComparisonView } from "../../src/trackers/notes/schema.ts";
import { behindWords } from "../components/behind.tsx";
import { Button } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Facts } from "../components/facts.tsx";
import { Link } from "../components/link.tsx";
import { Columns, PageHeader, Section } from "../components/page-header.tsx";
import { SizeChange } from "../components/size.tsx";
import { Time } from "../components/time.tsx";
import { Version } from "../components/version.tsx";
import { Layout } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "./address.ts";
import { announcedCount, comparePath, distanceWords, Notes, SourceLinks } from "./notes.tsx";

interface ComparePageProps {
  ctx: PageContext;
  view: ComparisonView;
  /** Each version's notes as safe HTML, by the release's id. */
  rendered: ReadonlyMap<string, string>;
  /** Names to choose from, the newest first. */
  choices: readonly string[];
  /** Kept while another pair is chosen. */
  kept: Readonly<Record<string, string>>;
}

/** What changes from one version to another: how far apart they are, what breaks, and the notes in between. */
export function ComparePage(props: ComparePageProps) {
  const { ctx, view } = props;
  const t = texts(ctx).notes;
  const { from, to } = view;
  return (
    <Layout ctx={ctx} title={t.compare_of(view.tracker)} section="trackers">
      <PageHeader
        ctx={ctx}
        title={t.compare}
        parent={{ title: view.tracker, href: trackerPath(view.tracker) }}
        lead={from === null || to === null ? undefined : (distanceWords(ctx, view) ?? undefined)}
      />
      <Chooser {...props} />
      {from === null || to === null ? (
        <Empty ctx={ctx} icon="list-filter" title={t.compare_none}>
          {t.compare_none_text}
        </Empty>
      ) : (
        <Columns aside={<Summary {...props} from={from} to={to} />}>
          <Notes {...props} />
        </Columns>
      )}
    </Layout>
  );
}

/** A plain form, so that each comparison has its own address. */
function Chooser({ ctx, view, choices, kept }: ComparePageProps) {
  const t = texts(ctx).notes;
  const { from, to } = view;
  if (new Set([...choices, from, to].filter((name) => name !== null)).size < 2) return null;
  return (
    <form class="compare-form panel" method="get" action={url(ctx, `${trackerPath(view.tracker)}/compare`)}>
      {Object.entries(kept).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Choice
        id="compare-from"
        name="from"
        title={t.compare_from}
        value={view.from_version?.version ?? from}
        choices={choices}
      />
      <Choice id="compare-to" name="to" title={t.compare_to} value={view.to_version?.version ?? to} choices={choices} />
      <div>
        <Button type="submit" kind="main">
          {t.compare_submit}
        </Button>
        {from === null || to === null ? null : (
          <Link ctx={ctx} href={comparePath(view.tracker, { ...kept, from: to, to: from })}>
            {t.compare_swap}
          </Link>
        )}
      </div>
    </form>
  );
}

interface ChoiceProps {
  id: string;
  name: string;
  title: string;
  value: string | null;
  choices: readonly string[];
}

function Choice({ id, name, title, value, choices }: ChoiceProps) {
  const offered = value === null || choices.includes(value) ? choices : [value, ...choices];
  return (
    <div class="field">
      <label for={id}>{title}</label>
      <select id={id} name={name} class="mono">
        {offered.map((choice) => (
          <option value={choice} selected={choice === value}>
            {choice}
          </option>
        ))}
      </select>
    </div>
  );
}

function Summary({ ctx, view, from, to }: ComparePageProps & { from: string; to: string }) {
  const t = texts(ctx).notes;
  const { distance, direction, versions } = view;
  const breaking = versions.reduce((sum, version) => sum + version.breaking_changes.length, 0);
  const security = versions.reduce((sum, version) => sum + version.security_fixes.length, 0);
  const days = distance?.days ?? null;
  const sizes = sizesOf(view);
  return (
    <Section title={t.facts}>
      <Facts
        items={[
          [t.compare_from, <End ctx={ctx} name={from} version={view.from_version} />],
          [t.compare_to, <End ctx={ctx} name={to} version={view.to_version} />],
          [
            t.distance,
            direction === "same" ? t.compare_same : distance === null ? t.not_comparable : behindWords(ctx, distance),
          ],
          days === null ? null : [t.time_between, t.days(days)],
          sizes === null ? null : [texts(ctx).common.image_size.download, <SizeChange ctx={ctx} {...sizes} />],
          [t.breaking, announcedCount(ctx, view, breaking)],
          [t.security, announcedCount(ctx, view, security)],
          view.comparison_pages.length === 0
            ? null
            : [t.compare_upstream, <SourceLinks ctx={ctx} links={view.comparison_pages} />],
        ]}
      />
    </Section>
  );
}

/** Null unless the newer one's size is known; sizes of two platforms cannot be compared. */
function sizesOf({ from_version: from, to_version: to }: ComparisonView) {
  const to_bytes = to?.size_bytes ?? null;
  if (to_bytes === null) return null;
  return { to_bytes, from_bytes: from?.size_platform === to?.size_platform ? (from?.size_bytes ?? null) : null };
}

function End({ ctx, name, version }: { ctx: PageContext; name: string; version: ComparedVersion | null }): Child {
  return (
    <span class="compare-end">
      <Version>{name}</Version>
      {version === null ? <small class="quiet">{texts(ctx).notes.not_known}</small> : null}
      {version === null || version.published_at === null ? null : (
        <small class="quiet">
          <Time ctx={ctx} at={version.published_at} />
        </small>
      )}
      {version === null || version.links.length === 0 ? null : <SourceLinks ctx={ctx} links={version.links} />}
    </span>
  );
}
