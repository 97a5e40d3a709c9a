import { AppError, type FieldErrors } from "../../errors.ts";
import { applyFormAction, decodeForm } from "../../forms/decode.ts";
import type { FieldDescription } from "../../forms/fields.ts";
import type { AppContext } from "../context.ts";
import { formText, readForm } from "./read-form.ts";
import { isFragmentRequest, type Markup, respondDone, respondHtml, type Saved } from "./respond.ts";

type Values = Readonly<Record<string, unknown>>;

export interface FormState {
  fields: readonly FieldDescription[];
  values: Values;
  errors: FieldErrors;
}

export interface FormPage {
  base_path: string;
  describe(values: Values): readonly FieldDescription[];
  render(state: FormState): Markup;
  /** `action` is the button's value; most forms only have `save`. A response is sent as it is, for secrets shown once. */
  save(input: Values, action: string): Promise<Saved | Response>;
}

/** Statuses that return to the form with the entered values. */
const shownInForm = new Map<number, 409 | 422 | 429>([
  [409, 409],
  [422, 422],
  [429, 429],
]);

/**
 * Handles a submitted form: redraws it when a list grew or another type was chosen, otherwise saves it, and shows it again with values and
 * messages when the service refused.
 */
export async function submitForm(c: AppContext, form: FormPage): Promise<Response> {
  const data = await readForm(c);
  const action = formText(data, "_action") || "save";
  const values = decodeForm(data, form.describe);
  const changed = applyFormAction(values, action);
  if (changed !== null) {
    return respondHtml(c, await form.render({ fields: form.describe(changed), values: changed, errors: {} }));
  }
  try {
    const saved = await form.save(values, action);
    return saved instanceof Response ? saved : respondDone(c, form.base_path, saved.path, saved.notice);
  } catch (error) {
    const status = error instanceof AppError ? shownInForm.get(error.status) : undefined;
    if (!(error instanceof AppError) || status === undefined) throw error;
    if (error.retry_after_seconds !== undefined) c.header("Retry-After", String(Math.ceil(error.retry_after_seconds)));
    const errors = error.field_messages ?? { body: error.said };
    // htmx only swaps 422 responses in (see the layout's configuration): another status would lose the reason.
    const shown = isFragmentRequest(c) ? 422 : status;
    return respondHtml(c, await form.render({ fields: form.describe(values), values, errors }), shown);
  }
}
