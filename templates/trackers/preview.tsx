import type { FieldErrors } from "../../src/errors.ts";
import type { Message } from "../../src/messages/message.ts";
import type { PreviewView, Verdict } from "../../src/trackers/previews/schema.ts";
import type { SourceView } from "../../src/trackers/schema.ts";
import type { Maturity } from "../../src/versions/maturity.ts";
import { withCode } from "../components/code.tsx";
import { fieldId } from "../components/field.tsx";
import { Icon } from "../components/icon.tsx";
import { Link } from "../components/link.tsx";
import { Banner, Partial } from "../components/notice.tsx";
import { Badge } from "../components/state.tsx";
import { Version } from "../components/version.tsx";
import { formatClock } from "../format.ts";
import { classes, type PageContext, withQuery } from "../page.ts";
import { translateMessage, translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { Backtest, CheckCost } from "./backtest.tsx";
import { channelWord } from "./channel-words.ts";
import { OlderLines } from "./older-lines.tsx";
import { ChannelPills } from "./pills.tsx";
import { reasonOf } from "./state.tsx";

/** The preview of one source of the form. */
export interface PreviewPart {
  /** The source's key as entered. */
  key: string;
  /** Null for an unknown kind in the form. */
  kind: SourceView["kind"] | null;
  /** Paths of the source with a place for messages below their field. */
  places: readonly string[];
  outcome:
    | { kind: "judged"; view: PreviewView; exclude_paths: readonly string[] }
    /** Upstream could not be asked, in its own words. */
    | { kind: "failed"; message: Message }
    /** By path from the top of the form. */
    | { kind: "refused"; errors: FieldErrors }
    /** Required fields are still empty. */
    | { kind: "waits" };
}

type Judged = Extract<PreviewPart["outcome"], { kind: "judged" }>;

/** Rows drawn per source: fewer each with several sources, because a person reads only one. */
const shownTags = { alone: 300, among: 60 };

/** The id of the preview's place below a field. */
export function liveId(path: string): string {
  return `live-${fieldId(path)}`;
}

/** The response to each keystroke: the judged tags, and the errors or results at each field. */
export function PreviewAnswer({ ctx, parts }: { ctx: PageContext; parts: readonly PreviewPart[] }) {
  return (
    <>
      {parts.map((part) => (
        <PartView ctx={ctx} part={part} is_alone={parts.length === 1} />
      ))}
      {parts.flatMap((part) => part.places.map((path) => <Place ctx={ctx} part={part} path={path} />))}
    </>
  );
}

function Place({ ctx, part, path }: { ctx: PageContext; part: PreviewPart; path: string }) {
  const { outcome } = part;
  const error = outcome.kind === "refused" ? outcome.errors[path] : undefined;
  return (
    <Partial target={`#${liveId(path)}`} swap="innerHTML">
      {error !== undefined ? (
        <p class="field-error">
          <Icon name="triangle-alert" />
          <span>{withCode(translateMessage(ctx.language, error))}</span>
        </p>
      ) : outcome.kind === "judged" ? (
        <ChannelResult ctx={ctx} outcome={outcome} path={path} />
      ) : null}
    </Partial>
  );
}

/** Below a channel's last pattern: what the two patterns pick together. */
function ChannelResult({ ctx, outcome, path }: { ctx: PageContext; outcome: Judged; path: string }) {
  const channel = outcome.view.channels[outcome.exclude_paths.indexOf(path)];
  return channel === undefined ? null : <Result ctx={ctx} view={outcome.view} channel={channel} />;
}

interface ResultProps {
  ctx: PageContext;
  view: PreviewView;
  channel: PreviewView["channels"][number];
}

function Result({ ctx, view, channel }: ResultProps) {
  const t = texts(ctx).trackers.preview;
  return (
    <p class="picks">
      {channel.latest === null ? (
        <b>{t.none}</b>
      ) : (
        <span>
          {t.latest} <Version tone="new">{channel.latest}</Version>
        </span>
      )}
      <span class="quiet">{t.counts(channel.accepted_count, view.total)}</span>
    </p>
  );
}

function PartView({ ctx, part, is_alone }: { ctx: PageContext; part: PreviewPart; is_alone: boolean }) {
  const t = texts(ctx).trackers.preview;
  const { outcome } = part;
  return (
    <section class="preview-part">
      {is_alone ? null : <h3>{part.key}</h3>}
      {outcome.kind === "waits" ? (
        <p class="quiet">{t.waits}</p>
      ) : outcome.kind === "refused" ? (
        <p class="quiet">{t.invalid}</p>
      ) : outcome.kind === "failed" ? (
        <Banner tone="attention" title={t.failed}>
          <p>{reasonOf(ctx, outcome.message, translateSentence)}</p>
          <p>
            {t.failed_help}{" "}
            <Link ctx={ctx} href={withQuery("/credentials/new", { kind: part.kind })}>
              {t.failed_credential}
            </Link>
          </p>
        </Banner>
      ) : (
        <JudgedTags ctx={ctx} outcome={outcome} limit={is_alone ? shownTags.alone : shownTags.among} />
      )}
    </section>
  );
}

function JudgedTags({ ctx, outcome: { view }, limit }: { ctx: PageContext; outcome: Judged; limit: number }) {
  const words = texts(ctx).trackers;
  const t = words.preview;
  const shown = view.tags.slice(0, limit);
  return (
    <>
      <OlderLines ctx={ctx} view={view} />
      {view.channels.map((channel) => (
        <div class="picks-channel">
          {view.channels.length === 1 ? null : <span class="label">{channelWord(ctx, channel.name)}</span>}
          <Result ctx={ctx} view={view} channel={channel} />
          <Backtest ctx={ctx} channel={channel} undated={view.total - view.dated_count} />
        </div>
      ))}
      {view.total === 0 ? <p class="quiet">{t.no_tags}</p> : null}
      <p class="meta">
        <span>{t.listed(formatClock(ctx, view.listed_at))}</span>
        {view.dated_count === view.total ? null : <span>{t.by_version}</span>}
      </p>
      <CheckCost ctx={ctx} cost={view.cost} />
      {shown.length === 0 ? null : (
        <ol class="judged" tabindex={0} aria-label={t.judged}>
          {shown.map(({ tag, maturity, verdicts }) => (
            <JudgedTag ctx={ctx} tag={tag} maturity={maturity} verdicts={verdicts} latest={latestIn(view, tag)} />
          ))}
          {view.total > shown.length ? <li class="more-tags quiet">{t.more(view.total - shown.length)}</li> : null}
        </ol>
      )}
    </>
  );
}

function latestIn(view: PreviewView, tag: string): readonly string[] {
  return view.channels.filter((channel) => channel.latest === tag).map((channel) => channel.name);
}

interface JudgedTagProps {
  ctx: PageContext;
  tag: string;
  maturity: Maturity;
  verdicts: readonly Verdict[];
  latest: readonly string[];
}

function JudgedTag({ ctx, tag, maturity, verdicts, latest }: JudgedTagProps) {
  const t = texts(ctx).trackers;
  const takers = verdicts.filter((verdict) => verdict.accepted);
  const decisive = takers[0] ?? verdicts[0];
  const isSingle = verdicts.length === 1;
  return (
    <li class={classes("judged-tag", takers.length === 0 && "refused")}>
      <Icon name={takers.length > 0 ? "check" : "circle-minus"} label={takers.length > 0 ? t.taken : t.refused} />
      <span class="version">
        <Marked tag={tag} range={decisive?.range ?? null} />
      </span>
      <span class="judged-why">
        {isSingle && latest.length > 0 ? <Badge>{t.places.latest}</Badge> : null}
        {isSingle ? null : (
          <ChannelPills
            ctx={ctx}
            takers={takers.map(({ name }) => ({ name, maturity, is_latest: latest.includes(name) }))}
          />
        )}
        {decisive === undefined || takers.length > 0 ? null : (
          <span title={decisive.pattern ?? undefined}>{t.rule[decisive.rule]}</span>
        )}
      </span>
    </li>
  );
}

/** The tag with the pattern's match marked. */
export function Marked({ tag, range }: { tag: string; range: Verdict["range"] }) {
  if (range === null || range.start === range.end) return <>{tag}</>;
  return (
    <>
      {tag.slice(0, range.start)}
      <mark>{tag.slice(range.start, range.end)}</mark>
      {tag.slice(range.end)}
    </>
  );
}
