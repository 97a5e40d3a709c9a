import type * as v from "valibot";

type Members<E extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<E, undefined>>;

/** The members that a view declares, of a row and what is added to it. Nothing else leaves. */
export function viewOf<E extends v.ObjectEntries>(
  view: v.ObjectSchema<E, undefined>,
  values: NoInfer<Members<E>>,
): Members<E> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => name in view.entries)) as Members<E>;
}
