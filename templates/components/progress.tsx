import type { Child } from "hono/jsx";
import { classes, type Tone } from "../page.ts";

/** A share of the width as an SVG attribute: the CSP allows no inline style. */
function percent(value: number, max: number): string {
  return max <= 0 ? "0%" : `${Math.min(100, Math.max(0, (value / max) * 100)).toFixed(1)}%`;
}

interface ProgressProps {
  /** What is in progress, for assistive technology. */
  label: string;
  value: number;
  /** Null when the end is unknown: the bar then only shows activity. */
  max: number | null;
  /** The progress in words: "412 of 580 MB · 3 of 11 layers". */
  children?: Child;
  id?: string | undefined;
}

/** Measured progress, never a guess: without a known end pass `max={null}`. */
export function Progress({ label, value, max, children, id }: ProgressProps) {
  return (
    <div class="progress" id={id}>
      <svg
        class={classes("bar running", max === null && "endless")}
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={max ?? undefined}
        aria-valuenow={max === null ? undefined : value}
      >
        <rect class="bar-ground" width="100%" height="100%" />
        <rect class="bar-value" width={max === null ? "30%" : percent(value, max)} height="100%" />
      </svg>
      {children === undefined ? null : <p class="meta">{children}</p>}
    </div>
  );
}

interface MeterProps {
  /** The budget's owner: "api.github.com". */
  label: string;
  value: number;
  max: number;
  tone?: Tone | undefined;
  /** "55 of 60 this hour · next free 21:31" */
  children?: Child;
}

/** The used share of a budget; amber from 80 %, red at the end, unless `tone` overrides it. */
export function Meter({ label, value, max, tone, children }: MeterProps) {
  const share = max <= 0 ? 1 : value / max;
  const judged = tone ?? (share >= 1 ? "failed" : share >= 0.8 ? "attention" : "quiet");
  return (
    <div class="progress">
      <meter class="hidden" aria-label={label} min={0} max={max} value={value} />
      <svg class={classes("bar", judged)} aria-hidden="true">
        <rect class="bar-ground" width="100%" height="100%" />
        <rect class="bar-value" width={percent(value, max)} height="100%" />
      </svg>
      {children === undefined ? null : <p class="meta">{children}</p>}
    </div>
  );
}
