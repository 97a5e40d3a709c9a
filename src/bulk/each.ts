import { AppError, noSuch, PluginError, reasonOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { type Message, told } from "../messages/message.ts";
import type { Problem } from "../messages/schema.ts";
import type { BulkResult } from "./schema.ts";

export interface Done {
  outcome: BulkResult["outcome"];
  problem?: Problem;
  run_id?: string | null;
}

interface Named {
  id: string;
  name: string;
}

export const problem = (code: string, message: Message): Problem => ({ code, ...told(message) });
export const refused = (code: string, message: Message): Done => ({
  outcome: "refused",
  problem: problem(code, message),
});

/** Acts on several things of a kind separately, so that one refusal does not affect the others. */
export function eachByItself(thing: "executor" | "tracker", log: Log) {
  const problemOf = (error: unknown, name: string): Problem => {
    const isSaid = error instanceof AppError || error instanceof PluginError;
    if (!isSaid) log.error("One of several could not be acted on", { error, [thing]: name });
    return problem(isSaid ? error.code : "internal", reasonOf(error));
  };

  const orRefused = async ({ name }: Named, work: () => Promise<Done>): Promise<Done> => {
    try {
      return await work();
    } catch (error) {
      return { outcome: "refused", problem: problemOf(error, name) };
    }
  };

  return {
    problemOf,
    orRefused,

    perform: async <T extends Named>(
      views: readonly T[],
      act: (view: T) => Promise<Done>,
    ): Promise<ReadonlyMap<string, Done>> => {
      const done = new Map<string, Done>();
      for (const view of views) done.set(view.id, await orRefused(view, () => act(view)));
      return done;
    },

    /** In the order of `ids`; missing ones are refused. */
    results: (ids: readonly string[], views: readonly Named[], done: ReadonlyMap<string, Done>): BulkResult[] => {
      const names = new Map(views.map(({ id, name }) => [id, name]));
      return ids.map((id) => {
        const own: Done = done.get(id) ?? refused("not_found", noSuch(thing, id));
        const { outcome, problem: why = null, run_id = null } = own;
        return { id, name: names.get(id) ?? id, outcome, problem: why, run_id };
      });
    },
  };
}

/** Changes only those that are not in this state yet. */
export async function enabledOnce(
  view: { is_enabled: boolean },
  is_enabled: boolean,
  update: (changes: { is_enabled: boolean }) => Promise<unknown>,
): Promise<Done> {
  if (view.is_enabled === is_enabled) return { outcome: "unchanged" };
  await update({ is_enabled });
  return { outcome: "done" };
}
