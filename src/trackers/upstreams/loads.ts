import type { CheckCost } from "../../sources/source.ts";
import type { UpstreamView } from "./schema.ts";
import type { RateState } from "./stored-responses.ts";

const hourMinutes = 60;

/** The load of one enabled source on its upstream. */
export interface SourceLoad {
  host: string;
  credential_id: string | null;
  check_interval_minutes: number;
  cost: CheckCost;
}

function keyOf({ host, credential_id }: { host: string; credential_id: string | null }): string {
  return `${host} ${credential_id ?? "-"}`;
}

/** The hourly rate of a host's window. GitHub and others count by the hour; other windows are treated alike. */
function hourlyLimit(state: RateState | undefined, documented: number | null): number | null {
  return state?.limit ?? documented;
}

/** Upstreams with their load and limits, the most strained first. */
export function upstreamLoads(loads: readonly SourceLoad[], states: readonly RateState[]): UpstreamView[] {
  const known = new Map(states.map((state) => [keyOf(state), state]));
  const groups = new Map<string, SourceLoad[]>();
  for (const load of loads) groups.set(keyOf(load), [...(groups.get(keyOf(load)) ?? []), load]);
  const upstreams = [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [upstreamOf(first, group, known.get(keyOf(first)))];
  });
  return upstreams.sort(
    (a, b) => strainOf(b) - strainOf(a) || b.requests_per_hour - a.requests_per_hour || (a.host < b.host ? -1 : 1),
  );
}

function upstreamOf(first: SourceLoad, group: readonly SourceLoad[], state: RateState | undefined): UpstreamView {
  const perHour = (count: (cost: CheckCost) => number) =>
    group.reduce((sum, load) => sum + (count(load.cost) * hourMinutes) / load.check_interval_minutes, 0);
  const documented = group.reduce<number | null>((limit, { cost }) => cost.hourly_limit ?? limit, null);
  const limit = hourlyLimit(state, documented);
  const quota = perHour((cost) => cost.quota);
  const quotaOfAll = group.reduce((sum, { cost }) => sum + cost.quota, 0);
  const isShort = limit !== null && limit > 0 && quota > limit;
  return {
    host: first.host,
    credential_id: first.credential_id,
    sources: group.length,
    requests_per_hour: perHour((cost) => cost.requests),
    quota_per_hour: quota,
    hourly_limit: limit,
    limit: state?.limit ?? null,
    remaining: state?.remaining ?? null,
    reset_at: state?.reset_at ?? null,
    blocked_until: state?.blocked_until ?? null,
    observed_at: state?.observed_at ?? null,
    fair_interval_minutes: isShort ? Math.ceil((quotaOfAll / limit) * hourMinutes) : null,
  };
}

/** The used share of an upstream's limit; a block counts as more than all of it. */
function strainOf(upstream: UpstreamView): number {
  if (upstream.blocked_until !== null) return Number.MAX_SAFE_INTEGER;
  return upstream.hourly_limit === null ? 0 : upstream.quota_per_hour / Math.max(upstream.hourly_limit, 1);
}
