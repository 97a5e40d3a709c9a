import type { BulkOutcome, TrackerBulkAction, TrackerReview } from "../../src/bulk/schema.ts";
import type { TrackerView } from "../../src/trackers/schema.ts";
import { BulkConfirm, BulkGonePage, BulkOutcomePage, LeftOut, selectionOf, summaryOf } from "../components/bulk.tsx";
import type { ListProps } from "../components/list-page.tsx";
import { Row } from "../components/rows.tsx";
import type { SelectionBarProps } from "../components/selection.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { addressOf, trackerPath } from "./address.ts";

/** A tracker can be named "bulk", but not "-". */
export const trackerBulkPath = "/trackers/-/bulk";

/** What can be done with the trackers of a list, as far as one of them calls for it. */
export function trackerSelection(list: ListProps<TrackerView>): Omit<SelectionBarProps, "ctx"> {
  const { matching, offer } = selectionOf(list);
  return {
    form: "trackers-selection",
    action: trackerBulkPath,
    buttons: [
      ...offer("check"),
      ...offer("enable", ({ is_enabled }) => !is_enabled),
      ...offer("disable", ({ is_enabled }) => is_enabled),
      ...offer("delete"),
    ],
    more: [],
    matching,
  };
}

interface TrackerBulkQuestionProps {
  ctx: PageContext;
  reviews: readonly TrackerReview[];
  /** Where it was asked for. */
  back: string;
}

/** The one question before several trackers are deleted: which these are, and which stay because executors follow them. */
export function TrackerBulkQuestion({ ctx, reviews, back }: TrackerBulkQuestionProps) {
  const t = texts(ctx).tracker_bulk;
  const ready = reviews.filter(({ problem }) => problem === null);
  const others = reviews.flatMap(({ tracker: { name }, problem }) =>
    problem === null ? [] : [{ name, href: trackerPath(name), problems: [problem] }],
  );
  return (
    <BulkConfirm
      {...{ ctx, back, path: trackerBulkPath, section: "trackers", action: "delete" }}
      title={t.delete_title(ready.length)}
      verb={t.delete_verb}
      nothing={reviews.length === 0 ? t.none_selected : t.nothing_to_delete}
      ready={ready.map(({ tracker: { id, name, sources } }) => (
        <Row
          ctx={ctx}
          title={
            <>
              <input type="hidden" name="tracker" value={id} />
              {name}
            </>
          }
          meta={sources.map(addressOf)}
        />
      ))}
      left={
        reviews.length === 0 ? (
          <p>{t.select_one}</p>
        ) : (
          <LeftOut ctx={ctx} title={t.left_out(others.length)} entries={others} />
        )
      }
    >
      <p>{t.delete_text}</p>
    </BulkConfirm>
  );
}

interface TrackerBulkResultProps {
  ctx: PageContext;
  result: BulkOutcome<TrackerBulkAction>;
  /** The list's address. */
  back: string;
}

/** What happened to each tracker. */
export function TrackerBulkResultPage({ ctx, result, back }: TrackerBulkResultProps) {
  return (
    <BulkOutcomePage
      ctx={ctx}
      section="trackers"
      title={trackerBulkSummary(ctx, result)}
      outcome={result}
      back={back}
      to_list={texts(ctx).tracker_bulk.to_list}
      pathOf={({ name }) => trackerPath(name)}
    />
  );
}

export function TrackerBulkResultGone({ ctx }: { ctx: PageContext }) {
  const { gone_text, to_list } = texts(ctx).tracker_bulk;
  return <BulkGonePage {...{ ctx, to_list }} section="trackers" text={gone_text} />;
}

export function trackerBulkSummary(ctx: PageContext, result: BulkOutcome<TrackerBulkAction>): string {
  return summaryOf(ctx, texts(ctx).tracker_bulk.results, result);
}
