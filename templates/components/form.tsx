import type { Child } from "hono/jsx";
import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import { formatList } from "../format.ts";
import { type PageContext, url } from "../page.ts";
import { fieldWords } from "../texts/fields.ts";
import { translateMessage, translatePart } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { Button, Csrf } from "./button.tsx";
import { withCode } from "./code.tsx";
import { Control, FieldError, FieldFrame, fieldId, Help } from "./field.tsx";
import { Icon } from "./icon.tsx";

/**
 * A form drawn from the descriptions of `src/forms/fields.ts`. The same form is the page, the response at 422 with `values` and `errors`,
 * and the response to its own small requests, named by the field `_action`: `redraw` (another type was chosen), `add:<path>`,
 * `remove:<path>.<n>` (see `applyFormAction` in `src/forms/decode.ts`); otherwise the form is saved. All of them work as a plain POST; with
 * htmx the response is merged into the form, so typed secrets stay. A successful response to an htmx request must be `HX-Redirect`: a 303
 * would be followed inside the form.
 */
export interface FormProps {
  ctx: PageContext;
  id: string;
  /** Prefix of the field texts: `trackers`. */
  area: string;
  /** The local path of the POST. */
  action: string;
  fields: readonly FieldDescription[];
  values: unknown;
  errors?: FieldErrors | undefined;
  /** The verb: "Add tracker". */
  submit: string;
  cancel_href: string;
  /** An edit shows immutable fields without asking for them. */
  is_edit?: boolean | undefined;
  /** Paths whose values are stored and not shown: a blank one keeps its value. */
  stored?: readonly string[] | undefined;
  /** Attributes for single controls, by path: `hx-get` for a live preview. */
  attributes?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
  /** Content below single fields, by path: a preview, "try it now". */
  below?: Readonly<Record<string, Child>> | undefined;
  /**
   * Choices beyond the schema: credentials, connections, targets. By path without positions for every entry of a list, by path with its
   * position for one entry whose choices depend on its other fields.
   */
  choices?: Readonly<Record<string, readonly { value: string; title: string }[]>> | undefined;
  /** The main button is then one of `more_actions`, which come first. */
  is_submit_minor?: boolean | undefined;
  /** Groups and lists with good defaults, by path without positions: each is folded, with its values in the summary line. */
  folded?: readonly string[] | undefined;
  /** Replaces single fields, by path: a list to pick from where a select is too small. */
  replaced?: Readonly<Record<string, Child>> | undefined;
  /** More buttons beside the first: "Save and run now" with its own `_action`. */
  more_actions?: Child;
  /** After the fields, before the buttons. */
  children?: Child;
  /** Shown next to the fields where there is room, such as the effect of the values. */
  beside?: Child;
}

export function Form(props: FormProps) {
  const { ctx, id } = props;
  const address = url(ctx, props.action);
  const hasErrors = Object.keys(props.errors ?? {}).length > 0;
  return (
    <form
      class="form"
      id={id}
      method="post"
      action={address}
      enctype={hasUpload(props.fields) ? "multipart/form-data" : undefined}
      novalidate
      hx-post={address}
      hx-target="this"
      hx-select={`#${id}`}
      hx-swap="outerMorph"
    >
      <Csrf ctx={ctx} />
      <Seen values={props.values} />
      {/* Enter presses the first button of a form: it must be this one, not "remove" of a list. */}
      <button type="submit" class="hidden" name="_action" value="save" tabindex={-1}>
        {props.submit}
      </button>
      {hasErrors ? <ErrorSummary {...props} /> : null}
      {props.beside === undefined ? (
        <Body {...props} />
      ) : (
        <div class="with-preview">
          <div class="form-body">
            <Body {...props} />
          </div>
          <aside class="preview">{props.beside}</aside>
        </div>
      )}
    </form>
  );
}

/** What the stored values were when the form was opened; see `withMark`. */
function Seen({ values }: Pick<FormProps, "values">) {
  const seen = valueAt(values, "_seen");
  return typeof seen === "string" ? <input type="hidden" name="_seen" value={seen} autocomplete="off" /> : null;
}

function Body(props: FormProps) {
  const { ctx } = props;
  return (
    <>
      <Fields {...props} />
      {props.children}
      <div class="form-actions">
        {props.is_submit_minor === true ? props.more_actions : null}
        <Button type="submit" kind={props.is_submit_minor === true ? undefined : "main"} name="_action" value="save">
          {props.submit}
        </Button>
        {props.is_submit_minor === true ? null : props.more_actions}
        <a class="btn bare" href={url(ctx, props.cancel_href)}>
          {texts(ctx).common.cancel}
        </a>
      </div>
    </>
  );
}

function hasUpload(fields: readonly FieldDescription[]): boolean {
  return fields.some((field) => field.takes_file || hasUpload([...field.children, ...field.entries.flat()]));
}

const plainOf = (fields: readonly FieldDescription[]) => fields.filter((field) => !field.is_advanced);
const advancedOf = (fields: readonly FieldDescription[]) => fields.filter((field) => field.is_advanced);

/** The plain fields in order, then the advanced ones, folded. */
function Fields(props: FormProps) {
  const advanced = advancedOf(props.fields);
  return (
    <>
      {plainOf(props.fields).map((field) => (
        <Field {...props} field={field} />
      ))}
      {advanced.length === 0 ? null : <Advanced {...props} fields={advanced} />}
    </>
  );
}

function Field(props: FormProps & { field: FieldDescription }) {
  const { field } = props;
  const instead = props.replaced?.[field.path];
  if (instead !== undefined) return <>{instead}</>;
  const general = field.path.replaceAll(/\.\d+(?=\.|$)/g, "");
  if (field.kind === "group" || field.kind === "list") {
    if (props.folded?.includes(general)) return <Folded {...props} />;
    return field.kind === "group" ? <Group {...props} /> : <List {...props} />;
  }
  const words = fieldWords(props.ctx.language, props.area, field);
  const choices = props.choices?.[field.path] ?? props.choices?.[general] ?? words.options;
  return (
    <FieldFrame
      ctx={props.ctx}
      field={field}
      words={words}
      error={props.errors?.[field.path]}
      below={props.below?.[field.path]}
    >
      <Control
        ctx={props.ctx}
        field={field}
        words={words}
        options={choices}
        value={valueAt(props.values, field.path) ?? field.default_value}
        error={props.errors?.[field.path]}
        is_fixed={props.is_edit === true && field.is_immutable}
        is_stored={props.stored?.includes(field.path) === true}
        attributes={{ ...(field.is_discriminant ? redraws(props) : {}), ...props.attributes?.[field.path] }}
      />
    </FieldFrame>
  );
}

/** For a field that others depend on: the server redraws the form with everything entered. */
export function redraws({
  ctx,
  id,
  action,
}: Pick<FormProps, "ctx" | "id" | "action">): Readonly<Record<string, string>> {
  return {
    "hx-post": url(ctx, action),
    "hx-trigger": "change",
    "hx-target": `#${id}`,
    "hx-select": `#${id}`,
    "hx-swap": "outerMorph",
    "hx-vals": '{"_action":"redraw"}',
    // A response to an older choice must not overwrite a newer one.
    "hx-sync": `#${id}:replace`,
  };
}

function Group(props: FormProps & { field: FieldDescription }) {
  const { ctx, field } = props;
  const words = fieldWords(ctx.language, props.area, field);
  return (
    <fieldset class="group" id={fieldId(field.path)}>
      <legend>{words.title}</legend>
      <Help text={words.description} id={`${fieldId(field.path)}-help`} />
      <FieldError ctx={ctx} id={`${fieldId(field.path)}-error`} message={props.errors?.[field.path]} />
      <Fields {...props} fields={field.children} />
    </fieldset>
  );
}

function List(props: FormProps & { field: FieldDescription }) {
  const { field } = props;
  return (
    <fieldset class="group" id={fieldId(field.path)}>
      <legend>{fieldWords(props.ctx.language, props.area, field).title}</legend>
      <Entries {...props} />
    </fieldset>
  );
}

function Entries(props: FormProps & { field: FieldDescription }) {
  const { ctx, field } = props;
  const t = texts(ctx).common.form;
  const words = fieldWords(ctx.language, props.area, field);
  const error = props.errors?.[field.path];
  const isRemovable = field.entries.length > (field.min ?? 0);
  return (
    <>
      <Help text={words.description} id={`${fieldId(field.path)}-help`} />
      <FieldError ctx={ctx} id={`${fieldId(field.path)}-error`} message={error} />
      <div class="list">
        {field.entries.map((entry, index) => (
          <fieldset class="list-item">
            <legend>
              <span>{`${words.item} ${index + 1}`}</span>
              {isRemovable ? (
                <Button
                  type="submit"
                  kind="bare"
                  small
                  icon="trash"
                  name="_action"
                  value={`remove:${field.path}.${index}`}
                  label={t.remove_item(`${words.item} ${index + 1}`)}
                />
              ) : null}
            </legend>
            <Fields {...props} fields={entry} />
          </fieldset>
        ))}
      </div>
      <div>
        <Button type="submit" small icon="plus" name="_action" value={`add:${field.path}`}>
          {t.add_item(words.item)}
        </Button>
      </div>
    </>
  );
}

function Advanced(props: FormProps) {
  return (
    <Fold {...props} title={texts(props.ctx).common.form.advanced}>
      {props.fields.map((field) => (
        <Field {...props} field={field} />
      ))}
    </Fold>
  );
}

/** A group or list with good defaults. */
function Folded(props: FormProps & { field: FieldDescription }) {
  const { ctx, area, field } = props;
  const words = fieldWords(ctx.language, area, field);
  const fold = { title: words.title, place: fieldId(field.path) };
  if (field.kind === "list") {
    return (
      <Fold {...props} {...fold} fields={[field]}>
        <Entries {...props} />
      </Fold>
    );
  }
  return (
    <Fold {...props} {...fold} fields={field.children}>
      <Help text={words.description} id={`${fieldId(field.path)}-help`} />
      <Fields {...props} fields={field.children} />
    </Fold>
  );
}

interface FoldProps extends FormProps {
  title: string;
  /** The id that errors link to. */
  place?: string;
}

/** Closed, with the present values of its fields in the summary line; open when an error is inside. */
function Fold(props: FoldProps) {
  const { fields, errors } = props;
  const isOpen = Object.keys(errors ?? {}).some((path) => isWithin(fields, path));
  // A group's own fold of advanced fields speaks for itself.
  const plain = fields.filter((field) => !field.is_advanced);
  const summarized = plain.length === 0 ? fields : plain;
  const summaries = summarized.map((field) => summaryOf(props, field, valueAt(props.values, field.path)));
  return (
    <details class="advanced" id={props.place} open={isOpen}>
      <summary>
        <Icon name="chevron-right" />
        <b>{props.title}</b>
        <span>{summaries.map((each, index) => (index === 0 ? each : <> · {each}</>))}</span>
      </summary>
      <div class="advanced-fields">{props.children}</div>
    </details>
  );
}

function isWithin(fields: readonly FieldDescription[], path: string): boolean {
  return fields.some(
    (field) => path === field.path || path.startsWith(`${field.path}.`) || isWithin(field.children, path),
  );
}

/** Its title, with its value if it has one. */
function summaryOf(props: FormProps, field: FieldDescription, value: unknown): Child {
  const { title } = fieldWords(props.ctx.language, props.area, field);
  if (field.is_secret || field.kind === "group") return title;
  if (field.kind === "list") {
    const entries = field.entries.map((entry) => {
      const values = entry.map((each) =>
        isPlain(each) ? valueWords(props, each, valueAt(props.values, each.path)) : "",
      );
      return values.filter((each) => each !== "").join(" ");
    });
    return entries.filter((entry) => entry !== "").join(" · ") || `${title} ${entries.length}`;
  }
  const present = valueWords(props, field, value);
  return present === "" ? (
    title
  ) : (
    <>
      {title} <b>{present}</b>
    </>
  );
}

function isPlain({ kind, is_secret, is_advanced }: FieldDescription): boolean {
  return kind !== "group" && kind !== "list" && !is_secret && !is_advanced;
}

function valueWords({ ctx, area }: FormProps, field: FieldDescription, value: unknown): string {
  const t = texts(ctx).common;
  const { options } = fieldWords(ctx.language, area, field);
  const present = value ?? field.default_value ?? "";
  const title = (option: unknown) => options.find(({ value: key }) => key === option)?.title ?? String(option);
  if (typeof present === "boolean") return present ? t.on : t.off;
  if (!Array.isArray(present)) return title(present);
  return present.length === 0 ? t.none : formatList(ctx.language, present.map(title));
}

/** Above the form at 422: how many fields, with links to them; `app.js` moves the focus here. */
function ErrorSummary({ ctx, errors, fields, area }: FormProps) {
  const t = texts(ctx).common.form;
  const shown = inOrder(fields);
  const placeOf = (path: string) => shown.findIndex((field) => field.path === path);
  const entries = Object.entries(errors ?? {}).toSorted(([a], [b]) => placeOf(a) - placeOf(b));
  const count = entries.filter(([path]) => placeOf(path) >= 0).length;
  return (
    <div class="error-summary" role="alert" tabindex={-1} data-errors>
      <h2>
        <Icon name="triangle-alert" />
        {count === 0 ? t.not_saved : t.error_count(count)}
      </h2>
      <p>{t.nothing_saved}</p>
      <ul>
        {entries.map(([path, message]) => {
          const field = shown[placeOf(path)];
          return (
            <li>
              {field === undefined ? (
                withCode(translateMessage(ctx.language, message))
              ) : (
                <a href={`#${fieldId(path)}`}>
                  {withCode(
                    t.of_field(fieldWords(ctx.language, area, field).title, translatePart(ctx.language, message)),
                  )}
                </a>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** Each field with those inside it, as they follow each other in the form. */
function inOrder(fields: readonly FieldDescription[]): readonly FieldDescription[] {
  return [...plainOf(fields), ...advancedOf(fields)].flatMap((field) => [
    field,
    ...(field.kind === "list" ? field.entries.flatMap(inOrder) : inOrder(field.children)),
  ]);
}

/** The value at a dotted path of nested objects and arrays; undefined when there is none. */
export function valueAt(values: unknown, path: string): unknown {
  let node = values;
  for (const part of path.split(".")) {
    if (typeof node !== "object" || node === null) return undefined;
    node = Object.getOwnPropertyDescriptor(node, part)?.value;
  }
  return node;
}
