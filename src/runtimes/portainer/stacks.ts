import { createHash } from "node:crypto";
import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import { ContainerInspect, ImageInspect } from "../engine/objects.ts";
import { stringAt, stringMapAt } from "../engine/raw.ts";
import { type Portainer, Refused, type StackContent } from "./client.ts";
import { Listed, Stack, StackFile } from "./objects.ts";

/** Maximum numbers of stacks of one Portainer, containers of one environment, and parallel requests. */
const maxStacks = 2_000;
const maxContainers = 5_000;
const asksAtOnce = 8;

export const stackTypes = { swarm: 1, compose: 2, kubernetes: 3 } as const;

/** `failed`: its last deployment; the file is the new one nevertheless. */
export const stackStates = { active: 1, stopped: 2, deploying: 3, failed: 4 } as const;

/** The labels by which compose finds the containers of a project, which has the stack's name. */
const labels = {
  project: "com.docker.compose.project",
  service: "com.docker.compose.service",
  oneoff: "com.docker.compose.oneoff",
} as const;

/** One container of a stack. */
export interface Member {
  service: string;
  container: ContainerInspect;
}

/** A stack as Portainer and its environment's engine describe it. */
export interface Found {
  stack: Stack;
  /** Null if it was not requested: Swarm and Kubernetes have files of another kind. */
  content: StackContent | null;
  /** Why Portainer did not return the file; null if it did. */
  unreadable: Message | null;
  members: readonly Member[];
  /** By ID; empty if they were not requested, such as during discovery. */
  images: ReadonlyMap<string, ImageInspect>;
}

const isOurs = ({ labels: all, project }: { labels: Readonly<Record<string, string>>; project: string }) =>
  all[labels.project] === project && (all[labels.oneoff] ?? "").toLowerCase() !== "true" && labels.service in all;

/** All stacks of the environment, each with its file and containers. */
export async function findStacks(portainer: Portainer, endpoint: number): Promise<readonly Found[]> {
  const stacks = await listStacks(portainer, endpoint);
  const names = new Set(stacks.map(({ Name }) => Name));
  const listed = await listContainers(portainer, null);
  const inspected = await each(listed, async ({ Id, Labels }) => {
    const project = Labels?.[labels.project] ?? "";
    const isWanted = names.has(project) && isOurs({ labels: Labels ?? {}, project });
    return isWanted ? await inspectContainer(portainer, Id) : null;
  });
  return await each(stacks, async (stack) => ({
    stack,
    ...(await contentIfGiven(portainer, stack)),
    members: membersAmong(inspected, stack.Name),
    images: new Map(),
  }));
}

/** What does not change during a session, so that following an update needs few requests. */
export interface Remembered {
  /** Numbers of stacks by name. */
  stacks: Map<string, number>;
  /** By ID. */
  images: Map<string, ImageInspect>;
}

/** A stack by its name; throws `not_found`. */
export async function findStack(
  portainer: Portainer,
  endpoint: number,
  name: string,
  remembered: Remembered,
): Promise<Found> {
  const stack = await findRecord(portainer, endpoint, name, remembered);
  if (stack === null) throw new PluginError("not_found", say("portainer.stack_missing", { stack: name }));
  const content = await contentOf(portainer, stack);
  const members = content === null ? [] : await findMembers(portainer, name);
  for (const id of new Set(members.map(({ container }) => container.Image))) {
    if (remembered.images.has(id) || !/^sha256:[0-9a-f]{64}$/.test(id)) continue;
    const image = await orNull(portainer.engine(`/images/${id}/json`, ImageInspect));
    if (image !== null) remembered.images.set(id, image);
  }
  return { stack, content, unreadable: null, members, images: remembered.images };
}

async function findRecord(
  portainer: Portainer,
  endpoint: number,
  name: string,
  { stacks }: Remembered,
): Promise<Stack | null> {
  const id = stacks.get(name);
  if (id !== undefined) {
    const known = await orNull(portainer.get(`/stacks/${id}`, Stack));
    if (known?.Name === name && known.EndpointId === endpoint) return known;
    stacks.delete(name);
  }
  const found = (await listStacks(portainer, endpoint)).find(({ Name }) => Name === name) ?? null;
  if (found !== null) stacks.set(name, found.Id);
  return found;
}

async function findMembers(portainer: Portainer, name: string): Promise<readonly Member[]> {
  const listed = await listContainers(portainer, name);
  return membersAmong(await each(listed, ({ Id }) => inspectContainer(portainer, Id)), name);
}

export async function listStacks(portainer: Portainer, endpoint: number): Promise<readonly Stack[]> {
  const all = await portainer.get("/stacks", v.pipe(v.array(Stack), v.maxLength(maxStacks)));
  const stacks = all.filter(({ EndpointId }) => EndpointId === endpoint);
  return stacks.toSorted((a, b) => (a.Name < b.Name ? -1 : 1));
}

/** `project`: null for the whole engine. */
async function listContainers(portainer: Portainer, project: string | null): Promise<readonly Listed[]> {
  const filters = JSON.stringify({ label: [project === null ? labels.project : `${labels.project}=${project}`] });
  const query = new URLSearchParams({ all: "1", filters });
  return await portainer.engine(`/containers/json?${query}`, v.pipe(v.array(Listed), v.maxLength(maxContainers)));
}

/** Null for one that disappeared meanwhile. */
async function inspectContainer(portainer: Portainer, id: string): Promise<ContainerInspect | null> {
  if (!/^[0-9a-f]{12,64}$/.test(id)) throw new PluginError("malformed", say("portainer.odd_id"));
  return await orNull(portainer.engine(`/containers/${id}/json`, ContainerInspect));
}

function membersAmong(containers: readonly (ContainerInspect | null)[], project: string): readonly Member[] {
  const members = containers.flatMap((container) => {
    const own = stringMapAt(container?.Config.Labels);
    return container !== null && isOurs({ labels: own, project })
      ? [{ service: own[labels.service] ?? "", container }]
      : [];
  });
  return members.toSorted((a, b) => (a.container.Name < b.container.Name ? -1 : 1));
}

async function contentOf(portainer: Portainer, { Id, Type, Env }: Stack): Promise<StackContent | null> {
  if (Type !== stackTypes.compose) return null;
  const { StackFileContent } = await portainer.get(`/stacks/${Id}/file`, StackFile);
  return { file: StackFileContent, env: Env ?? [] };
}

/** One stack whose file is lost, or inaccessible with the key, does not hide the others. */
async function contentIfGiven(portainer: Portainer, stack: Stack): Promise<Pick<Found, "content" | "unreadable">> {
  try {
    return { content: await contentOf(portainer, stack), unreadable: null };
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401) throw error;
    return { content: null, unreadable: error.said };
  }
}

/** Null if Portainer or the engine reports that there is none. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
}

async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const found: R[] = [];
  const waiting = items.entries();
  const lane = async () => {
    for (const [index, item] of waiting) found[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(asksAtOnce, items.length) }, lane));
  return found;
}

/** Blank without one. */
export function webhookOf({ AutoUpdate }: Stack): string {
  return AutoUpdate?.Webhook ?? "";
}

/** What a container was created from, as its stack file names it. */
export function referenceOf({ container }: Member): string {
  return stringAt(container.Config.Image);
}

/** Identifies a stack's file and environment without keeping them: both may hold secrets. */
export interface Marks extends Record<string, string> {
  file: string;
  env: string;
}

export function marksOf({ file, env }: StackContent): Marks {
  const mark = (text: string) => createHash("sha256").update(text).digest("hex");
  return { file: mark(file), env: mark(JSON.stringify(env.map(({ name, value }) => [name, value]))) };
}

export function isMarkedAs(content: StackContent, marks: Marks): boolean {
  const { file, env } = marksOf(content);
  return file === marks.file && env === marks.env;
}
