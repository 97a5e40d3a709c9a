import * as v from "valibot";
import { plain, say } from "../../messages/message.ts";
import type { Message } from "../../messages/types.ts";
import { bareHost } from "../../net/address.ts";
import { parseConfig, readConfig } from "../config.ts";
import type { PlanDetail, PlannedPart } from "../plan.ts";
import type { Runtime } from "../runtime.ts";
import type { StepKind, TargetKind } from "../target-kind.ts";
import { accessOf, judgeSecret } from "./access.ts";
import { clearFolders } from "./helm/program.ts";
import { releaseKind } from "./helm/release-target.ts";
import { contextsIn, parseKubeconfig } from "./kubeconfig.ts";
import { Config, namespacesIn, Secret } from "./schema.ts";
import { openSession } from "./session.ts";
import { rules, workloadKinds } from "./workloads.ts";

function step(name: string, of: Pick<StepKind, "touches" | "is_expected">, as = name): StepKind {
  const told = (state: keyof StepKind["words"]): Message => ({ code: `kubernetes.step_${as}`, params: { state } });
  const words = { waiting: told("waiting"), running: told("running"), done: told("done"), failed: told("failed") };
  return { name, phase: "change", words, ...of };
}

const rollout = step("rollout", { touches: false, is_expected: true });
const workloadSteps: readonly StepKind[] = [
  step("patch", { touches: true, is_expected: true }),
  rollout,
  step("undo", { touches: true, is_expected: false }),
];
const releaseSteps: readonly StepKind[] = [
  step("unlock", { touches: true, is_expected: false }),
  step("upgrade", { touches: true, is_expected: true }),
  step("back", { touches: true, is_expected: false }, "roll_back"),
  rollout,
  step("undo", { touches: true, is_expected: false }, "roll_back"),
];

/** Two runs never work on the same workload, whichever of its containers they are about. */
function workloadParts({ workload }: PlanDetail) {
  return typeof workload === "string" ? [part(workload)] : [];
}

/** A run of a release works on its workloads, too. */
function releaseParts({ release, workloads }: PlanDetail) {
  const names = Array.isArray(workloads) ? workloads.filter((each) => typeof each === "string") : [];
  return typeof release === "string" ? [part(`${releaseKind}/${release}`), ...names.map(part)] : [];
}

function part(name: string): PlannedPart {
  return { name, service: name, is_running: true };
}

const targetKinds: readonly TargetKind[] = [
  ...workloadKinds.map((kind) => ({
    kind,
    title: plain(rules[kind].title),
    is_group: true,
    is_declarative: true,
    saved_as: say("kubernetes.saved_images"),
    keeps_trying: true,
    artifact: "image" as const,
    steps: workloadSteps,
    parts: workloadParts,
  })),
  {
    kind: releaseKind,
    title: say("kubernetes.helm_release"),
    is_group: false,
    is_declarative: true,
    saved_as: say("kubernetes.saved_revisions"),
    keeps_trying: true,
    artifact: "chart",
    steps: releaseSteps,
    parts: releaseParts,
  },
];

/** Deployments, StatefulSets, DaemonSets, CronJobs and Helm releases of a cluster. */
export const kubernetes: Runtime = {
  kind: "kubernetes",
  title: "Kubernetes",
  Config,
  target_kinds: targetKinds,
  needsSecret: (config) => !v.is(v.object({ in_cluster: v.literal(true) }), config),
  choices(secret) {
    const { kubeconfig } = parseConfig(Secret, secret);
    if (kubeconfig === null) return {};
    const { contexts, current } = contextsIn(parseKubeconfig(kubeconfig));
    const options = contexts.map(({ name, server }) => {
      return { value: name, title: server === "" ? name : `${name} (${server})` };
    });
    return options.length === 0 ? {} : { context: { options, current } };
  },
  judgeSecret: (secret) => judgeSecret(parseConfig(Secret, secret)),
  open: async (config, secret, context) => {
    const parsed = parseConfig(Config, config);
    const access = await accessOf(
      parsed,
      secret === null || secret === undefined ? null : parseConfig(Secret, secret),
      context.self.service_account,
    );
    return openSession(access, parsed, context);
  },
  destination(config) {
    const { in_cluster, server } = parseConfig(Config, config);
    return in_cluster || server === "" ? null : { field: "server", host: bareHost(new URL(server).hostname) };
  },
  place(config, credential_id) {
    const { in_cluster, server, context } = parseConfig(Config, config);
    if (in_cluster) return "in-cluster";
    // The address is in the kubeconfig, which is a secret.
    return server === "" ? `kubeconfig ${credential_id} ${context}` : new URL(server).origin;
  },
  overlaps(one, other) {
    const [own = [], others = []] = [one, other].map((config) => {
      return namespacesIn(readConfig(Config, config)?.namespaces ?? "");
    });
    if (own.length === 0 || others.length === 0) return true;
    return own.some((name) => others.includes(name));
  },
  warnings: () => [],
  clearLeftovers: clearFolders,
};
