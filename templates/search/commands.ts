import type { ConnectionView } from "../../src/connections/schema.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import { adoptPath } from "../adoption/props.ts";
import type { IconName } from "../components/icons.ts";
import { actionsPath, offersFor } from "../executors/actions.tsx";
import { bulkPath } from "../executors/bulk.tsx";
import { askedBy } from "../executors/row-actions.tsx";
import type { PageContext, Theme } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "../trackers/address.ts";

/** What can be done, from anywhere. */
export interface Command {
  title: string;
  /** The thing that it is about. */
  subject?: string;
  icon: IconName;
  /** A local path: a page or a question, or where `fields` are sent. */
  href: string;
  opens_dialog?: boolean;
  /** Of a form: only these change something. */
  fields?: Readonly<Record<string, string>>;
}

/** The commands about every word of `terms`; all of them without any. */
export function commandsAbout(commands: readonly Command[], terms: readonly string[]): readonly Command[] {
  return commands.filter(({ title, subject = "" }) => {
    const text = `${title} ${subject}`.toLowerCase();
    return terms.every((term) => text.includes(term.toLowerCase()));
  });
}

/** What an executor's state calls for, then everything else that is about it. */
export function executorCommands(ctx: PageContext, executor: ExecutorView, snapshotId: string | null): Command[] {
  const t = texts(ctx);
  const { id, name: subject } = executor;
  return [
    ...askedBy(ctx, executor, snapshotId).map(({ word, href, icon }) => ({
      ...{ title: word, subject, href, icon, opens_dialog: true },
    })),
    ...(executor.is_enabled
      ? []
      : [
          {
            ...{ title: t.executors.acts.enable, subject, icon: "play" as const },
            ...{ href: `/executors/${id}/enable`, fields: { next: ctx.path } },
          },
        ]),
    ...offersFor(executor).map(({ name, icon, fields }) => ({
      ...{ title: t.executors.acts.names[name], subject, icon, href: actionsPath(id) },
      fields: { ...fields, next: ctx.path },
    })),
    { title: t.logs.title, subject, icon: "scroll-text", href: `/executors/${id}/logs` },
    { title: t.overview.search.edit_executor, subject, icon: "pencil", href: `/executors/${id}/edit` },
  ];
}

export function trackerCommands(ctx: PageContext, subject: string): Command[] {
  const t = texts(ctx);
  const path = trackerPath(subject);
  return [
    { title: t.trackers.check_now, subject, icon: "refresh-cw", href: `${path}/checks`, fields: { next: path } },
    { title: t.notes.compare, subject, icon: "list-filter", href: `${path}/compare` },
    { title: t.overview.search.edit_tracker, subject, icon: "pencil", href: `${path}/edit` },
  ];
}

const themes = [
  ["system", "monitor"],
  ["light", "sun"],
  ["dark", "moon"],
] as const satisfies readonly (readonly [Theme, IconName])[];

/** What is about no single thing: adding, checking, switching, signing out. */
export function generalCommands(ctx: PageContext, connections: readonly ConnectionView[]): Command[] {
  const t = texts(ctx);
  const words = t.overview.search;
  const prefer = { href: "/preferences", icon: "languages" as const };
  return [
    { title: t.trackers.add, icon: "plus", href: "/trackers/new" },
    { title: t.executors.add, icon: "plus", href: "/executors/new" },
    { title: t.connections.add, icon: "plus", href: "/connections/new" },
    { title: t.credentials.add, icon: "plus", href: "/credentials/new" },
    { title: t.notifiers.add, icon: "plus", href: "/notifiers/new" },
    ...connections.map(({ id, name }) => ({
      ...{ title: t.adoption.open, subject: name, icon: "plus" as const, href: adoptPath(id) },
    })),
    { title: t.bulk.update_safe, icon: "play", href: `${bulkPath}?safe=1` },
    { title: words.check_all, icon: "refresh-cw", href: "/trackers/checks", fields: { next: "/trackers" } },
    ctx.language === "zh"
      ? { ...prefer, title: words.use_english, fields: { language: "en", next: ctx.path } }
      : { ...prefer, title: words.use_chinese, fields: { language: "zh", next: ctx.path } },
    ...themes.flatMap(([theme, icon]) =>
      theme === ctx.theme
        ? []
        : [{ title: words.use_theme[theme], icon, href: "/preferences", fields: { theme, next: ctx.path } }],
    ),
    { title: t.common.sign_out, icon: "log-out", href: "/logout", fields: {} },
  ];
}

/** Every page that needs nothing to be chosen. */
export function pageCommands(ctx: PageContext): Command[] {
  const t = texts(ctx);
  const pages: readonly (readonly [title: string, href: string, icon: IconName])[] = [
    [t.common.overview, "/", "house"],
    [t.common.trackers, "/trackers", "tag"],
    [t.imports.title, "/trackers/import", "tag"],
    [t.upstreams.title, "/upstreams", "activity"],
    [t.common.executors, "/executors", "rocket"],
    [t.common.runs, "/runs", "list-checks"],
    [t.common.connections, "/connections", "plug"],
    [t.common.credentials, "/credentials", "key-round"],
    [t.common.notifiers, "/notifiers", "send"],
    [t.common.settings, "/settings", "settings"],
    [t.oidc.title, "/settings/sign-in-provider", "user"],
    [t.keys.title, "/settings/keys", "lock"],
    [t.backups.title, "/settings/backups", "box"],
    [t.settings.audit, "/settings/audit", "file-clock"],
    [t.common.user_settings, "/account", "user"],
    [t.auth.sessions, "/account/sessions", "monitor"],
    [t.common.change_password, "/account/password", "lock"],
  ];
  return pages.map(([place, href, icon]) => ({ title: t.common.go_to(place), href, icon }));
}
