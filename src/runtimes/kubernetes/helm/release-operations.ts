import { createHash } from "node:crypto";
import * as v from "valibot";
import { PluginError } from "../../../errors.ts";
import { inEnglish, type Message, plain, saidAt, say, toldAs } from "../../../messages/message.ts";
import { cutTo, withoutSecrets } from "../../engine/hide-secrets.ts";
import type { Journal, RolloutProgress } from "../../journal.ts";
import { type LastLog, type LogPart, maxLogs } from "../../logs.ts";
import type { ChartChange, UpdatePlan } from "../../plan.ts";
import { unlessStuck } from "../../recovery.ts";
import type { Recovery, SettleOptions } from "../../session.ts";
import type { TargetRef, TargetService } from "../../target.ts";
import { podsOf, writingPodsOf } from "../explain.ts";
import { type Around, findWorkload, followRollout, kindOf, readWorkload } from "../follow.ts";
import { logPartsOf } from "../logs.ts";
import { judgeRollout } from "../rollout.ts";
import { readSaved } from "../saved.ts";
import { shortfallOf, stateOfPods } from "../target.ts";
import type { Shown, TargetOperations } from "../workload-operations.ts";
import { placeOf, rules } from "../workloads.ts";
import { secretsOf, secretsSet, workloadsOf } from "./manifest.ts";
import type { Helm } from "./program.ts";
import {
  hashOf,
  lookMs,
  ofWorkload,
  planRollback,
  planUpgrade,
  type ReleaseDetail,
  rollbackHash,
  upgradeArgs,
  wordsOf,
} from "./release-plan.ts";
import { deployedOf, type FoundRelease, isPending, releaseTarget } from "./release-target.ts";
import { type Release, readIfReadable, readRevision, revisionsOf, type StoredRevision } from "./storage.ts";

/** The steps that make the run's own revision. */
const changing: readonly string[] = ["upgrade", "back"];
/** Which revision a run found: Helm has its content. */
const SavedRevision = v.object({ format: v.literal(1), revision: v.number(), manifest: v.string() });
/**
 * What the journal keeps of an upgrade, so that it can be continued and rolled back. `description`: Helm's of the revision, if it succeeds;
 * it distinguishes ours from one that somebody else made at the same time.
 */
const UpgradeFacts = v.object({ from: v.number(), description: v.string() });
/** What ended a step without a revision of its own. */
const NotMade = v.object({ is_made: v.literal(false) });
/** Helm's words for it, and those of the cluster if both began at the same moment. */
const isTaken = /another operation .* is in progress|sh\.helm\.release\.v1\..* already exists/;

interface Revising {
  /** As journalled, with these facts. */
  step: string;
  facts: Readonly<Record<string, unknown>>;
  args: readonly string[];
  files?: Readonly<Record<string, Uint8Array>>;
  /** The sentence for helm's own words. */
  failed(said: Message): Message;
  /** Whether the caller ends the step, if this part of it succeeds. */
  goes_on?: boolean;
}

/** The health check asks several times a second whether everything is still running. */
const endMs = 2_000;

export function releaseOperations(around: Around, helm: Helm): TargetOperations {
  const { cluster, clock, signal, stall_ms, logs } = around;
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
    if (release === null) return { all, stored, release, serving: null, state: null, shortfall: null };
    const { state, shortfall, is_rolling } = await lookAtWorkloads(release, stored.namespace);
    const before = is_rolling
      ? all.find((each) => each.revision < deployed.revision && each.status === "superseded")
      : undefined;
    const serving = before === undefined ? release : await readIfReadable(cluster, before);
    return { all, stored, release, serving, state, shortfall };
  };
  const lookAtWorkloads = async (release: Release, namespace: string) => {
    let state: TargetService["state"] = "running";
    let shortfall: Message | null = null;
    let isRolling = false;
    for (const each of workloadsOf(release, namespace)) {
      const found = await findWorkload(cluster, each);
      if (found === null || stateOfPods(found) === "restarting") state = "restarting";
      if (found === null) continue;
      const short = shortfallOf(found);
      if (short !== null) shortfall ??= ofWorkload(each, short);
      const { counts, state: rollout } = judgeRollout(found);
      const { updated, desired, old } = counts;
      isRolling ||= rollout !== "done" && (updated < desired || old > 0);
    }
    return { state, shortfall, is_rolling: isRolling };
  };
  /** Without the secrets of these revisions. */
  const withoutOwn = async (said: Message, ...all: readonly StoredRevision[]): Promise<Message> => {
    const releases = await Promise.all(all.map((each) => readIfReadable(cluster, each)));
    const secrets = releases.flatMap((each, at) => {
      if (each === null) return [];
      try {
        return secretsOf(each, all[at]?.namespace ?? "");
      } catch (error) {
        if (error instanceof PluginError) return secretsSet(each);
        throw error;
      }
    });
    return withoutSecrets(said, secrets);
  };
  /**
   * One change by helm, which makes a revision. Throws if it failed without one, or if somebody else made it: then we have changed nothing.
   * False if it failed with one, which is then judged.
   */
  const makeRevision = async (
    ref: TargetRef,
    stored: StoredRevision,
    { step, facts, args, files = {}, failed, goes_on = false }: Revising,
    { journal, stop }: { journal: Journal; stop?: AbortSignal | undefined },
  ): Promise<boolean> => {
    const { revision, driver } = stored;
    await journal.begin(step, facts);
    const folder = journal.run_id;
    const result = await helm.run({ args, driver, files, folder, timeout_ms: stall_ms + lookMs, stop });
    if (result.is_done) {
      if (!goes_on) await journal.finish(step, { revision: revision + 1 });
      return true;
    }
    const latest = await latestOf(ref);
    const said = await withoutOwn(failed(wordsOf(result)), stored, latest);
    const isMade = latest.revision !== revision && !isTaken.test(inEnglish(said));
    await journal.fail(step, { ...toldAs("error", said), is_made: isMade });
    if (!isMade) throw new PluginError("rejected", said);
    return false;
  };
  const rollbackTo = (ref: TargetRef, to: number): Pick<Revising, "args" | "failed"> => {
    const { namespace, name } = placeOf(ref);
    return {
      args: ["rollback", name, String(to), "--namespace", namespace, "--timeout", timeout],
      failed: (said) => say("kubernetes.rollback_failed", { to, said }),
    };
  };
  const ending = (stop: AbortSignal | undefined) => (stop === undefined ? signal : AbortSignal.any([signal, stop]));
  /** Follows every workload of a revision, one after the other; null when all are complete. */
  const follow = async (
    stored: StoredRevision,
    { journal, step, stop, onCrash }: Shown,
  ): Promise<{ why: Message; rollout: RolloutProgress | null } | null> => {
    const release = await readRevision(cluster, stored);
    const secrets = secretsOf(release, stored.namespace);
    const workloads = workloadsOf(release, stored.namespace);
    const inRelease = (ref: TargetRef, rollout: RolloutProgress | null) =>
      rollout === null ? null : { ...rollout, part: `${rules[kindOf(ref)].title} ${ref.id}` };
    for (const [at, ref] of workloads.entries()) {
      const { is_done, detail, rollout } = await followRollout(around, ref, {
        images: new Map(),
        stop,
        onCrash: onCrash && ((written) => onCrash(withSecrets(written, secrets))),
        onProgress: (_counts, said, rollout) => {
          const shown = inRelease(ref, rollout);
          const detail = ofWorkload(ref, said);
          journal.progress({
            ...{ step, done: at, total: workloads.length, detail },
            ...(shown === null ? {} : { rollout: shown }),
          });
        },
      });
      if (!is_done) return { why: ofWorkload(ref, detail), rollout: inRelease(ref, rollout) };
    }
    return null;
  };

  /** Whether somebody else made the revision after the one that the run found; a failed one does not show that. */
  const isForeign = async (stored: StoredRevision, { description }: Pick<Upgrade, "description">): Promise<boolean> =>
    stored.status === "deployed" && (await readRevision(cluster, stored)).info.description !== description;

  /** Null if the release has its new version and everything in it is running, else why not. */
  const judge = async (
    ref: TargetRef,
    journal: Journal,
    stop: AbortSignal,
    options: SettleOptions | undefined,
  ): Promise<{ why: Message; rollout?: RolloutProgress | null } | null> => {
    const failed = (why: Message) => ({ why });
    const begun = upgradeOf(journal);
    if (begun === null) return failed(say("kubernetes.not_upgraded"));
    await helm.awaitEnd(journal.run_id, ending(stop));
    const stored = await latestOf(ref);
    const { revision, status } = stored;
    if (revision <= begun.from) return failed(say("kubernetes.not_upgraded"));
    if (revision > begun.from + 1 || (await isForeign(stored, begun))) {
      return failed(say("kubernetes.release_changed_meanwhile", { revision }));
    }
    if (isPending(status)) return failed(say("kubernetes.upgrade_cut_off", { revision, status }));
    if (status !== "deployed") {
      const { description } = (await readRevision(cluster, stored)).info;
      const said = saidIn(journal, ...changing) ?? (await withoutOwn(plain(cutTo(description, 1000)), stored));
      return failed(say("kubernetes.upgrade_failed", { revision, said }));
    }
    if (options?.is_status_enough === true) return null;
    return await follow(stored, { journal, step: "rollout", stop, onCrash: options?.onCrash });
  };

  const undo = async (ref: TargetRef, journal: Journal, stop: AbortSignal | undefined): Promise<Recovery> => {
    const begun = upgradeOf(journal);
    if (begun === null) return { state: "untouched", detail: say("kubernetes.not_upgraded") };
    await helm.awaitEnd(journal.run_id, ending(stop));
    const stored = await latestOf(ref);
    const { revision } = stored;
    const to = begun.from;
    if (revision <= to) return { state: "untouched", detail: say("kubernetes.not_upgraded") };
    // Each attempt to roll back may have made a revision, and nothing else of ours did.
    const attempts = journal.entries().filter(({ step, phase }) => step === "undo" && phase === "begin").length;
    const isLater = revision > to + 1;
    const own = isLater ? { description: rolledBackTo(to) } : begun;
    if (revision > to + 1 + attempts || (await isForeign(stored, own))) {
      return { state: "mixed", detail: say("kubernetes.release_changed_meanwhile", { revision }) };
    }
    const isBack = isLater && stored.status === "deployed";
    const change = { step: "undo", facts: { revision: to }, goes_on: true, ...rollbackTo(ref, to) };
    if (isBack) await journal.begin("undo", change.facts);
    else if (!(await makeRevision(ref, stored, change, { journal }))) {
      throw new PluginError("rejected", saidIn(journal, "undo") ?? say("kubernetes.helm_killed"));
    }
    const stuck = await follow(await latestOf(ref), { journal, step: "undo", stop });
    if (stuck !== null) {
      const said = say("kubernetes.rollback_stuck", { to, cause: stuck.why });
      await journal.fail("undo", { rollout: stuck.rollout, ...toldAs("error", said) });
      throw new PluginError("rejected", said);
    }
    await journal.finish("undo", { state: "untouched" });
    return { state: "untouched", detail: say("kubernetes.rolled_back", { to }) };
  };

  const recover = async (ref: TargetRef, journal: Journal, stop: AbortSignal | undefined): Promise<Recovery> => {
    // Also one that only rolls an unfinished revision back.
    await helm.awaitEnd(journal.run_id, ending(stop));
    const begun = upgradeOf(journal);
    if (begun === null) return { state: "untouched", detail: say("kubernetes.not_upgraded") };
    if (journal.entries().some(({ step }) => step === "undo")) return await undo(ref, journal, stop);
    const { revision } = await latestOf(ref);
    return revision === begun.from
      ? { state: "untouched", detail: say("kubernetes.not_upgraded") }
      : { state: "started", detail: say("kubernetes.is_upgraded", { revision }) };
  };

  return {
    inspect: async (ref) => releaseTarget(await find(ref), await helm.findProblem()),
    plan: async (ref, changes) => {
      const found = await find(ref);
      return await planUpgrade(ref, found, found.all, changes, { helm, problem: await helm.findProblem() });
    },
    prepare: async (plan, _auths, journal) => {
      const { ref } = plan;
      const { unlock_to } = plan.detail as ReleaseDetail;
      const change = plan.changes[0] as ChartChange;
      const archive = plan.is_noop ? new Uint8Array() : await change.archive();
      return {
        is_noop: plan.is_noop,
        apply: async (stopping) => {
          stopping?.throwIfAborted();
          const stored = await latestOf(ref);
          requireAsPlanned(plan, hashOf(ref, stored, change));
          if (unlock_to !== null) {
            const facts = { revision: stored.revision, to: unlock_to };
            const unlocking = { step: "unlock", facts, ...rollbackTo(ref, unlock_to) };
            if (!(await makeRevision(ref, stored, unlocking, { journal }))) {
              throw new PluginError("rejected", saidIn(journal, "unlock") ?? say("kubernetes.helm_killed"));
            }
          }
          const now = await latestOf(ref);
          const { namespace, name } = placeOf(ref);
          const description = `Tidemark run ${journal.run_id}`;
          const upgrading = {
            step: "upgrade",
            facts: { from: now.revision, description },
            args: [...upgradeArgs(name, namespace, timeout), "--description", description],
            files: { "chart.tgz": archive },
            failed: (said: Message) => said,
          };
          await makeRevision(ref, now, upgrading, { journal, stop: stopping });
        },
      };
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
        return planRollback(ref, found, { revision, release: isSame ? release : null }, await helm.findProblem());
      },
      prepareRestore: async (plan, snapshot, _auths, journal) => ({
        is_noop: plan.is_noop,
        apply: async (stopping) => {
          stopping?.throwIfAborted();
          const { ref } = plan;
          const { revision: to } = readSaved(snapshot, SavedRevision);
          const stored = await latestOf(ref);
          requireAsPlanned(plan, rollbackHash(ref, stored, to));
          const facts = { from: stored.revision, description: rolledBackTo(to) };
          const change = { step: "back", facts, ...rollbackTo(ref, to) };
          await makeRevision(ref, stored, change, { journal, stop: stopping });
        },
      }),
    },
    settle: async (ref, journal, stopping, options) => {
      await journal.begin("rollout");
      const failure = await judge(ref, journal, stopping, options).catch((error: unknown) => {
        if (!(error instanceof PluginError && error.code === "not_found")) throw error;
        return { why: error.said, rollout: null };
      });
      if (failure === null) await journal.finish("rollout", {});
      else await journal.fail("rollout", { rollout: failure.rollout ?? null, ...toldAs("error", failure.why) });
      return failure?.why ?? null;
    },
    lastLogs: async (ref, journal) => {
      if (!journal.entries().some(({ step }) => step === "rollout")) return [];
      const stored = await latestOf(ref);
      const release = await readRevision(cluster, stored);
      const secrets = secretsOf(release, stored.namespace);
      const found: LastLog[] = [];
      for (const each of workloadsOf(release, stored.namespace)) {
        const workload = await readWorkload(cluster, each);
        if (judgeRollout(workload).state === "done") continue;
        found.push(...(await logs.ofFailing(workload, await podsOf(cluster, workload))));
        if (found.length >= maxLogs) break;
      }
      return withSecrets(found.slice(0, maxLogs), secrets);
    },
    logParts: async (ref) => {
      const stored = await latestOf(ref);
      const release = await readRevision(cluster, stored);
      const secrets = secretsOf(release, stored.namespace);
      const parts: LogPart[] = [];
      for (const each of workloadsOf(release, stored.namespace)) {
        const workload = await findWorkload(cluster, each);
        if (workload === null) continue;
        const own = logPartsOf(cluster, workload, await writingPodsOf(cluster, workload));
        for (const part of own) parts.push({ ...part, secrets: [...secrets, ...part.secrets] });
      }
      return parts;
    },
    undo: (ref, journal, _snapshot, stopping) => undo(ref, journal, stopping),
    recover: (ref, journal, _snapshot, stopping) => unlessStuck(recover(ref, journal, stopping)),
    readiness: async (ref) => {
      const stored = await latestOf(ref);
      const release = await readIfReadable(cluster, stored);
      if (stored.status !== "deployed" || release === null) {
        return { ready: false, detail: say("kubernetes.release_status", { status: stored.status }) };
      }
      for (const each of workloadsOf(release, stored.namespace)) {
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

function withSecrets(written: readonly LastLog[], secrets: readonly string[]): readonly LastLog[] {
  return written.map((log) => ({ ...log, secrets: [...secrets, ...log.secrets] }));
}

/** Helm's description of a revision that went back. */
function rolledBackTo(revision: number): string {
  return `Rollback to ${revision}`;
}

function digestOf(manifest: string): string {
  return createHash("sha256").update(manifest).digest("hex");
}

function missing({ id }: TargetRef): PluginError {
  return new PluginError("not_found", say("kubernetes.release_missing", { release: id }));
}

/** Helm's words of a failure, if this process or an earlier one heard them. */
function saidIn(journal: Journal, ...steps: readonly string[]): Message | null {
  const entry = journal.entries().findLast(({ step, phase }) => steps.includes(step) && phase === "fail");
  return saidAt(entry?.facts ?? {}, "error");
}

function requireAsPlanned({ hash }: UpdatePlan, now: string): void {
  if (hash !== now) throw new PluginError("rejected", say("kubernetes.changed_since_plan"));
}

type Upgrade = v.InferOutput<typeof UpgradeFacts>;

/** The upgrade that the run began, by its journal; null if it did not come so far, or ended without a revision. */
function upgradeOf(journal: Journal): Upgrade | null {
  const own = journal.entries().filter(({ step }) => changing.includes(step));
  if (own.some(({ phase, facts }) => phase === "fail" && v.is(NotMade, facts))) return null;
  const parsed = v.safeParse(UpgradeFacts, own.find(({ phase }) => phase === "begin")?.facts);
  return parsed.success ? parsed.output : null;
}
