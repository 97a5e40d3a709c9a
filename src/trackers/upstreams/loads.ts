import type { CheckCost } from "../../sources/source.ts";
import { type UpstreamState, type UpstreamView, upstreamStates } from "./schema.ts";
import type { RateState } from "./stored-responses.ts";

const hourMinutes = 60;

/** The load of one enabled source on its upstream. */
export interface SourceLoad {
  host: string;
  credential_id: string | null;
  check_interval_minutes: number;
  cost: CheckCost;
}

/** Identifies an upstream. */
export function upstreamKey({ host, credential_id }: { host: string; credential_id: string | null }): string {
  return `${host} ${credential_id ?? "-"}`;
}

/** The hourly rate of a host's window. GitHub and others count by the hour; other windows are treated alike. */
function hourlyLimit(state: RateState | undefined, documented: number | null): number | null {
  return state?.limit ?? documented;
}

/** Upstreams with their load, limits and state: what needs attention first, then the most strained. `outages` are the ongoing ones. */
export function upstreamLoads(
  loads: readonly SourceLoad[],
  states: readonly RateState[],
  outages: readonly { host: string }[],
): UpstreamView[] {
  const known = new Map(states.map((state) => [upstreamKey(state), state]));
  const away = new Set(outages.map(({ host }) => host));
  const upstreams = [...Map.groupBy(loads, upstreamKey)].flatMap(([key, group]) => {
    const [first] = group;
    if (first === undefined) return [];
    const upstream = upstreamOf(first, group, known.get(key));
    return [{ ...upstream, state: away.has(first.host) ? ("not_responding" as const) : stateOf(upstream) }];
  });
  const rankOf = ({ state }: UpstreamView) => upstreamStates.indexOf(state);
  return upstreams.sort(
    (a, b) =>
      rankOf(a) - rankOf(b) ||
      strainOf(b) - strainOf(a) ||
      b.requests_per_hour - a.requests_per_hour ||
      (a.host < b.host ? -1 : 1),
  );
}

type Upstream = Omit<UpstreamView, "state">;

function upstreamOf(first: SourceLoad, group: readonly SourceLoad[], state: RateState | undefined): Upstream {
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

/** Of a host that responds. */
function stateOf({ blocked_until, fair_interval_minutes, hourly_limit }: Upstream): UpstreamState {
  if (blocked_until !== null) return "waiting";
  if (fair_interval_minutes !== null) return "limit_too_low";
  return hourly_limit === null ? "limit_unknown" : "within_limit";
}

/** The used share of an upstream's limit. */
function strainOf({ hourly_limit, quota_per_hour }: Upstream): number {
  return hourly_limit === null ? 0 : quota_per_hour / Math.max(hourly_limit, 1);
}
