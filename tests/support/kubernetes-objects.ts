import type { WorkloadKind } from "../../src/runtimes/kubernetes/workloads.ts";
import type { Cluster } from "../peers/kubernetes.ts";
import type { KubernetesObject } from "../peers/kubernetes-api.ts";

/** What of a deployment tests look at. */
export interface Deployment extends KubernetesObject {
  metadata: { name: string; namespace: string; generation: number };
  status: { observedGeneration?: number; replicas?: number; updatedReplicas?: number; availableReplicas?: number };
}

export interface Pod extends KubernetesObject {
  status: {
    phase: string;
    podIP?: string;
    containerStatuses?: { ready: boolean; restartCount: number; imageID: string; state: Record<string, unknown> }[];
  };
}

/**
 * A deployment `name` of `image`, whose pods are ready while they answer `/ready` on port 80; its pods have the label `app: name`. `deadline`:
 * seconds until a rollout without progress has failed.
 */
export function webDeployment(
  name: string,
  image: string,
  { namespace = "default", replicas = 2, deadline = 20 }: DeploymentOptions = {},
) {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: {
      replicas,
      progressDeadlineSeconds: deadline,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 2,
          containers: [
            {
              name: "web",
              image,
              ports: [{ containerPort: 80 }],
              readinessProbe: { httpGet: { path: "/ready", port: 80 }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  };
}

interface DeploymentOptions {
  namespace?: string;
  replicas?: number;
  deadline?: number;
}

/** The same pods as a workload of any kind; a CronJob starts one every night, unless it is suspended. */
export function webWorkload(
  kind: WorkloadKind,
  name: string,
  image: string,
  { suspend = false, ...options }: DeploymentOptions & { suspend?: boolean } = {},
): KubernetesObject {
  const deployment = webDeployment(name, image, options);
  const { metadata, spec } = deployment;
  const { replicas, selector, template } = spec;
  const jobTemplate = { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } };
  const apps = { apiVersion: "apps/v1", metadata };
  switch (kind) {
    case "deployment":
      return deployment;
    case "statefulset":
      return { ...apps, kind: "StatefulSet", spec: { replicas, serviceName: name, selector, template } };
    case "daemonset":
      return { ...apps, kind: "DaemonSet", spec: { selector, template } };
    case "cronjob":
      return {
        ...{ apiVersion: "batch/v1", kind: "CronJob", metadata },
        spec: { schedule: "0 3 * * *", suspend, jobTemplate },
      };
  }
}

/** Whether all replicas that are wanted run in the newest form, and no other. */
export function isRolledOut({ metadata, status }: Deployment, replicas = 2): boolean {
  const counts = [status.replicas, status.updatedReplicas, status.availableReplicas];
  return status.observedGeneration === metadata.generation && counts.every((count = 0) => count === replicas);
}

/** The template of a chart with the deployment: its name, namespace and `values.tag` come from the release. */
export function webTemplate({ registry }: Cluster, options: Omit<DeploymentOptions, "namespace"> = {}): string {
  return JSON.stringify(webDeployment("RELEASE", "IMAGE", { namespace: "NAMESPACE", ...options }))
    .replaceAll("RELEASE", "{{ .Release.Name }}")
    .replaceAll("NAMESPACE", "{{ .Release.Namespace }}")
    .replaceAll("IMAGE", `${registry.host}/acme/web:{{ .Values.tag }}`);
}

/** The pods of an application that are ready and stay. */
async function readyPods(cluster: Cluster, namespace: string, app: string): Promise<readonly Pod[]> {
  const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${app}`;
  const { items } = await cluster.request<{ items: Pod[] }>("GET", path);
  return items.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined && status.containerStatuses?.every(({ ready }) => ready) === true,
  );
}

/** What each of them answers, by way of the API server. */
export async function podAnswers(cluster: Cluster, namespace: string, app: string): Promise<readonly string[]> {
  const path = (pod: Pod) => `/api/v1/namespaces/${namespace}/pods/${pod.metadata.name}:80/proxy/`;
  const pods = await readyPods(cluster, namespace, app);
  return await Promise.all(pods.map((pod) => cluster.request<string>("GET", path(pod))));
}
