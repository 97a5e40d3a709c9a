import { existsSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isReady, type KubernetesApi } from "./kubernetes-api.ts";
import { type PeerProcess, startPeerProcess } from "./peer-process.ts";

const program = join(process.env.TIDEMARK_PEERS || join(homedir(), ".cache/tidemark-peers"), "kwok-0.8.0/kwok");

/** Why no kwok can be started here, or null when it can. */
export function kwokMissing(): string | null {
  return existsSync(program) ? null : `${program} is not there (run tests/peers/build-kubernetes.sh, ten minutes)`;
}

export interface KwokOptions {
  folder: string;
  kubeconfig: string;
  certificate: { cert_file: string; key_file: string };
  port: number;
  /** How many nodes, `kwok-1` and on. */
  count: number;
  api: KubernetesApi;
}

/**
 * Starts a kwok and its nodes, on which pods are nothing but their status: each is ready after a moment, except one with an image
 * whose tag begins with `broken`, which cannot be pulled. Pods choose them by the label `type: kwok`.
 */
export async function startKwok(options: KwokOptions): Promise<PeerProcess> {
  const { folder, port, count, api, certificate } = options;
  const names = Array.from({ length: count }, (_, index) => `kwok-${index + 1}`);
  for (const name of names) await api.request("POST", "/api/v1/nodes", nodeOf(name));
  const file = join(folder, "kwok.yaml");
  writeFileSync(file, [JSON.stringify(settings(port)), ...stages].join("\n---\n")); // JSON is YAML.
  const credentials = ["--tls-cert-file", certificate.cert_file, "--tls-private-key-file", certificate.key_file];
  return await startPeerProcess([program, "--config", file, "--kubeconfig", options.kubeconfig, ...credentials], {
    env: {},
    isServing: async () => (await Promise.all(names.map((name) => isReady(api, name)))).every(Boolean),
    signal: "SIGKILL",
  });
}

function nodeOf(name: string) {
  const resources = { cpu: "32", memory: "64Gi", pods: "110" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      annotations: { "kwok.x-k8s.io/node": "fake" },
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        type: "kwok",
      },
    },
    status: {
      addresses: [
        { type: "InternalIP", address: "127.0.0.1" },
        { type: "Hostname", address: name },
      ],
      allocatable: resources,
      capacity: resources,
    },
  };
}

function settings(port: number) {
  return {
    apiVersion: "config.kwok.x-k8s.io/v1alpha1",
    kind: "KwokConfiguration",
    options: {
      cidr: "10.0.0.0/24",
      nodeIP: "127.0.0.1",
      nodePort: port,
      serverAddress: `127.0.0.1:${port}`,
      manageAllNodes: false,
      manageNodesWithAnnotationSelector: "kwok.x-k8s.io/node=fake",
      nodeLeaseDurationSeconds: 40,
      // With settings from a file these have no default, and it ends at a zero.
      nodeLeaseParallelism: 4,
      podPlayStageParallelism: 4,
      nodePlayStageParallelism: 4,
      podsOnNodeSyncParallelism: 4,
      enablePodsOnNodeSyncStreamWatch: true,
      enableCRDs: [],
    },
  };
}

const isReadyKey = `.status.conditions.[] | select( .type == "Ready" ) | .status`;
const isBrokenKey = `.spec.containers.[].image | select(test(":broken"))`;
const isKept = { key: ".metadata.deletionTimestamp", operator: "DoesNotExist" };

function stage(name: string, kind: "Node" | "Pod", matchExpressions: readonly object[], next: object): string {
  const resourceRef = { apiGroup: "v1", kind };
  const spec = { resourceRef, selector: { matchExpressions }, next };
  return JSON.stringify({ apiVersion: "kwok.x-k8s.io/v1alpha1", kind: "Stage", metadata: { name }, spec });
}

const stages = [
  stage("node-ready", "Node", [{ key: isReadyKey, operator: "NotIn", values: ["True"] }], {
    statusTemplate: `
{{ $now := Now }}
conditions:
{{ range NodeConditions }}
- {type: {{ .type | Quote }}, status: {{ .status | Quote }}, reason: {{ .reason | Quote }}, message: {{ .message | Quote }}, lastHeartbeatTime: {{ $now | Quote }}, lastTransitionTime: {{ $now | Quote }}}
{{ end }}
phase: Running
`,
  }),
  stage(
    "pod-ready",
    "Pod",
    [
      isKept,
      { key: ".status.phase", operator: "In", values: ["Pending"] },
      { key: isReadyKey, operator: "NotIn", values: ["True"] },
      { key: isBrokenKey, operator: "DoesNotExist" },
    ],
    {
      statusTemplate: `
{{ $now := Now }}
conditions:
{{ range list "Initialized" "Ready" "ContainersReady" }}
- {type: {{ . }}, status: "True", lastTransitionTime: {{ $now | Quote }}}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: {{ printf "%s@sha256:%s" (regexReplaceAll "(@.*|:[^/:]*)$" .image "") (sha256sum .image) | Quote }}
  ready: true
  started: true
  restartCount: 0
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ end }}
{{ with NodeIPsWith .spec.nodeName }}
hostIP: {{ index . 0 | Quote }}
{{ end }}
{{ with PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}
podIP: {{ index . 0 | Quote }}
podIPs: [{ip: {{ index . 0 | Quote }}}]
{{ end }}
phase: Running
startTime: {{ $now | Quote }}
`,
    },
  ),
  stage(
    "pod-not-pulled",
    "Pod",
    [
      isKept,
      { key: ".status.phase", operator: "In", values: ["Pending"] },
      { key: isReadyKey, operator: "DoesNotExist" },
      { key: isBrokenKey, operator: "Exists" },
    ],
    {
      statusTemplate: `
{{ $now := Now }}
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
{{ range list "Ready" "ContainersReady" }}
- {type: {{ . }}, status: "False", reason: ContainersNotReady, lastTransitionTime: {{ $now | Quote }}}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: false
  started: false
  restartCount: 0
  state: {waiting: {reason: ImagePullBackOff, message: {{ printf "Back-off pulling image %s" .image | Quote }}}}
{{ end }}
phase: Pending
startTime: {{ $now | Quote }}
`,
    },
  ),
  stage(
    "pod-complete",
    "Pod",
    [
      isKept,
      { key: ".status.phase", operator: "In", values: ["Running"] },
      { key: ".metadata.ownerReferences.[].kind", operator: "In", values: ["Job"] },
    ],
    {
      statusTemplate: `
{{ $now := Now }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: false
  started: false
  restartCount: 0
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}
{{ end }}
phase: Succeeded
`,
    },
  ),
  stage("pod-delete", "Pod", [{ key: ".metadata.deletionTimestamp", operator: "Exists" }], { delete: true }),
];
