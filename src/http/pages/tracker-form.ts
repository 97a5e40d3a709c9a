import { type FieldDescription, fields, valuesOf } from "../../forms/fields.ts";
import { sources } from "../../sources/index.ts";
import { isSourceKind } from "../../sources/source.ts";
import type { ProposalView } from "../../trackers/import/schema.ts";
import { repositories } from "../../trackers/notes/settings.ts";
import { channelTypes, TrackerInput, type TrackerView } from "../../trackers/schema.ts";
import type { TrackerService } from "../../trackers/service.ts";

type Values = Readonly<Record<string, unknown>>;

/** Initial values: for a running image, what the import proposes for a service with it; for a chart, a source that lacks only its address. */
export function newValues(
  { image = "", chart = "", name = "" }: { image?: string; chart?: string; name?: string },
  proposal: ProposalView | null,
): Values {
  if (chart !== "") {
    const source = { key: "main", kind: "helm", config: { chart }, channels: [{ type: "stable" }] };
    return { name: name === "" ? chart : name, is_enabled: true, sources: [source] };
  }
  if (proposal !== null) {
    const { tracker } = proposal;
    const sources = objectsOf(tracker.sources).map((source) => ({ ...source, key: "main" }));
    return { is_enabled: true, ...tracker, ...(name === "" ? {} : { name }), sources };
  }
  const bare = (image.split("@")[0] ?? "").replace(/:[^/:]*$/, "");
  const source = { key: "main", kind: "oci", config: { image: bare }, channels: [{ type: "stable" }] };
  return { name: name === "" ? (bare.split("/").at(-1) ?? "") : name, is_enabled: true, sources: [source] };
}

/** A new tracker without a name is called as the last part of its first source's address. */
export async function namedBySource(trackers: Pick<TrackerService, "nameFor">, sent: Values): Promise<Values> {
  if (typeof sent.name === "string" && sent.name.trim() !== "") return sent;
  const name = await trackers.nameFor(objectsOf(sent.sources)[0] ?? {});
  return name === null ? sent : { ...sent, name };
}

/** Those of kinds that only a later version knows. */
export function unknownSources(tracker: TrackerView | null): TrackerView["sources"] {
  return tracker?.sources.filter(({ kind }) => !isSourceKind(kind)) ?? [];
}

/**
 * The fields of a tracker. Leaves out its sources while one of them is of an unknown kind, which would be drawn with the fields of another
 * kind, unless the form itself sends sources.
 */
export function describeTracker(values: Values, stored: TrackerView | null): readonly FieldDescription[] {
  const described = fields(TrackerInput, values);
  const isLeftOut = unknownSources(stored).length > 0 && objectsOf(values.sources).length === 0;
  return isLeftOut ? described.filter(({ name }) => name !== "sources") : described;
}

/** A stored tracker as form values, with these of its sources. */
export function storedValues(tracker: TrackerView, sources = tracker.sources): Values {
  return {
    ...tracker,
    sources: sources.map(({ key, kind, config, credential_id, channels }) => ({
      key,
      kind,
      config,
      credential_id,
      // A name equal to its type's follows the type: choosing another type means the channel of that type.
      channels: channels.map((channel) => ({ ...channel, name: channel.name === channel.type ? "" : channel.name })),
    })),
  };
}

/** As an edit: a field left blank returns to its default instead of staying as it was. */
export function withDefaults(input: Values): Values {
  const defaults = fields(TrackerInput, input).flatMap((field) =>
    field.is_required || field.default_value === undefined ? [] : [[field.name, field.default_value] as const],
  );
  return { ...Object.fromEntries(defaults), ...input };
}

/** The credentials that the form's sources name, existing or not. */
export function chosenCredentials(values: Values): readonly string[] {
  return objectsOf(values.sources).flatMap(({ credential_id }) =>
    typeof credential_id === "string" && credential_id !== "" ? [credential_id] : [],
  );
}

/** The keys of the form's sources that are repositories. */
export function repositoryKeys(values: Values): readonly string[] {
  const typed = objectsOf(values.sources).flatMap(({ key, kind }) => {
    return typeof key !== "string" || key === "" || !isSourceKind(kind) ? [] : [{ key, kind }];
  });
  return repositories(typed, sources).map(({ key }) => key);
}

function objectsOf(value: unknown): readonly Values[] {
  return Array.isArray(value) ? value.map((item) => valuesOf(item)) : [];
}

/** An added source is mostly another side of the same project: its repository beside its image, its chart beside both. */
function firstOther(before: readonly Values[]): string {
  const usual = ["github", "oci", "helm"] as const;
  return usual.find((kind) => before.every((source) => source.kind !== kind)) ?? usual[0];
}

/** Initial values: an added source gets its own key, an unused kind and a channel, an added channel the first unused type. */
export function withBeginnings(values: Values): Values {
  const sources = objectsOf(values.sources);
  const keys = sources.map((source) => source.key);
  const firstFree = (position: number) => {
    const candidates = ["main", ...sources.map((_, index) => `source-${index + 1}`)];
    return candidates.find((key) => !keys.includes(key)) ?? `source-${position + 1}`;
  };
  return {
    ...values,
    sources: sources.map((source, position) => {
      const channels = objectsOf(source.channels);
      const isAdded = Object.keys(source).every((name) => name === "kind");
      return {
        ...source,
        ...(isAdded ? { key: firstFree(position), kind: firstOther(sources.slice(0, position)) } : {}),
        channels: isAdded && channels.length === 0 ? [{ type: "stable" }] : withTypes(channels),
      };
    }),
  };
}

function withTypes(channels: readonly Values[]): readonly Values[] {
  const taken = new Set(channels.map((channel) => channel.type));
  return channels.map((channel) => {
    if (Object.keys(channel).length > 0) return channel;
    const type = channelTypes.find((free) => !taken.has(free)) ?? "stable";
    taken.add(type);
    return { ...channel, type };
  });
}
