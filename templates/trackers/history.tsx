import type { ReleaseView } from "../../src/trackers/schema.ts";
import { SafeLink } from "../components/link.tsx";
import { type FilterGroup, Filters, Pagination } from "../components/navigation.tsx";
import { Section } from "../components/page-header.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { Badge } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import { Digest, shortDigest, Version } from "../components/version.tsx";
import { dayKey, formatDay, formatRelative } from "../format.ts";
import { isSafeUrl, type PageContext, url, withQuery } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { plainVersion, trackerPath } from "./address.ts";
import type { TrackerPageProps } from "./detail.tsx";

/** One version as a person sees it: the releases of all sources that call it so, published on the same day. */
interface DisplayVersion {
  at: number;
  first: ReleaseView;
  releases: readonly ReleaseView[];
}

function timeOf(release: ReleaseView): number {
  return release.published_at ?? release.first_observed_at;
}

/** By day in the system time zone, the newest first; within a day by version, over all sources. */
function daysOf(
  ctx: PageContext,
  releases: readonly ReleaseView[],
): readonly { day: string; versions: DisplayVersion[] }[] {
  const days = Map.groupBy(releases, (release) => dayKey(ctx, timeOf(release)));
  return [...days].map(([day, ofDay]) => {
    const versions = Map.groupBy(ofDay, (release) => plainVersion(release.version));
    return {
      day,
      versions: [...versions.values()].flatMap((same) => {
        const [first] = same;
        return first === undefined ? [] : [{ at: timeOf(first), first, releases: same }];
      }),
    };
  });
}

/** The year only where it is another one: then it matters. */
function dayTitle(ctx: PageContext, at: number): string {
  const isThisYear = dayKey(ctx, at).slice(0, 4) === dayKey(ctx, ctx.now).slice(0, 4);
  return isThisYear ? formatDay(ctx, at) : `${formatDay(ctx, at)} ${dayKey(ctx, at).slice(0, 4)}`;
}

export function History(props: TrackerPageProps) {
  const { ctx, tracker, releases, filters } = props;
  const t = texts(ctx).trackers;
  const days = daysOf(ctx, releases);
  return (
    <Section title={t.history}>
      <HistoryFilters {...props} />
      {days.length > 0 ? (
        <div class="panel history">
          {days.map(({ versions }) => (
            <div class="day">
              <h3>{dayTitle(ctx, versions[0]?.at ?? ctx.now)}</h3>
              <Rows>
                {versions.map((version) => (
                  <VersionRow
                    ctx={ctx}
                    tracker={tracker.name}
                    version={version}
                    has_many={tracker.sources.length > 1}
                  />
                ))}
              </Rows>
            </div>
          ))}
        </div>
      ) : (
        <div class="panel padded">
          <p>
            <b>{filters.channel === null && filters.source === null ? t.history_empty : t.history_filtered}</b>
          </p>
          <p class="quiet">{tracker.state === "failing" ? t.history_failing : t.history_empty_text}</p>
        </div>
      )}
      <Pagination ctx={ctx} newer={props.is_first_page ? null : ""} older={props.next_cursor} />
    </Section>
  );
}

/** Only what there is to choose from: one channel and one source need no filter. */
function HistoryFilters({ ctx, tracker, filters }: TrackerPageProps) {
  const t = texts(ctx).trackers;
  const types = [...new Set(tracker.sources.flatMap((source) => source.channels.map((channel) => channel.type)))];
  const groups: FilterGroup[] = [];
  if (types.length > 1) {
    const all = { title: t.any_channel, value: null };
    const options = types.map((type) => ({ title: t.channels[type], value: type }));
    groups.push({ name: "channel", title: t.filter_channel, current: filters.channel, options: [all, ...options] });
  }
  if (tracker.sources.length > 1) {
    const all = { title: t.all_sources, value: null };
    const options = tracker.sources.map(({ key }) => ({ title: key, value: key }));
    groups.push({ name: "source", title: t.filter_kind, current: filters.source, options: [all, ...options] });
  }
  return groups.length === 0 ? null : <Filters ctx={ctx} groups={groups} />;
}

interface VersionRowProps {
  ctx: PageContext;
  tracker: string;
  version: DisplayVersion;
  has_many: boolean;
}

function VersionRow({ ctx, tracker, version, has_many }: VersionRowProps) {
  const t = texts(ctx).trackers;
  const { first, releases, at } = version;
  const channels = [...new Set(releases.flatMap((release) => release.channels))];
  const latest = new Set(releases.flatMap((release) => release.latest_in));
  const age = formatRelative(ctx.language, at, ctx.now);
  const moved = releases.filter((release) => release.republished_at !== null);
  return (
    <Row
      ctx={ctx}
      id={`release-${first.id}`}
      title={<Version>{first.version}</Version>}
      fact={
        <span class="badges">
          {channels.map((type) => (
            <Badge>{latest.has(type) ? `${t.channels[type]} · ${t.latest}` : t.channels[type]}</Badge>
          ))}
          {moved.map((release) => (
            <Badge icon="rotate-ccw" {...movedTitle(ctx, release)}>
              {t.republished} {formatRelative(ctx.language, release.republished_at ?? at, ctx.now)}
            </Badge>
          ))}
        </span>
      }
      meta={[
        <Time ctx={ctx} at={at} form="clock" />,
        first.published_at === null ? t.seen(age) : t.age(age),
        ...releases.map((release) => <Revision ctx={ctx} release={release} has_many={has_many} />),
        first.url !== null && isSafeUrl(first.url) ? (
          <SafeLink ctx={ctx} href={first.url}>
            {t.notes}
          </SafeLink>
        ) : null,
      ]}
      action={<WhyLink ctx={ctx} tracker={tracker} tag={first.tag} />}
    />
  );
}

function movedTitle(ctx: PageContext, release: ReleaseView): { title?: string } {
  if (release.previous_revision === null) return {};
  return { title: texts(ctx).trackers.republished_help(shortDigest(release.previous_revision)) };
}

function Revision({ ctx, release, has_many }: { ctx: PageContext; release: ReleaseView; has_many: boolean }) {
  const t = texts(ctx).trackers;
  const tag = release.tag === release.version ? null : <Version>{release.tag} </Version>;
  return (
    <>
      {has_many ? `${release.source_key} ` : null}
      {tag}
      {release.revision === null ? t.no_revision : <Digest ctx={ctx} value={release.revision} copy />}
    </>
  );
}

/** The verdicts on this tag, in a dialog; without script as a part of this page under its own address. */
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
