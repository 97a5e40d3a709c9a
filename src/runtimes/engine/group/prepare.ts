import { PluginError } from "../../../errors.ts";
import { say } from "../../../messages/message.ts";
import { containersOf, type PlannedContainer } from "../../containers-detail.ts";
import type { Journal } from "../../journal.ts";
import { ofImages, type UpdatePlan } from "../../plan.ts";
import type { RegistryAuth } from "../../session.ts";
import { attachments, needsDisconnect, needsNetworkCalls } from "../carry.ts";
import type { EngineClient } from "../client.ts";
import { completeContainer } from "../complete.ts";
import { findInjectedFiles } from "../compose/injected-files.ts";
import { isInPlace, type Scene, type SceneSource } from "../container-plan.ts";
import { type ContainerInspect, isRunning } from "../objects.ts";
import { pullDesired, tagFacts } from "../prepare.ts";
import { stringAt } from "../raw.ts";
import { fetchSnapshotImage, readSnapshot, snapshotBlueprint } from "../snapshot.ts";
import { step } from "../step.ts";
import { getByName, imageCache } from "../survey.ts";
import { requireFileVerbs, requireVerbs } from "../verbs.ts";
import { withNetworksNow } from "./gone.ts";

type Source = Pick<SceneSource, "client" | "apiVersion" | "engine_platform">;
type Shape = Parameters<typeof needsNetworkCalls>[0];

/** A container of a plan as it is now: enough to prepare. `apply` checks whether the whole target is as planned. */
interface Known extends Pick<Scene, "container" | "image" | "is_owed" | "engine_platform"> {
  planned: PlannedContainer;
}

/** Checks the permissions and pulls what an update needs; returns whether nothing is left to change. */
export async function prepareUpdate(
  source: Source,
  plan: UpdatePlan,
  auths: readonly RegistryAuth[],
  journal: Journal,
): Promise<boolean> {
  const { client, apiVersion } = source;
  requireUpdatable(plan);
  const known = await lookAt(source, plan, containersOf(plan.detail));
  const changes = ofImages(plan.changes);
  const isTagging = changes.some((change) => !change.reference.includes("@"));
  await requireRights(
    client,
    known.map((each) => shapeOf(each.container, apiVersion)),
    isTagging,
  );
  for (const { container } of known) await requireCarriedFiles(client, container);
  const inPlace: boolean[] = [];
  for (const change of changes) {
    const moving = known.filter(({ planned }) => planned.because === "desired" && planned.service === change.service);
    const [first] = moving;
    if (first === undefined) continue;
    const { Id: id } = await pullDesired(client, first, change, auths, journal);
    inPlace.push(...moving.map((each) => each.container.Image === id && isInPlace(each, change)));
  }
  return plan.is_noop || (inPlace.length > 0 && inPlace.every(Boolean));
}

/** The same for a plan that restores a snapshot, whose images are pulled again. */
export async function prepareRollback(
  source: Source,
  plan: UpdatePlan,
  snapshot: string,
  auths: readonly RegistryAuth[],
  journal: Journal,
): Promise<void> {
  const { client, apiVersion } = source;
  requireUpdatable(plan);
  const [desired, dependants] = [new Set<string>(), [] as PlannedContainer[]];
  for (const each of containersOf(plan.detail)) {
    if (each.because === "desired") desired.add(each.name);
    else dependants.push(each);
  }
  const restored = readSnapshot(snapshot).members.filter((each) => each.role === "target" && desired.has(each.name));
  const led = await Promise.all(restored.map((member) => withNetworksNow(client, member)));
  const hanging = await lookAt(source, plan, dependants);
  const shapes = [
    ...led.map((member) => snapshotBlueprint(member, apiVersion)),
    ...hanging.map((each) => shapeOf(each.container, apiVersion)),
  ];
  await requireRights(client, shapes, true);
  for (const member of restored) {
    const tag = await tagFacts(client, stringAt(member.container.Config.Image));
    const facts = { service: member.service, pulled: member.image.Id, ...tag };
    await step(journal, "pull", facts, async () => {
      const image = await fetchSnapshotImage(client, member, auths, (done) => journal.progress(done));
      return { image_id: image.Id };
    });
  }
}

export function requireUpdatable({ ref, refusals: [refusal] }: UpdatePlan): void {
  if (refusal === undefined) return;
  throw new PluginError("rejected", say("refusals.not_updatable", { name: ref.id, cause: refusal.message }));
}

async function lookAt(
  { client, engine_platform }: Source,
  { owed }: UpdatePlan,
  containers: readonly PlannedContainer[],
): Promise<readonly Known[]> {
  const imageOf = imageCache(client);
  return await Promise.all(
    containers.map(async (planned) => {
      const container = await completeContainer(client, await getByName(client, planned.name));
      const is_owed = !isRunning(container) && owed.includes(planned.name);
      return { planned, container, image: await imageOf(container.Image), is_owed, engine_platform };
    }),
  );
}

function shapeOf(container: ContainerInspect, apiVersion: string): Shape {
  return { attachments: attachments(container, apiVersion), host_config: container.HostConfig };
}

async function requireRights(client: EngineClient, shapes: readonly Shape[], isTagging: boolean): Promise<void> {
  const [connect, disconnect] = [shapes.some(needsNetworkCalls), shapes.some(needsDisconnect)];
  await requireVerbs(client, { connect, disconnect, tag: isTagging });
}

/** Throws for files that could not be carried, before anything is touched. */
async function requireCarriedFiles(client: EngineClient, container: ContainerInspect): Promise<void> {
  const { files, refusals } = await findInjectedFiles(client, container);
  const [refusal] = refusals;
  if (refusal !== undefined) throw new PluginError("rejected", refusal.message);
  if (files.length > 0) await requireFileVerbs(client);
}
