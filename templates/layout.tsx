import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import { AccountMenu, Shortcuts } from "./components/account-menu.tsx";
import { Icon, Mark } from "./components/icon.tsx";
import type { IconName } from "./components/icons.ts";
import { Partial, Toast } from "./components/notice.tsx";
import { SignedOutLine, SignedOutPartial } from "./components/signed-out.tsx";
import { State } from "./components/state.tsx";
import { Time } from "./components/time.tsx";
import { durationUnits, formatNumber, formatRelative } from "./format.ts";
import { type PageContext, url } from "./page.ts";
import { Palette } from "./search/palette.tsx";
import { texts } from "./texts/texts.ts";

/**
 * How a page is built: one function per page in `templates/<area>/`, from props to `<Layout …>` around `PageHeader`, `Section`s and the
 * components of `components/`. The route renders it with `c.html(<TrackersPage ctx={ctx} … />)`, or only the fragment for an htmx request.
 * No page has its own style sheet, script, inline style or `on…` attribute.
 */
export interface LayoutProps {
  ctx: PageContext;
  /** Before " · Tidemark" in the window's title. */
  title: string;
  /** The marked navigation entry. */
  section?: Section | undefined;
  /** Loads the event stream extension: for pages with a `Live` part. */
  live?: boolean | undefined;
  /** Loads the script that follows logs. */
  logs?: boolean | undefined;
  children: Child;
}

export type Section = (typeof primary)[number]["key"] | (typeof secondary)[number]["key"];

interface Entry {
  key: string;
  path: string;
  icon: IconName;
  /** The letter after `g`. */
  shortcut: string;
}

const primary = [
  { key: "overview", path: "/", icon: "house", shortcut: "o" },
  { key: "trackers", path: "/trackers", icon: "tag", shortcut: "t" },
  { key: "executors", path: "/executors", icon: "rocket", shortcut: "e" },
  { key: "runs", path: "/runs", icon: "list-checks", shortcut: "r" },
] as const satisfies readonly Entry[];

const secondary = [
  { key: "connections", path: "/connections", icon: "plug", shortcut: "c" },
  { key: "credentials", path: "/credentials", icon: "key-round", shortcut: "k" },
  { key: "notifiers", path: "/notifiers", icon: "send", shortcut: "n" },
  { key: "settings", path: "/settings", icon: "settings", shortcut: "s" },
] as const satisfies readonly Entry[];

export function isSection(key: string): key is Section {
  return [...primary, ...secondary].some((entry) => entry.key === key);
}

/** A page of a signed-in administrator. */
export function Layout({ ctx, title, section, live, logs, children }: LayoutProps) {
  const t = texts(ctx).common;
  return (
    <Document ctx={ctx} title={title} live={live} logs={logs}>
      <body>
        <a class="skip" href="#content">
          {t.skip_to_content}
        </a>
        <div class="shell">
          <nav class="side" aria-label={t.navigation}>
            <a class="brand" href={url(ctx, "/")}>
              <Mark />
              {t.product}
            </a>
            <Entries ctx={ctx} entries={primary} section={section} id="sections" />
            <Entries ctx={ctx} entries={secondary} section={section} class="secondary" />
            <MoreEntries ctx={ctx} section={section} />
          </nav>
          <TopBar ctx={ctx} />
          <main id="content" tabindex={-1}>
            {children}
          </main>
        </div>
        <dialog id="dialog" aria-labelledby="dialog-title" />
        <Palette ctx={ctx} />
        <Shortcuts ctx={ctx} entries={[...primary, ...secondary]} />
        <Toasts ctx={ctx} />
        {/* The overview asks for all of itself. */}
        {ctx.user === null || section === "overview" ? null : <Follow ctx={ctx} section={section} />}
      </body>
    </Document>
  );
}

/** Asks what has changed, and with that whether the server responds: `app.js` adds the rows of the list, and asks while the page is seen. */
function Follow({ ctx, section }: { ctx: PageContext; section: Section | undefined }) {
  const asking = { hidden: true, "hx-get": url(ctx, "/changes", { section }), "hx-swap": "none" };
  return (
    <>
      <span id="follow" hx-trigger="every 20s" hx-include="#content [name=seen], #signed-out input" {...asking} />
      {/* A page that is seen again hears of all of its list: counts also change with rows on other pages. */}
      <span id="follow-back" hx-trigger="seen" hx-include="#signed-out input" {...asking} />
    </>
  );
}

interface ShellPartialsProps {
  ctx: PageContext;
  section: Section | undefined;
  /** The page was informed that its session has ended. */
  is_back?: boolean | undefined;
}

/**
 * Accompanies a fragment of a page that refreshes itself: the numbers of the navigation and the status line, and that there is a session
 * (see `renewForms`).
 */
export function ShellPartials({ ctx, section, is_back }: ShellPartialsProps) {
  return (
    <>
      <Partial target="#sections">
        <Entries ctx={ctx} entries={primary} section={section} id="sections" />
      </Partial>
      <Partial target="#status">
        <StatusLine ctx={ctx} />
      </Partial>
      <SignedOutPartial ctx={ctx} standing={is_back === true ? "back" : undefined} />
    </>
  );
}

/** A page before signing in, and errors: the mark, one column, no navigation. */
export function BareLayout({ ctx, title, children }: Pick<LayoutProps, "ctx" | "title" | "children">) {
  return (
    <Document ctx={ctx} title={title}>
      <body class="bare-page">
        <main id="content" tabindex={-1}>
          <Brand ctx={ctx} />
          {children}
        </main>
        <footer>
          <LanguageForm ctx={ctx} />
        </footer>
        <Toasts ctx={ctx} />
      </body>
    </Document>
  );
}

/**
 * Replaces a page that could not be loaded, without data of any session. It needs no other file than the styles, the icon and its script.
 */
export function StandInLayout({ ctx, title, children }: Pick<LayoutProps, "ctx" | "title" | "children">) {
  return (
    <Document ctx={ctx} title={title} is_stand_in>
      <body class="bare-page">
        <main id="content" tabindex={-1}>
          <Brand ctx={ctx} />
          {children}
        </main>
      </body>
    </Document>
  );
}

function Brand({ ctx }: { ctx: PageContext }) {
  return (
    <p class="brand">
      <Mark />
      {texts(ctx).common.product}
    </p>
  );
}

/**
 * htmx swaps 2xx and 422 responses in. Others bring at most `Partial`s, such as a toast with the reason, because an error page has no place
 * inside a row. We have the indicator styles: htmx would add a style sheet to the document.
 */
const htmxConfig = JSON.stringify({
  // No attribute of ours is written as `data-hx-`: looking for them takes time.
  prefix: "",
  includeIndicatorCSS: false,
  extensions: "sse",
  defaultTimeout: 30_000,
  // What the user opened stays open when it is redrawn, and what was sent stays busy until its own answer.
  morphIgnore: ["data-htmx-powered", "open", "data-busy", "aria-busy"],
  noSwap: [204, 304, 400, 401, 403, 404, 405, 409, 410, 413, 415, 428, 429, "5xx"],
});

/** `--ground` of the style sheet: what browsers colour their frame with. */
const themeColours = [
  { scheme: "light", colour: "#f7f8f7" },
  { scheme: "dark", colour: "#0f1213" },
] as const;

interface DocumentProps {
  ctx: PageContext;
  title: string;
  live?: boolean | undefined;
  logs?: boolean | undefined;
  is_stand_in?: boolean | undefined;
  children: Child;
}

function Document({ ctx, title, live, logs, is_stand_in, children }: DocumentProps) {
  const t = texts(ctx).common;
  const units = durationUnits[ctx.language];
  return (
    <>
      {raw("<!doctype html>")}
      <html
        lang={ctx.language === "zh" ? "zh-CN" : "en"}
        data-theme={ctx.theme === "system" ? undefined : ctx.theme}
        data-base={ctx.base_path}
        data-now={String(ctx.now)}
        data-just-now={formatRelative(ctx.language, ctx.now, ctx.now)}
        data-soon={formatRelative(ctx.language, ctx.now + 1, ctx.now)}
        data-units={`${units.hour} ${units.minute} ${units.second}`}
        data-refused={t.errors.request_failed}
        data-worker={ctx.away?.worker}
        data-kept={ctx.away?.kept.join(" ")}
      >
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          {/* Over plain http a form's `Origin` would be "null" under the header's "no-referrer", and the form refused. */}
          <meta name="referrer" content="same-origin" />
          <meta name="color-scheme" content={ctx.theme === "system" ? "light dark" : ctx.theme} />
          <title>{`${title} · ${t.product}`}</title>
          <script src={ctx.assets("transition.js")} />
          <link rel="stylesheet" href={ctx.assets("app.css")} />
          {themeColours.map(({ scheme, colour }) =>
            ctx.theme === "system" || ctx.theme === scheme ? (
              <meta
                name="theme-color"
                content={colour}
                media={ctx.theme === "system" ? `(prefers-color-scheme: ${scheme})` : undefined}
              />
            ) : null,
          )}
          <link rel="icon" href={ctx.assets("icon.svg")} type="image/svg+xml" />
          <script src={ctx.assets("away.js")} defer />
          {is_stand_in === true ? null : <PageLinks ctx={ctx} live={live} logs={logs} />}
        </head>
        {children}
      </html>
    </>
  );
}

function PageLinks({ ctx, live, logs }: Pick<LayoutProps, "ctx" | "live" | "logs">) {
  return (
    <>
      <link rel="manifest" href={url(ctx, "/manifest.webmanifest")} />
      <link rel="apple-touch-icon" href={ctx.assets("icon-180.png")} />
      <meta name="htmx-config" content={htmxConfig} />
      {/* A deferred htmx may process the page before its extension has loaded, and then never opens a stream. */}
      <script src={ctx.assets("htmx.js")} defer={live !== true} />
      {live === true ? <script src={ctx.assets("htmx-sse.js")} /> : null}
      <script src={ctx.assets("app.js")} defer />
      {ctx.user === null ? null : <script src={ctx.assets("palette.js")} defer />}
      {logs === true ? <script src={ctx.assets("logs.js")} defer /> : null}
    </>
  );
}

interface EntriesProps {
  ctx: PageContext;
  entries: readonly (Entry & { key: Section })[];
  section: Section | undefined;
  class?: string | undefined;
  id?: string | undefined;
}

function Entries({ ctx, entries, section, class: name, id }: EntriesProps) {
  return (
    <ul class={name} id={id}>
      {entries.map((entry) => (
        <EntryLink ctx={ctx} entry={entry} section={section} />
      ))}
    </ul>
  );
}

function EntryLink({
  ctx,
  entry,
  section,
}: {
  ctx: PageContext;
  entry: Entry & { key: Section };
  section: Section | undefined;
}) {
  const count = entry.key === "overview" ? ctx.counts?.overview : entry.key === "runs" ? ctx.counts?.runs : undefined;
  return (
    <li>
      <a href={url(ctx, entry.path)} aria-current={entry.key === section ? "page" : undefined} data-go={entry.shortcut}>
        <Icon name={entry.icon} />
        <span>{texts(ctx).common[entry.key]}</span>
        {count === undefined || count === 0 ? null : <span class="count">{formatNumber(ctx.language, count)}</span>}
      </a>
    </li>
  );
}

/** On a phone the second group is behind one entry of the bottom bar; `details` opens it without script. */
function MoreEntries({ ctx, section }: { ctx: PageContext; section: Section | undefined }) {
  const isHere = secondary.some((entry) => entry.key === section);
  return (
    <details class="more" data-menu>
      <summary data-here={isHere ? "true" : undefined}>
        <Icon name="ellipsis" />
        <span>{texts(ctx).common.more}</span>
      </summary>
      <ul>
        {secondary.map((entry) => (
          <li>
            <a href={url(ctx, entry.path)} aria-current={entry.key === section ? "page" : undefined}>
              <Icon name={entry.icon} />
              <span>{texts(ctx).common[entry.key]}</span>
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The search text, on the page that shows its results. */
function searched({ path }: PageContext): string | undefined {
  const [bare, query = ""] = path.split("?", 2);
  return bare === "/search" ? (new URLSearchParams(query).get("q") ?? undefined) : undefined;
}

function TopBar({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).common;
  return (
    <header class="top">
      <search>
        <form class="search" method="get" action={url(ctx, "/search")}>
          <Icon name="search" />
          <input
            id="search"
            type="search"
            name="q"
            value={searched(ctx)}
            maxlength={100}
            placeholder={t.search_placeholder}
            aria-label={t.search}
          />
          <span class="key" aria-hidden="true">
            /
          </span>
        </form>
      </search>
      <div class="top-end">
        <StatusLine ctx={ctx} />
        {ctx.user === null ? null : <AccountMenu ctx={ctx} user={ctx.user} />}
      </div>
    </header>
  );
}

function StatusLine({ ctx }: { ctx: PageContext }) {
  if (ctx.status === undefined) return <p class="status" id="status" />;
  const state = (
    <State ctx={ctx} tone={ctx.status.tone}>
      {ctx.status.text}
      {ctx.status.at === undefined ? null : (
        <>
          {" "}
          <Time ctx={ctx} at={ctx.status.at} />
        </>
      )}
    </State>
  );
  return (
    <p class="status" id="status">
      {ctx.status.href === undefined ? state : <a href={url(ctx, ctx.status.href)}>{state}</a>}
    </p>
  );
}

const languages = [
  { value: "en", lang: "en", title: "english" },
  { value: "zh", lang: "zh-CN", title: "chinese" },
] as const;

/** Switches the language and returns; a POST, because a GET changes nothing. */
function LanguageForm({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).common;
  return (
    <form class="languages" method="post" action={url(ctx, "/preferences")}>
      <input type="hidden" name="csrf_token" value={ctx.csrf_token} />
      <input type="hidden" name="next" value={ctx.path} />
      {languages.map(({ value, lang, title }) => (
        <button
          type="submit"
          name="language"
          value={value}
          lang={lang}
          aria-pressed={ctx.language === value ? "true" : "false"}
        >
          {t[title]}
        </button>
      ))}
    </form>
  );
}

function Toasts({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).common;
  return (
    <>
      <output id="toasts" class="toasts" aria-label={t.notifications}>
        {ctx.notices.map((notice) => (
          <Toast ctx={ctx} notice={notice} />
        ))}
      </output>
      {/* Filled while the server does not respond. */}
      <output
        id="away"
        class="away"
        data-lost={t.away.lost}
        data-unsure={t.away.unsure}
        data-responds={t.away.responds}
        data-reload={t.away.reload}
      />
      <SignedOutLine ctx={ctx} />
    </>
  );
}
