import { expect, test } from "bun:test";
import { systemClock } from "../../../src/clock.ts";
import { followRollout } from "../../../src/runtimes/kubernetes/follow.ts";
import { logReader } from "../../../src/runtimes/kubernetes/logs.ts";
import { workloadOperations } from "../../../src/runtimes/kubernetes/workload-operations.ts";
import { authorityMissing } from "../../peers/authority.ts";
import { type ApiServer, json, startApiServer } from "../../support/api-server.ts";
import { durableJournal } from "../../support/durable-journal.ts";
import { fastClock } from "../../support/fast-clock.ts";
import { memoryJournal } from "../../support/memory-journal.ts";
import { peerSuite } from "../../support/peer.ts";

interface Shape {
  name?: string;
  image?: string;
  generation?: number;
  observed?: number;
  status?: object;
  spec?: object;
}

const ready = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
const deployment = ({ name = "web", image = "web:2", generation = 2, observed = generation, ...more }: Shape = {}) => ({
  metadata: { name, namespace: "shop", uid: "u", resourceVersion: "5", generation },
  spec: { replicas: 1, template: { spec: { containers: [{ name: "web", image }] } }, ...more.spec },
  status: { observedGeneration: observed, ...ready, ...more.status },
});
const ref = { kind: "deployment", id: "shop/web" };
const live = new AbortController().signal;
const around = ({ cluster }: ApiServer) => ({
  ...{ cluster, clock: fastClock(20), signal: live, stall_ms: 60_000, logs: logReader(cluster) },
});
const follow = (server: ApiServer) =>
  followRollout(around(server), ref, {
    images: new Map([["web", "web:2"]]),
    stop: undefined,
    onProgress: () => undefined,
  });
const lines = (...events: readonly (readonly [type: string, object: unknown])[]) =>
  events.map(([type, object]) => `${JSON.stringify({ type, object })}\n`).join("");

peerSuite("following a rollout", authorityMissing(), () => {
  // A restarted API server knows nothing of before, and a workload that has not changed since keeps its old version.
  test("goes on from the present when the version of the workload is too old to watch from", async () => {
    await using server = await startApiServer((_request, response, { searchParams }) => {
      if (!searchParams.has("watch")) return json(response, 200, deployment({ status: { updatedReplicas: 0 } }));
      const isOld = searchParams.get("resourceVersion") === "5";
      const expired = { kind: "Status", code: 410, reason: "Expired", message: "too old" };
      response.writeHead(200).end(lines(isOld ? ["ERROR", expired] : ["ADDED", deployment()]));
    });
    expect((await follow(server)).is_done).toBe(true);
    expect(server.asked.filter((each) => each.includes("watch=true")).length).toBe(2);
  });

  test("takes no event of another workload for one of its own", async () => {
    await using server = await startApiServer((_request, response, { searchParams }) => {
      if (!searchParams.has("watch")) return json(response, 200, deployment({ status: { updatedReplicas: 0 } }));
      const other = deployment({ name: "other", image: "other:7" });
      response.writeHead(200).end(lines(["MODIFIED", other], ["DELETED", other], ["MODIFIED", deployment()]));
    });
    expect((await follow(server)).is_done).toBe(true);
  });

  test("fails for standing still while an autoscaler changes the number of pods again and again", async () => {
    let looks = 0;
    await using server = await startApiServer((_request, response, { searchParams }) => {
      if (searchParams.has("watch")) return response.writeHead(200).end();
      if (searchParams.has("labelSelector")) return json(response, 200, { metadata: {}, items: [] });
      looks += 1;
      const replicas = 2 + (looks % 2);
      // Far longer than it may stand still.
      const isOver = looks > 1_000;
      const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas };
      const status = { ...counts, updatedReplicas: isOver ? replicas : 1 };
      const { spec } = deployment();
      json(response, 200, deployment({ generation: looks, status, spec: { ...spec, replicas } }));
    });
    const { is_done, detail } = await follow(server);
    expect([is_done, detail.code]).toEqual([false, "kubernetes.stalled"]);
  });

  test.each([
    ["on_delete", { type: "OnDelete" }],
    ["partition_keeps_all", { type: "RollingUpdate", rollingUpdate: { partition: 1 } }],
  ])("is not complete where somebody set a strategy meanwhile that replaces no pod: %s", async (code, strategy) => {
    const { spec } = deployment();
    const status = { updatedReplicas: 0, currentRevision: "a", updateRevision: "b" };
    const kept = deployment({ spec: { ...spec, updateStrategy: strategy }, status });
    await using server = await startApiServer((_request, response) => json(response, 200, kept));
    const options = { stop: undefined, onProgress: () => undefined };
    const of = { kind: "statefulset", id: "shop/web" };
    const own = await followRollout(around(server), of, { ...options, images: new Map([["web", "web:2"]]) });
    expect([own.is_done, own.detail.code]).toEqual([false, `kubernetes.${code}`]);
    // The plan of a release has warned of it.
    expect((await followRollout(around(server), of, { ...options, images: new Map() })).is_done).toBe(true);
  });

  test("goes on while a proxy before the API server knows no way to it", async () => {
    let isBack = false;
    await using server = await startApiServer((_request, response, { searchParams }) => {
      if (searchParams.has("watch")) return response.writeHead(200).end();
      if (isBack) return json(response, 200, deployment());
      isBack = true;
      response.writeHead(404).end("404 page not found\n");
    });
    expect((await follow(server)).is_done).toBe(true);
  });

  test("tells where old and new pods stand, and what crashed containers wrote, once for each crash", async () => {
    const pod = (name: string, image: string, status: object) => ({
      metadata: { name, namespace: "shop", uid: name, labels: { app: "web", "pod-template-hash": image.slice(-1) } },
      spec: { containers: [{ name: "web", image }] },
      status: { containerStatuses: [{ name: "web", ...status }] },
    });
    const crash = {
      ...{ restartCount: 1, state: { waiting: { reason: "CrashLoopBackOff" } } },
      lastState: { terminated: { exitCode: 1, reason: "Error" } },
    };
    const pods = [pod("web-2-a", "web:2", crash), pod("web-1-a", "web:1", { ready: true })];
    const selected = {
      ...deployment({ status: { updatedReplicas: 0 } }).spec,
      selector: { matchLabels: { app: "web" } },
    };
    await using server = await startApiServer((_request, response, { pathname, searchParams }) => {
      if (pathname.endsWith("/log")) return void response.end("no database\n");
      if (pathname.endsWith("/pods")) return json(response, 200, { metadata: {}, items: pods });
      if (!searchParams.has("watch"))
        return json(response, 200, { ...deployment({ status: { updatedReplicas: 0 } }), spec: selected });
      response.writeHead(200).flushHeaders();
    });
    const { signal } = new AbortController();
    const logs = logReader(server.cluster);
    const around = { cluster: server.cluster, clock: systemClock, signal, stall_ms: 1_500, logs };
    const shown: unknown[] = [];
    const written: unknown[] = [];
    const followed = await followRollout(
      around,
      { kind: "deployment", id: "shop/web" },
      {
        images: new Map([["web", "web:2"]]),
        stop: undefined,
        onProgress: (_counts, _detail, rollout) => shown.push(rollout),
        onCrash: (all) => written.push(...all),
      },
    );
    const rollout = {
      ...{ desired: 1, new: { name: "2", pods: 1, ready: 0 }, old: { name: "1", pods: 1 } },
      pods: [{ name: "web-2-a", state: "failing" }, { name: "web-1-a" }],
    };
    expect(shown[0]).toMatchObject(rollout);
    expect(followed).toMatchObject({ is_done: false, rollout });
    expect(written).toMatchObject([{ pod: "web-2-a", container: "web", is_previous: true, text: "no database\n" }]);
  });
});

/**
 * An API server with one Deployment. A patch of its image is accepted, as `admitted`; what the controller makes of it is up to the test.
 */
async function startWorld(
  first: Shape,
  watched: (present: ReturnType<typeof deployment>) => string = () => "",
  admitted = (image: string) => image,
) {
  const world = { present: deployment(first), patches: [] as string[] };
  const server = await startApiServer(async (request, response, { pathname, searchParams }) => {
    if (searchParams.has("watch")) return response.writeHead(200).end(watched(world.present));
    if (!pathname.endsWith("/deployments/web")) return json(response, 200, { metadata: {}, items: [] });
    if (request.method === "PATCH") {
      const body = JSON.parse(await new Response(request as unknown as ReadableStream).text());
      const image: string = body.spec.template.spec.containers[0].image;
      world.patches.push(image);
      const { spec, metadata, status } = world.present;
      world.present = {
        metadata: { ...metadata, generation: metadata.generation + 1 },
        spec: { ...spec, template: { spec: { containers: [{ name: "web", image: admitted(image) }] } } },
        status,
      };
    }
    json(response, 200, world.present);
  });
  return { world, server, operations: workloadOperations(around(server)) };
}

const passedAt = (lastUpdateTime: string) => ({
  conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", lastUpdateTime }],
});
/** The controller rolls each generation out at once. */
const noticed = ({ metadata, ...more }: ReturnType<typeof deployment>) =>
  lines(["MODIFIED", { metadata, ...more, status: { ...ready, observedGeneration: metadata.generation } }]);
const update = [{ kind: "image", service: "web", reference: "web:2", digest: null, image_config: null }] as const;

peerSuite("a run of a workload", authorityMissing(), () => {
  test("is refused when somebody has set the same image meanwhile, with other changes; undoing it leaves them", async () => {
    const { world, server, operations } = await startWorld({ image: "web:1" });
    await using _ = server;
    const plan = await operations.plan(ref, update);
    const journal = memoryJournal();
    const { apply } = await operations.prepare(plan, [], journal);
    world.present = deployment({ image: "web:2", generation: 3, spec: { minReadySeconds: 7 } });
    expect(await apply().catch(({ said }) => said.code)).toBe("kubernetes.changed_since_plan");
    expect((await operations.undo(ref, journal, null)).state).toBe("untouched");
    expect(world.patches).toEqual([]);
  });

  test("follows the image that an admission webhook made of its own, and goes back from it", async () => {
    const pinned = (image: string) => `${image}@sha256:${"a".repeat(64)}`;
    const { world, server, operations } = await startWorld({ image: pinned("web:1") }, noticed, (image) =>
      image.includes("@") ? image : pinned(image),
    );
    await using _ = server;
    const journal = memoryJournal();
    await (await operations.prepare(await operations.plan(ref, update), [], journal)).apply();
    expect(await operations.settle(ref, journal, live)).toBeNull();
    expect((await operations.recover(ref, journal.reopened(), null)).state).toBe("started");
    expect((await operations.undo(ref, journal, null)).state).toBe("untouched");
    expect(world.patches).toEqual(["web:2", pinned("web:1")]);
  });

  test("is judged by its images as they are, also with a stored secret in their names, by the next process too", async () => {
    const { world, server, operations } = await startWorld({ image: "harbor.example/web:1" }, noticed);
    await using _ = server;
    await using journals = await durableJournal("harbor");
    const journal = await journals.open();
    const plan = await operations.plan(ref, [{ ...update[0], reference: "harbor.example/web:2" }]);
    await (await operations.prepare(plan, [], journal)).apply();
    expect(await operations.settle(ref, journal, live)).toBeNull();
    expect((await operations.recover(ref, await journals.open(), null)).state).toBe("started");
    expect((await operations.undo(ref, await journals.open(), null)).state).toBe("untouched");
    expect(world.patches).toEqual(["harbor.example/web:2", "harbor.example/web:1"]);
  });

  // The controller notices the new generation before the rollout back makes any progress, with one replica always.
  test("that goes back is not judged by the progress deadline of what it leaves", async () => {
    const stuck = { image: "web:2", status: { ...passedAt("2026-01-02T03:04:05Z"), replicas: 2 } };
    const { world, server, operations } = await startWorld(stuck, (present) => {
      const { metadata, spec, status } = present;
      const noticed = { metadata, spec, status: { ...status, observedGeneration: metadata.generation } };
      const complete = { ...noticed.status, ...ready, conditions: [] };
      return lines(["MODIFIED", noticed], ["MODIFIED", { ...noticed, status: complete }]);
    });
    await using _ = server;
    const facts = { images: [{ container: "web", before: "web:1", after: "web:2" }] };
    const journal = memoryJournal();
    await journal.begin("patch", facts);
    expect((await operations.undo(ref, journal, null)).state).toBe("untouched");
    expect(world.patches).toEqual(["web:1"]);

    world.present = deployment(stuck);
    const again = await operations.snapshots.planRestore(ref, JSON.stringify({ format: 1, images: { web: "web:1" } }));
    const own = memoryJournal();
    await (await operations.snapshots.prepareRestore(again, "", [], own)).apply();
    expect(await operations.settle(ref, own, live)).toBeNull();
  });

  test.each([
    ["passes while it is followed", "2026-01-02T03:09:09Z"],
    ["had passed before, and stays", "2026-01-02T03:04:05Z"],
  ])("fails by a progress deadline that %s", async (_what, later) => {
    const passed = passedAt("2026-01-02T03:04:05Z");
    const { server, operations } = await startWorld({ image: "web:2", status: { ...passed, updatedReplicas: 0 } }, () =>
      lines(["MODIFIED", deployment({ status: { ...passedAt(later), updatedReplicas: 0 } })]),
    );
    await using _ = server;
    const journal = memoryJournal();
    await journal.begin("patch", { images: [{ container: "web", before: "web:1", after: "web:2" }] });
    expect(await operations.settle(ref, journal, live)).toMatchObject({ code: "kubernetes.deadline_exceeded" });
  });
});
