import type * as v from "valibot";
import { canonical } from "../engine/raw.ts";
import type { TargetRef } from "../runtime.ts";
import type { Compose } from "./client.ts";
import { type Container, CronJob, type Metadata, type Selector, type Template, Workload } from "./objects.ts";

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
  all: Compose;
  within(namespace: string): Compose;
  read(namespace: string, name: string): Compose;
  patch(namespace: string, name: string, body: unknown): Compose;
}

export const rules: Readonly<Record<WorkloadKind, KindRules>> = {
  deployment: {
    title: "Deployment",
    group: "apps",
    resource: "deployments",
    schema: Workload,
    all: ({ apps }) => apps.listDeploymentForAllNamespaces(),
    within:
      (namespace) =>
      ({ apps }) =>
        apps.listNamespacedDeployment(namespace),
    read:
      (namespace, name) =>
      ({ apps }) =>
        apps.readNamespacedDeployment(name, namespace),
    patch:
      (namespace, name, body) =>
      ({ apps }) =>
        apps.patchNamespacedDeployment(name, namespace, body),
  },
  statefulset: {
    title: "StatefulSet",
    group: "apps",
    resource: "statefulsets",
    schema: Workload,
    all: ({ apps }) => apps.listStatefulSetForAllNamespaces(),
    within:
      (namespace) =>
      ({ apps }) =>
        apps.listNamespacedStatefulSet(namespace),
    read:
      (namespace, name) =>
      ({ apps }) =>
        apps.readNamespacedStatefulSet(name, namespace),
    patch:
      (namespace, name, body) =>
      ({ apps }) =>
        apps.patchNamespacedStatefulSet(name, namespace, body),
  },
  daemonset: {
    title: "DaemonSet",
    group: "apps",
    resource: "daemonsets",
    schema: Workload,
    all: ({ apps }) => apps.listDaemonSetForAllNamespaces(),
    within:
      (namespace) =>
      ({ apps }) =>
        apps.listNamespacedDaemonSet(namespace),
    read:
      (namespace, name) =>
      ({ apps }) =>
        apps.readNamespacedDaemonSet(name, namespace),
    patch:
      (namespace, name, body) =>
      ({ apps }) =>
        apps.patchNamespacedDaemonSet(name, namespace, body),
  },
  cronjob: {
    title: "CronJob",
    group: "batch",
    resource: "cronjobs",
    schema: CronJob,
    all: ({ batch }) => batch.listCronJobForAllNamespaces(),
    within:
      (namespace) =>
      ({ batch }) =>
        batch.listNamespacedCronJob(namespace),
    read:
      (namespace, name) =>
      ({ batch }) =>
        batch.readNamespacedCronJob(name, namespace),
    patch:
      (namespace, name, body) =>
      ({ batch }) =>
        batch.patchNamespacedCronJob(name, namespace, body),
  },
};

export function foundFrom(kind: WorkloadKind, object: Workload | v.InferOutput<typeof CronJob>): Found {
  const { metadata, spec } = object;
  if ("jobTemplate" in spec) {
    const { suspend, jobTemplate } = spec;
    const { template } = jobTemplate.spec;
    return { kind, metadata, template, selector: null, workload: null, is_suspended: suspend === true };
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

/** Init containers first: they run first. Names are unique in a pod. */
export function containersIn({ spec }: Template): readonly (Container & { is_init: boolean })[] {
  return [
    ...(spec.initContainers ?? []).map((container) => ({ ...container, is_init: true })),
    ...spec.containers.map((container) => ({ ...container, is_init: false })),
  ];
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
