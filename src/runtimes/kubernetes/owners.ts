import { type Message, plain, say } from "../../messages/message.ts";
import type { Metadata } from "./objects.ts";

/**
 * Who else writes the workload and may revert a change: a controller that owns it, or a tool that left its mark. Null if nobody is known
 * to.
 */
export function ownerOf({ ownerReferences, labels, annotations }: Metadata): Message | null {
  const controller = ownerReferences.find((each) => each.controller);
  if (controller !== undefined) return say("kubernetes.owner", { kind: controller.kind, name: controller.name });
  const marks = { ...labels, ...annotations };
  const first = (...names: readonly string[]) => names.map((name) => marks[name] ?? "").find((text) => text !== "");
  const argo = first("argocd.argoproj.io/tracking-id")?.split(":")[0] ?? first("argocd.argoproj.io/instance");
  if (argo !== undefined) return say("kubernetes.owner", { kind: "Argo CD", name: argo });
  const flux = first("kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name");
  if (flux !== undefined) return say("kubernetes.owner", { kind: "Flux", name: flux });
  const release = first("meta.helm.sh/release-name");
  if (release !== undefined) return say("kubernetes.owner", { kind: "Helm", name: release });
  const manager = first("app.kubernetes.io/managed-by");
  return manager === undefined || manager === "kubectl" ? null : say("kubernetes.managed", { manager: plain(manager) });
}
