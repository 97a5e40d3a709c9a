import * as v from "valibot";

/** What is read of Kubernetes objects: everything else in an answer is dropped. */

const Count = v.nullish(v.pipe(v.number(), v.integer()), 0);
const Text = v.nullish(v.string(), "");
const Texts = v.nullish(v.record(v.string(), v.string()), {});

const Container = v.object({ name: v.string(), image: Text, restartPolicy: Text });
export type Container = v.InferOutput<typeof Container>;

const OwnerReference = v.object({ kind: v.string(), name: v.string(), controller: v.nullish(v.boolean(), false) });

export const Metadata = v.object({
  name: v.string(),
  namespace: Text,
  uid: Text,
  resourceVersion: Text,
  generation: Count,
  labels: Texts,
  annotations: Texts,
  ownerReferences: v.nullish(v.array(OwnerReference), []),
  creationTimestamp: Text,
  deletionTimestamp: Text,
});
export type Metadata = v.InferOutput<typeof Metadata>;

/** Kept whole for the hash, but read only where it names images. */
const Template = v.looseObject({
  spec: v.looseObject({
    containers: v.array(v.looseObject(Container.entries)),
    initContainers: v.nullish(v.array(v.looseObject(Container.entries)), []),
  }),
});
export type Template = v.InferOutput<typeof Template>;

export const Condition = v.object({ type: v.string(), status: v.string(), reason: Text, message: Text });
const Conditions = v.nullish(v.array(Condition), []);

const Selector = v.nullish(
  v.object({
    matchLabels: Texts,
    matchExpressions: v.nullish(
      v.array(v.object({ key: v.string(), operator: v.string(), values: v.nullish(v.array(v.string()), []) })),
      [],
    ),
  }),
);
export type Selector = v.InferOutput<typeof Selector>;

const Strategy = v.nullish(
  v.object({
    type: Text,
    rollingUpdate: v.nullish(v.object({ partition: Count })),
  }),
);

/** A Deployment, StatefulSet or DaemonSet; members that a kind does not have are blank. */
export const Workload = v.object({
  metadata: Metadata,
  spec: v.object({
    replicas: v.nullish(v.pipe(v.number(), v.integer()), 1),
    paused: v.nullish(v.boolean(), false),
    selector: Selector,
    template: Template,
    strategy: Strategy,
    updateStrategy: Strategy,
    progressDeadlineSeconds: v.nullish(v.number()),
  }),
  status: v.optional(
    v.object({
      observedGeneration: Count,
      replicas: Count,
      updatedReplicas: Count,
      readyReplicas: Count,
      availableReplicas: Count,
      currentRevision: Text,
      updateRevision: Text,
      desiredNumberScheduled: Count,
      updatedNumberScheduled: Count,
      numberReady: Count,
      numberAvailable: Count,
      conditions: Conditions,
    }),
    {},
  ),
});
export type Workload = v.InferOutput<typeof Workload>;

export const CronJob = v.object({
  metadata: Metadata,
  spec: v.object({
    suspend: v.nullish(v.boolean(), false),
    schedule: Text,
    jobTemplate: v.object({ spec: v.object({ template: Template }) }),
  }),
});

const State = v.nullish(
  v.object({
    waiting: v.nullish(v.object({ reason: Text, message: Text })),
    running: v.nullish(v.object({ startedAt: Text })),
    terminated: v.nullish(v.object({ exitCode: Count, reason: Text, message: Text })),
  }),
);
const ContainerStatus = v.object({
  name: v.string(),
  image: Text,
  imageID: Text,
  ready: v.nullish(v.boolean(), false),
  restartCount: Count,
  state: State,
  lastState: State,
});
export type ContainerStatus = v.InferOutput<typeof ContainerStatus>;

export const Pod = v.object({
  metadata: Metadata,
  spec: v.object({
    nodeName: Text,
    containers: v.array(Container),
    initContainers: v.nullish(v.array(Container), []),
  }),
  status: v.optional(
    v.object({
      phase: Text,
      conditions: Conditions,
      containerStatuses: v.nullish(v.array(ContainerStatus), []),
      initContainerStatuses: v.nullish(v.array(ContainerStatus), []),
    }),
    {},
  ),
});
export type Pod = v.InferOutput<typeof Pod>;

export const Event = v.object({
  type: Text,
  reason: Text,
  message: Text,
  involvedObject: v.object({ kind: Text, name: Text }),
});

export const Named = v.object({ metadata: v.object({ name: v.string() }) });
export const Version = v.object({ gitVersion: v.string(), platform: Text, major: Text, minor: Text });
