import * as v from "valibot";
import type { RecordAudit } from "../auth/audit-schema.ts";
import type { Actor } from "../auth/schema.ts";
import type { Clock } from "../clock.ts";
import type { ConnectionService } from "../connections/service.ts";
import type { CountedTime } from "../counted-time.ts";
import type { Database, Reader, Writer } from "../db/client.ts";
import { AppError, invalidInput, nameTaken, noSuch, notFound } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { listOperations } from "../forms/page.ts";
import { newId } from "../ids.ts";
import { fromText, type Message, plain, say, toText } from "../messages/message.ts";
import type { Destination } from "../plugin.ts";
import { probes } from "../probes/index.ts";
import type { RuntimeSession } from "../runtimes/session.ts";
import type { Target, TargetService } from "../runtimes/target.ts";
import { act } from "./actions.ts";
import { type OpenRegistryLogin, pullLogins } from "./artifacts/registry-access.ts";
import { refuseImageless, refuseUnfitting, resolveBindings } from "./bindings.ts";
import { ActionInput, notDeferred } from "./deferral-schema.ts";
import { boundServices, type Comparison, compareWithDesired } from "./desired.ts";
import type { HealthCheck } from "./health-check-schema.ts";
import type { PlanView } from "./plan-schema.ts";
import {
  activeRunOf,
  connectionFacts,
  deleteExecutorRow,
  type ExecutorRow,
  executorLists,
  executorsByIds,
  findExecutor,
  findExecutorByName,
  findExecutorByTarget,
  insertExecutor,
  makeOutageDue,
  makeWindowsDue,
  owingRunOf,
  recentDowntimes,
  replaceBindings,
  updateExecutorRow,
} from "./queries.ts";
import type { TrackerReleases } from "./releases.ts";
import { type ExecutorView, executorList, executorStates } from "./schema.ts";
import { type Binding, type ExecutorSettings, inputOf, readSettings, targetOf } from "./settings.ts";
import { ExecutorInput, ExecutorPatch, WindowInput } from "./settings-schema.ts";
import {
  asSeen,
  lookAtTarget,
  nameInstead,
  observeMissing,
  refuseId,
  refuseKind,
  refuseTarget,
  type SeenTarget,
  targetInUse,
} from "./target-check.ts";
import { acceptedAs } from "./unknown-settings.ts";
import { owedParts, type PlannedUpdate, type PlanPurpose, planUpdate, planView } from "./update-plan.ts";
import type { VersionSpanUnderTracker, VersionSpanView } from "./version-schema.ts";
import { recordVersions, versionSpans, versionSpansUnder } from "./versions.ts";
import { executorsByState, executorViews } from "./view.ts";
import { currentOpening, nextOpenings, type Opening } from "./window.ts";

export type { ExecutorSettings } from "./settings.ts";
export type { PlannedUpdate } from "./update-plan.ts";
export type ExecutorService = ReturnType<typeof executorService>;

interface ExecutorServiceOptions {
  db: Database;
  clock: Clock;
  counted: CountedTime;
  audit: RecordAudit;
  connections: Pick<ConnectionService, "open" | "registryLogin" | "targetKind" | "targetKindsOf">;
  releases: TrackerReleases;
  openLogin: OpenRegistryLogin;
  timezone: () => string;
  /** Judges where a health check would send requests: null if allowed, else the reason. */
  judgeDestination: (destination: Destination) => Message | null;
}

/** How many past runs the expected downtime is estimated from. */
const downtimeRuns = 5;

/** Whether the input names a different target than the stored one. */
function isOther(stored: ExecutorSettings, input: Pick<ExecutorInput, "connection_id" | "target">): boolean {
  const { connection_id, target } = stored;
  return input.connection_id !== connection_id || input.target.id !== target.id || input.target.kind !== target.kind;
}

function rowOf(input: ExecutorInput, unknown: readonly Message[]) {
  const { target, bindings: _bindings, ...fields } = input;
  const accepted_unknown_settings = acceptedAs(input.accepted_unknown_settings, unknown);
  return { ...fields, accepted_unknown_settings, target_kind: target.kind, target_id: target.id };
}

/** Executors: which target follows which channels under which policy, with their plans and observations. */
export function executorService(options: ExecutorServiceOptions) {
  const { db, clock, counted, audit, connections, releases } = options;
  const planDeps = { read: db.read, releases, openLogin: options.openLogin, connections };
  const lookDeps = { read: db.read, connections };
  const viewDeps = {
    read: db.read,
    clock,
    counted,
    timezone: options.timezone,
    findTargetKind: connections.targetKind,
  };
  const settingsOf = (read: Reader, id: string) => readSettings(read, connections.targetKind, id);

  const getRow = async (read: Reader, id: string): Promise<ExecutorRow> => {
    const row = await findExecutor(read, id);
    if (row === null) throw notFound("executor", id);
    return row;
  };
  const get = async (id: string): Promise<ExecutorView> => {
    const [view] = await executorViews(viewDeps, [await getRow(db.read, id)]);
    if (view === undefined) throw notFound("executor", id);
    return view;
  };
  const listContext = async (needsStates: boolean) => ({
    states: executorStates,
    inState: needsStates ? await executorsByState(viewDeps) : new Map<string, readonly string[]>(),
  });
  /** A refusal is audited, so that someone who tries internal addresses one by one is noticed. */
  const refuseProbe = async (actor: Actor, name: string, check: HealthCheck): Promise<void> => {
    if (!("probe" in check)) return;
    const destination = probes[check.strategy].destination?.(check.probe);
    const reason = destination === undefined ? null : options.judgeDestination(destination);
    if (reason === null) return;
    const detail = { reason, executor: name };
    await db.write((tx) => audit(tx, actor, { event: "destination_blocked", outcome: "refused", detail }));
    throw invalidInput({ "health_check.probe.host": reason });
  };
  /** The rules that need the database or several fields; returns the bindings with their IDs. */
  const checkRules = async (
    read: Reader,
    input: ExecutorInput,
    own: ExecutorSettings | null,
    seen: SeenTarget | null,
  ): Promise<Binding[]> => {
    const ownId = own?.id ?? null;
    if (input.trigger === "window" && input.window === null) {
      throw invalidInput({ window: say("executors.window_missing") });
    }
    const [connection] = await connectionFacts(read, [input.connection_id]);
    if (connection === undefined) throw invalidInput({ connection_id: noSuch("connection", input.connection_id) });
    const byName = await findExecutorByName(read, input.name);
    if (byName !== null && byName.id !== ownId) {
      throw nameTaken("executor", input.name);
    }
    const byTarget = await findExecutorByTarget(read, input.connection_id, input.target.kind, input.target.id);
    if (byTarget !== null && byTarget.id !== ownId) {
      throw targetInUse(say("executors.target_taken", { target: input.target.id, executor: byTarget.name }));
    }
    if (seen !== null) refuseTarget(seen);
    const bindings = await resolveBindings(read, input.bindings, {
      target: input.target.id,
      found: seen?.services ?? null,
      bound: own === null || isOther(own, input) ? [] : own.bindings.map((binding) => binding.service),
    });
    const { artifact } = connections.targetKind(input.target.kind);
    refuseUnfitting(artifact, bindings);
    refuseImageless(input, bindings);
    if (input.health_check.strategy === "release" && artifact !== "chart") {
      throw invalidInput({ "health_check.strategy": say("executors.no_release_status") });
    }
    return bindings;
  };
  const storeBindings = (tx: Writer, executorId: string, bindings: readonly Binding[]) =>
    replaceBindings(
      tx,
      executorId,
      bindings.map(({ service, tracker_id, source_id, channel }) => ({
        executor_id: executorId,
        service,
        tracker_id,
        source_id,
        channel,
      })),
    );
  /**
   * A valid executor that is not stored yet: `insert` stores it within the caller's transaction, which may also store its trackers.
   * `found`: its target as just discovered; else the runtime is queried.
   */
  const draft = async (actor: Actor, input: unknown, found: Pick<Target, "services" | "warnings"> | null = null) => {
    const parsed = parseInput(ExecutorInput, input);
    await refuseProbe(actor, parsed.name, parsed.health_check);
    const id = newId(clock.now());
    const seen = found === null ? await lookAtTarget(lookDeps, parsed, null) : asSeen(found);
    const insert = async (tx: Writer, by: Actor): Promise<void> => {
      const bindings = await checkRules(tx, parsed, null, seen);
      const now = clock.now();
      // Evaluated at once, so that there is something to show.
      const unknown = seen.unknown_settings ?? [];
      await insertExecutor(tx, {
        id,
        ...rowOf(parsed, unknown),
        unknown_settings: unknown.map(toText),
        ...{ next_evaluation_at: now, created_at: now, updated_at: now },
      });
      await storeBindings(tx, id, bindings);
      await audit(tx, by, {
        event: "executor_created",
        outcome: "ok",
        subject: { kind: "executor", id, name: parsed.name },
        detail: { target: parsed.target.id, trigger: parsed.trigger },
      });
    };
    return { id, name: parsed.name, seen, insert };
  };
  const planIn = async (session: RuntimeSession, settings: ExecutorSettings): Promise<PlanView> => {
    const purpose = { is_automatic: false, is_reviewed: true };
    const planned = await planUpdate(planDeps, settings, session, purpose);
    if (planned.target === null) refuseId(await nameInstead(session, settings.target));
    return planView(settings, planned, await recentDowntimes(db.read, settings.id, downtimeRuns));
  };

  return {
    /** By name. */
    ...listOperations({
      shape: executorList,
      page: async (ask) => {
        const needsStates = ask.filters.state !== undefined || ask.sort === "state";
        return await executorLists.page(db.read, await listContext(needsStates), ask);
      },
      counts: async (ask) => await executorLists.counts(db.read, await listContext(true), ask),
      views: (rows) => executorViews(viewDeps, rows),
    }),
    get,
    /** Those that are there, in the given order. */
    byIds: async (ids: readonly string[]): Promise<ExecutorView[]> =>
      await executorViews(viewDeps, await executorsByIds(db.read, ids)),

    draft,

    create: async (actor: Actor, input: unknown): Promise<ExecutorView> => {
      const { id, seen, insert } = await draft(actor, input);
      await db.write((tx) => insert(tx, actor));
      if (seen.is_missing) await observeMissing({ ...planDeps, db, clock }, id);
      return await get(id);
    },

    /** Omitted fields stay unchanged. The target cannot be changed while a run is in progress. */
    update: async (actor: Actor, id: string, input: unknown): Promise<ExecutorView> => {
      const patch = parseInput(ExecutorPatch, input);
      const before = await settingsOf(db.read, id);
      await refuseProbe(actor, patch.name ?? before.name, patch.health_check ?? before.health_check);
      const isRebound = patch.connection_id !== undefined || patch.target !== undefined || patch.bindings !== undefined;
      const { connection_id = before.connection_id, target = before.target } = patch;
      const seen = isRebound ? await lookAtTarget(lookDeps, { connection_id, target }, id) : null;
      await db.write(async (tx) => {
        const row = await getRow(tx, id);
        const stored = await settingsOf(tx, id);
        const merged = parseInput(ExecutorInput, {
          ...inputOf(row, stored),
          ...Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)),
        });
        const isMoved = isOther(stored, merged);
        if (isMoved) await refuseWhileActive(tx, id);
        const bindings = await checkRules(tx, merged, stored, seen);
        const now = clock.now();
        await updateExecutorRow(tx, id, {
          ...rowOf(merged, seen?.unknown_settings ?? row.unknown_settings.map(fromText)),
          // The acceptance was for the previous target.
          ...(isMoved && patch.accepted_unknown_settings === undefined ? { accepted_unknown_settings: [] } : {}),
          ...(isMoved ? { observed: null, observed_at: null, unknown_settings: [], skipped_versions: [] } : {}),
          ...(seen?.unknown_settings == null ? {} : { unknown_settings: seen.unknown_settings.map(toText) }),
          next_evaluation_at: now,
          updated_at: now,
        });
        if (!merged.is_enabled) await makeOutageDue(tx, id, now);
        if (patch.bindings !== undefined) await storeBindings(tx, id, bindings);
        await audit(tx, actor, {
          event: "executor_updated",
          outcome: "ok",
          subject: { kind: "executor", id, name: merged.name },
          detail: { fields: Object.keys(patch) },
        });
      });
      if (seen?.is_missing === true) await observeMissing({ ...planDeps, db, clock }, id);
      return await get(id);
    },

    /**
     * Acts on its updates: holds, snoozes, skips, dismisses, or takes that back. `undo`: the action that takes this one back; null if
     * nothing was to change. Throws 409 `other_version` or `not_dismissible` if the action is not about what is there now.
     */
    act: async (
      actor: Actor,
      id: string,
      input: unknown,
    ): Promise<{ view: ExecutorView; undo: ActionInput | null }> => {
      const action = parseInput(ActionInput, input);
      const undo = await db.write(async (tx) => await act(options, tx, actor, await getRow(tx, id), action));
      return { view: await get(id), undo };
    },

    /** With its runs and snapshots; refused while a run is in progress. */
    remove: async (actor: Actor, id: string): Promise<void> => {
      await db.write(async (tx) => {
        const row = await getRow(tx, id);
        await refuseWhileActive(tx, id);
        await deleteExecutorRow(tx, id);
        await audit(tx, actor, {
          event: "executor_deleted",
          outcome: "ok",
          subject: { kind: "executor", id, name: row.name },
        });
      });
    },

    /** Which version of each service ran from when to when, the newest first. */
    versions: async (id: string): Promise<VersionSpanView[]> => await versionSpans(db.read, (await get(id)).id),
    /** The same of every service that follows a tracker. */
    versionsUnder: async (trackerId: string): Promise<VersionSpanUnderTracker[]> =>
      await versionSpansUnder(db.read, trackerId),

    /** What a run would do now, with the hash that ties a run to it. Throws `PluginError`. */
    plan: async (id: string, signal: AbortSignal): Promise<PlanView> => {
      const settings = await settingsOf(db.read, id);
      await using session = await connections.open(settings.connection_id, signal);
      return await planIn(session, settings);
    },

    /** Makes plans of several executors at one moment, in one session with each connection. */
    planTogether: (signal: AbortSignal) => {
      const sessions = new Map<string, Promise<RuntimeSession>>();
      return {
        plan: async (id: string): Promise<PlanView> => {
          const settings = await settingsOf(db.read, id);
          const { connection_id } = settings;
          const session = sessions.get(connection_id) ?? connections.open(connection_id, signal, { reads_once: true });
          sessions.set(connection_id, session);
          return await planIn(await session, settings);
        },
        /** Does not wait for a runtime that has not responded yet. */
        [Symbol.asyncDispose]: async () => {
          for (const opening of sessions.values()) {
            opening.then(
              (session) => session[Symbol.asyncDispose](),
              () => undefined,
            );
          }
        },
      };
    },

    /** The same for an executor that is not stored yet, for the form. Takes the input of `create`. */
    preview: async (input: unknown, signal: AbortSignal): Promise<PlanView> => {
      const parsed = parseInput(ExecutorInput, input);
      const bindings = await resolveBindings(db.read, parsed.bindings, null);
      const [connection] = await connectionFacts(db.read, [parsed.connection_id]);
      if (connection === undefined) {
        throw invalidInput({ connection_id: noSuch("connection", parsed.connection_id) });
      }
      refuseKind(connections, connection, parsed.target);
      const target = targetOf(parsed.target, connections.targetKind);
      await using session = await connections.open(parsed.connection_id, signal);
      return await planIn(session, { ...parsed, ...notDeferred, id: "", target, bindings, window: parsed.window });
    },

    /** The next openings of a window that is not stored yet, for the form; none if it is incomplete. */
    openings: (window: unknown, count: number): readonly Opening[] => {
      const parsed = v.safeParse(WindowInput, window);
      return parsed.success ? nextOpenings(parsed.output, options.timezone(), clock.now(), count) : [];
    },

    /** For runs: the settings as of now. */
    settings: async (id: string): Promise<ExecutorSettings> => await settingsOf(db.read, id),
    /** For evaluations: compares what is desired with what was found. */
    compare: (settings: ExecutorSettings, target: Target | null, session: RuntimeSession | null): Promise<Comparison> =>
      compareWithDesired(planDeps, settings, target, session),
    /** For runs: the plan with everything that led to it. */
    planUpdate: (settings: ExecutorSettings, session: RuntimeSession, purpose: PlanPurpose): Promise<PlannedUpdate> =>
      planUpdate(planDeps, settings, session, purpose),
    /** For runs: stores what the services of the target run; to call in the transaction that ends the run. */
    versionsAtEnd: async (
      settings: ExecutorSettings,
      services: readonly TargetService[],
    ): Promise<(tx: Writer) => Promise<void>> => {
      const found = await boundServices(planDeps, settings, services);
      return async (tx) => {
        const before = (await findExecutor(tx, settings.id))?.observed_at ?? null;
        await recordVersions(tx, settings.id, found, { by: "end_of_run", before, now: clock.now() });
      };
    },
    /** For rollbacks: the parts that a run left down; see `PlanOptions`. */
    owedParts: (settings: Pick<ExecutorSettings, "id" | "target">): Promise<readonly string[]> =>
      owedParts(planDeps, settings, false),
    /** For runs: whether an automatic run may start or continue now; always true without a window. */
    isWindowOpen: (settings: ExecutorSettings): boolean =>
      settings.trigger !== "window" ||
      settings.window === null ||
      currentOpening(settings.window, options.timezone(), clock.now()) !== null,
    /** For runs: when the executor's window opens next; null without one. */
    nextOpening: (settings: ExecutorSettings): number | null => {
      const { trigger, window } = settings;
      if (trigger !== "window" || window === null) return null;
      return nextOpenings(window, options.timezone(), clock.now(), 1)[0]?.opens_at ?? null;
    },
    /** For runs: the logins that pull the plan's images. */
    pullLogins: (settings: ExecutorSettings, plan: Parameters<typeof pullLogins>[2]) =>
      pullLogins(planDeps, settings, plan),

    /** Call after the system time zone changed: it applies to windows at once. */
    timezoneChanged: (): Promise<void> => db.write((tx) => makeWindowsDue(tx, clock.now())),
  };
}

/**
 * Also refuses while an ended run has to bring up a target or remove a previous container, which nothing else would do. On a disabled
 * connection neither happens, so nothing is refused for it.
 */
async function refuseWhileActive(tx: Writer, id: string): Promise<void> {
  const run = await activeRunOf(tx, id);
  const owing = run === null ? await owingRunOf(tx, id) : null;
  if (owing !== null) {
    const message = say(owing.is_down ? "executors.still_down" : "executors.still_clearing", { run: owing.id });
    throw new AppError("run_active", 409, message, { fields: { active_run_id: plain(owing.id) } });
  }
  if (run === null) return;
  throw new AppError("run_active", 409, say("executors.in_progress", { run }), {
    fields: { active_run_id: plain(run) },
  });
}
