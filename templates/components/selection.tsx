import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Button, Csrf } from "./button.tsx";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.ts";

/** Something to do with the selected rows; sent as `_action`. */
export interface SelectionAction {
  name: string;
  word: string;
  icon: IconName;
}

export interface SelectionBarProps {
  ctx: PageContext;
  /** The form's id, which the checkboxes name. */
  form: string;
  /** A local path, which receives the ids of the selected `row`s and the list's address as `next`. */
  action: string;
  /** With buttons of their own, the main one first. */
  buttons: readonly SelectionAction[];
  /** In a menu. */
  more: readonly SelectionAction[];
  /** How many entries match the filters, if they are on several pages and few enough to be acted on at once. */
  matching: number | null;
}

/** How many rows are selected. */
export function SelectionCount({ ctx, matching }: Pick<SelectionBarProps, "ctx" | "matching">) {
  const t = texts(ctx).selection;
  const [before, after] = t.count.split("#");
  return (
    <div class="selection-count">
      <span>
        {before}
        <b class="chosen-count" />
        {after}
      </span>
      {matching === null ? null : (
        <label>
          <input type="checkbox" name="all" value="1" autocomplete="off" /> {t.all_matching(matching)}
        </label>
      )}
    </div>
  );
}

/** What the rows of the list call for. */
export function SelectionActions({ ctx, buttons, more }: Pick<SelectionBarProps, "ctx" | "buttons" | "more">) {
  return (
    <div class="choice-actions">
      {buttons.map(({ name, word }, place) => (
        <Button type="submit" name="_action" value={name} kind={place === 0 ? "main" : "plain"}>
          {word}
        </Button>
      ))}
      {more.length === 0 ? null : (
        <details class="menu end up" data-menu>
          <summary class="btn">
            <span>{texts(ctx).selection.more}</span>
            <Icon name="chevron-down" />
          </summary>
          <div class="menu-list">
            {more.map(({ name, word, icon }) => (
              <button class="menu-item" type="submit" name="_action" value={name}>
                <Icon name={icon} />
                <span>{word}</span>
              </button>
            ))}
          </div>
        </details>
      )}
    </div>
  );
}

/** What can be done with the selected rows, below their list: shown by the style sheet while there are any, counted by it too. */
export function SelectionBar({ ctx, form, action, buttons, more, matching }: SelectionBarProps) {
  const t = texts(ctx).selection;
  return (
    <form class="choice-bar selection-bar" id={form} method="post" action={url(ctx, action)} aria-label={t.bar}>
      <Csrf ctx={ctx} />
      <input type="hidden" name="next" value={ctx.path} />
      <SelectionCount ctx={ctx} matching={matching} />
      <SelectionActions ctx={ctx} buttons={buttons} more={more} />
    </form>
  );
}
