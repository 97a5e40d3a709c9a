import type { Child } from "hono/jsx";
import type { Said } from "../../src/messages/message.ts";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Button, Csrf } from "./button.tsx";
import { Icon } from "./icon.tsx";

interface ConfirmProps {
  ctx: PageContext;
  /** The question: "Delete the tracker traefik?" */
  title: string;
  /** The facts: what it will do, who uses it, the plan's diff. */
  children: Child;
  /** The verb on the button: "Delete tracker". */
  verb: string;
  kind?: "main" | "danger" | undefined;
  /** A path of ours that takes the POST. */
  action: string;
  fields?: Readonly<Record<string, string>> | undefined;
  /** Where "Cancel" leads as a page; in a dialog it closes. */
  cancel_href: string;
  /** Must be typed, as `confirm_name`: only for what cannot be undone. */
  type_name?: string | undefined;
  /** Why it was refused a moment ago. */
  error?: Said | undefined;
}

/**
 * The question before a risky action. The route answers `GET /trackers/x/delete` with this alone for htmx (then `app.js`
 * shows it in the page's dialog, opened by `<LinkButton opens_dialog>`), and inside `Layout` as a page otherwise.
 */
export function Confirm(props: ConfirmProps) {
  const { ctx } = props;
  const t = texts(ctx).common;
  return (
    <form class="confirm" method="post" action={url(ctx, props.action)}>
      <Csrf ctx={ctx} />
      {Object.entries(props.fields ?? {}).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {/* Of a page of its own, and of a dialog beside which nothing else can be read. */}
      <h1 id="dialog-title" tabindex={-1}>
        {props.title}
      </h1>
      {props.error === undefined ? null : (
        <p class="field-error" role="alert">
          <Icon name="triangle-alert" />
          {props.error}
        </p>
      )}
      <div class="confirm-facts">{props.children}</div>
      {props.type_name === undefined ? null : (
        <div class="field">
          <label for="confirm_name">{t.form.type_to_confirm(props.type_name)}</label>
          <input
            id="confirm_name"
            name="confirm_name"
            required
            autocomplete="off"
            pattern={props.type_name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}
          />
        </div>
      )}
      <div class="confirm-actions">
        <a class="btn bare" href={url(ctx, props.cancel_href)} data-close>
          {t.cancel}
        </a>
        <Button type="submit" kind={props.kind ?? "danger"}>
          {props.verb}
        </Button>
      </div>
    </form>
  );
}

/** A dialog whose content is in the page already; opened by an element with `data-dialog="<id>"`. */
export function Dialog({ id, title, ctx, children }: { id: string; title: string; ctx: PageContext; children: Child }) {
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
