import { expect, test } from "bun:test";
import * as v from "valibot";
import { plain, say } from "../../../src/messages/message.ts";
import { Pod, Workload } from "../../../src/runtimes/kubernetes/objects.ts";
import { progressOf } from "../../../src/runtimes/kubernetes/rollout-progress.ts";
import { foundFrom, type WorkloadKind } from "../../../src/runtimes/kubernetes/workloads.ts";

const found = (kind: WorkloadKind, { replicas = 3, status = {}, ...spec }: Record<string, unknown> = {}) =>
  foundFrom(
    kind,
    v.parse(Workload, {
      metadata: { name: "web", namespace: "shop" },
      spec: { replicas, template: { spec: { containers: [{ name: "web", image: "web:2" }] } }, ...spec },
      status,
    }),
  );

interface Told {
  image?: string;
  ready?: boolean;
  labels?: Record<string, string>;
  deleted?: string;
  phase?: string;
  status?: object;
}

const pod = (name: string, { image = "web:2", ready = true, labels = {}, deleted, phase, status = {} }: Told = {}) =>
  v.parse(Pod, {
    metadata: { name, namespace: "shop", labels, deletionTimestamp: deleted },
    spec: { containers: [{ name: "web", image }] },
    status: {
      ...{ phase, conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
      containerStatuses: [{ name: "web", ready, ...status }],
    },
  });
const old = (name: string, told: Told = {}) => pod(name, { image: "web:1", ...told });

test("new and previous pods are counted apart, without those that go or were evicted", () => {
  const pods = [
    pod("a"),
    pod("b", { ready: false }),
    old("c"),
    old("d", { deleted: "2026-01-02T03:04:05Z" }),
    old("e", { ready: false, phase: "Failed" }),
  ];
  expect(progressOf(found("deployment"), pods, null)).toMatchObject({
    desired: 3,
    new: { pods: 2, ready: 1, available: 1 },
    old: { pods: 1, ready: 1, available: 1 },
  });
});

test.each<[kind: WorkloadKind, label: string, value: string, name: string]>([
  ["deployment", "pod-template-hash", "6d4cf56db6", "6d4cf56db6"],
  ["statefulset", "controller-revision-hash", "web-7d9b", "7d9b"],
  ["daemonset", "controller-revision-hash", "5f6c", "5f6c"],
])("the revision of a %s is named by its label", (kind, label, value, name) => {
  const pods = [
    pod("a", { labels: { [label]: value } }),
    pod("b", { labels: { [label]: value } }),
    old("c", { labels: { [label]: "one" } }),
    old("d", { labels: { [label]: "two" } }),
  ];
  const { new: fresh, old: before } = progressOf(found(kind), pods, null);
  expect([fresh.name, before.name]).toEqual([name, ""]);
});

test("pods that have to be ready for a while are available when the controller says so", () => {
  const waiting = found("deployment", { minReadySeconds: 10, status: { availableReplicas: 3 } });
  expect(progressOf(waiting, [pod("a"), pod("b"), old("c"), old("d")], null).new).toMatchObject({
    ready: 2,
    available: 1,
  });
});

test("pods with a fault come first, each with its reason, and the rest is counted", () => {
  const status = { restartCount: 4, state: { waiting: { reason: "CrashLoopBackOff" } } };
  const many = Array.from({ length: 20 }, (_, at) => pod(`ready-${at}`));
  const pods = [...many, pod("starting", { ready: false }), old("failing", { ready: false, status })];
  const progress = progressOf(found("deployment"), pods, null);
  expect(progress.pods.slice(0, 3)).toMatchObject([
    { name: "failing", is_new: false, state: "failing", restarts: 4, why: { code: "kubernetes.crash_loop" } },
    { name: "starting", is_new: true, state: "starting", why: null },
    { name: "ready-0", state: "ready" },
  ]);
  expect([progress.pods.length, progress.more_pods]).toEqual([12, 10]);
});

test("why there are no pods is told beside them, why pods wait by each of them", () => {
  const missing = say("kubernetes.not_created", { said: plain("exceeded quota") });
  const waits = say("kubernetes.pods_wait", { pods: 1, why: plain("x") });
  expect(progressOf(found("deployment"), [], missing).why).toEqual(missing);
  expect(progressOf(found("deployment"), [], waits).why).toBeNull();
});

test("the share of a partition is what is desired", () => {
  const updateStrategy = { rollingUpdate: { partition: 1 } };
  expect(progressOf(found("statefulset", { updateStrategy }), [pod("a")], null).desired).toBe(2);
});
