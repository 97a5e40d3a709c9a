import type { Database } from "../../src/db/client.ts";
import {
  connections,
  credentials,
  events,
  executor_bindings,
  executors,
  releases,
  runs,
  tracker_sources,
  trackers,
  upstream_outages,
} from "../../src/db/tables.ts";
import { newId } from "../../src/ids.ts";
import { plain } from "../../src/messages/message.ts";
import { asSealed } from "../../src/secrets/sealed.ts";
import type { BehindView } from "../../src/trackers/schema.ts";

export const hourMs = 3_600_000;
export const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;

type RunRow = typeof runs.$inferInsert;

interface SeededExecutor {
  name: string;
  difference?: "current" | "new_digest" | "other_version" | "unknown" | null;
  from?: string;
  to?: string;
  behind?: BehindView;
  problem?: { code: string; message: string };
  waiting?: { reason: "window" | "age" | "retry"; until: number | null };
  is_enabled?: boolean;
  trigger?: "manual" | "immediate" | "window";
  window?: { days: readonly string[]; start: string; end: string };
  published_at?: number | null;
  /** False: nobody has looked yet. */
  is_observed?: boolean;
  tracker_id?: string;
  source_id?: string;
}

/** Writes rows as the features would, past their services: states of any age, at once. */
export function installation(db: Database, clock: { now(): number }) {
  const at = clock.now();
  const times = { created_at: at, updated_at: at };
  let connectionId = "";

  const connection = async (name = "nas") => {
    connectionId = newId(at);
    await db.write((tx) =>
      tx.insert(connections).values({ id: connectionId, name, kind: "docker", config: { host: "unix" }, ...times }),
    );
    return connectionId;
  };
  const tracker = async (name: string, source: Partial<typeof tracker_sources.$inferInsert> = {}) => {
    const tracker_id = newId(at);
    const source_id = newId(at);
    await db.write(async (tx) => {
      await tx.insert(trackers).values({
        ...{ id: tracker_id, name, description: `Follows ${name}`, sorting: "semantic" as const, ...times },
        ...{ check_interval_minutes: 60, fetch_depth: 10, request_timeout_seconds: 15 },
      });
      await tx.insert(tracker_sources).values({
        ...{ id: source_id, tracker_id, key: "hub", position: 0, kind: "oci", host: "registry.example.org" },
        config: { image: `team/${name}`, registry: "registry.example.org" },
        ...{ next_check_at: at + hourMs, last_checked_at: at - 120_000, last_success_at: at - 120_000 },
        ...source,
      });
    });
    return { tracker_id, source_id };
  };
  const credential = async (name: string) => {
    const id = newId(at);
    const sealed_secret = asSealed(`gAAAAA${"A".repeat(94)}`);
    await db.write((tx) => tx.insert(credentials).values({ id, name, kind: "oci", sealed_secret, ...times }));
    return id;
  };
  const release = async (source_id: string, tag: string, age = hourMs) => {
    await db.write((tx) =>
      tx.insert(releases).values({
        ...{ id: newId(at), source_id, version: tag, tag, stage: "release" as const, revision: digestOf("b") },
        ...{ published_at: at - age, first_observed_at: at - age },
      }),
    );
  };
  const executor = async (seeded: SeededExecutor) => {
    const id = newId(at);
    const { name, difference = "current", from = "1.0.0", to = "1.1.0", problem = null, waiting = null } = seeded;
    const { is_enabled = true, trigger = "manual", window = null, published_at = at - 48 * hourMs } = seeded;
    const service = {
      ...{ service: name, tracker: name, source: "hub", channel: "stable", difference },
      behind: seeded.behind ?? null,
      found: {
        ...{ name, image: `team/${name}:${from}`, image_id: digestOf("c"), digest: digestOf("a"), tag: from },
        ...{ platform: "linux/amd64", state: "running" },
      },
      desired: { version: to, tag: to, digest: digestOf("b"), reference: `team/${name}:${to}`, published_at },
    };
    const observed = { services: [service], problem, waiting, desired_revision: `${name}@${to}` };
    await db.write(async (tx) => {
      await tx.insert(executors).values({
        ...{ id, name, is_enabled, connection_id: connectionId, target_kind: "container", target_id: name, trigger },
        ...{ window, image_selection: "keep_name", reference_mode: "tag", health_check: {}, restore_on_failure: true },
        ...(seeded.is_observed === false ? {} : { observed, observed_at: at - 60_000 }),
        ...times,
      });
      const { tracker_id, source_id } = seeded;
      if (tracker_id === undefined || source_id === undefined) return;
      await tx
        .insert(executor_bindings)
        .values({ executor_id: id, service: name, tracker_id, source_id, channel: "stable" });
    });
    return id;
  };
  const run = async (executor_id: string, changes: Partial<RunRow> = {}) => {
    const created_at = changes.created_at ?? at - hourMs;
    const id = newId(created_at);
    await db.write((tx) =>
      tx.insert(runs).values({
        ...{ id, executor_id, kind: "update", state: "succeeded", trigger: "manual", due_at: created_at, created_at },
        ...{ started_at: created_at, ended_at: created_at + 4_000, serving: "desired", downtime_ms: 380 },
        ...{ from_tag: "1.0.0", from_digest: digestOf("a"), to_tag: "1.1.0", to_digest: digestOf("b") },
        ...changes,
      }),
    );
    return id;
  };
  const outage = async (row: Partial<typeof upstream_outages.$inferInsert> = {}) => {
    await db.write((tx) =>
      tx.insert(upstream_outages).values({
        ...{ id: newId(at), host: "registry.example.org", error_code: "unreachable", failures: 1, since: at },
        ...{ error_message: plain("No answer"), pause_ms: 60_000, next_due_at: at + 60_000 },
        ...row,
      }),
    );
  };
  const event = async (row: Omit<typeof events.$inferInsert, "id">) => {
    await db.write((tx) => tx.insert(events).values({ id: newId(row.created_at), ...row }));
  };
  return { connection, credential, tracker, release, executor, run, outage, event };
}
