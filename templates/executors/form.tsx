import type { Child } from "hono/jsx";
import type { TargetView } from "../../src/connections/schema.ts";
import type { FieldErrors } from "../../src/errors.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Form } from "../components/form.tsx";
import { Icon } from "../components/icon.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader, Panel, Section } from "../components/page-header.tsx";
import { Layout } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import type { Planned } from "./detail.tsx";
import { Plan, ResultingImages } from "./plan.tsx";
import { openingWords } from "./window-words.ts";

export interface Choice {
  value: string;
  title: string;
}

/** What the form offers beside its own fields, and what would come of the values in it. */
export interface ExecutorFormFacts {
  connections: readonly Choice[];
  /** Everything behind the chosen connection; empty while none is chosen. */
  targets: readonly TargetView[];
  targets_failure: string | null;
  trackers: readonly Choice[];
  /** By path with positions: `bindings.0.source`. */
  dependent: Readonly<Record<string, readonly Choice[]>>;
  openings: ExecutorView["next_windows"];
  preview: Planned;
}

interface ExecutorFormPageProps {
  ctx: PageContext;
  /** Null when a new one is made. */
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
  const title = executor === null ? t.new_executor : t.edit(executor.name);
  const path = executor === null ? "/executors" : `/executors/${executor.id}`;
  return (
    <Layout ctx={ctx} title={title} section="executors">
      <PageHeader
        ctx={ctx}
        title={title}
        lead={executor === null ? t.form_intro : undefined}
        parent={executor === null ? { title: t.title, href: "/executors" } : { title: executor.name, href: path }}
      />
      <Prerequisites ctx={ctx} facts={facts} />
      <Form
        ctx={ctx}
        id={formId}
        area="executors"
        action={path}
        fields={drawnFields(props)}
        values={props.values}
        errors={props.errors}
        submit={executor === null ? t.create : t.save}
        cancel_href={path}
        is_edit={executor !== null}
        choices={choicesOf(props)}
        attributes={redrawn(ctx, path, props.fields)}
        below={{
          "target.id": <TargetHelp ctx={ctx} facts={facts} own={executor?.id ?? null} />,
          connection_id: <ShowChoices ctx={ctx} />,
          "bindings.0.tracker": <ShowChoices ctx={ctx} />,
          reference_mode: <ResultingReference ctx={ctx} planned={facts.preview} />,
          "window.end": <Openings ctx={ctx} openings={facts.openings} />,
        }}
        more_actions={
          <Button type="submit" name="_action" value="save_and_run" icon="play">
            {t.save_and_run}
          </Button>
        }
      >
        <HiddenParts {...props} />
        <Preview ctx={ctx} planned={facts.preview} />
      </Form>
    </Layout>
  );
}

function chosenTarget({ facts, values }: Pick<ExecutorFormPageProps, "facts" | "values">): TargetView | null {
  const target: unknown = values.target;
  if (typeof target !== "object" || target === null || !("id" in target)) return null;
  return facts.targets.find((each) => each.id === target.id) ?? null;
}

/** One service needs no list of bindings and no question which service it is. */
function isSingle(fields: readonly FieldDescription[], target: TargetView | null): boolean {
  const count = fields.find((field) => field.name === "bindings")?.entries.length ?? 0;
  return count <= 1 && (target?.services.length ?? 1) <= 1;
}

/**
 * The schema's fields in the order in which somebody decides: where, what follows what, how, when, and the name last, because it
 * comes from the target. Of the target only its name is asked. A choice is drawn once there is something to choose from.
 */
function drawnFields(props: ExecutorFormPageProps): readonly FieldDescription[] {
  const { ctx, fields, facts, values } = props;
  const t = texts(ctx).executors.groups;
  const named = (...names: string[]) => names.flatMap((name) => fields.filter((field) => field.name === name));
  const target = named("target").flatMap((field) => field.children.filter((child) => child.name === "id"));
  const health = named("health_check").map((field) => ({
    ...field,
    children: [...field.children, ...(isJudged(values) ? named("restore_on_failure") : [])],
  }));
  return [
    group("where", t.where, [...named("connection_id"), ...(values.connection_id === "" ? [] : target)]),
    ...(facts.trackers.length === 0 ? [] : bindingFields(props)),
    group("image", t.image, named("image_selection", "reference_mode")),
    group("when", t.when, named("trigger", "window", "requires_approval")),
    ...health,
    group("name", t.name, named("name", "description", "is_enabled")),
    ...named("approval_hours", "allow_downgrade", "minimum_age_hours", "start_first"),
  ];
}

/** A heading over fields that stand beside each other in the schema. */
function group(path: string, title: string, children: readonly FieldDescription[]): FieldDescription {
  return {
    ...{ name: `group_${path}`, path: `group_${path}`, kind: "group", title, description: "", children, entries: [] },
    ...{ is_required: false, is_secret: false, is_advanced: false, is_immutable: false, is_code: false },
    ...{ placeholder: "", options: [], min: null, max: null, is_discriminant: false, default_value: undefined },
  };
}

function isJudged(values: Readonly<Record<string, unknown>>): boolean {
  const check: unknown = values.health_check;
  return !(typeof check === "object" && check !== null && "strategy" in check && check.strategy === "disabled");
}

/** One service has its tracker, source and channel as plain fields; several are a list. */
function bindingFields(props: ExecutorFormPageProps): readonly FieldDescription[] {
  const { ctx, fields, facts } = props;
  const single = isSingle(fields, chosenTarget(props));
  const isOffered = (field: FieldDescription) => facts.dependent[field.path]?.length !== 0;
  return fields
    .filter((field) => field.name === "bindings")
    .map((field) => {
      const entries = field.entries.map((entry) => entry.filter(isOffered));
      if (!single) return { ...field, entries };
      const children = (entries[0] ?? field.children).filter((child) => child.name !== "service");
      return group("releases", texts(ctx).executors.groups.releases, children);
    });
}

function HiddenParts({ fields, facts, values }: ExecutorFormPageProps) {
  const target = chosenTarget({ facts, values });
  return (
    <>
      <input type="hidden" name="target.kind" value={target?.kind ?? "container"} />
      {/* Not asked for without a health check; a box that is not there would otherwise count as unchecked. */}
      {isJudged(values) || values.restore_on_failure === false ? null : (
        <input type="hidden" name="restore_on_failure" value="on" />
      )}
      {isSingle(fields, target) ? (
        <input type="hidden" name="bindings.0.service" value={target?.services[0]?.name ?? "main"} />
      ) : null}
    </>
  );
}

function choicesOf(props: ExecutorFormPageProps): Readonly<Record<string, readonly Choice[]>> {
  const { ctx, facts, executor, values } = props;
  const t = texts(ctx).executors;
  const chosen =
    typeof values.target === "object" && values.target !== null && "id" in values.target ? values.target.id : "";
  const free = facts.targets.filter(
    (target) => target.refusals.length === 0 && (target.executor === null || target.executor.id === executor?.id),
  );
  const missing =
    typeof chosen === "string" && chosen !== "" && !free.some((target) => target.id === chosen)
      ? [{ value: chosen, title: `${chosen} (${t.target_missing})` }]
      : [];
  const services = chosenTarget(props)?.services ?? [];
  return {
    connection_id: facts.connections,
    "target.id": [
      ...free.map((target) => ({
        value: target.id,
        title: `${target.name} · ${target.services.map((service) => service.image).join(", ")}`,
      })),
      ...(facts.targets_failure === null && facts.targets.length > 0 ? [] : missing),
    ],
    "bindings.service": services.map(({ name }) => ({ value: name, title: name })),
    "bindings.tracker": facts.trackers,
    ...facts.dependent,
  };
}

/** Everything that other fields, the openings or the plan depend on draws the form again, with all that was typed. */
function redrawn(ctx: PageContext, path: string, fields: readonly FieldDescription[]) {
  const redraws = {
    "hx-post": url(ctx, path),
    "hx-trigger": "change",
    "hx-target": `#${formId}`,
    "hx-select": `#${formId}`,
    "hx-swap": "outerMorph",
    "hx-vals": '{"_action":"redraw"}',
    "hx-sync": `#${formId}:replace`,
  };
  const bindings = fields.find((field) => field.name === "bindings")?.entries ?? [];
  const paths = [
    ...["connection_id", "target.id", "trigger", "window.days", "window.start", "window.end"],
    ...["image_selection", "reference_mode", "minimum_age_hours", "start_first"],
    ...bindings.flatMap((entry) => entry.map((field) => field.path)),
    ...["service", "tracker", "source", "channel"].map((name) => `bindings.0.${name}`),
  ];
  return Object.fromEntries(paths.map((each) => [each, redraws]));
}

/** Without script a chosen connection brings its targets only when it is asked to. */
function ShowChoices({ ctx }: { ctx: PageContext }) {
  return (
    <div class="unscripted">
      <Button type="submit" small name="_action" value="redraw" skips_validation>
        {texts(ctx).executors.show_choices}
      </Button>
    </div>
  );
}

function Prerequisites({ ctx, facts }: Pick<ExecutorFormPageProps, "ctx" | "facts">) {
  const t = texts(ctx);
  return (
    <>
      {facts.connections.length > 0 ? null : (
        <Banner
          tone="attention"
          action={
            <LinkButton ctx={ctx} href="/connections/new" kind="main">
              {t.connections.new_connection}
            </LinkButton>
          }
        >
          {t.executors.no_connection}
        </Banner>
      )}
      {facts.trackers.length > 0 ? null : (
        <Banner
          tone="attention"
          action={
            <LinkButton ctx={ctx} href="/trackers/new" kind="main">
              {t.trackers.new_tracker}
            </LinkButton>
          }
        >
          {t.executors.no_tracker}
        </Banner>
      )}
    </>
  );
}

/** What is behind the connection and cannot be chosen, each with its reason. */
function TargetHelp({ ctx, facts, own }: { ctx: PageContext; facts: ExecutorFormFacts; own: string | null }): Child {
  const t = texts(ctx).executors;
  if (facts.targets_failure !== null) {
    return (
      <Banner tone="failed" title={t.targets_failed}>
        {translateMessage(ctx.language, facts.targets_failure)}
      </Banner>
    );
  }
  const taken = facts.targets.filter((target) => target.executor !== null && target.executor.id !== own);
  const refused = facts.targets.filter((target) => target.refusals.length > 0 && !taken.includes(target));
  if (taken.length + refused.length === 0) return null;
  return (
    <details class="advanced" id="refused-targets">
      <summary>
        <Icon name="chevron-right" />
        <b>{t.target_refused_lead(taken.length + refused.length)}</b>
        <span>{[...refused, ...taken].map((target) => target.name).join(", ")}</span>
      </summary>
      <div class="advanced-fields">
        <dl class="facts wide">
          {refused.map((target) => (
            <div>
              <dt>{target.name}</dt>
              <dd>{target.refusals.map((reason) => translateMessage(ctx.language, reason.message)).join(" ")}</dd>
            </div>
          ))}
          {taken.map((target) => (
            <div>
              <dt>{target.name}</dt>
              <dd>{t.target_taken(target.executor?.name ?? "")}</dd>
            </div>
          ))}
        </dl>
      </div>
    </details>
  );
}

function Openings({ ctx, openings }: { ctx: PageContext; openings: ExecutorView["next_windows"] }) {
  const t = texts(ctx).executors;
  return (
    <div class="help" id="openings">
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

/** The very reference that the next run would create from, under the choice that decides it. */
function ResultingReference({ ctx, planned }: { ctx: PageContext; planned: Planned }) {
  const services = planned !== null && "view" in planned ? planned.view.services : [];
  const wanted = services.flatMap(({ desired }) => (desired === null ? [] : [desired.reference]));
  if (wanted.length === 0) return null;
  return (
    <div class="help" id="resulting-reference" aria-live="polite">
      <b>{texts(ctx).executors.plan_resulting}</b>
      {wanted.map((reference) => (
        <div class="version">{reference}</div>
      ))}
    </div>
  );
}

function Preview({ ctx, planned }: { ctx: PageContext; planned: Planned }) {
  const t = texts(ctx).executors;
  return (
    <Section id="preview" title={t.preview}>
      {planned === null ? (
        <Panel>
          <p class="quiet">{t.plan_incomplete}</p>
        </Panel>
      ) : "failure" in planned ? (
        <Banner tone="attention" title={t.plan_failed}>
          {translateMessage(ctx.language, planned.failure)}
        </Banner>
      ) : (
        <>
          <ResultingImages ctx={ctx} view={planned.view} />
          <Plan ctx={ctx} view={planned.view} />
        </>
      )}
    </Section>
  );
}
