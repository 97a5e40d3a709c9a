import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

interface Stage {
  state: "waiting" | "running" | "done" | "failed";
}

interface Counts {
  desired: number;
  updated: number;
  ready: number;
  available: number;
  old: number;
}

/** A cluster can have hundreds. */
const mostNames = 10;
const inNamespaces = (names: readonly string[]) => {
  if (names.length === 0) return "";
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : "";
  return ` in the ${names.length === 1 ? "namespace" : "namespaces"} ${quotedList(names.slice(0, mostNames))}${more}`;
};
const quoting = (tell: (message: Message) => string, said: Message) => {
  const text = tell(said);
  return text === "" ? "" : `: ${text}`;
};

/** Requests to a cluster, and what it reports. */
export const kubernetes = {
  server_wanted: "Enter the address of the API server as https://host:port, without a path",
  namespaces_wanted: 'Enter the names of namespaces, separated by commas, such as "default, monitoring"',
  too_many_namespaces: ({ limit }: { limit: number }) =>
    `Enter at most ${limit} namespaces, or leave the field blank for all`,

  credential_missing: "Choose a credential for this cluster, or use in-cluster mode",
  server_missing: "The credential does not name an API server: enter its address in the connection",
  login_blank: "Paste or upload a kubeconfig, or enter a token or a client certificate",
  login_missing:
    "The kubeconfig's user has no token, certificate or password. Add one to it, or enter a token beside the kubeconfig",
  token_with_spaces: "The token contains spaces or line breaks: paste it as a single line",
  not_in_cluster: "Tidemark is not running in a Kubernetes pod, so there is no service account to use",
  account_unreadable: ({ path }: { path: string }) =>
    `The service account's file "${path}" cannot be read; check automountServiceAccountToken of the pod`,
  kubeconfig_too_large: ({ kib }: { kib: number }) => `The kubeconfig is larger than ${kib} KiB`,
  kubeconfig_unreadable: "This is not a kubeconfig: it must be YAML with clusters, users and contexts, without aliases",
  context_missing: ({ known }: { known: readonly string[] }) =>
    known.length === 0
      ? "The kubeconfig has no context"
      : `The kubeconfig has no current context: choose one of ${quotedList(known)} in the connection`,
  context_unknown: ({ context, known }: { context: string; known: readonly string[] }) =>
    `The kubeconfig has no context "${context}"${known.length === 0 ? "" : `; it has ${quotedList(known)}`}`,
  kubeconfig_incomplete: ({ kind, name }: { kind: "cluster" | "user"; name: string }) =>
    `The kubeconfig's context names the ${kind} "${name}", which the kubeconfig does not contain`,
  kubeconfig_refused: ({ member }: { member: string }) =>
    `Tidemark does not use "${member}" of a kubeconfig: it never runs programs, reads files or assumes another identity for it. Put the data itself into the kubeconfig, or use the token of a service account`,
  unverified:
    "The kubeconfig turns off verification (insecure-skip-tls-verify). Enter the cluster's CA certificate instead",
  not_pem: ({ member }: { member: string }) => `"${member}" of the kubeconfig is not a PEM file in base64`,

  certificate_expired: ({ host }: { host: string }) =>
    `The certificate of "${host}" has expired: renew it on the cluster, or correct the clock of this machine`,
  certificate_misnamed: ({ host }: { host: string }) =>
    `The certificate of "${host}" is for another name: enter an address that it contains`,
  certificate_untrusted: ({ host, has_ca }: { host: string; has_ca: boolean }) =>
    has_ca
      ? `The certificate of "${host}" is not signed by the CA certificate of the credential: enter this cluster's own CA, and check the address`
      : `The certificate of "${host}" is not signed by a public authority: enter the cluster's CA certificate in the credential`,
  unauthenticated: "The cluster does not accept the credential: it expired, was revoked or belongs to another cluster",
  refused: ({ status, said }: { status: number; said: Message }, tell) =>
    `The API server responded with ${status}${quoting(tell, said)}`,
  broken_off: "The connection broke in the middle of the API server's response",
  endless_list: "The API server's list did not end",
  watch_unreadable: "The API server sent an event that does not belong to a workload",
  unknown_kind: ({ kind }: { kind: string }) => `"${kind}" is not a kind of workload`,
  nothing_listed: ({ namespaces }: { namespaces: readonly string[] }) =>
    `The credential is not allowed to list workloads${inNamespaces(namespaces)}`,
  namespaces_unlisted:
    "The credential is allowed to list neither all workloads nor the namespaces: enter the namespaces in the connection",
  not_listed: ({ namespaces }: { namespaces: readonly string[] }) =>
    `The credential is not allowed to list workloads${inNamespaces(namespaces)}; they are left out`,
  missing_right: ({
    verbs,
    resource,
    namespaces,
    is_needed,
  }: {
    verbs: readonly string[];
    resource: string;
    namespaces: readonly string[];
    is_needed: boolean;
  }) =>
    `The credential is not allowed to ${verbs.join(", ")} ${resource}${inNamespaces(namespaces)}${is_needed ? "" : "; failures are explained in less detail"}`,
  logs_forbidden: ({ namespace }: { namespace: string }) =>
    `The credential is not allowed to get pods/log in the namespace "${namespace}"`,

  owner: ({ kind, name }: { kind: string; name: string }) => `${kind} "${name}"`,
  managed: ({ manager }: { manager: Message }, tell) => tell(manager),
  owned: ({ owner }: { owner: Message }, tell) =>
    `It is managed by ${tell(owner)}, which may revert an update of its images`,
  scheduled: "Scheduled",
  suspended: "Suspended",
  scaled_to_zero: "Scaled to 0",
  pods_short: ({ ready, wanted }: { ready: number; wanted: number }) => `${ready} of ${wanted} pods are ready`,
  pods_ready: ({ ready, wanted }: { ready: number; wanted: number }) =>
    ready === 0 ? "Not ready" : `${ready} of ${wanted} ready`,
  paused: "The Deployment is paused: resume it, then update it",
  on_delete: ({ kind }: { kind: string }) =>
    `The ${kind} replaces its pods only when they are deleted (updateStrategy OnDelete), so an update would not take effect`,
  being_deleted: "It is being deleted",
  partition: ({ partition }: { partition: number }) =>
    `The partition ${partition} keeps the pods with a lower number on the previous version`,
  partition_keeps_all: ({ partition }: { partition: number }) =>
    `The partition ${partition} keeps every pod on the previous version, so an update would not take effect`,
  no_replicas: "It has no replicas, so it cannot be verified that the new version runs",
  container_missing: ({ container, target }: { container: string; target: string }) =>
    `"${target}" has no container "${container}"`,
  rollout_unfinished: ({ service, reference }: { service: string; reference: string }) =>
    `"${service}" is already set to ${reference}, but that rollout has not finished`,
  same_reference: ({ service, reference }: { service: string; reference: string }) =>
    `"${service}" already uses ${reference}, and the tag now points to another image: pods would not be replaced. Use the reference mode "Digest"`,

  changed_since_plan: "The workload has changed since the plan was made; review the plan again",
  not_patched: "The workload was not changed",
  is_patched: "The new images are set",
  changed_meanwhile: "The workload's images were changed outside Tidemark",
  deleted_meanwhile: "The workload was deleted",
  undone: ({ cause }: { cause: Message }, tell) => `The previous images were restored: ${tell(cause)}`,
  undo_stuck: ({ cause }: { cause: Message }, tell) =>
    `The previous images were restored, but that rollout did not finish: ${tell(cause)}`,

  cronjob_set: "The next job uses the new image",
  cronjob_suspended: "The CronJob is suspended; its next job will use the new image",
  not_observed: "The controller has not processed the change yet",
  rolling: ({ desired, updated, available, old }: Counts) =>
    `${updated} of ${desired} pods updated, ${available} available${old === 0 ? "" : `, ${old} previous ones left`}`,
  rolled_out: ({ desired }: Counts) =>
    desired === 1 ? "The pod is updated and available" : `All ${desired} pods are updated and available`,
  no_pods: "The workload has no pods",
  deadline_exceeded: ({ said }: { said: Message }, tell) =>
    `The Deployment's progress deadline has passed${quoting(tell, said)}`,
  stalled: ({ seconds, cause }: { seconds: number; cause: Message }, tell) =>
    `The rollout made no progress for ${seconds} s: ${tell(cause)}`,
  because: ({ said, why }: { said: Message; why: Message }, tell) => `${tell(said)}. ${tell(why)}`,
  pods_wait: ({ pods, why }: { pods: number; why: Message }, tell) =>
    `${pods === 1 ? "1 pod is waiting" : `${pods} pods are waiting`}: ${tell(why)}`,
  pod_in_the_way: ({ pod, why }: { pod: string; why: Message | null }, tell) =>
    `The pod "${pod}" of another version is not ready${why === null ? "" : ` (${tell(why)})`}, and the StatefulSet replaces no pod before all are: delete this pod to let the rollout continue`,
  not_created: ({ said }: { said: Message }, tell) => `Pods cannot be created${quoting(tell, said)}`,
  unschedulable: ({ said }: { said: Message }, tell) => `No node can run it${quoting(tell, said)}`,
  image_not_pulled: ({ container, image, said }: { container: string; image: string; said: Message }, tell) =>
    `the image ${image} of "${container}" cannot be pulled${quoting(tell, said)}`,
  crash_loop: ({
    container,
    restarts,
    exit_code,
    reason,
  }: {
    container: string;
    restarts: number;
    exit_code: number | null;
    reason: string;
  }) =>
    `"${container}" keeps crashing (${restarts === 1 ? "1 restart" : `${restarts} restarts`}${exit_code === null ? "" : `, last exit code ${exit_code}`}${reason === "OOMKilled" ? ", out of memory" : ""})`,
  container_waits: ({ container, reason, said }: { container: string; reason: Message; said: Message }, tell) =>
    `"${container}" does not start: ${tell(reason)}${quoting(tell, said)}`,
  container_ended: (
    { container, exit_code, reason }: { container: string; exit_code: number; reason: Message },
    tell,
  ) => `"${container}" ended with exit code ${exit_code} (${tell(reason)})`,
  not_ready: ({ container }: { container: string }) => `"${container}" runs but is not ready`,

  helm_release: "Helm release",
  helm_missing:
    "The helm program is not installed here: Helm releases are listed but cannot be updated. Install Helm 3.14 or later, or set HELM_PATH",
  helm_old: ({ version, oldest }: { version: string; oldest: string }) =>
    `helm ${version} is too old to update releases: it must be ${oldest} or later`,
  helm_strange: ({ said }: { said: Message }, tell) =>
    `The helm program returned unexpected output${quoting(tell, said)}`,
  helm_killed: "helm was terminated before it finished",
  releases_not_listed: ({ namespaces }: { namespaces: readonly string[] }) =>
    `The credential is allowed to list neither Secrets nor ConfigMaps${inNamespaces(namespaces)}: Helm releases are left out`,
  release_missing: ({ release }: { release: string }) => `There is no release "${release}"`,
  release_unreadable: ({ release }: { release: string }) =>
    `The stored state of the release "${release}" cannot be read`,
  manifest_unreadable: "The objects of the release are not YAML",
  manifest_too_large: "The objects of the release are too large to compare",
  release_not_installed: "Its installation was never completed: complete it with helm, or uninstall it",
  release_uninstalled: "It has been uninstalled, or is about to be",
  release_owned: ({ owner }: { owner: Message }, tell) =>
    `It is managed by ${tell(owner)}, which may revert an update of its chart`,
  release_pending: ({ status, revision }: { status: string; revision: number }) =>
    `Its revision ${revision} is unfinished (${status}): helm is still running or was terminated. Helm refuses every other change until it is finished or rolled back. An update rolls it back first`,
  release_failed: ({ revision, said }: { revision: number; said: Message }, tell) =>
    `The upgrade to its revision ${revision} failed${quoting(tell, said)}`,
  other_chart: ({ from, to }: { from: string; to: string }) =>
    `The release has the chart "${from}", and the tracker follows "${to}"`,
  not_rendered: ({ said }: { said: Message }, tell) =>
    `The new version cannot be installed with the values of this release: ${tell(said)}`,
  crds_left: ({ names }: { names: readonly string[] }) =>
    `Helm does not upgrade CustomResourceDefinitions: apply those of the new version yourself (${quotedList(names)})`,
  hooks_run: ({ names }: { names: readonly string[] }) => `The chart's hooks run: ${quotedList(names)}`,
  diff_cut: ({ more }: { more: number }) => `${more} further changes are not shown`,
  not_upgraded: "The release was not upgraded",
  is_upgraded: ({ revision }: { revision: number }) => `The release has the new revision ${revision}`,
  release_changed_meanwhile: ({ revision }: { revision: number }) =>
    `The release was changed outside Tidemark; it is now at revision ${revision}`,
  upgrade_cut_off: ({ revision, status }: { revision: number; status: string }) =>
    `helm was terminated before it finished: the release is at revision ${revision} (${status}) until it is rolled back`,
  upgrade_failed: ({ revision, said }: { revision: number; said: Message }, tell) =>
    `The upgrade to revision ${revision} failed: ${tell(said)}`,
  of_workload: ({ kind, workload, said }: { kind: string; workload: string; said: Message }, tell) =>
    `${kind} "${workload}": ${tell(said)}`,
  rolled_back: ({ to }: { to: number }) => `The release was rolled back to revision ${to}`,
  rollback_failed: ({ to, said }: { to: number; said: Message }, tell) =>
    `The rollback to revision ${to} failed: ${tell(said)}`,
  rollback_stuck: ({ to, cause }: { to: number; cause: Message }, tell) =>
    `The release was rolled back to revision ${to}, but that rollout did not finish: ${tell(cause)}`,
  release_status: ({ status }: { status: string }) => `Helm reports the release as ${status}`,

  saved_images: "Earlier images",
  saved_revisions: "Earlier revisions",
  saved_unreadable: "The saved state of this target cannot be read",
  revision_gone: ({ revision }: { revision: number }) =>
    `Helm no longer has the revision ${revision} of this release: it keeps the last ten`,

  step_unlock: ({ state }: Stage) =>
    ({
      waiting: "Roll back the unfinished revision",
      running: "Rolling back the unfinished revision",
      done: "Unfinished revision rolled back",
      failed: "Unfinished revision not rolled back",
    })[state],
  step_upgrade: ({ state }: Stage) =>
    ({
      waiting: "Upgrade the release",
      running: "Upgrading the release",
      done: "Release upgraded",
      failed: "Upgrade failed",
    })[state],
  step_roll_back: ({ state }: Stage) =>
    ({
      waiting: "Roll back the release",
      running: "Rolling back the release",
      done: "Release rolled back",
      failed: "Release not rolled back",
    })[state],
  step_patch: ({ state }: Stage) =>
    ({
      waiting: "Set the new images",
      running: "Setting the new images",
      done: "New images set",
      failed: "New images not set",
    })[state],
  step_rollout: ({ state }: Stage) =>
    ({
      waiting: "Follow the rollout",
      running: "Following the rollout",
      done: "Rollout complete",
      failed: "Rollout not complete",
    })[state],
  step_undo: ({ state }: Stage) =>
    ({
      waiting: "Restore the previous images",
      running: "Restoring the previous images",
      done: "Previous images restored",
      failed: "Previous version not restored",
    })[state],
} satisfies Area;
