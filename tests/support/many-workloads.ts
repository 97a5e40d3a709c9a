import type { Cluster } from "../peers/kubernetes.ts";

export const manyNamespaces = 200;
/** Of every namespace's 25 workloads. */
const each = { deployments: 20, statefulsets: 1, daemonsets: 1, cronjobs: 3 } as const;
type Resource = keyof typeof each;
const resources = Object.keys(each) as Resource[];
export const manyWorkloads = manyNamespaces * resources.reduce((sum, resource) => sum + each[resource], 0);
/** Requests at once. */
const width = 24;

/** 5,000 workloads with ordinary settings in 200 namespaces; none has pods, so that nothing but the API server works for them. */
export async function makeManyWorkloads(cluster: Pick<Cluster, "url" | "ca" | "admin">): Promise<void> {
  const names = Array.from({ length: manyNamespaces }, (_, index) => `team-${index}`);
  await post(
    cluster,
    names.map((name) => ["/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } }]),
  );
  await post(
    cluster,
    names.flatMap((namespace) =>
      resources.flatMap((resource) =>
        Array.from({ length: each[resource] }, (_, index): [string, object] => {
          const group = resource === "cronjobs" ? "batch" : "apps";
          return [`/apis/${group}/v1/namespaces/${namespace}/${resource}`, workload(resource, `${resource}-${index}`)];
        }),
      ),
    ),
  );
}

async function post(
  { url, ca, admin }: Pick<Cluster, "url" | "ca" | "admin">,
  objects: readonly (readonly [string, object])[],
): Promise<void> {
  const headers = { authorization: `Bearer ${admin.token}`, "content-type": "application/json" };
  const left = objects.values();
  const work = async () => {
    for (const [path, object] of left) {
      const answer = await fetch(`${url}${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(object),
        tls: { ca },
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 500)}`);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
}

function workload(resource: Resource, name: string) {
  const labels = { app: name, "app.kubernetes.io/part-of": "shop", "app.kubernetes.io/managed-by": "people" };
  const probe = { httpGet: { path: "/ready", port: 8080 }, periodSeconds: 5, timeoutSeconds: 2 };
  const template = {
    metadata: { labels, annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "9090" } },
    spec: {
      nodeSelector: { "tests/none": "true" },
      ...(resource === "cronjobs" ? { restartPolicy: "Never" } : {}),
      containers: ["web", "side"].map((container) => ({
        name: container,
        image: `registry.test/acme/${container}:1.2.3`,
        env: Array.from({ length: 8 }, (_, index) => ({
          name: `SETTING_${index}`,
          value: `value ${index} of ${name}`,
        })),
        resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "128Mi" } },
        readinessProbe: probe,
        livenessProbe: probe,
        ports: [{ containerPort: 8080, name: container }],
        volumeMounts: [{ name: "settings", mountPath: "/etc/settings" }],
      })),
      volumes: [{ name: "settings", configMap: { name: "settings" } }],
    },
  };
  const metadata = { name, labels, annotations: { "example.test/owner": `the people of ${name}` } };
  const pods = { selector: { matchLabels: { app: name } }, template };
  if (resource === "cronjobs") {
    const spec = { schedule: "0 3 * * *", suspend: true, jobTemplate: { spec: { template } } };
    return { apiVersion: "batch/v1", kind: "CronJob", metadata, spec };
  }
  if (resource === "daemonsets") return { apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec: pods };
  if (resource === "statefulsets") {
    const spec = { ...pods, replicas: 0, serviceName: name };
    return { apiVersion: "apps/v1", kind: "StatefulSet", metadata, spec };
  }
  // A paused one gets no ReplicaSet.
  return { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { ...pods, replicas: 0, paused: true } };
}
