import { formatNumber, plural } from "../../format.ts";

const number = (count: number) => formatNumber("en", count);
const rounded = (count: number) => number(count < 10 ? Math.round(count * 10) / 10 : Math.round(count));

export const upstreams = {
  title: "Upstreams",
  lead: "What the trackers ask of each host, and what it allows",
  open: "Upstreams",
  host: "Host",
  account: "Signed in as",
  anonymous: "nobody",
  sources: "Sources",
  asked: "Asked per hour",
  asked_text: rounded,
  limited_text: (requests: number, quota: number) =>
    quota === 0 ? "no limit is known" : quota === requests ? "all count" : `${rounded(quota)} of them count`,
  allowed: "Allowed per hour",
  unknown: "not known",
  left: "Left",
  left_text: (remaining: number) => number(remaining),
  until: "until",
  renewed: "renewed",
  state: "State",
  fits: "Fits",
  short: (minutes: number) => `Each is checked every ${formatSpan(minutes)}`,
  short_help:
    "The limit is smaller than what is asked. The sources share it fairly: the one that has waited longest is next",
  waits: "Waits",
  waits_help: "Nothing is sent before then. What was found stays",
  empty: "No tracker is checked yet",
  empty_text: "Each host that a tracker asks is listed here with its rate limit, as its own answers tell it.",
  cost_of_checks: "Costs",
  saved_cost: (requests: number) => {
    if (requests < 1) return "Less than one request an hour";
    return rounded(requests) === "1" ? "About one request an hour" : `About ${rounded(requests)} requests an hour`;
  },
  waits_until: "Waits until",
  moved: "Moved to",
  moved_help: "Checks go there now. Enter it in the tracker before another project takes the old name",
  cost: (requests: number, host: string) =>
    `${plural("en", Math.max(Math.round(requests), 1), { one: "request", other: "requests" })} an hour to ${host}`,
  cost_small: (host: string) => `Less than one request an hour to ${host}`,
  cost_limited: (quota: number, limit: number) =>
    `with all its sources ${rounded(quota)} of the ${number(limit)} requests that it allows in an hour`,
};

function formatSpan(minutes: number): string {
  if (minutes < 120) return `${number(minutes)} min`;
  return `${number(Math.round(minutes / 6) / 10)} h`;
}
