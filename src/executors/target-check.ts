import type { Clock } from "../clock.ts";
import type { ConnectionService } from "../connections/service.ts";
import type { Database, Reader } from "../db/client.ts";
import { AppError, invalidInput, PluginError } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import type { RuntimeSession } from "../runtimes/session.ts";
import type { Target, TargetRef } from "../runtimes/target.ts";
import type { ArtifactDeps } from "./artifacts/artifact.ts";
import { compareWithDesired } from "./desired.ts";
import { type Observation, observationOf, unmetView } from "./observation-schema.ts";
import {
  connectionFacts,
  type ExecutorRow,
  executorsOfConnection,
  findExecutor,
  updateExecutorRow,
} from "./queries.ts";
import { type ExecutorSettings, readSettings, targetOf, targetOfRow } from "./settings.ts";
import { unknownSettingsIn } from "./unknown-settings.ts";

/** How long storing an executor waits for a runtime that does not respond. */
const lookTimeoutMs = 5_000;

export interface TargetCheckDeps {
  read: Reader;
  connections: Pick<ConnectionService, "open" | "targetKind" | "targetKindsOf">;
}

/** What is known about a target that is to be bound. */
export interface SeenTarget {
  /** Names of its services; null if the runtime could not be asked or has no such target. */
  services: readonly string[] | null;
  /** Why it may not be bound; null if it may. */
  conflict: Message | null;
  /** The runtime answered and has no such target. */
  is_missing: boolean;
  /** See `nameInstead`. */
  name: string | null;
  /** Settings that the runtime does not report; null if the target was not seen. */
  unknown_settings: readonly Message[] | null;
}

/**
 * Asks the runtime for a target's services, and whether another executor on the connection already updates part of it: a compose group and
 * one of its containers never have an executor each. A runtime that does not respond blocks nothing; the last observations of the other
 * executors count then.
 */
export async function lookAtTarget(
  deps: TargetCheckDeps,
  { connection_id, target: ref }: { connection_id: string; target: TargetRef },
  ownId: string | null,
): Promise<SeenTarget> {
  const { targetKind } = deps.connections;
  const unseen = { services: null, is_missing: false, name: null, unknown_settings: null };
  const [connection] = await connectionFacts(deps.read, [connection_id]);
  if (connection === undefined) return { ...unseen, conflict: null };
  refuseKind(deps.connections, connection, ref);
  const others = (await executorsOfConnection(deps.read, connection_id)).filter(
    (each) => each.id !== ownId && each.target_kind !== ref.kind,
  );
  const wanted = targetOf(ref, targetKind);
  if (!connection.is_enabled) return { ...unseen, conflict: conflictAmong(wanted, null, others, new Map()) };
  try {
    await using session = await deps.connections.open(connection_id, AbortSignal.timeout(lookTimeoutMs));
    const target = await inspectOrNull(session, wanted);
    const groups = new Map<string, Target | null>();
    for (const other of others) {
      const group = targetOfRow(other, targetKind);
      if (group.is_group) groups.set(other.id, await inspectOrNull(session, group));
    }
    return {
      services: target?.services.map((service) => service.name) ?? null,
      conflict: conflictAmong(wanted, target, others, groups),
      is_missing: target === null,
      unknown_settings: target === null ? null : unknownSettingsIn(target.warnings),
      name: target === null ? await nameInstead(session, wanted) : null,
    };
  } catch (error) {
    if (!(error instanceof PluginError) && !(error instanceof AppError)) throw error;
    return { ...unseen, conflict: conflictAmong(wanted, null, others, new Map()) };
  }
}

/** What a discovery shows of a target that no executor has, nor any part of it. */
export function asSeen({ services, warnings }: Pick<Target, "services" | "warnings">): SeenTarget {
  return {
    services: services.map(({ name }) => name),
    conflict: null,
    is_missing: false,
    name: null,
    unknown_settings: unknownSettingsIn(warnings),
  };
}

/** Throws 422 if the connection has no such kind of target. */
export function refuseKind(
  { targetKindsOf }: Pick<ConnectionService, "targetKindsOf">,
  connection: { name: string; kind: string },
  { kind }: TargetRef,
): void {
  const kinds = targetKindsOf(connection.kind).map((each) => each.kind);
  if (kinds.includes(kind)) return;
  throw invalidInput({ "target.kind": say("executors.target_kind_wanted", { connection: connection.name, kinds }) });
}

/** For a missing target given by container ID: the name to bind instead, because the next update changes the ID. */
export async function nameInstead(session: RuntimeSession, ref: ExecutorSettings["target"]): Promise<string | null> {
  return ref.is_group ? null : ((await session.nameOfId?.(ref.id)) ?? null);
}

/** Null if the target is gone. */
export async function inspectOrNull(session: RuntimeSession, ref: TargetRef): Promise<Target | null> {
  try {
    return await session.inspect(ref);
  } catch (error) {
    if (error instanceof PluginError && error.code === "not_found") return null;
    throw error;
  }
}

function containerNamesOf(target: Pick<Target, "services"> | null): readonly string[] {
  return target?.services.flatMap((service) => service.containers) ?? [];
}

/** From the group as seen now, else as last observed. */
function containersOfGroup(row: ExecutorRow, groups: ReadonlyMap<string, Target | null>): readonly string[] {
  const seen = groups.get(row.id);
  if (seen !== undefined && seen !== null) return containerNamesOf(seen);
  const observation = observationOf(row);
  const bound = observation?.services.flatMap(({ found }) => found?.containers ?? []) ?? [];
  return [...bound, ...(observation?.unbound.flatMap((service) => service.containers) ?? [])];
}

function conflictAmong(
  wanted: ExecutorSettings["target"],
  target: Target | null,
  others: readonly ExecutorRow[],
  groups: ReadonlyMap<string, Target | null>,
): Message | null {
  if (!wanted.is_group) {
    const group = others.find((row) => containersOfGroup(row, groups).includes(wanted.id));
    return group === undefined
      ? null
      : say("executors.target_in_group", { target: wanted.id, group: group.target_id, executor: group.name });
  }
  const own = containerNamesOf(target);
  const single = others.find((row) => own.includes(row.target_id));
  return single === undefined
    ? null
    : say("executors.container_has_executor", {
        container: single.target_id,
        group: wanted.id,
        executor: single.name,
      });
}

/** Throws 422 at the target's field if an ID was given instead of this name. */
export function refuseId(name: string | null): void {
  if (name !== null) throw invalidInput({ "target.id": say("executors.id_for_name", { name }) });
}

/** 409 at the target's field: another executor updates it, or a part of it. */
export function targetInUse(reason: Message): AppError {
  return new AppError("in_use", 409, reason, { fields: { "target.id": reason } });
}

/** Throws at the target's field: 422 for an ID instead of a name, 409 `in_use` for a conflict. */
export function refuseTarget({ conflict, name }: SeenTarget): void {
  refuseId(name);
  if (conflict !== null) throw targetInUse(conflict);
}

/** Stores that the runtime has no such target, so that a mistyped name shows before the first evaluation. */
export async function observeMissing(
  deps: ArtifactDeps & TargetCheckDeps & { db: Database; clock: Clock },
  id: string,
): Promise<void> {
  const { db, clock } = deps;
  const comparison = await compareWithDesired(
    deps,
    await readSettings(db.read, deps.connections.targetKind, id),
    null,
    null,
  );
  const observed: Observation = {
    services: [...comparison.services],
    unbound: [],
    problem: unmetView(comparison.unmet),
    waiting: null,
    desired_revision: comparison.desired_revision,
  };
  await db.write(async (tx) => {
    const row = await findExecutor(tx, id);
    // An evaluation since then is more recent.
    if (row === null || row.observed !== null || row.lease_owner !== null) return;
    await updateExecutorRow(tx, id, { observed, observed_at: clock.now() });
  });
}
