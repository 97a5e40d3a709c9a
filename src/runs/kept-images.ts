import { errorMessage, PluginError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import type { RunContext } from "./context.ts";

/** The images that a captured configuration needs, without duplicates. */
export async function imagesNeeded({ deps, settings, plan }: RunContext, text: string): Promise<readonly string[]> {
  const reader = await deps.connections.snapshotReader(settings.connection_id);
  const ids = reader === null ? (plan?.services ?? []).map((service) => service.from.image_id) : reader.imagesOf(text);
  return [...new Set(ids)].filter((id) => id !== "");
}

interface Keeping {
  deps: Pick<RunContext["deps"], "log">;
  run: Pick<RunContext["run"], "id">;
  session: Pick<RunContext["session"], "images">;
}

/**
 * Names the images of a stored snapshot, which keeps them from being pruned. A failure is only a warning: the images exist now, and
 * most can be pulled again by digest.
 */
export async function keepImages({ deps, run, session }: Keeping, ids: readonly string[]): Promise<Message | null> {
  if (session.images === undefined) return null;
  try {
    await session.images.keep(ids);
    return null;
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    deps.log.warning("Images of a snapshot could not be kept", { run: run.id, error: errorMessage(error) });
    return error.said;
  }
}
