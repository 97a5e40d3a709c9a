import type { Planned } from "../../../templates/executors/detail.tsx";
import type { ExecutorFormFacts } from "../../../templates/executors/form.tsx";
import type { Language } from "../../../templates/page.ts";
import { channelTitle } from "../../../templates/trackers/channel-words.ts";
import { AppError, type FieldErrors, PluginError, saidBy } from "../../errors.ts";
import { ExecutorInput } from "../../executors/settings-schema.ts";
import { type FieldDescription, fields } from "../../forms/fields.ts";
import type { Services } from "../../services.ts";
import type { TrackerView } from "../../trackers/schema.ts";
import {
  bindingRows,
  bindingsOf,
  chartTrackers,
  choiceOf,
  chosenRef,
  errorsAtRows,
  type IsGroup,
  member,
  submitted,
  text,
  trackersFor,
  type Values,
} from "./executor-bindings.ts";
import { listAll } from "./read-list.ts";

const shownOpenings = 3;

/** Unknown settings are accepted on the executor's page, where they are shown; the form leaves them unchanged. */
function askedFields(values: Values): readonly FieldDescription[] {
  return fields(ExecutorInput, values).filter((field) => field.name !== "accepted_unknown_settings");
}

/**
 * The fields of an executor's form: the window's only in window mode, and for the target also a single choice of kind and name, with the
 * choice that the shown rows belong to.
 */
export function describeExecutor(values: Values): readonly FieldDescription[] {
  return askedFields(values)
    .filter((field) => field.name !== "window" || values.trigger === "window")
    .map((field) => (field.name === "target" ? { ...field, children: withChoice(field.children) } : field));
}

function withChoice(children: readonly FieldDescription[]): readonly FieldDescription[] {
  const id = children.find((child) => child.name === "id");
  if (id === undefined) return children;
  const own = (name: string) => ({ ...id, name, path: `target.${name}`, is_required: false });
  return [...children.map((child) => ({ ...child, is_required: false })), own("choice"), own("drawn")];
}

interface Drawn {
  values: Values;
  fields: readonly FieldDescription[];
  errors: FieldErrors;
  facts: ExecutorFormFacts;
}

/**
 * Everything the form shows for these values: the targets of the chosen connection, the sources and channels of the chosen trackers, the
 * next openings, and the plan of a run. `errors` come back at the drawn rows.
 */
export async function drawExecutorForm(
  services: Services,
  asked: Values,
  language: Language,
  signal: AbortSignal,
  errors: FieldErrors = {},
): Promise<Drawn> {
  const [connections, all] = await Promise.all([listAll(services.connections.list), listAll(services.trackers.list)]);
  const connectionId = text(asked.connection_id) || (connections.length === 1 ? (connections[0]?.id ?? "") : "");
  const connection = connections.find(({ id }) => id === connectionId);
  const kinds = connection === undefined ? [] : services.connections.targetKindsOf(connection.kind);
  const given = withKind(asked, kinds[0]?.kind ?? "");
  const discovery = await targetsOf(services, connectionId, signal);
  const ref = chosenRef(given);
  const target = discovery.targets.find((each) => each.kind === ref.kind && each.id === ref.id);
  const { isGroup } = services.connections;
  const targetKind = kinds.find(({ kind }) => kind === ref.kind);
  /** Until a target is chosen, all of the connection's. */
  const possible = targetKind === undefined ? kinds : [targetKind];
  const hasImages = targetKind?.artifact !== "chart";
  const trackers = hasImages ? all : chartTrackers(all);
  const rows = bindingRows(given, target, trackers, isGroup);
  const values: Values = {
    ...given,
    connection_id: connectionId,
    target: { ...ref, choice: ref.id === "" ? "" : choiceOf(ref) },
    name: text(given.name) || (target?.name ?? ""),
    bindings: rows,
  };
  return {
    values,
    fields: describeExecutor(values),
    errors: errorsAtRows(errors, submitted(given, isGroup), values),
    facts: {
      connections: connections.map(({ id, name }) => ({ value: id, title: name })),
      ...discovery,
      is_group: isGroup(ref.kind),
      has_images: hasImages,
      is_declarative: possible.length > 0 && possible.every((kind) => kind.is_declarative),
      trackers: trackers.map(({ name }) => ({ value: name, title: name })),
      fitting: Object.fromEntries(
        (target?.services ?? []).map((service) => [service.name, trackersFor(trackers, service)] as const),
      ),
      dependent: dependentChoices(values, trackers, language),
      openings: values.trigger === "window" ? [...services.executors.openings(values.window, shownOpenings)] : [],
      preview: await previewOf(services, values, signal),
    },
  };
}

/** A new executor without a name is called as its target is, as the drawn form would show; without a known target it has none. */
export async function namedByTarget(services: Services, sent: Values, signal: AbortSignal): Promise<Values> {
  if (text(sent.name).trim() !== "") return sent;
  const { kind, id } = chosenRef(sent);
  const { targets } = id === "" ? { targets: [] } : await targetsOf(services, text(sent.connection_id), signal);
  const target = targets.find((each) => each.kind === kind && each.id === id);
  return target === undefined ? sent : { ...sent, name: target.name };
}

/** A target given only by name has the connection's first kind. */
function withKind(values: Values, kind: string): Values {
  const { id, kind: given } = chosenRef(values);
  return id === "" || given !== "" ? values : { ...values, target: { ...Object(values.target), kind } };
}

async function targetsOf(
  { connections }: Services,
  id: string,
  signal: AbortSignal,
): Promise<Pick<ExecutorFormFacts, "targets" | "targets_failure">> {
  if (id === "") return { targets: [], targets_failure: null };
  try {
    return { targets: (await connections.targets(id, signal)).items, targets_failure: null };
  } catch (error) {
    if (!(error instanceof PluginError) && !(error instanceof AppError)) throw error;
    return { targets: [], targets_failure: saidBy(error) };
  }
}

function dependentChoices(values: Values, trackers: readonly TrackerView[], language: Language) {
  const choices: Record<string, { value: string; title: string }[]> = {};
  for (const [position, binding] of bindingsOf(values).entries()) {
    const sources = trackers.find((each) => each.name === member(binding, "tracker"))?.sources ?? [];
    const channels = sources.find((each) => each.key === member(binding, "source"))?.channels ?? [];
    choices[`bindings.${position}.source`] = sources.map(({ key }) => ({ value: key, title: key }));
    choices[`bindings.${position}.channel`] = channels.map((channel) => ({
      value: channel.name,
      title: channelTitle({ language }, channel),
    }));
  }
  return choices;
}

/** Null until enough is chosen for a plan. */
async function previewOf({ connections, executors }: Services, values: Values, signal: AbortSignal): Promise<Planned> {
  const { connection_id, target, bindings } = submitted(values, connections.isGroup);
  const rows = Array.isArray(bindings) ? bindings : [];
  const isChosen =
    text(connection_id) !== "" &&
    text(member(target, "id")) !== "" &&
    rows.length > 0 &&
    rows.every((row) => text(member(row, "channel")) !== "");
  if (!isChosen) return null;
  const { image_selection, reference_mode, minimum_age_hours, start_first, drain_seconds } = values;
  const policy = { image_selection, reference_mode, minimum_age_hours, start_first, drain_seconds };
  const planned = { connection_id, target, bindings, ...policy };
  // Only what the plan depends on: an invalid name or health check must not hide it.
  const input = { ...Object.fromEntries(Object.entries(planned).filter(([, value]) => value !== undefined)) };
  try {
    return { view: await executors.preview({ ...input, name: "preview", trigger: "manual" }, signal) };
  } catch (error) {
    if (error instanceof PluginError) return { failure: saidBy(error) };
    if (error instanceof AppError) return error.status === 422 ? null : { failure: error.said };
    throw error;
  }
}

/** As an edit: a field left blank returns to its default instead of staying as it was. */
export function withDefaults(input: Values, isGroup: IsGroup): Values {
  const given = submitted(input, isGroup);
  const defaults = askedFields(given).flatMap((field) =>
    field.is_required || field.default_value === undefined ? [] : [[field.name, field.default_value] as const],
  );
  return { ...Object.fromEntries(defaults), window: null, ...given };
}
