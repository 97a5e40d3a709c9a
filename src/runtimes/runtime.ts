import type { Message } from "../messages/types.ts";
import type { ConfigSchema, PluginContext, TcpDestination } from "../plugin.ts";

export const runtimeKinds = ["docker", "podman"] as const;
export type RuntimeKind = (typeof runtimeKinds)[number];

/** What is the same for all targets of a kind. `is_group`: it has several services, and its parts may be targets of their own. */
const kindsOfTargets = { container: { is_group: false }, compose: { is_group: true } } as const;
export type TargetKind = keyof typeof kindsOfTargets;
export const targetKinds = ["container", "compose"] as const satisfies readonly TargetKind[];

export function isGroup({ kind }: { kind: string }): boolean {
  return targetKinds.some((known) => known === kind && kindsOfTargets[known].is_group);
}

/** How a target is named for good: an engine container by its name (ids change with every update), a compose group by its project. */
export interface TargetRef {
  kind: TargetKind;
  id: string;
}

/** A closed code and a sentence for people. */
export interface Refusal {
  code: string;
  message: Message;
}

/** The code of the one warning with a consequence: the runtime does not tell all settings, so nothing is updated unasked. */
export const untoldSettings = "untold_settings";

/** The code of a rollback's warning that what it would replace is not what is known under that name: done with consent alone. */
export const otherContainer = "other_container";

export interface TargetService {
  /** The service that a binding names; a single container has one, called `main`. */
  name: string;
  /** The containers that are this service: one, or the replicas of a compose service. */
  containers: readonly string[];
  /** The image reference as configured, e.g. `nginx:1.27` or `host/app@sha256:…`. */
  image: string;
  image_id: string;
  /** The digest of the registry's manifest or index behind `image_id`; null for an image that was never pulled. */
  digest: string | null;
  /** `linux/amd64`, `linux/arm/v7`: what a new image must match. */
  platform: string;
  state: "running" | "stopped" | "restarting" | "paused" | "unknown";
}

export interface Target {
  ref: TargetRef;
  name: string;
  services: readonly TargetService[];
  /** Why it cannot be updated; empty when it can. */
  refusals: readonly Refusal[];
  /** What an administrator should know, though it does not prevent an update. */
  warnings: readonly Refusal[];
  labels: Readonly<Record<string, string>>;
}

/** What one service should become. */
export interface Change {
  service: string;
  /** The full reference to create from, by tag or by digest as the executor's reference mode says. */
  reference: string;
  /** What to pull: `registry/repository@sha256:…`; null when the digest is unknown and the tag is pulled. */
  digest: string | null;
  /** The desired image's defaults, where they are known before the pull; the diff then shows what they change. */
  image_config: Readonly<Record<string, unknown>> | null;
}

export interface FieldDiff {
  service: string;
  /** Path in the runtime's own words, e.g. `Config.Env.APP_VERSION`, `Image`. */
  path: string;
  before: string | null;
  after: string | null;
  /** `desired`: asked for by the change; `image`: a default of the image; `runtime`: made anew by the engine. */
  because: "desired" | "image" | "runtime";
}

/** One container that a run replaces. */
export interface PlannedContainer {
  name: string;
  /** The target's service; a container outside of the target is named by itself. */
  service: string;
  /**
   * `desired`: its service gets another image; `shares`: it lives in the namespaces, volumes or links of one that is replaced and
   * is made anew for the new id; `restarts`: its compose file asks for a restart with one that is replaced.
   */
  because: "desired" | "shares" | "restarts";
  /** Whether it is to be started; what serves is never left stopped. */
  is_running: boolean;
}

/** A file that will say something else than what runs after the run, and what to write into it. */
export interface FileNotice {
  service: string;
  /** Null where the runtime did not tell which file it is. */
  path: string | null;
  /**
   * The line as it should be, or a unified diff where the file could be read, on top of those before it; blank where nothing has to be
   * edited or where an edit that another service has does it.
   */
  patch: string;
  is_readable: boolean;
  /** What happens to what runs when the file stays as it is, and when it is edited. */
  message: Message;
}

export interface PlanOptions {
  /** Starts the new container before the old one is stopped; refused in the plan where both cannot run at once. */
  start_first: boolean;
  /** So long the old container goes on beside a new one that is ready, for whoever sends requests to learn of that. */
  drain_seconds: number;
  /** Containers that an earlier run left down: they are planned as if they ran. */
  owed?: readonly string[];
}

/** What a run would do, complete enough to show, to hash, to store and to perform; holds no secret. */
export interface UpdatePlan {
  ref: TargetRef;
  changes: readonly Change[];
  services: readonly {
    service: string;
    /** `is_running`: whether it serves as it is found. One that is gone does not. */
    from: { reference: string; digest: string | null; image_id: string; is_running: boolean };
    /** `is_running`: whether it is to be started. What serves is never left stopped, so this is true where the other one is. */
    to: { reference: string; digest: string | null; is_running: boolean };
  }[];
  /** Every container that is replaced, in the order in which the new ones are started. */
  containers: readonly PlannedContainer[];
  /** Whether the old ones stop before the new ones start. */
  order: "stop_first" | "start_first";
  /** Seconds between a new container's readiness and its old one's stop; 0 where that stops first. */
  drain_seconds: number;
  /** Containers that an earlier run left down: their new ones are started, and so are they where they are put back. */
  owed: readonly string[];
  files: readonly FileNotice[];
  diff: readonly FieldDiff[];
  /** How many settings, networks, mounts and ports are carried unchanged, by name. */
  carried: Readonly<Record<string, number>>;
  refusals: readonly Refusal[];
  warnings: readonly Refusal[];
  /** True when nothing would change: the same image already runs under the same reference. */
  is_noop: boolean;
  /** SHA-256 (hex) over the target as it was found and what is desired; a run whose target changed since has another. */
  hash: string;
}

/**
 * The journalled steps of an update, in their order; `wait` is for a dependency to become healthy, `drain` is the time in which both
 * containers serve, `undo` is putting the previous one back. From `create` to `start` and for `undo` and `remove_old` the facts name the `container`.
 */
export const updateSteps = [
  "pull",
  "snapshot",
  "create",
  "wait",
  "drain",
  "stop",
  "rename_old",
  "rename_new",
  "start",
  "verify",
  "commit",
  "remove_old",
  "undo",
] as const;
export type UpdateStep = (typeof updateSteps)[number];

export interface JournalEntry {
  step: string;
  phase: "begin" | "finish" | "fail";
  facts: Readonly<Record<string, unknown>>;
  at: number;
}

export interface PullProgress {
  /** Bytes so far and in all, as far as the engine has said; null before the first layer's size is known. */
  bytes: number | null;
  total_bytes: number | null;
  layers_done: number;
  layers_total: number;
}

/** Durable before it resolves; throws when another process has taken the run over, and then nothing may be touched any more. */
export interface Journal {
  run_id: string;
  entries(): readonly JournalEntry[];
  begin(step: UpdateStep, facts?: Readonly<Record<string, unknown>>): Promise<void>;
  finish(step: UpdateStep, facts?: Readonly<Record<string, unknown>>): Promise<void>;
  fail(step: UpdateStep, facts?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Not durable: what the run's page shows while a pull goes on. */
  progress(progress: PullProgress): void;
}

export interface RegistryAuth {
  username: string;
  password: string;
  /** Host of the registry that these belong to; they are sent nowhere else. */
  host: string;
}

/** `is_noop`: after the pull it turned out that this very image is in place already under this very reference. */
export interface Prepared {
  is_noop: boolean;
}

/** How long what was started has to run, unrestarted and not killed, before it counts as ready. */
export const stabilityMs = 10_000;

export type Readiness =
  | { ready: true; detail: Message }
  /** `final`: it will not get better by waiting (exited, OOM-killed, unhealthy by its own check). */
  | { ready: false; detail: Message; final?: boolean };

export type Recovery =
  /** The target is as it was before the run. `is_left_over`: something that the run made could not be removed yet; `finish` does. */
  | { state: "untouched"; detail: Message; is_left_over?: boolean }
  /** The new one was started and the previous one is kept aside: go on with verifying. */
  | { state: "started"; detail: Message }
  /** The new one is in place and the previous one is gone or was not needed. */
  | { state: "finished"; detail: Message }
  /** Of several containers some are as before, and of others the new one was kept, because the previous one is gone or refuses. */
  | { state: "mixed"; detail: Message }
  /** Neither could be brought to run. */
  | { state: "down"; detail: Message };

/** What an ended run left on the runtime. */
export interface Standing {
  /** To be kept, and given back when it is asked again. */
  facts: Readonly<Record<string, unknown>>;
  /** What somebody did to it since `facts` were written; null when it is as it was left, or runs again. */
  changed: Message | null;
  /** All that was to run does. */
  is_up: boolean;
  /** Of what is to run, each by itself. */
  readiness: Readiness;
}

/**
 * `before`: the facts of an earlier look, which tell whether somebody touched anything since; with null only what is gone or taken by
 * others counts as touched. `ran_ms`: for how long what has no health check of its own has run by now.
 */
export interface StandingLook {
  before: Standing["facts"] | null;
  ran_ms: number;
}

export interface RuntimeFacts {
  version: string;
  api_version: string;
  platform: string;
  warnings: readonly Refusal[];
}

/** One opened connection to a runtime; closed by `await using`. Every call has a deadline of its own. */
export interface RuntimeSession extends AsyncDisposable {
  /** Proves that the runtime answers and that the rights needed for discovery are there. */
  describe(): Promise<RuntimeFacts>;
  discover(): Promise<readonly Target[]>;
  /** Throws `not_found` when the target is gone. */
  inspect(ref: TargetRef): Promise<Target>;
  /** Of a runtime whose containers have ids besides their names, which change with each update: the name of the one that has this id, or begins with it. */
  nameOfId?(id: string): Promise<string | null>;
  /** Whether images of this repository are pulled over plain http, by the runtime's own settings; null where it may not be asked. */
  isPlainRegistry?(image: string): Promise<boolean | null>;
  plan(ref: TargetRef, changes: readonly Change[], options?: PlanOptions): Promise<UpdatePlan>;
  /** Pulls and verifies the desired images and probes the verbs that `apply` needs. The target is not touched. */
  prepare(plan: UpdatePlan, auths: readonly RegistryAuth[], journal: Journal): Promise<Prepared>;
  /** Takes back what `prepare` changed on the engine, but for what it fetched: for a run that ends before `apply`. */
  unprepare?(journal: Journal): Promise<void>;
  /**
   * From "old one serves" to "new one started"; nothing at all for a no-op. Throws when it could not; then call `undo`. Once `stopping`
   * is aborted nothing more is taken down or waited for: what is down comes up, and the reason is thrown, which leaves the rest to
   * `recover`.
   */
  apply(plan: UpdatePlan, journal: Journal, stopping?: AbortSignal): Promise<void>;
  /**
   * Puts the previous one back, whatever state it finds. Idempotent. Answers `untouched` when the previous one is as it was;
   * `finished` or `started` when it is gone or refuses to come back and the new one was kept running in its place. Throws when
   * nothing could be brought to run. `snapshot`: the one that this run captured; a previous container that a stranger removed
   * meanwhile is made again from it. `stopping`: once it is aborted, none waits any longer for another to become healthy.
   */
  undo(ref: TargetRef, journal: Journal, snapshot: string | null, stopping?: AbortSignal): Promise<Recovery>;
  /**
   * Removes what the run kept aside, or of one that failed what could not be removed then. Idempotent. Throws while something is left
   * that may go later.
   */
  finish(ref: TargetRef, journal: Journal): Promise<void>;
  /** After a crash: looks at what is really there, by labels and names first and the journal second, and makes it whole. */
  recover(ref: TargetRef, journal: Journal, snapshot: string | null, stopping?: AbortSignal): Promise<Recovery>;
  /**
   * Judges what the run started, each by itself. `ranMs`: how long ago that was, for the stability period of a target without a
   * health check of its own.
   */
  readiness(ref: TargetRef, ranMs: number, journal: Journal): Promise<Readiness>;
  /**
   * What became of something that the run started and that does not serve any more: it exited, was restarted, removed or renamed.
   * Null while all of it runs, healthy or not. Cheap: it is asked several times a second while health is awaited.
   */
  findEnd(ref: TargetRef, journal: Journal): Promise<Message | null>;
  /** Looks at what an ended run left, and changes nothing. */
  standing(ref: TargetRef, journal: Journal, look: StandingLook): Promise<Standing>;
  snapshots?: {
    /**
     * The complete configuration as JSON text; the caller encrypts it before it is stored. Throws `not_found` when there is nothing
     * that could be saved: no target, or none with an image to make it from again.
     */
    capture(ref: TargetRef): Promise<string>;
    /**
     * A plan that leads back to a snapshot; performed by `prepareRestore` and `apply` like any other. What ran when it was captured is to
     * run again, also where the target is down or gone. `owed`: see `PlanOptions`.
     */
    planRestore(ref: TargetRef, snapshot: string, owed?: readonly string[]): Promise<UpdatePlan>;
    /** What is needed by `apply` of such a plan; called in place of `prepare`. */
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
  /** Its tags and digests, without the names that we keep images by. */
  references: readonly string[];
  size_bytes: number;
  /** Null where the runtime does not tell. */
  created_at: number | null;
  /** Whether it has a name of ours, which keeps it from being pruned. */
  is_kept: boolean;
}

export interface RuntimeImages {
  /** Names images so that pruning what is dangling leaves them; one that is gone is passed over. Idempotent. */
  keep(ids: readonly string[]): Promise<void>;
  /** Those of the ids that are there. */
  findPresent(ids: readonly string[]): Promise<readonly string[]>;
  listUnused(): Promise<readonly UnusedImage[]>;
  /** Removes an image with all its names; throws `rejected` when a container uses it. */
  remove(id: string): Promise<void>;
}

/** Reads snapshots without a runtime. */
export interface SnapshotReader {
  /** The ids of the images that it needs. */
  imagesOf(snapshot: string): readonly string[];
  /** What restores it without us: a shell script, or a compose file. Secrets are left out as `${NAME}` unless they are asked for. */
  write(snapshot: string, options: { format: "script" | "compose"; with_secrets: boolean }): string;
}

export interface RuntimeContext extends Pick<PluginContext, "signal" | "clock"> {
  /** Our own container id or hostname, and the data directory: targets that carry us are refused. */
  self: { hostname: string; data_dir: string };
}

export interface Runtime<K extends RuntimeKind = RuntimeKind> {
  kind: K;
  title: string;
  Config: ConfigSchema;
  /** `secret` is the parsed secret of a credential of the same kind, or null. */
  open(config: unknown, secret: unknown, context: RuntimeContext): Promise<RuntimeSession>;
  /** The login that pulls of this image have by the connection's own secret; null where it has none for that registry. */
  registryLogin?(config: unknown, secret: unknown, image: string): RegistryAuth | null;
  /** Where a parsed configuration leads over the network, for whoever saves it to have it judged; null for this machine. */
  destination?(config: unknown): TcpDestination | null;
  /** Of runtimes whose sessions have snapshots. */
  snapshots?: SnapshotReader;
  /** What the connection's page must warn of, from its configuration alone (plain tcp beyond loopback, TLS not verified). */
  warnings(config: unknown): readonly Refusal[];
}
