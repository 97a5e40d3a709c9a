import { type Message, says, told, toldAs, withTexts } from "../messages/message.ts";
import { isMessage } from "../messages/types.ts";
import { withoutServing } from "../runs/schema.ts";
import { type ImageReference, ImageReferenceError, parseImageReference } from "../versions/image-reference.ts";
import type { FailingRow } from "./queries.ts";
import type { BadRun, LostTarget, SharedFailure, SharedLostTargets, SharedSourceFailure } from "./schema.ts";

/** Runs or sources of a cause that are listed. */
const listed = 20;
/** Stands for what differs from target to target. */
const own = "…";
const severalOwn = /…(?:[/:@]…)+/g;
/** Names and ids are words; what is between them is not. */
const between = /([^\w.-]+)/;
const everyWord = /[\w.-]+/g;
const id = /^[0-9a-f]{12,}$/;

function isDown({ serving }: Pick<BadRun, "serving">): boolean {
  return serving === "none";
}

function imageOf(reference: unknown): ImageReference | null {
  if (typeof reference !== "string") return null;
  try {
    return parseImageReference(reference);
  } catch (error) {
    if (error instanceof ImageReferenceError) return null;
    throw error;
  }
}

/** Where the image could not be pulled from, if that is the reason. */
function registryOf({ params }: Message): string | null {
  return imageOf(params.reference)?.registry ?? null;
}

/** What the registry's other images do not have in their names. */
function wordsOfImage(reference: string): readonly string[] {
  const { repository = "", tag = null, digest = null } = imageOf(reference) ?? {};
  return [...repository.split("/"), tag ?? "", ...(digest ?? "").split(":")];
}

/** The words of a message that belong to the target. */
function ownWords({ params }: Message): readonly string[] {
  return Object.entries(params).flatMap(([name, value]) => {
    if (isMessage(value)) return ownWords(value);
    if (typeof value !== "string") return [];
    if (name === "reference") return wordsOfImage(value);
    return name === "container" ? [value] : [];
  });
}

/** A reason without these words, and without ids. */
function generalized(reason: Message, words: readonly string[]): Message {
  const left = new Set(words.filter((word) => word !== ""));
  return withTexts(reason, (text) =>
    text
      .split(between)
      .map((word) => (left.has(word) || id.test(word) ? own : word))
      .join("")
      .replaceAll(severalOwn, own),
  );
}

/** Why a run failed, without what belongs to its target: names, images but for their registry, and ids. */
function causeOf({ executor, target }: BadRun, reason: Message): Message {
  const general = generalized(reason, [executor, target, ...ownWords(reason)]);
  // These two are no text, and a container is named only where it is known.
  const { kind } = reason.params;
  const kept = { ...(kind === undefined ? {} : { kind }), ...(says(reason, "runs.failed") ? { container: null } : {}) };
  return { code: general.code, params: { ...general.params, ...kept } };
}

interface Reasoned {
  reason: Message;
  cause: Message;
}

interface Caused extends Reasoned {
  run: BadRun;
}

/** Those of each key that several have. */
function several<T>(all: readonly T[], keyOf: (each: T) => string): [T, ...T[]][] {
  const isSeveral = (group: T[]): group is [T, ...T[]] => group.length > 1;
  return Map.groupBy(all, keyOf).values().filter(isSeveral).toArray();
}

/** The reason that all of them have, or what their reasons have in common. */
function sharedReason(members: readonly [Reasoned, ...Reasoned[]]): Message {
  const [first] = members;
  const isSame = new Set(members.map(({ reason }) => JSON.stringify(reason))).size === 1;
  return isSame ? first.reason : first.cause;
}

/** What runs of one cause have in common. A registry fails on all connections alike. */
function keyOf({ run, reason, cause }: Caused): string {
  return JSON.stringify([
    registryOf(reason) ?? run.connection,
    run.kind,
    run.state,
    isDown(run),
    run.reason_code,
    cause,
  ]);
}

function sharedFailure(members: readonly [Caused, ...Caused[]]): SharedFailure {
  const [first] = members;
  const { kind, state, reason_code, connection } = first.run;
  const host = registryOf(first.reason);
  const runs = members.map(({ run }) => run);
  return {
    ...{ kind, state, reason_code, is_down: isDown(first.run) },
    ...toldAs("reason", sharedReason(members)),
    ...{ host, connection: host === null ? connection : null },
    ended_at: Math.max(...runs.map(({ ended_at }) => ended_at ?? 0)) || null,
    run_count: runs.length,
    runs: runs.slice(0, listed),
  };
}

/** Separates the runs that share a cause from the others; both stay in their order. */
export function byCause(runs: readonly BadRun[]): { alone: BadRun[]; shared: SharedFailure[] } {
  const caused = runs.flatMap((run) => {
    if (run.reason_data === null) return [];
    const reason = withoutServing(run.reason_data);
    return { run, reason, cause: causeOf(run, reason) };
  });
  const groups = several(caused, keyOf);
  const grouped = new Set(groups.flat().map(({ run }) => run));
  return { alone: runs.filter((run) => !grouped.has(run)), shared: groups.map(sharedFailure) };
}

interface CausedSource extends Reasoned {
  row: FailingRow;
}

/** The names in a failed request identify its source, so they do not count towards the cause. */
function causedSource(row: FailingRow, reason: Message): CausedSource {
  const asked = says(reason, "sources.failed") ? Object.values(reason.params.action.params) : [];
  const names = asked.flatMap((name) => (typeof name === "string" ? (name.match(everyWord) ?? []) : []));
  const words = [row.tracker, ...names].filter((word) => word !== row.host);
  return { row, reason, cause: generalized(reason, words) };
}

function sharedSourceFailure(members: readonly [CausedSource, ...CausedSource[]]): SharedSourceFailure {
  const { host, credential_id, credential, last_error_code } = members[0].row;
  const rows = members.map(({ row }) => row);
  return {
    ...{ host, credential_id, credential },
    since: Math.min(...rows.map(({ failing_since, next_check_at }) => failing_since ?? next_check_at)),
    error: { code: last_error_code ?? "unreachable", ...told(sharedReason(members)) },
    failing: rows.length,
    sources: rows.slice(0, listed).map(({ tracker, source }) => ({ tracker, source })),
  };
}

/** Separates the failing sources that share a reason, a host and a credential from the others; both stay in their order. */
export function bySharedReason(rows: readonly FailingRow[]): { alone: FailingRow[]; shared: SharedSourceFailure[] } {
  const caused = rows.flatMap((row) =>
    row.last_error_message === null ? [] : causedSource(row, row.last_error_message),
  );
  const groups = several(caused, ({ row: { host, credential_id, last_error_code }, cause }) =>
    JSON.stringify([host, credential_id, last_error_code, cause]),
  );
  const grouped = new Set(groups.flat().map(({ row }) => row));
  return { alone: rows.filter((row) => !grouped.has(row)), shared: groups.map(sharedSourceFailure) };
}

interface CausedTarget extends Reasoned {
  target: LostTarget;
}

function sharedLostTargets(members: readonly [CausedTarget, ...CausedTarget[]]): SharedLostTargets {
  const { connection, problem } = members[0].target;
  const targets = members.map(({ target }) => target);
  return {
    ...{ connection, problem: { code: problem.code, ...told(sharedReason(members)) } },
    ...{ target_count: targets.length, targets: targets.slice(0, listed) },
  };
}

/** Separates the lost targets of a connection that share a reason from the others; both stay in their order. */
export function byConnection(targets: readonly LostTarget[]): { alone: LostTarget[]; shared: SharedLostTargets[] } {
  const caused = targets.map((target) => {
    const reason = target.problem.message_data;
    return { target, reason, cause: generalized(reason, [target.executor, target.target, ...ownWords(reason)]) };
  });
  const groups = several(caused, ({ target, cause }) =>
    JSON.stringify([target.connection, target.problem.code, cause]),
  );
  const grouped = new Set(groups.flat().map(({ target }) => target));
  return { alone: targets.filter((target) => !grouped.has(target)), shared: groups.map(sharedLostTargets) };
}
