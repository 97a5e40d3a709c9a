import type { ProposedTarget, ProposedTracker } from "./propose.ts";
import type { AdoptionInput, AdoptionTrigger } from "./schema.ts";
import { repositorySource } from "./source-repository.ts";

/** What was chosen, and the names of the trackers that were created so far, by their key. */
export interface AdoptionChoices {
  targets: ReadonlyMap<string, AdoptionInput["targets"][number]>;
  trackers: ReadonlyMap<string, AdoptionInput["trackers"][number]>;
  /** By `lineKey`. */
  lines: ReadonlyMap<string, string>;
  trigger: AdoptionTrigger;
  follow_repositories: boolean;
  /** By registry. */
  credentials: ReadonlyMap<string, string>;
  created: Map<string, string>;
}

const keyOf = ({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`;

export const lineKey = (target: { kind: string; id: string }, service: string) =>
  JSON.stringify([target.kind, target.id, service]);

export function choicesOf(input: AdoptionInput): AdoptionChoices {
  const { trigger, follow_repositories } = input;
  return {
    targets: new Map(input.targets.map((target) => [keyOf(target), target])),
    trackers: new Map(input.trackers.map((tracker) => [tracker.key, tracker])),
    lines: new Map(
      input.targets.flatMap((target) => target.lines.map(({ service, line }) => [lineKey(target, service), line])),
    ),
    trigger,
    follow_repositories,
    credentials: new Map(input.credentials.map(({ registry, credential_id }) => [registry, credential_id])),
    created: new Map(),
  };
}

/** The key of the image among a new tracker's sources. */
const imageKey = "image";

/** The input of `POST /api/trackers`. */
export function trackerInput(tracker: ProposedTracker, choices: AdoptionChoices, credentialId: string | null) {
  const { name, by_version, follow_repository = choices.follow_repositories } = choices.trackers.get(tracker.key) ?? {};
  const { sources, settings } = (by_version === true ? tracker.alternative : undefined) ?? tracker;
  const { repository, line } = tracker;
  return {
    name: name ?? tracker.name,
    ...settings,
    sources: [
      ...sources.map((source) => ({ key: imageKey, ...source, credential_id: credentialId })),
      ...(repository === null || !follow_repository ? [] : [repositorySource(repository, line)]),
    ],
  };
}

/** The input of `POST /api/executors`: every service that can be followed is bound. */
export function executorInput(
  connectionId: string,
  { target, services, executor_name }: ProposedTarget,
  choices: AdoptionChoices,
) {
  const { name, trigger = choices.trigger } = choices.targets.get(keyOf(target)) ?? {};
  const isPinned = services.some(({ is_pinned }) => is_pinned);
  return {
    name: name ?? executor_name,
    connection_id: connectionId,
    target: { kind: target.kind, id: target.id },
    trigger,
    ...(isPinned ? { reference_mode: "digest" } : {}),
    bindings: services.flatMap(({ name: service, tracker }) =>
      tracker === null ? [] : [{ service, ...boundTo(tracker, choices) }],
    ),
  };
}

function boundTo(tracker: ProposedTracker, choices: AdoptionChoices) {
  const { existing } = tracker;
  if (existing !== null) return { tracker: existing.tracker, source: existing.source, channel: existing.channel };
  const choice = choices.trackers.get(tracker.key);
  const { sources } = (choice?.by_version === true ? tracker.alternative : undefined) ?? tracker;
  const channel = sources[0]?.channels[0];
  const name = choices.created.get(tracker.key) ?? choice?.name ?? tracker.name;
  return { tracker: name, source: imageKey, channel: channel?.name ?? channel?.type ?? "stable" };
}
