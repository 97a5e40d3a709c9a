import type { Child } from "hono/jsx";
import type { TargetView } from "../../src/connections/schema.ts";
import type { Message } from "../../src/messages/message.ts";
import { FieldError, fieldId } from "../components/field.tsx";
import { Icon } from "../components/icon.tsx";
import { Banner } from "../components/notice.tsx";
import { State } from "../components/state.tsx";
import {
  kindOf,
  namespaceOrder,
  nameWithin,
  searchedFrom,
  TargetSearch,
  TargetState,
  wordsOf,
} from "../connections/targets.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
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

const keyOf = ({ kind, id }: Pick<TargetView, "kind" | "id">) => `${kind}:${id}`;

/** All targets behind the connection, groups first, each with the reason if it cannot be chosen. */
export function TargetPicker(props: TargetPickerProps) {
  const { ctx, targets, failure, chosen, error } = props;
  const t = texts(ctx).executors;
  const id = fieldId("target.id");
  const found = targets.find((target) => keyOf(target) === chosen);
  const roots = rootsOf(targets, props.own);
  // A chosen container of a group is shown within its group, which comes first and is open.
  const shown = roots.find((root) => root === found || (root.is_group && root.id === found?.group));
  const others = roots.filter((root) => root !== shown);
  const list = (
    <>
      {targets.length < searchedFrom ? null : <TargetSearch ctx={ctx} />}
      <Grouped {...props} shown={others} />
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
          {translateMessage(ctx.language, failure)}
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
  const list = (own: readonly TargetView[]) => own.map((target) => <Pick {...props} target={target} is_within />);
  const [only] = groups;
  if (only?.[0] === null && groups.length === 1) {
    return (
      <ul class="targets" id="targets">
        {list(only[1])}
      </ul>
    );
  }
  return (
    <div class="target-groups" id="targets">
      {groups.map(([namespace, own]) => (
        <div>
          <p class="target-group">{namespace}</p>
          <ul class="targets" aria-label={namespace ?? undefined}>
            {list(own)}
          </ul>
        </div>
      ))}
    </div>
  );
}

/** By namespace; groups, then containers outside of groups; selectable ones first. */
function rootsOf(targets: readonly TargetView[], own: string | null): readonly TargetView[] {
  const isOffered = (target: TargetView) =>
    target.group === null || !targets.some(({ is_group, id }) => is_group && id === target.group);
  const rank = (target: TargetView) =>
    (target.is_group ? 0 : 4) + (target.refusals.length > 0 ? 2 : isTaken(target, own) ? 1 : 0);
  return targets
    .filter(isOffered)
    .toSorted((a, b) => namespaceOrder(a, b) || rank(a) - rank(b) || a.name.localeCompare(b.name));
}

function isTaken(target: TargetView, own: string | null): boolean {
  return target.executor !== null && target.executor.id !== own;
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

interface PickProps extends TargetPickerProps {
  target: TargetView;
  /** Below the heading of its namespace. */
  is_within?: boolean;
}

function Pick(props: PickProps) {
  const { ctx, target, targets } = props;
  const t = texts(ctx).executors;
  const members = target.is_group ? targets.filter((each) => each.group === target.id) : [];
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

function Choice(props: PickProps & { lead: Child }) {
  const { ctx, target, chosen, own, lead, attributes } = props;
  const t = texts(ctx).executors;
  const value = keyOf(target);
  const taken = isTaken(target, own);
  const isChosen = value === chosen;
  const isFree = !taken && target.refusals.length === 0;
  const reasons = taken
    ? [t.target_taken(target.executor?.name ?? "")]
    : target.refusals.map((reason) => translateMessage(ctx.language, reason.message_data));
  return (
    <label class="pick">
      <input
        type="radio"
        id={`pick-${value}`}
        name="target.choice"
        value={value}
        checked={isChosen}
        disabled={!isFree && !isChosen}
        {...attributes}
      />
      <span class="pick-body">
        <span>
          <b>{props.is_within === true ? nameWithin(target) : target.name}</b>{" "}
          {lead === null ? null : <span class="quiet">{lead}</span>}
        </span>
        {target.services.map((service) => (
          <span class="pick-service">
            {target.is_group ? <span>{service.name}</span> : null}
            <span class="version">{service.image}</span>
            {service.containers.length > 1 ? <span class="quiet">{t.replicas(service.containers.length)}</span> : null}
          </span>
        ))}
        {reasons.map((reason) => (
          <span class="pick-reason">
            <State ctx={ctx} tone={taken ? "quiet" : "attention"} icon="circle-minus">
              {reason}
            </State>
          </span>
        ))}
        {isFree
          ? target.warnings.map((warning) => (
              <span class="quiet">{translateMessage(ctx.language, warning.message_data)}</span>
            ))
          : null}
      </span>
      <TargetState ctx={ctx} target={target} />
    </label>
  );
}
