import type { Planned } from "../../../templates/executors/detail.tsx";
import type { ExecutorFormFacts } from "../../../templates/executors/form.tsx";
import type { Language } from "../../../templates/page.ts";
import { texts } from "../../../templates/texts/texts.ts";
import type { ConnectionService } from "../../connections/service.ts";
import { AppError, errorMessage, PluginError } from "../../errors.ts";
import { ExecutorInput } from "../../executors/schema.ts";
import type { ExecutorService } from "../../executors/service.ts";
import { type FieldDescription, fields } from "../../forms/fields.ts";
import type { TrackerView } from "../../trackers/schema.ts";
import type { TrackerService } from "../../trackers/service.ts";

export type Values = Readonly<Record<string, unknown>>;

export interface ExecutorFormServices {
  connections: Pick<ConnectionService, "list" | "targets">;
  trackers: Pick<TrackerService, "list">;
  executors: Pick<ExecutorService, "preview" | "openings">;
}

const shownOpenings = 3;
const pageLimit = 100;
/** Trackers that a select offers; past this the list would be of no use to anybody. */
const maxChoices = 1000;

/** The fields of an executor's form: those of the window only in window mode. */
export function describeExecutor(values: Values): readonly FieldDescription[] {
  return fields(ExecutorInput, values).filter((field) => field.name !== "window" || values.trigger === "window");
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Object.getOwnPropertyDescriptor(value, key)?.value : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function bindingsOf(values: Values): readonly unknown[] {
  return Array.isArray(values.bindings) ? values.bindings : [];
}

/** Every page of a list, up to a bound. */
async function all<T>(list: (query: unknown) => Promise<{ items: readonly T[]; next_cursor: string | null }>) {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await list({ limit: pageLimit, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && items.length < maxChoices);
  return items;
}

/** `ghcr.io/owner/app:1.2@sha256:…` without tag and digest, and without what Docker Hub lets people leave out. */
function repositoryOf(image: string): string {
  const bare = (image.split("@")[0] ?? "").replace(/:[^/:]*$/, "");
  return bare.replace(/^(index\.)?docker\.io\//, "").replace(/^library\//, "");
}

/** A source names its registry in the image or beside it. */
function watchedBy({ image, registry }: Values): string {
  const host = text(registry)
    .replace(/^https?:\/\//, "")
    .replace(/\/$/, "");
  return repositoryOf(host === "" ? text(image) : `${host}/${text(image)}`);
}

/** The tracker whose source watches the very repository that runs: what somebody would choose. */
function trackerFor(trackers: readonly TrackerView[], image: string): string {
  const wanted = repositoryOf(image);
  const watches = (tracker: TrackerView) => tracker.sources.some((source) => watchedBy(source.config) === wanted);
  return wanted === "" ? "" : (trackers.find(watches)?.name ?? "");
}

/** A binding with what follows from its tracker: a source or channel that is not the tracker's gives way to its first. */
function settled(binding: unknown, trackers: readonly TrackerView[], image: string): Values {
  const service = text(member(binding, "service")) || "main";
  const name = text(member(binding, "tracker")) || trackerFor(trackers, image);
  const tracker = trackers.find((each) => each.name === name);
  const sources = tracker?.sources ?? [];
  const asked = sources.find((source) => source.key === text(member(binding, "source")));
  const source = asked ?? sources.find((each) => each.kind === "oci") ?? sources[0];
  const channels = source?.channels.map((channel) => channel.type) ?? [];
  const channel = channels.find((type) => type === member(binding, "channel")) ?? channels[0] ?? "";
  return { service, tracker: name, source: source?.key ?? "", channel };
}

interface Drawn {
  values: Values;
  fields: readonly FieldDescription[];
  facts: ExecutorFormFacts;
}

/**
 * Everything that the form shows for these values: the targets of the chosen connection, the sources and channels of the chosen
 * tracker, the next openings, and what a run would do. `is_kept`: the values are somebody's and only blanks are filled.
 */
export async function drawExecutorForm(
  services: ExecutorFormServices,
  given: Values,
  language: Language,
  signal: AbortSignal,
): Promise<Drawn> {
  const [connections, trackers] = await Promise.all([all(services.connections.list), all(services.trackers.list)]);
  const connectionId = text(given.connection_id) || (connections.length === 1 ? (connections[0]?.id ?? "") : "");
  const discovery = await targetsOf(services, connectionId, signal);
  const targetId = text(member(given.target, "id"));
  const target = discovery.targets.find((each) => each.id === targetId);
  const imageOf = (binding: unknown) =>
    (target?.services.find((each) => each.name === member(binding, "service")) ?? target?.services[0])?.image ?? "";
  const bindings =
    bindingsOf(given).length === 0 ? [{ service: target?.services[0]?.name ?? "main" }] : bindingsOf(given);
  const values: Values = {
    ...given,
    connection_id: connectionId,
    name: text(given.name) || (target?.name ?? ""),
    bindings: bindings.map((binding) => settled(binding, trackers, imageOf(binding))),
  };
  return {
    values,
    fields: describeExecutor(values),
    facts: {
      connections: connections.map(({ id, name }) => ({ value: id, title: name })),
      ...discovery,
      trackers: trackers.map(({ name }) => ({ value: name, title: name })),
      dependent: dependentChoices(values, trackers, language),
      openings: values.trigger === "window" ? [...services.executors.openings(values.window, shownOpenings)] : [],
      preview: await previewOf(services, values, signal),
    },
  };
}

async function targetsOf(
  { connections }: ExecutorFormServices,
  id: string,
  signal: AbortSignal,
): Promise<Pick<ExecutorFormFacts, "targets" | "targets_failure">> {
  if (id === "") return { targets: [], targets_failure: null };
  try {
    return { targets: (await connections.targets(id, signal)).items, targets_failure: null };
  } catch (error) {
    if (!(error instanceof PluginError) && !(error instanceof AppError)) throw error;
    return { targets: [], targets_failure: errorMessage(error) };
  }
}

function dependentChoices(values: Values, trackers: readonly TrackerView[], language: Language) {
  const titles = texts({ language }).executors.channels;
  const choices: Record<string, { value: string; title: string }[]> = {};
  for (const [position, binding] of bindingsOf(values).entries()) {
    const sources = trackers.find((each) => each.name === member(binding, "tracker"))?.sources ?? [];
    const channels = sources.find((each) => each.key === member(binding, "source"))?.channels ?? [];
    choices[`bindings.${position}.source`] = sources.map(({ key }) => ({ value: key, title: key }));
    choices[`bindings.${position}.channel`] = channels.map(({ type }) => ({ value: type, title: titles[type] }));
  }
  return choices;
}

/** Null while too little is chosen to plan anything. */
async function previewOf({ executors }: ExecutorFormServices, values: Values, signal: AbortSignal): Promise<Planned> {
  const isChosen =
    text(values.connection_id) !== "" &&
    text(member(values.target, "id")) !== "" &&
    bindingsOf(values).every((binding) => text(member(binding, "channel")) !== "");
  if (!isChosen) return null;
  const { connection_id, target, bindings, image_selection, reference_mode, minimum_age_hours, start_first } = values;
  const planned = { connection_id, target, bindings, image_selection, reference_mode, minimum_age_hours, start_first };
  // Only what the plan depends on: a name or a health check that is not right yet hides nothing.
  const input = { ...Object.fromEntries(Object.entries(planned).filter(([, value]) => value !== undefined)) };
  try {
    return { view: await executors.preview({ ...input, name: "preview", trigger: "manual" }, signal) };
  } catch (error) {
    if (error instanceof PluginError) return { failure: errorMessage(error) };
    if (error instanceof AppError) return error.status === 422 ? null : { failure: error.message };
    throw error;
  }
}

/** As the service takes it on edit: what the form left blank goes back to its default instead of staying as it was. */
export function withDefaults(input: Values): Values {
  const defaults = fields(ExecutorInput, input).flatMap((field) =>
    field.is_required || field.default_value === undefined ? [] : [[field.name, field.default_value] as const],
  );
  return { ...Object.fromEntries(defaults), window: null, ...input };
}
