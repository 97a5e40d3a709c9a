import type { Child } from "hono/jsx";
import { classes, type Notice, type PageContext, type Tone, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { ActionForm } from "./button.tsx";
import { withCode } from "./code.tsx";
import { Icon } from "./icon.tsx";
import { toneIcons } from "./state.tsx";

/** A quiet notice only informs: it waits for nothing, unlike a quiet state. */
const noticeIcons = { ...toneIcons, quiet: "info" } as const;

interface BannerProps {
  tone: Tone;
  /** The situation, in one sentence. */
  title?: Child;
  /** What it means and what to do next. */
  children?: Child;
  action?: Child;
  id?: string | undefined;
}

/** What to know before reading on: a failure, a warning, a wrong setting. At most one or two per page. */
export function Banner({ tone, title, children, action, id }: BannerProps) {
  return (
    <div class={classes("banner", tone)} id={id} role={tone === "failed" ? "alert" : undefined}>
      <div class="banner-words">
        <Icon name={noticeIcons[tone]} />
        <div>
          {title === undefined ? null : <p class="banner-title">{title}</p>}
          {children === undefined ? null : <div class="banner-text">{withCode(children)}</div>}
        </div>
      </div>
      {action === undefined ? null : <div class="banner-action">{action}</div>}
    </div>
  );
}

interface DisabledBannerProps {
  ctx: PageContext;
  /** The thing's path; a POST to its `enable` ends this. */
  path: string;
  texts: { disabled_title: string; disabled_text: string; enable: string };
}

export function DisabledBanner({ ctx, path, texts: t }: DisabledBannerProps) {
  const enable = (
    <ActionForm ctx={ctx} action={`${path}/enable`} kind="main">
      {t.enable}
    </ActionForm>
  );
  return (
    <Banner tone="quiet" title={t.disabled_title} action={enable}>
      {t.disabled_text}
    </Banner>
  );
}

/** The result of an action, with a link; disappears by itself unless the action failed. */
export function Toast({ ctx, notice }: { ctx: PageContext; notice: Notice }) {
  const t = texts(ctx).common;
  return (
    <div class={classes("toast", notice.tone)} data-toast={notice.tone === "failed" ? "stays" : "goes"}>
      <Icon name={noticeIcons[notice.tone]} />
      <div>
        <p>
          {withCode(notice.text)} {notice.href === undefined ? null : <a href={url(ctx, notice.href)}>{t.show}</a>}
        </p>
        {notice.undo === undefined ? null : (
          <ActionForm
            ctx={ctx}
            action={notice.undo.path}
            fields={{ ...notice.undo.fields, next: ctx.path }}
            icon="undo-2"
            small
          >
            {t.undo}
          </ActionForm>
        )}
      </div>
      <button type="button" class="btn bare square small" data-dismiss aria-label={t.dismiss} title={t.dismiss}>
        <Icon name="x" />
      </button>
    </div>
  );
}

/** Accompanies a fragment for htmx: adds the toast to the page's region, wherever the fragment goes. */
export function ToastPartial({ ctx, notice }: { ctx: PageContext; notice: Notice }) {
  return (
    <Partial target="#toasts" swap="beforeend">
      <Toast ctx={ctx} notice={notice} />
    </Partial>
  );
}

/** Another part of the page to update with the same response or event: htmx puts the children into `target`. */
export function Partial({ target, swap, children }: { target: string; swap?: string | undefined; children: Child }) {
  return (
    <hx-partial hx-target={target} hx-swap={swap ?? "outerMorph"}>
      {children}
    </hx-partial>
  );
}
