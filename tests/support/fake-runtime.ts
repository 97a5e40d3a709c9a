import * as v from "valibot";
import { PluginError } from "../../src/errors.ts";
import type {
  Change,
  FieldDiff,
  Journal,
  Readiness,
  Recovery,
  Refusal,
  RegistryAuth,
  Runtime,
  RuntimeSession,
  Target,
  TargetRef,
  UpdatePlan,
  UpdateStep,
} from "../../src/runtimes/runtime.ts";

export interface FakeContainer {
  id: string;
  name: string;
  image: string;
  digest: string | null;
  running: boolean;
  env: readonly string[];
  /** The run that made it, as a real engine's label says. */
  run: string | null;
}

/** What an engine holds, and what it is told to do wrong; shared by every session, as a real one is. */
export class FakeEngine {
  readonly containers = new Map<string, FakeContainer>();
  /** Every mutation in its order: `stop web`, `start web`. */
  readonly calls: string[] = [];
  readonly pulls: { reference: string; auth: RegistryAuth | null }[] = [];
  isUnreachable = false;
  /** What `inspect` throws, as a fault of ours would. */
  inspectFault: Error | null = null;
  refusals: Refusal[] = [];
  /** Fails the step each time it is tried. */
  failures = new Map<UpdateStep | "capture" | "discover", PluginError>();
  /** Judges what runs; by default whatever runs is ready. */
  judge: (container: FakeContainer) => Readiness = (container) =>
    container.running ? { ready: true, detail: "Running" } : { ready: false, detail: "Exited", final: true };
  /** Digests that the local image store already has under another name: the plan is then a no-op after the pull. */
  aliases = new Map<string, string>();
  /** Called before and after each mutation; a killed process never comes back from it. */
  gate: () => Promise<void> = async () => undefined;
  #nextId = 1;

  add(name: string, image: string, digest: string | null, options: { running?: boolean; env?: string[] } = {}): void {
    this.containers.set(name, {
      id: `c${this.#nextId++}`,
      name,
      image,
      digest,
      running: options.running ?? true,
      env: options.env ?? ["SECRET_WORD=correct-horse-battery"],
      run: null,
    });
  }

  get(name: string): FakeContainer {
    const found = this.containers.get(name);
    if (found === undefined) throw new PluginError("not_found", `There is no container "${name}"`);
    return found;
  }

  /** Names of the containers that run. */
  running(): string[] {
    return [...this.containers.values()].filter((each) => each.running).map((each) => each.name);
  }

  reach(): void {
    if (this.isUnreachable) throw new PluginError("unreachable", "Reach the engine: connection refused");
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
    if (this.containers.has(to)) throw new PluginError("rejected", `The name "${to}" is taken`);
    this.containers.delete(from);
    this.containers.set(to, { ...container, name: to });
  }

  setRunning(name: string, running: boolean): void {
    this.containers.set(name, { ...this.get(name), running });
  }
}

const digestIn = (reference: string) => /@(sha256:[0-9a-f]+)$/.exec(reference)?.[1] ?? null;

function targetOf(engine: FakeEngine, container: FakeContainer): Target {
  return {
    ref: { kind: "container", id: container.name },
    name: container.name,
    services: [
      {
        name: "main",
        containers: [container.name],
        image: container.image,
        image_id: `id-${container.digest}`,
        digest: container.digest,
        platform: "linux/amd64",
        state: container.running ? "running" : "stopped",
      },
    ],
    refusals: engine.refusals,
    warnings: [],
    labels: {},
  };
}

function planOf(engine: FakeEngine, ref: TargetRef, changes: readonly Change[], ranThen = false): UpdatePlan {
  const found = engine.get(ref.id);
  const isToRun = found.running || ranThen;
  const change = changes[0];
  if (change === undefined) throw new Error("A plan needs a change");
  const digest = change.digest === null ? digestIn(change.reference) : digestIn(change.digest);
  const isSame = found.image === change.reference && found.digest === digest && found.running === isToRun;
  const diff: FieldDiff[] = [
    { service: "main", path: "Image", before: found.image, after: change.reference, because: "desired" },
  ];
  return {
    ref,
    changes,
    services: [
      {
        service: "main",
        from: {
          reference: found.image,
          digest: found.digest,
          image_id: `id-${found.digest}`,
          is_running: found.running,
        },
        to: { reference: change.reference, digest, is_running: isToRun },
      },
    ],
    containers: [{ name: ref.id, service: "main", because: "desired", is_running: isToRun }],
    order: "stop_first",
    files: [],
    diff: isSame ? [] : diff,
    carried: { mounts: 1 },
    refusals: engine.refusals,
    warnings: [],
    is_noop: isSame,
    hash: new Bun.CryptoHasher("sha256")
      .update(JSON.stringify([found.id, found.image, found.digest, change.reference, digest, found.running, isToRun]))
      .digest("hex"),
  };
}

/** Takes the same steps in the same order as a container engine's plug-in, each journalled before it is taken. */
export function fakeSession(engine: FakeEngine): RuntimeSession {
  const step = async (journal: Journal, name: UpdateStep, call: string, work: () => void) => {
    await journal.begin(name);
    const failure = engine.failures.get(name);
    try {
      await engine.mutate(call, () => {
        if (failure !== undefined) throw failure;
        work();
      });
    } catch (error) {
      await journal.fail(name, { message: String(error) });
      throw error;
    }
    await journal.finish(name);
  };
  const aside = (ref: TargetRef) => `${ref.id}-previous`;
  const next = (ref: TargetRef) => `${ref.id}-next`;

  const putBack = async (ref: TargetRef, journal: Journal) => {
    // What did not run before is not started: its stop was skipped.
    const isStarting = journal.entries().some((entry) => entry.step === "stop" && entry.facts.is_skipped !== true);
    if (engine.containers.has(aside(ref))) {
      if (engine.containers.has(ref.id)) {
        await engine.mutate(`remove ${ref.id}`, () => engine.containers.delete(ref.id));
      }
      await engine.mutate(`rename ${aside(ref)}`, () => engine.rename(aside(ref), ref.id));
    }
    if (engine.containers.has(next(ref))) {
      await engine.mutate(`remove ${next(ref)}`, () => engine.containers.delete(next(ref)));
    }
    const failure = engine.failures.get("undo");
    if (isStarting && !engine.get(ref.id).running) {
      await engine.mutate(`start ${ref.id}`, () => {
        if (failure !== undefined) throw failure;
        engine.setRunning(ref.id, true);
      });
    }
  };

  const session: RuntimeSession = {
    describe: async () => {
      engine.reach();
      return { version: "27.1", api_version: "1.46", platform: "linux/amd64", warnings: [] };
    },
    discover: async () => {
      engine.reach();
      const failure = engine.failures.get("discover");
      if (failure !== undefined) throw failure;
      return [...engine.containers.values()].map((each) => targetOf(engine, each));
    },
    inspect: async (ref) => {
      engine.reach();
      if (engine.inspectFault !== null) throw engine.inspectFault;
      return targetOf(engine, engine.get(ref.id));
    },
    plan: async (ref, changes) => {
      engine.reach();
      return planOf(engine, ref, changes);
    },
    prepare: async (plan, auths, journal) => {
      for (const service of plan.services) {
        await step(journal, "pull", `pull ${service.to.reference}`, () => {
          engine.pulls.push({ reference: service.to.reference, auth: auths[0] ?? null });
        });
        journal.progress({ bytes: 10, total_bytes: 20, layers_done: 1, layers_total: 2 });
      }
      const [service] = plan.services;
      const alias = engine.aliases.get(service?.to.digest ?? "");
      return { is_noop: plan.is_noop || (alias !== undefined && alias === service?.from.digest) };
    },
    apply: async (plan, journal) => {
      const { ref } = plan;
      const to = plan.services[0]?.to;
      if (to === undefined) throw new Error("A plan needs a service");
      const old = engine.get(ref.id);
      await step(journal, "create", `create ${next(ref)}`, () =>
        engine.create(next(ref), to.reference, to.digest, old, journal.run_id),
      );
      if (old.running) await step(journal, "stop", `stop ${ref.id}`, () => engine.setRunning(ref.id, false));
      else await journal.finish("stop", { is_skipped: true });
      await step(journal, "rename_old", `rename ${ref.id}`, () => engine.rename(ref.id, aside(ref)));
      await step(journal, "rename_new", `rename ${next(ref)}`, () => engine.rename(next(ref), ref.id));
      if (to.is_running) await step(journal, "start", `start ${ref.id}`, () => engine.setRunning(ref.id, true));
    },
    undo: async (ref, journal) => {
      await journal.begin("undo");
      try {
        await putBack(ref, journal);
      } catch (error) {
        await journal.fail("undo", { error: String(error) });
        throw error;
      }
      await journal.finish("undo");
      return { state: "untouched", detail: "The previous container serves" };
    },
    finish: async (ref, journal) => {
      await step(journal, "remove_old", `remove ${aside(ref)}`, () => {
        engine.containers.delete(aside(ref));
        engine.containers.delete(next(ref));
      });
    },
    recover: async (ref, journal): Promise<Recovery> => {
      engine.reach();
      const isAside = engine.containers.has(aside(ref));
      const found = engine.containers.get(ref.id);
      const isUndone = journal.entries().some((entry) => entry.step === "undo");
      if (isAside && found?.running && !isUndone) return { state: "started", detail: "The new container runs" };
      const isNew = found?.run === journal.run_id;
      if (!isAside && found?.running && isNew) return { state: "finished", detail: "The previous one is gone" };
      try {
        await putBack(ref, journal);
      } catch (error) {
        return { state: "down", detail: String(error) };
      }
      return { state: "untouched", detail: "The previous container serves" };
    },
    readiness: async (ref) => {
      engine.reach();
      return engine.judge(engine.get(ref.id));
    },
    snapshots: {
      capture: async (ref) => {
        engine.reach();
        const failure = engine.failures.get("capture");
        if (failure !== undefined) throw failure;
        const { name, image, digest, env, running } = engine.get(ref.id);
        return JSON.stringify({
          Name: name,
          State: { Running: running },
          Config: { Image: image, Digest: digest, Env: env },
        });
      },
      planRestore: async (ref, snapshot) => {
        const { Config, State } = v.parse(
          v.object({
            State: v.object({ Running: v.boolean() }),
            Config: v.object({ Image: v.string(), Digest: v.nullable(v.string()) }),
          }),
          JSON.parse(snapshot),
        );
        const pull = Config.Digest === null ? null : `${Config.Image.split(/[:@]/)[0]}@${Config.Digest}`;
        const change = { service: "main", reference: Config.Image, digest: pull, image_config: null };
        return planOf(engine, ref, [change], State.Running);
      },
      prepareRestore: async (plan, _snapshot, auths, journal) => session.prepare(plan, auths, journal),
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
  return session;
}

/** A `docker` runtime on a fake engine; its address is `fake://name`. */
/** Every kind, all on the same engine. */
export function fakeRuntimes(engine: FakeEngine) {
  return { docker: fakeRuntime(engine), podman: { ...fakeRuntime(engine), kind: "podman", title: "Podman" } } as const;
}

export function fakeRuntime(engine: FakeEngine): Runtime<"docker"> {
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
    open: async () => {
      engine.reach();
      return fakeSession(engine);
    },
    warnings: () => [],
  };
}
