import type { RequestContext } from "@kubernetes/client-node/dist/gen/http/http.js";
import type * as v from "valibot";
import { canonical } from "../engine/raw.ts";
import type { TargetRef } from "../target.ts";
import type { Factories } from "./client.ts";
import { type Container, CronJob, type Metadata, type Pod, type Selector, type Template, Workload } from "./objects.ts";

export const workloadKinds = ["deployment", "statefulset", "daemonset", "cronjob"] as const;
export type WorkloadKind = (typeof workloadKinds)[number];

/** A workload as the API server describes it. */
export interface Found {
  kind: WorkloadKind;
  metadata: Metadata;
  template: Template;
  selector: Selector;
  /** Null for a CronJob, which has no rollout. */
  workload: Workload | null;
  /** A CronJob that starts no jobs. */
  is_suspended: boolean;
}

interface KindRules {
  /** As Kubernetes writes it. */
  title: string;
  group: "apps" | "batch";
  resource: string;
  schema: v.GenericSchema<unknown, Workload | v.InferOutput<typeof CronJob>>;
  calls(api: Factories): {
    all(): Promise<RequestContext>;
    within(namespace: string): Promise<RequestContext>;
    read(name: string, namespace: string): Promise<RequestContext>;
    patch(name: string, namespace: string, body: unknown): Promise<RequestContext>;
  };
}

export const rules: Readonly<Record<WorkloadKind, KindRules>> = {
  deployment: {
    title: "Deployment",
    group: "apps",
    resource: "deployments",
    schema: Workload,
    calls: ({ apps }) => ({
      all: () => apps.listDeploymentForAllNamespaces(),
      within: (namespace) => apps.listNamespacedDeployment(namespace),
      read: (name, namespace) => apps.readNamespacedDeployment(name, namespace),
      patch: (name, namespace, body) => apps.patchNamespacedDeployment(name, namespace, body),
    }),
  },
  statefulset: {
    title: "StatefulSet",
    group: "apps",
    resource: "statefulsets",
    schema: Workload,
    calls: ({ apps }) => ({
      all: () => apps.listStatefulSetForAllNamespaces(),
      within: (namespace) => apps.listNamespacedStatefulSet(namespace),
      read: (name, namespace) => apps.readNamespacedStatefulSet(name, namespace),
      patch: (name, namespace, body) => apps.patchNamespacedStatefulSet(name, namespace, body),
    }),
  },
  daemonset: {
    title: "DaemonSet",
    group: "apps",
    resource: "daemonsets",
    schema: Workload,
    calls: ({ apps }) => ({
      all: () => apps.listDaemonSetForAllNamespaces(),
      within: (namespace) => apps.listNamespacedDaemonSet(namespace),
      read: (name, namespace) => apps.readNamespacedDaemonSet(name, namespace),
      patch: (name, namespace, body) => apps.patchNamespacedDaemonSet(name, namespace, body),
    }),
  },
  cronjob: {
    title: "CronJob",
    group: "batch",
    resource: "cronjobs",
    schema: CronJob,
    calls: ({ batch }) => ({
      all: () => batch.listCronJobForAllNamespaces(),
      within: (namespace) => batch.listNamespacedCronJob(namespace),
      read: (name, namespace) => batch.readNamespacedCronJob(name, namespace),
      patch: (name, namespace, body) => batch.patchNamespacedCronJob(name, namespace, body),
    }),
  },
};

export function foundFrom(kind: WorkloadKind, object: Workload | v.InferOutput<typeof CronJob>): Found {
  const { metadata, spec } = object;
  if ("jobTemplate" in spec) {
    const { suspend, jobTemplate } = spec;
    const { template } = jobTemplate.spec;
    return { kind, metadata, template, selector: null, workload: null, is_suspended: suspend };
  }
  const workload = object as Workload;
  return { kind, metadata, template: spec.template, selector: spec.selector, workload, is_suspended: false };
}

/** `namespace/name`. */
export function idOf({ namespace, name }: Pick<Metadata, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}

export function placeOf({ id }: Pick<TargetRef, "id">): { namespace: string; name: string } {
  const [namespace = "", name = ""] = id.split("/");
  return { namespace, name };
}

/** Of a template or a pod. Init containers first: they run first. Names are unique in a pod. */
export function containersIn({ spec }: Pick<Template, "spec"> | Pick<Pod, "spec">): readonly Listed[] {
  return [
    ...spec.initContainers.map(({ name, image }) => ({ name, image, is_init: true })),
    ...spec.containers.map(({ name, image }) => ({ name, image, is_init: false })),
  ];
}
type Listed = Container & { is_init: boolean };

/** Whether these containers have these images in the workload's template. */
export function hasImages({ template }: Found, images: ReadonlyMap<string, string>): boolean {
  const all = new Map(containersIn(template).map(({ name, image }) => [name, image]));
  return [...images].every(([container, image]) => all.get(container) === image);
}

/** A strategic merge patch that changes these images and nothing else, of exactly the version that was read. */
export function imagesPatch(found: Found, images: ReadonlyMap<string, string>): unknown {
  const named = (isInit: boolean) =>
    containersIn(found.template).flatMap(({ name, is_init }) => {
      const image = images.get(name);
      return image === undefined || is_init !== isInit ? [] : [{ name, image }];
    });
  const [containers, initContainers] = [named(false), named(true)];
  const spec = {
    ...(containers.length === 0 ? {} : { containers }),
    ...(initContainers.length === 0 ? {} : { initContainers }),
  };
  const template = { template: { spec } };
  return {
    metadata: { resourceVersion: found.metadata.resourceVersion },
    spec: found.workload === null ? { jobTemplate: { spec: template } } : template,
  };
}

/**
 * What a plan relies on: the pod template and how it rolls out. Not the number of replicas, which an autoscaler changes, and not the
 * status.
 */
export function stateOf({ metadata, template, workload, is_suspended }: Found): string {
  const { paused = false, strategy = null, updateStrategy = null } = workload?.spec ?? {};
  return canonical({ uid: metadata.uid, template, paused, strategy, updateStrategy, is_suspended });
}
