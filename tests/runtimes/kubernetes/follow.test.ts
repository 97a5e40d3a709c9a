import { expect, test } from "bun:test";
import { systemClock } from "../../../src/clock.ts";
import { followRollout } from "../../../src/runtimes/kubernetes/follow.ts";
import { authorityMissing } from "../../peers/authority.ts";
import { json, startApiServer } from "../../support/api-server.ts";
import { peerSuite } from "../../support/peer.ts";

const deployment = (updatedReplicas: number) => ({
  metadata: { name: "web", namespace: "shop", uid: "u", resourceVersion: "5", generation: 2 },
  spec: { replicas: 1, template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
  status: { observedGeneration: 2, replicas: 1, updatedReplicas, readyReplicas: 1, availableReplicas: 1 },
});

peerSuite("following a rollout", authorityMissing(), () => {
  // A restarted API server knows nothing of before, and a workload that has not changed since keeps its old version.
  test("goes on from the present when the version of the workload is too old to watch from", async () => {
    await using server = await startApiServer((_request, response, { searchParams }) => {
      if (!searchParams.has("watch")) return json(response, 200, deployment(0));
      const event =
        searchParams.get("resourceVersion") === "5"
          ? { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old" } }
          : { type: "ADDED", object: deployment(1) };
      response.writeHead(200).end(`${JSON.stringify(event)}\n`);
    });
    const { signal } = new AbortController();
    const around = { cluster: server.cluster, clock: systemClock, signal, stall_ms: 3_000 };
    const ref = { kind: "deployment", id: "shop/web" };
    const followed = await followRollout(around, ref, {
      images: new Map([["web", "web:2"]]),
      stop: undefined,
      onProgress: () => undefined,
    });
    expect(followed.is_done).toBe(true);
    expect(server.asked.filter((each) => each.includes("watch=true")).length).toBe(2);
  });
});
