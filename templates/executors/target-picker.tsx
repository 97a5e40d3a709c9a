import type { Child } from "hono/jsx";
import type { TargetView } from "../../src/connections/schema.ts";
import type { Message } from "../../src/messages/message.ts";
import { withCode } from "../components/code.tsx";
import { FieldError, fieldId } from "../components/field.tsx";
import { Find, searchedFrom } from "../components/find.tsx";
import { Icon } from "../components/icon.tsx";
import { Banner } from "../components/notice.tsx";
import { State } from "../components/state.tsx";
import { kindOf, namespaceOrder, nameWithin, TargetState, wordsOf } from "../connections/targets.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage, translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

interface TargetPickerProps {
  ctx: PageContext;
  targets: readonly TargetView[];
  /** Why there are none. */
  failure: Message | null;
  /** `compose:shop`; blank until one is chosen. */
  chosen: string;
  /** The executor being edited, whose own target stays selectable. */
  own: string | null;
  error: Message | undefined;
  /** Attributes that redraw the form. */
  attributes: Readonly<Record<string, string>>;
}

/** Of a target's services; the form has them all. */
const mostServices = 6;

const keyOf = ({ kind, id }: Pick<TargetView, "kind" | "id">) => `${kind}:${id}`;

/** All targets behind the connection, groups first; those that cannot be chosen are folded, each with its reason. */
export function TargetPicker(props: TargetPickerProps) {
  const { ctx, targets, failure, chosen, error } = props;
  const t = texts(ctx).executors;
  const id = fieldId("target.id");
  const found = targets.find((target) => keyOf(target) === chosen);
  const roots = rootsOf(targets);
  // A chosen container of a group is shown within its group, which comes first and is open.
  const shown = roots.find((root) => root === found || (root.is_group && root.id === found?.group));
  const others = roots.filter((root) => root !== shown);
  const { free = [], taken = [], refused = [] } = Object.groupBy(others, (target) => placeOf(target, props));
  const list = (
    <>
      {targets.length < searchedFrom ? null : <Find label={t.find_target} within="#targets" enter={t.find_enter} />}
      <div class="pick-list" id="targets">
        <Grouped {...props} shown={free} />
        <Rest {...props} id="taken-targets" title={t.taken_targets(taken.length)} shown={taken} />
        <Rest {...props} id="refused-targets" title={t.refused_targets(refused.length)} shown={refused} />
      </div>
      <p class="quiet found-nothing">{t.no_target_found}</p>
    </>
  );
  return (
    <fieldset
      class="group picker"
      id={id}
      tabindex={-1}
      aria-describedby={error === undefined ? undefined : `${id}-error`}
    >
      <legend>{texts(ctx).common.target}</legend>
      <FieldError ctx={ctx} id={`${id}-error`} message={error} />
      {failure === null ? null : (
        <Banner tone="failed" title={t.targets_failed}>
          {translateSentence(ctx.language, failure)}
        </Banner>
      )}
      {chosen !== "" && found === undefined ? <Missing {...props} /> : null}
      {shown === undefined ? null : (
        <ul class="targets">
          <Pick {...props} target={shown} />
        </ul>
      )}
      {others.length === 0 ? (
        failure === null && shown === undefined && chosen === "" ? (
          <p class="quiet">{t.no_targets}</p>
        ) : null
      ) : shown === undefined ? (
        list
      ) : (
        <details class="advanced" id="other-targets">
          <summary>
            <Icon name="chevron-right" />
            <b>{t.other_targets}</b>
            <span>{others.map((target) => target.name).join(", ")}</span>
          </summary>
          <div class="advanced-fields">{list}</div>
        </details>
      )}
      {/* A blank would count as omitted. */}
      <input type="hidden" name="target.drawn" value={chosen === "" ? "none" : chosen} />
    </fieldset>
  );
}

/** By namespace where there are any. */
function Grouped(props: TargetPickerProps & { shown: readonly TargetView[] }) {
  const groups = [...Map.groupBy(props.shown, ({ namespace }) => namespace)];
  return (
    <>
      {groups.map(([namespace, own]) => (
        <div>
          {namespace === null ? null : <p class="target-group">{namespace}</p>}
          <ul class="targets" aria-label={namespace ?? undefined}>
            {own.map((target) => (
              <Pick {...props} target={target} is_within />
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}

/** Those that cannot be chosen. A search that finds one of them opens the fold. */
function Rest(props: TargetPickerProps & { id: string; title: string; shown: readonly TargetView[] }) {
  if (props.shown.length === 0) return null;
  return (
    <details class="pick-rest" id={props.id}>
      <summary>
        <Icon name="chevron-right" />
        {props.title}
      </summary>
      <ul class="targets">
        {props.shown.map((target) => (
          <Pick {...props} target={target} />
        ))}
      </ul>
    </details>
  );
}

/** By namespace; groups, then containers outside of groups. */
function rootsOf(targets: readonly TargetView[]): readonly TargetView[] {
  const isOffered = (target: TargetView) =>
    target.group === null || !targets.some(({ is_group, id }) => is_group && id === target.group);
  return targets
    .filter(isOffered)
    .toSorted(
      (a, b) => namespaceOrder(a, b) || Number(b.is_group) - Number(a.is_group) || a.name.localeCompare(b.name),
    );
}

/** Another executor updates it, or it cannot be updated at all. */
function standingOf({ executor, refusals }: TargetView, own: string | null): "free" | "taken" | "refused" {
  if (executor !== null && executor.id !== own) return "taken";
  return refusals.length > 0 ? "refused" : "free";
}

/** Stays chosen although it was not found: the administrator may know better. */
function Missing({ ctx, chosen, failure }: TargetPickerProps) {
  const t = texts(ctx).executors;
  const name = chosen.slice(chosen.indexOf(":") + 1);
  return (
    <ul class="targets">
      <li>
        <label class="pick">
          <input type="radio" name="target.choice" value={chosen} checked />
          <span class="pick-body">
            <span>
              <b>{name}</b> {failure === null ? <span class="quiet">{t.target_missing}</span> : null}
            </span>
          </span>
        </label>
      </li>
    </ul>
  );
}

/** Of a group that is refused, one of its containers may still be chosen. */
function placeOf(target: TargetView, { targets, own }: TargetPickerProps): ReturnType<typeof standingOf> {
  const standing = standingOf(target, own);
  const members = standing === "refused" && target.is_group ? membersOf(target, targets) : [];
  return members.some((member) => standingOf(member, own) === "free") ? "free" : standing;
}

function membersOf({ id }: TargetView, targets: readonly TargetView[]): readonly TargetView[] {
  return targets.filter(({ group }) => group === id);
}

interface PickProps extends TargetPickerProps {
  target: TargetView;
  /** Below the heading of its namespace. */
  is_within?: boolean;
}

function Pick(props: PickProps) {
  const { ctx, target, targets } = props;
  const t = texts(ctx).executors;
  const members = target.is_group ? membersOf(target, targets) : [];
  const isOpen = members.some((each) => keyOf(each) === props.chosen);
  return (
    <li id={`target-${keyOf(target)}`} data-found={wordsOf(target)}>
      <Choice {...props} lead={kindOf(ctx, target)} />
      {members.length === 0 ? null : (
        <details class="pick-members" open={isOpen}>
          <summary>
            <Icon name="chevron-right" />
            {t.group_members(members.length)}
          </summary>
          <ul class="targets">
            {members.map((member) => (
              <li>
                <Choice {...props} target={member} lead={null} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function isRunning({ services, condition_data }: TargetView): boolean {
  return condition_data == null && services.every(({ state }) => state === "running");
}

function Choice(props: PickProps & { lead: Child }) {
  const { ctx, target, chosen, own, lead, attributes } = props;
  const t = texts(ctx).executors;
  const value = keyOf(target);
  const standing = standingOf(target, own);
  const isChosen = value === chosen;
  const reasons =
    standing === "taken"
      ? [t.target_taken(target.executor?.name ?? "")]
      : target.refusals.map((reason) => withCode(translateMessage(ctx.language, reason.message_data)));
  return (
    <label class="pick">
      <input
        type="radio"
        id={`pick-${value}`}
        name="target.choice"
        value={value}
        checked={isChosen}
        disabled={standing !== "free" && !isChosen}
        {...attributes}
      />
      <span class="pick-body">
        <span>
          <b>{props.is_within === true ? nameWithin(target) : target.name}</b>{" "}
          {lead === null ? null : <span class="quiet">{lead}</span>}
        </span>
        {target.services.slice(0, mostServices).map((service) => (
          <span class="pick-service">
            {target.is_group ? <span>{service.name}</span> : null}
            <span class="version">{service.image}</span>
            {service.containers.length > 1 ? <span class="quiet">{t.replicas(service.containers.length)}</span> : null}
          </span>
        ))}
        {target.services.length > mostServices ? (
          <span class="quiet">{t.more_services(target.services.length - mostServices)}</span>
        ) : null}
        {reasons.map((reason) => (
          <span class="pick-reason">
            <State ctx={ctx} tone={standing === "taken" ? "quiet" : "attention"} icon="circle-minus">
              {reason}
            </State>
          </span>
        ))}
        {/* Of the others when they are chosen. */}
        {isChosen && standing === "free"
          ? target.warnings.map((warning) => (
              <span class="quiet">{withCode(translateMessage(ctx.language, warning.message_data))}</span>
            ))
          : null}
      </span>
      {isChosen || (standing === "free" && !isRunning(target)) ? <TargetState ctx={ctx} target={target} /> : null}
    </label>
  );
}
