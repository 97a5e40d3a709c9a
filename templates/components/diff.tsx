import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

export interface FieldChange {
  /** The setting: `image`, `Env.PAPERLESS_VERSION`. */
  field: string;
  /** Null: not set. */
  before: string | null;
  after: string | null;
  /** Why it changes: "set by the image". */
  reason?: string | undefined;
}

interface DiffViewProps {
  ctx: PageContext;
  changes: readonly FieldChange[];
  /** How many settings stay unchanged. */
  carried?: number | undefined;
}

/** Changes field by field; the part that differs between two similar values is marked. */
export function DiffView({ ctx, changes, carried }: DiffViewProps) {
  const t = texts(ctx).common.diff;
  return (
    <div class="panel diff">
      {changes.length === 0 ? <p class="diff-note">{t.no_changes}</p> : null}
      {changes.map((change) => (
        <div class="diff-field">
          <p class="diff-name">
            <span>{change.field}</span>
            {change.reason === undefined ? null : <small>{change.reason}</small>}
          </p>
          <ChangeLines ctx={ctx} change={change} />
        </div>
      ))}
      {carried === undefined || carried === 0 ? null : <p class="diff-note">{t.carried(carried)}</p>}
    </div>
  );
}

function ChangeLines({ ctx, change: { before, after } }: { ctx: PageContext; change: FieldChange }) {
  const t = texts(ctx).common.diff;
  const { start, end } = before === null || after === null ? { start: 0, end: 0 } : commonEnds(before, after);
  const marked = (text: string) => (
    <>
      {text.slice(0, start)}
      {start + end > 0 && start < text.length - end ? (
        <mark>{text.slice(start, text.length - end)}</mark>
      ) : (
        text.slice(start, text.length - end)
      )}
      {text.slice(text.length - end)}
    </>
  );
  return (
    <>
      {before === null ? null : (
        <del>
          <span class="hidden">{t.removed}: </span>
          {marked(before)}
        </del>
      )}
      {after === null ? null : (
        <ins>
          <span class="hidden">{t.added}: </span>
          {marked(after)}
        </ins>
      )}
    </>
  );
}

/** How many characters two texts share at their start and end, never counted twice; 0 and 0 when less than a quarter is shared. */
export function commonEnds(a: string, b: string): { start: number; end: number } {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return (start + end) * 4 < shorter ? { start: 0, end: 0 } : { start, end };
}
