import { valuesOf } from "../../forms/fields.ts";
import { say } from "../../messages/message.ts";
import { isObject } from "../../strict-json.ts";
import { channelTypes, isChannelName } from "../schema.ts";
import { type Fields, isFalse, isTrue, itemsOf, textOf } from "./document.ts";
import type { ChannelDraft, Draft, Reading, Remark, Skipped, SourceDraft } from "./draft.ts";

const kinds: Readonly<Record<string, string>> = {
  github: "github",
  gitlab: "gitlab",
  gitea: "gitea",
  helm: "helm",
  container: "oci",
};

/** The trackers of ReleaseTracker's API or export: a list, a single one, or a list under `trackers` or `items`. */
function trackersIn(document: unknown): readonly Fields[] {
  const { trackers, items } = valuesOf(document);
  const list = [document, trackers, items].find((value) => Array.isArray(value));
  const entries = list === undefined ? [document] : itemsOf(list);
  return entries.filter(isObject).filter((entry) => textOf(entry.name) !== null && sourceFields(entry).length > 0);
}

export function isReleaseTracker(document: unknown): boolean {
  return trackersIn(document).length > 0;
}

/** A tracker has sources, or, in older versions, is one itself. */
function sourceFields(tracker: Fields): readonly Fields[] {
  const own = itemsOf(tracker.sources).filter(isObject);
  if (own.length > 0) return own.filter((source) => kindOf(source) !== null);
  return kindOf(tracker) !== null && Array.isArray(tracker.channels) ? [tracker] : [];
}

function kindOf(source: Fields): string | null {
  return kinds[textOf(source.source_type) ?? textOf(source.type) ?? ""] ?? null;
}

/** Trackers of ReleaseTracker with their sources, channels and fetch settings. Credentials are named, never imported. */
export function readReleaseTracker(document: unknown): Reading {
  const drafts: Draft[] = [];
  const skipped: Skipped[] = [];
  for (const tracker of trackersIn(document)) {
    const name = textOf(tracker.name) ?? "";
    const remarks: Remark[] = [];
    const sources = sourceFields(tracker).map((source) => sourceDraft(source, tracker, remarks));
    const found = sources.filter((source) => source.channels.length > 0);
    if (found.length === 0) {
      skipped.push({ found_in: name, reason: say("imports.no_channel") });
      continue;
    }
    const description = textOf(tracker.description);
    drafts.push({
      name,
      found_in: name,
      sources: found,
      remarks,
      ...(description === null ? {} : { description }),
      ...(isFalse(tracker.enabled) ? { is_enabled: false } : {}),
      settings: settingsOf(tracker),
    });
  }
  return { drafts, skipped };
}

function sourceDraft(source: Fields, tracker: Fields, remarks: Remark[]): SourceDraft {
  const kind = kindOf(source) ?? "";
  const config = { ...tracker, ...source, ...valuesOf(source.source_config) };
  const credential = textOf(source.credential_name);
  if (credential !== null) remarks.push({ code: "credential_missing", subject: credential });
  const channels = [...itemsOf(source.release_channels), ...itemsOf(source.channels)].map(valuesOf);
  for (const channel of channels.filter(({ enabled }) => isFalse(enabled))) {
    remarks.push({ code: "channel_disabled", subject: textOf(channel.name) ?? "" });
  }
  return {
    kind,
    config: configOf(kind, config),
    channels: channelDrafts(
      channels.filter(({ enabled }) => !isFalse(enabled)),
      kind,
    ),
  };
}

function configOf(kind: string, from: Fields): Readonly<Record<string, string>> {
  const given = (name: string, value: unknown) => {
    const text = textOf(value);
    return text === null ? {} : { [name]: text };
  };
  switch (kind) {
    case "github": {
      const mode = textOf(from.github_fetch_mode ?? from.fetch_mode) === "graphql_first" ? "graphql" : "rest";
      return { ...given("repository", from.repo), fetch_mode: mode };
    }
    case "gitlab":
      return { ...given("project", from.project), ...given("instance_url", from.instance) };
    case "gitea":
      return { ...given("repository", from.repo), ...given("instance_url", from.instance) };
    case "helm":
      return { ...given("chart", from.chart), ...given("repository_url", from.repo) };
    default: {
      const modes: Readonly<Record<string, string>> = { prefer_real: "build_time", first_observed: "first_observed" };
      const mode = modes[textOf(from.published_at_mode) ?? ""];
      return {
        ...given("image", from.image),
        ...given("registry", from.registry),
        ...(mode === undefined ? {} : { published_at_mode: mode }),
      };
    }
  }
}

/** A channel that is the only one of its type takes the type's name; several are distinguished by their keys, or numbered. */
function channelDrafts(channels: readonly Fields[], kind: string): readonly ChannelDraft[] {
  const found = channels.flatMap((channel) => {
    const draft = channelDraft(channel, kind);
    return draft === null ? [] : [{ draft, key: textOf(channel.release_channel_key) ?? "" }];
  });
  const taken = new Set<string>();
  return found.map(({ draft, key }) => {
    const { type } = draft;
    const isAlone = found.filter((other) => other.draft.type === type).length === 1;
    let name = !isAlone && isChannelName(key, type) && !taken.has(key) ? key : type;
    for (let number = 2; taken.has(name); number++) name = `${type}-${number}`;
    taken.add(name);
    return name === type ? draft : { ...draft, name };
  });
}

/** Only forges have release types: for an image or a chart they mean nothing. */
function channelDraft(channel: Fields, kind: string): ChannelDraft | null {
  const type = channelTypes.find((known) => known === textOf(channel.name));
  if (type === undefined) return null;
  const release = kind === "oci" || kind === "helm" ? null : textOf(channel.type);
  return {
    type,
    ...(release === "release" || release === "prerelease" ? { release_type: release } : {}),
    include_pattern: textOf(channel.include_pattern) ?? "",
    exclude_pattern: textOf(channel.exclude_pattern) ?? "",
  };
}

function settingsOf(tracker: Fields): Readonly<Record<string, string | number | boolean>> {
  const whole = (name: string, value: unknown, max: number) => {
    const number = Number(textOf(value));
    return Number.isInteger(number) && number >= 1 ? { [name]: Math.min(number, max) } : {};
  };
  return {
    ...whole("check_interval_minutes", tracker.interval, 43_200),
    ...whole("fetch_depth", tracker.fetch_limit, 100),
    ...whole("request_timeout_seconds", tracker.fetch_timeout, 180),
    sorting: textOf(tracker.version_sort_mode) === "semver" ? "semantic" : "publish_time",
    ...(isTrue(tracker.fallback_tags) ? { release_fallback: true } : {}),
  };
}
