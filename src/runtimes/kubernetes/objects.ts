import * as v from "valibot";

/** What is read of Kubernetes objects: everything else in a response is dropped. */

const Integer = v.pipe(v.number(), v.integer());
const Count = v.nullish(Integer, 0);
const Text = v.nullish(v.string(), "");
const Flag = v.nullish(v.boolean(), false);
const Texts = v.nullish(v.record(v.string(), v.string()), {});
const listOf = <S extends v.GenericSchema>(item: S) => v.nullish(v.array(item), []);

const Container = v.object({ name: v.string(), image: Text });
export type Container = v.InferOutput<typeof Container>;

const OwnerReference = v.object({ kind: v.string(), name: v.string(), controller: Flag });

export const Metadata = v.object({
  name: v.string(),
  namespace: Text,
  uid: Text,
  resourceVersion: Text,
  generation: Count,
  labels: Texts,
  annotations: Texts,
  ownerReferences: listOf(OwnerReference),
  creationTimestamp: Text,
  deletionTimestamp: Text,
});
export type Metadata = v.InferOutput<typeof Metadata>;

/** Kept whole for the hash, but read only where it names images. */
const Template = v.looseObject({
  spec: v.looseObject({
    containers: v.array(v.looseObject(Container.entries)),
    initContainers: listOf(v.looseObject(Container.entries)),
  }),
});
export type Template = v.InferOutput<typeof Template>;

const Condition = v.object({
  type: v.string(),
  status: v.string(),
  reason: Text,
  message: Text,
  lastUpdateTime: Text,
});
const Conditions = listOf(Condition);

const Selector = v.nullish(
  v.object({
    matchLabels: Texts,
    matchExpressions: listOf(v.object({ key: v.string(), operator: v.string(), values: listOf(v.string()) })),
  }),
);
export type Selector = v.InferOutput<typeof Selector>;

/** Kept whole for the hash, like the template. */
const Strategy = v.nullish(
  v.looseObject({
    type: Text,
    rollingUpdate: v.nullish(v.looseObject({ partition: Count })),
  }),
);

/** A Deployment, StatefulSet or DaemonSet; members that a kind does not have are blank. */
export const Workload = v.object({
  metadata: Metadata,
  spec: v.object({
    replicas: v.nullish(Integer, 1),
    paused: Flag,
    minReadySeconds: Count,
    podManagementPolicy: Text,
    selector: Selector,
    template: Template,
    strategy: Strategy,
    updateStrategy: Strategy,
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
    suspend: Flag,
    jobTemplate: v.object({ spec: v.object({ template: Template }) }),
  }),
});

const State = v.nullish(
  v.object({
    waiting: v.nullish(v.object({ reason: Text, message: Text })),
    running: v.nullish(v.object({})),
    terminated: v.nullish(v.object({ exitCode: Count, reason: Text })),
  }),
);
const ContainerStatus = v.object({
  name: v.string(),
  image: Text,
  imageID: Text,
  ready: Flag,
  restartCount: Count,
  state: State,
  lastState: State,
});
export type ContainerStatus = v.InferOutput<typeof ContainerStatus>;

export const Pod = v.object({
  metadata: Metadata,
  spec: v.object({
    containers: v.array(Container),
    initContainers: listOf(Container),
  }),
  status: v.optional(
    v.object({
      phase: Text,
      conditions: Conditions,
      containerStatuses: listOf(ContainerStatus),
      initContainerStatuses: listOf(ContainerStatus),
    }),
    {},
  ),
});
export type Pod = v.InferOutput<typeof Pod>;

export const Event = v.object({
  message: Text,
  involvedObject: v.object({ kind: Text, name: Text }),
  /** Blank for events that newer components report by `eventTime`. */
  lastTimestamp: Text,
  eventTime: Text,
});

export const Review = v.object({ status: v.object({ userInfo: v.object({ username: v.string() }) }) });
export const Named = v.object({ metadata: v.object({ name: v.string() }) });
export const Namespace = v.object({ metadata: Metadata });

export const Version = v.object({ gitVersion: v.string(), platform: Text, major: Text, minor: Text });
