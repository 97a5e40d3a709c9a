import { parseInstant } from "../../src/clock.ts";
import type { LogLineView, LogNews, LogPartView, LogView } from "../../src/logs/schema.ts";
import type { Message } from "../../src/messages/message.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader, Panel } from "../components/page-header.tsx";
import { State } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import { Layout } from "../layout.tsx";
import { type PageContext, type Tone, url } from "../page.ts";
import { translateMessage, translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

interface LogsPageProps {
  ctx: PageContext;
  executor: { id: string; name: string };
  /** Null if nothing could be read; then `failure` says why. */
  view: LogView | null;
  failure: Message | null;
  /** Every container that can be chosen, by name, and those that are; none are all. */
  names: readonly string[];
  chosen: readonly string[];
  /** Of each container. */
  lines: number;
  /** Where the page is followed from, and the marks of what it shows; null if it is not followed. */
  stream: { path: string; after: string } | null;
  /** Why it is not followed. */
  refusal: Message | null;
}

const lineChoices = [50, 100, 200, 500];

export function LogsPage(props: LogsPageProps) {
  const { ctx, executor, view, failure, stream, refusal } = props;
  const t = texts(ctx).logs;
  return (
    <Layout ctx={ctx} title={t.title_of(executor.name)} section="executors" logs={stream !== null}>
      <PageHeader
        ctx={ctx}
        parent={{ title: executor.name, href: `/executors/${executor.id}` }}
        title={t.title_of(executor.name)}
        state={stream === null ? undefined : <LogStatus ctx={ctx} />}
        lead={t.lead}
        actions={<LogActions ctx={ctx} isLive={stream !== null} />}
      />
      {failure === null || stream !== null ? null : (
        <Banner tone="failed" title={t.failed}>
          {translateSentence(ctx.language, failure)}
        </Banner>
      )}
      {refusal === null ? null : (
        <Banner tone="attention" title={t.not_live}>
          {translateSentence(ctx.language, refusal)}
        </Banner>
      )}
      <LogChoice {...props} />
      {failure === null || stream === null ? <div id="log-end" /> : <LogEnd ctx={ctx} why={failure} />}
      <template id="log-lost">
        <LogEnd ctx={ctx} why={null} />
      </template>
      {view === null ? (
        <ul id="log-parts" class="log-parts" />
      ) : (
        <LogParts ctx={ctx} parts={view.containers} more={view.more_containers} />
      )}
      {view === null && stream === null ? null : <Lines ctx={ctx} view={view} stream={stream} />}
    </Layout>
  );
}

/** Set by the script; empty without. */
function LogStatus({ ctx }: { ctx: PageContext }) {
  const { connecting, following, paused, ended } = texts(ctx).logs.status;
  const words = {
    "data-connecting": connecting,
    "data-following": following,
    "data-paused": paused,
    "data-ended": ended,
  };
  return <span id="log-status" class="quiet" role="status" {...words} />;
}

function LogActions({ ctx, isLive }: { ctx: PageContext; isLive: boolean }) {
  const t = texts(ctx).logs;
  return (
    <>
      {isLive ? (
        <button type="button" class="btn" id="log-pause" data-pause={t.pause} data-follow={t.follow} hidden>
          {t.pause}
        </button>
      ) : null}
      <LinkButton ctx={ctx} href={ctx.path} icon="refresh-cw">
        {t.reload}
      </LinkButton>
    </>
  );
}

function LogChoice({ ctx, executor, names, chosen, lines }: LogsPageProps) {
  const t = texts(ctx).logs;
  return (
    <form class="log-choice" method="get" action={url(ctx, `/executors/${executor.id}/logs`)}>
      <LogNames ctx={ctx} names={names} chosen={chosen} />
      <label for="log-lines-wanted">{t.lines}</label>
      <select class="input" id="log-lines-wanted" name="lines">
        {[...new Set([...lineChoices, lines])]
          .toSorted((a, b) => a - b)
          .map((count) => (
            <option value={String(count)} selected={count === lines}>
              {String(count)}
            </option>
          ))}
      </select>
      <Button type="submit">{t.show}</Button>
    </form>
  );
}

/** The containers to choose from, if there are several; `logs.js` replaces them when there are others. */
function LogNames({ ctx, names, chosen }: Pick<LogsPageProps, "ctx" | "names" | "chosen">) {
  if (names.length < 2) {
    return (
      <div id="log-names" hidden>
        {chosen.map((name) => (
          <input type="hidden" name="container" value={name} />
        ))}
      </div>
    );
  }
  return (
    <fieldset id="log-names">
      <legend>{texts(ctx).logs.containers}</legend>
      {names.map((name) => (
        <label class="tick">
          <input type="checkbox" name="container" value={name} checked={chosen.length === 0 || chosen.includes(name)} />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}

const tones: Readonly<Record<LogPartView["state"], Tone>> = {
  running: "current",
  waiting: "attention",
  stopped: "quiet",
};

/** The containers and the states of their logs. */
function LogParts({ ctx, parts, more }: { ctx: PageContext; parts: readonly LogPartView[]; more: number }) {
  const t = texts(ctx).logs;
  return (
    <ul id="log-parts" class="log-parts">
      {parts.length === 0 ? <li class="quiet">{t.none}</li> : null}
      {parts.map((part) => (
        <li>
          <span class="version">{nameOf(part, parts.length)}</span>{" "}
          <State ctx={ctx} tone={tones[part.state]}>
            {t.states[part.state]}
          </State>
          {part.why_data === null ? null : <span class="quiet">{translateMessage(ctx.language, part.why_data)}</span>}
        </li>
      ))}
      {more === 0 ? null : <li class="quiet">{t.more(more)}</li>}
    </ul>
  );
}

/** Of several containers each with its service, unless its name says it. */
function nameOf({ name, service }: LogPartView, parts: number): string {
  return parts < 2 || service === "main" || name.split("/").includes(service) ? name : `${service} · ${name}`;
}

function Lines({ ctx, view, stream }: Pick<LogsPageProps, "ctx" | "view" | "stream">) {
  const t = texts(ctx).logs;
  const containers = view?.containers ?? [];
  const live =
    stream === null
      ? {}
      : {
          "data-stream": url(ctx, stream.path),
          "data-after": stream.after,
          "data-skipped": t.skipped_paused,
        };
  // Screen readers should not read out hundreds of lines a second.
  return (
    <>
      <div
        id="log-lines"
        class="log-lines"
        role="log"
        aria-live="off"
        aria-label={t.lines_label}
        tabindex={0}
        {...live}
      >
        {byTime(containers).map(({ part, line }) => (
          <LogLines ctx={ctx} part={part} lines={[line]} parts={containers.length} />
        ))}
      </div>
      <Panel>
        <p class="quiet">{t.nothing}</p>
      </Panel>
    </>
  );
}

/** The lines of all containers in one order; one without a time stays behind the line before it. */
function byTime(containers: LogView["containers"]): readonly { part: LogPartView; line: LogLineView; at: string }[] {
  const entries = containers.flatMap((part) => {
    let last = "";
    return part.lines.map((line) => {
      last = line.at ?? last;
      return { part, line, at: last };
    });
  });
  return entries.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

interface LogLinesProps {
  ctx: PageContext;
  part: LogPartView;
  lines: readonly LogLineView[];
  /** How many containers are shown. */
  parts: number;
}

function LogLines({ ctx, part, lines, parts }: LogLinesProps) {
  return (
    <>
      {lines.map(({ at, text }) => (
        <p>
          {at === null ? null : <Time ctx={ctx} at={parseInstant(at)} form="precise" />}
          {parts < 2 ? null : <b>{nameOf(part, parts)}</b>}
          <span>{text}</span>
        </p>
      ))}
    </>
  );
}

interface LogNewsProps extends Pick<LogsPageProps, "ctx" | "chosen"> {
  news: LogNews;
  /** How many containers are shown. */
  parts: number;
}

/** What a followed page receives. */
export function LogNewsPart({ ctx, news, chosen, parts }: LogNewsProps) {
  const t = texts(ctx).logs;
  if (news.kind === "parts") {
    return (
      <>
        <LogNames ctx={ctx} names={news.all} chosen={chosen} />
        <LogParts ctx={ctx} parts={news.parts} more={news.more} />
      </>
    );
  }
  if (news.kind === "end") return <LogEnd ctx={ctx} why={news.why} />;
  const { part, lines, skipped, has_restarted } = news;
  return (
    <>
      {skipped === 0 ? null : <p class="log-note">{t.skipped(skipped)}</p>}
      {has_restarted ? <p class="log-note">{t.restarted(part.container)}</p> : null}
      <LogLines ctx={ctx} part={part} lines={lines} parts={parts} />
    </>
  );
}

/** Trying again would not help, or is up to the person. */
const lastCodes: readonly string[] = ["logs.ended_by_time", "logs.ended_by_target", "logs.too_many_own"];

/** Nothing more follows; `why`: null if the page lost its stream and does not know. */
function LogEnd({ ctx, why }: { ctx: PageContext; why: Message | null }) {
  const t = texts(ctx).logs;
  const isTriedAgain = why !== null && !lastCodes.includes(why.code);
  const action = (
    <LinkButton ctx={ctx} href={ctx.path} attributes={{ "data-continue": "" }}>
      {t.continue}
    </LinkButton>
  );
  return (
    <div id="log-end" data-again={isTriedAgain ? "" : undefined}>
      <Banner tone="attention" title={isTriedAgain ? t.failed : t.ended_title} action={action}>
        {why === null ? t.lost_text : translateSentence(ctx.language, why)}
        {isTriedAgain ? <p class="scripted">{t.again}</p> : null}
      </Banner>
    </div>
  );
}
