import * as v from "valibot";
import { systemActor } from "../../src/auth/schema.ts";
import { countedTime } from "../../src/counted-time.ts";
import type { Database } from "../../src/db/client.ts";
import { timeMender } from "../../src/db/due-times.ts";
import {
  audit_entries,
  connections,
  events as eventRows,
  executor_bindings,
  executors,
  releases,
  snapshots,
  source_memos,
  tracker_channels,
  tracker_sources,
} from "../../src/db/tables.ts";
import type { PluginError } from "../../src/errors.ts";
import { boundExecutors } from "../../src/executors/bound-queries.ts";
import { newId } from "../../src/ids.ts";
import { clockDifferences } from "../../src/net/clock-difference.ts";
import { outageNotices } from "../../src/notifications/outages.ts";
import { addSourceToEvent } from "../../src/notifications/queries.ts";
import type { NewEvent, RecordEvent, ReleaseFacts } from "../../src/notifications/schema.ts";
import { createScheduler } from "../../src/scheduler/scheduler.ts";
import { sources } from "../../src/sources/index.ts";
import type { ImageSize, ListRequest, ReleaseStage, Source, UpstreamRelease } from "../../src/sources/source.ts";
import type { ChannelType } from "../../src/trackers/schema.ts";
import { trackerService } from "../../src/trackers/service.ts";
import type { OpenContext } from "../../src/trackers/upstreams/source-session.ts";
import type { RateState } from "../../src/trackers/upstreams/stored-responses.ts";
import type { FakeClock } from "../support/fake-clock.ts";
import { temporaryGround } from "../support/ground.ts";

export interface FakeTag {
  tag: string;
  revision: string | null;
  published_at: number | null;
  appeared?: boolean;
  app_version?: string;
  stage?: ReleaseStage;
  notes?: string;
  labelled_version?: string;
  size?: ImageSize;
}

/** What a repository of the fake upstream holds, the newest first. */
export interface FakeRepository {
  tags: FakeTag[];
  failure: Error | PluginError | null;
  /** While set, an answer waits for it. */
  gate: Promise<void> | null;
  /** Whether its source remembers anything between checks. */
  remembers: boolean;
  asked: ListRequest[];
  /** Answers given at this moment, and the most there ever were. */
  open: number;
  most_open: number;
}

interface HouseOptions {
  keep?: number;
  /** Its upstream tells releases from pre-releases. */
  has_release_types?: boolean;
  /** In place of an upstream that answers `{}` to everything. */
  openContext?: (clock: FakeClock, db: Database) => OpenContext;
  /** The product's own plug-ins in place of upstreams in memory. */
  has_real_sources?: boolean;
  /** In place of `rates` of the house. */
  rates?: () => readonly RateState[];
}

/** A trackers service over a real database, a clock of its own and an upstream in memory. */
export async function trackerHouse(options: HouseOptions = {}) {
  const ground = await temporaryGround();
  const { db, clock, lines, log, audit, sealer, credentials } = ground;
  const repositories = new Map<string, FakeRepository>();
  const secrets: unknown[] = [];
  /** What upstreams allow. */
  const rates: RateState[] = [];
  let namesListed = 0;

  const repository = (image: string): FakeRepository => {
    const known = repositories.get(image);
    if (known !== undefined) return known;
    const fresh: FakeRepository = {
      tags: [],
      failure: null,
      gate: null,
      remembers: true,
      asked: [],
      open: 0,
      most_open: 0,
    };
    repositories.set(image, fresh);
    return fresh;
  };

  const Config = v.strictObject({
    image: v.pipe(v.string(), v.minLength(1, "Write an image name")),
    registry: v.optional(v.string(), "registry.test"),
    mode: v.optional(v.string(), "auto"),
  });
  const answer = async (repo: FakeRepository, context: { signal: AbortSignal }) => {
    repo.open++;
    repo.most_open = Math.max(repo.most_open, repo.open);
    try {
      const { gate } = repo;
      // As over a network: others get their turn before the answer is there.
      await new Promise((resolve) => setImmediate(resolve));
      context.signal.throwIfAborted();
      if (gate !== null) {
        await new Promise<void>((resolve, reject) => {
          gate.then(resolve, reject);
          context.signal.addEventListener("abort", () => reject(context.signal.reason), { once: true });
        });
      }
      if (repo.failure !== null) throw repo.failure;
    } finally {
      repo.open--;
    }
  };
  const fake: Source<"oci"> = {
    kind: "oci",
    title: "Fake registry",
    Config,
    ...(options.has_release_types === true ? { has_release_types: true } : {}),
    host: (config) => v.parse(Config, config).registry,
    pages: (config) => {
      const web = `https://web.test/${v.parse(Config, config).image}`;
      return { version: ({ tag }) => `${web}/${tag}`, comparison: (from, to) => `${web}/${from.tag}...${to.tag}` };
    },
    cost: () => ({ requests: 1, quota: 0, hourly_limit: null }),
    checks_per_host: 4,
    open: (config, secret, context) => {
      const { image, registry } = v.parse(Config, config);
      const repo = repository(image);
      return {
        imageName: `${registry}/${image}`,
        async listReleases(request) {
          repo.asked.push(request);
          secrets.push(secret);
          await context.fetch(new URL(`http://${registry}/${image}`));
          await answer(repo, context);
          const accepted = request.accepts.flatMap((accept) =>
            repo.tags.filter((tag) => accept(tag.tag, tag.stage ?? "tag")).slice(0, request.limit),
          );
          const watched = repo.tags.filter((tag) => request.watch.includes(tag.tag));
          const listed = [...new Set([...watched, ...accepted])].map((tag): UpstreamRelease => {
            const known = request.known.get(tag.tag);
            // As a real source: a known tag that is not watched costs nothing, and so tells nothing new.
            const isAsked = known === undefined || request.watch.includes(tag.tag);
            return {
              version: tag.tag,
              tag: tag.tag,
              stage: tag.stage ?? "tag",
              published_at: known === undefined ? tag.published_at : known.published_at,
              revision: isAsked ? tag.revision : known.revision,
              url: `https://upstream.test/${tag.tag}`,
              notes: tag.notes ?? null,
              labelled_version: tag.labelled_version ?? null,
              app_version: tag.app_version ?? null,
              ...(tag.size === undefined || !isAsked ? {} : { size: tag.size }),
              ...(tag.appeared === undefined ? {} : { appeared: tag.appeared }),
            };
          });
          const memo = repo.remembers ? `memo ${repo.tags.length}` : null;
          return { releases: listed, total: repo.tags.length, memo };
        },
        async listNames() {
          namesListed++;
          await answer(repo, context);
          return repo.tags.map((tag) => tag.tag);
        },
      };
    },
  };

  /** The files of the fake forge, by `path@ref`; `path@` is the one on the default branch. */
  const files = new Map<string, string | Error>();
  const filesRead: string[] = [];
  const forge: Source<"gitlab"> = {
    ...fake,
    kind: "gitlab",
    title: "Fake forge",
    reads_files: true,
    open: (config, secret, context) => ({
      ...fake.open(config, secret, context),
      async readFile(path, ref) {
        filesRead.push(`${path}@${ref ?? ""}`);
        await context.fetch(new URL(`http://forge.test/${path}`));
        const file = files.get(`${path}@${ref ?? ""}`) ?? null;
        if (file instanceof Error) throw file;
        return file;
      },
    }),
  };

  const events: NewEvent[] = [];
  const parts = { keep: options.keep ?? 20 };
  const differences = clockDifferences(clock);
  const recordEvent: RecordEvent = async (tx, event) => {
    events.push(event);
    const tracker_id = "tracker_id" in event ? event.tracker_id : null;
    const created_at = clock.now();
    await tx
      .insert(eventRows)
      .values({ id: newId(created_at), kind: event.kind, tracker_id, facts: { ...event.facts }, created_at });
  };
  const build = (instanceId: string) => {
    const counted = countedTime(clock, null);
    const service = trackerService({
      db,
      clock,
      counted,
      log,
      audit,
      executors: boundExecutors,
      addSourceToEvent,
      recordEvent,
      outages: outageNotices({ clock, counted, recordEvent }),
      clocks: differences,
      credentials,
      sources: options.has_real_sources === true ? sources : { ...sources, oci: fake, gitlab: forge },
      openContext:
        options.openContext?.(clock, db) ??
        (({ signal }) => {
          let requests = 0;
          return {
            signal,
            clock,
            fetch: async () => {
              requests++;
              return new Response("{}");
            },
            stats: () => ({ requests, bytes: requests * 10 }),
          };
        }),
      instance_id: instanceId,
      versionHistoryCount: async () => parts.keep,
      excerpt: (text) => text.replaceAll("hunter2hunter2", "[redacted]").slice(0, 500),
      rates: options.rates ?? (() => rates),
      nudge: () => undefined,
    });
    const mendTimes = timeMender({ db, clock, counted, due_times: service.work.scheduled.due_times });
    const work = [service.work.overdue, service.work.scheduled];
    return { service, scheduler: createScheduler({ clock, log, work, before: mendTimes }) };
  };
  const { service: trackers, scheduler } = build("one");

  const releaseEvents = (kind?: NewEvent["kind"]): ReleaseFacts[] =>
    events.flatMap((event) =>
      (event.kind === "new_release" || event.kind === "republish") && (kind ?? event.kind) === event.kind
        ? [event.facts]
        : [],
    );

  return {
    ground,
    db,
    clock,
    log,
    lines,
    trackers,
    scheduler,
    build,
    credentials,
    repository,
    events,
    releaseEvents,
    secrets,
    rates,
    parts,
    differences,
    files,
    filesRead,
    actor: systemActor,
    namesListed: () => namesListed,

    /** Publishes tags, the last given is the newest; a revision is made up from the tag where none is given. */
    publish: (image: string, ...tags: (string | Partial<FakeTag>)[]) => {
      for (const given of tags) {
        const partial = typeof given === "string" ? { tag: given } : given;
        const tag = partial.tag ?? "";
        const rest = { revision: `sha256:${tag}`, published_at: clock.now(), ...partial, tag };
        const repo = repository(image);
        repo.tags = [rest, ...repo.tags.filter((known) => known.tag !== tag)];
      }
    },

    /** One source with the channels given, by default a stable one that takes plain versions. */
    create: async (name: string, change: Record<string, unknown> = {}, sources?: unknown[]) =>
      await trackers.create(systemActor, {
        name,
        sources: sources ?? [source(name)],
        ...change,
      }),

    /** One look at what is due, to its end. */
    tick: async () => {
      await scheduler.tick(clock.now());
      await scheduler.idle();
    },

    /** Checks a tracker now, to the end. */
    check: async (name: string) => {
      await trackers.requestCheck(systemActor, name);
      await scheduler.tick(clock.now());
      await scheduler.idle();
    },

    /** An executor bound to a source's channel, with what it was last seen to run. */
    bind: async (
      name: string,
      binding: { tracker_id: string; source_id: string; channel: string },
      running: { image: string; digest: string | null; platform?: string } | null = null,
    ) => {
      const now = clock.now();
      const connectionId = newId(now);
      const executorId = newId(now);
      const observed =
        running === null ? null : { services: [{ service: "main", found: { name: "main", ...running, tag: null } }] };
      await db.write(async (tx) => {
        await tx.insert(connections).values({
          id: connectionId,
          name: `connection ${name}`,
          kind: "docker",
          config: {},
          created_at: now,
          updated_at: now,
        });
        await tx.insert(executors).values({
          id: executorId,
          name,
          connection_id: connectionId,
          target_kind: "container",
          target_id: name,
          trigger: "immediate",
          image_selection: "keep_name",
          reference_mode: "tag",
          health_check: {},
          restore_on_failure: true,
          observed,
          created_at: now,
          updated_at: now,
        });
        await tx.insert(executor_bindings).values({ executor_id: executorId, service: "main", ...binding });
      });
      return executorId;
    },

    /** A snapshot of an executor that names an image. */
    snapshot: async (executorId: string, reference: string, digest: string | null) => {
      const now = clock.now();
      await db.write(async (tx) => {
        await tx.insert(snapshots).values({
          id: newId(now),
          executor_id: executorId,
          sealed_content: sealer.sealJson({}),
          reference,
          digest,
          image_id: "sha256:image",
          size_bytes: 2,
          created_at: now,
        });
      });
    },

    storedEvents: async () => await db.read.select().from(eventRows),
    auditEvents: async () => (await db.read.select().from(audit_entries)).map((row) => row.event),
    executorRow: async (id: string) => (await db.read.select().from(executors)).find((row) => row.id === id),
    sourceRows: async () => await db.read.select().from(tracker_sources).orderBy(tracker_sources.position),
    memos: async () => (await db.read.select().from(source_memos)).map((row) => row.memo),
    channelRows: async () => await db.read.select().from(tracker_channels),
    releaseRows: async () => await db.read.select().from(releases),
    storedTags: async () => (await db.read.select().from(releases)).map((row) => row.tag).toSorted(),
    latest: async (name: string, type: ChannelType = "stable", position = 0) =>
      (await trackers.get(name)).sources[position]?.channels.find((channel) => channel.type === type)?.latest?.tag ??
      null,

    close: async () => {
      await scheduler.stop({ grace_ms: 0 });
      await ground.close();
    },
  };
}

export type TrackerHouse = Awaited<ReturnType<typeof trackerHouse>>;

export const plain = "^v?\\d+(\\.\\d+)*$";

export function channel(type: ChannelType, include = "", exclude = "") {
  return { type, include_pattern: include, exclude_pattern: exclude };
}

/** The input of one source; its key is `main`, its image the tracker's name unless said otherwise. */
export function source(image: string, change: Record<string, unknown> = {}) {
  return { key: "main", kind: "oci", config: { image }, channels: [channel("stable", plain)], ...change };
}

export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => {
      throw new Error("nothing was thrown");
    },
    (error: unknown) => error,
  );
}
