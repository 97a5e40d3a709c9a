import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { type Message, say, toldAs } from "../../messages/message.ts";
import type { Journal } from "../journal.ts";
import type { PlanDetail } from "../plan.ts";
import { unlessStuck } from "../recovery.ts";
import type { Recovery, RuntimeSession, SettleOptions } from "../session.ts";
import type { TargetRef } from "../target.ts";
import { Refused } from "./client.ts";
import { podsOf, writingPodsOf } from "./explain.ts";
import { type Around, findWorkload, followRollout, kindOf, readWorkload } from "./follow.ts";
import { logPartsOf } from "./logs.ts";
import { hashOf, type PatchedImage, planUpdate } from "./plan.ts";
import { isReady } from "./pods.ts";
import { judgeRollout } from "./rollout.ts";
import { changesTo, writeSaved } from "./saved.ts";
import { targetOf } from "./target.ts";
import { containersIn, type Found, foundFrom, hasImages, imagesPatch, placeOf, rules } from "./workloads.ts";

/** A workload's status is written all the time; each of these reads it again and compares it with the plan. */
const maxConflicts = 8;
/** The health check asks several times a second whether everything is still running. */
const lookMs = 2_000;

/** What the journal keeps of the patch, so that a run can be continued and gone back on. */
const PatchFacts = v.object({
  images: v.array(v.object({ container: v.string(), before: v.string(), after: v.string() })),
});

type Verbs =
  | "inspect"
  | "plan"
  | "prepare"
  | "settle"
  | "undo"
  | "recover"
  | "lastLogs"
  | "logParts"
  | "readiness"
  | "findEnd"
  | "standing"
  | "snapshots";
/** What a session does with targets of some kinds. */
export type TargetOperations = Required<Pick<RuntimeSession<PlanDetail>, Verbs>>;

export function workloadOperations(around: Around): TargetOperations {
  const { cluster, clock, signal, logs } = around;
  let looked: { at: number; end: Message | null } | null = null;

  const inspect = async (ref: TargetRef) => {
    const found = await readWorkload(cluster, ref);
    return { found, pods: await podsOf(cluster, found) };
  };
  /** `step`: the one whose progress is shown. */
  const follow = (ref: TargetRef, images: ReadonlyMap<string, string>, { journal, step, stop, onCrash }: Shown) =>
    followRollout(around, ref, {
      ...{ images, stop, onCrash },
      onProgress: ({ desired, updated, available }, detail, rollout) => {
        const done = Math.min(updated, available);
        journal.progress({ step, done, total: desired, detail, ...(rollout === null ? {} : { rollout }) });
      },
    });

  /** Sets images if the workload, as it was `read`, is as `isAsPlanned` says; each conflict reads it again. */
  const patchImages = async (
    ref: TargetRef,
    read: Found,
    images: ReadonlyMap<string, string>,
    isAsPlanned: (found: Found) => boolean,
    stopping: AbortSignal | undefined,
  ): Promise<Found> => {
    const stop = stopping === undefined ? signal : AbortSignal.any([signal, stopping]);
    const kind = kindOf(ref);
    const { namespace, name } = placeOf(ref);
    for (let tries = 1, found = read; ; tries++) {
      if (hasImages(found, images)) return found;
      if (!isAsPlanned(found)) throw new PluginError("rejected", say("kubernetes.changed_since_plan"));
      try {
        const body = imagesPatch(found, images);
        const { calls, schema } = rules[kind];
        return foundFrom(kind, await cluster.patch((api) => calls(api).patch(name, namespace, body), schema));
      } catch (error) {
        const isConflict = error instanceof Refused && error.reason === "Conflict";
        // Without a response it is unknown whether it was done: the next reading shows it.
        const isUnknown = error instanceof PluginError && error.code === "unreachable";
        if ((!isConflict && !isUnknown) || tries === maxConflicts) throw error;
        await clock.sleep(250 * tries, stop);
      }
      found = await readWorkload(cluster, ref);
    }
  };

  const recoverOrUndo = async (
    ref: TargetRef,
    journal: Journal,
    isUndo: boolean,
    stop?: AbortSignal,
  ): Promise<Recovery> => {
    const images = patchedImages(journal);
    if (images === null) return { state: "untouched", detail: say("kubernetes.not_patched") };
    const found = await findWorkload(cluster, ref);
    if (found === null) return { state: "down", detail: say("kubernetes.deleted_meanwhile") };
    const after = new Map(images.map((each) => [each.container, each.after]));
    const before = new Map(images.map((each) => [each.container, each.before]));
    const isBegun = journal.entries().some(({ step }) => step === "undo");
    const isUndoing = isUndo || isBegun;
    if (!hasImages(found, after) && !hasImages(found, before)) {
      return { state: "mixed", detail: say("kubernetes.changed_meanwhile") };
    }
    if (hasImages(found, before) && !isBegun) return { state: "untouched", detail: say("kubernetes.not_patched") };
    if (hasImages(found, after) && !isUndoing) return { state: "started", detail: say("kubernetes.is_patched") };
    await journal.begin("undo", { images });
    try {
      await patchImages(ref, found, before, (live) => hasImages(live, after), stop);
      const { is_done, detail } = await follow(ref, before, { journal, step: "undo", stop });
      if (!is_done) throw new PluginError("rejected", say("kubernetes.undo_stuck", { cause: detail }));
      await journal.finish("undo", { state: "untouched" });
      return { state: "untouched", detail: say("kubernetes.undone", { cause: detail }) };
    } catch (error) {
      if (error instanceof PluginError) await journal.fail("undo", toldAs("error", error.said));
      throw error;
    }
  };

  const prepare: TargetOperations["prepare"] = async (plan, _auths, journal) => {
    const images = imagesOf(plan.detail);
    return {
      is_noop: images.length === 0,
      apply: async (stopping) => {
        stopping?.throwIfAborted();
        const after = new Map(images.map((each) => [each.container, each.after]));
        const isAsPlanned = (live: Found) => hashOf(live, images) === plan.hash;
        const read = await readWorkload(cluster, plan.ref);
        // Before the step begins: the run must not undo somebody else's change.
        if (!isAsPlanned(read)) throw new PluginError("rejected", say("kubernetes.changed_since_plan"));
        await journal.begin("patch", { images });
        try {
          const patched = await patchImages(plan.ref, read, after, isAsPlanned, stopping);
          await journal.finish("patch", { generation: patched.metadata.generation, images: asStored(images, patched) });
        } catch (error) {
          if (error instanceof PluginError) await journal.fail("patch", toldAs("error", error.said));
          throw error;
        }
      },
    };
  };

  return {
    inspect: async (ref) => {
      const { found, pods } = await inspect(ref);
      return targetOf(found, pods);
    },
    plan: async (ref, changes) => {
      const { found, pods } = await inspect(ref);
      return planUpdate(ref, found, pods, changes);
    },
    prepare,
    snapshots: {
      capture: async (ref) => writeSaved(await readWorkload(cluster, ref)),
      planRestore: async (ref, snapshot) => {
        const { found, pods } = await inspect(ref);
        return planUpdate(ref, found, pods, changesTo(snapshot, found));
      },
      prepareRestore: (plan, _snapshot, auths, journal) => prepare(plan, auths, journal),
    },
    settle: async (ref, journal, stopping, options) => {
      const images = new Map((patchedImages(journal) ?? []).map((each) => [each.container, each.after]));
      await journal.begin("rollout");
      const shown = { journal, step: "rollout", stop: stopping, onCrash: options?.onCrash };
      const { is_done, detail, counts, rollout } = await follow(ref, images, shown);
      if (is_done) await journal.finish("rollout", { ...counts, ...toldAs("detail", detail) });
      else await journal.fail("rollout", { ...counts, rollout, ...toldAs("error", detail) });
      return is_done ? null : detail;
    },
    lastLogs: async (ref, journal) => {
      if (!journal.entries().some(({ step }) => step === "rollout")) return [];
      const { found, pods } = await inspect(ref);
      const failing = await logs.ofFailing(found, pods);
      if (failing.length > 0 || judgeRollout(found).state !== "done") return failing;
      // Its pods are ready, so another check failed.
      const patched = new Set((patchedImages(journal) ?? []).map(({ container }) => container));
      return await logs.ofRunning(found, pods, patched);
    },
    logParts: async (ref) => {
      const found = await readWorkload(cluster, ref);
      return logPartsOf(cluster, found, await writingPodsOf(cluster, found));
    },
    undo: (ref, journal, _snapshot, stopping) => recoverOrUndo(ref, journal, true, stopping),
    recover: (ref, journal, _snapshot, stopping) => unlessStuck(recoverOrUndo(ref, journal, false, stopping)),
    readiness: async (ref) => {
      const { state, detail } = judgeRollout(await readWorkload(cluster, ref));
      if (state === "done") return { ready: true, detail };
      return { ready: false, detail, ...(state === "failed" ? { final: true } : {}) };
    },
    findEnd: async (ref) => {
      if (looked === null || clock.elapsed() - looked.at >= lookMs) {
        const found = await findWorkload(cluster, ref);
        looked = { at: clock.elapsed(), end: found === null ? say("kubernetes.deleted_meanwhile") : null };
      }
      return looked.end;
    },
    standing: async (ref, _journal, { before }) => {
      const { found, pods } = await inspect(ref);
      const facts = { images: containersIn(found.template).map(({ name, image }) => `${name}=${image}`) };
      const { state, detail } = judgeRollout(found);
      const isChanged = before !== null && JSON.stringify(before.images) !== JSON.stringify(facts.images);
      return {
        facts,
        changed: isChanged ? say("kubernetes.changed_meanwhile") : null,
        is_up: found.workload === null || pods.some(isReady) || found.workload.spec.replicas === 0,
        readiness: { ready: state === "done", detail },
      };
    },
  };
}

/** Where the progress of a rollout is shown. */
export interface Shown {
  journal: Journal;
  step: string;
  stop: AbortSignal | undefined;
  onCrash?: SettleOptions["onCrash"] | undefined;
}

/** What the run patched, by its journal; null if it did not come so far. */
function patchedImages(journal: Journal): readonly PatchedImage[] | null {
  const entry = journal.entries().findLast(({ step, facts }) => step === "patch" && v.is(PatchFacts, facts));
  const parsed = v.safeParse(PatchFacts, entry?.facts);
  return parsed.success ? parsed.output.images : null;
}

/** An admission webhook may have made another name of an image, such as one with its digest. */
function asStored(images: readonly PatchedImage[], { template }: Found): readonly PatchedImage[] {
  const stored = new Map(containersIn(template).map(({ name, image }) => [name, image]));
  return images.map((each) => ({ ...each, after: stored.get(each.container) ?? each.after }));
}

function imagesOf(detail: unknown): readonly PatchedImage[] {
  return v.parse(PatchFacts, detail).images;
}
