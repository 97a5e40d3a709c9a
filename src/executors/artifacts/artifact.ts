import type { Reader } from "../../db/client.ts";
import { say } from "../../messages/message.ts";
import type { Change } from "../../runtimes/plan.ts";
import type { RuntimeSession } from "../../runtimes/session.ts";
import type { Artifact, TargetService } from "../../runtimes/target.ts";
import type { ImageDifference } from "../../versions/desired-image.ts";
import type { Move } from "../../versions/running-tag.ts";
import type { Unmet } from "../observation-schema.ts";
import type { DesiredRelease } from "../releases.ts";
import type { Binding, ExecutorSettings } from "../settings.ts";
import type { AskedEngine, RegistryAccessDeps } from "./registry-access.ts";

export interface ArtifactDeps extends RegistryAccessDeps {
  read: Reader;
}

/** What runs, as its source names it. */
export interface Names {
  /** A tag, or a chart's version. Null if unknown. */
  label: string | null;
  /** Other names that the source has for the same content. */
  others: readonly string[];
}

export interface FoundService extends Names {
  service: TargetService;
}

/** A service that should follow a release. */
export interface Asked {
  settings: ExecutorSettings;
  binding: Binding;
  /** Null if the target or the service is missing. */
  found: FoundService | null;
  release: DesiredRelease;
  /** Null without a session. */
  engine: AskedEngine;
}

/** What a service should run. */
export interface Wanted {
  label: string;
  reference: string;
  digest: string | null;
  /** For the plan; may ask the upstream for more. */
  change(session: RuntimeSession): Promise<Change>;
}

/** How artifacts of one kind are named, chosen and compared; no other code looks inside one. */
export interface ArtifactRules {
  names(deps: ArtifactDeps, settings: ExecutorSettings, binding: Binding, found: TargetService): Promise<Names>;
  desired(deps: ArtifactDeps, asked: Asked): Promise<Wanted | Unmet>;
  compare(found: Artifact, wanted: Pick<Wanted, "label" | "reference" | "digest">): ImageDifference;
  /** What moving to this label means for what runs. */
  move(deps: ArtifactDeps, binding: Binding, found: FoundService, to: string): Promise<Move>;
}

export function serviceMissing({ target }: Pick<ExecutorSettings, "target">, service: string): Unmet {
  return { code: "target_missing", message: say("executors.service_missing", { target: target.id, service }) };
}
