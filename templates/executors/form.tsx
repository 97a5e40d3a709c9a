import type { Child } from "hono/jsx";
import type { TargetView } from "../../src/connections/schema.ts";
import type { FieldErrors } from "../../src/errors.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import type { Message } from "../../src/messages/message.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Form, redraws } from "../components/form.tsx";
import { AddButton } from "../components/list-page.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader, Panel, Section } from "../components/page-header.tsx";
import { Reference } from "../components/version.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { type BindingRow, blank, nowPath, resultPath, rowFields, ServiceNow, ServiceResult } from "./binding-rows.tsx";
import type { Planned } from "./detail.tsx";
import { Plan, PlanFailure, ResultingImages } from "./plan.tsx";
import { TargetPicker } from "./target-picker.tsx";
import { openingWords } from "./window-words.ts";

export interface Choice {
  value: string;
  title: string;
}

/** What the form offers besides its own fields, and what its values would lead to. */
export interface ExecutorFormFacts {
  connections: readonly Choice[];
  /** All targets behind the chosen connection; empty until one is chosen. */
  targets: readonly TargetView[];
  targets_failure: Message | null;
  /** For the chosen target: each service of a group has a row; a container has only one service. */
  is_group: boolean;
  /** Images have a policy of their own; shown also until a target is chosen. */
  has_images: boolean;
  /** The runtime itself decides in which order it replaces what runs. */
  is_declarative: boolean;
  trackers: readonly Choice[];
  /** Trackers that watch a service's image, by service. */
  fitting: Readonly<Record<string, readonly string[]>>;
  /** By path with positions: `bindings.0.source`. */
  dependent: Readonly<Record<string, readonly Choice[]>>;
  openings: ExecutorView["next_windows"];
  preview: Planned;
}

interface ExecutorFormPageProps {
  ctx: PageContext;
  /** Null for a new executor. */
  executor: ExecutorView | null;
  fields: readonly FieldDescription[];
  values: Readonly<Record<string, unknown>>;
  errors: FieldErrors;
  facts: ExecutorFormFacts;
}

const formId = "executor-form";

export function ExecutorFormPage(props: ExecutorFormPageProps) {
  const { ctx, executor, facts } = props;
  const t = texts(ctx).executors;
  const title = executor === null ? t.add : texts(ctx).common.edit_title(executor.name);
  const path = executor === null ? "/executors" : `/executors/${executor.id}`;
  const header = (
    <PageHeader
      ctx={ctx}
      title={title}
      lead={executor === null ? t.form_intro : undefined}
      parent={executor === null ? { title: t.title, href: "/executors" } : { title: executor.name, href: path }}
    />
  );
  if (facts.connections.length === 0 && props.values.connection_id === "") {
    return (
      <Layout ctx={ctx} title={title} section="executors">
        {header}
        <Empty
          ctx={ctx}
          icon="plug"
          title={texts(ctx).connections.empty_title}
          action={<AddButton ctx={ctx} section="connections" />}
        >
          {t.no_connection}
        </Empty>
      </Layout>
    );
  }
  return (
    <Layout ctx={ctx} title={title} section="executors">
      {header}
      {facts.trackers.length > 0 ? null : <NoTracker ctx={ctx} has_images={facts.has_images} />}
      <Form
        ctx={ctx}
        id={formId}
        area="executors"
        action={path}
        fields={drawnFields(props)}
        values={props.values}
        errors={props.errors}
        submit={executor === null ? t.add : texts(ctx).common.save}
        cancel_href={path}
        is_edit={executor !== null}
        choices={choicesOf(props)}
        attributes={redrawn(ctx, path, props.fields)}
        below={{
          connection_id: <ShowChoices ctx={ctx} />,
          "bindings.0.tracker": <ShowChoices ctx={ctx} />,
          reference_mode: props.facts.is_group ? null : <ResultingReference ctx={ctx} planned={facts.preview} />,
          "window.end": <Openings ctx={ctx} openings={facts.openings} />,
        }}
        folded={["group_services", "group_image", "health_check"]}
        replaced={replacements(props, path)}
        more_actions={
          <Button type="submit" name="_action" value="save_and_run" icon="play">
            {executor === null ? t.add_and_run : t.save_and_run}
          </Button>
        }
        beside={<Preview ctx={ctx} planned={facts.preview} said={facts.targets_failure} />}
      >
        <HiddenParts {...props} />
      </Form>
    </Layout>
  );
}

function chosenKey({ values }: Pick<ExecutorFormPageProps, "values">): string {
  const target: unknown = values.target;
  return typeof target === "object" && target !== null && "choice" in target ? String(target.choice) : "";
}

function chosenTarget(props: Pick<ExecutorFormPageProps, "facts" | "values">): TargetView | null {
  const key = chosenKey(props);
  return props.facts.targets.find(({ kind, id }) => `${kind}:${id}` === key) ?? null;
}

function rowsOf(props: ExecutorFormPageProps): readonly BindingRow[] {
  const { facts, values } = props;
  const services = chosenTarget(props)?.services ?? [];
  const planned = facts.preview !== null && "view" in facts.preview ? facts.preview.view.services : [];
  const rows: readonly unknown[] = Array.isArray(values.bindings) ? values.bindings : [];
  return rows.flatMap((row, position) => {
    if (typeof row !== "object" || row === null || !("service" in row) || !("tracker" in row)) return [];
    const service = String(row.service);
    return {
      ...{ position, service, tracker: String(row.tracker), fitting: facts.fitting[service] ?? [] },
      found: services.find((each) => each.name === service) ?? null,
      planned: planned.find((each) => each.service === service) ?? null,
    };
  });
}

/** The target picker, and the parts above and below the fields of each service. */
function replacements(props: ExecutorFormPageProps, path: string): Readonly<Record<string, Child>> {
  const { ctx, facts, executor, errors } = props;
  const picker = (
    <>
      <TargetPicker
        ctx={ctx}
        targets={facts.targets}
        failure={facts.targets_failure}
        chosen={chosenKey(props)}
        own={executor?.id ?? null}
        error={errors["target.id"]}
        attributes={redraws({ ctx, id: formId, action: path })}
      />
      <ShowChoices ctx={ctx} />
    </>
  );
  const rows = props.facts.is_group ? rowsOf(props) : [];
  return {
    "target.id": picker,
    ...Object.fromEntries(
      rows.flatMap((row) => [
        [nowPath(row.position), <ServiceNow ctx={ctx} row={row} />],
        [resultPath(row.position), <ServiceResult ctx={ctx} row={row} />],
      ]),
    ),
  };
}

/**
 * The schema's fields in the order of decisions: where, what follows what, when, and the name, which comes from the target; then what has a
 * good default, folded. Only the target's name is asked for. A choice appears once there is something to choose from.
 */
function drawnFields(props: ExecutorFormPageProps): readonly FieldDescription[] {
  const { ctx, fields, facts, values } = props;
  const t = texts(ctx).executors.groups;
  const named = (...names: string[]) => names.flatMap((name) => fields.filter((field) => field.name === name));
  const target = named("target").flatMap((field) => field.children.filter((child) => child.name === "id"));
  const withoutRelease = (field: FieldDescription): FieldDescription =>
    facts.has_images ? { ...field, options: field.options.filter(({ value }) => value !== "release") } : field;
  const health = named("health_check").map((field) => ({
    ...field,
    children: [...field.children.map(withoutRelease), ...(isJudged(values) ? named("restore_on_failure") : [])],
  }));
  return [
    group("where", t.where, [...named("connection_id"), ...(values.connection_id === "" ? [] : target)]),
    ...(facts.trackers.length === 0 ? [] : bindingFields(props)),
    group("when", t.when, named("trigger", "window", "requires_approval")),
    ...named("name"),
    ...(facts.has_images ? [group("image", t.image, named("image_selection", "reference_mode"))] : []),
    ...health,
    ...named("approval_hours", "allow_downgrade", "minimum_age_hours"),
    ...(facts.is_declarative ? [] : named("start_first", "drain_seconds")),
    ...named("description", "is_enabled").map((field) => ({ ...field, is_advanced: true })),
  ];
}

/** A heading over fields that are siblings in the schema. */
function group(path: string, title: string, children: readonly FieldDescription[]): FieldDescription {
  return { ...blank, name: `group_${path}`, path: `group_${path}`, kind: "group", title, children };
}

function isJudged(values: Readonly<Record<string, unknown>>): boolean {
  const check: unknown = values.health_check;
  return !(typeof check === "object" && check !== null && "strategy" in check && check.strategy === "disabled");
}

/** A container has its tracker, source and channel as plain fields; a group has them per service. */
function bindingFields(props: ExecutorFormPageProps): readonly FieldDescription[] {
  const { ctx, fields, facts } = props;
  const t = texts(ctx).executors;
  const isOffered = (field: FieldDescription) => facts.dependent[field.path]?.length !== 0;
  const entries = fields.find((field) => field.name === "bindings")?.entries ?? [];
  if (!props.facts.is_group) {
    const children = (entries[0] ?? []).filter((child) => child.name !== "service" && isOffered(child));
    return [group("releases", t.groups.releases, children)];
  }
  const [shown = [], rest = []] = openRows(props);
  const drawn = rowFields(entries, shown, isOffered);
  const folded = rowFields(entries, rest, isOffered);
  const more = folded.length === 0 ? [] : [group("services", t.other_services(folded.length), folded)];
  return [{ ...group("releases", t.groups.releases, [...drawn, ...more]), path: "bindings", description: t.bind_lead }];
}

const mostOpen = 6;

/**
 * Splits many services into the shown ones (those that need attention, or the first) and the folded rest. The observation decides, not the
 * plan of the current input: no service moves while the form is filled in.
 */
function openRows(props: ExecutorFormPageProps): readonly (readonly BindingRow[])[] {
  const rows = rowsOf(props);
  const observed = new Map(props.executor?.services.map((service) => [service.service, service]));
  const refused = Object.keys(props.errors);
  const needsLook = ({ service, position, found }: BindingRow) =>
    found === null ||
    (observed.get(service)?.unmet ?? null) !== null ||
    refused.some((path) => path.startsWith(`bindings.${position}.`));
  if (rows.length <= mostOpen) return [rows, []];
  const { look = [], rest = [] } = Object.groupBy(rows, (row) => (needsLook(row) ? "look" : "rest"));
  // All of them have the same trouble, or none has any.
  if (look.length === 0 || rest.length === 0) return [rows.slice(0, mostOpen), rows.slice(mostOpen)];
  return [look, rest];
}

function HiddenParts(props: ExecutorFormPageProps) {
  const { values } = props;
  return (
    <>
      {/* Not asked for without a health check, but a missing box would count as unchecked. */}
      {isJudged(values) || values.restore_on_failure === false ? null : (
        <input type="hidden" name="restore_on_failure" value="on" />
      )}
      {props.facts.is_group ? null : (
        <input type="hidden" name="bindings.0.service" value={chosenTarget(props)?.services[0]?.name ?? "main"} />
      )}
    </>
  );
}

/** Trackers that watch the service's image come first, and say so. */
function trackerChoices(ctx: PageContext, facts: ExecutorFormFacts, row: BindingRow): readonly Choice[] {
  const t = texts(ctx).executors;
  const isFitting = ({ value }: Choice) => row.fitting.includes(value);
  return [
    { value: "", title: t.not_bound },
    ...facts.trackers.filter(isFitting).map((each) => ({ ...each, title: t.same_image(each.title) })),
    ...facts.trackers.filter((each) => !isFitting(each)),
  ];
}

function choicesOf(props: ExecutorFormPageProps): Readonly<Record<string, readonly Choice[]>> {
  const { ctx, facts } = props;
  const rows = props.facts.is_group ? rowsOf(props) : [];
  return {
    connection_id: facts.connections,
    "bindings.tracker": facts.trackers,
    ...facts.dependent,
    ...Object.fromEntries(rows.map((row) => [`bindings.${row.position}.tracker`, trackerChoices(ctx, facts, row)])),
  };
}

/** Every field that other fields, the openings or the plan depend on redraws the form. */
function redrawn(ctx: PageContext, path: string, fields: readonly FieldDescription[]) {
  const bindings = fields.find((field) => field.name === "bindings")?.entries ?? [];
  const paths = [
    ...["connection_id", "trigger", "window.days", "window.start", "window.end"],
    ...["image_selection", "reference_mode", "minimum_age_hours", "start_first", "drain_seconds"],
    ...bindings.flatMap((entry) => entry.map((field) => field.path)),
    ...["tracker", "source", "channel"].map((name) => `bindings.0.${name}`),
  ];
  return Object.fromEntries(paths.map((each) => [each, redraws({ ctx, id: formId, action: path })]));
}

/** Without script, the targets of a chosen connection load only on request. */
function ShowChoices({ ctx }: { ctx: PageContext }) {
  return (
    <div class="unscripted">
      <Button type="submit" small name="_action" value="redraw" skips_validation>
        {texts(ctx).executors.show_choices}
      </Button>
    </div>
  );
}

function NoTracker({ ctx, has_images }: { ctx: PageContext; has_images: boolean }) {
  const t = texts(ctx);
  const add = (
    <LinkButton ctx={ctx} href="/trackers/new">
      {t.trackers.add}
    </LinkButton>
  );
  return (
    <Banner tone="quiet" action={add}>
      {has_images ? t.executors.no_tracker : t.executors.no_chart_tracker}
    </Banner>
  );
}

function Openings({ ctx, openings }: { ctx: PageContext; openings: ExecutorView["next_windows"] }) {
  const t = texts(ctx).executors;
  return (
    <div class="note quiet" id="openings">
      {openings.length === 0 ? (
        t.windows_empty
      ) : (
        <>
          <b>{t.windows}</b>
          {openings.map((opening) => (
            <div>{openingWords(ctx, opening)}</div>
          ))}
        </>
      )}
    </div>
  );
}

/** The exact reference that the next run would use, below the choice that decides it. */
function ResultingReference({ ctx, planned }: { ctx: PageContext; planned: Planned }) {
  const services = planned !== null && "view" in planned ? planned.view.services : [];
  const wanted = services.flatMap(({ desired }) => (desired === null ? [] : [desired.reference]));
  if (wanted.length === 0) return null;
  return (
    <div class="help" id="resulting-reference" aria-live="polite">
      <b>{texts(ctx).executors.plan_resulting}</b>
      {wanted.map((reference) => (
        <div>
          <Reference>{reference}</Reference>
        </div>
      ))}
    </div>
  );
}

function Preview({ ctx, planned, said }: { ctx: PageContext; planned: Planned; said: Message | null }) {
  const t = texts(ctx).executors;
  return (
    <Section id="preview" title={t.preview}>
      {planned === null ? (
        <Panel>
          <p class="quiet">{t.plan_incomplete}</p>
        </Panel>
      ) : "failure" in planned ? (
        <PlanFailure ctx={ctx} failure={planned.failure} said={said} tone="attention" />
      ) : (
        <>
          <ResultingImages ctx={ctx} view={planned.view} />
          <Plan ctx={ctx} view={planned.view} />
        </>
      )}
    </Section>
  );
}
