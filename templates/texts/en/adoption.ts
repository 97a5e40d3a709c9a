import { formatNumber, plural } from "../../format.ts";

const number = (count: number) => formatNumber("en", count);
const targets = (count: number) => plural("en", count, { one: "target", other: "targets" });

export const adoption = {
  title: (connection: string) => `Adopt what runs on ${connection}`,
  lead: (fresh: number, adopted: number) =>
    adopted === 0
      ? `${targets(fresh)} found`
      : `${fresh === 0 ? "" : `${targets(fresh)} new, `}${number(adopted)} already adopted`,
  explained:
    "Each target gets an executor, and each image a tracker that keeps its variant. Databases and short tags such as 16 keep their line too; others follow every stable version, unless you choose a line under Change. Nothing is added until you adopt it, and nothing is updated until you start it.",
  open: "Adopt targets",
  new_here: (count: number) => `${targets(count)} here ${count === 1 ? "has" : "have"} no executor yet`,
  new_on: (count: number, connection: string) =>
    `${targets(count)} on ${connection} ${count === 1 ? "has" : "have"} no executor yet`,
  new_on_many: (count: number, connections: number) =>
    `${targets(count)} on ${number(connections)} connections have no executor yet`,
  show_connections: "Show connections",
  open_new: (count: number) => `Adopt ${targets(count)}`,
  failed: "The targets could not be listed",
  retry: "Try again",
  refresh: "Refresh",
  find: "Find a name or image",
  namespace: "Namespace",
  all_namespaces: "All namespaces",
  empty_title: "Nothing new to adopt",
  empty_text: (adopted: number, ignored: number): string =>
    adopted > 0
      ? `Everything that can be updated here has an executor${ignored === 0 ? "" : " or is ignored"}.`
      : ignored > 0
        ? "Everything that can be updated here is ignored."
        : "Nothing that Tidemark can update runs here. Start something, then refresh.",
  show_first: (count: number) => `Show ${targets(count)}`,
  only_first: (shown: number, matching: number) =>
    `The first ${number(shown)} of ${number(matching)} are shown. Adopt them, then come back for the others.`,
  groups: "Projects",
  singles: "Containers",
  target: "Target",
  running: "Running",
  follows: "Follows",
  newest: "Newest",
  choose: (name: string) => `Adopt ${name}`,
  select_none: "Select none",
  select_all: "Select all",
  change: "Change",
  change_of: (name: string) => `Change the executor of ${name}`,
  executor_name: "Executor name",
  trigger: "Updates",
  triggers: { manual: "Manually", immediate: "Immediately" },
  trigger_as_below: "As chosen below",
  existing: "existing tracker",
  left_alone: "Left unchanged",
  looking: "Checking",
  up_to_date: "Up to date",
  versions: "Versions",
  versions_of: (service: string) => `Versions of ${service}`,
  every_version: "Every stable version",
  new_majors: "New majors included",
  only_line: (line: string) => `Only ${line}.x`,
  line_replaced: (tag: string) => `An update replaces the tag ${tag} with a full version`,
  no_version: "No version found",
  moving: "New builds of this tag",
  unknown: "Unknown",
  over_http: "Registry uses http",
  new_trackers: (count: number) => plural("en", count, { one: "new tracker", other: "new trackers" }),
  trackers_title: "Trackers",
  tracker_name: "Tracker name",
  tracker_name_of: (image: string) => `Name of the tracker of ${image}`,
  image: "Image",
  rule: "Versions",
  used_by: (count: number) => plural("en", count, { one: "service", other: "services" }),
  takes_all: "All versions",
  by_version: "Follow numbered versions instead",
  repository: "Release notes from",
  follow_repository: (url: string) => `Release notes from ${url}`,
  credential_for: (registry: string) => `Sign in to ${registry} with`,
  anonymous: "No credential",
  refused_title: (count: number) => `${number(count)} cannot be adopted`,
  find_name: "Find a name",
  no_name_found: "No target here has a matching name.",
  ignored_title: (count: number) => `${number(count)} ignored`,
  ignored_text: "Ignored targets are not offered again.",
  unignore: "Stop ignoring",
  unignore_of: (name: string) => `Stop ignoring ${name}`,
  unignored: (name: string) => `${name} is offered again`,
  ignored_now: (count: number) => `Ignored ${targets(count)}`,
  adopt: "Adopt",
  ignore: "Ignore selected",
  done_title: (count: number) => `Adopted ${targets(count)}`,
  none_title: "Nothing was adopted",
  done_lead: (executors: number, trackers: number) =>
    `Added ${plural("en", executors, { one: "executor", other: "executors" })} and ${plural("en", trackers, { one: "tracker", other: "trackers" })}. The first checks start now.`,
  not_adopted: (count: number) => `${number(count)} not adopted`,
  already: "Already adopted",
  added: "Added",
  to_executors: "Show executors",
  back: "Adopt more",
};
