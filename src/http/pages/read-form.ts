import { AppError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { AppContext } from "../context.ts";

/** The longest of our own forms besides adoption, a tracker with all its sources, has fewer than 1,000. */
const maxFields = 2_000;

/**
 * The submitted form. An uploaded file becomes the text of its field; a file field without a file is left out. Throws 400 when the body is
 * not a form, whatever its content type, and 413 for too many fields.
 */
export async function readForm(c: AppContext, limit = maxFields): Promise<FormData> {
  const form = await formOf(c);
  let count = 0;
  for (const _ of form.keys()) {
    count += 1;
    if (count > limit) throw new AppError("too_many_fields", 413, say("request.too_many_fields", { limit }));
  }
  return await withFileTexts(form);
}

async function withFileTexts(form: FormData): Promise<FormData> {
  const entries = [...form];
  if (entries.every(([, value]) => typeof value === "string")) return form;
  const texts = new FormData();
  for (const [name, value] of entries) {
    if (typeof value === "string") texts.append(name, value);
    else if (value.size > 0) texts.append(name, await value.text());
  }
  return texts;
}

async function formOf(c: AppContext): Promise<FormData> {
  try {
    return await c.req.formData();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("invalid_form", 400, say("request.body_not_form"), { cause });
  }
}

/** The text of one field; "" when it is missing. */
export function formText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}
