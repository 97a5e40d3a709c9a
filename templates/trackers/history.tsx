import type { Child } from "hono/jsx";
import type { ReleaseView, VersionView } from "../../src/trackers/releases/schema.ts";
import { Link, SafeLink } from "../components/link.tsx";
import { filtersOf } from "../components/list-page.tsx";
import { Filters, Pagination } from "../components/navigation.tsx";
import { Section } from "../components/page-header.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { Badge } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import { Digest, shortDigest, Version } from "../components/version.tsx";
import { dayKey, formatBytes, formatDay, formatRelative } from "../format.ts";
import { type PageContext, url, withQuery } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "./address.ts";
import { channelWord } from "./channel-words.ts";
import type { TrackerPageProps } from "./detail.tsx";
import { NotesLink } from "./notes.tsx";
import { ChannelPills } from "./pills.tsx";

/** By day in the system time zone, newest first. */
function daysOf(ctx: PageContext, versions: readonly VersionView[]): readonly (readonly VersionView[])[] {
  return [...Map.groupBy(versions, (version) => dayKey(ctx, version.published_at)).values()];
}

export function History(props: TrackerPageProps) {
  const { ctx, tracker, versions, filters } = props;
  const t = texts(ctx).trackers;
  const days = daysOf(ctx, versions);
  return (
    <Section
      title={t.history}
      aside={
        <Link ctx={ctx} href={`${trackerPath(tracker.name)}/compare`}>
          {texts(ctx).notes.compare}
        </Link>
      }
    >
      <HistoryFilters {...props} />
      {days.length > 0 ? (
        <div class="panel history">
          {days.map((day) => (
            <div class="day">
              <h3>{formatDay(ctx, day[0]?.published_at ?? ctx.now)}</h3>
              <Rows>
                {day.map((version) => (
                  <VersionRow
                    ctx={ctx}
                    tracker={tracker.name}
                    version={version}
                    has_many={tracker.sources.length > 1}
                    marks={props.marks}
                  />
                ))}
              </Rows>
            </div>
          ))}
        </div>
      ) : (
        <div class="panel padded">
          <p>
            <b>{Object.keys(filters).length === 0 ? t.history_empty : t.history_filtered}</b>
          </p>
          <p class="quiet">{tracker.state === "failing" ? t.history_failing : t.history_empty_text}</p>
        </div>
      )}
      <Pagination ctx={ctx} newer={props.is_first_page ? null : ""} older={props.next_cursor} />
    </Section>
  );
}

function HistoryFilters({ ctx, tracker, filters, counts }: TrackerPageProps) {
  const t = texts(ctx).trackers;
  const names = [...new Set(tracker.sources.flatMap(({ channels }) => channels.map(({ name }) => name)))];
  const keys = tracker.sources.map(({ key }) => key);
  const { groups } = filtersOf({
    ctx,
    asked: { filters },
    counts,
    filters: [
      {
        name: "channel",
        title: t.filter_channel,
        all: t.any_channel,
        options: names.map((name) => [name, channelWord(ctx, name)]),
      },
      { name: "source", title: t.filter_kind, all: t.all_sources, options: keys.map((key) => [key, key]) },
    ],
  });
  return groups.length === 0 ? null : <Filters ctx={ctx} groups={groups} />;
}

interface VersionRowProps {
  ctx: PageContext;
  tracker: string;
  version: VersionView;
  has_many: boolean;
  marks: TrackerPageProps["marks"];
}

/** What the notes of a version announce; sources with the same notes count once. */
function marksOf(releases: readonly ReleaseView[], marks: TrackerPageProps["marks"]) {
  const own = releases.flatMap(({ id }) => marks.get(id) ?? []);
  return {
    breaking: Math.max(0, ...own.map(({ breaking }) => breaking)),
    security: Math.max(0, ...own.map(({ security }) => security)),
  };
}

/** One version with the releases of all sources. */
function VersionRow({ ctx, tracker, version, has_many, marks }: VersionRowProps) {
  const { trackers: t, notes } = texts(ctx);
  const { aliases, published_at: at } = version;
  const releases = version.releases.filter(({ tag }) => !aliases.includes(tag));
  const [first] = releases;
  if (first === undefined) return null;
  const age = formatRelative(ctx.language, at, ctx.now);
  const announced = marksOf(releases, marks);
  const moved = releases.filter((release) => release.republished_at !== null);
  return (
    <Row
      ctx={ctx}
      id={`release-${first.id}`}
      title={<Version>{has_many ? version.version : first.version}</Version>}
      fact={
        <span class="badges">
          <ChannelPills ctx={ctx} takers={version.releases.flatMap(takersOf)} />
          {moved.map((release) => (
            <Badge icon="rotate-ccw" {...movedTitle(ctx, release)}>
              {t.republished} {formatRelative(ctx.language, release.republished_at ?? at, ctx.now)}
            </Badge>
          ))}
          {announced.breaking === 0 ? null : (
            <Badge icon="triangle-alert">{notes.breaking_badge(announced.breaking)}</Badge>
          )}
          {announced.security === 0 ? null : <Badge icon="shield">{notes.security_count(announced.security)}</Badge>}
          {releases.some((release) => release.is_deprecated) ? <Badge>{t.deprecated}</Badge> : null}
          {has_many ? <Agreement ctx={ctx} version={version} /> : null}
        </span>
      }
      meta={[
        <Time ctx={ctx} at={at} form="clock" />,
        version.is_published ? t.age(age) : t.seen(age),
        ...releases.map((release) => (
          <Revision ctx={ctx} release={release} has_many={has_many} version={version.version} />
        )),
        aliases.length === 0 ? null : (
          <>
            {t.aliases} <Version>{aliases.join(", ")}</Version>
          </>
        ),
        historyNotes(ctx, tracker, releases),
      ]}
      action={<WhyLink ctx={ctx} tracker={tracker} tag={first.tag} />}
    />
  );
}

function takersOf({ channels, latest_in, maturity, remark }: ReleaseView) {
  return channels.map((name) => ({ name, maturity, is_latest: latest_in.includes(name), remark }));
}

/** The stored notes, or why there are none; null if nothing is known of them. */
function historyNotes(ctx: PageContext, tracker: string, releases: readonly ReleaseView[]): Child {
  const told = releases.find((release) => release.has_notes || release.notes_error !== null);
  return told === undefined ? null : <NotesLink ctx={ctx} tracker={tracker} tag={told.tag} />;
}

/** Which sources are missing it, and whether the image was built from the tag's commit. */
function Agreement({ ctx, version }: { ctx: PageContext; version: VersionView }) {
  const t = texts(ctx).trackers;
  return (
    <>
      {version.missing.length === 0 ? null : <Badge>{t.not_shown_by(version.missing.join(", "))}</Badge>}
      {version.unread.length === 0 ? null : <Badge>{t.not_read_in(version.unread.join(", "))}</Badge>}
      {version.missing.length + version.unread.length > 0 ? null : <Badge icon="check">{t.all_agree}</Badge>}
      {version.build === "matches" ? (
        <Badge icon="check" title={t.build_matches_help}>
          {t.build_matches}
        </Badge>
      ) : null}
      {version.build === "differs" ? (
        <Badge icon="triangle-alert" title={t.build_differs_help}>
          {t.build_differs}
        </Badge>
      ) : null}
    </>
  );
}

function movedTitle(ctx: PageContext, release: ReleaseView): { title?: string } {
  if (release.previous_revision === null) return {};
  return { title: texts(ctx).trackers.republished_help(shortDigest(release.previous_revision)) };
}

interface RevisionProps {
  ctx: PageContext;
  release: ReleaseView;
  has_many: boolean;
  /** The row's name: releases with another version say so. */
  version: string;
}

function Revision({ ctx, release, has_many, version }: RevisionProps) {
  const t = texts(ctx).trackers;
  const name = has_many ? version : release.version;
  const stands = release.stands_for;
  return (
    <>
      {has_many ? (
        <>
          <SourceName ctx={ctx} release={release} />{" "}
        </>
      ) : null}
      {release.tag === name ? null : <Version>{release.tag} </Version>}
      {has_many || release.app_version === null || release.app_version === name ? null : (
        <>
          {t.app_version} <Version>{release.app_version} </Version>
        </>
      )}
      {stands === null ? null : (
        <>
          {t.stands_for} <Version>{stands} </Version>
        </>
      )}
      {release.revision === null ? t.no_revision : <Digest ctx={ctx} value={release.revision} copy />}
      {release.size_bytes === null ? null : (
        <span class="num" title={texts(ctx).common.image_size.title(release.size_platform ?? "")}>
          {" "}
          {formatBytes(ctx.language, release.size_bytes)}
        </span>
      )}
      {has_many || release.web_url === null ? null : (
        <>
          {" "}
          <SafeLink ctx={ctx} href={release.web_url}>
            {new URL(release.web_url).host}
          </SafeLink>
        </>
      )}
    </>
  );
}

/** The source's key, which leads to the version's page there. */
function SourceName({ ctx, release }: Pick<RevisionProps, "ctx" | "release">) {
  if (release.web_url === null) return <>{release.source_key}</>;
  return (
    <SafeLink ctx={ctx} href={release.web_url}>
      {release.source_key}
    </SafeLink>
  );
}

/** The verdicts on this tag, in a dialog; without script as part of this page under its own address. */
function WhyLink({ ctx, tracker, tag }: { ctx: PageContext; tracker: string; tag: string }) {
  const t = texts(ctx).trackers;
  const address = url(ctx, withQuery(trackerPath(tracker), { explain: tag }));
  return (
    <a
      class="btn bare small"
      href={address}
      aria-label={t.why_of(tag)}
      hx-get={address}
      hx-target="#dialog"
      hx-swap="innerHTML"
    >
      <span>{t.why}</span>
    </a>
  );
}
