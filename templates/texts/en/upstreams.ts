import { formatNumber, plural } from "../../format.ts";

const number = (count: number) => formatNumber("en", count);
const rounded = (count: number) => number(count < 10 ? Math.round(count * 10) / 10 : Math.round(count));

export const upstreams = {
  title: "Upstreams",
  lead: "Requests from trackers to each host, and its limits",
  filter_text: "Host or account",
  host: "Host",
  account: "Account",
  anonymous: "Anonymous",
  asked: "Requests per hour",
  asked_text: rounded,
  limited_text: (requests: number, quota: number) =>
    quota === requests ? "all counted" : `${rounded(quota)} of them counted`,
  allowed: "Allowed per hour",
  left: "Remaining",
  left_text: (remaining: number) => number(remaining),
  until: "until",
  renewed: "resets",
  states: {
    not_responding: "Not responding",
    waiting: "Waiting",
    limit_too_low: "Limit too low",
    within_limit: "Within limit",
    limit_unknown: "Limit unknown",
  },
  short: (minutes: number) => `Each checked every ${formatSpan(minutes)}`,
  short_help:
    "The limit is too low for all requests. Sources share it fairly: the one that has waited longest goes next.",
  clock_differs: "Check the time of this machine",
  waits_help: "No requests are sent until then. Known versions are kept.",
  empty: "No trackers checked yet",
  empty_text: "Hosts contacted by trackers appear here, with the rate limits they report.",
  sources_wait: (count: number) => plural("en", count, { one: "source waiting", other: "sources waiting" }),
  outage_since: "since",
  next_try: "next attempt",
  attempts: (count: number) => plural("en", count, { one: "failed attempt", other: "failed attempts" }),
  past_outages: "Outages in the last 30 days",
  hosts: "Hosts",
  began: "Began",
  lasted: "Duration",
  reason: "Reason",
  cost_of_checks: "API usage",
  saved_cost: (requests: number) => {
    if (requests < 1) return "Less than one request per hour";
    return rounded(requests) === "1" ? "About one request per hour" : `About ${rounded(requests)} requests per hour`;
  },
  waits_until: "Waiting until",
  moved: "Moved to",
  moved_help: "Checks now use the new location. Enter it in the tracker before another project takes the old name.",
  cost: (requests: number, host: string) =>
    `${plural("en", Math.max(Math.round(requests), 1), { one: "request", other: "requests" })} per hour to ${host}`,
  cost_small: (host: string) => `Less than one request per hour to ${host}`,
  cost_limited: (quota: number, limit: number) =>
    `${rounded(quota)} of ${number(limit)} allowed per hour, across all sources on this host`,
};

function formatSpan(minutes: number): string {
  if (minutes < 120) return `${number(minutes)} min`;
  return `${number(Math.round(minutes / 6) / 10)} h`;
}
