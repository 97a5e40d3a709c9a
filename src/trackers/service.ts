import * as v from "valibot";
import type { Actor } from "../auth/schema.ts";
import type { CountedTime } from "../counted-time.ts";
import type { CredentialService } from "../credentials/service.ts";
import type { Reader, Writer } from "../db/client.ts";
import { AppError, invalidInput, notFound } from "../errors.ts";
import { valuesOf } from "../forms/fields.ts";
import { parseInput } from "../forms/issues.ts";
import { listOperations } from "../forms/page.ts";
import { newId } from "../ids.ts";
import { type Message, say, told } from "../messages/message.ts";
import type { OutageNotices } from "../notifications/outage-schema.ts";
import type { Parts } from "../parts.ts";
import { type CostTerms, sourceKinds } from "../sources/source.ts";
import { sourceCheck } from "./checks/check.ts";
import { checkWork } from "./checks/due.ts";
import { releaseLeases, requestChecks } from "./checks/queries.ts";
import type { CheckListeners } from "./checks/record-listing.ts";
import { sourceEditor } from "./edit.ts";
import { trackerImports } from "./import/import.ts";
import { freeName, takenNames } from "./import/propose.ts";
import { listChannelAddresses } from "./import/queries.ts";
import { notesLookup } from "./notes/lookup.ts";
import { notesMarks } from "./notes/marks.ts";
import { notesRefusal, type ReleaseNotes, storedNotesSettings } from "./notes/settings.ts";
import { trackerPreviews } from "./previews/preview.ts";
import { type TrackerRow, trackerLists, trackerRows } from "./queries.ts";
import { versionHistory } from "./releases/history.ts";
import { releaseLookup } from "./releases/lookup.ts";
import { clearNotes } from "./releases/queries.ts";
import {
  type CheckView,
  type SourceRegistry,
  type TrackerView,
  trackerList,
  trackerSchemas,
  whyKept,
} from "./schema.ts";
import { sourcesOf } from "./source-queries.ts";
import { imageLookup } from "./upstreams/image-lookup.ts";
import { upstreamOperations } from "./upstreams/list.ts";
import { type SourceLoad, upstreamLoads } from "./upstreams/loads.ts";
import { handProbesOn, openOutages } from "./upstreams/outage-queries.ts";
import { currentOutages, pastOutages } from "./upstreams/outages.ts";
import { listCheckedSources, storedTimes } from "./upstreams/queries.ts";
import type { UpstreamOutageView } from "./upstreams/schema.ts";
import { identityOf, type OpenContext, pluginOf } from "./upstreams/source-session.ts";
import type { RateState } from "./upstreams/stored-responses.ts";
import { errorOf, stateOf, trackerViews } from "./views.ts";

export type TrackerService = ReturnType<typeof trackerService>;

interface TrackerServiceOptions extends CheckListeners, Pick<Parts, "db" | "clock" | "log" | "audit"> {
  counted: Pick<CountedTime, "latest" | "before">;
  credentials: Pick<CredentialService, "openSecret" | "requireKind">;
  sources: SourceRegistry;
  openContext: OpenContext;
  outages: OutageNotices;
  /** Owner of this process's leases. */
  instance_id: string;
  versionHistoryCount: (read: Reader) => Promise<number>;
  /** Upstream rate limits, from their latest responses. */
  rates: () => readonly RateState[];
  /** What the clocks of hosts show. */
  clocks: {
    explain: (reason: Message, host: string) => Message;
    all: () => readonly { host: string; ms: number; said: Message }[];
  };
  /** Upstream text for storing and showing: without secrets, at most 500 characters. */
  excerpt: (text: string) => string;
  /** Notifies the scheduler that something is due. */
  nudge: () => void;
}

/** How often a wait for a check polls: another process may have done it. */
const waitStepMs = 1_000;
/** If our clock is wrong, it differs from every host's. */
const maxClockDifferences = 20;

/** Trackers with their sources and channels, their releases, and the checks that find them. */
export function trackerService(options: TrackerServiceOptions) {
  const { db, clock, audit, log } = options;
  const schemas = trackerSchemas(options.sources);
  const opener = {
    registry: options.sources,
    clock,
    credentials: options.credentials,
    openContext: options.openContext,
  };
  const { executors } = options;
  const editor = sourceEditor({ clock, credentials: options.credentials, executors, registry: options.sources });
  const listeners = new Set<(trackerId: string, sourceId: string) => void>();

  const onChecked = (trackerId: string, sourceId: string): void => {
    for (const listener of listeners) listener(trackerId, sourceId);
  };
  const check = sourceCheck({ ...opener, ...options, onChecked, explainByClock: options.clocks.explain });
  /** Requests that the enabled trackers, and `more`, send to the upstreams, and those that do not respond. */
  const loadsWith = async (more: readonly SourceLoad[]) => {
    const outages = await currentOutages(db.read);
    const checked = await listCheckedSources(db.read);
    const loads = checked.map(({ kind, config, release_fallback, channel_count, ...source }): SourceLoad => {
      const terms = { has_credential: source.credential_id !== null, has_fallback: release_fallback, channel_count };
      return { ...source, cost: pluginOf(options.sources, kind).cost(config ?? {}, terms) };
    });
    return { items: upstreamLoads([...loads, ...more], options.rates(), outages), outages };
  };
  const previews = trackerPreviews({
    ...opener,
    storedTimes: (kind, config) => storedTimes(db.read, kind, config),
    upstreamWith: async ({ kind, config, has_fallback, channel_count, ...source }) => {
      const plugin = options.sources[kind];
      const cost = plugin.cost(config, { has_credential: source.credential_id !== null, has_fallback, channel_count });
      const load = { ...source, host: plugin.host(config), cost };
      const upstream = (await loadsWith([load])).items.find(
        ({ host, credential_id }) => host === load.host && credential_id === load.credential_id,
      );
      const [alone] = upstreamLoads([load], [], []);
      if (alone === undefined || upstream === undefined) throw new Error("The source that was added is not there");
      return { requests_per_hour: alone.requests_per_hour, quota_per_hour: alone.quota_per_hour, upstream };
    },
    schemas,
    excerpt: options.excerpt,
    requireCredential: (kind, id) => options.credentials.requireKind(db.read, kind, id, "credential_id"),
  });

  /** Identifies the upstream of a source, to compare two of them; null for an invalid one. */
  const identify = (kind: string, config: Readonly<Record<string, unknown>>): string | null => {
    const known = sourceKinds.find((name) => name === kind);
    const parsed = known === undefined ? null : v.safeParse(options.sources[known].Config, config);
    return known === undefined || !parsed?.success ? null : identityOf(opener, { kind: known, config: parsed.output });
  };

  const viewContext = async (now: number) => ({
    now,
    executors,
    rates: options.rates(),
    outages: await openOutages(db.read),
    costOf: (kind: string, config: unknown, terms: CostTerms) => pluginOf(options.sources, kind).cost(config, terms),
  });
  const listContext = async (needsUpdates: boolean) => ({
    now: clock.now(),
    kinds: sourceKinds,
    outdated: needsUpdates ? await executors.outdatedTrackers(db.read, clock.now()) : [],
  });
  const get = async (name: string): Promise<TrackerView> => {
    const [view] = await trackerViews(
      db.read,
      [await trackerRows.getByName(db.read, name)],
      await viewContext(clock.now()),
    );
    if (view === undefined) throw notFound("tracker", name);
    return view;
  };

  /** Every channel with the identity of its source, which stands in for the address. */
  const knownChannels = async () => {
    const addresses = await listChannelAddresses(db.read);
    return addresses.flatMap(({ kind, config, ...known }) => {
      const identity = identify(kind, config ?? {});
      return identity === null ? [] : [{ ...known, kind, config: config ?? {}, identity }];
    });
  };

  const refuseNotes = (settings: ReleaseNotes, sources: readonly { key: string; kind: string }[]): void => {
    const refusal = notesRefusal(settings, sources, options.sources);
    if (refusal !== null) throw invalidInput(refusal);
  };
  /** After an edit: the settings still fit the sources, and notes from another origin are read again. */
  const settleNotes = async (tx: Writer, before: TrackerRow, after: TrackerRow): Promise<void> => {
    const settings = storedNotesSettings(after.release_notes);
    if (settings.source === "changelog") {
      const sources = await sourcesOf(tx, [after.id]);
      refuseNotes(
        settings,
        sources.map(({ key, kind }) => ({ key, kind })),
      );
    }
    const isSame = JSON.stringify(settings) === JSON.stringify(storedNotesSettings(before.release_notes));
    if (!isSame) await clearNotes(tx, after.id);
  };

  /** A valid tracker that is not stored yet: `insert` stores it within the caller's transaction, and its first check is due at once. */
  const draft = (input: unknown) => {
    const { sources, ...fields } = parseInput(schemas.TrackerInput, input);
    const insert = async (tx: Writer, actor: Actor): Promise<void> => {
      const now = clock.now();
      const id = newId(now);
      await trackerRows.refuseTaken(tx, fields.name, null);
      refuseNotes(fields.release_notes, sources);
      await trackerRows.insert(tx, { id, ...fields, created_at: now, updated_at: now });
      await editor.insertAll(tx, id, sources);
      await audit(tx, actor, {
        event: "tracker_created",
        outcome: "ok",
        subject: { kind: "tracker", id, name: fields.name },
        detail: { sources: sources.map(({ key, kind }) => ({ kind, name: key })) },
      });
    };
    return { name: fields.name, insert };
  };

  const checkView = async (row: TrackerRow, requestedAt: number): Promise<CheckView> => {
    const now = clock.now();
    const sources = await sourcesOf(db.read, [row.id]);
    return {
      tracker: row.name,
      requested_at: requestedAt,
      sources: sources.map((source) => ({
        key: source.key,
        state: stateOf(source, now),
        is_waiting: source.check_requested_at !== null || stateOf(source, now) === "checking",
        error: errorOf(source),
        last_checked_at: source.last_checked_at,
      })),
    };
  };

  /** Requests a check of every source now, even of a disabled tracker. */
  const requestCheck = async (actor: Actor | null, name: string): Promise<CheckView> => {
    const row = await trackerRows.getByName(db.read, name);
    const now = clock.now();
    await db.write(async (tx) => {
      await requestChecks(tx, row.id, now);
      if (actor === null) return;
      await audit(tx, actor, {
        event: "tracker_checked",
        outcome: "ok",
        subject: { kind: "tracker", id: row.id, name },
      });
    });
    options.nudge();
    return await checkView(row, now);
  };

  /** Resolves after the next end of a check, or after a moment. */
  const nextEnd = async (signal: AbortSignal): Promise<void> => {
    const ended = new AbortController();
    const listener = () => ended.abort();
    listeners.add(listener);
    try {
      await clock.sleep(waitStepMs, AbortSignal.any([signal, ended.signal]));
    } catch (error) {
      if (!ended.signal.aborted && !signal.aborted) throw error;
    } finally {
      listeners.delete(listener);
    }
  };

  const lookup = releaseLookup({
    db,
    clock,
    registry: options.sources,
    versionHistoryCount: options.versionHistoryCount,
  });

  return {
    ...lookup,
    ...imageLookup({ ...opener, db }),
    ...notesLookup({ db, registry: options.sources, knownVersions: lookup.knownVersions }),
    ...notesMarks({ db }),
    ...versionHistory({ db, registry: options.sources }),
    ...previews,

    /** The trackers that a pasted text proposes; creates nothing and sends no request. `input`: `format`, `text`. */
    proposals: trackerImports({
      TrackerInput: schemas.TrackerInput,
      identityOf: identify,
      knownChannels,
    }),
    knownChannels,
    identityOf: identify,

    /** An unused name for a tracker with this source: the last part of its address, valid or not; null without one. */
    nameFor: async ({ kind, config }: Readonly<Record<string, unknown>>): Promise<string | null> => {
      const known = sourceKinds.find((name) => name === kind);
      const parsed = known === undefined ? null : v.safeParse(options.sources[known].Config, config);
      const { image, project, chart, repository } = valuesOf(parsed?.success ? parsed.output : config);
      const [address] = [image, project, chart, repository].filter((each) => typeof each === "string" && each !== "");
      return typeof address === "string" ? freeName(address, takenNames(await knownChannels())) : null;
    },

    /** Requests of the enabled trackers per upstream, its limits, and the hosts that did not respond, as they are now. */
    upstreams: async () => {
      const { items, outages } = await loadsWith([]);
      const clock_differences = options.clocks
        .all()
        .slice(0, maxClockDifferences)
        .map(({ host, ms, said }) => ({ host, ms, ...told(said) }));
      const list = upstreamOperations(db, items);
      return { items, list, outages, past_outages: await pastOutages(db.read), clock_differences };
    },

    /** The hosts that do not respond, with the sources that wait for them. */
    outages: (): Promise<UpstreamOutageView[]> => currentOutages(db.read),

    /** By name. */
    ...listOperations({
      shape: trackerList,
      page: async (ask) =>
        await trackerLists.page(
          db.read,
          await listContext(ask.filters.state !== undefined || ask.sort === "state"),
          ask,
        ),
      counts: async (ask) => await trackerLists.counts(db.read, await listContext(true), ask),
      views: async (rows) => await trackerViews(db.read, rows, await viewContext(clock.now())),
    }),
    get,
    /** Those that are there, in the given order. */
    byIds: async (ids: readonly string[]): Promise<TrackerView[]> =>
      await trackerViews(db.read, await trackerRows.byIds(db.read, ids), await viewContext(clock.now())),

    draft,

    /** The first check is due at once. */
    create: async (actor: Actor, input: unknown): Promise<TrackerView> => {
      const { name, insert } = draft(input);
      await db.write((tx) => insert(tx, actor));
      options.nudge();
      return await get(name);
    },

    /** A field left out keeps its value. Sends no request: what the rules hide or restore is computed from stored releases. */
    update: async (actor: Actor, name: string, input: unknown): Promise<TrackerView> => {
      const { name: givenName, sources, ...given } = parseInput(schemas.TrackerPatch, input);
      if (givenName !== undefined && givenName !== name) {
        throw invalidInput({ name: say("trackers.name_kept", { name }) });
      }
      const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      await db.write(async (tx) => {
        const row = await trackerRows.getByName(tx, name);
        await trackerRows.update(tx, row.id, { ...changes, updated_at: clock.now() });
        if (sources !== undefined) await editor.replaceAll(tx, row, sources);
        const changed = await trackerRows.find(tx, row.id);
        if (changed !== null) await settleNotes(tx, row, changed);
        if (changed !== null) await editor.settle(tx, changed);
        await options.outages.forget(tx);
        await audit(tx, actor, {
          event: "tracker_updated",
          outcome: "ok",
          subject: { kind: "tracker", id: row.id, name },
          detail: { fields: [...Object.keys(changes), ...(sources === undefined ? [] : ["sources"])] },
        });
      });
      options.nudge();
      return await get(name);
    },

    remove: async (actor: Actor, name: string): Promise<void> => {
      await db.write(async (tx) => {
        const row = await trackerRows.getByName(tx, name);
        const why = whyKept(name, await executors.ofTrackers(tx, [row.id]));
        if (why !== null) throw why;
        await trackerRows.remove(tx, row.id);
        await options.outages.forget(tx);
        await audit(tx, actor, {
          event: "tracker_deleted",
          outcome: "ok",
          subject: { kind: "tracker", id: row.id, name },
        });
      });
    },

    requestCheck: (actor: Actor, name: string): Promise<CheckView> => requestCheck(actor, name),

    /** The state of a requested check. */
    checkState: async (name: string): Promise<CheckView> =>
      await checkView(await trackerRows.getByName(db.read, name), clock.now()),

    /** Requests a check and waits for its end; rejects with 504 `check_unfinished` after `timeout_ms`. */
    check: async (name: string, wait: { timeout_ms: number; signal?: AbortSignal }): Promise<CheckView> => {
      const requested = await requestCheck(null, name);
      const row = await trackerRows.getByName(db.read, name);
      const until = clock.elapsed() + wait.timeout_ms;
      const signal = wait.signal ?? new AbortController().signal;
      for (;;) {
        const view = await checkView(row, requested.requested_at);
        if (!view.sources.some((source) => source.is_waiting)) return view;
        if (clock.elapsed() >= until || signal.aborted) {
          throw new AppError("check_unfinished", 504, say("trackers.check_unfinished", { name }));
        }
        await nextEnd(signal);
      }
    },

    /** Called after each check, for live pages. Returns how to unsubscribe. */
    onChecked: (listener: (trackerId: string, sourceId: string) => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    /** Checks for the scheduler. */
    work: checkWork({
      db,
      clock,
      check,
      checksPerHost: (kind) => pluginOf(options.sources, kind).checks_per_host ?? 1,
      rates: options.rates,
    }),

    /** At the start of the only process on this database: checks that the previous one left unfinished are due again. */
    recover: async (): Promise<void> => {
      const now = clock.now();
      const count = await db.write(async (tx) => {
        await handProbesOn(tx, now);
        return await releaseLeases(tx, now);
      });
      if (count > 0) log.info("Unfinished checks are due again", { count });
    },
  };
}
