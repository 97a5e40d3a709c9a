import type { Child } from "hono/jsx";
import {
  type AdoptionProposalsView,
  adoptionTriggers,
  type ProposedTargetView,
  type ProposedTrackerView,
} from "../../src/adoption/schema.ts";
import { Button, Csrf } from "../components/button.tsx";
import { withCode } from "../components/code.tsx";
import { Icon } from "../components/icon.tsx";
import { Table } from "../components/table.tsx";
import { Reference, Version } from "../components/version.tsx";
import { type PageContext, url } from "../page.ts";
import { translateMessage, translatePart } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { Newest, newestId, type ServiceProps, trackersByKey } from "./newest.tsx";
import { type AdoptPageProps, enteredText, hiddenTicks, isTicked } from "./props.ts";

type FormProps = AdoptPageProps & { list: AdoptionProposalsView };

export const formId = "adopt-form";

/** The targets to choose from, what can be changed of each, and one button for all of them. */
export function AdoptionForm(props: FormProps) {
  const { ctx, list, entered } = props;
  const t = texts(ctx).adoption;
  // Keeps the filters, so that a refusal is shown among the same targets.
  const address = url(ctx, ctx.path);
  return (
    <form
      id={formId}
      class="adopt choosing"
      method="post"
      action={address}
      hx-post={address}
      hx-target="#content"
      hx-select="#content"
      hx-swap="outerMorph"
      // However many there are.
      hx-config='{"timeout":0}'
    >
      <Csrf ctx={ctx} />
      <TargetTable {...props} />
      <NewTrackers {...props} />
      <div class="choice-bar">
        <label>
          {t.trigger}
          <select class="input" name="trigger">
            <TriggerOptions ctx={ctx} chosen={enteredText(entered, "trigger", "")} />
          </select>
        </label>
        <span class="choice-actions">
          <Button type="submit" name="_action" value="ignore" skips_validation>
            {t.ignore}
          </Button>
          <Button type="submit" kind="main" name="_action" value="adopt">
            {t.adopt} <b class="chosen-count" />
          </Button>
        </span>
      </div>
      <input type="hidden" name="shown" value={String(list.targets.length)} />
      <HiddenEntries list={list} entered={entered} />
    </form>
  );
}

const ticks = ["chosen", "by_version", "repository"];

/** What was entered in rows that are not shown: only those that are shown are adopted, and the others keep it for when they are again. */
function HiddenEntries({ list, entered }: Pick<FormProps, "list" | "entered">) {
  const registries = list.trackers.filter(({ is_existing }) => !is_existing).map(({ registry }) => registry);
  const shown = new Set([
    ...list.targets.map(({ hash }) => hash),
    ...list.trackers.map(({ key }) => key),
    ...registries.map(credentialField),
  ]);
  const isHidden = (row: string | undefined) => row !== undefined && !shown.has(row);
  const entries = [...(entered ?? [])].flatMap(([name, value]) => {
    const ticked = ticks.find((each) => name === each || name === hiddenTicks(each));
    if (ticked !== undefined) return isHidden(String(value).split(" ")[0]) ? [[hiddenTicks(ticked), value]] : [];
    if (name.startsWith(credentialField(""))) return isHidden(name) ? [[name, value]] : [];
    return isHidden(/^(?:executor|trigger|line|tracker)\.([^.]+)/.exec(name)?.[1]) ? [[name, value]] : [];
  });
  return (
    <>
      {entries.map(([name, value]) => (
        <input type="hidden" name={String(name)} value={String(value)} />
      ))}
    </>
  );
}

function TriggerOptions({ ctx, chosen }: { ctx: PageContext; chosen: string }) {
  const t = texts(ctx).adoption;
  return (
    <>
      {adoptionTriggers.map((trigger) => (
        <option value={trigger} selected={trigger === chosen}>
          {t.triggers[trigger]}
        </option>
      ))}
    </>
  );
}

const credentialField = (registry: string) => `credential.${registry}`;
const executorField = ({ hash }: ProposedTargetView) => `executor.${hash}`;
const trackerField = ({ key }: ProposedTrackerView) => `tracker.${key}`;

function TargetTable({ ctx, list, filters, entered }: FormProps) {
  const t = texts(ctx).adoption;
  const trackers = trackersByKey(list);
  const titleOf = ({ namespace, is_group }: ProposedTargetView) => namespace ?? (is_group ? t.groups : t.singles);
  const keyOf = ({ namespace, is_group }: ProposedTargetView) =>
    namespace !== null ? `namespace ${namespace}` : is_group ? "groups" : "singles";
  const members = Map.groupBy(list.targets, keyOf);
  const shared = new Map([...members].map(([key, own]) => [key, sharedWarnings(ctx, own)]));
  const groupOf = (target: ProposedTargetView) => {
    const key = keyOf(target);
    return {
      key,
      heading: (
        <>
          <label class="tick">
            <input type="checkbox" class="scripted" data-ticks="tbody" checked={!filters.is_none_chosen} />
            {titleOf(target)}
          </label>
          {shared.get(key)?.map((words) => (
            <div class="quiet plain">{withCode(words)}</div>
          ))}
        </>
      ),
    };
  };
  return (
    <Table
      ctx={ctx}
      caption={t.target}
      columns={[
        { key: "name", title: t.target, grows: true },
        {
          ...{ key: "services", title: t.running, card_label: "none", grows: true },
          heading: (
            <span class="adopt-service">
              <span>{t.running}</span>
              <span>{t.newest}</span>
              <span>{t.follows}</span>
            </span>
          ),
        },
      ]}
      rows={list.targets
        .toSorted(
          (a, b) => (a.namespace ?? "").localeCompare(b.namespace ?? "") || Number(b.is_group) - Number(a.is_group),
        )
        .map((target) => ({
          id: `target-${target.hash}`,
          group: groupOf(target),
          cells: {
            name: (
              <Choice
                {...{ ctx, target, entered }}
                is_proposed={!filters.is_none_chosen}
                said={shared.get(keyOf(target)) ?? []}
              />
            ),
            services: <Services ctx={ctx} target={target} trackers={trackers} />,
          },
          actions: <Change ctx={ctx} target={target} trackers={trackers} entered={entered} />,
        }))}
    />
  );
}

/** A narrow row shows so many of a target's services until it is opened. */
const foldedServices = 2;

/** Image, newest version and tracker of each service, side by side. */
function Services({ ctx, target, trackers }: Omit<ServiceProps, "service"> & { target: ProposedTargetView }) {
  const t = texts(ctx);
  const { services, is_group } = target;
  const others = services.length - foldedServices;
  const about = ({ name, state }: ServiceProps["service"]) => [
    ...(is_group ? [name] : []),
    ...(state === "running" || state === "unknown" ? [] : [t.connections.target_states[state]]),
  ];
  return (
    <ul class="adopt-services">
      {services.map((service, position) => (
        <li class="adopt-service">
          <div class="adopt-running">
            {about(service).map((words, place) => (
              <span class="quiet">{place === 0 ? words : ` · ${words}`}</span>
            ))}{" "}
            <Reference>{service.image}</Reference>
          </div>
          <div class="adopt-newest" id={newestId(target, position)}>
            <Newest ctx={ctx} service={service} trackers={trackers} />
          </div>
          <div class="adopt-follows">
            <Follows ctx={ctx} service={service} trackers={trackers} />
          </div>
        </li>
      ))}
      {others > 0 ? <li class="quiet adopt-others-count">{t.executors.more_services(others)}</li> : null}
    </ul>
  );
}

type RowProps = Pick<AdoptPageProps, "ctx" | "entered"> & { target: ProposedTargetView };

/** The warnings that all of several targets share. */
function sharedWarnings(ctx: PageContext, targets: readonly ProposedTargetView[]): readonly string[] {
  const [first = [], ...others] = targets.map((target) => warningsOf(ctx, target));
  return others.length === 0 ? [] : first.filter((words) => others.every((each) => each.includes(words)));
}

function warningsOf(ctx: PageContext, { warnings }: ProposedTargetView): string[] {
  return warnings.map(({ message_data }) => translateMessage(ctx.language, message_data));
}

/** `said`: the warnings that its group has. */
function Choice({
  ctx,
  target,
  is_proposed,
  said,
  entered,
}: RowProps & { is_proposed: boolean; said: readonly string[] }) {
  const t = texts(ctx);
  const value = `${target.hash} ${target.kind} ${target.id}`;
  const { name, namespace, is_group, services, title_data } = target;
  const kind = translateMessage(ctx.language, title_data);
  return (
    <div>
      <label class="tick">
        <input
          type="checkbox"
          name="chosen"
          class="choice"
          value={value}
          checked={isTicked(entered, executorField(target), "chosen", value, target.is_ready && is_proposed)}
          aria-label={t.adoption.choose(name)}
        />
        <span>{namespace !== null && name.startsWith(`${namespace}/`) ? name.slice(namespace.length + 1) : name}</span>
      </label>
      {is_group || namespace !== null ? (
        <div class="quiet plain adopt-kind">{is_group ? t.executors.group_of(kind, services.length) : kind}</div>
      ) : null}
      {warningsOf(ctx, target)
        .filter((words) => !said.includes(words))
        .map((words) => (
          <div class="quiet plain adopt-warning">{withCode(words)}</div>
        ))}
    </div>
  );
}

function Follows({ ctx, service, trackers }: ServiceProps) {
  const t = texts(ctx);
  const tracker = service.tracker === null ? undefined : trackers.get(service.tracker);
  if (tracker === undefined) {
    return (
      <span class="quiet">
        {service.reason === null
          ? t.adoption.left_alone
          : withCode(
              t.common.form.of_field(t.adoption.left_alone, translatePart(ctx.language, service.reason.message_data)),
            )}
      </span>
    );
  }
  const kept = [
    ...tracker.remarks.map(({ code, subject }) => t.imports.remarks[code](subject)),
    ...(tracker.line === null && service.lines.length > 0 ? [t.adoption.new_majors] : []),
    ...(service.names_line && service.tag !== null ? [t.adoption.line_replaced(service.tag)] : []),
  ];
  return (
    <>
      <span class="quiet adopt-label">{t.adoption.follows} </span>
      <b>{tracker.name}</b>
      {tracker.is_existing ? <span class="quiet"> {t.adoption.existing}</span> : null}
      {kept.map((words) => (
        <div class="quiet plain">{words}</div>
      ))}
    </>
  );
}

function Change({ ctx, target, trackers, entered }: RowProps & Pick<ServiceProps, "trackers">) {
  const t = texts(ctx).adoption;
  return (
    <details class="adopt-change">
      <summary class="btn bare small" aria-label={t.change_of(target.name)}>
        {t.change}
      </summary>
      <div>
        <label>
          {t.executor_name}
          <input
            type="text"
            class="input"
            name={executorField(target)}
            value={enteredText(entered, executorField(target), target.executor_name)}
            maxlength={100}
          />
        </label>
        <label>
          {t.trigger}
          <select class="input" name={`trigger.${target.hash}`}>
            <option value="">{t.trigger_as_below}</option>
            <TriggerOptions ctx={ctx} chosen={enteredText(entered, `trigger.${target.hash}`, "")} />
          </select>
        </label>
        {target.services
          .filter(({ lines }) => lines.length > 0)
          .map(({ name, lines, tracker }) => {
            const kept = tracker === null ? null : (trackers.get(tracker)?.line ?? null);
            const field = `line.${target.hash}.${name}`;
            const chosen = enteredText(entered, field, "");
            return (
              <label>
                {target.is_group ? t.versions_of(name) : t.versions}
                <select class="input" name={field}>
                  <option value="">{kept === null ? t.every_version : t.only_line(kept)}</option>
                  {lines.map((line) => (
                    <option value={line} selected={line === chosen}>
                      {t.only_line(line)}
                    </option>
                  ))}
                </select>
              </label>
            );
          })}
      </div>
    </details>
  );
}

/** The trackers that would be created: one for all services that follow the same. */
function NewTrackers({ ctx, list, credentials, entered }: FormProps) {
  const t = texts(ctx).adoption;
  const fresh = list.trackers.filter(({ is_existing }) => !is_existing);
  if (fresh.length === 0) return null;
  const registries = [...new Set(fresh.map(({ registry }) => registry))];
  return (
    <details class="advanced" id="adopt-trackers">
      <summary>
        <Icon name="chevron-right" />
        <b>{t.new_trackers(fresh.length)}</b>
        <span>{fresh.map(({ name }) => name).join(", ")}</span>
      </summary>
      <div class="advanced-fields">
        {credentials.length === 0
          ? null
          : registries.map((registry) => (
              <label class="adopt-registry">
                {t.credential_for(registry)}
                <select class="input" name={credentialField(registry)}>
                  <option value="">{t.anonymous}</option>
                  {credentials.map(({ id, name }) => (
                    <option value={id} selected={id === enteredText(entered, credentialField(registry), "")}>
                      {name}
                    </option>
                  ))}
                </select>
              </label>
            ))}
        <Table
          ctx={ctx}
          caption={t.trackers_title}
          columns={[
            { key: "name", title: t.tracker_name },
            { key: "image", title: t.image, grows: true },
            { key: "rule", title: t.rule, grows: true },
            { key: "repository", title: t.repository, grows: true },
          ]}
          rows={fresh.map((tracker) => ({ id: `tracker-${tracker.key}`, cells: trackerCells(ctx, tracker, entered) }))}
        />
      </div>
    </details>
  );
}

function trackerCells(
  ctx: PageContext,
  tracker: ProposedTrackerView,
  entered: FormData | null,
): Readonly<Record<string, Child>> {
  const t = texts(ctx).adoption;
  const { key, name, watches, service_count, include_pattern, by_version_pattern, repository } = tracker;
  const field = trackerField(tracker);
  return {
    name: (
      <input
        type="text"
        class="input"
        name={field}
        value={enteredText(entered, field, name)}
        maxlength={100}
        aria-label={t.tracker_name_of(watches)}
      />
    ),
    image: (
      <>
        <Reference>{watches}</Reference>
        <div class="quiet plain">{t.used_by(service_count)}</div>
      </>
    ),
    rule: (
      <>
        {include_pattern === "" ? t.takes_all : <Version>{include_pattern}</Version>}
        {by_version_pattern === null ? null : (
          <label class="tick">
            <input
              type="checkbox"
              name="by_version"
              value={key}
              checked={isTicked(entered, field, "by_version", key, false)}
            />
            {t.by_version}
          </label>
        )}
      </>
    ),
    repository:
      repository === null ? null : (
        <label class="tick">
          <input
            type="checkbox"
            name="repository"
            value={key}
            checked={isTicked(entered, field, "repository", key, true)}
            aria-label={t.follow_repository(repository.url)}
          />
          {repository.url.replace(/^https:\/\//, "")}
        </label>
      ),
  };
}
