import type { Message } from "../messages/types.ts";

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
  /** Why new pods are missing; null if none are, or it is unknown. */
  why: Message | null;
  /** Those with a fault first; the others are only counted. */
  pods: readonly RolloutPod[];
  more_pods: number;
}

/** `available`: ready for as long as the target requires. */
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
  /** Why it is not ready, if the runtime reports it. */
  why: Message | null;
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
