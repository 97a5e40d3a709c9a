import type { Child } from "hono/jsx";
import { classes, type PageContext, url } from "../page.ts";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.ts";

/**
 * `main`: the page's main action; `plain`: the others; `bare`: quiet, in rows; `danger`: destroys; `entry`: in a menu. A label is a verb
 * ("Update now", "Delete tracker"), never "OK".
 */
type ButtonKind = "main" | "plain" | "bare" | "danger" | "entry";

interface Look {
  children?: Child;
  kind?: ButtonKind | undefined;
  icon?: IconName | undefined;
  /** For icons alone: the label for assistive technology and the pointer. */
  label?: string | undefined;
  small?: boolean | undefined;
  /** An entry only where there is no room for its button beside the menu. */
  is_narrow?: boolean | undefined;
}

/** Further attributes, such as `hx-get`; never `style` or `on…`, which the CSP refuses. */
type Attributes = Readonly<Record<`hx-${string}` | `data-${string}` | `aria-${string}`, string>>;

function look({ kind = "plain", label, small, is_narrow, children }: Look): string {
  if (kind === "entry") return classes("menu-item", is_narrow === true && "narrow-only");
  return classes(
    "btn",
    kind !== "plain" && kind,
    small === true && "small",
    label !== undefined && !children && "square",
  );
}

interface ButtonProps extends Look {
  type?: "submit" | "button" | undefined;
  name?: string | undefined;
  value?: string | undefined;
  /** Id of the form to submit, for a button outside of it. */
  form?: string | undefined;
  /** Where this button sends its form instead, with the base path. */
  formaction?: string | undefined;
  attributes?: Attributes | undefined;
  /** Submits the form although fields are empty: adding a list item, leaving. */
  skips_validation?: boolean | undefined;
}

/** Busy while its request runs (set by `app.js`), so it cannot be pressed twice. */
export function Button(props: ButtonProps) {
  return (
    <button
      class={look(props)}
      type={props.type ?? "button"}
      name={props.name}
      value={props.value}
      form={props.form}
      formaction={props.formaction}
      formnovalidate={props.skips_validation}
      aria-label={props.label}
      title={props.label}
      {...props.attributes}
    >
      {props.icon === undefined ? null : <Icon name={props.icon} />}
      {props.children === undefined ? null : <span>{props.children}</span>}
    </button>
  );
}

interface LinkButtonProps extends Look {
  ctx: PageContext;
  /** A local path: `/trackers/new`. */
  href: string;
  /** Opens the response in the page's dialog; without script the link leads to the same question as a page. */
  opens_dialog?: boolean | undefined;
  attributes?: Attributes | undefined;
}

export function LinkButton(props: LinkButtonProps) {
  const address = url(props.ctx, props.href);
  const dialog =
    props.opens_dialog === true ? { "hx-get": address, "hx-target": "#dialog", "hx-swap": "innerHTML" } : {};
  return (
    <a
      class={look(props)}
      href={address}
      aria-label={props.label}
      title={props.label}
      {...dialog}
      {...props.attributes}
    >
      {props.icon === undefined ? null : <Icon name={props.icon} />}
      {props.children === undefined ? null : <span>{props.children}</span>}
    </a>
  );
}

interface ActionFormProps extends ButtonProps {
  ctx: PageContext;
  /** A local path; the request is a POST with the form token. */
  action: string;
  fields?: Readonly<Record<string, string>> | undefined;
  /** Where htmx puts the response; without it the form is sent as a plain page and the server redirects. */
  target?: string | undefined;
}

/** A button with an immediate, harmless action: "Check now", "Send test". Risky actions use `Confirm`. */
export function ActionForm({ ctx, action, fields, target, ...button }: ActionFormProps) {
  const address = url(ctx, action);
  const htmx = target === undefined ? {} : { "hx-post": address, "hx-target": target, "hx-swap": "outerMorph" };
  return (
    <form class={button.kind === "entry" ? undefined : "action"} method="post" action={address} {...htmx}>
      <Csrf ctx={ctx} />
      {Object.entries(fields ?? {}).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Button {...button} type="submit" />
    </form>
  );
}

const sharedForm = "shared-form";

/** What the `SharedButton`s of a page send: one form for all of them, because forms in each row make a long list heavy. */
export function SharedForm({ ctx, target }: Pick<ActionFormProps, "ctx" | "target">) {
  const htmx = { "hx-post": "", "hx-target": target, "hx-swap": "outerMorph", "hx-sync": "queue all" };
  return (
    <form id={sharedForm} method="post" hidden data-shared {...(target === undefined ? {} : htmx)}>
      <Csrf ctx={ctx} />
      <input type="hidden" name="next" value={ctx.path} />
    </form>
  );
}

interface SharedButtonProps extends Look, Pick<ButtonProps, "name" | "value"> {
  ctx: PageContext;
  /** A local path; receives the path of the page as `next`. */
  action: string;
}

/** A button or a menu's entry, in a row or alone, with an immediate, harmless action. */
export function SharedButton({ ctx, action, ...button }: SharedButtonProps) {
  return <Button {...button} type="submit" form={sharedForm} formaction={url(ctx, action)} />;
}

/** The form token; every form has it. */
export function Csrf({ ctx }: { ctx: PageContext }) {
  return <input type="hidden" name="csrf_token" value={ctx.csrf_token} />;
}
