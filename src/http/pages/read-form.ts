import { AppError } from "../../errors.ts";
import type { AppContext } from "../context.ts";

/** The form that a page sent. Throws 400 when the body is not one, whatever its content type says. */
export async function readForm(c: AppContext): Promise<FormData> {
  try {
    return await c.req.formData();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("invalid_form", 400, "The body is not a form", { cause });
  }
}

/** The text of one field; "" when it is missing or a file. */
export function formText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}
