import { type Message, says, toldAs, withTexts } from "../messages/message.ts";
import { isMessage } from "../messages/types.ts";
import { withoutServing } from "../runs/schema.ts";
import { type ImageReference, ImageReferenceError, parseImageReference } from "../versions/image-reference.ts";
import type { BadRun, SharedFailure } from "./schema.ts";

/** Runs of a cause that are listed. */
const listed = 20;
/** Stands for what differs from target to target. */
const own = "…";
const severalOwn = /…(?:[/:@]…)+/g;
/** Names and ids are words; what is between them is not. */
const between = /([^\w.-]+)/;
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

/** Why a run failed, without what belongs to its target: names, images but for their registry, and ids. */
function causeOf({ executor, target }: BadRun, reason: Message): Message {
  const words = new Set([executor, target, ...ownWords(reason)].filter((word) => word !== ""));
  const general = withTexts(reason, (text) =>
    text
      .split(between)
      .map((word) => (words.has(word) || id.test(word) ? own : word))
      .join("")
      .replaceAll(severalOwn, own),
  );
  // These two are no text, and a container is named only where it is known.
  const { kind } = reason.params;
  const kept = { ...(kind === undefined ? {} : { kind }), ...(says(reason, "runs.failed") ? { container: null } : {}) };
  return { code: general.code, params: { ...general.params, ...kept } };
}

interface Caused {
  run: BadRun;
  reason: Message;
  cause: Message;
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

function sharedFailure(first: Caused, members: readonly Caused[]): SharedFailure {
  const { kind, state, reason_code, connection } = first.run;
  const host = registryOf(first.reason);
  const isSame = new Set(members.map(({ reason }) => JSON.stringify(reason))).size === 1;
  const runs = members.map(({ run }) => run);
  return {
    ...{ kind, state, reason_code, is_down: isDown(first.run) },
    ...toldAs("reason", isSame ? first.reason : first.cause),
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
  const groups = Map.groupBy(caused, keyOf)
    .values()
    .filter(({ length }) => length > 1)
    .toArray();
  const grouped = new Set(groups.flat().map(({ run }) => run));
  return {
    alone: runs.filter((run) => !grouped.has(run)),
    shared: groups.flatMap((members) => (members[0] === undefined ? [] : [sharedFailure(members[0], members)])),
  };
}
