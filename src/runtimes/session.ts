import type { Message } from "../messages/types.ts";
import type { Journal } from "./journal.ts";
import type { LastLog, LogPart } from "./logs.ts";
import type { Change, PlanDetail, PlanOptions, UpdatePlan } from "./plan.ts";
import type { Refusal, Target, TargetRef } from "./target.ts";

export interface RegistryAuth {
  username: string;
  password: string;
  /** Host of the registry that the login belongs to; it is sent nowhere else. */
  host: string;
}

/** A plan that is ready to be performed. */
export interface Prepared {
  /** Whether the pull showed that exactly this image is already in place under exactly this reference. */
  is_noop: boolean;
  /**
   * Replaces the old version and starts the new one; does nothing for a no-op. Throws on failure; then call `undo`. Inspects the target
   * again before the first change, and throws if it no longer matches the plan. Once `stopping` is aborted, nothing more is stopped or
   * waited for: what is down is started, and the reason is thrown; `recover` does the rest.
   */
  apply(stopping?: AbortSignal): Promise<void>;
}

/** How long a started container must run without a restart or kill before it counts as ready. */
export const stabilityMs = 10_000;

export type Readiness =
  | { ready: true; detail: Message }
  /** `final`: waiting will not help (exited, OOM-killed, unhealthy by its own check). */
  | { ready: false; detail: Message; final?: boolean };

export type Recovery =
  /** The target is as before the run. `is_left_over`: something that the run created could not be removed yet; `finish` will. */
  | { state: "untouched"; detail: Message; is_left_over?: boolean }
  /** The new version was started and the previous one is kept as a backup: continue with verification. */
  | { state: "started"; detail: Message }
  /** The new version is in place and the previous one is gone or not needed. */
  | { state: "finished"; detail: Message }
  /** Some containers are as before; for others the new one was kept because the previous one is gone or does not start. */
  | { state: "mixed"; detail: Message }
  /** Neither version could be started, or not all of it. */
  | { state: "down"; detail: Message };

/** What a finished run left on the runtime. */
export interface Standing {
  /** To be stored and passed to the next call as `before`. */
  facts: Readonly<Record<string, unknown>>;
  /** The first change since the facts in `before`; null if nothing changed, or if everything runs again. */
  changed: Message | null;
  /** Everything that should run does. */
  is_up: boolean;
  /** Readiness of everything that should run. */
  readiness: Readiness;
}

/**
 * `before`: the facts of an earlier call, to detect changes since; with null, only missing or replaced containers count as changed.
 * `ran_ms`: how long containers without their own health check have been running.
 */
export interface StandingLook {
  before: Standing["facts"] | null;
  ran_ms: number;
}

export interface RuntimeFacts {
  version: string;
  api_version: string;
  platform: string;
  /** The account that the runtime authenticates us as; absent if it has no accounts. */
  identity?: string | null;
  warnings: readonly Refusal[];
  /** A text that grants missing rights, such as a manifest; absent if none are. */
  remedy?: string | null;
}

export interface SettleOptions {
  /** A Helm release's own status decides, not the rollout of its workloads. */
  is_status_enough: boolean;
  /** Receives the last lines of containers that crash meanwhile, again after each further crash. */
  onCrash?(logs: readonly LastLog[]): void;
}

/** An open connection to a runtime, closed by `await using`. Every call has its own deadline. */
export interface RuntimeSession<D extends PlanDetail = PlanDetail> extends AsyncDisposable {
  /** Proves that the runtime responds to us, with one small request, including those of `open`. */
  ping(): Promise<void>;
  /** Proves that the runtime responds and grants the rights needed for discovery. */
  describe(): Promise<RuntimeFacts>;
  /**
   * Identifies the place, whatever its address; null if the runtime does not report it. Absent if it never does. Cheap: one
   * request.
   */
  identify?(): Promise<string | null>;
  discover(): Promise<readonly Target[]>;
  /** Throws `not_found` if the target is gone. */
  inspect(ref: TargetRef): Promise<Target>;
  /** The name of the container with this ID or ID prefix; for runtimes whose container IDs change with each update. */
  nameOfId?(id: string): Promise<string | null>;
  /** Whether the runtime is configured to pull this image over plain HTTP; null if it refuses to say. */
  isPlainRegistry?(image: string): Promise<boolean | null>;
  plan(ref: TargetRef, changes: readonly Change[], options?: PlanOptions): Promise<UpdatePlan<D>>;
  /** Pulls and verifies the desired images and probes the calls that `apply` needs. The target is not changed. */
  prepare(plan: UpdatePlan, auths: readonly RegistryAuth[], journal: Journal): Promise<Prepared>;
  /** For a run that ends before `apply`: undoes the changes of `prepare`, but keeps what it pulled. */
  unprepare?(journal: Journal): Promise<void>;
  /**
   * For declarative kinds, after `apply`: waits until the runtime has replaced what runs. Null if that succeeded, else why it did not.
   * Called again if the run was interrupted meanwhile. Rejects with the reason of `stopping`.
   */
  settle?(ref: TargetRef, journal: Journal, stopping: AbortSignal, options?: SettleOptions): Promise<Message | null>;
  /**
   * What the failed containers of a run wrote last: those that crash, ended or are not ready, else those of its new version. Called before
   * `undo`, which may remove them; the caller stops waiting after some seconds. Reads only. A missing right or a log that cannot be read
   * is no error but a `why`.
   */
  lastLogs?(ref: TargetRef, journal: Journal): Promise<readonly LastLog[]>;
  /** The containers of a target, to read what they write. Throws `not_found` if the target is gone. Reads only. */
  logParts?(ref: TargetRef): Promise<readonly LogPart[]>;
  /**
   * Restores the previous version from any state. Idempotent. Returns `untouched` if the previous version is as before; `finished` or
   * `started` if it is gone or does not start and the new one was kept running. Throws if nothing could be started. `snapshot`:
   * saved by this run; a previous container that somebody has removed is recreated from it. Once `stopping` is aborted, no container
   * waits for another to become healthy.
   */
  undo(ref: TargetRef, journal: Journal, snapshot: string | null, stopping?: AbortSignal): Promise<Recovery>;
  /**
   * Removes the run's backups, or after a failed run whatever could not be removed then. Idempotent. Throws while something is left
   * that can be removed later.
   */
  finish(ref: TargetRef, journal: Journal): Promise<void>;
  /** After a crash: inspects what exists, by labels and names first and the journal second, and completes or undoes the run. */
  recover(ref: TargetRef, journal: Journal, snapshot: string | null, stopping?: AbortSignal): Promise<Recovery>;
  /**
   * Judges each container that the run started, `ranMs` ago. The time counts for the stability period of containers without their own
   * health check.
   */
  readiness(ref: TargetRef, ranMs: number, journal: Journal): Promise<Readiness>;
  /**
   * Why something that the run started is no longer running: it exited, was restarted, removed or renamed. Null while everything
   * is running, healthy or not. Cheap: called several times a second during the health check.
   */
  findEnd(ref: TargetRef, journal: Journal): Promise<Message | null>;
  /** Inspects what a finished run left, without changing anything. */
  standing(ref: TargetRef, journal: Journal, look: StandingLook): Promise<Standing>;
  snapshots?: {
    /**
     * The complete configuration as JSON text; the caller encrypts it before storing it. Throws `not_found` if there is nothing to
     * save: no target, or none with an image to recreate it from.
     */
    capture(ref: TargetRef): Promise<string>;
    /**
     * A plan that restores a snapshot; `prepareRestore` prepares it. What ran when it was saved will run again, even if the target is
     * down or gone. `owed`: see `PlanOptions`.
     */
    planRestore(ref: TargetRef, snapshot: string, owed?: readonly string[]): Promise<UpdatePlan<D>>;
    /** As `prepare`, for such a plan. */
    prepareRestore(
      plan: UpdatePlan,
      snapshot: string,
      auths: readonly RegistryAuth[],
      journal: Journal,
    ): Promise<Prepared>;
  };
  images?: RuntimeImages;
}

/** An image on the runtime that no container uses. */
export interface UnusedImage {
  id: string;
  /** Its tags and digests, without the names that we gave it to prevent pruning. */
  references: readonly string[];
  size_bytes: number;
  /** Null if the runtime does not report it. */
  created_at: number | null;
  /** Whether one of our names prevents pruning. */
  is_kept: boolean;
}

export interface RuntimeImages {
  /** Names images so that they are not pruned as dangling; missing ones are skipped. Idempotent. */
  keep(ids: readonly string[]): Promise<void>;
  /** Those of the IDs that exist. */
  findPresent(ids: readonly string[]): Promise<readonly string[]>;
  listUnused(): Promise<readonly UnusedImage[]>;
  /** Removes an image with all its names; throws `rejected` if a container uses it. */
  remove(id: string): Promise<void>;
}
