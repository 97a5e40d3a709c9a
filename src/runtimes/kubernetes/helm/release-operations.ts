import { createHash } from "node:crypto";
import * as v from "valibot";
import { PluginError } from "../../../errors.ts";
import { type Message, plain, saidAt, say, toldAs } from "../../../messages/message.ts";
import type {
  ChartChange,
  Journal,
  Recovery,
  Refusal,
  RuntimeContext,
  TargetRef,
  TargetService,
} from "../../runtime.ts";
import type { ClusterAccess } from "../access.ts";
import type { ListReleases } from "../discover.ts";
import { type Around, followRollout, kindOf, readWorkload } from "../follow.ts";
import { judgeRollout } from "../rollout.ts";
import { readSaved } from "../saved.ts";
import { stateOfPods } from "../target.ts";
import type { TargetOperations } from "../workload-operations.ts";
import { placeOf, rules } from "../workloads.ts";
import { readManifest, workloadsIn } from "./manifest.ts";
import { openHelm } from "./program.ts";
import { hashOf, lookMs, planRollback, planUpgrade, type ReleaseDetail, upgradeArgs, wordsOf } from "./release-plan.ts";
import { deployedOf, type FoundRelease, isPending, releaseTarget } from "./release-target.ts";
import {
  listReleases,
  type Release,
  readEach,
  readIfReadable,
  readRevision,
  revisionsOf,
  type StoredRevision,
} from "./storage.ts";

/** The steps that make the run's own revision. */
const changing: ReadonlySet<string> = new Set(["upgrade", "back"]);
/** Which revision a run found: Helm has its content. */
const SavedRevision = v.object({ format: v.literal(1), revision: v.number(), manifest: v.string() });
/** What the journal keeps of an upgrade, so that it can be continued and rolled back. */
const UpgradeFacts = v.object({ from: v.number(), version: v.string() });
interface Releases {
  list: ListReleases;
  /** Why releases are not listed or not updated; `namespaces`: empty for all. */
  findProblems(namespaces: readonly string[]): Promise<readonly Refusal[]>;
}

/** The health check asks several times a second whether everything still runs. */
const endMs = 2_000;

export function releaseOperations(
  around: Around,
  access: ClusterAccess,
  self: RuntimeContext["self"],
): TargetOperations & Releases {
  const { cluster, clock, signal, stall_ms } = around;
  const helm = openHelm({ access, clock, signal, self });
  const timeout = `${Math.ceil(stall_ms / 1000)}s`;
  let looked: { at: number; end: Message | null } | null = null;

  const revisions = async ({ id }: TargetRef): Promise<readonly StoredRevision[]> => {
    const { namespace, name } = placeOf({ id });
    return await revisionsOf(cluster, namespace, name);
  };
  const latestOf = async (ref: TargetRef): Promise<StoredRevision> => {
    const [latest] = await revisions(ref);
    if (latest === undefined) throw missing(ref);
    return latest;
  };
  const find = async (ref: TargetRef): Promise<FoundRelease & { all: readonly StoredRevision[] }> => {
    const all = await revisions(ref);
    const [stored, deployed] = [all[0], deployedOf(all)];
    if (stored === undefined || deployed === undefined) throw missing(ref);
    const release = await readIfReadable(cluster, deployed);
    if (release === null) return { all, stored, release, serving: null, state: null };
    const { state, is_rolling } = await lookAtWorkloads(release, stored.namespace);
    const before = is_rolling
      ? all.find((each) => each.revision < deployed.revision && each.status === "superseded")
      : undefined;
    const serving = before === undefined ? release : await readIfReadable(cluster, before);
    return { all, stored, release, serving, state };
  };
  const lookAtWorkloads = async ({ manifest }: Release, namespace: string) => {
    let state: TargetService["state"] = "running";
    let isRolling = false;
    for (const each of workloadsIn(readManifest(manifest, namespace))) {
      const found = await readWorkload(cluster, each).catch((error: unknown) => {
        if (error instanceof PluginError && error.code === "not_found") return null;
        throw error;
      });
      if (found === null || stateOfPods(found) === "restarting") state = "restarting";
      if (found === null) continue;
      const { updated, desired, old } = judgeRollout(found).counts;
      isRolling ||= updated < desired || old > 0;
    }
    return { state, is_rolling: isRolling };
  };
  const helmProblem = async (): Promise<Message | null> => {
    try {
      await helm.version();
      return null;
    } catch (error) {
      if (error instanceof PluginError) return error.said;
      throw error;
    }
  };
  const rollBack = async (
    ref: TargetRef,
    { driver }: StoredRevision,
    to: number,
    journal: Journal,
    stop?: AbortSignal,
  ) => {
    const { namespace, name } = placeOf(ref);
    return await helm.run({
      args: ["rollback", name, String(to), "--namespace", namespace, "--timeout", timeout],
      driver,
      folder: journal.run_id,
      timeout_ms: stall_ms + lookMs,
      stop,
    });
  };
  /** Follows every workload of a revision, one after the other; null when all are complete. */
  const follow = async (
    stored: StoredRevision,
    { journal, step, stop }: { journal: Journal; step: string; stop: AbortSignal | undefined },
  ): Promise<Message | null> => {
    const { manifest } = await readRevision(cluster, stored);
    const workloads = workloadsIn(readManifest(manifest, stored.namespace));
    for (const [at, ref] of workloads.entries()) {
      const { is_done, detail } = await followRollout(around, ref, {
        images: new Map(),
        stop,
        onProgress: (_counts, said) => {
          const detail = ofWorkload(ref, said);
          journal.progress({ step, done: at, total: workloads.length, detail });
        },
      });
      if (!is_done) return ofWorkload(ref, detail);
    }
    return null;
  };

  /** What became of the upgrade: null when the release has its new version and all of it runs. */
  const judge = async (
    ref: TargetRef,
    journal: Journal,
    stop: AbortSignal,
    isStatusEnough: boolean,
  ): Promise<Message | null> => {
    const begun = upgradeOf(journal);
    if (begun === null) return say("kubernetes.not_upgraded");
    await helm.awaitEnd(journal.run_id, AbortSignal.any([signal, stop]));
    const stored = await latestOf(ref);
    const { revision, status } = stored;
    if (revision <= begun.from) return say("kubernetes.not_upgraded");
    if (revision > begun.from + 1) return say("kubernetes.release_changed_meanwhile", { revision });
    if (isPending(status)) return say("kubernetes.upgrade_cut_off", { revision, status });
    if (status !== "deployed") {
      const { description } = (await readRevision(cluster, stored)).info;
      return say("kubernetes.upgrade_failed", { revision, said: saidIn(journal) ?? plain(description.slice(0, 1000)) });
    }
    return isStatusEnough ? null : await follow(stored, { journal, step: "rollout", stop });
  };

  const undo = async (ref: TargetRef, journal: Journal, stop: AbortSignal | undefined): Promise<Recovery> => {
    const begun = upgradeOf(journal);
    if (begun === null) return { state: "untouched", detail: say("kubernetes.not_upgraded") };
    await helm.awaitEnd(journal.run_id, stop === undefined ? signal : AbortSignal.any([signal, stop]));
    const stored = await latestOf(ref);
    const { revision } = stored;
    const isBegun = journal.entries().some(({ step }) => step === "undo");
    if (revision <= begun.from) return { state: "untouched", detail: say("kubernetes.not_upgraded") };
    const isBack = isBegun && revision === begun.from + 2 && stored.status === "deployed";
    if (revision > begun.from + 1 && !isBack && !(isBegun && revision === begun.from + 2)) {
      return { state: "mixed", detail: say("kubernetes.release_changed_meanwhile", { revision }) };
    }
    await journal.begin("undo", { revision: begun.from });
    try {
      if (!isBack) {
        const result = await rollBack(ref, stored, begun.from, journal);
        if (!result.is_done) {
          throw new PluginError(
            "rejected",
            say("kubernetes.rollback_failed", { to: begun.from, said: wordsOf(result) }),
          );
        }
      }
      const why = await follow(await latestOf(ref), { journal, step: "undo", stop });
      if (why !== null)
        throw new PluginError("rejected", say("kubernetes.rollback_stuck", { to: begun.from, cause: why }));
      await journal.finish("undo", { state: "untouched" });
      return { state: "untouched", detail: say("kubernetes.rolled_back", { to: begun.from }) };
    } catch (error) {
      if (error instanceof PluginError) await journal.fail("undo", toldAs("error", error.said));
      throw error;
    }
  };

  return {
    list: async (namespace) => {
      const all = await listReleases(cluster, namespace);
      if (all === null) return null;
      const problem = all.length === 0 ? null : await helmProblem();
      const found = all.flatMap((each) => {
        const [stored, deployed] = [each[0], deployedOf(each)];
        return stored === undefined || deployed === undefined ? [] : [{ stored, deployed }];
      });
      const contents = await readEach(
        cluster,
        found.map(({ deployed }) => deployed),
      );
      return found.map(({ stored }, at) => {
        const release = contents[at] ?? null;
        return releaseTarget({ stored, release, serving: release, state: null }, problem);
      });
    },
    findProblems: async (namespaces) => {
      const places = namespaces.length === 0 ? [null] : namespaces;
      const refused: string[] = [];
      let isListed = false;
      for (const namespace of places) {
        if ((await listReleases(cluster, namespace)) === null) refused.push(namespace ?? "");
        else isListed = true;
      }
      const unlisted = {
        code: "releases_not_listed",
        message: say("kubernetes.releases_not_listed", { namespaces: refused.filter((each) => each !== "") }),
      };
      const problem = isListed ? await helmProblem() : null;
      return [
        ...(refused.length === 0 ? [] : [unlisted]),
        ...(problem === null ? [] : [{ code: "helm_missing", message: problem }]),
      ];
    },
    inspect: async (ref) => releaseTarget(await find(ref), await helmProblem()),
    plan: async (ref, changes) => {
      const found = await find(ref);
      return await planUpgrade(ref, found, found.all, changes, { helm, problem: await helmProblem() });
    },
    prepare: async (plan, _auths, journal) => {
      const detail = plan.detail as ReleaseDetail;
      const change = plan.changes[0] as ChartChange;
      const chart = plan.is_noop ? new Uint8Array() : await change.archive();
      return {
        is_noop: plan.is_noop,
        apply: async (stopping) => {
          stopping?.throwIfAborted();
          const stored = await latestOf(plan.ref);
          if (hashOf(plan.ref, stored, change) !== plan.hash) {
            throw new PluginError("rejected", say("kubernetes.changed_since_plan"));
          }
          const { unlock_to } = detail;
          if (unlock_to !== null) await unlock(plan.ref, stored, unlock_to);
          await upgrade(plan.ref, chart, change.version, stopping);
        },
      };

      async function unlock(ref: TargetRef, stored: StoredRevision, to: number): Promise<void> {
        await journal.begin("unlock", { revision: stored.revision, to });
        const result = await rollBack(ref, stored, to, journal);
        if (!result.is_done) {
          const said = say("kubernetes.rollback_failed", { to, said: wordsOf(result) });
          await journal.fail("unlock", toldAs("error", said));
          throw new PluginError("rejected", said);
        }
        await journal.finish("unlock", {});
      }

      async function upgrade(ref: TargetRef, archive: Uint8Array, version: string, stop?: AbortSignal): Promise<void> {
        const { revision: from, driver } = await latestOf(ref);
        const { namespace, name } = placeOf(ref);
        await journal.begin("upgrade", { from, version });
        const result = await helm.run({
          args: upgradeArgs(name, namespace, timeout),
          driver,
          files: { "chart.tgz": archive },
          folder: journal.run_id,
          timeout_ms: stall_ms + lookMs,
          stop,
        });
        if (result.is_done) return await journal.finish("upgrade", { revision: from + 1 });
        const said = wordsOf(result);
        await journal.fail("upgrade", toldAs("error", said));
        // Without a new revision helm has changed nothing; otherwise what it left is judged.
        if ((await latestOf(ref)).revision === from) throw new PluginError("rejected", said);
      }
    },
    snapshots: {
      capture: async (ref) => {
        const { all, release } = await find(ref);
        const deployed = deployedOf(all);
        if (deployed === undefined || release === null) throw missing(ref);
        return JSON.stringify({ format: 1, revision: deployed.revision, manifest: digestOf(release.manifest) });
      },
      planRestore: async (ref, snapshot) => {
        const { revision, manifest } = readSaved(snapshot, SavedRevision);
        const found = await find(ref);
        const stored = found.all.find((each) => each.revision === revision);
        const release = stored === undefined ? null : await readIfReadable(cluster, stored);
        // A release that was uninstalled and installed again counts from 1.
        const isSame = release !== null && digestOf(release.manifest) === manifest;
        return planRollback(ref, found, { revision, release: isSame ? release : null }, await helmProblem());
      },
      prepareRestore: async (plan, snapshot, _auths, journal) => ({
        is_noop: plan.is_noop,
        apply: async (stopping) => {
          stopping?.throwIfAborted();
          const { revision: to } = readSaved(snapshot, SavedRevision);
          const stored = await latestOf(plan.ref);
          if (stored.revision !== (plan.detail as ReleaseDetail).revision) {
            throw new PluginError("rejected", say("kubernetes.changed_since_plan"));
          }
          await journal.begin("back", { from: stored.revision, version: String(to) });
          const result = await rollBack(plan.ref, stored, to, journal, stopping);
          if (result.is_done) return await journal.finish("back", { revision: stored.revision + 1 });
          const said = say("kubernetes.rollback_failed", { to, said: wordsOf(result) });
          await journal.fail("back", toldAs("error", said));
          if ((await latestOf(plan.ref)).revision === stored.revision) throw new PluginError("rejected", said);
        },
      }),
    },
    settle: async (ref, journal, stopping, options) => {
      await journal.begin("rollout");
      const why = await judge(ref, journal, stopping, options?.is_status_enough ?? false);
      if (why === null) await journal.finish("rollout", {});
      else await journal.fail("rollout", toldAs("error", why));
      return why;
    },
    undo: (ref, journal, _snapshot, stopping) => undo(ref, journal, stopping),
    recover: async (ref, journal, _snapshot, stopping) => {
      const begun = upgradeOf(journal);
      if (begun === null) return { state: "untouched", detail: say("kubernetes.not_upgraded") };
      if (journal.entries().some(({ step }) => step === "undo")) return await undo(ref, journal, stopping);
      await helm.awaitEnd(journal.run_id, stopping === undefined ? signal : AbortSignal.any([signal, stopping]));
      const { revision } = await latestOf(ref);
      return revision === begun.from
        ? { state: "untouched", detail: say("kubernetes.not_upgraded") }
        : { state: "started", detail: say("kubernetes.is_upgraded", { revision }) };
    },
    readiness: async (ref) => {
      const stored = await latestOf(ref);
      const release = await readIfReadable(cluster, stored);
      if (stored.status !== "deployed" || release === null) {
        return { ready: false, detail: say("kubernetes.release_status", { status: stored.status }) };
      }
      for (const each of workloadsIn(readManifest(release.manifest, stored.namespace))) {
        const { state, detail: said } = judgeRollout(await readWorkload(cluster, each));
        if (state === "done") continue;
        const detail = ofWorkload(each, said);
        return { ready: false, detail, ...(state === "failed" ? { final: true } : {}) };
      }
      return { ready: true, detail: say("kubernetes.release_status", { status: stored.status }) };
    },
    findEnd: async (ref) => {
      if (looked === null || clock.elapsed() - looked.at >= endMs) {
        const isGone = (await revisions(ref)).length === 0;
        looked = { at: clock.elapsed(), end: isGone ? say("kubernetes.release_missing", { release: ref.id }) : null };
      }
      return looked.end;
    },
    standing: async (ref, _journal, { before }) => {
      const { stored, state } = await find(ref);
      const facts = { revision: stored.revision };
      const isChanged = before !== null && before.revision !== facts.revision;
      return {
        facts,
        changed: isChanged ? say("kubernetes.release_changed_meanwhile", { revision: stored.revision }) : null,
        is_up: state === "running",
        readiness: {
          ready: stored.status === "deployed",
          detail: say("kubernetes.release_status", { status: stored.status }),
        },
      };
    },
  };
}

function digestOf(manifest: string): string {
  return createHash("sha256").update(manifest).digest("hex");
}

function ofWorkload(ref: TargetRef, said: Message): Message {
  return say("kubernetes.of_workload", { kind: rules[kindOf(ref)].title, workload: ref.id, said });
}

function missing({ id }: TargetRef): PluginError {
  return new PluginError("not_found", say("kubernetes.release_missing", { release: id }));
}

/** Helm's words of the failed upgrade, if this process or an earlier one heard them. */
function saidIn(journal: Journal): Message | null {
  const entry = journal.entries().find(({ step, phase }) => changing.has(step) && phase === "fail");
  return saidAt(entry?.facts ?? {}, "error");
}

/** The upgrade that the run began, by its journal; null if it did not come so far. */
function upgradeOf(journal: Journal): v.InferOutput<typeof UpgradeFacts> | null {
  const entry = journal.entries().find(({ step, phase }) => changing.has(step) && phase === "begin");
  const parsed = v.safeParse(UpgradeFacts, entry?.facts);
  return parsed.success ? parsed.output : null;
}
