import type { RuntimeKind } from "../../src/runtimes/runtime.ts";
import { allEngineModes, type EngineMode, engineMissing } from "../peers/engine.ts";
import { peerSuite } from "./peer.ts";

/** The runtime that a connection to an engine of this mode has to choose. */
export function kindOf(mode: EngineMode): RuntimeKind {
  return mode === "podman" || mode === "podman-rootless" ? "podman" : "docker";
}

export function isPodman(mode: EngineMode): boolean {
  return kindOf(mode) === "podman";
}

/** The same suite on every engine, or on those that are named; one that cannot be started here is skipped with the reason. */
export function engineSuite(
  name: string,
  body: (mode: EngineMode) => void,
  modes: readonly EngineMode[] = chosenModes(),
  alsoMissing: string | null = null,
): void {
  for (const mode of modes) peerSuite(`${mode}: ${name}`, engineMissing(mode) ?? alsoMissing, () => body(mode));
}

/** A suite that kills or breaks at many points: on the modes that differ most, and on all with `TIDEMARK_REPEATS` or `TIDEMARK_ENGINES`. */
export function matrixSuite(name: string, body: (mode: EngineMode) => void): void {
  const isWhole = process.env.TIDEMARK_REPEATS !== undefined || process.env.TIDEMARK_ENGINES !== undefined;
  engineSuite(name, body, isWhole ? chosenModes() : ["docker-20", "docker-29-containerd", "podman"]);
}

/** `TIDEMARK_ENGINES=podman,docker-29` runs the suites on these alone. */
function chosenModes(): readonly EngineMode[] {
  const wanted = process.env.TIDEMARK_ENGINES?.split(",") ?? [...allEngineModes];
  return allEngineModes.filter((mode) => wanted.includes(mode));
}

/**
 * How thoroughly crashes and faults are tried: every `stride`th point, `repeats` times each. The first mode takes every point, the
 * others every fifth, because the whole of it takes a quarter of an hour for each; `TIDEMARK_REPEATS=5` takes every point on
 * every mode so often.
 */
export function matrixOf(mode: EngineMode): { repeats: number; stride: number } {
  const repeats = Number(process.env.TIDEMARK_REPEATS ?? "0");
  if (repeats > 0) return { repeats, stride: 1 };
  return { repeats: 1, stride: mode === allEngineModes[0] ? 1 : 5 };
}

/** From one point of a matrix to the next. */
export function strideOf(mode: EngineMode): number {
  return matrixOf(mode).stride;
}

/** The rows of a matrix's table, so often as its mode asks for. */
export function repeated<T>(mode: EngineMode, rows: readonly T[]): readonly T[] {
  return Array.from({ length: matrixOf(mode).repeats }, () => rows).flat();
}
