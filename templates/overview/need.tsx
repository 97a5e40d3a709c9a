import type { Child } from "hono/jsx";
import { LinkButton } from "../components/button.tsx";
import type { IconName } from "../components/icons.ts";
import { Row } from "../components/rows.tsx";
import { State } from "../components/state.tsx";
import type { Decidable } from "../executors/actions.tsx";
import type { Tone } from "../page.ts";

/** Where a row's action leads back to. */
export const here = { next: "/", target: "#overview" };

/** What is not in this queue once something was decided about it. */
export const undecided: Omit<Decidable, "id"> = {
  is_enabled: true,
  trigger: "manual",
  held_since: null,
  snoozed_until: null,
  update_revision: null,
  is_version_skipped: false,
  dismissible_run_id: null,
};

interface NeedProps extends Pick<Parameters<typeof Row>[0], "ctx" | "title" | "fact" | "meta"> {
  id: string;
  href: string;
  tone: Tone;
  icon?: IconName | undefined;
  /** The problem in a word. */
  word: string;
  /** The button's label. */
  verb: string;
  /** Where the button leads, when that is not `href`. */
  action_href?: string;
  is_first?: boolean;
  opens_dialog?: boolean;
  /** Beside the button. */
  more?: Child;
}

/** One row; the first has the page's main button. */
export function Need({
  ctx,
  id,
  href,
  tone,
  icon,
  word,
  verb,
  action_href,
  is_first,
  opens_dialog,
  more,
  ...row
}: NeedProps) {
  return (
    <Row
      ctx={ctx}
      id={`need-${id}`}
      href={href}
      lead={
        <State ctx={ctx} tone={tone} icon={icon}>
          {word}
        </State>
      }
      {...row}
      action={
        <>
          <LinkButton
            ctx={ctx}
            href={action_href ?? href}
            kind={is_first === true ? "main" : "plain"}
            opens_dialog={opens_dialog}
          >
            {verb}
          </LinkButton>
          {more}
        </>
      }
    />
  );
}
