import { eq } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import { connections, executors } from "../../src/db/tables.ts";
import type { ReleaseChoice } from "../../src/executors/releases.ts";
import { newId } from "../../src/ids.ts";
import { plain, say } from "../../src/messages/message.ts";
import type { OpenProbe } from "../../src/probes/probe.ts";
import type { Runtime } from "../../src/runtimes/runtime.ts";
import { createRedactor } from "../../src/secrets/redaction.ts";
import type { KnownVersion } from "../../src/versions/behind.ts";
import { FakeEngine, fakeRuntime, fakeRuntimes } from "./fake-runtime.ts";
import { temporaryGround } from "./ground.ts";
import { type RunParts, type RunRow, runParts, storedRuns, storeTracker } from "./run-parts.ts";

/** One digest per letter: `digest("a")`. */
export const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

export type Instance = RunParts;

/** What a tracker's channel offers; tests change it as upstream would. */
interface Upstream {
  choice: ReleaseChoice;
  known: readonly KnownVersion[];
  image: string | null;
  configs: Record<string, unknown>;
  /** What the registries of images that run have: digests by `image:tag`; a fault in place of a digest is thrown. */
  tags: Record<string, string | Error>;
}

interface InstanceOptions {
  id?: string;
  gate?: () => Promise<void>;
  engine?: FakeEngine;
}

const live = new AbortController().signal;

/** Executors and runs on a temporary database, a fake engine that runs `web` on `registry.test/app:1.0`, and a tracker that offers 1.1. */
export async function createWorld() {
  /** What the process knows of secrets; a new one knows as little as after a restart. */
  const known = { redactor: createRedactor() };
  const ground = await temporaryGround({ onOpen: (secret) => known.redactor.register(secret) });
  const { db, clock, credentials, sealer, lines: logs } = ground;
  const engine = new FakeEngine();
  engine.add("web", "registry.test/app:1.0", digest("a"));
  const settings = { timezone: "UTC", snapshots: 10 };
  const upstream: Upstream = {
    choice: { release: release("1.1", "b"), ready_at: null },
    known: [],
    image: "registry.test/app",
    configs: {},
    tags: {},
  };
  /** What answers the probes of http and tcp checks. */
  const probe: { attempt: OpenProbe["attempt"] } = {
    attempt: async () => ({ ready: true, detail: plain("Answered") }),
  };

  /** A further process on the same database and engine; `gate` stands before and after each of its writes. */
  const instance = (options: InstanceOptions = {}): Instance =>
    runParts(ground, {
      instance_id: options.id ?? `instance-${newId(clock.now()).slice(-6)}`,
      gate: options.gate,
      runtimes: fakeRuntimes(options.engine ?? engine),
      self: { hostname: "me", data_dir: ground.dir },
      releases: {
        desiredRelease: async () => upstream.choice,
        knownVersions: async () => ({ versions: upstream.known, depth: 10, keep: 20 }),
        imageFor: async () => upstream.image,
        readImageConfig: async () => upstream.configs,
        chartFor: async () => null,
        readChart: async () => new Uint8Array(),
        sourceAt: async () => null,
        findDigest: async (image, tag) => {
          const found = upstream.tags[`${image}:${tag}`] ?? null;
          if (found instanceof Error) throw found;
          return found;
        },
      },
      openLogin: async (id) => {
        const secret = await credentials.openSecret("oci", id);
        if (typeof secret !== "object" || secret === null) throw new Error("No login");
        return { username: "", password: "", ...secret };
      },
      timezone: () => settings.timezone,
      judgeDestination: (destination) =>
        JSON.stringify(destination).includes("blocked.test") ? say("net.destination_blocked", { entry: null }) : null,
      redact: (text) => known.redactor.redact(text.replaceAll("hunter2-token", "[redacted]")),
      snapshotLimit: () => settings.snapshots,
      probe,
    });

  /** The instance that most tests use. */
  const main = instance({ id: "main" });
  const { id: connectionId } = await main.connections.create(systemActor, {
    name: "Home",
    kind: "docker",
    config: { address: "fake://home" },
  });
  const sourceId = "source";
  await storeTracker(db, { name: "app", source: sourceId }, clock.now());
  const stored = storedRuns(db);

  return {
    clock,
    db,
    engine,
    upstream,
    settings,
    logs,
    connectionId,
    sourceId,
    main,
    credentials,
    sealer,
    known,
    probe,
    instance,
    ...stored,
    addExecutor: async (changes: Record<string, unknown> = {}): Promise<string> => {
      const created = await main.executors.create(systemActor, {
        name: "web",
        connection_id: connectionId,
        target: { kind: "container", id: "web" },
        bindings: [{ tracker: "app", source: "main", channel: "stable" }],
        trigger: "manual",
        ...changes,
      });
      return created.id;
    },
    /** Evaluates and performs everything that is due in one instance, as one tick would. */
    tick: async (at: Instance = main): Promise<void> => {
      for (const item of await at.connections.work.due(clock.now(), 100)) {
        await clock.runUntil(at.connections.work.perform(item, live));
      }
      for (const item of await at.evaluator.due(clock.now(), 100)) {
        await clock.runUntil(at.evaluator.perform(item, live));
      }
      for (const item of await at.runs.work.due(clock.now(), 100)) {
        await clock.runUntil(at.runs.work.perform(item, live));
      }
    },
    /** Queues a manual run and performs it to its end. */
    update: async (executorId: string, input: unknown = {}): Promise<RunRow> => {
      const { id } = await main.runs.create(systemActor, executorId, input);
      await clock.runUntil(main.runs.work.perform({ id }, live));
      return await stored.run(id);
    },
    close: ground.close,
  };
}

export type World = Awaited<ReturnType<typeof createWorld>>;

export function release(tag: string, letter: string) {
  return { version: tag, tag, digest: digest(letter), published_at: null };
}

/** Forgets what evaluations decided to wait for, as a check of the tracker would. */
export async function makeDue(world: World, executorId: string): Promise<void> {
  await world.db.write((tx) =>
    tx.update(executors).set({ next_evaluation_at: world.clock.now() }).where(eq(executors.id, executorId)),
  );
}

/** Stores an address as it is, as earlier versions did: another connection may lead there, and the double would take its own form alone. */
export async function leadTo(
  { db }: Pick<World, "db">,
  connectionId: string,
  address: string,
  { place }: Pick<Runtime, "place"> = fakeRuntime(new FakeEngine()),
): Promise<void> {
  const changes = { config: { address }, place: place({ address }, null) };
  await db.write((tx) => tx.update(connections).set(changes).where(eq(connections.id, connectionId)));
}
