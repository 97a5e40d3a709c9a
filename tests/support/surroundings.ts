import { connections, tracker_channels, tracker_sources, trackers } from "../../src/db/tables.ts";
import type { TestApp } from "./test-app.ts";

/** What an executor needs, with ids that are the same everywhere: a connection that nothing answers behind, a tracker to follow. */
export async function addSurroundings({ db, clock }: Pick<TestApp, "db" | "clock">): Promise<void> {
  const now = clock.now();
  const times = { created_at: now, updated_at: now };
  const depth = { check_interval_minutes: 360, fetch_depth: 10, request_timeout_seconds: 15 };
  const source = { id: "s", tracker_id: "t", key: "main", kind: "oci", config: { image: "registry.test/app" } };
  await db.write(async (tx) => {
    const config = { address: "unix:///nowhere/docker.sock", tls_verification: true };
    await tx.insert(connections).values({ id: "connection-1", name: "Home", kind: "docker", config, ...times });
    await tx.insert(trackers).values({ id: "t", name: "app", ...depth, sorting: "publish_time", ...times });
    await tx.insert(tracker_sources).values({ ...source, host: "registry.test", position: 0, next_check_at: now });
    await tx.insert(tracker_channels).values({ id: "c", source_id: "s", name: "stable", type: "stable", position: 0 });
  });
}
