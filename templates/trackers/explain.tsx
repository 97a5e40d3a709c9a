import type { ExplanationView } from "../../src/trackers/previews/schema.ts";
import type { TrackerView } from "../../src/trackers/schema.ts";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { Badge } from "../components/state.tsx";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "./address.ts";
import { channelWord } from "./channel-words.ts";
import { Marked } from "./preview.tsx";

/** Asks about any tag, known or not; the result has its own address. */
export function ExplainForm({ ctx, tracker, tag }: { ctx: PageContext; tracker: TrackerView; tag: string }) {
  const t = texts(ctx).trackers;
  return (
    <form class="explain-form" method="get" action={url(ctx, trackerPath(tracker.name))}>
      <input
        class="input mono"
        name="explain"
        value={tag}
        required
        maxlength={1000}
        placeholder="1.2.3-rc1"
        aria-label={t.explain_field}
        autocomplete="off"
        spellcheck={false}
      />
      <Button type="submit">{t.explain_submit}</Button>
    </form>
  );
}

interface ExplanationProps {
  ctx: PageContext;
  explanation: ExplanationView;
}

/** Each source's channels with the deciding rule, and the tag's rank among those taken. */
export function Explanation({ ctx, explanation }: ExplanationProps) {
  const t = texts(ctx).trackers;
  return (
    <section class="explanation panel padded" id="explanation">
      <h2 id="dialog-title" tabindex={-1}>
        {t.explain_title(explanation.tag)}
      </h2>
      {explanation.sources.map((source) => (
        <div class="explained">
          {explanation.sources.length === 1 ? null : <h3>{source.key}</h3>}
          <p class="quiet">{source.release === null ? t.explain_unknown : t.explain_stored}</p>
          <ul class="verdicts">
            {source.channels.map((channel) => (
              <li class={channel.accepted ? "verdict" : "verdict refused"}>
                <span class="verdict-word">
                  <Icon name={channel.accepted ? "check" : "circle-minus"} />
                  {channel.accepted ? t.taken : t.refused}
                </span>
                <span>
                  <Badge>{channelWord(ctx, channel.name)}</Badge>{" "}
                  <VerdictWords ctx={ctx} tag={explanation.tag} channel={channel} />
                </span>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

type ExplainedChannel = ExplanationView["sources"][number]["channels"][number];

function VerdictWords({ ctx, tag, channel }: { ctx: PageContext; tag: string; channel: ExplainedChannel }) {
  const t = texts(ctx).trackers;
  return (
    <>
      {channel.rule === "no_rule" ? t.no_rule[channel.type] : t.rule[channel.rule]}
      {channel.pattern === null ? null : (
        <>
          {" "}
          <code>{channel.pattern}</code>
        </>
      )}
      {channel.range === null ? null : (
        <>
          {": "}
          <span class="version judged-tag">
            <Marked tag={tag} range={channel.range} />
          </span>
        </>
      )}
      {channel.waits_for_agreement ? <span class="quiet">, {t.explain_waits}</span> : null}
      {channel.rank === null ? null : <span class="quiet">, {t.explain_rank(channel.rank)}</span>}
      {channel.latest === null || channel.rank === 1 ? null : (
        <span class="quiet">, {t.explain_latest(channel.latest)}</span>
      )}
    </>
  );
}

/** The same in the page's dialog. */
export function ExplanationDialog({ ctx, explanation }: ExplanationProps) {
  return (
    <>
      <Explanation ctx={ctx} explanation={explanation} />
      <div class="confirm-actions">
        <button type="button" class="btn" data-close>
          {texts(ctx).common.close}
        </button>
      </div>
    </>
  );
}
