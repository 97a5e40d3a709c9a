import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { ContainersDetail } from "../containers-detail.ts";
import type { Journal } from "../journal.ts";
import { ofImages, type UpdatePlan } from "../plan.ts";
import type { RuntimeContext } from "../runtime.ts";
import type { RegistryAuth, RuntimeFacts, RuntimeSession } from "../session.ts";
import type { EngineAddress } from "./address.ts";
import { defaultDeadlines, type EngineDeadlines, negotiate } from "./client.ts";
import type { SceneSource } from "./container-plan.ts";
import { describeTarget, discoverTargets } from "./discover.ts";
import type { Flavour } from "./flavour.ts";
import { replaceUnits, type Unit } from "./group/apply.ts";
import { fileNotices } from "./group/file-notices.ts";
import { engineLogPart, lastLogsOfRun } from "./group/logs.ts";
import { prepareRollback, prepareUpdate, requireUpdatable } from "./group/prepare.ts";
import { findEndOfRun, judgeRun } from "./group/readiness.ts";
import { finishRun, pointTagsBack, recoverTogether, undoRun } from "./group/recover.ts";
import { planRestore, type RestorePlan } from "./group/restore.ts";
import { standingOf } from "./group/standing.ts";
import { findTarget, getTarget, lookAtTarget } from "./group/target.ts";
import { planTarget, type Replaced, type TargetPlan } from "./group/target-plan.ts";
import { capture, rebuildFrom, restoredUnit, unitOf } from "./group/units.ts";
import { engineImages } from "./images.ts";
import { isPlainRegistry } from "./plain-registry.ts";
import { findPulledImage } from "./prepare.ts";
import { type RawObject, stringAt } from "./raw.ts";
import type { RecoverContext } from "./recover.ts";
import { readSnapshot, snapshotBlueprint } from "./snapshot.ts";
import { findNameOfId, sharedReads } from "./survey.ts";
import { createSurveyMemory, type SurveyMemory } from "./survey-memory.ts";
import { type EngineTransport, engineTransport } from "./transport.ts";
import { requireReads } from "./verbs.ts";

export interface SessionOptions {
  /** Of the kind that the administrator chose. */
  flavour: Flavour;
  address: EngineAddress;
  /** The administrator's choice, null to negotiate. */
  api_version: string | null;
  /** For pulls whose tracker has no login. */
  registry_auth: RegistryAuth | null;
  context: Pick<RuntimeContext, "signal" | "clock" | "self" | "reads_once">;
  deadlines?: EngineDeadlines;
  /** Between two attempts at a step of the way back, in milliseconds. */
  retry_delay_ms?: number;
  transport?: EngineTransport;
  /** From earlier sessions on the same engine: what has not changed is not requested again. */
  memory?: SurveyMemory;
  /** Where compose is expected, which computes what its files mean; by default the usual places. */
  compose_folders?: readonly string[];
}

const defaultRetryDelayMs = 500;

/** Opens a session: reads the engine's version and chooses an API version. Throws if the engine does not respond. */
export async function openEngine(options: SessionOptions): Promise<RuntimeSession<ContainersDetail>> {
  const { address, context } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const transport = options.transport ?? engineTransport(address, signal);
  const { flavour } = options;
  const negotiated = await negotiate(transport, options.api_version, options.deadlines ?? defaultDeadlines, flavour);
  const { client, version, api_version: apiVersion } = negotiated;
  const enginePlatform = [version.Os ?? "", version.Arch ?? ""].filter((part) => part !== "").join("/");
  const composeFolders = options.compose_folders ?? null;
  const source: SceneSource = {
    client,
    apiVersion,
    engine_platform: enginePlatform,
    self: context.self,
    address,
    reads: sharedReads(client, options.memory ?? createSurveyMemory(), context.reads_once ?? false),
  };
  const recovering: RecoverContext = {
    client,
    clock: context.clock,
    apiVersion,
    retryDelayMs: options.retry_delay_ms ?? defaultRetryDelayMs,
  };
  const applying = { client, clock: context.clock, apiVersion, composeFolders };
  const logins = (auths: readonly RegistryAuth[]): readonly RegistryAuth[] =>
    options.registry_auth === null ? auths : [...auths, options.registry_auth];
  /** The way back; the run's snapshot has what the engine may have lost. */
  const wayBack = (snapshot: string | null, stopping: AbortSignal | undefined) => {
    const members = snapshot === null ? null : readSnapshot(snapshot).members;
    const networksOf = (id: string) => {
      const member = members?.find(({ container }) => container.Id === id);
      return member === undefined ? null : snapshotBlueprint(member, apiVersion).attachments;
    };
    const rebuild = members === null ? null : rebuildFrom(client, members, apiVersion);
    return { context: { ...recovering, networksOf, stopping }, rebuild };
  };

  /** The same plan made again now that the images are present, if it is still equal. */
  const planAgain = async (plan: UpdatePlan): Promise<TargetPlan> => {
    const found = await getTarget(source, plan.ref, plan.owed);
    const planOptions = { start_first: plan.order === "start_first", drain_seconds: plan.drain_seconds };
    const again = await planTarget(client, found, ofImages(plan.changes), planOptions, findPulledImage);
    requireSame(plan, again.plan);
    return again;
  };
  const restoreAgain = async (plan: UpdatePlan, snapshot: string): Promise<RestorePlan> => {
    const again = await planRestore(client, await findTarget(source, plan.ref, plan.owed), apiVersion, snapshot);
    requireSame(plan, again.plan);
    return again;
  };

  return {
    // Its version was requested when the session was opened.
    ping: async () => undefined,
    async describe(): Promise<RuntimeFacts> {
      await client.listContainers();
      await requireReads(client);
      return { version: version.Version, api_version: apiVersion, platform: enginePlatform, warnings: [] };
    },
    identify: async () => (flavour.keepsId ? idIn(await client.info()) : null),
    discover: () => discoverTargets(source),
    inspect: async (ref) => describeTarget(await lookAtTarget(source, ref)),
    nameOfId: (id) => findNameOfId(client, id),
    isPlainRegistry: async (image) => {
      const info = await client.info();
      return info === null ? null : isPlainRegistry(info, image, client.flavour.kind);
    },
    async plan(ref, changes, planOptions = { start_first: false, drain_seconds: 0 }) {
      const found = await getTarget(source, ref, planOptions.owed);
      const { plan, replaced } = await planTarget(client, found, ofImages(changes), planOptions);
      return { ...plan, files: await fileNotices(replaced, composeFolders) };
    },
    async prepare(plan, auths, journal) {
      const isNoop = await prepareUpdate(source, plan, logins(auths), journal);
      return {
        is_noop: isNoop,
        apply: async (stopping) => {
          if (!isNoop) await applyUpdate(await planAgain(plan), journal, stopping);
        },
      };
    },
    unprepare: (journal) => pointTagsBack(recovering, journal),
    undo: (ref, journal, snapshot, stopping) => {
      const { context, rebuild } = wayBack(snapshot, stopping);
      return undoRun(context, ref, journal, rebuild);
    },
    finish: (ref, journal) => finishRun(recovering, ref, journal),
    recover: (ref, journal, snapshot, stopping) => {
      const { context, rebuild } = wayBack(snapshot, stopping);
      return recoverTogether(context, ref, journal, rebuild);
    },
    lastLogs: (ref, journal) => lastLogsOfRun(client, ref, journal),
    logParts: async (ref) => (await lookAtTarget(source, ref)).members.map((member) => engineLogPart(client, member)),
    readiness: (ref, ranMs, journal) => judgeRun(client, ref, journal, ranMs),
    findEnd: (ref, journal) => findEndOfRun(client, ref, journal),
    standing: (ref, journal, look) => standingOf(recovering, ref, journal, look),
    images: engineImages(client),
    snapshots: {
      capture: (ref) => capture(source, ref),
      planRestore: async (ref, snapshot, owed) => {
        const found = await findTarget(source, ref, owed);
        const { plan, clusters } = await planRestore(client, found, apiVersion, snapshot);
        return { ...plan, files: await fileNotices(clusters.flat(), composeFolders) };
      },
      async prepareRestore(plan, snapshot, auths, journal) {
        await prepareRollback(source, plan, snapshot, logins(auths), journal);
        return {
          is_noop: plan.is_noop,
          apply: async (stopping) => {
            if (!plan.is_noop) await applyRestore(await restoreAgain(plan, snapshot), journal, stopping);
          },
        };
      },
    },
    async [Symbol.asyncDispose]() {
      ended.abort(new Error("The session was closed"));
    },
  };

  async function applyUpdate(planned: TargetPlan, journal: Journal, stopping?: AbortSignal): Promise<void> {
    const units = new Map<Replaced, Unit>();
    for (const each of planned.replaced) units.set(each, await unitOf(client, each));
    const clusters = planned.clusters.map((cluster) => cluster.flatMap((each) => units.get(each) ?? []));
    await replaceUnits({ ...applying, stopping }, clusters, planned.plan, new Map(), journal);
  }

  async function applyRestore(planned: RestorePlan, journal: Journal, stopping?: AbortSignal): Promise<void> {
    const clusters: Unit[][] = [];
    for (const cluster of planned.clusters) {
      const units: Unit[] = [];
      for (const each of cluster) {
        units.push("member" in each ? restoredUnit(source, each) : await unitOf(client, each));
      }
      clusters.push(units);
    }
    await replaceUnits({ ...applying, stopping }, clusters, planned.plan, planned.stands, journal);
  }
}

/** Engines of one machine, and of copies of a machine, can have the same ID. */
function idIn(info: RawObject | null): string | null {
  const [id = "", ...others] = [info?.ID, info?.Name, info?.DockerRootDir].map(stringAt);
  return id === "" ? null : [id, ...others].join(" ");
}

function requireSame(plan: UpdatePlan, again: UpdatePlan): void {
  if (plan.hash !== again.hash) {
    const code = plan.ref.kind === "compose" ? "engine.group_changed" : "engine.container_changed";
    throw new PluginError("rejected", say(code, { name: plan.ref.id }));
  }
  requireUpdatable(again);
}
