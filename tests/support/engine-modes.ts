import { test } from "bun:test";
import { dockerFlavour } from "../../src/runtimes/docker/flavour.ts";
import type { Flavour } from "../../src/runtimes/engine/flavour.ts";
import { podmanFlavour } from "../../src/runtimes/podman/flavour.ts";
import { allEngineModes, type EngineMode, engineMissing } from "../peers/engine.ts";
import { peerSuite } from "./peer.ts";

export const flavours = { docker: dockerFlavour, podman: podmanFlavour } as const;

/** The runtime that a connection to an engine of this mode has to choose. */
export function kindOf(mode: EngineMode): Flavour["kind"] {
  return mode === "podman" || mode === "podman-rootless" ? "podman" : "docker";
}

export function isPodman(mode: EngineMode): boolean {
  return kindOf(mode) === "podman";
}

/** The same suite on every engine, or on those that are named; one that cannot be started here is skipped with the reason. */
export function engineSuite(
  name: string,
  body: (mode: EngineMode) => void,
  modes: readonly EngineMode[] = allEngineModes,
  alsoMissing: string | null = null,
): void {
  const chosen = chosenModes().filter((mode) => modes.includes(mode));
  for (const mode of chosen) peerSuite(`${mode}: ${name}`, engineMissing(mode) ?? alsoMissing, () => body(mode));
}

/** The newest Docker and Podman: for what takes minutes on each and does not depend on the engine's age. */
export const newestModes = ["docker-29-containerd", "podman"] as const;

/** Declares tests that the modes of a suite take in turn: those that every mode declares, and in the same order. */
interface InTurn {
  (name: string, body: () => Promise<void>, limitMs?: number): void;
  each<R>(rows: readonly R[]): (name: string, body: (row: R) => Promise<void>, limitMs?: number) => void;
}

/** Of so many places one takes each test and row of a table, and the next one the next. */
export function takingTurns(place: number, places: number): InTurn {
  let met = 0;
  const isMine = () => {
    met += 1;
    return (place + met) % places === 0;
  };
  const single = (name: string, body: () => Promise<void>, limitMs?: number) => {
    if (isMine()) test(name, body, limitMs);
  };
  return Object.assign(single, {
    each: <R>(rows: readonly R[]) => {
      const mine = rows.filter(isMine);
      return (name: string, body: (row: R) => Promise<void>, limitMs?: number) => {
        if (mine.length > 0) test.each<R>(mine)(name, body, limitMs);
      };
    },
  });
}

/**
 * A suite that kills or breaks at many points, or waits often: on the modes that differ most, and on all with `TIDEMARK_REPEATS` or
 * `TIDEMARK_ENGINES`. What it declares by `inTurn`, because the engine hardly matters for it, usually runs on one of them.
 */
export function matrixSuite(
  name: string,
  body: (mode: EngineMode, inTurn: InTurn) => void,
  alsoMissing: string | null = null,
  usual: readonly EngineMode[] = ["docker-20", ...newestModes],
): void {
  const isAll = isWholeMatrix || process.env.TIDEMARK_ENGINES !== undefined;
  engineSuite(
    name,
    (mode) => body(mode, isAll ? takingTurns(0, 1) : takingTurns(usual.indexOf(mode), usual.length)),
    isAll ? allEngineModes : usual,
    alsoMissing,
  );
}

/** `TIDEMARK_ENGINES=podman,docker-29` runs the suites on these alone. */
function chosenModes(): readonly EngineMode[] {
  const wanted = process.env.TIDEMARK_ENGINES?.split(",") ?? [...allEngineModes];
  return allEngineModes.filter((mode) => wanted.includes(mode));
}

/** Set for the whole matrix: so often each point is tried. */
const repeats = Number(process.env.TIDEMARK_REPEATS ?? "0");
export const isWholeMatrix = repeats > 0;
/** Of the points where a mode is killed or broken it takes every so many, each mode others of them: the whole takes hours. */
const usualStride = 13;

/** Every `stride`th point from `first` up; without `last` as many as are asked for. With `TIDEMARK_REPEATS=1` all, from 1 up. */
export function* pointsBy(stride: number, { first = 1, last = Number.POSITIVE_INFINITY } = {}): Generator<number> {
  for (let point = isWholeMatrix ? 1 : first; point <= last; point += isWholeMatrix ? 1 : stride) yield point;
}

/** The points of a matrix that a mode takes. */
export function pointsOf(mode: EngineMode, { last = Number.POSITIVE_INFINITY, sparser = 1 } = {}): Generator<number> {
  const stride = usualStride * sparser;
  return pointsBy(stride, { first: 1 + (allEngineModes.indexOf(mode) % stride), last });
}

/** One for each time that `TIDEMARK_REPEATS` asks for. */
export const rounds = Array.from({ length: Math.max(repeats, 1) }, (_, index) => index + 1);

/** Of a test that kills at one point after the other: at every point it takes long. */
export const killingLimitMs = isWholeMatrix ? 3_600_000 : 600_000;

/** The rows of a matrix's table, so often as `TIDEMARK_REPEATS` asks for. */
export function repeated<T>(rows: readonly T[]): readonly T[] {
  return rounds.flatMap(() => rows);
}

/** What one of the places takes of a long table: each row is taken at `times` of them, and at all of them in the whole matrix. */
export function shareOf<P, R>(rows: readonly R[], place: P, places: readonly P[], times: number): readonly R[] {
  if (isWholeMatrix) return rows;
  const first = places.indexOf(place);
  return rows.filter((_, index) => (index + first) % places.length < times);
}
