import type { Message } from "../../src/messages/message.ts";
import type { SnapshotDiffView } from "../../src/runs/schema.ts";
import { withCode } from "../components/code.tsx";
import { Facts } from "../components/facts.tsx";
import { Banner } from "../components/notice.tsx";
import { State } from "../components/state.tsx";
import { Digest } from "../components/version.tsx";
import { Changes, Files } from "../executors/plan.tsx";
import type { PageContext } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

/** What restoring would change, why that is unknown, or null before it was asked. */
export type Compared = { view: SnapshotDiffView } | { failure: Message } | null;

/** The comparison with what runs now, and whether the images still exist. */
export function SnapshotDiff({ ctx, compared }: { ctx: PageContext; compared: Exclude<Compared, null> }) {
  const t = texts(ctx).snapshots;
  if ("failure" in compared) {
    return (
      <Banner tone="failed" title={t.diff_failed}>
        {translateSentence(ctx.language, compared.failure)}
      </Banner>
    );
  }
  const { view } = compared;
  return (
    <div class="plan">
      {view.refusals.length === 0 ? null : (
        <Banner tone="failed" title={t.refused}>
          {view.refusals.map((refusal) => (
            <p>{withCode(translateSentence(ctx.language, refusal.message_data))}</p>
          ))}
        </Banner>
      )}
      {view.warnings.map((warning) => (
        <Banner tone="attention">{translateSentence(ctx.language, warning.message_data)}</Banner>
      ))}
      {view.is_noop ? (
        <Banner tone="current">{t.diff_none}</Banner>
      ) : view.diff.length === 0 ? (
        <Banner tone="quiet">{t.gone}</Banner>
      ) : (
        <Changes ctx={ctx} diff={view.diff} />
      )}
      {view.is_noop ? null : <Files ctx={ctx} files={view.files} />}
      <Images ctx={ctx} view={view} />
    </div>
  );
}

function Images({ ctx, view }: { ctx: PageContext; view: SnapshotDiffView }) {
  const t = texts(ctx).snapshots;
  if (view.images.length === 0) return null;
  return (
    <Facts
      items={[
        [
          t.images,
          <div>
            {view.images.map(({ id, is_present }) => (
              <div>
                <Digest ctx={ctx} value={id} />{" "}
                <State ctx={ctx} tone={is_present ? "current" : "attention"}>
                  {is_present ? t.image_present : t.image_absent}
                </State>
              </div>
            ))}
          </div>,
        ],
      ]}
    />
  );
}
