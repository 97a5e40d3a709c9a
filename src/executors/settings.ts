import * as v from "valibot";
import type { Reader } from "../db/client.ts";
import { notFound } from "../errors.ts";
import { type Message, type ToldAs, toldAs } from "../messages/message.ts";
import type { TargetRef } from "../runtimes/target.ts";
import type { TargetKind } from "../runtimes/target-kind.ts";
import { releasesCharts, releasesImages } from "../sources/source.ts";
import type { Deferral } from "./deferral-schema.ts";
import { HealthCheck } from "./health-check-schema.ts";
import { type BindingRow, bindingsOfExecutors, type ExecutorRow, findExecutor } from "./queries.ts";
import { WindowInput } from "./settings-schema.ts";
import { currentOpening, nextOpenings, type Opening, type Window } from "./window.ts";

export type Binding = Omit<BindingRow, "executor_id">;

/** Whether a binding's source watches an image; a repository or a chart only reports versions. */
export function watchesImage({ source_kind }: Pick<Binding, "source_kind">): boolean {
  return releasesImages(source_kind);
}

/** Whether a binding's source releases what services of the target's kind run; an image may also follow the versions of a repository. */
export function fitsArtifact({ source_kind }: Pick<Binding, "source_kind">, artifact: TargetKind["artifact"]): boolean {
  return artifact !== "chart" || releasesCharts(source_kind);
}

const asStored = [
  "trigger",
  "image_selection",
  "reference_mode",
  "restore_on_failure",
  "allow_downgrade",
  "minimum_age_hours",
  "requires_approval",
  "approval_hours",
  "start_first",
  "drain_seconds",
] as const satisfies readonly (keyof ExecutorRow)[];
export type StoredSettings = Pick<ExecutorRow, (typeof asStored)[number]>;

/** The columns that plans, edits and views use as stored. */
export function storedSettings(row: ExecutorRow): StoredSettings {
  return Object.fromEntries(asStored.map((key) => [key, row[key]])) as StoredSettings;
}

/** An executor as plans and runs use it: stored, or about to be stored. */
export interface ExecutorSettings extends StoredSettings, Deferral {
  id: string;
  name: string;
  is_enabled: boolean;
  connection_id: string;
  target: TargetRef &
    Pick<TargetKind, "is_group" | "is_declarative" | "artifact"> &
    ToldAs<"title", Message> & { saved_as?: string | undefined; saved_as_data?: Message | undefined };
  bindings: readonly Binding[];
  window: Window | null;
  health_check: HealthCheck;
  accepted_unknown_settings: readonly string[];
}

/** Finds what a runtime declares about a kind of target. */
export type FindTargetKind = (kind: string) => TargetKind;

export function targetOf({ kind, id }: TargetRef, findKind: FindTargetKind): ExecutorSettings["target"] {
  const { is_group, is_declarative, artifact, title, saved_as } = findKind(kind);
  const saved = saved_as === undefined ? {} : toldAs("saved_as", saved_as);
  return { kind, id, is_group, is_declarative, artifact, ...toldAs("title", title), ...saved };
}

export function targetOfRow(row: Pick<ExecutorRow, "target_kind" | "target_id">, findKind: FindTargetKind) {
  return targetOf({ kind: row.target_kind, id: row.target_id }, findKind);
}

export function windowOf(row: ExecutorRow): v.InferOutput<typeof WindowInput> | null {
  return row.window === null ? null : v.parse(WindowInput, row.window);
}

/** The current opening of a stored window, else the next one; null without a window. */
export function openingOf(window: ExecutorRow["window"], zone: string, now: number): Opening | null {
  if (window === null) return null;
  const parsed = v.parse(WindowInput, window);
  return currentOpening(parsed, zone, now) ?? nextOpenings(parsed, zone, now, 1)[0] ?? null;
}

function settingsOf(row: ExecutorRow, bindings: readonly Binding[], findKind: FindTargetKind): ExecutorSettings {
  return {
    id: row.id,
    name: row.name,
    is_enabled: row.is_enabled,
    connection_id: row.connection_id,
    target: targetOfRow(row, findKind),
    bindings,
    window: windowOf(row),
    ...storedSettings(row),
    health_check: v.parse(HealthCheck, row.health_check),
    accepted_unknown_settings: row.accepted_unknown_settings,
    held_since: row.held_since,
    snoozed_until: row.snoozed_until,
    skipped_versions: row.skipped_versions,
  };
}

/** A stored executor as its input, to merge a patch into. */
export function inputOf(row: ExecutorRow, { target, bindings }: ExecutorSettings) {
  return {
    name: row.name,
    description: row.description,
    is_enabled: row.is_enabled,
    connection_id: row.connection_id,
    target: { kind: target.kind, id: target.id },
    bindings: bindings.map(({ service, tracker, source, channel }) => ({ service, tracker, source, channel })),
    window: row.window,
    ...storedSettings(row),
    health_check: row.health_check,
    accepted_unknown_settings: row.accepted_unknown_settings,
  };
}

/** As stored now: each run and plan rereads it, so that edits apply from the next run on. Throws `not_found`. */
export async function readSettings(read: Reader, findKind: FindTargetKind, id: string): Promise<ExecutorSettings> {
  const row = await findExecutor(read, id);
  if (row === null) throw notFound("executor", id);
  return settingsOf(row, await bindingsOfExecutors(read, [id]), findKind);
}
