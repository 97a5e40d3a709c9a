import { type Message, plain, say } from "../../../messages/message.ts";
import { cutTo, withoutSecrets } from "../../engine/hide-secrets.ts";
import { unfinishedOperation } from "../../plan.ts";
import { type Refusal, type Target, type TargetService, untoldSettings } from "../../target.ts";
import { secretsSet } from "./manifest.ts";
import type { Release, StoredRevision } from "./storage.ts";

export const releaseKind = "helm_release";

export interface FoundRelease {
  /** The latest revision. */
  stored: StoredRevision;
  /** The revision that Helm deployed last, whatever came after it; null if it cannot be read. */
  release: Release | null;
  /** Until its rollout is complete, the one before it. */
  serving: Release | null;
  /** Of its workloads together; null if they were not read. */
  state: TargetService["state"] | null;
  /** The first of its workloads with pods that are not ready, though others are. */
  shortfall: Message | null;
}

/** What Helm deployed last; a failed or unfinished upgrade leaves it deployed. */
export function deployedOf(revisions: readonly StoredRevision[]): StoredRevision | undefined {
  return revisions.find(({ status }) => status === "deployed") ?? revisions[0];
}

export function isPending(status: string): boolean {
  return status.startsWith("pending-");
}

/** `helm`: why the helm program cannot be used; null if it can. */
export function releaseTarget(
  { stored, release, serving, state, shortfall }: FoundRelease,
  helm: Message | null,
): Target {
  const { namespace, status } = stored;
  const id = `${namespace}/${stored.release}`;
  const { name = "", version = "", appVersion = null } = serving?.chart.metadata ?? {};
  const app_version = appVersion === "" ? null : appVersion;
  const owner = fluxOf(release);
  return {
    ref: { kind: releaseKind, id },
    name: id,
    namespace,
    ...(owner === null ? {} : { owner }),
    ...(status === "deployed" ? {} : { condition: plain(status) }),
    ...(shortfall === null ? {} : { shortfall }),
    services: [
      {
        name: "main",
        containers: [],
        artifact: { kind: "chart", reference: `${name}-${version}`, digest: null, name, version, app_version },
        state: state ?? (status === "deployed" ? "running" : "unknown"),
      },
    ],
    refusals: refusalsOf(stored, release, helm),
    warnings: warningsOf(stored, release),
    labels: { "helm/status": status, "helm/revision": String(stored.revision) },
  };
}

function refusalsOf(
  { status, release: name }: StoredRevision,
  release: Release | null,
  helm: Message | null,
): Refusal[] {
  const refusals: Refusal[] = [];
  if (release === null) {
    refusals.push({ code: "unreadable", message: say("kubernetes.release_unreadable", { release: name }) });
  }
  if (helm !== null) refusals.push({ code: "helm_missing", message: helm });
  if (status === "pending-install") {
    refusals.push({ code: "not_installed", message: say("kubernetes.release_not_installed") });
  }
  if (status === "uninstalling" || status === "uninstalled") {
    refusals.push({ code: "uninstalled", message: say("kubernetes.release_uninstalled") });
  }
  return refusals;
}

function fluxOf(release: Release | null): Message | null {
  const name = /^\s+helm\.toolkit\.fluxcd\.io\/name: "?([^"\s]+)/m.exec(release?.manifest ?? "")?.[1];
  return name === undefined ? null : say("kubernetes.owner", { kind: "Flux", name });
}

function warningsOf({ status, revision }: StoredRevision, release: Release | null): Refusal[] {
  const warnings: Refusal[] = [];
  const owner = fluxOf(release);
  if (owner !== null) warnings.push({ code: untoldSettings, message: say("kubernetes.release_owned", { owner }) });
  if (isPending(status) && status !== "pending-install") {
    warnings.push({ code: unfinishedOperation, message: say("kubernetes.release_pending", { status, revision }) });
  }
  if (status === "failed") {
    const described = plain(cutTo(release?.info.description ?? "", 500));
    const said = release === null ? described : withoutSecrets(described, secretsSet(release));
    warnings.push({ code: "failed", message: say("kubernetes.release_failed", { revision, said }) });
  }
  return warnings;
}
