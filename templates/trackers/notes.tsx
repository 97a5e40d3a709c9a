import { raw } from "hono/html";
import type { BreakingStep, NotesView, VersionNotes } from "../../src/trackers/notes/schema.ts";
import type { TrackerView } from "../../src/trackers/schema.ts";
import { withCode } from "../components/code.tsx";
import { Icon } from "../components/icon.tsx";
import { Later } from "../components/later.tsx";
import { Link, SafeLink } from "../components/link.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader, Panel, Section } from "../components/page-header.tsx";
import { Badge } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import { FromTo, Version } from "../components/version.tsx";
import { Layout } from "../layout.tsx";
import { type PageContext, url, withQuery } from "../page.ts";
import { translatePart } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "./address.ts";

export interface NotesProps {
  ctx: PageContext;
  view: NotesView;
  /** Each version's notes as safe HTML, by the release's id. */
  rendered: ReadonlyMap<string, string>;
}

/** How many versions are unfolded initially; those with breaking changes always are. */
const unfolded = 3;
/** Lines of one version that the warning quotes. */
const namedLines = 8;
/** Advisories that are named; the notes have all. */
const namedAdvisories = 10;

interface AskedVersions {
  from?: string | null;
  to: string;
  channel?: string;
}

/** The path of one version's notes, or of all between two. */
function notesPath(tracker: string, { from, to, channel }: AskedVersions): string {
  return withQuery(`${trackerPath(tracker)}/notes`, { from, to, channel });
}

/** The page that compares two versions. */
export function comparePath(tracker: string, { from, to, channel }: AskedVersions): string {
  return withQuery(`${trackerPath(tracker)}/compare`, { from, to, channel });
}

export function NotesPage(props: NotesProps) {
  const { ctx, view } = props;
  const t = texts(ctx).notes;
  const title = t.of_tracker(view.tracker);
  return (
    <Layout ctx={ctx} title={title} section="trackers">
      <PageHeader
        ctx={ctx}
        title={title}
        parent={{ title: view.tracker, href: trackerPath(view.tracker) }}
        lead={<Lead {...props} />}
      />
      <Notes {...props} />
    </Layout>
  );
}

/** In the page's dialog, which `app.js` opens. */
export function NotesDialog(props: NotesProps) {
  const { ctx, view } = props;
  const t = texts(ctx);
  return (
    <section class="notes-dialog">
      <h2 id="dialog-title" tabindex={-1}>
        {view.to === null ? t.notes.title : t.notes.title_of(view.to)}
      </h2>
      <Notes {...props} />
      <div class="confirm-actions">
        <button type="button" class="btn" data-close>
          {t.common.close}
        </button>
      </div>
    </section>
  );
}

/** Replaces `NotesSection`. */
export function NotesPart(props: NotesProps) {
  const { ctx, view, rendered } = props;
  const hasWords = view.versions.some(
    ({ release_id, notes_error }) => rendered.has(release_id) || notes_error !== null,
  );
  const words = distanceWords(ctx, view);
  // A list of versions without any notes would be long and useless.
  if (view.versions.length > 0 && !hasWords) return <p class="quiet">{withoutWords(ctx, view)}</p>;
  return (
    <>
      {words === null ? null : <p class="quiet">{words}</p>}
      <Notes {...props} />
    </>
  );
}

/** Why none of the versions has notes to show. */
function withoutWords(ctx: PageContext, { versions }: NotesView): string {
  const t = texts(ctx).notes;
  const states = new Set(versions.map(({ notes_state }) => notes_state));
  if (states.has("no_source")) return t.no_source;
  return states.has("unknown") ? t.unread_between : t.no_notes_between;
}

/** How often something is announced in the notes, as far as they are known. */
export function announcedCount(ctx: PageContext, { versions, omitted_count }: NotesView, count: number): string {
  const isUnread = ({ notes_state: state }: VersionNotes) => state === "unknown" || state === "no_source";
  const unread = versions.filter(isUnread).length + omitted_count;
  return unread === 0 ? String(count) : texts(ctx).notes.counted(count, unread);
}

function Lead({ ctx, view }: Pick<NotesProps, "ctx" | "view">) {
  if (view.to === null) return null;
  if (view.from === null || view.from === view.to) return <Version>{view.to}</Version>;
  const words = distanceWords(ctx, view);
  return (
    <>
      <FromTo ctx={ctx} from={view.from} to={view.to} />
      {words === null ? null : ` · ${words}`}
    </>
  );
}

/** How many versions lie between the two, where a heading or a form names these; null where there are none. */
export function distanceWords(ctx: PageContext, view: NotesView): string | null {
  const t = texts(ctx).notes;
  if (view.from === null || view.from === view.to) return null;
  if (view.direction === "unknown") return t.unknown;
  const count = view.versions.length + view.omitted_count;
  return view.direction === "down" ? t.down : count === 0 ? null : t.count(count);
}

export function Notes({ ctx, view, rendered }: NotesProps) {
  const t = texts(ctx).notes;
  if (view.versions.length === 0) {
    return (
      <Panel>
        <p>
          <b>{t.none}</b>
        </p>
        <p class="quiet">{t.none_text}</p>
      </Panel>
    );
  }
  const isOne = view.versions.length === 1;
  return (
    <div class="notes">
      <BreakingChanges ctx={ctx} versions={view.versions} is_update={view.from !== null && view.direction !== "down"} />
      <SecurityFixes ctx={ctx} versions={view.versions} />
      {view.versions.map((version, position) => (
        <details class="notes-of" open={isOne || position < unfolded || version.breaking_changes.length > 0}>
          <summary>
            <Icon name="chevron-right" />
            <Version>{version.version}</Version>
            {version.published_at === null ? null : <Time ctx={ctx} at={version.published_at} />}
            {version.breaking_changes.length === 0 ? null : <Badge icon="triangle-alert">{t.breaking}</Badge>}
            {version.security_fixes.length === 0 ? null : <Badge icon="shield">{t.security}</Badge>}
          </summary>
          <NotesText ctx={ctx} version={version} html={rendered.get(version.release_id)} />
          {version.links.length === 0 ? null : (
            <p>
              <SourceLinks ctx={ctx} links={version.links} />
            </p>
          )}
        </details>
      ))}
      {view.omitted_count === 0 ? null : <p class="quiet">{t.omitted(view.omitted_count)}</p>}
    </div>
  );
}

const withoutNotes = { published: "no_notes", none: "no_notes", unknown: "unread", no_source: "no_source" } as const;

function NotesText({ ctx, version, html }: { ctx: PageContext; version: VersionNotes; html: string | undefined }) {
  const t = texts(ctx).notes;
  if (html !== undefined) {
    return (
      <div class="prose" hx-ignore>
        {raw(html)}
      </div>
    );
  }
  if (version.notes !== null && version.notes.trim() !== "") return <p class="quiet prose">{t.too_long}</p>;
  if (version.notes_error_data === null) return <p class="quiet prose">{t[withoutNotes[version.notes_state]]}</p>;
  return <p class="quiet prose">{withCode(t.failed(translatePart(ctx.language, version.notes_error_data)))}</p>;
}

interface MarkedProps {
  ctx: PageContext;
  /** Newest first. */
  versions: readonly Pick<VersionNotes, "version" | "breaking_changes" | "security_fixes">[];
}

/** First of all the required actions of every version in between. */
function BreakingChanges({ ctx, versions, is_update }: MarkedProps & { is_update: boolean }) {
  const t = texts(ctx).notes;
  const count = versions.reduce((sum, version) => sum + version.breaking_changes.length, 0);
  if (count === 0) return null;
  return (
    <Banner tone="attention" title={is_update ? t.breaking_count(count) : t.breaking}>
      {versions.map(({ version, breaking_changes }) =>
        breaking_changes.length === 0 ? null : (
          <div class="breaking-of">
            {is_update || versions.length > 1 ? <b>{t.breaking_in(version)}</b> : null}
            <ul>
              {breaking_changes.slice(0, namedLines).map(({ text }) => (
                <li>{text}</li>
              ))}
            </ul>
            {breaking_changes.length > namedLines ? <p>{t.more(breaking_changes.length - namedLines)}</p> : null}
          </div>
        ),
      )}
    </Banner>
  );
}

/** What breaks with an update, before it is approved; several trackers are named. */
export function BreakingUpdate({ ctx, steps }: { ctx: PageContext; steps: readonly BreakingStep[] }) {
  const breaking = steps.filter((step) => step.versions.length > 0);
  const versions = breaking.flatMap((step) =>
    step.versions.map((each) => ({
      ...each,
      version: breaking.length === 1 ? each.version : `${step.tracker} ${each.version}`,
    })),
  );
  const unread = steps.filter(({ notes }) => notes === "unread").map(({ tracker }) => tracker);
  return (
    <>
      <BreakingChanges ctx={ctx} versions={versions} is_update />
      {unread.length === 0 ? null : <p class="quiet">{texts(ctx).notes.unread_of(unread.join(", "))}</p>}
    </>
  );
}

/** How many holes the versions close, with the advisories that they name. */
function SecurityFixes({ ctx, versions }: MarkedProps) {
  const t = texts(ctx).notes;
  const fixes = versions.flatMap(({ security_fixes }) => security_fixes);
  const ids = [...new Set(fixes.flatMap((fix) => fix.ids))];
  if (fixes.length === 0) return null;
  return (
    <p class="meta security-fixes">
      <span>
        <Icon name="shield" /> <b>{t.security_count(fixes.length)}</b>
      </span>
      {ids.slice(0, namedAdvisories).map((id) => (
        <span class="version">{id}</span>
      ))}
    </p>
  );
}

/** A link for each source that has a page, by the source's key. */
export function SourceLinks({ ctx, links }: { ctx: PageContext; links: VersionNotes["links"] }) {
  return (
    <span class="meta">
      {links.map(({ source_key, url: address }) => (
        <span>
          <SafeLink ctx={ctx} href={address}>
            {source_key}
          </SafeLink>
        </span>
      ))}
    </span>
  );
}

interface NotesLinkProps {
  ctx: PageContext;
  tracker: string;
  /** The tag that finds them. */
  tag: string;
}

/** The notes in a dialog; without script on their own page. */
export function NotesLink({ ctx, tracker, tag }: NotesLinkProps) {
  const address = url(ctx, notesPath(tracker, { to: tag }));
  return (
    <a href={address} hx-get={address} hx-target="#dialog" hx-swap="innerHTML">
      {texts(ctx).notes.title}
    </a>
  );
}

interface NotesSectionProps {
  ctx: PageContext;
  tracker: string;
  from: string | null;
  to: string;
  channel?: string;
  /** Where several are listed below each other. */
  is_named?: boolean;
}

/** What a step from one version to another brings, loaded after its page. */
export function NotesSection({ ctx, tracker, is_named = false, ...asked }: NotesSectionProps) {
  const t = texts(ctx).notes;
  const path = notesPath(tracker, asked);
  const title = asked.from === null ? t.title : t.changes(asked.from, asked.to);
  return (
    <Section
      title={is_named ? t.of_named(tracker, title) : title}
      aside={
        <Link ctx={ctx} href={comparePath(tracker, asked)}>
          {t.compare}
        </Link>
      }
    >
      <div class="stack" hx-get={url(ctx, path)} hx-trigger="load" hx-swap="innerHTML">
        <Later ctx={ctx} text={t.loading} show={t.show} href={path} />
      </div>
    </Section>
  );
}

/** Where a tracker's notes come from, in words. */
export function notesSourceWords(ctx: PageContext, tracker: Pick<TrackerView, "release_notes">): string {
  const t = texts(ctx).notes;
  const { release_notes: settings } = tracker;
  return settings.source === "release" ? t.from_release : t.from_changelog(settings.path_template);
}
