import { toIso } from "../../src/clock.ts";
import { formatClock, formatDuration, formatInstant, formatRelative, formatShort } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

interface TimeProps {
  ctx: PageContext;
  /** Milliseconds UTC; null shows "Never". */
  at: number | null;
  /** `relative` (updated by `app.js`), `short` (20 Nov, 21:14), `clock` (21:14), `precise` (21:14:09.1). */
  form?: "relative" | "short" | "clock" | "precise" | undefined;
  /** Replaces "Never" when `at` is null. */
  empty?: string | undefined;
}

/** A moment: short, with the full date in the system time zone as a tooltip and in `datetime` for programs. */
export function Time({ ctx, at, form = "relative", empty }: TimeProps) {
  if (at === null) return <span class="quiet">{empty ?? texts(ctx).common.never}</span>;
  const text =
    form === "relative"
      ? formatRelative(ctx.language, at, ctx.now)
      : form === "short"
        ? formatShort(ctx, at)
        : formatClock(ctx, at, form === "precise" ? "tenth" : "minute");
  return (
    <time
      datetime={toIso(at)}
      title={formatInstant(ctx, at)}
      data-relative={form === "relative" ? String(at) : undefined}
    >
      {text}
    </time>
  );
}

/** A duration in milliseconds: "0.38 s", "3 min 22 s". */
export function Duration({ ctx, ms }: { ctx: PageContext; ms: number }) {
  return <span class="num">{formatDuration(ctx.language, ms)}</span>;
}

/** Counts up every second while something runs; the server's text is right when the page is made. */
export function Elapsed({ ctx, since }: { ctx: PageContext; since: number }) {
  return (
    <span class="num" data-since={String(since)}>
      {formatDuration(ctx.language, Math.max(0, Math.floor((ctx.now - since) / 1000)) * 1000)}
    </span>
  );
}
