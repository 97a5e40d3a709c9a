import { judgedPaths } from "../../../templates/trackers/form.tsx";
import type { PreviewPart } from "../../../templates/trackers/preview.tsx";
import { AppError, type FieldErrors } from "../../errors.ts";
import { type FieldDescription, fields } from "../../forms/fields.ts";
import { type SourceKind, sourceKinds } from "../../sources/source.ts";
import { TrackerInput } from "../../trackers/schema.ts";
import type { TrackerService } from "../../trackers/service.ts";

type Values = Readonly<Record<string, unknown>>;

function objectOf(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What each source of a form that is being filled would pick of what upstream has, or what keeps that from being told. */
export async function previewForm(trackers: Pick<TrackerService, "preview">, values: Values): Promise<PreviewPart[]> {
  const entries = fields(TrackerInput, values).find((field) => field.name === "sources")?.entries ?? [];
  const sources = listOf(values.sources).map(objectOf);
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
  if (!isAddressed(entry, objectOf(source.config))) return { ...part, outcome: { kind: "waits" } };
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

/** Whether everything is written without which nobody can be asked: who has not come to it yet has made no mistake. */
function isAddressed(entry: readonly FieldDescription[], config: Values): boolean {
  const needed = entry
    .filter((field) => field.name === "config")
    .flatMap((field) => field.children.filter((child) => child.is_required && child.kind === "text"));
  return needed.every((child) => typeof config[child.name] === "string" && config[child.name] !== "");
}

function kindOf({ kind }: Values): SourceKind | null {
  return sourceKinds.find((known) => known === kind) ?? null;
}

/** What of the tracker's own settings decides about a preview; what is not valid yet is told at its own field. */
function preferencesOf({ sorting, check_interval_minutes: interval, release_fallback }: Values): Values {
  return {
    ...(sorting === undefined ? {} : { sorting }),
    ...(typeof interval === "number" && interval >= 1 ? { check_interval_minutes: interval } : {}),
    ...(typeof release_fallback === "boolean" ? { release_fallback } : {}),
  };
}

/** The service names the fields of one source; in the form it stands in a list. */
function placed(errors: FieldErrors | undefined, position: number): FieldErrors {
  return Object.fromEntries(
    Object.entries(errors ?? {}).map(([path, message]) => [`sources.${position}.${path}`, message]),
  );
}

/** The last field of each channel, under which its result stands. */
function channelPaths(source: Values, position: number): readonly string[] {
  return listOf(source.channels).map((_, place) => `sources.${position}.channels.${place}.exclude_pattern`);
}
