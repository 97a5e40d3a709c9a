import type * as v from "valibot";
import { judgeInput } from "../../forms/issues.ts";
import { say, tellAll } from "../../messages/message.ts";
import { judge } from "../../versions/channel.ts";
import { PatternError, parsePattern } from "../../versions/pattern.ts";
import type { ChannelDraft, Draft, Remark, Skipped, SourceDraft } from "./draft.ts";
import type { ProposalView } from "./schema.ts";

/** No manual import has more trackers. */
const maxProposals = 500;

/** An existing channel, as far as an import compares it. */
export interface KnownChannel {
  tracker: string;
  /** The identity of its source, from `identityOf`. */
  identity: string;
  include_pattern: string;
  exclude_pattern: string;
}

export interface ProposalOptions {
  TrackerInput: v.GenericSchema;
  /** Identifies the upstream of a source, to compare two of them; null for an invalid kind or configuration. */
  identityOf: (kind: string, config: Readonly<Record<string, unknown>>) => string | null;
}

/** Drafts as trackers that could be created: named, deduplicated, validated by the trackers' schema; and those beyond the limit. */
export function proposeTrackers(
  options: ProposalOptions,
  drafts: readonly Draft[],
  known: readonly KnownChannel[],
): { proposals: ProposalView[]; surplus: Skipped[] } {
  const taken = takenNames(known);
  const channelsOf = Map.groupBy(known, ({ identity }) => identity);
  const proposals = new Map<string, ProposalView>();
  const surplus: Skipped[] = [];
  for (const draft of drafts) {
    const remarks: Remark[] = [...draft.remarks];
    const sources = draft.sources.map((source) => withValidPatterns(source, remarks));
    const key = JSON.stringify(sources);
    const same = proposals.get(key);
    if (same !== undefined) {
      same.found_in.push(draft.found_in);
      if (draft.runs !== undefined && !same.running.includes(draft.runs)) same.running.push(draft.runs);
      continue;
    }
    if (proposals.size === maxProposals) {
      surplus.push({ found_in: draft.found_in, reason: say("imports.too_many", { limit: maxProposals }) });
      continue;
    }
    const existing = sources
      .flatMap(({ kind, config }) => channelsOf.get(options.identityOf(kind, config) ?? "") ?? [])
      .find((channel) => covers(channel, draft))?.tracker;
    const name = freeName(draft.name, taken);
    if (existing === undefined) taken.add(name.toLowerCase());
    const trackerWith = (own: readonly SourceDraft[], settings: Draft["settings"]) => ({
      name,
      ...(draft.description === undefined ? {} : { description: draft.description }),
      ...(draft.is_enabled === undefined ? {} : { is_enabled: draft.is_enabled }),
      ...settings,
      sources: own.map((source, position) => ({ key: keyOf(source, position, own), ...source })),
    });
    const tracker = trackerWith(sources, draft.settings);
    const { alternative } = draft;
    const { errors } = judgeInput(options.TrackerInput, tracker);
    proposals.set(key, {
      name,
      found_in: [draft.found_in],
      state: existing !== undefined ? "exists" : errors === null ? "new" : "invalid",
      existing: existing ?? null,
      tracker,
      errors: tellAll(errors ?? {}),
      errors_data: { ...errors },
      running: draft.runs === undefined ? [] : [draft.runs],
      is_ready: draft.needs_answer !== true,
      alternative: alternative === undefined ? null : trackerWith(alternative.sources, alternative.settings),
      remarks,
    });
  }
  return { proposals: [...proposals.values()], surplus };
}

/** Whether a channel tracks what a draft would: another line of the same image (`14` beside `16`) needs another tracker. */
function covers({ include_pattern, exclude_pattern }: KnownChannel, { tag, sources, alternative }: Draft): boolean {
  if (tag === undefined || tag === null) return true;
  const own = [...sources, ...(alternative?.sources ?? [])].flatMap(({ channels }) => channels);
  if (own.some((channel) => (channel.include_pattern ?? "") === include_pattern)) return true;
  return judge({ tag, stage: "tag" }, { include: include_pattern, exclude: exclude_pattern, release_type: null })
    .accepted;
}

/** Pattern languages differ: patterns ours cannot take are dropped, with a remark. */
function withValidPatterns(source: SourceDraft, remarks: Remark[]): SourceDraft {
  const valid = (pattern: string | undefined): string | undefined => {
    if (pattern === undefined || pattern.trim() === "") return pattern;
    try {
      parsePattern(pattern);
      return pattern;
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      remarks.push({ code: "pattern_refused", subject: pattern.slice(0, 200) });
      return "";
    }
  };
  const channels = source.channels.map((channel): ChannelDraft => {
    const include = valid(channel.include_pattern);
    const exclude = valid(channel.exclude_pattern);
    return {
      ...channel,
      ...(include === undefined ? {} : { include_pattern: include }),
      ...(exclude === undefined ? {} : { exclude_pattern: exclude }),
    };
  });
  return { ...source, channels };
}

/** A single source of a kind is named after it; several are numbered. */
function keyOf(source: SourceDraft, position: number, sources: readonly SourceDraft[]): string {
  const name = source.kind === "oci" ? "image" : source.kind;
  const before = sources.slice(0, position).filter(({ kind }) => kind === source.kind).length;
  return before === 0 ? name : `${name}-${before + 1}`;
}

export function takenNames(known: readonly Pick<KnownChannel, "tracker">[]): Set<string> {
  return new Set(known.map(({ tracker }) => tracker.toLowerCase()));
}

/** An unused name: the last part of a path, else more of it, else with a number. */
export function freeName(wanted: string, taken: ReadonlySet<string>): string {
  const parts = wanted
    .normalize("NFC")
    .split("/")
    .map((part) => part.replace(/[^\p{L}\p{N}\p{M}._-]+/gu, "-").replace(/^[^\p{L}\p{N}]+|-+$/gu, ""))
    .filter((part) => part !== "");
  const last = parts.at(-1) ?? "tracker";
  const isFree = (name: string) => !taken.has(name.toLowerCase()) && !["new", "import"].includes(name.toLowerCase());
  const candidates = [last, parts.slice(-2).join("-"), parts.join("-")].map((name) => name.slice(0, 90));
  const free = candidates.find((name) => name !== "" && isFree(name));
  if (free !== undefined) return free;
  let number = 2;
  while (!isFree(`${last.slice(0, 90)}-${number}`)) number += 1;
  return `${last.slice(0, 90)}-${number}`;
}
