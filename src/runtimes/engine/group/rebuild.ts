import { saidBy } from "../../../errors.ts";
import { say, toldAs } from "../../../messages/message.ts";
import type { Journal } from "../../journal.ts";
import { attachNetworks, type CarriedFiles, requireSettings } from "../apply.ts";
import { type Blueprint, createBody } from "../carry.ts";
import { ownLabels, type RunNames } from "../names.ts";
import { type ContainerInspect, isIdPrefix, isRunning, nameOf } from "../objects.ts";
import { isSame, type RawObject, stringMapAt } from "../raw.ts";
import { look, type RecoverContext } from "../recover.ts";
import { wasStarted } from "../situation.ts";
import { rebased, type Successor } from "./ties.ts";

/** A container as it was before the run, from the run's snapshot. */
export interface Lost {
  /** Its former id: others of the run may refer to it. */
  id: string;
  blueprint: Blueprint;
  image_config: unknown;
  files: CarriedFiles | null;
}

/** Null for a container that is not in the snapshot. */
export type Rebuild = (name: string) => Lost | null;

/**
 * Recreates previous containers that somebody removed meanwhile (any `docker compose up` considers a stopped one a surplus replica), under
 * the name of a run's backup, so that the way back finds them. Containers that depend on the id of a recreated one are recreated with it.
 * One that cannot be recreated is left out; the way back then keeps the new one. `stuck`: the names of existing ones that the engine can
 * never start again.
 */
export async function rebuildLost(
  context: RecoverContext,
  members: readonly { name: string; journal: Journal }[],
  rebuild: Rebuild,
  stuck: ReadonlySet<string> = new Set(),
): Promise<void> {
  const all = await findLost(context, members, rebuild, stuck);
  const made = new Map<string, Remade>();
  // In reverse, because an engine may keep what others depend on.
  for (const { lost, journal, previous, names } of all.toReversed()) {
    if (previous === null) continue;
    await journal.begin("undo", {
      ...toldAs("move", say("recovery.remove_broken", { name: nameOf(previous) })),
      at: context.clock.now(),
    });
    try {
      // Its volumes stay: the recreated one mounts them by name.
      await context.client.removeContainer(previous.Id, false);
    } catch (error) {
      made.set(lost.id, { id: previous.Id, name: names.aside, was_named: names.name });
      await journal.fail("undo", toldAs("error", saidBy(error)));
    }
  }
  for (const { lost, journal, names } of all) {
    if (made.has(lost.id)) continue;
    await journal.begin("undo", {
      is_remade: true,
      ...toldAs("move", say("recovery.make_again", { name: names.name })),
      at: context.clock.now(),
    });
    try {
      const labels = { [ownLabels.remade]: journal.run_id, ...(await lost.files?.labels()) };
      const id = await make(context, lost, labels, names.aside, made);
      made.set(lost.id, { id, name: names.aside, was_named: names.name });
    } catch (error) {
      await journal.fail("undo", toldAs("error", saidBy(error)));
    }
  }
}

interface Remade extends Successor {
  was_named: string;
}

interface LostMember {
  lost: Lost;
  journal: Journal;
  names: RunNames;
  /** An unusable one that still exists. */
  previous: ContainerInspect | null;
}

async function findLost(
  context: RecoverContext,
  members: readonly { name: string; journal: Journal }[],
  rebuild: Rebuild,
  stuck: ReadonlySet<string>,
): Promise<readonly LostMember[]> {
  const all: LostMember[] = [];
  const leaving = new Map<string, Remade>();
  for (const { name, journal } of members) {
    const { previous, stranger, facts, names } = await look(context, name, journal);
    const lost = stranger === null && facts?.old_id ? rebuild(name) : null;
    if (lost === null) continue;
    if (previous !== null && !stuck.has(name) && !isOfNoUse(previous, lost, leaving, journal)) continue;
    all.push({ lost, journal, names, previous });
    leaving.set(lost.id, { id: "", name: names.aside, was_named: names.name });
  }
  return all;
}

/**
 * A process that ended while recreating one leaves one that may lack networks and files; and dependants of an id that is gone can never be
 * started again.
 */
function isOfNoUse(
  previous: ContainerInspect,
  lost: Lost,
  leaving: ReadonlyMap<string, Remade>,
  journal: Journal,
): boolean {
  const isRemade = stringMapAt(previous.Config.Labels)[ownLabels.remade] === journal.run_id;
  if (isRemade && !wasStarted(previous)) return true;
  return !isRunning(previous) && !isSame(led(lost.blueprint, leaving), lost.blueprint);
}

/** With the ids of recreated containers; links use their current names until they are renamed. */
function led(blueprint: Blueprint, made: ReadonlyMap<string, Remade>): Blueprint {
  return rebased(blueprint, (reference) => {
    const byId = [...made].find(([id]) => isIdPrefix(reference, id))?.[1];
    if (byId !== undefined) return { successor: byId, is_by_id: true };
    const byName = [...made.values()].find(({ was_named }) => was_named === reference.replace(/^\//, ""));
    return byName === undefined ? null : { successor: byName, is_by_id: false };
  });
}

async function make(
  { client, apiVersion }: RecoverContext,
  lost: Lost,
  labels: RawObject,
  name: string,
  made: ReadonlyMap<string, Remade>,
): Promise<string> {
  const blueprint = led(lost.blueprint, made);
  const id = await client.createContainer(name, createBody(blueprint, lost.image_config, labels, apiVersion), null);
  try {
    await attachNetworks(client, blueprint, id);
    await lost.files?.write(id);
    requireSettings(blueprint, await client.inspectContainer(id));
  } catch (error) {
    await client.removeContainer(id, false);
    throw error;
  }
  return id;
}
