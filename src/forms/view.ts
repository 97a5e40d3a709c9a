import type * as v from "valibot";

type Members<E extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<E, undefined>>;

/** The members that a view declares, of a row and what is added to it. Nothing else leaves. */
export function viewOf<E extends v.ObjectEntries>(
  view: v.ObjectSchema<E, undefined>,
  values: NoInfer<Members<E>>,
): Members<E> {
  const members: Record<string, unknown> = {};
  for (const name of Object.keys(view.entries)) if (name in values) members[name] = values[name];
  return members as Members<E>;
}
