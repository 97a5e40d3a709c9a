import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

type Target = { target: string };
type Service = { service: string };
type Executor = { executor: string };
type Run = { run: string };
type Cause = { cause: Message };
type Channel = { tracker: string; source: string; channel: string };
type Move = { from: string | null; to: string | null };
type Tag = { image: string; tag: string };

const current = (tag: string | null) => (tag === null ? "the running version" : `"${tag}"`);
const desired = (tag: string | null) => (tag === null ? "the desired version" : `"${tag}"`);
const start = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Why a target cannot be updated, or an executor stored or changed. What is said beside the name of an executor does not repeat it. */
export const executors = {
  target_kind_wanted: ({ connection, kinds }: { connection: string; kinds: readonly string[] }) =>
    `The connection "${connection}" only has targets of these kinds: ${kinds.join(", ")}`,
  target_missing: ({ target }: Target) =>
    `The connection has no target "${target}"; start it, or edit the executor to choose another`,
  target_refused: ({ cause }: Cause, tell) => `The target cannot be updated: ${tell(cause)}`,
  no_release_status: "Only a Helm release has a release status: choose another strategy",
  unreviewed: ({ cause }: Cause, tell) => `The target is updated only once you have approved the plan: ${tell(cause)}`,
  service_missing: ({ target, service }: Target & Service) => `"${target}" has no service "${service}"`,
  of_service: ({ service, said }: Service & { said: Message }, tell) => `Service "${service}": ${tell(said)}`,
  no_release: ({ tracker, source, channel }: Channel) =>
    `The channel "${tracker}, ${source}, ${channel}" has no release yet`,
  too_young: ({ tracker, source, channel, hours }: Channel & { hours: number }) =>
    `No release of the channel "${tracker}, ${source}, ${channel}" is ${hours} ${hours === 1 ? "hour" : "hours"} old yet`,
  no_image: ({ tracker, source }: Omit<Channel, "channel">) => `The source "${source}" of "${tracker}" has no image`,
  no_chart: ({ tracker, source }: Omit<Channel, "channel">) => `The source "${source}" of "${tracker}" has no chart`,
  other_chart: ({ target, chart, tracker, watched }: Target & { chart: string; tracker: string; watched: string }) =>
    `"${target}" has the chart "${chart}", and "${tracker}" follows "${watched}"`,
  runs_by_digest: ({ image }: { image: string }) =>
    `"${image}" is referenced by digest, so the format of its tags is unknown; run it by tag once`,
  tag_not_formed: ({ version, tag }: { version: string; tag: string }) =>
    `"${version}" cannot be written in the tag format of "${tag}"`,
  tag_not_found: ({ image, tags }: { image: string; tags: readonly string[] }) =>
    `The registry has no tag ${quotedList(tags, " or ")} of "${image}" yet`,
  registry_failed: ({ image, tag, cause }: Tag & Cause, tell) =>
    `The registry of "${image}" could not be queried for the tag "${tag}": ${tell(cause)}`,
  registry_needs_login: ({ image, tag, cause }: Tag & Cause, tell) =>
    `The registry of "${image}" could not be queried for the tag "${tag}" without a login: ${tell(cause)}. Add a source of this registry with a credential, or a user name and password to the connection's credential`,
  registry_needs_http: ({ image, tag, cause }: Tag & Cause, tell) =>
    `The registry of "${image}" could not be queried for the tag "${tag}" over https: ${tell(cause)}. If it uses plain http, add a source with its address as http://, or add it to the engine's insecure registries`,
  running_build_unknown: ({ target, tag }: Target & { tag: string }) =>
    `"${target}" runs the desired tag "${tag}", but the digest of the running image is unknown, so it cannot be compared with the latest build`,
  desired_build_unknown: ({ target, tag }: Target & { tag: string }) =>
    `"${target}" runs the desired tag "${tag}", but the digest of the latest build is unknown, so the running one cannot be compared with it`,
  already_current: "The desired version is already running",
  on_hold: "Automatic updates are on hold",
  snoozed: "Automatic updates are snoozed",
  version_skipped: "This version is skipped",
  settings_unknown: ({ cause }: Cause, tell) => `The target is updated only manually or with approval: ${tell(cause)}`,
  other_line: ({ from, to }: Move) =>
    `${start(desired(to))} leaves the line of ${current(from)}; review the plan and run it manually (over the API with its hash)`,
  other_variant: ({ from, to }: Move) =>
    `${start(desired(to))} is a different variant from ${current(from)}; review the plan and run it manually (over the API with its hash)`,
  downgrade: ({ from, to }: Move) =>
    `${start(desired(to))} is lower than ${current(from)}; allow downgrades, or review the plan and run it manually (over the API with its hash)`,
  incomparable: ({ from, to }: Move) =>
    `${start(desired(to))} and ${current(from)} cannot be compared; allow downgrades, or review the plan and run it manually (over the API with its hash)`,
  connection_disabled: ({ connection }: { connection: string }) => `The connection "${connection}" is disabled`,

  binding_missing: "Bind at least one service",
  bound_twice: ({ service }: Service) => `The service "${service}" is already bound above`,
  no_such_service: ({ target, service, services }: Target & Service & { services: readonly string[] }) =>
    `"${target}" has no service "${service}"; it has ${services.join(", ")}`,
  no_such_source: ({ tracker, source }: Omit<Channel, "channel">) =>
    `The tracker "${tracker}" has no source "${source}"`,
  no_such_channel: ({ source, channels }: { source: string; channels: readonly string[] }) =>
    `The source "${source}" has the channels ${channels.join(", ")}`,
  imageless_source: ({ tracker, source }: Omit<Channel, "channel">) =>
    `The source "${source}" of "${tracker}" has no image: choose "Replace current image tag"`,
  day_twice: "Choose each day only once",
  window_missing: "Choose days and times for the maintenance window",
  target_taken: ({ target, executor }: Target & Executor) =>
    `"${target}" already belongs to the executor "${executor}"`,
  target_in_group: ({ target, group, executor }: Target & Executor & { group: string }) =>
    `"${target}" is part of "${group}", which the executor "${executor}" updates as a whole`,
  container_has_executor: ({ container, group, executor }: Executor & { container: string; group: string }) =>
    `The container "${container}" of "${group}" has its own executor "${executor}"`,
  id_for_name: ({ name }: { name: string }) => `Enter the container's name "${name}" instead of its ID`,
  snooze_length: "Enter for how many hours, or until when, but not both",
  snooze_past: "Enter a time in the future",
  snooze_too_long: "Updates can be snoozed for a year at most; hold them instead",
  other_version: ({ executor }: Executor) => `Another version of "${executor}" has been found; review it first`,
  not_dismissible: "This run cannot be dismissed: it is not the latest one, or the previous version is not running",
  in_progress: (_: Run) => "A run is in progress; wait until it has ended",
  still_down: (_: Run) => "A run left the target down and is trying to start it; disable the executor first",
  still_clearing: (_: Run) => "A run still has containers to remove; try again later, or disable the connection first",
} satisfies Area;
