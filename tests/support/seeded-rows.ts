import { createHash } from "node:crypto";
import { serviceView } from "../../src/connections/schema.ts";
import type { Writer } from "../../src/db/client.ts";
import {
  check_hours,
  connections,
  events,
  executor_bindings,
  executors,
  releases,
  run_steps,
  runs,
  seen_versions,
  tracker_channels,
  tracker_sources,
  trackers,
} from "../../src/db/tables.ts";
import type { Observation } from "../../src/executors/observation-schema.ts";
import { newId } from "../../src/ids.ts";
import { plain } from "../../src/messages/message.ts";

export interface Size {
  trackers: number;
  releases_each: number;
  executors: number;
  runs_each: number;
  /** The socket of the executors' engine; by default one at which nobody listens. */
  engine?: string;
}

const hourMs = 3_600_000;
const platform = "linux/amd64";

function digestOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Rows in statements of this many: below the engine's limit of bound values. */
async function insertAll<T>(rows: readonly T[], insert: (some: T[]) => Promise<unknown>): Promise<void> {
  const step = 100;
  for (let from = 0; from < rows.length; from += step) await insert(rows.slice(from, from + step));
}

interface SeededTracker {
  tracker_id: string;
  source_id: string;
  name: string;
}

/** A month of checks of five hosts. */
function checkHours(now: number) {
  const hour = Math.floor(now / hourMs) * hourMs;
  return ["registry.example.com", "a.example.com", "b.example.com", "c.example.com", "d.example.com"].flatMap((host) =>
    Array.from({ length: 30 * 24 }, (_, age) => ({
      ...{ starts_at: hour - age * hourMs, host, succeeded: 30 + (age % 7), failed: age % 11 === 0 ? 2 : 0 },
      requests: 70 + (age % 13),
    })),
  );
}

async function seedTrackers(tx: Writer, size: Size, now: number): Promise<SeededTracker[]> {
  const seeded = Array.from({ length: size.trackers }, (_, index) => ({
    tracker_id: newId(now - 30 * 24 * hourMs),
    source_id: newId(now),
    channel_id: newId(now),
    name: `app-${String(index).padStart(4, "0")}`,
    index,
  }));
  const times = { created_at: now - 30 * 24 * hourMs, updated_at: now - 30 * 24 * hourMs };
  await insertAll(seeded, (some) =>
    tx.insert(trackers).values(
      some.map(({ tracker_id, name }) => ({
        ...{ id: tracker_id, name, description: `What ${name} is for`, sorting: "publish_time" as const },
        ...{ check_interval_minutes: 360, fetch_depth: 10, request_timeout_seconds: 15, ...times },
      })),
    ),
  );
  await insertAll(seeded, (some) =>
    tx.insert(tracker_sources).values(
      some.map(({ tracker_id, source_id, name, index }) => ({
        ...{ id: source_id, tracker_id, key: "registry", position: 0, kind: "oci", host: "registry.example.com" },
        config: { image: `registry.example.com/team/${name}`, registry: "", published_at_mode: "auto" },
        // Within the interval, and not while the bench runs: nothing goes out.
        next_check_at: now + 2 * hourMs + index * 1_000,
        ...{ baseline_at: now - 20 * hourMs, last_checked_at: now - hourMs, last_success_at: now - hourMs },
        ...{ last_request_count: 2, last_byte_count: 400, last_duration_ms: 30, upstream_total: 40 },
        // Every fiftieth fails, as some always do.
        ...(index % 50 === 0
          ? {
              // A failure that is not retried within minutes.
              last_error_code: "not_found",
              last_error_message: plain("The registry does not know the repository"),
              failing_since: now,
            }
          : {}),
      })),
    ),
  );
  const found = seeded.flatMap(({ source_id, name }) =>
    Array.from({ length: size.releases_each }, (_, step) => ({
      ...{ id: newId(now - step), source_id, version: `1.${size.releases_each - step}.0` },
      ...{ tag: `1.${size.releases_each - step}.0`, stage: "tag" as const, revision: digestOf(`${name} ${step}`) },
      ...{ published_at: now - (step + 1) * 24 * hourMs, first_observed_at: now - (step + 1) * 24 * hourMs },
    })),
  );
  await insertAll(found, (some) => tx.insert(releases).values(some));
  await insertAll(checkHours(now), (some) => tx.insert(check_hours).values(some));
  const latest = new Map(found.filter((_, at) => at % size.releases_each === 0).map((row) => [row.source_id, row]));
  await insertAll(seeded, (some) =>
    tx.insert(tracker_channels).values(
      some.map(({ channel_id, source_id }) => ({
        ...{
          id: channel_id,
          source_id,
          name: "stable",
          type: "stable" as const,
          position: 0,
          baseline_at: now - 20 * hourMs,
        },
        include_pattern: "^[0-9]+\\.[0-9]+\\.[0-9]+$",
        latest_release_id: latest.get(source_id)?.id ?? null,
        latest_revision: latest.get(source_id)?.revision ?? null,
      })),
    ),
  );
  await insertAll(seeded, (some) =>
    tx.insert(events).values(
      some.map(({ tracker_id, name, index }) => ({
        ...{ id: newId(now - index), kind: "new_release", tracker_id, created_at: now - index * 60_000 },
        facts: { tracker: name, channel: "stable", version: "1.10.0", tag: "1.10.0", sources: ["registry"], also: [] },
      })),
    ),
  );
  return seeded;
}

/** An executor's target as last observed: every seventh has an update. */
function observationOf({ name }: SeededTracker, place: number, now: number): Observation {
  const image = `registry.example.com/team/${name}`;
  const tag = `1.9.${place % 10}`;
  const wanted = place % 7 === 0 ? "1.10.0" : tag;
  const reference = `${image}:${tag}`;
  const built = { image_id: digestOf(`${tag} id`), digest: digestOf(tag), platform };
  const found = serviceView({
    ...{ name: "main", containers: [name], state: "running" },
    artifact: { kind: "image", reference, ...built },
  });
  const service = {
    ...{ service: "main", tracker: name, source: "registry", channel: "stable", found: { ...found, tag } },
    desired: {
      ...{ version: wanted, tag: wanted, digest: digestOf(wanted), reference: `${image}:${wanted}` },
      published_at: now - 24 * hourMs,
    },
    ...{ difference: wanted === tag ? ("current" as const) : ("other_version" as const), download: null, unmet: null },
    behind:
      wanted === tag ? null : { releases: 1, steps: { major: 0, minor: 1, patch: 0 }, days: 3, is_at_least: false },
  };
  return { services: [service], unbound: [], problem: null, waiting: null, desired_revision: null };
}

const stepNames = ["pull", "snapshot", "create", "stop", "rename_old", "rename_new", "start", "verify", "commit"];

async function seedExecutors(tx: Writer, size: Size, seeded: readonly SeededTracker[], now: number) {
  const times = { created_at: now - 30 * 24 * hourMs, updated_at: now - 30 * 24 * hourMs };
  const connection_id = newId(now);
  const config = { address: `unix://${size.engine ?? "/run/seeded-nobody.sock"}` };
  const look = { seen_at: now, next_look_at: now + 2 * hourMs };
  await tx.insert(connections).values({ id: connection_id, name: "engine", kind: "docker", config, ...look, ...times });
  const bound = seeded.slice(0, size.executors).map((tracker, place) => ({
    ...{ ...tracker, executor_id: newId(now), observed: observationOf(tracker, place, now) },
  }));
  await insertAll(bound, (some) =>
    tx.insert(executors).values(
      some.map(({ executor_id, name, observed }) => ({
        ...{ id: executor_id, name, connection_id, target_kind: "container", target_id: name, ...times },
        ...{ observed, observed_at: now },
        ...{ trigger: "manual" as const, image_selection: "keep_name" as const, reference_mode: "tag" as const },
        ...{ health_check: { strategy: "auto" }, restore_on_failure: true },
      })),
    ),
  );
  await insertAll(bound, (some) =>
    tx.insert(executor_bindings).values(
      some.map(({ executor_id, tracker_id, source_id }) => ({
        ...{ executor_id, tracker_id, source_id, service: "main", channel: "stable" as const },
      })),
    ),
  );
  const performed = bound.flatMap(({ executor_id, name }) =>
    Array.from({ length: size.runs_each }, (_, step) => {
      const at = now - (step * size.executors + 1) * 60_000;
      const [from, to] = [`1.${step}.0`, `1.${step + 1}.0`];
      const image = `registry.example.com/team/${name}`;
      return {
        ...{
          id: newId(at),
          executor_id,
          kind: "update" as const,
          trigger: "manual" as const,
          state: "succeeded" as const,
        },
        ...{ from_tag: from, from_digest: digestOf(from), to_tag: to, to_digest: digestOf(to), serving: "desired" },
        ...{ plan_hash: digestOf(name).slice(7), downtime_ms: 180, ready_ms: 400 },
        plan: {
          ref: { kind: "container", id: name },
          changes: [{ service: "main", reference: `${image}:${to}`, digest: `${image}@${digestOf(to)}` }],
          services: [
            {
              service: "main",
              from: { reference: `${image}:${from}`, digest: digestOf(from), image_id: digestOf(`${from} id`) },
              to: { reference: `${image}:${to}`, digest: digestOf(to) },
            },
          ],
          diff: [
            { service: "main", path: "Image", before: `${image}:${from}`, after: `${image}:${to}`, because: "desired" },
            { service: "main", path: "Config.Env.APP_VERSION", before: from, after: to, because: "image" },
          ],
          ...{
            carried: { settings: 61, networks: 1, mounts: 2, ports: 1 },
            refusals: [],
            warnings: [],
            is_noop: false,
          },
          hash: digestOf(name).slice(7),
          platform,
        },
        ...{ due_at: at, created_at: at, started_at: at, ended_at: at + 4_000 },
      };
    }),
  );
  await insertAll(performed, (some) => tx.insert(runs).values(some));
  const seen = performed.toReversed().map(({ id, executor_id, to_tag, to_digest, plan, ended_at }) => ({
    ...{ id: newId(ended_at), executor_id, service: "main", reference: plan.services[0]?.to.reference ?? null },
    ...{ tag: to_tag, digest: to_digest, cause: "run" as const, run_id: id, from_at: ended_at },
  }));
  await insertAll(seen, (some) => tx.insert(seen_versions).values(some));
  const steps = performed.flatMap(({ id, created_at }) =>
    stepNames.flatMap((step, at) => [
      { run_id: id, seq: at * 2 + 1, step, phase: "begin" as const, facts: {}, at: created_at + at * 100 },
      { run_id: id, seq: at * 2 + 2, step, phase: "finish" as const, facts: {}, at: created_at + at * 100 + 50 },
    ]),
  );
  await insertAll(steps, (some) => tx.insert(run_steps).values(some));
  const [run] = performed;
  if (run === undefined) throw new Error("There is no run to look at");
  return run;
}

/** Trackers with releases, and executors with runs, as they are after a month. Nothing of them is due within the next two hours. */
export async function seedRows(tx: Writer, size: Size, now: number) {
  const seeded = await seedTrackers(tx, size, now);
  const run = await seedExecutors(tx, size, seeded, now);
  return { tracker: seeded[0]?.name ?? "", run_id: run.id, executor_id: run.executor_id };
}
