import type { Message } from "../messages/types.ts";
import type { ConfigSchema, PluginContext } from "../plugin.ts";

/** What all targets of a kind share; declared by the runtimes that have them. */
export interface TargetKind {
  kind: string;
  /** "Container", "Deployment". */
  title: Message;
  /** Whether a target has several services, and its parts may be targets themselves. */
  is_group: boolean;
  /**
   * Whether the runtime itself replaces what runs and judges the result. Such targets have no start order, no measured downtime, and no
   * snapshots unless the kind has `saved_as`; their sessions have `settle`.
   */
  is_declarative: boolean;
  /** For a declarative kind whose runs save the previous state: its name on pages. */
  saved_as?: Message;
  /** Whether the runtime itself keeps trying to run what it was told to: then nothing that a run left down is brought up. */
  keeps_trying?: boolean;
  /** What its services run. */
  artifact: Artifact["kind"];
  /** In the order in which a run takes these steps. */
  steps: readonly StepKind[];
  /** The parts that a run works on, in start order; read from a plan's detail. */
  parts(detail: PlanDetail): readonly PlannedPart[];
  /** What was done to each part; null for a kind with one part, or if the run ended before it reached any part. */
  outcomes?(detail: PlanDetail, entries: readonly JournalEntry[]): readonly PartOutcome[] | null;
}

/** A target's permanent name: a container's name (its ID changes with every update), a compose group's project. */
export interface TargetRef {
  kind: TargetKind["kind"];
  id: string;
}

/** A code from a closed list and a sentence for people. */
export interface Refusal {
  code: string;
  message: Message;
}

/** The runtime does not report all settings. Automatic updates wait until the administrator accepts that. */
export const untoldSettings = "untold_settings";

/** A rollback would replace a container other than the known one. */
export const otherContainer = "other_container";
/** An earlier operation is unfinished, and the run would end it first. */
export const unfinishedOperation = "unfinished_operation";
/** Warnings that block a run until a person has approved its plan. */
export const needsReview: ReadonlySet<string> = new Set([otherContainer, unfinishedOperation]);

/**
 * What a service runs. `reference` is its full name. `digest` identifies the content; null if unknown. Images with the same `reference`
 * and `image_id` are the same.
 */
export type Artifact = ImageArtifact | ChartArtifact;

export interface ImageArtifact {
  kind: "image";
  /** As configured, e.g. `nginx:1.27` or `host/app@sha256:…`. */
  reference: string;
  image_id: string;
  /** Digest of the registry's manifest or index for `image_id`; null for an image that was never pulled. */
  digest: string | null;
  /** `linux/amd64`, `linux/arm/v7`: a new image must match it. */
  platform: string;
}

export interface ChartArtifact {
  kind: "chart";
  /** `name-version`, as Helm writes it. */
  reference: string;
  digest: string | null;
  name: string;
  version: string;
  app_version: string | null;
}

export interface TargetService {
  /** The service that a binding names; a single container has one, called `main`. */
  name: string;
  /** The service's containers: one, or the replicas of a compose service. */
  containers: readonly string[];
  artifact: Artifact;
  state: "running" | "stopped" | "restarting" | "paused" | "unknown";
}

export interface Target {
  ref: TargetRef;
  name: string;
  /** Pages list targets by it; absent if the runtime has none. */
  namespace?: string;
  /** Who else writes it and may revert an update. */
  owner?: Message;
  /** Its state in the runtime's own words, where that of its services says too little. */
  condition?: Message;
  /** Parts of it that should be ready are not, though every service runs; absent if all are. */
  shortfall?: Message;
  services: readonly TargetService[];
  /** Why it cannot be updated; empty if it can. */
  refusals: readonly Refusal[];
  /** What an administrator should know, though it does not prevent an update. */
  warnings: readonly Refusal[];
  labels: Readonly<Record<string, string>>;
}

/** What one service should become. */
export type Change = ImageChange | ChartChange;

export interface ImageChange {
  kind: "image";
  service: string;
  /** The full reference to create from, with the tag or digest that the executor's reference mode requires. */
  reference: string;
  /** What to pull: `registry/repository@sha256:…`; null if the digest is unknown and the tag is pulled. */
  digest: string | null;
  /** The desired image's defaults, if known before the pull; the diff then shows which fields they change. */
  image_config: Readonly<Record<string, unknown>> | null;
}

export interface ChartChange {
  kind: "chart";
  service: string;
  reference: string;
  digest: string | null;
  name: string;
  version: string;
  /** The chart itself (tar.gz), from its source. Never stored. */
  archive(): Promise<Uint8Array>;
}

/** For runtimes whose targets run images only: throws for any other change. */
export function ofImages(changes: readonly Change[]): readonly ImageChange[] {
  return changes.map((change) => {
    if (change.kind !== "image") throw new Error(`The change of "${change.service}" is not one of an image`);
    return change;
  });
}

export interface FieldDiff {
  service: string;
  /** Path in the runtime's own words, e.g. `Config.Env.APP_VERSION`, `Image`. */
  path: string;
  before: string | null;
  after: string | null;
  /** `desired`: requested by the change; `image`, `chart`: brought by the new version; `runtime`: regenerated by the engine. */
  because: "desired" | "image" | "chart" | "runtime";
}

/** The part of a plan that depends on the target's kind, as JSON. Stored beside the common members. */
export type PlanDetail = Readonly<Record<string, unknown>>;

/** One of the things that a run works on, such as a container. Two runs never work on the same one at once. */
export interface PlannedPart {
  name: string;
  /** The target's service; for a part outside the target, its own name. */
  service: string;
  /** Whether it will be started; a running part is never left stopped. */
  is_running: boolean;
}

/** One container that a run replaces. */
export interface PlannedContainer extends PlannedPart {
  /**
   * `desired`: its service gets another image; `shares`: it shares namespaces, volumes or links with a replaced container and is
   * recreated for the new ID; `restarts`: its compose file asks for a restart with a replaced container.
   */
  because: "desired" | "shares" | "restarts";
}

/**
 * `updated`: it runs its new artifact; `moved`: it was recreated because another one was replaced; `put_back`: the previous one was
 * restored; `removed`: the previous one is gone and was not replaced; `down`: it could not be started.
 */
export const partOutcomes = ["updated", "moved", "put_back", "untouched", "removed", "down"] as const;

export interface PartOutcome {
  /** The part's name. */
  container: string;
  service: string;
  because: PlannedContainer["because"];
  outcome: (typeof partOutcomes)[number];
  /** From its stop to the next start of anything under its name; null if it was not stopped. */
  downtime_ms: number | null;
  /** Why it failed. */
  detail: string | null;
  detail_data: Message | null;
  /** Whether the run failed because of this part; the others were restored with it. */
  is_cause: boolean;
}

/** A file that will not match the running containers after the run, and the edit that makes it match. */
export interface FileNotice {
  service: string;
  /** Null if the runtime does not report the file. */
  path: string | null;
  /**
   * The line as it should be, or a unified diff on top of the earlier ones if the file could be read; blank if no edit is needed or
   * another service's edit covers it.
   */
  patch: string;
  is_readable: boolean;
  /** What happens to the running container if the file stays as it is, and if it is edited. */
  message: Message;
}

export interface PlanOptions {
  /** Starts the new container before the old one stops; the plan refuses it if both cannot run at once. */
  start_first: boolean;
  /** How long the old container keeps running beside a ready new one, so that proxies can switch. */
  drain_seconds: number;
  /** Parts that an earlier run left down; they are planned as if they ran. */
  owed?: readonly string[];
}

/** What a run would do: complete enough to show, hash, store and perform, without secrets. */
export interface UpdatePlan<D extends PlanDetail = PlanDetail> {
  ref: TargetRef;
  changes: readonly Change[];
  services: readonly {
    service: string;
    /** `image_id`: blank if the artifact is not an image. `is_running`: whether it runs now; false if it is gone. */
    from: { reference: string; digest: string | null; image_id: string; is_running: boolean };
    /** `is_running`: whether it will be started; true if `from.is_running` is, because a running service is never left stopped. */
    to: { reference: string; digest: string | null; is_running: boolean };
  }[];
  detail: D;
  /** Whether the old ones stop before the new ones start. */
  order: "stop_first" | "start_first";
  /** Seconds between a new container's readiness and the old one's stop; 0 if the old one stops first. */
  drain_seconds: number;
  /** Parts that an earlier run left down; their replacements are started, and they themselves are if they are restored. */
  owed: readonly string[];
  files: readonly FileNotice[];
  diff: readonly FieldDiff[];
  /** Per kind (settings, networks, mounts, ports), how many are carried over unchanged. */
  carried: Readonly<Record<string, number>>;
  refusals: readonly Refusal[];
  warnings: readonly Refusal[];
  /** True if nothing would change: the same image already runs under the same reference. */
  is_noop: boolean;
  /** SHA-256 (hex) of the target's present state and the desired one; it changes when the target does. */
  hash: string;
}

/**
 * A step that runs of a kind of target journal. Downtime lasts from `stop` to `start`; `undo` restores the previous version. The facts
 * name the `container` if a step concerns one of several parts.
 */
export interface StepKind {
  name: string;
  /** Steps with the same name here are shown as one. */
  shown_as?: string;
  /** Whether it changes what runs; a run that took no such step has touched nothing. */
  touches: boolean;
  /** Whether a run in progress lists it ahead. */
  is_expected: boolean;
  /** `prepare`: for all parts together, before the snapshot; `change`: for each part; `finish`: for each part, after the health check. */
  phase: "prepare" | "change" | "finish";
  /** Its name before, during and after it. */
  words: Readonly<Record<"waiting" | "running" | "done" | "failed", Message>>;
}

/**
 * `facts`: identifiers and numbers are stored and returned unchanged, because decisions compare them with what runs. Text from outside may
 * contain secrets: it goes in as a message (`toldAs`), and messages are stored without secrets.
 */
export interface JournalEntry {
  step: string;
  phase: "begin" | "finish" | "fail";
  facts: Readonly<Record<string, unknown>>;
  at: number;
}

export interface PullProgress {
  /** Bytes so far and in total, as the engine reports them; null before the first layer's size is known. */
  bytes: number | null;
  total_bytes: number | null;
  layers_done: number;
  layers_total: number;
}

/** Progress of a step that is not a pull. */
export interface StepProgress {
  step: string;
  done: number;
  total: number;
  detail: Message;
  /** For a declarative kind, once its pods were read. */
  rollout?: RolloutProgress;
}

/** What a declarative runtime replaces by what, as read at one moment. */
export interface RolloutProgress {
  /** What of the target is being replaced, if it has several such parts; else blank. */
  part: string;
  /** How many pods of the new version there should be. */
  desired: number;
  new: RolloutRevision;
  old: RolloutRevision;
  /** Why new pods are missing; null if none are, or nobody knows. */
  why: Message | null;
  /** Those with a fault first; the others are only counted. */
  pods: readonly RolloutPod[];
  more_pods: number;
}

/** `available`: ready for as long as the target asks for. */
export interface RolloutRevision {
  /** The runtime's own name of it; blank if there is none, or several. */
  name: string;
  pods: number;
  ready: number;
  available: number;
}

export interface RolloutPod {
  name: string;
  is_new: boolean;
  state: "ready" | "starting" | "failing" | "ending";
  restarts: number;
  /** Why it is not ready, if the runtime tells. */
  why: Message | null;
}

/** What a failed container wrote last. */
export interface LastLog {
  /** The same for every log about the same container of the target: a later one replaces an earlier one. */
  key: string;
  /** The pod that was read; blank if the runtime has no pods. */
  pod: string;
  container: string;
  /** Written before its last restart. */
  is_previous: boolean;
  /** As the container wrote it; the runtime bounds its size, the caller cleans and masks it. Null if it could not be read. */
  text: string | null;
  /** Why it could not be read; null if it could. */
  why: Message | null;
  /** Values from its configuration that nobody may see, the most telling ones last. */
  secrets: readonly string[];
}

/** Of one container; larger than the last lines of any that a person wants to read. */
export const maxLogBytes = 512 * 1024;
/** How many lines of a container are read and shown. */
export const lastLogLines = 20;
/** Containers of one run whose logs are read. */
export const maxLogs = 4;

/** One line, as it was written. */
export interface LogLine {
  /**
   * When, as the runtime tells it: `2026-11-26T12:06:25.953476274Z`, always with nine digits after the point, so that texts compare like
   * times. Blank if it does not tell.
   */
  at: string;
  text: string;
}

export interface LogReading {
  /** To begin with, at most so many lines: the last ones. */
  tail: number;
  /** Of these, those of this second and later ones, in seconds since 1970; null for all. */
  since: number | null;
  /** Goes on with what is written, until the container ends. */
  follow: boolean;
  /** Ends the reading, without an error. */
  signal: AbortSignal;
}

/** One container of a target, whose log can be read. */
export interface LogPart {
  /** The same after a restart or an update of the container, as far as it keeps its name. */
  key: string;
  service: string;
  /** Blank if the runtime has no pods. */
  pod: string;
  container: string;
  /** `starting`: it has not written anything yet. */
  state: "running" | "starting" | "stopped";
  /** Another text for each start of the container. */
  start: string;
  /** Why its log can never be read; null as long as nothing is known against it. */
  unreadable: Message | null;
  /** Values from its configuration that nobody may see. */
  secrets: readonly string[];
  /** Yields lines as they arrive. Throws `unauthorized` for a missing right, and no error says anything about the connection. */
  read(reading: LogReading): AsyncIterable<readonly LogLine[]>;
}

/** An entry is durable once its call resolves. Throws if another process has taken over the run; nothing more may be changed then. */
export interface Journal {
  run_id: string;
  entries(): readonly JournalEntry[];
  begin(step: string, facts?: Readonly<Record<string, unknown>>): Promise<void>;
  finish(step: string, facts?: Readonly<Record<string, unknown>>): Promise<void>;
  fail(step: string, facts?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Not durable: the run's page shows it while the step is in progress. */
  progress(progress: PullProgress | StepProgress): void;
}

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
  /** A text for whoever can grant what is missing, such as a manifest; absent if nothing is. */
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
   * What tells the place from all others, by whatever address it is reached; null if the runtime does not tell us. Absent if it never
   * does. Cheap: one request.
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
   * Why something that the run started no longer runs: it exited, was restarted, removed or renamed. Null while everything runs,
   * healthy or not. Cheap: called several times a second during the health check.
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

/** Reads snapshots without a runtime. */
export interface SnapshotReader {
  /** IDs of the images that it needs. */
  imagesOf(snapshot: string): readonly string[];
  /** The configuration for display, without values that may be secret. */
  mask(content: unknown): unknown;
  /** Every value that must not appear in a log. */
  secretsOf(content: unknown): readonly string[];
  /** A shell script or compose file that restores it without Tidemark. Secrets appear as `${NAME}` unless requested. */
  write(snapshot: string, options: { format: "script" | "compose"; with_secrets: boolean }): string;
}

/** `fetch` is for runtimes with an HTTP API; engines bring their own transport, which reaches sockets too. */
export interface RuntimeContext extends PluginContext {
  /** `hostname`: our own container ID, or the host's name. Targets that contain Tidemark are refused. */
  self: {
    hostname: string;
    data_dir: string;
    /** The helm program and its search path; absent if none may be run. */
    helm?: { program: string; search_path: string };
    /** The service account of our own pod; absent outside a cluster. */
    service_account?: { server: string; folder: string };
  };
}

/** The values that a secret has for fields of the configuration, by field. `current` counts while the field is blank; "" for none. */
export type SecretChoices = Readonly<
  Record<string, { options: readonly { value: string; title: string }[]; current: string }>
>;

export interface Runtime {
  kind: string;
  title: string;
  Config: ConfigSchema;
  /** Whether a configuration, parsed or as entered, leads nowhere without a secret, or uses none. Absent if a secret is optional. */
  needsSecret?(config: unknown): boolean;
  /** What a secret has to choose from, such as the contexts of a kubeconfig. Throws `rejected` for one that cannot be read. */
  choices?(secret: unknown): SecretChoices;
  /** Runtimes with the same kind of target share the object. */
  target_kinds: readonly TargetKind[];
  /** `secret` is the parsed secret of a credential of the same kind, or null. */
  open(config: unknown, secret: unknown, context: RuntimeContext): Promise<RuntimeSession>;
  /** The login for pulls of this image from the connection's own secret; null if it has none for that registry. */
  registryLogin?(config: unknown, secret: unknown, image: string): RegistryAuth | null;
  /**
   * The host that a parsed configuration names and the field that names it, checked when it is saved; null if it names none. `host`: a
   * name, or an address without brackets.
   */
  destination?(config: unknown): { field: string; host: string } | null;
  /** Where a parsed configuration leads, in one spelling: two connections of the same place reach the same targets. */
  place(config: unknown, credential_id: string | null): string;
  /** Whether two parsed configurations of the same place reach some of the same targets; by default they do. */
  overlaps?(one: unknown, other: unknown): boolean;
  /** For runtimes whose sessions have snapshots. */
  snapshots?: SnapshotReader;
  /** What the connection's page must warn about, from its configuration alone (plain TCP beyond loopback, TLS not verified). */
  warnings(config: unknown): readonly Refusal[];
  /** Called when the process starts: removes the files that a killed one left on this machine, each once nothing uses it any more. */
  clearLeftovers?(context: Pick<RuntimeContext, "self" | "clock" | "signal">): Promise<void>;
}

/** The runtimes that connections can be made to: the registry, or a test's own. */
export type Runtimes = Readonly<Record<string, Runtime>>;
