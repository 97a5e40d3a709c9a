import type { Message } from "../messages/types.ts";

/** A target's permanent name: a container's name (its ID changes with every update), a compose group's project. */
export interface TargetRef {
  kind: string;
  id: string;
}

/** A code from a closed list and a sentence for people. */
export interface Refusal {
  code: string;
  message: Message;
}

/** The runtime does not report all settings. Automatic updates wait until the administrator accepts that. */
export const untoldSettings = "untold_settings";

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
