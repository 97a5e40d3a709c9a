import { eventually } from "../support/eventually.ts";

/** An object as manifests have it. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; [more: string]: unknown };
  [more: string]: unknown;
}

export interface PolicyRule {
  apiGroups: readonly string[];
  resources: readonly string[];
  verbs: readonly string[];
  resourceNames?: readonly string[];
}

export interface ApiRequest {
  /** Of a patch, such as `application/strategic-merge-patch+json`. Default: `application/json`. */
  type?: string;
  /** Who asks. Default: the administrator. */
  token?: string;
}

/** An answer of the API server that is no success. */
class ApiRefusal extends Error {
  readonly status: number;

  constructor(what: string, status: number, text: string) {
    super(`${what} answered ${status}: ${text.slice(0, 1_000)}`);
    this.status = status;
  }
}

export interface KubernetesApi {
  /** One request; JSON where the answer is JSON, else text. Throws an `ApiRefusal` unless it is a success. */
  request<T = unknown>(method: string, path: string, body?: unknown, options?: ApiRequest): Promise<T>;
  /** Makes or changes each object by server-side apply, in this order. */
  apply(objects: readonly KubernetesObject[]): Promise<void>;
  /** Gets an object until it is as wanted, and returns it; one that is not there yet is waited for. */
  waitFor<T>(path: string, isAsWanted: (object: T) => unknown): Promise<T>;
  /** Makes the namespace unless it is there, an account in it and a role of exactly these rules; returns a token of it for an hour. */
  createServiceAccount(namespace: string, name: string, rules: readonly PolicyRule[]): Promise<string>;
}

const rbac = "rbac.authorization.k8s.io";

/** Speaks with an API server by nothing but requests. */
export function kubernetesApi(url: string, ca: string, adminToken: string): KubernetesApi {
  const request = async <T>(method: string, path: string, body?: unknown, options: ApiRequest = {}): Promise<T> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${options.token ?? adminToken}`,
        "content-type": options.type ?? "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      tls: { ca },
      keepalive: false, // A connection that is kept does not survive a restart.
    });
    const text = await response.text();
    if (!response.ok) throw new ApiRefusal(`${method} ${path}`, response.status, text);
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return (isJson ? JSON.parse(text) : text) as T;
  };

  const pathOf = async ({ apiVersion, kind, metadata }: KubernetesObject): Promise<string> => {
    const base = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const known = await request<{ resources: { name: string; kind: string; namespaced: boolean }[] }>("GET", base);
    const found = known.resources.find((each) => each.kind === kind && !each.name.includes("/"));
    if (found === undefined) throw new Error(`The cluster knows no ${kind} of ${apiVersion}`);
    const within = found.namespaced ? `/namespaces/${metadata.namespace ?? "default"}` : "";
    return `${base}${within}/${found.name}/${metadata.name}`;
  };
  const apply = async (objects: readonly KubernetesObject[]) => {
    for (const object of objects) {
      const path = `${await pathOf(object)}?fieldManager=tests&force=true`;
      await request("PATCH", path, object, { type: "application/apply-patch+yaml" }); // JSON is YAML.
    }
  };

  return {
    request,
    apply,
    waitFor: <T>(path: string, isAsWanted: (object: T) => unknown) =>
      eventually(`${path} as wanted`, async () => {
        const object = await request<T>("GET", path);
        if (isAsWanted(object)) return object;
        throw new Error(JSON.stringify(object).slice(0, 4_000));
      }),
    async createServiceAccount(namespace, name, rules) {
      const metadata = { name, namespace };
      const subject = { kind: "ServiceAccount", name, namespace };
      await apply([
        { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
        { apiVersion: "v1", kind: "ServiceAccount", metadata },
        { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules },
        {
          apiVersion: `${rbac}/v1`,
          kind: "RoleBinding",
          metadata,
          subjects: [subject],
          roleRef: { apiGroup: rbac, kind: "Role", name },
        },
      ]);
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3_600 } };
      return (await request<{ status: { token: string } }>("POST", path, body)).status.token;
    },
  };
}

/** Whether a node of any kind takes pods. */
export async function isReady(api: KubernetesApi, node: string): Promise<boolean> {
  type Node = { status: { conditions?: { type: string; status: string }[] }; spec: { taints?: unknown[] } };
  const { status, spec } = await api.request<Node>("GET", `/api/v1/nodes/${node}`);
  const isUntainted = spec.taints === undefined;
  return isUntainted && status.conditions?.some((each) => each.type === "Ready" && each.status === "True") === true;
}
