import { says } from "../../src/messages/message.ts";
import type { ChannelView, SourceView, TrackerView } from "../../src/trackers/schema.ts";
import { withCode } from "../components/code.tsx";
import { Facts } from "../components/facts.tsx";
import { Icon } from "../components/icon.tsx";
import { Section } from "../components/page-header.tsx";
import { Time } from "../components/time.tsx";
import { Version } from "../components/version.tsx";
import { endSentence, formatBytes, formatDuration, formatNumber, formatRelative, joinSentences } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { addressOf, sourceKindLook } from "./address.ts";
import { channelTitle } from "./channel-words.ts";
import { OlderRemark } from "./older-remark.tsx";
import { failingFor, reasonOf, SourceState } from "./state.tsx";

interface SourcesProps {
  ctx: PageContext;
  tracker: TrackerView;
  /** The credentials' names by their ids. */
  credentials: ReadonlyMap<string, string>;
}

/** A tracker's sources with their last check. */
export function Sources({ ctx, tracker, credentials }: SourcesProps) {
  return (
    <Section title={texts(ctx).trackers.sources}>
      <div class="stack">
        {tracker.sources.map((source) => (
          <SourcePanel ctx={ctx} source={source} credential={credentials.get(source.credential_id ?? "") ?? null} />
        ))}
      </div>
    </Section>
  );
}

function SourcePanel({ ctx, source, credential }: { ctx: PageContext; source: SourceView; credential: string | null }) {
  const t = texts(ctx).trackers;
  const words = texts(ctx).upstreams;
  const kind = sourceKindLook(ctx, source.kind);
  const isLong = source.channels.some(isLongChannel);
  const isAside = isLong || source.channels.length > shownChannels;
  return (
    <article class="panel padded source" id={`source-${source.id}`}>
      <header class="source-head">
        <h3>
          <Icon name={kind.name} label={kind.title} /> {source.key}
        </h3>
        <SourceState ctx={ctx} source={source} />
      </header>
      <p class="version source-address">{addressOf(source)}</p>
      {source.error === null ? null : <Failure ctx={ctx} source={source} />}
      {isAside ? <Channels ctx={ctx} channels={source.channels} is_wide={isLong} /> : null}
      <Facts
        items={[
          ...(isAside ? [] : channelFacts(ctx, source.channels)),
          credential === null ? null : [texts(ctx).common.credential, credential],
          [texts(ctx).trackers.last_check, <LastCheck ctx={ctx} source={source} />],
          [t.tags_upstream, source.upstream_total === null ? null : formatNumber(ctx.language, source.upstream_total)],
          source.waits_until === null
            ? [t.next_check, <Time ctx={ctx} at={source.next_check_at} empty="–" />]
            : [words.waits_until, <Moment ctx={ctx} at={source.waits_until} />],
          [words.cost_of_checks, words.saved_cost(source.requests_per_hour)],
          source.moved_to === null ? null : [words.moved, <Moved ctx={ctx} to={source.moved_to} />],
        ]}
      />
    </article>
  );
}

/** Channels of a source that are shown before the others are unfolded. */
const shownChannels = 5;
/** Characters of a version that has room beside the name of its channel. */
const besideLength = 24;

function isLongChannel({ name, latest }: ChannelView): boolean {
  return Math.max(name.length, latest?.version.length ?? 0) > besideLength;
}

/** The channels of a source with their latest versions. */
function channelFacts(ctx: PageContext, channels: readonly ChannelView[]) {
  return channels.map((channel) => [channelTitle(ctx, channel), <Rules ctx={ctx} channel={channel} />] as const);
}

/** The same where they are many or long: below their names, and the others unfold. */
function Channels({
  ctx,
  channels,
  is_wide,
}: {
  ctx: PageContext;
  channels: readonly ChannelView[];
  is_wide: boolean;
}) {
  const facts = channelFacts(ctx, channels);
  const others = facts.slice(shownChannels);
  return (
    <>
      <Facts wide={is_wide} items={facts.slice(0, shownChannels)} />
      {others.length === 0 ? null : (
        <details class="unfolds">
          <summary>
            <Icon name="chevron-right" />
            {texts(ctx).trackers.more_channels(others.length)}
          </summary>
          <Facts wide={is_wide} items={others} />
        </details>
      )}
    </>
  );
}

/** The clock time of something awaited, and how long it takes. */
function Moment({ ctx, at }: { ctx: PageContext; at: number }) {
  return (
    <>
      <Time ctx={ctx} at={at} form="clock" />
      <span class="rules quiet">
        <Time ctx={ctx} at={at} />
      </span>
    </>
  );
}

function Moved({ ctx, to }: { ctx: PageContext; to: string }) {
  return (
    <>
      <Version>{to}</Version>
      <span class="rules quiet">{texts(ctx).upstreams.moved_help}</span>
    </>
  );
}

/** When the last check ended and what it cost. */
function LastCheck({ ctx, source }: { ctx: PageContext; source: SourceView }) {
  const t = texts(ctx).trackers;
  const { last_request_count, last_byte_count, last_duration_ms } = source;
  const usage = t.requests_text(
    t.request_count(last_request_count ?? 0),
    formatBytes(ctx.language, last_byte_count ?? 0),
    formatDuration(ctx.language, last_duration_ms ?? 0),
  );
  return (
    <>
      <Time ctx={ctx} at={source.last_checked_at} />
      {last_request_count === null ? null : <span class="rules quiet">{usage}</span>}
    </>
  );
}

type Advice = keyof ReturnType<typeof texts>["trackers"]["next_steps"];

/** Advice for failures; those not listed may pass by themselves. A rate limit shows when it ends. */
const adviceByCode: Readonly<Record<string, Advice | null>> = {
  rate_limited: null,
  unauthorized: "unauthorized",
  not_found: "not_found",
  rejected: "rejected",
};

function adviceOn({ error, credential_id }: SourceView): Advice | null {
  if (error?.code === "unauthorized" && credential_id === null) return "add_credential";
  // The reason itself says what to do.
  if (error !== null && says(error.message_data, "sources.kind_unknown")) return null;
  const advice = adviceByCode[error?.code ?? ""];
  return advice === undefined ? "try_again" : advice;
}

/** Why it fails, since when, and how old the data therefore is. */
function Failure({ ctx, source }: { ctx: PageContext; source: SourceView }) {
  const t = texts(ctx).trackers;
  const ago = (at: number) => formatRelative(ctx.language, at, ctx.now);
  const advice = adviceOn(source);
  return (
    <div class="source-failure">
      <p>
        <b>{source.error === null ? "" : withCode(reasonOf(ctx, source.error.message_data))}</b>
      </p>
      <p class="quiet">
        {joinSentences(ctx.language, [
          ...(source.failing_since === null ? [] : [endSentence(ctx.language, failingFor(ctx, source.failing_since))]),
          source.last_success_at === null ? t.never_answered : t.version_may_be_old(ago(source.last_success_at)),
          ...(advice === null ? [] : [t.next_steps[advice]]),
        ])}
      </p>
    </div>
  );
}

/** A chart has its own version beside its application's. */
function isSameVersion({ version, display_version }: { version: string; display_version: string }): boolean {
  return version.endsWith(display_version);
}

/** A channel's latest and the patterns that pick it. */
function Rules({ ctx, channel }: { ctx: PageContext; channel: ChannelView }) {
  const t = texts(ctx).trackers;
  return (
    <>
      {channel.latest === null ? (
        <span class="quiet">{t.no_version}</span>
      ) : (
        <>
          <Version tone={channel.latest.remark === null ? "new" : undefined}>{channel.latest.version}</Version>
          <OlderRemark ctx={ctx} remark={channel.latest.remark} />
          {channel.latest.stands_for === null ? null : (
            <span class="quiet">
              {" "}
              {t.stands_for} <Version>{channel.latest.stands_for}</Version>
            </span>
          )}
          {isSameVersion(channel.latest) ? null : (
            <span class="quiet">
              {" "}
              {t.app_version} <Version>{channel.latest.display_version}</Version>
            </span>
          )}
        </>
      )}
      <span class="rules quiet">
        {channel.include_pattern === "" ? (
          t.takes_all[channel.type]
        ) : (
          <>
            {t.include} <code>{channel.include_pattern}</code>
          </>
        )}
        {channel.exclude_pattern === "" ? null : (
          <>
            {" "}
            {t.exclude} <code>{channel.exclude_pattern}</code>
          </>
        )}
      </span>
    </>
  );
}
