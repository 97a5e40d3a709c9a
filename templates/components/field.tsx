import type { Child } from "hono/jsx";
import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import type { Message } from "../../src/messages/message.ts";
import { classes, type PageContext } from "../page.ts";
import type { fieldWords } from "../texts/fields.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { withCode } from "./code.tsx";
import { Icon } from "./icon.tsx";
import { Revealed } from "./reveal.tsx";

type Words = ReturnType<typeof fieldWords>;

/** The id of a path's control, which errors link to. */
export function fieldId(path: string): string {
  return `f-${path.replaceAll(/[^\w-]/g, "-")}`;
}

export function Help({ text, id }: { text: string; id: string }) {
  return text === "" ? null : (
    <p class="help" id={id}>
      {withCode(text)}
    </p>
  );
}

/** The error of a field, beside it. */
export function FieldError({ ctx, id, message }: { ctx: PageContext; id: string; message: Message | undefined }) {
  if (message === undefined) return null;
  return (
    <p class="field-error" id={id}>
      <Icon name="triangle-alert" />
      <span>{withCode(translateMessage(ctx.language, message))}</span>
    </p>
  );
}

interface RefusalsProps {
  ctx: PageContext;
  errors: FieldErrors;
  /** Errors shown at a field of the form. */
  shown: readonly string[];
}

/** Errors of a small form that belong to none of its fields. */
export function Refusals({ ctx, errors, shown }: RefusalsProps) {
  const others = Object.entries(errors).filter(([path]) => !shown.includes(path));
  return others.map(([, message]) => (
    <p class="field-error refusal" role="alert">
      <Icon name="triangle-alert" />
      <span>{withCode(translateMessage(ctx.language, message))}</span>
    </p>
  ));
}

interface FieldFrameProps {
  ctx: PageContext;
  field: FieldDescription;
  words: Words;
  error: Message | undefined;
  below?: Child;
  /** The control. */
  children: Child;
}

/** Label above, control, error below it, help beside (below on narrow screens). */
export function FieldFrame({ ctx, field, words, error, below, children }: FieldFrameProps) {
  const id = fieldId(field.path);
  const isOptional = !field.is_required && (field.default_value ?? "") === "" && field.kind !== "boolean";
  return (
    <div class="field" data-field={field.path}>
      {field.kind === "boolean" ? null : field.kind === "multiselect" ? (
        <span class="field-label" id={`${id}-label`}>
          {words.title}
        </span>
      ) : (
        <label for={id} id={field.is_secret ? `${id}-label` : undefined}>
          {words.title}
          {isOptional ? <span class="optional">{texts(ctx).common.optional}</span> : null}
        </label>
      )}
      {children}
      <FieldError ctx={ctx} id={`${id}-error`} message={error} />
      <Help text={words.description} id={`${id}-help`} />
      {below}
    </div>
  );
}

interface ControlProps {
  ctx: PageContext;
  field: FieldDescription;
  words: Words;
  options: readonly { value: string; title: string }[];
  value: unknown;
  error: Message | undefined;
  is_fixed: boolean;
  is_stored: boolean;
  attributes: Readonly<Record<string, string>>;
}

/** Connects a control with its help and error for assistive technology. */
function described({ field, words, error, is_stored }: ControlProps) {
  const id = fieldId(field.path);
  const by = classes(error !== undefined && `${id}-error`, words.description !== "" && `${id}-help`);
  return {
    "aria-describedby": by === "" ? undefined : by,
    "aria-invalid": error === undefined ? undefined : ("true" as const),
    "aria-required": field.is_required && field.kind !== "boolean" && !is_stored ? ("true" as const) : undefined,
  };
}

/** The example of what to enter; for what is stored and not shown, that a blank keeps it. */
function placeholder({ ctx, words, is_stored }: ControlProps): string | undefined {
  const shown = is_stored ? texts(ctx).common.form.stored_secret : words.placeholder;
  return shown === "" ? undefined : shown;
}

export function Control(props: ControlProps) {
  const { field } = props;
  if (props.is_fixed) return <Fixed {...props} />;
  if (field.is_secret) return <Secret {...props} />;
  switch (field.kind) {
    case "boolean":
      return <Check {...props} />;
    case "select":
      return <Select {...props} />;
    case "multiselect":
      return <Checks {...props} />;
    case "textarea":
      return <TextArea {...props} />;
    case "number":
      return <NumberInput {...props} />;
    default:
      return props.options.length > 0 ? <Select {...props} /> : <TextInput {...props} />;
  }
}

function text(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}

function TextInput(props: ControlProps) {
  const { field, value, attributes } = props;
  return (
    <input
      class={classes("input", field.is_code && "mono")}
      type="text"
      id={fieldId(field.path)}
      name={field.path}
      value={text(value)}
      placeholder={placeholder(props)}
      maxlength={field.max ?? undefined}
      autocomplete="off"
      spellcheck={field.is_code ? false : undefined}
      autocapitalize={field.is_code ? "none" : undefined}
      {...described(props)}
      {...attributes}
    />
  );
}

function NumberInput(props: ControlProps) {
  const { field, value, attributes } = props;
  return (
    <input
      class="input narrow"
      type="number"
      inputmode="numeric"
      id={fieldId(field.path)}
      name={field.path}
      value={text(value)}
      min={field.min ?? undefined}
      max={field.max ?? undefined}
      {...described(props)}
      {...attributes}
    />
  );
}

function TextArea(props: ControlProps) {
  const { field, value, attributes } = props;
  return (
    <textarea
      class={classes("input", field.is_code && "mono")}
      id={fieldId(field.path)}
      name={field.path}
      rows={field.is_code ? 6 : 3}
      placeholder={placeholder(props)}
      maxlength={field.max ?? undefined}
      spellcheck={field.is_code ? false : undefined}
      {...described(props)}
      {...attributes}
    >
      {text(value)}
    </textarea>
  );
}

/** Neither a stored nor a refused secret is ever in the page; one that was sent and not stored has to be entered again. */
function Secret(props: ControlProps) {
  const { ctx, field, is_stored, attributes } = props;
  const t = texts(ctx).common.form;
  const common = {
    id: fieldId(field.path),
    name: field.path,
    placeholder: placeholder(props),
    ...described(props),
    ...attributes,
  };
  return (
    <>
      {field.kind === "textarea" ? (
        <textarea
          class={classes("input mono", is_stored && "stored")}
          rows={6}
          spellcheck={false}
          autocomplete="off"
          {...common}
        />
      ) : (
        <Revealed ctx={ctx} described_by={`${fieldId(field.path)}-label`}>
          <input
            class={classes("input mono", is_stored && "stored")}
            type="password"
            autocomplete="new-password"
            {...common}
          />
        </Revealed>
      )}
      {field.takes_file ? (
        <label class="upload">
          {t.or_file}
          <input type="file" name={field.path} {...attributes} />
        </label>
      ) : null}
      {text(props.value) === "" ? null : (
        <p class="help unscripted" id={`${fieldId(field.path)}-again`}>
          {t.secret_again}
        </p>
      )}
    </>
  );
}

function Select(props: ControlProps) {
  const { ctx, field, value, options, attributes } = props;
  const t = texts(ctx).common.form;
  const present = text(value);
  const isKnown = options.some((option) => option.value === present);
  const hasDefault = typeof field.default_value === "string" && field.default_value !== "";
  // Choices of a form may have their own word for none.
  const hasBlank = options.some((option) => option.value === "");
  return (
    <>
      <select id={fieldId(field.path)} name={field.path} {...described(props)} {...attributes}>
        {hasBlank || ((field.is_required || hasDefault) && isKnown) ? null : (
          <option value="" selected={present === ""}>
            {field.is_required ? t.choose : t.no_choice}
          </option>
        )}
        {options.map((option) => (
          <option value={option.value} selected={option.value === present}>
            {option.title}
          </option>
        ))}
      </select>
      <Redraw {...props} />
    </>
  );
}

/** Without script, a button requests the fields of the choice. */
function Redraw({ ctx, field }: ControlProps) {
  if (!field.is_discriminant) return null;
  return (
    <div class="unscripted">
      <Button type="submit" small name="_action" value="redraw">
        {texts(ctx).common.form.show_fields}
      </Button>
    </div>
  );
}

function Check(props: ControlProps) {
  const { field, value, words, attributes } = props;
  const box = (
    <label class="check">
      <input
        type="checkbox"
        id={fieldId(field.path)}
        name={field.path}
        value="on"
        checked={value === true || value === "on" || value === "true"}
        {...described(props)}
        {...attributes}
      />
      {words.title}
    </label>
  );
  return field.is_discriminant ? (
    <>
      {box}
      <Redraw {...props} />
    </>
  ) : (
    box
  );
}

function Checks(props: ControlProps) {
  const { field, value, options, attributes } = props;
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const id = fieldId(field.path);
  return (
    <fieldset
      class="checks"
      id={id}
      tabindex={-1}
      aria-labelledby={`${id}-label`}
      aria-describedby={described(props)["aria-describedby"]}
    >
      {options.map((option) => (
        <label class="check">
          <input
            type="checkbox"
            name={field.path}
            value={option.value}
            checked={chosen.includes(option.value)}
            {...attributes}
          />
          {option.title}
        </label>
      ))}
    </fieldset>
  );
}

/** Set at creation: shown, and sent along so that the form reads the same. */
function Fixed({ field, value, options }: ControlProps) {
  const present = text(value);
  return (
    <p class="fixed">
      <input type="hidden" name={field.path} value={present} />
      <output id={fieldId(field.path)}>{options.find((option) => option.value === present)?.title ?? present}</output>
      <Icon name="lock" />
    </p>
  );
}
