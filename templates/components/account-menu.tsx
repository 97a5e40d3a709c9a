import type { Child } from "hono/jsx";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Csrf } from "./button.tsx";
import { Key } from "./code.tsx";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.ts";

/** The signed-in user: account settings, language, theme, shortcuts, and signing out; `details`, so it opens without script. */
export function AccountMenu({ ctx, user }: { ctx: PageContext; user: { name: string } }) {
  const t = texts(ctx).common;
  return (
    <details class="menu end" data-menu>
      <summary title={t.account_of(user.name)}>
        <span class="avatar" aria-hidden="true">
          {[...user.name][0]?.toUpperCase()}
        </span>
        <span class="account-name">{user.name}</span>
        <Icon name="chevron-down" />
      </summary>
      <div class="menu-list">
        <a class="menu-item" href={url(ctx, "/account")}>
          <Icon name="user" />
          <span>{t.user_settings}</span>
        </a>
        <a class="menu-item" href={url(ctx, "/account/password")}>
          <Icon name="lock" />
          <span>{t.change_password}</span>
        </a>
        <button type="button" class="menu-item scripted" data-dialog="shortcuts">
          <Icon name="keyboard" />
          <span>{t.keyboard_shortcuts}</span>
          <Key>?</Key>
        </button>
        <form
          class="menu-group"
          method="post"
          action={url(ctx, "/preferences")}
          hx-post={url(ctx, "/preferences")}
          hx-swap="none"
        >
          <Csrf ctx={ctx} />
          <input type="hidden" name="next" value={ctx.path} />
          <Choice
            title={t.theme}
            name="theme"
            current={ctx.theme}
            options={[
              ["system", t.theme_system, "monitor"],
              ["light", t.theme_light, "sun"],
              ["dark", t.theme_dark, "moon"],
            ]}
          />
          <Choice
            title={t.language}
            name="language"
            current={ctx.language}
            options={[
              ["en", t.english],
              ["zh", t.chinese],
            ]}
          />
        </form>
        <form method="post" action={url(ctx, "/logout")}>
          <Csrf ctx={ctx} />
          <button type="submit" class="menu-item">
            <Icon name="log-out" />
            <span>{t.sign_out}</span>
          </button>
        </form>
      </div>
    </details>
  );
}

interface ChoiceProps {
  title: string;
  name: string;
  current: string;
  options: readonly (readonly [value: string, title: string, icon?: IconName])[];
}

function Choice({ title, name, current, options }: ChoiceProps) {
  return (
    <fieldset class="choice">
      <legend>{title}</legend>
      <div class="segments">
        {options.map(([value, word, icon]) => (
          <button type="submit" name={name} value={value} aria-pressed={value === current ? "true" : "false"}>
            {icon === undefined ? null : <Icon name={icon} />}
            {word}
          </button>
        ))}
      </div>
    </fieldset>
  );
}

interface ShortcutsProps {
  ctx: PageContext;
  entries: readonly {
    key: "overview" | "trackers" | "executors" | "runs" | "connections" | "credentials" | "notifiers" | "settings";
    shortcut: string;
  }[];
}

/** What `?` shows. */
export function Shortcuts({ ctx, entries }: ShortcutsProps) {
  const t = texts(ctx).common;
  return (
    <Dialog ctx={ctx} id="shortcuts" title={t.keyboard_shortcuts}>
      <dl class="shortcuts">
        <dt>
          <Key>/</Key>
        </dt>
        <dd>{t.shortcut_search}</dd>
        <dt>
          <Key>Ctrl</Key> <Key>K</Key>
        </dt>
        <dd>{texts(ctx).overview.search.palette}</dd>
        {entries.map((entry) => (
          <>
            <dt>
              <Key>g</Key> <span>{t.then_key}</span> <Key>{entry.shortcut}</Key>
            </dt>
            <dd>{t.go_to(t[entry.key])}</dd>
          </>
        ))}
        <dt>
          <Key>?</Key>
        </dt>
        <dd>{t.shortcut_help}</dd>
        <dt>
          <Key>Esc</Key>
        </dt>
        <dd>{t.shortcut_close}</dd>
      </dl>
    </Dialog>
  );
}

/** A dialog whose content is already in the page; opened by an element with `data-dialog="<id>"`. */
function Dialog({ id, title, ctx, children }: { id: string; title: string; ctx: PageContext; children: Child }) {
  const t = texts(ctx).common;
  return (
    <dialog id={id} aria-labelledby={`${id}-title`}>
      <div class="dialog-header">
        <h2 id={`${id}-title`}>{title}</h2>
        <button type="button" class="btn bare square" data-close aria-label={t.close} title={t.close}>
          <Icon name="x" />
        </button>
      </div>
      {children}
    </dialog>
  );
}
