import { createHash } from "node:crypto";
import { rootsOf, type TargetView } from "../connections/schema.ts";
import { type Message, say } from "../messages/message.ts";
import type { ChannelDraft, Draft, Remark, RemarkCode, SourceDraft } from "../trackers/import/draft.ts";
import { imageDraft } from "../trackers/import/image.ts";
import { freeName } from "../trackers/import/propose.ts";
import { ImageReferenceError, isImageId, parseImageReference } from "../versions/image-reference.ts";
import { repositoryIn, type SourceRepository, sourceLabel } from "./source-repository.ts";

/** An existing channel with its source's identity. */
export interface KnownChannel {
  tracker: string;
  source: string;
  source_id: string;
  channel: string;
  type: string;
  kind: string;
  config: Readonly<Record<string, unknown>>;
  identity: string;
  include_pattern: string;
  exclude_pattern: string;
  latest: string | null;
}

export interface ProposeOptions {
  known: readonly KnownChannel[];
  identityOf: (kind: string, config: Readonly<Record<string, unknown>>) => string | null;
  /** Names of all executors. */
  executors: readonly string[];
  /** References that the runtime pulls over plain HTTP. */
  plain: ReadonlySet<string>;
  isIgnored: (target: Pick<TargetView, "kind" | "id">) => boolean;
  /** The line that was chosen for a service, of those that were proposed. */
  lineOf?: (target: Pick<TargetView, "kind" | "id">, service: string) => string | null;
}

interface Problem {
  code: string;
  message: Message;
}

export interface ProposedTracker {
  key: string;
  name: string;
  /** The channel of a tracker that exists; null for a new one. */
  existing: KnownChannel | null;
  watches: string;
  registry: string;
  /** What it keeps of the running tag, as a name: `16-alpine`. */
  kept: string;
  line: string | null;
  remarks: readonly Remark[];
  is_ready: boolean;
  /** Blank for an existing one. */
  sources: readonly SourceDraft[];
  settings: Draft["settings"];
  alternative: Draft["alternative"];
  repository: SourceRepository | null;
}

export interface ProposedService {
  name: string;
  image: string;
  tag: string | null;
  digest: string | null;
  state: TargetView["services"][number]["state"];
  is_pinned: boolean;
  /** Narrower lines that it could stay on instead. */
  lines: readonly string[];
  /** Its tag names a line: an update replaces it with the tag of a version. */
  names_line: boolean;
  tracker: ProposedTracker | null;
  reason: Problem | null;
}

export interface ProposedTarget {
  target: TargetView;
  executor_name: string;
  services: readonly ProposedService[];
  is_ready: boolean;
  hash: string;
}

export interface Proposals {
  targets: readonly ProposedTarget[];
  refused: readonly { target: TargetView; reasons: readonly Problem[] }[];
  adopted: readonly TargetView[];
}

function sha256(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}

/**
 * What adopting everything that runs would create, without any request:
 * 1. a container of a group belongs to the group; a target with an executor is left out;
 * 2. each service keeps variant and codename of its tag, and the line where that is usual or was chosen; services that would follow the same
 *    share a tracker;
 * 3. a tracker with exactly these rules is used again; the others get free names;
 * 4. a target without any service to follow is refused, with the reasons.
 */
export function propose(found: readonly TargetView[], options: ProposeOptions): Proposals {
  const trackers = new Map<string, ProposedTracker>();
  const roots = rootsOf(found);
  const parts = new Map(found.filter(({ is_group }) => !is_group).map((target) => [target.id, target]));
  const taken = new Set(options.executors.map((name) => name.toLowerCase()));
  const open = roots.filter((target) => target.executor === null && !options.isIgnored(target));
  const refused = open
    .filter(({ refusals }) => refusals.length > 0)
    .map((target) => ({
      target,
      reasons: target.refusals.map(({ code, message_data }) => ({ code, message: message_data })),
    }));
  const judged = open
    .filter(({ refusals }) => refusals.length === 0)
    .map((target) => ({
      target,
      services: target.services.map((service) => judgeService(target, service, { options, parts, trackers })),
    }));
  nameTrackers([...trackers.values()], options.known);
  const targets: ProposedTarget[] = [];
  for (const { target, services } of judged) {
    if (services.every(({ tracker }) => tracker === null)) {
      refused.push({ target, reasons: reasonsIn(services) });
      continue;
    }
    const executor_name = freeExecutorName(target.name, taken);
    taken.add(executor_name.toLowerCase());
    targets.push({
      target,
      executor_name,
      services,
      is_ready: services.every(({ tracker }) => tracker === null || tracker.is_ready),
      hash: hashOf(target, services),
    });
  }
  return { targets, refused, adopted: roots.filter((target) => target.executor !== null) };
}

function reasonsIn(services: readonly ProposedService[]): Problem[] {
  const reasons = services.flatMap(({ reason }) => reason ?? []);
  return reasons.length > 0 ? reasons : [{ code: "nothing_to_follow", message: say("adoption.nothing_to_follow") }];
}

function hashOf({ kind, id }: TargetView, services: readonly ProposedService[]): string {
  const shown = services.map(({ name, image, tracker, reason }) => [
    name,
    image,
    reason?.code ?? null,
    tracker === null ? null : [tracker.key, tracker.sources, tracker.settings, tracker.repository],
  ]);
  return sha256([kind, id, shown]);
}

interface Judging {
  options: ProposeOptions;
  /** Containers that are targets themselves. */
  parts: ReadonlyMap<string, TargetView>;
  trackers: Map<string, ProposedTracker>;
}

function judgeService(target: TargetView, service: TargetView["services"][number], judging: Judging): ProposedService {
  const part = target.is_group ? judging.parts.get(service.containers[0] ?? "") : target;
  const { name, image, digest, state } = service;
  const base = {
    ...{ name, image, digest, state, tag: tagOf(image) },
    ...{ is_pinned: false, lines: [], names_line: false },
  };
  const left = (code: string, message: Message): ProposedService => ({
    ...base,
    tracker: null,
    reason: { code, message },
  });
  const [refusal] = target.is_group ? (part?.refusals ?? []) : [];
  if (refusal !== undefined) return left(refusal.code, refusal.message_data);
  const { artifact } = service;
  if (artifact?.kind === "chart") {
    const tracker = chartTracker(artifact.name, judging);
    return "code" in tracker
      ? left(tracker.code, tracker.message)
      : { ...base, tag: artifact.version, tracker, reason: null };
  }
  if (service.image_id !== "" && digest === null && !isImageId(image)) {
    return left("local_image", say("adoption.local_image", { image }));
  }
  const reference = judging.options.plain.has(image) ? `http://${image}` : image;
  const line = judging.options.lineOf?.(target, name) ?? null;
  const draft = imageDraft(reference, name, { untagged: "latest", line });
  if ("reason" in draft) return left("no_image", draft.reason);
  if (draft.tag == null) return left("digest_only", say("adoption.digest_only", { image }));
  const tracker = imageTracker(draft, repositoryIn(part?.labels[sourceLabel]), judging);
  const { lines = [], names_line = false } = draft;
  const is_pinned = image.includes("@");
  return { ...base, lines, names_line: names_line && !is_pinned, is_pinned, tracker, reason: null };
}

function tagOf(image: string): string | null {
  try {
    const { tag, digest } = parseImageReference(image);
    return tag ?? (digest === null ? "latest" : null);
  } catch (error) {
    if (error instanceof ImageReferenceError) return null;
    throw error;
  }
}

function imageTracker(
  draft: Draft,
  repository: SourceRepository | null,
  { options, trackers }: Judging,
): ProposedTracker {
  const [source] = draft.sources;
  const [channel] = source?.channels ?? [];
  if (source === undefined || channel === undefined) throw new Error(`The draft of "${draft.name}" has no channel`);
  const identity = options.identityOf(source.kind, source.config) ?? JSON.stringify(source.config);
  const rules = [channel.type, channel.include_pattern ?? "", channel.exclude_pattern ?? ""];
  const key = sha256([identity, rules]).slice(0, 16);
  const same = trackers.get(key);
  if (same !== undefined) {
    // Of several images under one line, the first that says where its source is.
    same.repository ??= same.existing === null ? repository : null;
    return same;
  }
  const existing =
    options.known.find((known) => known.identity === identity && hasRules(known, channel, rules)) ?? null;
  const remark = (code: RemarkCode) => draft.remarks.find((each) => each.code === code)?.subject;
  const words = [remark("line_kept"), remark("variant_kept") ?? remark("tag_followed")];
  const tracker: ProposedTracker = {
    key,
    name: existing?.tracker ?? draft.name,
    existing,
    watches: draft.name,
    registry: parseImageReference(draft.name).registry,
    kept: words.filter((word) => word !== undefined).join("-"),
    line: remark("line_kept") ?? null,
    remarks: draft.remarks,
    is_ready: draft.needs_answer !== true,
    sources: existing === null ? draft.sources : [],
    settings: draft.settings,
    alternative: existing === null ? draft.alternative : undefined,
    repository: existing === null ? repository : null,
  };
  trackers.set(key, tracker);
  return tracker;
}

function hasRules(known: KnownChannel, { type }: ChannelDraft, [, include, exclude]: readonly string[]): boolean {
  return known.type === type && known.include_pattern === include && known.exclude_pattern === exclude;
}

/** Only a tracker that exists: a release does not say where its chart came from. */
function chartTracker(chart: string, { options, trackers }: Judging): ProposedTracker | Problem {
  const following = options.known.filter(({ kind, config }) => kind === "helm" && chartIn(config) === chart);
  const names = [...new Set(following.map(({ tracker }) => tracker))];
  const existing = following.find(({ type }) => type === "stable") ?? following[0];
  if (existing === undefined) return { code: "chart_unknown", message: say("adoption.chart_unknown", { chart }) };
  if (names.length > 1) {
    return { code: "chart_ambiguous", message: say("adoption.chart_ambiguous", { chart, trackers: names }) };
  }
  const key = sha256(["helm", existing.identity, existing.channel]).slice(0, 16);
  const tracker: ProposedTracker = trackers.get(key) ?? {
    key,
    name: existing.tracker,
    existing,
    watches: chart,
    registry: "",
    kept: "",
    line: null,
    remarks: [],
    is_ready: true,
    sources: [],
    settings: {},
    alternative: undefined,
    repository: null,
  };
  trackers.set(key, tracker);
  return tracker;
}

/** `oci://host/path/name` names its chart last. */
function chartIn(config: KnownChannel["config"]): string | null {
  return typeof config.chart === "string" ? (config.chart.split("/").at(-1) ?? null) : null;
}

/** Several lines of one image are distinguished by what they keep. */
function nameTrackers(trackers: readonly ProposedTracker[], known: readonly KnownChannel[]): void {
  const taken = new Set(known.map(({ tracker }) => tracker.toLowerCase()));
  const lines = Map.groupBy(trackers, ({ watches }) => watches);
  for (const tracker of trackers) {
    if (tracker.existing !== null) continue;
    const isAlone = lines.get(tracker.watches)?.length === 1;
    const image = tracker.watches.replace(/^library\//, "");
    tracker.name = freeName(isAlone || tracker.kept === "" ? image : `${image}-${tracker.kept}`, taken);
    taken.add(tracker.name.toLowerCase());
  }
}

const maxNameCharacters = 90;

function freeExecutorName(wanted: string, taken: ReadonlySet<string>): string {
  const name =
    wanted
      .replace(/\p{Cc}+/gu, " ")
      .trim()
      .slice(0, maxNameCharacters) || "executor";
  if (!taken.has(name.toLowerCase())) return name;
  let number = 2;
  while (taken.has(`${name}-${number}`.toLowerCase())) number += 1;
  return `${name}-${number}`;
}
