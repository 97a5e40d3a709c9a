import type { TargetView } from "../../connections/schema.ts";
import type { FieldErrors } from "../../errors.ts";
import { releasesCharts, releasesImages } from "../../sources/source.ts";
import type { TrackerView } from "../../trackers/schema.ts";
import { ImageReferenceError, parseImageName } from "../../versions/image-reference.ts";

export type Values = Readonly<Record<string, unknown>>;
/** Whether targets of a kind have several services. */
export type IsGroup = (kind: string) => boolean;

export function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Object.getOwnPropertyDescriptor(value, key)?.value : undefined;
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function bindingsOf(values: Values): readonly unknown[] {
  return Array.isArray(values.bindings) ? values.bindings : [];
}

/** A target as the form's single choice names it: `compose:shop`. */
export function choiceOf(target: { kind: string; id: string }): string {
  return `${target.kind}:${target.id}`;
}

/** The chosen target in its two parts, from the form's single choice or from the parts. */
export function chosenRef(values: Values): { kind: string; id: string } {
  const [kind = "", ...rest] = text(member(values.target, "choice")).split(":");
  if (kind !== "") return { kind, id: rest.join(":") };
  return { kind: text(member(values.target, "kind")), id: text(member(values.target, "id")) };
}

/** Registry and repository in full form; null when nothing is named. */
function repositoryOf(image: string, registryAddress = ""): string | null {
  try {
    const { registry, repository } = parseImageName(image, registryAddress);
    return `${registry}/${repository}`;
  } catch (error) {
    if (error instanceof ImageReferenceError) return null;
    throw error;
  }
}

/** What a service runs. */
type Running = Pick<TargetView["services"][number], "image" | "artifact">;
const nothing: Running = { image: "" };

/** Whether a source watches the repository or the chart that runs. */
function watches({ kind, config }: TrackerView["sources"][number], { image, artifact }: Running): boolean {
  if (artifact?.kind === "chart") return releasesCharts(kind) && config.chart === artifact.name;
  const running = repositoryOf(image);
  return (
    releasesImages(kind) && running !== null && repositoryOf(text(config.image), text(config.registry)) === running
  );
}

/** The trackers to suggest for what runs: those that watch it. */
export function trackersFor(trackers: readonly TrackerView[], running: Running): readonly string[] {
  return trackers.filter(({ sources }) => sources.some((source) => watches(source, running))).map(({ name }) => name);
}

/** The trackers that have sources of charts, with only these. */
export function chartTrackers(trackers: readonly TrackerView[]): readonly TrackerView[] {
  return trackers
    .map((tracker) => ({ ...tracker, sources: tracker.sources.filter(({ kind }) => releasesCharts(kind)) }))
    .filter(({ sources }) => sources.length > 0);
}

/** Fields that depend on the tracker: a source or channel of another tracker is replaced by one that fits. */
function settled(
  row: unknown,
  name: string,
  service: string,
  trackers: readonly TrackerView[],
  running: Running,
): Values {
  const sources = trackers.find((each) => each.name === name)?.sources ?? [];
  const asked = sources.find((source) => source.key === text(member(row, "source")));
  const fitting = sources.find((each) => watches(each, running)) ?? sources.find((each) => releasesImages(each.kind));
  const source = asked ?? fitting ?? sources[0];
  const channels = source?.channels.map((channel) => channel.name) ?? [];
  const channel = channels.find((name) => name === member(row, "channel")) ?? channels[0] ?? "";
  return { service, tracker: name, source: source?.key ?? "", channel };
}

/**
 * The form's rows of bindings: one for a container; for a group one per service, bound or not, and those bound to a missing service. A
 * newly chosen target gets trackers suggested by image.
 */
export function bindingRows(
  values: Values,
  target: TargetView | undefined,
  trackers: readonly TrackerView[],
  isGroup: IsGroup,
): readonly Values[] {
  const given = bindingsOf(values);
  const drawn = member(values.target, "drawn");
  const ref = chosenRef(values);
  const isSame = drawn === undefined || drawn === choiceOf(ref);
  const serviceOf = (row: unknown) => text(member(row, "service"));
  if (!isGroup(ref.kind)) {
    const [service] = target?.services ?? [];
    const row = given.find((each) => serviceOf(each) === "" || serviceOf(each) === "main");
    const running = service ?? nothing;
    const asked = text(member(row, "tracker"));
    const isOffered = trackers.some(({ name }) => name === asked);
    const name = isOffered ? asked : (trackersFor(trackers, running)[0] ?? "");
    return [settled(row, name, service?.name ?? "main", trackers, running)];
  }
  const preferred = given.map((row) => text(member(row, "tracker")));
  const rows = (target?.services ?? []).map((service) => {
    const { name } = service;
    const row = isSame ? given.find((each) => serviceOf(each) === name) : undefined;
    const fitting = trackersFor(trackers, service);
    const proposed = isSame ? "" : (fitting.find((each) => preferred.includes(each)) ?? fitting[0] ?? "");
    return settled(row, row === undefined ? proposed : text(member(row, "tracker")), name, trackers, service);
  });
  const others = isSame
    ? given.filter((row) => serviceOf(row) !== "" && rows.every((each) => each.service !== serviceOf(row)))
    : [];
  return [
    ...rows,
    ...others.map((row) => settled(row, text(member(row, "tracker")), serviceOf(row), trackers, nothing)),
  ].filter(
    (row) => target === undefined || row.tracker !== "" || target.services.some(({ name }) => name === row.service),
  );
}

/** The values for the service: one target, and of a group only the services that follow a tracker. */
export function submitted(values: Values, isGroup: IsGroup): Values {
  const target = chosenRef(values);
  if (!isGroup(target.kind)) return { ...values, target };
  return { ...values, target, bindings: bindingsOf(values).filter((row) => text(member(row, "tracker")) !== "") };
}

/**
 * Moves errors from the submitted rows to the drawn rows of the same service, and leaves out those of fields that are only drawn once
 * another with an error is chosen.
 */
export function errorsAtRows(errors: FieldErrors, submittedValues: Values, drawn: Values): FieldErrors {
  const moved = movedErrors(errors, submittedValues, drawn);
  return Object.fromEntries(Object.entries(moved).filter(([path]) => moved[choiceBefore(path) ?? ""] === undefined));
}

/** The path of the choice that a field depends on. */
function choiceBefore(path: string): string | undefined {
  if (path === "target.kind") return "target.id";
  if (path === "target.id") return "connection_id";
  const [, row] = /^(bindings\.\d+)\.(?:source|channel)$/.exec(path) ?? [];
  return row === undefined ? undefined : `${row}.tracker`;
}

function movedErrors(errors: FieldErrors, submittedValues: Values, drawn: Values): FieldErrors {
  const sent = bindingsOf(submittedValues);
  const rows = bindingsOf(drawn);
  return Object.fromEntries(
    Object.entries(errors).map(([path, message]) => {
      const [, position, field] = /^bindings\.(\d+)\.(.+)$/.exec(path) ?? [];
      if (position === undefined || field === undefined) return [path, message];
      const service = member(sent[Number(position)], "service");
      const at = rows.findIndex((row) => member(row, "service") === service);
      // The service is no field of a row: its errors appear at the tracker.
      const shown = field === "service" ? "tracker" : field;
      return [at === -1 ? path : `bindings.${at}.${shown}`, message];
    }),
  );
}
