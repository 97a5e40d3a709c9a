import { judgedPaths } from "../../../templates/trackers/form.tsx";
import type { PreviewPart } from "../../../templates/trackers/preview.tsx";
import { AppError, type FieldErrors } from "../../errors.ts";
import { type FieldDescription, fields, valuesOf } from "../../forms/fields.ts";
import { type SourceKind, sourceKinds } from "../../sources/source.ts";
import { TrackerInput } from "../../trackers/schema.ts";
import type { TrackerService } from "../../trackers/service.ts";

type Values = Readonly<Record<string, unknown>>;

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What each source of a form would pick from upstream, or why that is unknown. */
export async function previewForm(trackers: Pick<TrackerService, "preview">, values: Values): Promise<PreviewPart[]> {
  const entries = fields(TrackerInput, values).find((field) => field.name === "sources")?.entries ?? [];
  const sources = listOf(values.sources).map(valuesOf);
  return await Promise.all(
    sources.map((source, position) =>
      previewSource(trackers, source, position, entries[position] ?? [], preferencesOf(values)),
    ),
  );
}

async function previewSource(
  trackers: Pick<TrackerService, "preview">,
  source: Values,
  position: number,
  entry: readonly FieldDescription[],
  preferences: Values,
): Promise<PreviewPart> {
  const part = {
    key: typeof source.key === "string" ? source.key : "",
    kind: kindOf(source),
    places: judgedPaths(entry),
  };
  if (!isAddressed(entry, valuesOf(source.config))) return { ...part, outcome: { kind: "waits" } };
  const { key: _key, ...input } = source;
  try {
    const view = await trackers.preview({ ...input, ...preferences });
    return { ...part, outcome: { kind: "judged", view, exclude_paths: channelPaths(source, position) } };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.status === 422)
      return { ...part, outcome: { kind: "refused", errors: placed(error.field_messages, position) } };
    if (error.code !== "upstream_failed") throw error;
    return { ...part, outcome: { kind: "failed", message: error.said } };
  }
}

/** Whether all required fields are filled in: one not reached yet is no mistake. */
function isAddressed(entry: readonly FieldDescription[], config: Values): boolean {
  const needed = entry
    .filter((field) => field.name === "config")
    .flatMap((field) => field.children.filter((child) => child.is_required && child.kind === "text"));
  return needed.every((child) => typeof config[child.name] === "string" && config[child.name] !== "");
}

function kindOf({ kind }: Values): SourceKind | null {
  return sourceKinds.find((known) => known === kind) ?? null;
}

/** The tracker's settings that affect a preview; invalid ones are reported at their own field. */
function preferencesOf({ sorting, check_interval_minutes: interval, release_fallback }: Values): Values {
  return {
    ...(sorting === undefined ? {} : { sorting }),
    ...(typeof interval === "number" && interval >= 1 ? { check_interval_minutes: interval } : {}),
    ...(typeof release_fallback === "boolean" ? { release_fallback } : {}),
  };
}

/** Errors name the fields of one source; in the form it is part of a list. */
function placed(errors: FieldErrors | undefined, position: number): FieldErrors {
  return Object.fromEntries(
    Object.entries(errors ?? {}).map(([path, message]) => [`sources.${position}.${path}`, message]),
  );
}

/** The last field of each channel, below which its result appears. */
function channelPaths(source: Values, position: number): readonly string[] {
  return listOf(source.channels).map((_, place) => `sources.${position}.channels.${place}.exclude_pattern`);
}
