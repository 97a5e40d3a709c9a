import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { type EngineClient, isMissing } from "./client.ts";
import { nameInList } from "./names.ts";
import { type ContainerInspect, type ImageInspect, nameOf } from "./objects.ts";
import { containerSign, createSurveyMemory, imageSign, keepOnly, recall, type SurveyMemory } from "./survey-memory.ts";

/** The most containers of one engine, and how many are inspected at once. */
const maxContainers = 2000;
const inspectsAtOnce = 8;

/** How a session reads what all targets of an engine share. */
export interface SharedReads {
  containers(): ReturnType<typeof surveyContainers>;
  /** Images by their ID, as a list shows that they are unchanged. */
  remembered(): ReturnType<typeof rememberedImages>;
  /** The same, inspected again. */
  images(): ReturnType<typeof imageCache>;
}

/** `isOnce`: for what happens at one moment, such as planning many targets. */
export function sharedReads(client: EngineClient, memory: SurveyMemory, isOnce: boolean): SharedReads {
  const reads = {
    containers: () => surveyContainers(client, memory),
    remembered: () => rememberedImages(client, memory),
    images: () => imageCache(client),
  };
  if (!isOnce) return reads;
  return { containers: once(reads.containers), remembered: once(reads.remembered), images: once(reads.images) };
}

function once<T>(read: () => T): () => T {
  let done: { result: T } | null = null;
  return () => {
    done ??= { result: read() };
    return done.result;
  };
}

/** Every container of the engine, inspected, or remembered if unchanged; one that disappears meanwhile is left out. */
async function surveyContainers(
  client: EngineClient,
  memory: SurveyMemory = createSurveyMemory(),
): Promise<readonly ContainerInspect[]> {
  const listed = await client.listContainers();
  if (listed.length > maxContainers) {
    const facts = { count: listed.length, limit: maxContainers };
    throw new PluginError("rejected", say("engine.too_many_containers", facts));
  }
  const found: ContainerInspect[] = [];
  keepOnly(
    memory.containers,
    listed.map((each) => each.Id),
  );
  const waiting = [...listed];
  const work = async () => {
    for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
      const { Id: id } = each;
      const sign = containerSign(each);
      const ask = () => orNull(client.inspectContainer(id));
      const container = await recall(memory.containers, id, sign, ask, ({ State }) => State.Status === each.State);
      if (container !== null) found.push(container);
    }
  };
  await Promise.all(Array.from({ length: Math.min(inspectsAtOnce, listed.length) }, work));
  return found.sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
}

/** Null if the engine reports that there is none; every other failure is thrown. */
export async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** By its full name: the engine would also accept an ID prefix. */
async function findByName(client: EngineClient, name: string): Promise<ContainerInspect | null> {
  const found = await orNull(client.inspectContainer(name));
  return found !== null && nameOf(found) === name ? found : null;
}

export async function getByName(client: EngineClient, name: string): Promise<ContainerInspect> {
  const found = await findByName(client, name);
  if (found !== null) return found;
  throw new PluginError("not_found", say("engine.no_container", { name: name.slice(0, 200) }));
}

/** Shorter texts count as names, even if an ID starts with them: `cafe` is a plausible name. */
const shortestId = 6;

/** The name of the container with this ID or unique ID prefix; engines show the first 12 digits. */
export async function findNameOfId(client: Pick<EngineClient, "listContainers">, text: string): Promise<string | null> {
  const id = text.toLowerCase();
  if (id.length < shortestId || !/^[0-9a-f]+$/.test(id)) return null;
  const [first, ...others] = (await client.listContainers()).filter((each) => each.Id.startsWith(id));
  return first === undefined || others.length > 0 ? null : nameInList(first);
}

/** Each image once, however many containers use it. */
export function imageCache(client: EngineClient): (id: string) => Promise<ImageInspect | null> {
  const known = new Map<string, Promise<ImageInspect | null>>();
  return (id) => {
    const asked = known.get(id) ?? orNull(client.inspectImage(id));
    known.set(id, asked);
    return asked;
  };
}

/** The same over several surveys: a list shows which images have other names now, and only those are inspected again. */
async function rememberedImages(
  client: EngineClient,
  memory: SurveyMemory,
): Promise<(id: string) => Promise<ImageInspect | null>> {
  const listed = new Map((await client.listImages()).map((each) => [each.Id, imageSign(each)]));
  keepOnly(memory.images, listed.keys());
  const once = imageCache(client);
  return async (id) => {
    const sign = listed.get(id);
    // An engine does not list images of other platforms by the ID that their containers name.
    return sign === undefined ? await once(id) : await recall(memory.images, id, sign, () => once(id));
  };
}
