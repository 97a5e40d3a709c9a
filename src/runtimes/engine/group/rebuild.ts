import { errorMessage } from "../../../errors.ts";
import type { Journal } from "../../runtime.ts";
import { attachNetworks, type CarriedFiles } from "../apply.ts";
import { type Blueprint, createBody } from "../carry.ts";
import { differences } from "../compare.ts";
import { ownLabels } from "../names.ts";
import type { RawObject } from "../raw.ts";
import { look, type RecoverContext } from "../recover.ts";
import { rebased, type Successor } from "./ties.ts";

/** How a container was before the run, from the run's snapshot. */
export interface Lost {
  /** The id that it had: others of the run may refer to it. */
  id: string;
  blueprint: Blueprint;
  image_config: unknown;
  files: CarriedFiles | null;
}

/** Null for a container that the snapshot does not hold. */
export type Rebuild = (name: string) => Lost | null;

/**
 * Makes previous containers again that somebody removed meanwhile (any `docker compose up` takes a stopped one for a surplus
 * replica): under the name by which a run keeps them aside, so that the way back finds them there. One that cannot be made again
 * is left out; the way back then keeps the new one.
 */
export async function rebuildLost(
  context: RecoverContext,
  members: readonly { name: string; journal: Journal }[],
  rebuild: Rebuild,
): Promise<void> {
  const made = new Map<string, Successor>();
  for (const { name, journal } of members) {
    const { previous, stranger, facts, names } = await look(context, name, journal);
    const lost = previous === null && stranger === null && facts?.old_id ? rebuild(name) : null;
    if (lost === null) continue;
    const at = context.clock.now();
    await journal.begin("undo", { move: `make ${name} again from the snapshot`, at });
    try {
      const labels = { [ownLabels.remade]: journal.run_id, ...lost.files?.labels };
      made.set(lost.id, { id: await make(context, lost, labels, names.aside, made), name: names.aside });
    } catch (error) {
      await journal.fail("undo", { error: errorMessage(error).slice(0, 500) });
    }
  }
}

async function make(
  { client, apiVersion }: RecoverContext,
  lost: Lost,
  labels: RawObject,
  name: string,
  made: ReadonlyMap<string, Successor>,
): Promise<string> {
  const blueprint = rebased(lost.blueprint, (reference) => {
    const successor = [...made].find(([id]) => reference.length >= 12 && id.startsWith(reference))?.[1];
    return successor === undefined ? null : { successor, is_by_id: true };
  });
  const id = await client.createContainer(name, createBody(blueprint, lost.image_config, labels, apiVersion), null);
  try {
    await attachNetworks(client, blueprint, id);
    await lost.files?.write(id);
    const wrong = differences(blueprint, await client.inspectContainer(id));
    if (wrong.length > 0) throw new Error(`not every setting arrived: ${wrong.map(({ path }) => path).join(", ")}`);
  } catch (error) {
    await client.removeContainer(id, false);
    throw error;
  }
  return id;
}
