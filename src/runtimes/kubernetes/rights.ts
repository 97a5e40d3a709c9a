import * as v from "valibot";
import { say } from "../../messages/message.ts";
import type { Refusal } from "../runtime.ts";
import type { Cluster } from "./client.ts";
import { rules, workloadKinds } from "./workloads.ts";

interface Right {
  group: string;
  resource: string;
  verbs: readonly string[];
  /** What does not work without it: updates, or only explanations. */
  is_needed: boolean;
}

/** What the documented Role grants. */
export const neededRights: readonly Right[] = [
  ...workloadKinds.map((kind) => ({
    group: rules[kind].group,
    resource: rules[kind].resource,
    verbs: ["get", "list", "watch", "patch"],
    is_needed: true,
  })),
  { group: "", resource: "pods", verbs: ["list"], is_needed: true },
  { group: "", resource: "events", verbs: ["list"], is_needed: false },
];

const Review = v.object({ status: v.object({ allowed: v.boolean() }) });

/** The rights that the credential lacks, one warning for each resource; `namespaces`: empty for the whole cluster. */
export async function missingRights(cluster: Cluster, namespaces: readonly string[]): Promise<readonly Refusal[]> {
  const places = namespaces.length === 0 ? [""] : namespaces;
  const warnings: Refusal[] = [];
  for (const right of neededRights) {
    const { group, resource } = right;
    const missing: { verb: string; namespace: string }[] = [];
    for (const namespace of places) {
      const verdicts = await Promise.all(
        right.verbs.map(async (verb) => {
          const resourceAttributes = { group, resource, verb, namespace };
          const body = {
            apiVersion: "authorization.k8s.io/v1",
            kind: "SelfSubjectAccessReview",
            spec: { resourceAttributes },
          };
          const { status } = await cluster.send(
            ({ authorization }) => authorization.createSelfSubjectAccessReview(body),
            Review,
          );
          return { verb, namespace, allowed: status.allowed };
        }),
      );
      missing.push(...verdicts.filter(({ allowed }) => !allowed));
    }
    if (missing.length === 0) continue;
    const verbs = [...new Set(missing.map(({ verb }) => verb))];
    const lacking = [...new Set(missing.map(({ namespace }) => namespace))].filter((name) => name !== "");
    warnings.push({
      code: right.is_needed ? "missing_right" : "missing_explanation",
      message: say("kubernetes.missing_right", {
        verbs,
        resource,
        namespaces: lacking,
        is_needed: right.is_needed,
      }),
    });
  }
  return warnings;
}
