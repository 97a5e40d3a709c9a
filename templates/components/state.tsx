import type { Child } from "hono/jsx";
import { classes, type PageContext, type Tone } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { withCode } from "./code.tsx";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.ts";

/** Each tone has its own icon, so that a state does not depend on colour. */
export const toneIcons: Readonly<Record<Tone, IconName>> = {
  current: "check",
  update: "arrow-up",
  running: "loader-circle",
  attention: "triangle-alert",
  failed: "circle-x",
  unknown: "circle-question-mark",
  quiet: "clock",
};

interface StateProps {
  ctx: PageContext;
  tone: Tone;
  /** The state's word; by default the tone's general word ("Failed"). Be specific: "Failed, restored". */
  children?: Child;
  icon?: IconName | undefined;
  /** The absolute time or a longer fact, as a tooltip. */
  title?: string | undefined;
  /** With a tinted background: for a page heading with a single state. */
  solid?: boolean | undefined;
  id?: string | undefined;
}

/** Icon and word in the state's colour. The only component that maps a state to a colour. */
export function State({ ctx, tone, children, icon, title, solid, id }: StateProps) {
  return (
    <span class={classes("state", tone, solid === true && "solid")} title={title} id={id}>
      <Icon name={icon ?? toneIcons[tone]} />
      <span>{withCode(children ?? texts(ctx).common.state[tone])}</span>
    </span>
  );
}

/** A quiet word in a frame: a channel, a source kind, "republished". Never a state: use `State`. */
export function Badge({ children, icon, title }: { children: Child; icon?: IconName; title?: string }) {
  return (
    <span class="badge" title={title}>
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </span>
  );
}
