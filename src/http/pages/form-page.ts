import { createHash } from "node:crypto";
import { valueAt } from "../../../templates/components/form.tsx";
import { AppError, type FieldErrors } from "../../errors.ts";
import { applyFormAction, decodeForm } from "../../forms/decode.ts";
import type { FieldDescription } from "../../forms/fields.ts";
import { say } from "../../messages/message.ts";
import { RecentMap } from "../../recent-map.ts";
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
  /** The stored values that the form edits, as it shows them; after `save` those that it stored. Null while nothing is stored. */
  current?(): Values | null | Promise<Values>;
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
 * The values of an edit form with a digest of them as `_seen`, which the form sends back: another digest of what is stored by then shows
 * that something else was saved meanwhile. A secret is never shown, so its form counts every change.
 */
export function withMark(fields: readonly FieldDescription[], values: Values): Values {
  const changedAt = fields.some(hasSecret) ? values.updated_at : undefined;
  return { ...values, _seen: digestOf(JSON.stringify([shownOf(fields, values), changedAt])).slice(0, 16) };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

function hasSecret({ is_secret, children }: FieldDescription): boolean {
  return is_secret || children.some(hasSecret);
}

function shownOf(fields: readonly FieldDescription[], values: Values): unknown[] {
  return fields.flatMap(({ kind, path, children, entries }) => {
    const inner = kind === "list" ? entries.flat() : children;
    return inner.length > 0 ? shownOf(inner, values) : [[path, valueAt(values, path)]];
  });
}

/** Forms by the digest of what was sent, with that of what they stored; null while one is being saved. Sent twice, none is refused. */
const sentForms = new RecentMap<string, string | null>(100);

/**
 * Handles a submitted form: redraws it when a list grew or another type was chosen, otherwise saves it, and shows it again with values and
 * messages when the service refused, or when other values were stored since it was opened.
 */
export async function submitForm(c: AppContext, form: FormPage): Promise<Response> {
  const data = await readForm(c);
  const action = formText(data, "_action") || "save";
  const seen = formText(data, "_seen");
  const values = decodeForm(data, form.describe);
  const markNow = async () => {
    const stored = (await form.current?.()) ?? null;
    return stored === null ? "" : String(withMark(form.describe(stored), stored)._seen);
  };
  const show = (shown: Values, errors: FieldErrors, mark: string) => {
    const fields = form.describe(shown);
    return form.render({ fields, values: mark === "" ? shown : { ...shown, _seen: mark }, errors });
  };
  const changed = applyFormAction(values, action);
  if (changed !== null) return respondHtml(c, await show(changed, {}, seen));
  const sent = digestOf(JSON.stringify([...data]));
  const now = await markNow();
  const earlier = sentForms.get(sent);
  const isRepeated = earlier === null || earlier === now;
  const isOutdated = seen !== "" && seen !== now && !isRepeated;
  try {
    if (isOutdated) throw new AppError("changed_meanwhile", 409, say("request.changed_meanwhile"));
    sentForms.set(sent, null);
    const saved = await form.save(values, action);
    sentForms.set(sent, await markNow());
    return saved instanceof Response ? saved : respondDone(c, form.base_path, saved.path, saved.notice);
  } catch (error) {
    sentForms.delete(sent);
    const status = error instanceof AppError ? shownInForm.get(error.status) : undefined;
    if (!(error instanceof AppError) || status === undefined) throw error;
    if (error.retry_after_seconds !== undefined) c.header("Retry-After", String(Math.ceil(error.retry_after_seconds)));
    const errors = error.field_messages ?? { body: error.said };
    // htmx only swaps 422 responses in (see the layout's configuration): another status would lose the reason.
    return respondHtml(c, await show(values, errors, isOutdated ? now : seen), isFragmentRequest(c) ? 422 : status);
  }
}
