import type { Child } from "hono/jsx";
import { type Message, say } from "../../src/messages/message.ts";
import { Layout, type Section } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { Button, Csrf, LinkButton } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { ParentLink } from "./page-header.tsx";

interface AskedProps {
  ctx: PageContext;
  /** The window's title when the question is a page of its own. */
  title: string;
  section?: Section | undefined;
  /** Where it was asked; its way back when it is a page of its own. */
  back: string;
  children?: Child;
}

/** A question: alone for htmx, in the dialog that `app.js` opens; otherwise as a page of its own. */
export function Asked({ ctx, title, section, back, children }: AskedProps) {
  if (ctx.is_fragment === true) return <>{children}</>;
  return (
    <Layout ctx={ctx} title={title} section={section}>
      <ParentLink ctx={ctx} href={back} title={texts(ctx).common.back} />
      {children}
    </Layout>
  );
}

/** The subject of a question, and why the last answer was refused. */
export type QuestionProps<Shown> = Shown & { ctx: PageContext; error?: Message | undefined };

interface ConfirmProps {
  ctx: PageContext;
  section?: Section | undefined;
  /** The question: "Delete the tracker traefik?" */
  title: string;
  /** The facts: the effect, who uses it, the plan's diff. */
  children: Child;
  /** The verb on the button: "Delete tracker". */
  verb: string;
  /** The window's title as a page; the verb when left out. */
  page_title?: string | undefined;
  kind?: "main" | "danger" | undefined;
  /** The local path of the POST. */
  action: string;
  fields?: Readonly<Record<string, string>> | undefined;
  /** Where "Cancel" leads as a page; in a dialog it closes. */
  cancel_href: string;
  /** Must be typed, as `confirm_name`: only for irreversible actions. */
  type_name?: string | undefined;
  /** Why the last answer was refused. */
  error?: Message | undefined;
}

/** The question before a risky action, opened by `<LinkButton opens_dialog>`. */
export function Confirm(props: ConfirmProps) {
  const { ctx } = props;
  const t = texts(ctx).common;
  return (
    <Asked ctx={ctx} title={props.page_title ?? props.verb} section={props.section} back={props.cancel_href}>
      <form class="confirm" method="post" action={url(ctx, props.action)}>
        <Csrf ctx={ctx} />
        {Object.entries(props.fields ?? {}).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        {/* The heading of the page or dialog. */}
        <h1 id="dialog-title" tabindex={-1}>
          {props.title}
        </h1>
        <Refusal ctx={ctx} error={props.error} />
        <div class="confirm-facts">{props.children}</div>
        {props.type_name === undefined ? null : (
          <div class="field">
            <label for="confirm_name">
              {translateMessage(ctx.language, say("request.type_to_confirm", { name: props.type_name }))}
            </label>
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
    </Asked>
  );
}

/** Why the last answer was refused; `app.js` moves the focus here. */
function Refusal({ ctx, error }: Pick<ConfirmProps, "ctx" | "error">) {
  if (error === undefined) return null;
  return (
    <p class="field-error" role="alert" tabindex={-1} data-errors>
      <Icon name="triangle-alert" />
      {translateMessage(ctx.language, error)}
    </p>
  );
}

interface NothingAskedProps extends AskedProps, Pick<ConfirmProps, "error"> {
  /** Why there is nothing to decide. */
  heading: string;
}

/** Replaces a question that cannot be asked: the facts, and the way back. */
export function NothingAsked({ ctx, title, section, heading, back, error, children }: NothingAskedProps) {
  const isSaid = error !== undefined && translateMessage(ctx.language, error) === heading;
  return (
    <Asked ctx={ctx} title={title} section={section} back={back}>
      <div class="confirm">
        <h1 id="dialog-title" tabindex={-1} data-errors={isSaid ? "" : undefined}>
          {heading}
        </h1>
        {isSaid ? null : <Refusal ctx={ctx} error={error} />}
        {children}
        <div class="confirm-actions">
          <LinkButton ctx={ctx} href={back} attributes={{ "data-close": "" }}>
            {texts(ctx).common.close}
          </LinkButton>
        </div>
      </div>
    </Asked>
  );
}

interface DeleteQuestionProps extends Pick<ConfirmProps, "ctx" | "section" | "children" | "type_name" | "error"> {
  texts: { delete: string };
  name: string;
  /** The page of what is deleted. */
  path: string;
  /** Where "Cancel" leads when it is not that page. */
  cancel_href?: string;
}

/** The question before something is permanently deleted. */
export function DeleteQuestion({ texts: t, name, path, ...props }: DeleteQuestionProps) {
  const title = texts(props.ctx).common.delete_title(name);
  return <Confirm cancel_href={path} {...props} title={title} verb={t.delete} action={`${path}/delete`} />;
}

interface DeleteUnusedProps extends Omit<DeleteQuestionProps, "children"> {
  texts: { delete: string; delete_text: string; in_use_text: string };
  /** While there are any, it cannot be deleted. */
  users: readonly Child[];
}

/** The question before something is deleted that others use; while they do, there is nothing to ask. */
export function DeleteUnused({ users, ...props }: DeleteUnusedProps) {
  const { ctx, section, texts: t, name, path, cancel_href = path, error } = props;
  if (users.length === 0) {
    return (
      <DeleteQuestion {...props}>
        <p>{t.delete_text}</p>
      </DeleteQuestion>
    );
  }
  const heading = texts(ctx).common.not_deletable(name);
  return (
    <NothingAsked ctx={ctx} title={t.delete} section={section} heading={heading} back={cancel_href} error={error}>
      <p>{t.in_use_text}</p>
      <ul>
        {users.map((user) => (
          <li>{user}</li>
        ))}
      </ul>
    </NothingAsked>
  );
}
