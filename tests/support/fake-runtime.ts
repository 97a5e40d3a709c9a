import * as v from "valibot";
import { PluginError, saidBy } from "../../src/errors.ts";
import { plain, toldAs } from "../../src/messages/message.ts";
import { containersOf, type PlannedContainer } from "../../src/runtimes/containers-detail.ts";
import { runtimes } from "../../src/runtimes/index.ts";
import type { Journal } from "../../src/runtimes/journal.ts";
import type { LastLog, LogLine, LogPart } from "../../src/runtimes/logs.ts";
import type { Change, FieldDiff, FileNotice, PlanOptions, UpdatePlan } from "../../src/runtimes/plan.ts";
import type { Runtime, SnapshotReader } from "../../src/runtimes/runtime.ts";
import type { Readiness, Recovery, RegistryAuth, RuntimeSession } from "../../src/runtimes/session.ts";
import type { Refusal, Target, TargetRef } from "../../src/runtimes/target.ts";

export interface FakeContainer {
  id: string;
  name: string;
  image: string;
  digest: string | null;
  running: boolean;
  env: readonly string[];
  /** The run that made it, as a real engine's label says. */
  run: string | null;
  /** The compose project that it belongs to, with its service there. */
  project: string | null;
  service: string;
  /** The service in whose network it lives; it is made anew when that one is. */
  shares: string | null;
}

interface FakeOptions {
  running?: boolean;
  env?: string[];
  project?: string;
  service?: string;
  shares?: string;
}

/** What an engine holds, and what it is told to do wrong; shared by every session, as a real one is. */
export class FakeEngine {
  readonly containers = new Map<string, FakeContainer>();
  /** Every mutation in its order: `stop web`, `start web`. */
  readonly calls: string[] = [];
  readonly pulls: { reference: string; auth: RegistryAuth | null }[] = [];
  /** The options with which plans were asked for. */
  readonly planned: (PlanOptions | undefined)[] = [];
  isUnreachable = false;
  /** How many were opened. */
  sessions = 0;
  /** What tells it from others, by whatever address it is reached. */
  placeId: string | null = null;
  /** What a run made cannot be removed when all is put back. */
  isLeftOver = false;
  /** What `inspect` throws, as a fault of ours would. */
  inspectFault: Error | null = null;
  refusals: Refusal[] = [];
  warnings: Refusal[] = [];
  /** What a plan says of the files behind a group. */
  files: FileNotice[] = [];
  /** Fails the step each time it is tried; by `step container` for one container of a group. */
  failures = new Map<string, PluginError>();
  /** Judges what runs; by default whatever runs is ready. */
  judge: (container: FakeContainer, ranMs: number) => Readiness = (container) =>
    container.running
      ? { ready: true, detail: plain("Running") }
      : { ready: false, detail: plain("Exited"), final: true };
  /** What failed containers wrote last. */
  lastLogs: () => Promise<readonly LastLog[]> = async () => [];
  /** The lines that a container has written; one that is followed writes no more. */
  logOf: (name: string) => readonly LogLine[] = (name) => [
    { at: "2026-01-05T11:59:59.000000000Z", text: `${name} runs` },
  ];
  /** What became of a new container while its health is awaited. */
  end: () => string | null = () => null;
  /** Digests that the local image store already has under another name: the plan is then a no-op after the pull. */
  aliases = new Map<string, string>();
  /** By which pages list a target, and what else writes it. */
  namespaceOf: (id: string) => string | null = () => null;
  ownerOf: (id: string) => string | null = () => null;
  labelsOf: (id: string) => Readonly<Record<string, string>> = () => ({});
  /** What an update waits for when it has made its new containers and stopped nothing yet. */
  awaited: (stopping: AbortSignal | undefined) => Promise<void> = async () => undefined;
  /** Called before and after each mutation; a killed process never comes back from it. */
  gate: () => Promise<void> = async () => undefined;
  #nextId = 1;

  add(name: string, image: string, digest: string | null, options: FakeOptions = {}): void {
    this.containers.set(name, {
      id: `c${this.#nextId++}`,
      name,
      image,
      digest,
      running: options.running ?? true,
      env: options.env ?? ["SECRET_WORD=correct-horse-battery"],
      run: null,
      project: options.project ?? null,
      service: options.service ?? "main",
      shares: options.shares ?? null,
    });
  }

  get(name: string): FakeContainer {
    const found = this.containers.get(name);
    if (found === undefined) throw new PluginError("not_found", plain(`There is no container "${name}"`));
    return found;
  }

  /** The containers of a target; those that an update keeps aside are none of them. */
  membersOf(ref: TargetRef): readonly FakeContainer[] {
    if (ref.kind === "container") return [this.get(ref.id)];
    const members = [...this.containers.values()].filter((each) => each.project === ref.id && !isAside(each.name));
    if (members.length === 0) throw new PluginError("not_found", plain(`There is no compose project "${ref.id}"`));
    return members;
  }

  /** Names of the containers that run. */
  running(): string[] {
    return [...this.containers.values()].filter((each) => each.running).map((each) => each.name);
  }

  reach(): void {
    if (this.isUnreachable) throw new PluginError("unreachable", plain("Reach the engine: connection refused"));
  }

  async mutate(call: string, work: () => void): Promise<void> {
    await this.gate();
    this.reach();
    work();
    this.calls.push(call);
    await this.gate();
  }

  create(name: string, image: string, digest: string | null, from: FakeContainer, run: string): void {
    this.containers.set(name, { ...from, id: `c${this.#nextId++}`, name, image, digest, running: false, run });
  }

  rename(from: string, to: string): void {
    const container = this.get(from);
    if (this.containers.has(to)) throw new PluginError("rejected", plain(`The name "${to}" is taken`));
    this.containers.delete(from);
    this.containers.set(to, { ...container, name: to });
  }

  setRunning(name: string, running: boolean): void {
    this.containers.set(name, { ...this.get(name), running });
  }
}

const digestIn = (reference: string) => /@(sha256:[0-9a-f]+)$/.exec(reference)?.[1] ?? null;
const aside = (name: string) => `${name}-previous`;
const next = (name: string) => `${name}-next`;
const isAside = (name: string) => /-(previous|next)$/.test(name);
const serviceOf = (ref: TargetRef, container: FakeContainer) => (ref.kind === "container" ? "main" : container.service);

function targetOf(engine: FakeEngine, ref: TargetRef): Target {
  const members = engine.membersOf(ref);
  const names = [...new Set(members.map((each) => serviceOf(ref, each)))];
  const [namespace, owner] = [engine.namespaceOf(ref.id), engine.ownerOf(ref.id)];
  return {
    ref,
    name: ref.id,
    ...(namespace === null ? {} : { namespace }),
    ...(owner === null ? {} : { owner: plain(owner), condition: plain("2 of 3 ready") }),
    services: names.flatMap((name) => {
      const replicas = members.filter((each) => serviceOf(ref, each) === name);
      const [first] = replicas;
      if (first === undefined) return [];
      return {
        name,
        containers: replicas.map((each) => each.name),
        artifact: {
          kind: "image" as const,
          reference: first.image,
          image_id: `id-${first.digest}`,
          digest: first.digest,
          platform: "linux/amd64",
        },
        state: replicas.every((each) => each.running) ? ("running" as const) : ("stopped" as const),
      };
    }),
    refusals: engine.refusals,
    warnings: engine.warnings,
    labels: engine.labelsOf(ref.id),
  };
}

interface Wanted {
  change: Change;
  digest: string | null;
  members: readonly FakeContainer[];
  isToRun: boolean;
  isSame: boolean;
}

function wantedOf(
  engine: FakeEngine,
  ref: TargetRef,
  change: Change,
  { ranThen, owed }: { ranThen: boolean; owed: readonly string[] },
): Wanted {
  const members = engine.membersOf(ref).filter((each) => serviceOf(ref, each) === change.service);
  const digest = change.digest === null ? digestIn(change.reference) : digestIn(change.digest);
  const isToRun = ranThen || members.some((each) => each.running || owed.includes(each.name));
  const isSame = members.every(
    (each) => each.image === change.reference && each.digest === digest && each.running === isToRun,
  );
  return { change, digest, members, isToRun, isSame };
}

function planOf(
  engine: FakeEngine,
  ref: TargetRef,
  changes: readonly Change[],
  options: PlanOptions = { start_first: false, drain_seconds: 0 },
  ranThen = false,
): UpdatePlan {
  if (changes.length === 0) throw new Error("A plan needs a change");
  const { owed = [], ...timing } = options;
  const wanted = changes.map((change) => wantedOf(engine, ref, change, { ranThen, owed }));
  const unknown = wanted.find(({ members }) => members.length === 0);
  if (unknown !== undefined) {
    throw new PluginError("not_found", plain(`"${ref.id}" has no service "${unknown.change.service}"`));
  }
  const moved = wanted.filter(({ isSame }) => !isSame);
  const desired: PlannedContainer[] = moved.flatMap(({ members, change, isToRun }) =>
    members.map(({ name }) => ({ name, service: change.service, because: "desired" as const, is_running: isToRun })),
  );
  const sharing: PlannedContainer[] = (ref.kind === "container" ? [] : engine.membersOf(ref))
    .filter((each) => desired.some(({ service }) => service === each.shares))
    .filter((each) => desired.every(({ name }) => name !== each.name))
    .map(({ name, service, running }) => ({ name, service, because: "shares" as const, is_running: running }));
  const diff: FieldDiff[] = moved.map(({ change, members }) => ({
    service: change.service,
    path: "Image",
    before: members[0]?.image ?? null,
    after: change.reference,
    because: "desired" as const,
  }));
  const found = engine.membersOf(ref).map(({ id, image, digest, running }) => [id, image, digest, running]);
  const asked = wanted.map(({ change, digest, isToRun }) => [change.service, change.reference, digest, isToRun]);
  return {
    ref,
    changes,
    services: wanted.map(({ change, digest, members: [first], isToRun }) => ({
      service: change.service,
      from: {
        reference: first?.image ?? "",
        digest: first?.digest ?? null,
        image_id: `id-${first?.digest ?? null}`,
        is_running: first?.running ?? false,
      },
      to: { reference: change.reference, digest, is_running: isToRun },
    })),
    detail: {
      containers:
        ref.kind === "container"
          ? [{ name: ref.id, service: "main", because: "desired", is_running: wanted[0]?.isToRun ?? false }]
          : [...desired, ...sharing],
    },
    order: options.start_first ? "start_first" : "stop_first",
    drain_seconds: options.start_first ? options.drain_seconds : 0,
    owed: engine.membersOf(ref).flatMap(({ name, running }) => (owed.includes(name) && !running ? [name] : [])),
    files: moved.length === 0 ? [] : engine.files,
    diff,
    carried: { mounts: 1 },
    refusals: engine.refusals,
    warnings: engine.warnings,
    is_noop: moved.length === 0,
    hash: new Bun.CryptoHasher("sha256").update(JSON.stringify([found, asked, timing])).digest("hex"),
  };
}

/** What a snapshot of the double holds: one container as a real engine says it, or those of a group. */
const Captured = v.object({
  Name: v.string(),
  Service: v.string(),
  State: v.object({ Running: v.boolean() }),
  Config: v.object({ Image: v.string(), Digest: v.nullable(v.string()), Env: v.array(v.string()) }),
});
const CapturedGroup = v.object({ Containers: v.array(Captured) });

function capturedOf(container: FakeContainer, service: string): v.InferOutput<typeof Captured> {
  const { name, image, digest, env, running } = container;
  return {
    Name: name,
    Service: service,
    State: { Running: running },
    Config: { Image: image, Digest: digest, Env: [...env] },
  };
}

function logPartOf(engine: FakeEngine, ref: TargetRef, container: FakeContainer): LogPart {
  const { id, name, running, env } = container;
  return {
    ...{ key: name, service: serviceOf(ref, container), pod: "", container: name, start: id, unreadable: null },
    state: running ? "running" : "stopped",
    secrets: env.map((each) => each.slice(each.indexOf("=") + 1)),
    read: async function* ({ tail, follow, signal }) {
      const failure = engine.failures.get(`log ${name}`);
      if (failure !== undefined) throw failure;
      if (!follow) yield engine.logOf(name).slice(-tail);
      else if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  };
}

/** Takes the same steps in the same order as a container engine's plug-in, each journalled before it is taken. */
export function fakeSession(engine: FakeEngine): RuntimeSession {
  const step = async (journal: Journal, name: string, container: string, call: string, work: () => void) => {
    await journal.begin(name, { container });
    const failure = engine.failures.get(`${name} ${container}`) ?? engine.failures.get(name);
    try {
      await engine.mutate(call, () => {
        if (failure !== undefined) throw failure;
        work();
      });
    } catch (error) {
      await journal.fail(name, { container, ...toldAs("error", saidBy(error)) });
      throw error;
    }
    await journal.finish(name, { container });
  };
  /** Names of everything that an update of the target may have touched. */
  const namesOf = (ref: TargetRef): readonly string[] => {
    if (ref.kind === "container") return [ref.id];
    const names = [...engine.containers.values()]
      .filter((each) => each.project === ref.id)
      .map((each) => each.name.replace(/-(previous|next)$/, ""));
    return [...new Set(names)];
  };

  const putBack = async (name: string, journal: Journal) => {
    // What did not run before is not started: its stop was skipped.
    const isStarting = journal
      .entries()
      .some(
        ({ step, facts }) =>
          step === "stop" && facts.container === name && (facts.is_skipped !== true || facts.is_owed === true),
      );
    if (engine.containers.has(aside(name))) {
      if (engine.containers.has(name)) {
        await engine.mutate(`remove ${name}`, () => engine.containers.delete(name));
      }
      await engine.mutate(`rename ${aside(name)}`, () => engine.rename(aside(name), name));
    }
    if (engine.containers.has(next(name))) {
      await engine.mutate(`remove ${next(name)}`, () => engine.containers.delete(next(name)));
    }
    const failure = engine.failures.get("undo");
    if (isStarting && !engine.get(name).running) {
      await engine.mutate(`start ${name}`, () => {
        if (failure !== undefined) throw failure;
        engine.setRunning(name, true);
      });
    }
  };

  const judgeAll = (all: readonly FakeContainer[], ranMs: number): Readiness => {
    const judged = all.map((each) => engine.judge(each, ranMs));
    const final = judged.find((each) => !each.ready && each.final === true);
    return final ?? judged.find((each) => !each.ready) ?? judged[0] ?? { ready: true, detail: plain("Running") };
  };

  const apply = async (plan: UpdatePlan, journal: Journal, stopping?: AbortSignal): Promise<void> => {
    const olds = containersOf(plan.detail).map((planned) => ({ planned, old: engine.get(planned.name) }));
    for (const { planned, old } of olds) {
      const to = plan.services.find((each) => each.service === planned.service)?.to;
      const isMoved = planned.because === "desired" && to !== undefined;
      await step(journal, "create", planned.name, `create ${next(planned.name)}`, () =>
        engine.create(
          next(planned.name),
          isMoved ? to.reference : old.image,
          isMoved ? to.digest : old.digest,
          old,
          journal.run_id,
        ),
      );
    }
    await engine.awaited(stopping);
    for (const { planned, old } of olds.toReversed()) {
      const { name } = planned;
      if (old.running) await step(journal, "stop", name, `stop ${name}`, () => engine.setRunning(name, false));
      else await journal.finish("stop", { container: name, is_skipped: true, is_owed: plan.owed.includes(name) });
    }
    for (const { planned } of olds) {
      const { name } = planned;
      await step(journal, "rename_old", name, `rename ${name}`, () => engine.rename(name, aside(name)));
      await step(journal, "rename_new", name, `rename ${next(name)}`, () => engine.rename(next(name), name));
      if (planned.is_running) {
        await step(journal, "start", name, `start ${name}`, () => engine.setRunning(name, true));
      }
    }
    if (olds.length === 0) throw new Error(`The plan for "${plan.ref.id}" replaces nothing`);
  };

  const session: RuntimeSession = {
    ping: async () => engine.reach(),
    describe: async () => {
      engine.reach();
      return { version: "27.1", api_version: "1.46", platform: "linux/amd64", warnings: [] };
    },
    identify: async () => {
      engine.reach();
      const failure = engine.failures.get("identify");
      if (failure !== undefined) throw failure;
      return engine.placeId;
    },
    discover: async () => {
      engine.reach();
      const failure = engine.failures.get("discover");
      if (failure !== undefined) throw failure;
      const all = [...engine.containers.values()];
      const projects = new Set(all.flatMap(({ project }) => (project === null ? [] : [project])));
      return [
        ...[...projects].map((id) => targetOf(engine, { kind: "compose", id })),
        ...all.map(({ name }) => targetOf(engine, { kind: "container", id: name })),
      ];
    },
    inspect: async (ref) => {
      engine.reach();
      if (engine.inspectFault !== null) throw engine.inspectFault;
      return targetOf(engine, ref);
    },
    nameOfId: async (id) => {
      engine.reach();
      return [...engine.containers.values()].find((each) => each.id === id)?.name ?? null;
    },
    plan: async (ref, changes, options) => {
      engine.reach();
      engine.planned.push(options);
      return planOf(engine, ref, changes, options);
    },
    prepare: async (plan, auths, journal) => {
      for (const service of plan.services) {
        const { reference } = service.to;
        await journal.begin("pull");
        const failure = engine.failures.get(`pull ${reference}`) ?? engine.failures.get("pull");
        try {
          await engine.mutate(`pull ${reference}`, () => {
            if (failure !== undefined) throw failure;
            engine.pulls.push({ reference, auth: auths[0] ?? null });
          });
        } catch (error) {
          await journal.fail("pull", toldAs("error", saidBy(error)));
          throw error;
        }
        await journal.finish("pull");
        journal.progress({ bytes: 10, total_bytes: 20, layers_done: 1, layers_total: 2 });
      }
      const isAlias = plan.services.every(({ from, to }) => {
        const alias = engine.aliases.get(to.digest ?? "");
        return alias !== undefined && alias === from.digest;
      });
      return { is_noop: plan.is_noop || isAlias, apply: (stopping) => apply(plan, journal, stopping) };
    },
    undo: async (ref, journal) => {
      await journal.begin("undo");
      try {
        for (const name of namesOf(ref)) await putBack(name, journal);
      } catch (error) {
        await journal.fail("undo", toldAs("error", saidBy(error)));
        throw error;
      }
      await journal.finish("undo");
      return { state: "untouched", detail: plain("The previous container serves"), is_left_over: engine.isLeftOver };
    },
    finish: async (ref, journal) => {
      for (const name of namesOf(ref)) {
        const isKept = [aside(name), next(name)].some((each) => engine.containers.has(each));
        if (ref.kind === "compose" && !isKept) continue;
        await step(journal, "remove_old", name, `remove ${aside(name)}`, () => {
          engine.containers.delete(aside(name));
          engine.containers.delete(next(name));
        });
      }
    },
    recover: async (ref, journal): Promise<Recovery> => {
      engine.reach();
      const names = namesOf(ref);
      const isKept = names.some((name) => engine.containers.has(aside(name)));
      const isRunning = names.every((name) => engine.containers.get(name)?.running === true);
      const isUndone = journal.entries().some((entry) => entry.step === "undo");
      const isHalf = names.some((name) => engine.containers.has(next(name)));
      if (isKept && isRunning && !isUndone && !isHalf)
        return { state: "started", detail: plain("The new container runs") };
      const isNew = names.some((name) => engine.containers.get(name)?.run === journal.run_id);
      if (!isKept && isRunning && isNew) return { state: "finished", detail: plain("The previous one is gone") };
      try {
        for (const name of names) await putBack(name, journal);
      } catch (error) {
        return { state: "down", detail: plain(String(error)) };
      }
      return { state: "untouched", detail: plain("The previous container serves") };
    },
    standing: async (ref, _journal, { before, ran_ms }) => {
      engine.reach();
      const names = namesOf(ref);
      const found = names.map((name) => engine.containers.get(name) ?? null);
      const ids = found.map((each) => each?.id ?? null);
      const parsed = v.safeParse(v.object({ ids: v.array(v.nullable(v.string())) }), before);
      const was = parsed.success ? parsed.output.ids : ids;
      const gone = names.find((_, index) => (was[index] ?? null) !== (ids[index] ?? null));
      return {
        facts: { ids },
        changed: gone === undefined ? null : plain(`The container "${gone}" was removed`),
        is_up: found.every((each) => each?.running === true),
        readiness: judgeAll(
          found.filter((each) => each !== null),
          ran_ms,
        ),
      };
    },
    readiness: async (ref, ranMs, journal) => {
      engine.reach();
      const started = journal.entries().flatMap(({ step, facts }) => (step === "start" ? (facts.container ?? []) : []));
      return judgeAll(
        engine.membersOf(ref).filter((each) => started.length === 0 || started.includes(each.name)),
        ranMs,
      );
    },
    lastLogs: () => engine.lastLogs(),
    logParts: async (ref) => {
      engine.reach();
      return engine.membersOf(ref).map((each) => logPartOf(engine, ref, each));
    },
    findEnd: async () => {
      engine.reach();
      const end = engine.end();
      return end === null ? null : plain(end);
    },
    snapshots: {
      capture: async (ref) => {
        engine.reach();
        const failure = engine.failures.get("capture");
        if (failure !== undefined) throw failure;
        const captured = engine.membersOf(ref).map((each) => capturedOf(each, serviceOf(ref, each)));
        return JSON.stringify(ref.kind === "container" ? captured[0] : { Containers: captured });
      },
      planRestore: async (ref, snapshot, owed) => {
        const json: unknown = JSON.parse(snapshot);
        const captured = ref.kind === "container" ? [v.parse(Captured, json)] : v.parse(CapturedGroup, json).Containers;
        const changes = captured.map(({ Service, Config }) => ({
          kind: "image" as const,
          service: Service,
          reference: Config.Image,
          digest: Config.Digest === null ? null : `${Config.Image.split(/[:@]/)[0]}@${Config.Digest}`,
          image_config: null,
        }));
        const unique = changes.filter(
          (change, position) => changes.findIndex((each) => each.service === change.service) === position,
        );
        return planOf(
          engine,
          ref,
          unique,
          { start_first: false, drain_seconds: 0, ...(owed === undefined ? {} : { owed }) },
          captured.some(({ State }) => State.Running),
        );
      },
      prepareRestore: async (plan, _snapshot, auths, journal) => session.prepare(plan, auths, journal),
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
  return session;
}

/** Every kind, all on the same engine. */
export function fakeRuntimes(engine: FakeEngine) {
  return { docker: fakeRuntime(engine), podman: { ...fakeRuntime(engine), kind: "podman", title: "Podman" } } as const;
}

function snapshotsOf({ snapshots }: Runtime): SnapshotReader {
  if (snapshots === undefined) throw new Error("The runtime has no snapshots");
  return snapshots;
}

function imagesIn(snapshot: string): readonly string[] {
  const json: unknown = JSON.parse(snapshot);
  const group = v.safeParse(CapturedGroup, json);
  const captured = group.success ? group.output.Containers : [v.parse(Captured, json)];
  return captured.map(({ Config }) => `id-${Config.Digest}`);
}

/** A `docker` runtime on a fake engine; its address is `fake://name`. */
export function fakeRuntime(engine: FakeEngine): Runtime {
  return {
    kind: "docker",
    title: "Docker engine",
    Config: v.strictObject({
      address: v.pipe(
        v.string("Write an address"),
        v.startsWith("fake://", 'Begin with "fake://"'),
        v.title("Address"),
      ),
      api_version: v.optional(v.pipe(v.string(), v.title("API version")), ""),
    }),
    target_kinds: runtimes.docker.target_kinds,
    snapshots: { ...snapshotsOf(runtimes.docker), imagesOf: imagesIn },
    place: (config) => String(Object(config).address),
    open: async () => {
      engine.reach();
      engine.sessions += 1;
      return fakeSession(engine);
    },
    warnings: () => [],
  };
}
