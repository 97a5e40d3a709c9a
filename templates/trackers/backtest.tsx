import { toIso } from "../../src/clock.ts";
import type { PreviewView } from "../../src/trackers/previews/schema.ts";
import { Icon } from "../components/icon.tsx";
import { Badge } from "../components/state.tsx";
import { Version } from "../components/version.tsx";
import { formatDate } from "../format.ts";
import { classes, type PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

type ChannelPreview = PreviewView["channels"][number];

const surprising = ["downgrade", "prerelease", "variant", "incomparable"] as const;
const shownSteps = 20;

/** The days on which a channel's latest would have changed, newest first, with the effect on an automatic run. */
export function Backtest({ ctx, channel, undated }: { ctx: PageContext; channel: ChannelPreview; undated: number }) {
  const t = texts(ctx).backtest;
  if (channel.steps.length === 0) return <p class="meta">{t.none}</p>;
  const changes = Object.values(channel.jump_counts).reduce((sum, count) => sum + count, 0);
  const surprises = surprising.reduce((sum, jump) => sum + (channel.jump_counts[jump] ?? 0), 0);
  const shown = channel.steps.slice(0, shownSteps);
  return (
    <details class="backtest unfolds">
      <summary>
        <Icon name="chevron-right" />
        <b>{t.title}</b>
        <span class="quiet">
          {t.days(changes)}, {surprises === 0 ? t.no_surprise : t.surprises(surprises)}
        </span>
      </summary>
      <ol>
        {shown.map((step) => (
          <li class={classes("backtest-step", !step.is_installed && "refused")}>
            <time class="quiet" datetime={toIso(step.at)}>
              {formatDate(ctx, step.at)}
            </time>
            <span>
              <Version>{step.tag}</Version> {step.jump === "none" ? null : <Badge>{t.jumps[step.jump]}</Badge>}
            </span>
            {step.is_installed ? null : <span class="quiet">{t.keeps(step.installed_from ?? "")}</span>}
          </li>
        ))}
        {changes > shown.length ? <li class="quiet">{t.more(changes - shown.length)}</li> : null}
      </ol>
      {undated === 0 ? null : <p class="meta">{t.undated(undated)}</p>}
    </details>
  );
}

/** The requests of a source's checks to its upstream. */
export function CheckCost({ ctx, cost }: { ctx: PageContext; cost: PreviewView["cost"] }) {
  const t = texts(ctx).upstreams;
  const { upstream, requests_per_hour, quota_per_hour } = cost;
  return (
    <p class="meta">
      <span>{requests_per_hour < 1 ? t.cost_small(upstream.host) : t.cost(requests_per_hour, upstream.host)}</span>
      {quota_per_hour === 0 || upstream.hourly_limit === null ? null : (
        <span>{t.cost_limited(upstream.quota_per_hour, upstream.hourly_limit)}</span>
      )}
      {upstream.fair_interval_minutes === null ? null : (
        <span title={t.short_help}>{t.short(upstream.fair_interval_minutes)}</span>
      )}
    </p>
  );
}
