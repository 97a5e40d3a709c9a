import { AppError, PluginError } from "../errors.ts";
import { say } from "../messages/message.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import type { RuntimeSession } from "../runtimes/session.ts";
import type { Refusal } from "../runtimes/target.ts";
import type { connectionPlaces } from "./queries.ts";

export type Place = Awaited<ReturnType<typeof connectionPlaces>>[number];

interface Identified {
  place_id: string | null;
  identified_at: number | null;
  has_moved: boolean;
}

/** Another runtime may respond at the address now, so the identity is requested again after each silence, and each hour. */
export const identifyAgainMs = 60 * 60_000;

export function isIdentityDue({ place_id, identified_at }: Omit<Identified, "has_moved">, now: number): boolean {
  if (identified_at === null) return true;
  return place_id !== null && Math.abs(now - identified_at) >= identifyAgainMs;
}

/** The identity that the runtime reports; undefined if it did not respond before `signal` was aborted, which means nothing. */
export async function identityOf(
  session: Pick<RuntimeSession, "identify">,
  signal: AbortSignal,
): Promise<string | null | undefined> {
  try {
    return (await session.identify?.()) ?? null;
  } catch (error) {
    if (signal.aborted) return undefined;
    if (error instanceof PluginError) return error.code === "unreachable" ? undefined : null;
    throw error;
  }
}

/** Of a connection whose runtime was asked for its identity; it may not report one. */
export function afterIdentity({ place_id, has_moved }: Identified, found: string | null, now: number): Identified {
  const isMoved = place_id !== null && found !== null && found !== place_id;
  return { place_id: found ?? place_id, identified_at: now, has_moved: has_moved || isMoved };
}

/** Of these, the other connections that reach some of the same targets. */
export function twinsOf<P extends Place>(own: Place, all: readonly P[], runtime: Pick<Runtime, "overlaps">): P[] {
  return all.filter((other) => {
    const isOther = other.id !== own.id && other.kind === own.kind;
    const isAt = (column: "place" | "place_id") => own[column] !== null && own[column] === other[column];
    return isOther && (isAt("place") || isAt("place_id")) && (runtime.overlaps?.(own.config, other.config) ?? true);
  });
}

/** What the page of a connection must warn about, apart from its configuration. */
export function placeWarnings(
  { has_moved }: Pick<Identified, "has_moved">,
  twins: readonly { name: string }[],
): readonly Refusal[] {
  const names = twins.map(({ name }) => name);
  return [
    ...(names.length === 0 ? [] : [{ code: "place_shared", message: say("connections.place_shared", { names }) }]),
    ...(has_moved ? [{ code: "place_changed", message: say("connections.place_changed") }] : []),
  ];
}

/** 409: two connections of one place would update the same targets. */
export function placeTaken({ name }: { name: string }, { overlaps }: Pick<Runtime, "overlaps">): AppError {
  const said = say("connections.place_taken", { connection: name, is_divisible: overlaps !== undefined });
  return new AppError("place_taken", 409, said);
}
