import { PluginError } from "../../errors.ts";
import type {
  Change,
  Journal,
  Recovery,
  RegistryAuth,
  RuntimeContext,
  RuntimeFacts,
  RuntimeSession,
  TargetRef,
  UpdatePlan,
} from "../runtime.ts";
import type { EngineAddress } from "./address.ts";
import { replaceContainer } from "./apply.ts";
import { attachments, type Blueprint, blueprint, needsNetworkCalls } from "./carry.ts";
import { defaultDeadlines, type EngineDeadlines, negotiate } from "./client.ts";
import { describeTarget, discoverTargets } from "./discover.ts";
import { targetFacts } from "./facts.ts";
import { isRunning } from "./objects.ts";
import { findDesiredImage, findScene, planUpdate, type Scene, type SceneSource } from "./plan.ts";
import { foreignPlatform, pullDesired, tagAsReferenced } from "./prepare.ts";
import { judgeReadiness } from "./readiness.ts";
import { putBack, recoverRun, removePrevious } from "./recover.ts";
import * as snapshots from "./snapshot.ts";
import { step } from "./step.ts";
import { getByName, orNull } from "./survey.ts";
import { type EngineTransport, engineTransport } from "./transport.ts";
import { requireReads, requireVerbs } from "./verbs.ts";

export interface SessionOptions {
  /** Which engine the administrator says it is. */
  kind: "docker" | "podman";
  address: EngineAddress;
  /** The administrator's choice, null to negotiate. */
  api_version: string | null;
  /** For pulls whose tracker brings no login of its own. */
  registry_auth: RegistryAuth | null;
  context: RuntimeContext;
  deadlines?: EngineDeadlines;
  /** Between two attempts of a move on the way back, in milliseconds. */
  retry_delay_ms?: number;
  transport?: EngineTransport;
}

const defaultRetryDelayMs = 500;

/** Opens a session on an engine: asks for its version and settles on one of the API. Throws when it does not answer. */
export async function openEngine(options: SessionOptions): Promise<RuntimeSession> {
  const { address, context } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const transport = options.transport ?? engineTransport(address, signal);
  const negotiated = await negotiate(transport, options.api_version, options.deadlines ?? defaultDeadlines);
  const { client, version, api_version: apiVersion } = negotiated;
  const enginePlatform = [version.Os ?? "", version.Arch ?? ""].filter((part) => part !== "").join("/");
  const source: SceneSource = { client, apiVersion, engine_platform: enginePlatform, self: context.self, address };
  const recovering = { client, clock: context.clock, retryDelayMs: options.retry_delay_ms ?? defaultRetryDelayMs };
  const logins = (auths: readonly RegistryAuth[]): readonly RegistryAuth[] =>
    options.registry_auth === null ? auths : [...auths, options.registry_auth];
  /** What `prepareRestore` made ready for `apply`, by the plan's hash: a plan itself holds no secret. */
  const restores = new Map<string, { blueprint: Blueprint; image_config: unknown; is_to_run: boolean; text: string }>();

  return {
    async describe(): Promise<RuntimeFacts> {
      await client.listContainers();
      await requireReads(client);
      return { version: version.Version, api_version: apiVersion, platform: enginePlatform, warnings: [] };
    },
    discover: () => discoverTargets(source),
    async inspect(ref) {
      const scene = await findScene(source, ref);
      return describeTarget(scene.container, scene.image, scene.around);
    },
    async plan(ref, changes) {
      const change = onlyChange(changes);
      return planUpdate(await findScene(source, ref), change, await findDesiredImage(client, change));
    },
    async prepare(plan, auths, journal) {
      const change = onlyChange(plan.changes);
      const { scene } = await unchangedScene(source, plan, change);
      const attached = {
        attachments: attachments(scene.container, apiVersion),
        host_config: scene.container.HostConfig,
      };
      await requireVerbs(client, { networks: needsNetworkCalls(attached), tag: !change.reference.includes("@") });
      const image = await pullDesired(client, scene, change, logins(auths), journal);
      return { is_noop: planUpdate(scene, change, image).is_noop };
    },
    async apply(plan, journal) {
      await (restores.has(plan.hash) ? applyRestore(plan, journal) : applyUpdate(plan, journal));
    },
    undo: (ref, journal) => putBack(recovering, ref.id, journal),
    finish: (ref, journal) => removePrevious(recovering, ref.id, journal),
    recover: (ref: TargetRef, journal: Journal): Promise<Recovery> => recoverRun(recovering, ref.id, journal),
    async readiness(ref, since) {
      return judgeReadiness(await getByName(client, ref.id), since, context.clock.now());
    },
    snapshots: {
      capture: async (ref) => snapshots.writeSnapshot(await findScene(source, ref)),
      async planRestore(ref, snapshot) {
        return snapshots.planRestore(source, ref, await orNull(findScene(source, ref)), snapshot);
      },
      async prepareRestore(plan, text, auths, journal) {
        const scene = await orNull(findScene(source, plan.ref));
        requireSameHash(plan, snapshots.restoreHash(scene?.container ?? null, apiVersion, text));
        const again = await snapshots.planRestore(source, plan.ref, scene, text);
        requireNoRefusal(again);
        const snapshot = snapshots.readSnapshot(text);
        const shape = snapshots.snapshotBlueprint(snapshot, apiVersion);
        await requireVerbs(client, { networks: needsNetworkCalls(shape), tag: true });
        const present = scene?.container ?? null;
        const isToRun = snapshots.isToRun(snapshot, present);
        const facts = { ...targetFacts(present, isToRun, null), pulled: snapshot.image.Id };
        await step(journal, "pull", facts, async () => {
          const image = await snapshots.fetchSnapshotImage(client, snapshot, logins(auths), (done) =>
            journal.progress(done),
          );
          return { image_id: image.Id };
        });
        const { Config: imageConfig } = snapshot.image;
        restores.set(plan.hash, { blueprint: shape, image_config: imageConfig, is_to_run: isToRun, text });
        return { is_noop: again.is_noop };
      },
    },
    async [Symbol.asyncDispose]() {
      ended.abort(new Error("The session was closed"));
    },
  };

  async function applyUpdate(plan: UpdatePlan, journal: Journal): Promise<void> {
    const change = onlyChange(plan.changes);
    const { scene } = await unchangedScene(source, plan, change);
    const image = (await findDesiredImage(client, change)) ?? (await orNull(client.inspectImage(change.reference)));
    if (image === null || scene.image === null) {
      throw new PluginError("rejected", `The image "${change.reference}" is not on the engine; prepare the plan first`);
    }
    const complete = planUpdate(scene, change, image);
    requireNoRefusal(complete);
    if (complete.is_noop) return;
    await tagAsReferenced(client, change, image);
    const shape = blueprint({
      container: scene.container,
      oldImage: scene.image,
      newImage: image,
      reference: change.reference,
      inherited: scene.inherited ?? new Set(),
      apiVersion,
    });
    await replaceContainer(
      { client, clock: context.clock, apiVersion },
      {
        name: plan.ref.id,
        old: scene.container,
        is_to_run: isRunning(scene.container),
        blueprint: shape,
        new_image_config: image.Config,
        platform: foreignPlatform(scene),
      },
      journal,
    );
  }

  async function applyRestore(plan: UpdatePlan, journal: Journal): Promise<void> {
    const restore = restores.get(plan.hash);
    if (restore === undefined) throw new PluginError("rejected", "Prepare the restore in this session first");
    const scene = await orNull(findScene(source, plan.ref));
    requireSameHash(plan, snapshots.restoreHash(scene?.container ?? null, apiVersion, restore.text));
    if (plan.is_noop) return;
    const platform = scene === null ? null : foreignPlatform(scene);
    await replaceContainer(
      { client, clock: context.clock, apiVersion },
      {
        name: plan.ref.id,
        old: scene?.container ?? null,
        is_to_run: restore.is_to_run,
        blueprint: restore.blueprint,
        new_image_config: restore.image_config,
        platform,
      },
      journal,
    );
  }
}

/** The target as it is now, if it is still what the plan was made for. */
async function unchangedScene(source: SceneSource, plan: UpdatePlan, change: Change): Promise<{ scene: Scene }> {
  const scene = await findScene(source, plan.ref);
  const again = planUpdate(scene, change, null);
  requireSameHash(plan, again.hash);
  requireNoRefusal(again);
  return { scene };
}

function requireSameHash(plan: UpdatePlan, hash: string): void {
  if (plan.hash === hash) return;
  throw new PluginError("rejected", `The container "${plan.ref.id}" was changed since the plan was made; plan again`);
}

function requireNoRefusal(plan: UpdatePlan): void {
  const [refusal] = plan.refusals;
  if (refusal !== undefined)
    throw new PluginError("rejected", `"${plan.ref.id}" cannot be updated: ${refusal.message}`);
}

/** A single container has one service. */
function onlyChange(changes: readonly Change[]): Change {
  const [change, ...others] = changes;
  if (change !== undefined && others.length === 0) return change;
  throw new PluginError("rejected", `A single container takes one change, not ${changes.length}`);
}
