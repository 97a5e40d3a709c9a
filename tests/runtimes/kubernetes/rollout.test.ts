import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { inEnglish, say } from "../../../src/messages/message.ts";
import { Pod, Workload } from "../../../src/runtimes/kubernetes/objects.ts";
import { judgeRollout } from "../../../src/runtimes/kubernetes/rollout.ts";
import { targetOf } from "../../../src/runtimes/kubernetes/target.ts";
import { foundFrom, imagesPatch, stateOf, type WorkloadKind } from "../../../src/runtimes/kubernetes/workloads.ts";

interface Shape {
  spec?: object;
  status?: object;
  metadata?: object;
}

function workload(kind: WorkloadKind, { spec = {}, status = {}, metadata = {} }: Shape = {}) {
  const object = {
    metadata: { name: "web", namespace: "shop", uid: "u", resourceVersion: "7", generation: 3, ...metadata },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        spec: {
          initContainers: [{ name: "prep", image: "prep:1" }],
          containers: [
            { name: "web", image: "web:1", env: [{ name: "A", value: "b" }] },
            { name: "side", image: "side:1" },
          ],
        },
      },
      ...spec,
    },
    status: { observedGeneration: 3, ...status },
  };
  return foundFrom(kind, v.parse(Workload, object));
}

const done = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
const exceeded = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "timed out" };

describe("a rollout", () => {
  test.each([
    ["of a Deployment is complete when all pods are new and available", "deployment", { status: done }, "done"],
    [
      "is not yet while the controller has not seen the change",
      "deployment",
      { status: { ...done, observedGeneration: 2 } },
      "waiting",
    ],
    ["is not yet while a pod is not updated", "deployment", { status: { ...done, updatedReplicas: 1 } }, "waiting"],
    ["is not yet while a pod is not available", "deployment", { status: { ...done, availableReplicas: 1 } }, "waiting"],
    ["is not yet while an old pod is left", "deployment", { status: { ...done, replicas: 3 } }, "waiting"],
    [
      "has failed past the progress deadline",
      "deployment",
      { status: { ...done, updatedReplicas: 1, conditions: [exceeded] } },
      "failed",
    ],
    [
      "is not judged by the deadline of an earlier generation",
      "deployment",
      { status: { ...done, observedGeneration: 2, conditions: [exceeded] } },
      "waiting",
    ],
    ["of no replicas is complete", "deployment", { spec: { replicas: 0 }, status: {} }, "done"],
    [
      "of a StatefulSet ends with the current revision",
      "statefulset",
      { status: { ...done, currentRevision: "a", updateRevision: "b" } },
      "waiting",
    ],
    [
      "of a StatefulSet is complete",
      "statefulset",
      { status: { ...done, currentRevision: "b", updateRevision: "b" } },
      "done",
    ],
    [
      "stops at a partition",
      "statefulset",
      {
        spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } } },
        status: { ...done, updatedReplicas: 1, currentRevision: "a", updateRevision: "b" },
      },
      "done",
    ],
    [
      "above a partition is not complete while its pod is not ready, however many are kept",
      "statefulset",
      {
        spec: { replicas: 3, updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } },
        status: { replicas: 3, updatedReplicas: 1, readyReplicas: 2, availableReplicas: 2 },
      },
      "waiting",
    ],
    [
      "that waits for somebody to delete the pods has done what it can",
      "statefulset",
      {
        spec: { updateStrategy: { type: "OnDelete" } },
        status: { ...done, updatedReplicas: 0, currentRevision: "a", updateRevision: "b" },
      },
      "done",
    ],
    [
      "of a DaemonSet counts nodes",
      "daemonset",
      { status: { desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberReady: 3, numberAvailable: 2 } },
      "waiting",
    ],
    [
      "of a DaemonSet is complete",
      "daemonset",
      { status: { desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberReady: 3, numberAvailable: 3 } },
      "done",
    ],
  ] as const)("%s", (_, kind, shape, state) => {
    expect(judgeRollout(workload(kind, shape)).state).toBe(state);
  });

  test("that somebody paused says so", () => {
    const shape = { spec: { paused: true }, status: { ...done, updatedReplicas: 1 } };
    expect(judgeRollout(workload("deployment", shape))).toMatchObject({
      state: "waiting",
      detail: say("kubernetes.paused"),
    });
  });
});

describe("a patch", () => {
  test("names only the bound images, and the version that was read", () => {
    const images = new Map([
      ["web", "web:2"],
      ["prep", "prep:2"],
    ]);
    expect(imagesPatch(workload("deployment"), images)).toEqual({
      metadata: { resourceVersion: "7" },
      spec: {
        template: {
          spec: { containers: [{ name: "web", image: "web:2" }], initContainers: [{ name: "prep", image: "prep:2" }] },
        },
      },
    });
  });
});

describe("what a plan relies on", () => {
  test("changes with the template and the strategy, not with replicas, status and versions", () => {
    const state = stateOf(workload("deployment"));
    expect(stateOf(workload("deployment", { spec: { replicas: 9 }, status: done }))).toBe(state);
    expect(stateOf(workload("deployment", { metadata: { resourceVersion: "8", generation: 4 } }))).toBe(state);
    expect(stateOf(workload("deployment", { spec: { paused: true } }))).not.toBe(state);
    expect(stateOf(workload("deployment", { metadata: { uid: "another" } }))).not.toBe(state);
    const template = { spec: { containers: [{ name: "web", image: "web:1", env: [{ name: "A", value: "c" }] }] } };
    expect(stateOf(workload("deployment", { spec: { template } }))).not.toBe(state);
  });
});

describe("a target", () => {
  const codes = (shape: Shape, kind: WorkloadKind = "deployment") => {
    const { refusals, warnings } = targetOf(workload(kind, shape), null);
    return [...refusals, ...warnings].map(({ code }) => code);
  };

  test.each<[string, Shape, string | null, Record<string, number> | null]>([
    ["all pods ready", { status: done }, null, null],
    ["some pods ready", { status: { ...done, readyReplicas: 1 } }, "1 of 2 ready", { ready: 1, wanted: 2 }],
    ["no pod ready", { status: { ...done, readyReplicas: 0 } }, "Not ready", null],
    ["no replicas", { spec: { replicas: 0 } }, "Scaled to 0", null],
  ])("with %s is described as %j", (_, shape, words, short) => {
    const { condition, shortfall } = targetOf(workload("deployment", shape), null);
    expect(condition === undefined ? null : inEnglish(condition)).toBe(words);
    expect(shortfall?.params ?? null).toEqual(short);
  });

  test("is listed in its namespace, with what else writes it", () => {
    const annotations = { "meta.helm.sh/release-name": "shop" };
    const { namespace, owner } = targetOf(workload("deployment", { metadata: { annotations } }), null);
    expect([namespace, owner === undefined ? null : inEnglish(owner)]).toEqual(["shop", 'Helm "shop"']);
    expect(targetOf(workload("deployment"), null).owner).toBeUndefined();
  });

  test("has a service for each container, init containers first", () => {
    const { services, ref } = targetOf(workload("deployment", { status: done }), null);
    expect(ref).toEqual({ kind: "deployment", id: "shop/web" });
    expect(services.map(({ name, state }) => [name, state])).toEqual([
      ["prep", "running"],
      ["web", "running"],
      ["side", "running"],
    ]);
  });

  test("is refused where nobody would replace its pods", () => {
    expect(codes({ spec: { paused: true } })).toEqual(["paused"]);
    expect(codes({ spec: { updateStrategy: { type: "OnDelete" } } }, "statefulset")).toEqual(["on_delete"]);
    expect(codes({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } })).toEqual(["deleted"]);
    const kept = { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } };
    expect(codes({ spec: { ...kept, replicas: 2 } }, "statefulset")).toEqual(["partition_keeps_all"]);
    expect(codes({ spec: { ...kept, replicas: 3 } }, "statefulset")).toEqual(["partition"]);
  });

  test("runs the image of its template once rolled out, whatever an admission webhook made of it in the pods", () => {
    const pod = (image: string) =>
      v.parse(Pod, {
        metadata: { name: "web-1" },
        spec: { containers: [{ name: "web", image }] },
        status: { conditions: [{ type: "Ready", status: "True" }] },
      });
    const pods = [pod("mirror.example/web:1")];
    const reference = (shape: Shape) =>
      targetOf(workload("deployment", shape), pods).services.find(({ name }) => name === "web")?.artifact.reference;
    expect(reference({ status: done })).toBe("web:1");
    expect(reference({ status: { ...done, updatedReplicas: 1 } })).toBe("mirror.example/web:1");
  });

  test("warns of an owner, a partition and no replicas", () => {
    expect(codes({ metadata: { annotations: { "meta.helm.sh/release-name": "shop" } } })).toEqual(["untold_settings"]);
    expect(codes({ metadata: { labels: { "kustomize.toolkit.fluxcd.io/name": "apps" } } })).toEqual([
      "untold_settings",
    ]);
    const owner = { kind: "Postgres", name: "db", controller: true };
    expect(codes({ metadata: { ownerReferences: [owner] } })).toEqual(["untold_settings"]);
    expect(codes({ metadata: { ownerReferences: [{ ...owner, controller: false }] } })).toEqual([]);
    expect(codes({ spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } }, "statefulset")).toEqual([
      "partition",
    ]);
    expect(codes({ spec: { replicas: 0 } })).toEqual(["no_replicas"]);
  });
});
