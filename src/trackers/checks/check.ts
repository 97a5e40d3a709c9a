import { createHash } from "node:crypto";
import type { CountedTime } from "../../counted-time.ts";
import type { Reader, Writer } from "../../db/client.ts";
import { AppError, PluginError, type PluginErrorCode } from "../../errors.ts";
import { holdLease, leaseMs } from "../../held-lease.ts";
import { newId } from "../../ids.ts";
import { inEnglish, type Message, say, withTexts } from "../../messages/message.ts";
import { type OutageNotices, outageNotifiedAfterMs } from "../../notifications/outage-schema.ts";
import type { Parts } from "../../parts.ts";
import type { KnownRelease, Listing, ListRequest, OpenSource } from "../../sources/source.ts";
import { changelogReader } from "../notes/release-notes.ts";
import { storedNotesSettings } from "../notes/settings.ts";
import { type TrackerRow, trackerRows } from "../queries.ts";
import { type ChangelogFinding, isSameRelease, mergedFacts } from "../releases/facts.ts";
import { acceptsOf, rulesOf } from "../releases/judge.ts";
import { type ReleaseFactsRow, releasesOf } from "../releases/queries.ts";
import type { ChannelRow, SourceRow } from "../source-queries.ts";
import { lastingOutages } from "../upstreams/lasting-outages.ts";
import { claimProbe, handProbeOn, renewProbe } from "../upstreams/outage-queries.ts";
import { endOutage, noteFailure } from "../upstreams/outages.ts";
import { addressOf, openSource, type SourceOpener, type SourceSession } from "../upstreams/source-session.ts";
import { checkCounter } from "./hours.ts";
import { buildsInUse, platformInUse } from "./pins.ts";
import {
  checkBy,
  claimSource,
  findCheckRules,
  findMemo,
  renewSource,
  setMemo,
  setNextCheck,
  settleSource,
} from "./queries.ts";
import { type CheckListeners, isJudged, recordListing } from "./record-listing.ts";
import { isPassing, longestPauseMs, pauseAlone } from "./retry.ts";
import { type Placed, withinDepth } from "./within-depth.ts";

/** A check that takes longer fails: a slow upstream must not occupy a slot forever. */
const maxCheckMs = 10 * 60_000;
/** An upstream that refuses for one second at a time must not be queried every second. */
const minWaitMs = 60_000;
/** The longest wait that an upstream may impose. */
export const maxRetryAfterMs = 86_400_000;
/** The part of the interval that the stable jitter subtracts: checks that were due together drift apart. */
const jitterShare = 0.1;
/** Older known tags are re-checked one at a time, every few checks: a republished tag that no executor runs can wait. */
const rotateEveryChecks = 4;
/** A refused credential is tried once more after this, whatever the interval, to confirm the refusal. */
const confirmAfterMs = outageNotifiedAfterMs + 60_000;

export interface CheckOptions extends SourceOpener, CheckListeners, Pick<Parts, "db" | "clock" | "log"> {
  counted: Pick<CountedTime, "latest" | "before">;
  outages: OutageNotices;
  instance_id: string;
  /** As `read` sees it: the transaction that removes releases also decides which. */
  versionHistoryCount: (read: Reader) => Promise<number>;
  /** Adds to a reason how far our clock is from the host's, if that may explain it. */
  explainByClock: (reason: Message, host: string) => Message;
  /** Upstream text without secrets, at most 500 characters. */
  excerpt: (text: string) => string;
  /** Called after each check. */
  onChecked: (trackerId: string, sourceId: string) => void;
}

/** From 0 to 1 (exclusive), always the same for one id. */
function stableShare(id: string): number {
  return createHash("sha256").update(id).digest().readUInt32BE(0) / 2 ** 32;
}

/**
 * When the next check is due after one that ended now: never later than one interval. A late check has no jitter: among sources that wait
 * for a shared limit, those with more jitter would always be ahead.
 */
export function nextCheckAt(sourceId: string, intervalMinutes: number, now: number, lateMs = 0): number {
  const interval = intervalMinutes * 60_000;
  const jitter = interval * jitterShare * stableShare(sourceId);
  return now + Math.round(interval - Math.max(jitter - Math.max(lateMs, 0), 0));
}

interface Claimed {
  tracker: TrackerRow;
  source: SourceRow;
  channels: readonly ChannelRow[];
  known: readonly ReleaseFactsRow[];
  /** What the checks of the source remember. */
  memo: string | null;
  /** Of this one check: another claim has another owner. */
  owner: string;
  /** How long after its due time it began. */
  late_ms: number;
}

interface Failure {
  code: string;
  message: Message;
  retry_after_ms: number | null;
  /** The host has responded, if only to refuse: it is reachable again. */
  is_answer: boolean;
  /** Only the source waits this long. */
  pause_ms?: number;
}

/** With these codes, a host has responded. A malformed response may come from a proxy in front of it. */
const answers: ReadonlySet<PluginErrorCode> = new Set(["unauthorized", "not_found", "rate_limited"]);

/** Upstream returned nothing where it had something, which is not trusted. */
function emptied(known: number): Failure {
  return { code: "emptied", message: say("checks.emptied", { known }), retry_after_ms: null, is_answer: true };
}

/**
 * Whether upstream returned nothing new. An edit meanwhile does not matter: a new address ends the lease, and new rules are applied to
 * stored releases.
 */
function isUnchanged(claimed: Claimed, { listing, changelog }: Answer, latest: number): boolean {
  if (claimed.source.baseline_at === null || !claimed.channels.every(isJudged)) return false;
  const known = new Map(claimed.known.map((release) => [release.tag, release]));
  return listing.releases.every((release) => {
    const row = known.get(release.tag);
    return row !== undefined && isSameRelease(row, mergedFacts(row, release, latest, changelog));
  });
}

/** Notes found under settings that changed meanwhile are not stored. */
function changelogFor(current: TrackerRow, asked: TrackerRow, found: ChangelogFinding): ChangelogFinding {
  if (JSON.stringify(current.release_notes) === JSON.stringify(asked.release_notes)) return found;
  return storedNotesSettings(current.release_notes).source === "release" ? null : new Map();
}

function rotated(source: SourceRow, known: readonly ReleaseFactsRow[], watch: ReadonlySet<string>): string | null {
  if (source.rotation % rotateEveryChecks !== rotateEveryChecks - 1) return null;
  const others = known
    .map((release) => release.tag)
    .filter((tag) => !watch.has(tag))
    .toSorted();
  return others[Math.floor(source.rotation / rotateEveryChecks) % Math.max(others.length, 1)] ?? null;
}

/** One check of one source: claim it, query upstream, and write all results at once. */
export function sourceCheck(options: CheckOptions) {
  const { db, clock, log } = options;
  const count = checkCounter(options.counted);
  const lasting = lastingOutages(options.outages);

  const tagsInUse = async (sourceId: string, known: readonly ReleaseFactsRow[]): Promise<readonly string[]> => {
    const bound = await options.executors.ofSource(db.read, sourceId);
    if (bound.length === 0) return [];
    const builds = buildsInUse(bound, []);
    return known
      .filter((row) => builds.tags.has(row.tag) || (row.revision !== null && builds.revisions.has(row.revision)))
      .map((row) => row.tag);
  };
  const readChangelog = changelogReader(options);

  const claim = async (id: string, dueAt: number | null): Promise<Claimed | null> => {
    const now = clock.now();
    const owner = `${options.instance_id}:${newId(now)}`;
    const lease = { owner, now, until: now + leaseMs };
    const source = await db.write(async (tx) => {
      const claimed = await claimSource(tx, id, lease);
      if (claimed !== null) await claimProbe(tx, claimed.host, lease);
      return claimed;
    });
    const rules = source === null ? null : await findCheckRules(db.read, source);
    if (source === null || rules === null) return null;
    return {
      source,
      ...rules,
      known: await releasesOf(db.read, [id]),
      memo: await findMemo(db.read, id),
      owner,
      late_ms: dueAt === null ? 0 : now - dueAt,
    };
  };

  const watchList = async (claimed: Claimed): Promise<readonly string[]> => {
    const { source, channels, known } = claimed;
    const latest = new Set(channels.map((channel) => channel.latest_release_id));
    const watch = new Set(known.filter((release) => latest.has(release.id)).map((release) => release.tag));
    for (const tag of await tagsInUse(source.id, known)) watch.add(tag);
    const older = rotated(source, known, watch);
    return older === null ? [...watch] : [...watch, older];
  };

  const ask = async (claimed: Claimed, source: OpenSource, watch: readonly string[]): Promise<Placed> => {
    const { tracker, channels, known } = claimed;
    // After a configuration change, everything is requested again, once.
    const knownByTag = new Map<string, KnownRelease>(
      claimed.source.baseline_at === null
        ? []
        : known.map((release) => [release.tag, { revision: release.revision, published_at: release.published_at }]),
    );
    const kept = await options.versionHistoryCount(db.read);
    const request: ListRequest = {
      // More than the history count would only be removed again.
      limit: Math.min(tracker.fetch_depth, kept * channels.length),
      most_each: kept,
      accepts: channels.flatMap(acceptsOf),
      rules: JSON.stringify(channels.map((channel) => [channel.type, rulesOf(channel)])),
      known: knownByTag,
      watch,
      memo: claimed.memo,
      platform: platformInUse(await options.executors.ofSource(db.read, claimed.source.id)),
    };
    const listing = await source.listReleases(request);
    // Tags stand in for releases only where there never were any: an emptied list must not announce them.
    const hadReleases = claimed.source.baseline_at !== null && claimed.known.some((release) => release.stage !== "tag");
    const isBare = listing.releases.length === 0 && listing.total === 0 && !hadReleases;
    const usesTags = isBare && tracker.release_fallback && source.listTags !== undefined;
    return withinDepth(usesTags ? ((await source.listTags?.(request)) ?? listing) : listing, request);
  };

  /**
   * Queries the repository's last known location first, which saves a redirect each time, and the configured one if that is gone. The
   * listing's `moved_to` is the location that responded, null for the configured one.
   */
  const askWhereItIs = async (
    claimed: Claimed,
    { signal, onSession }: { signal: AbortSignal; onSession: (session: SourceSession) => void },
  ): Promise<Placed> => {
    const { source: row, tracker } = claimed;
    const watched = await watchList(claimed);
    const askAt = async (moved_to: string | null): Promise<Placed> => {
      const address = addressOf(options.registry, { ...row, moved_to });
      const session = await openSource(options, address, {
        timeout_ms: tracker.request_timeout_seconds * 1000,
        signal,
      });
      onSession(session);
      const { listing, placed } = await ask(claimed, session.source, watched);
      return { listing: { ...listing, moved_to: listing.moved_to ?? moved_to }, placed };
    };
    if (row.moved_to === null) return await askAt(null);
    try {
      return await askAt(row.moved_to);
    } catch (error) {
      const isGone = error instanceof PluginError && (error.code === "not_found" || error.code === "unauthorized");
      if (!isGone) throw error;
      return await askAt(null);
    }
  };

  /** The repository's location, if it differs from the configured one. */
  const placeOf = ({ source }: Claimed, { moved_to = null }: Listing): string | null => {
    const { config } = addressOf(options.registry, { ...source, moved_to });
    const isSame = JSON.stringify(config).toLowerCase() === JSON.stringify(source.config ?? {}).toLowerCase();
    return isSame ? null : moved_to;
  };

  const describe = (error: unknown, claimed: Claimed): Failure => {
    if (error instanceof PluginError) {
      // If clocks differ, a token is refused as expired or not valid yet, in any wording.
      const isAboutTime = error.code === "unauthorized";
      const said = isAboutTime ? options.explainByClock(error.said, claimed.source.host) : error.said;
      return {
        code: error.code,
        message: withTexts(said, options.excerpt),
        retry_after_ms: error.retry_after_ms,
        // A check that waits for a rate limit has sent nothing.
        is_answer: answers.has(error.code) && error.said.code !== "net.waiting_for_rate_limit",
      };
    }
    const none = { retry_after_ms: null, is_answer: false };
    if (error instanceof AppError) return { code: error.code, message: error.said, ...none };
    log.error("Check failed with an internal error", {
      tracker: claimed.tracker.name,
      source: claimed.source.key,
      error,
    });
    return { code: "internal", message: say("checks.internal"), ...none };
  };

  /** When a source is due after a failed check; the row is settled already. */
  const retryAt = async (tx: Writer, claimed: Claimed, failure: Failure, now: number): Promise<number> => {
    const { source, tracker, owner } = claimed;
    const wait = Math.min(failure.retry_after_ms ?? 0, maxRetryAfterMs);
    // A check that must wait was not carried out: it is due when the wait is over.
    if (failure.code === "rate_limited" && wait > 0) return now + Math.max(wait, minWaitMs);
    const regular = nextCheckAt(source.id, tracker.check_interval_minutes, now, claimed.late_ms);
    if (!isPassing(failure)) return Math.max(regular, now + wait);
    if (failure.pause_ms !== undefined) return Math.min(regular, now + failure.pause_ms);
    const { id: source_id, host, failing_since } = source;
    const { code, message } = failure;
    const check = { source_id, host, owner, failing_since, code, message, retry_after_ms: wait };
    const resumed = await noteFailure(tx, check, { now, counted: options.counted });
    return resumed ?? Math.max(Math.min(regular, now + pauseAlone(now - (failing_since ?? now))), now + wait);
  };

  const fail = async (claimed: Claimed, failure: Failure, used: Used): Promise<void> => {
    const { source, tracker, owner } = claimed;
    const now = clock.now();
    await db.write(async (tx) => {
      // Settled first: a check that lost its lease, or whose source was edited meanwhile, writes nothing.
      const isMine = await settleSource(tx, source.id, owner, {
        ...used,
        last_checked_at: now,
        last_error_code: failure.code,
        last_error_message: failure.message,
        failing_since: source.failing_since ?? now,
      });
      if (!isMine) return;
      await count(tx, { host: source.host, has_succeeded: false, requests: used.last_request_count, now });
      await setNextCheck(tx, source.id, await retryAt(tx, claimed, failure, now));
      if (!failure.is_answer || isPassing(failure)) {
        await handProbeOn(tx, owner, now);
        if (isPassing(failure)) await lasting.silent(tx, source.host);
        return;
      }
      if (await endOutage(tx, source.host, now)) await lasting.responded(tx, source.host);
      const isToConfirm = failure.code === "unauthorized" && (await lasting.refused(tx, source));
      if (isToConfirm) await checkBy(tx, source.id, now + Math.max(confirmAfterMs, failure.retry_after_ms ?? 0));
    });
    log.warning("Check failed", {
      tracker: tracker.name,
      source: source.key,
      code: failure.code,
      error: inEnglish(failure.message),
      requests: used.last_request_count,
    });
  };

  const discard = ({ tracker, source }: Claimed): void =>
    log.info("Check discarded: its source was edited or taken over", { tracker: tracker.name, source: source.key });

  const hold = ({ source, owner }: Claimed) =>
    holdLease({
      clock,
      renew: (until) =>
        db.write(async (tx) => {
          const isMine = await renewSource(tx, source.id, owner, until);
          if (isMine) await renewProbe(tx, owner, until);
          return isMine;
        }),
      onFault: (error) => log.warning("Lease of a check was not renewed", { source: source.id, error }),
      reason: () => new Error("Another process has taken over the check"),
    });

  const succeed = async (claimed: Claimed, answer: Answer, used: Used): Promise<void> => {
    const { source, tracker, owner } = claimed;
    const { listing, placed, changelog } = answer;
    const now = clock.now();
    const latest = options.counted.latest();
    const moved_to = placeOf(claimed, listing);
    const recorded = await db.write(async (tx) => {
      // Settled first: a check that lost its lease, or whose source was edited meanwhile, writes nothing.
      const isMine = await settleSource(tx, source.id, owner, {
        ...used,
        last_checked_at: now,
        last_success_at: now,
        last_error_code: null,
        last_error_message: null,
        failing_since: null,
        next_check_at: nextCheckAt(source.id, tracker.check_interval_minutes, now, claimed.late_ms),
        upstream_total: listing.total,
        rotation: source.rotation + 1,
        baseline_at: source.baseline_at ?? now,
        moved_to,
      });
      if (!isMine) return null;
      if (listing.memo !== claimed.memo) await setMemo(tx, source.id, listing.memo);
      await count(tx, { host: source.host, has_succeeded: true, requests: used.last_request_count, now });
      if (await endOutage(tx, source.host, now)) await lasting.responded(tx, source.host);
      if (source.failing_since !== null) await lasting.accepted(tx, source);
      if (isUnchanged(claimed, answer, latest)) return { discovered: 0, republished: 0, overlong: 0 };
      const current = await trackerRows.find(tx, tracker.id);
      if (current === null) return null;
      return await recordListing(tx, {
        tracker: current,
        source,
        listing,
        changelog: changelogFor(current, tracker, changelog),
        placed,
        now,
        latest,
        keep: await options.versionHistoryCount(tx),
        listeners: options,
      });
    });
    if (recorded === null) return discard(claimed);
    if (moved_to !== null && moved_to !== source.moved_to) {
      log.warning("Repository has moved", { tracker: tracker.name, source: source.key, to: moved_to });
    }
    log.info("Source checked", {
      tracker: tracker.name,
      source: source.key,
      requests: used.last_request_count,
      bytes: used.last_byte_count,
      duration_ms: used.last_duration_ms,
      ...recorded,
    });
  };

  /** The end of the process cut the check short: the next process repeats it. */
  const giveBack = async (claimed: Claimed): Promise<void> => {
    const now = clock.now();
    await db.write(async (tx) => {
      await settleSource(tx, claimed.source.id, claimed.owner, { next_check_at: now, check_requested_at: now });
      await handProbeOn(tx, claimed.owner, now);
    });
  };

  const perform = async (claimed: Claimed, signal: AbortSignal, leave: () => void): Promise<void> => {
    const startedAt = clock.elapsed();
    const overdue = new AbortController();
    const ended = new AbortController();
    const lease = hold(claimed);
    const limit = AbortSignal.any([signal, overdue.signal, lease.signal]);
    clock.sleep(maxCheckMs, ended.signal).then(
      () => overdue.abort(),
      () => "the check ended in time",
    );
    const sessions: SourceSession[] = [];
    const onSession = (session: SourceSession) => sessions.push(session);
    const used = (): Used => ({
      last_request_count: sessions.reduce((sum, session) => sum + session.stats().requests, 0),
      last_byte_count: sessions.reduce((sum, session) => sum + session.stats().bytes, 0),
      last_duration_ms: clock.elapsed() - startedAt,
    });
    try {
      const { listing, placed } = await askWhereItIs(claimed, { signal: limit, onSession });
      const changelog = await readChangelog(claimed, listing, { signal: limit, onSession });
      limit.throwIfAborted();
      // The next claim can then share a commit with this result.
      leave();
      if (listing.total === 0 && claimed.known.length > 0) await fail(claimed, emptied(claimed.known.length), used());
      else await succeed(claimed, { listing, placed, changelog }, used());
    } catch (error) {
      leave();
      if (lease.signal.aborted) return discard(claimed);
      if (signal.aborted) return await giveBack(claimed);
      const failure = overdue.signal.aborted
        ? {
            code: "unreachable",
            message: say("checks.took_too_long", { minutes: maxCheckMs / 60_000 }),
            retry_after_ms: null,
            is_answer: false,
            // It occupied a slot for minutes and says little about the host: other sources do not wait for it.
            pause_ms: longestPauseMs,
          }
        : describe(error, claimed);
      await fail(claimed, failure, used());
    } finally {
      ended.abort();
      await lease.stop();
    }
  };

  /**
   * Does nothing if the source is not due or another process has it. Throws only if the database does not respond. `leave` is called when
   * no more requests follow and only the result remains to be written. `dueAt` is when it was due by its interval.
   */
  return async (
    id: string,
    signal: AbortSignal,
    leave: () => void = () => undefined,
    dueAt: number | null = null,
  ): Promise<void> => {
    const claimed = await claim(id, dueAt);
    if (claimed === null) return;
    try {
      await perform(claimed, signal, leave);
    } finally {
      options.onChecked(claimed.tracker.id, id);
    }
  };
}

interface Answer {
  listing: Listing;
  placed: ReadonlySet<string>;
  changelog: ChangelogFinding;
}

interface Used {
  last_request_count: number;
  last_byte_count: number;
  last_duration_ms: number;
}
