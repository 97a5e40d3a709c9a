import { partsOf, withQuery } from "../../../templates/page.ts";
import { AppError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { formText } from "./read-form.ts";
import { type ListService, listQueryOf, pagesOf } from "./read-list.ts";

/** What was chosen in the list at `next`, as an address below `path`: by ids, or all that its filters leave. */
export function chosenIn(form: FormData, path: string, next: string): string {
  if (formText(form, "all") === "") {
    return withQuery(path, { ids: [...form.getAll("row"), formText(form, "ids")].filter(Boolean).join(",") });
  }
  const { query } = partsOf(next);
  return withQuery(path, { ...Object.fromEntries(query), all: "1", cursor: null, select: null });
}

/** The ids that such an address names, or all that its filters leave; at most `limit`. */
export async function chosenBy(
  path: string,
  list: ListService<{ id: string }>,
  limit: number,
): Promise<readonly string[]> {
  const { query } = partsOf(path);
  if (query.get("all") === null) {
    const ids = (query.get("ids") ?? "").split(",").filter((id) => id !== "");
    return [...new Set(ids)].slice(0, limit);
  }
  const filters = listQueryOf(path, list.list_shape);
  const ids: string[] = [];
  for await (const items of pagesOf((page) => list.list({ ...filters, ...page }))) {
    ids.push(...items.map(({ id }) => id));
    if (ids.length > limit) throw new AppError("too_many", 422, say("bulk.too_many", { limit }));
  }
  return ids;
}
