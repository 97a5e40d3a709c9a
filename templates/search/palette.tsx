import type { Child } from "hono/jsx";
import { Csrf } from "../components/button.tsx";
import { Key } from "../components/code.tsx";
import { Icon } from "../components/icon.tsx";
import { Partial } from "../components/notice.tsx";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import type { Command } from "./commands.ts";

/** What Ctrl K opens on every page: the search page in a dialog, by keyboard alone. */
export function Palette({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).overview.search;
  return (
    <dialog id="palette" class="palette" aria-label={t.palette}>
      <form
        class="search"
        method="get"
        action={url(ctx, "/search")}
        hx-get={url(ctx, "/search/palette")}
        hx-trigger="input changed delay:150ms, palette"
        hx-target="#palette-list"
        hx-swap="innerHTML"
      >
        <Icon name="search" />
        <input
          type="search"
          name="q"
          maxlength={100}
          placeholder={t.palette_placeholder}
          aria-label={t.palette}
          autocomplete="off"
          spellcheck={false}
          role="combobox"
          aria-autocomplete="list"
          aria-expanded="true"
          aria-controls="palette-list"
        />
        <Key>Esc</Key>
      </form>
      <div id="palette-list" class="palette-list" role="listbox" aria-label={t.results} />
      <p class="meta">
        <output id="palette-count" />
      </p>
    </dialog>
  );
}

export interface PaletteGroup {
  title: string;
  commands: readonly Command[];
}

interface PaletteAnswerProps {
  ctx: PageContext;
  /** The text that was searched; the palette ignores entries for any other text. */
  query: string;
  groups: readonly PaletteGroup[];
}

/** The content of the palette's list, and how long it is. Its box is there without entries too: htmx puts nothing in place of nothing. */
export function PaletteAnswer({ ctx, query, groups }: PaletteAnswerProps) {
  const t = texts(ctx).overview.search;
  const shown = groups.filter(({ commands }) => commands.length > 0);
  const count = shown.reduce((sum, { commands }) => sum + commands.length, 0);
  return (
    <>
      <div data-query={query}>
        {shown.map(({ title, commands }, group) => (
          <fieldset aria-label={title}>
            <p class="palette-group" aria-hidden="true">
              {title}
            </p>
            {commands.map((command, index) => (
              <Option ctx={ctx} command={command} id={`palette-${group}-${index}`} />
            ))}
          </fieldset>
        ))}
      </div>
      <Partial target="#palette-count">
        <output id="palette-count">{t.count(count)}</output>
      </Partial>
    </>
  );
}

function Option({ ctx, command, id }: { ctx: PageContext; command: Command; id: string }) {
  const { title, subject, icon, href, opens_dialog, fields } = command;
  const address = url(ctx, href);
  const content: Child = (
    <>
      <Icon name={icon} />
      <span>{title}</span>
      {subject === undefined ? null : <span class="quiet">{subject}</span>}
    </>
  );
  if (fields === undefined) {
    const dialog = opens_dialog === true ? { "hx-get": address, "hx-target": "#dialog", "hx-swap": "innerHTML" } : {};
    return (
      <a role="option" aria-selected="false" tabindex={-1} id={id} class="menu-item" href={address} {...dialog}>
        {content}
      </a>
    );
  }
  return (
    <>
      <button
        type="submit"
        role="option"
        aria-selected="false"
        tabindex={-1}
        id={id}
        class="menu-item"
        form={`${id}-form`}
      >
        {content}
      </button>
      <form id={`${id}-form`} method="post" action={address} hidden>
        <Csrf ctx={ctx} />
        {Object.entries(fields).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
      </form>
    </>
  );
}
