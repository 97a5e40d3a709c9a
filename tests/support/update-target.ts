import { type Clock, systemClock } from "../../src/clock.ts";
import { engineAddress } from "../../src/runtimes/engine/address.ts";
import { defaultDeadlines, type EngineDeadlines } from "../../src/runtimes/engine/client.ts";
import type { Flavour } from "../../src/runtimes/engine/flavour.ts";
import { openEngine } from "../../src/runtimes/engine/session.ts";
import { type EngineTransport, engineTransport } from "../../src/runtimes/engine/transport.ts";
import type { Journal } from "../../src/runtimes/journal.ts";
import type { Change, UpdatePlan } from "../../src/runtimes/plan.ts";
import type { RuntimeSession } from "../../src/runtimes/session.ts";
import type { TargetRef } from "../../src/runtimes/target.ts";
import type { TestEngine } from "../peers/engine.ts";
import { flavours, isPodman, kindOf } from "./engine-modes.ts";
import { withImportedImages } from "./prepared.ts";

export const images = { old: "lab/app:1.0.0", next: "lab/app:2.0.0", exits: "lab/app:exits" } as const;

/** The images that the suites update between: they differ in their defaults, and one ends as soon as it is started. */
export async function importImages(engine: TestEngine): Promise<void> {
  await engine.importImage(images.old, ["ENV APP_VERSION=1.0.0", "LABEL version=1.0.0"]);
  await engine.importImage(images.next, ["ENV APP_VERSION=2.0.0", "LABEL version=2.0.0"]);
  await engine.importImage(images.exits, ["ENV APP_VERSION=3.0.0", 'CMD ["/bin/sh","-c","exit 3"]']);
}

/** On an engine, or at an address before one; of an address alone the engine is taken for Docker. */
export function openSession(
  at: string | Pick<TestEngine, "address" | "mode">,
  options: {
    kind?: Flavour["kind"];
    deadlines?: EngineDeadlines;
    clock?: Clock;
    self?: { hostname: string; data_dir: string };
    /** Negotiated when left out. */
    api_version?: string;
    transport?: EngineTransport;
    compose_folders?: readonly string[];
  } = {},
): Promise<RuntimeSession> {
  const address = typeof at === "string" ? at : at.address;
  const { signal } = new AbortController();
  const to = engineAddress(address, false, null);
  return openEngine({
    flavour: flavours[options.kind ?? (typeof at === "string" ? "docker" : kindOf(at.mode))],
    address: to,
    api_version: options.api_version ?? null,
    registry_auth: null,
    deadlines: options.deadlines ?? defaultDeadlines,
    retry_delay_ms: 50,
    transport: withImportedImages(options.transport ?? engineTransport(to, signal)),
    ...(options.compose_folders === undefined ? {} : { compose_folders: options.compose_folders }),
    context: {
      signal,
      clock: options.clock ?? systemClock,
      self: options.self ?? { hostname: "somewhere-else", data_dir: "/nowhere/tidemark" },
    },
  });
}

export function target(name: string): TargetRef {
  return { kind: "container", id: name };
}

export function changeTo(reference: string): Change {
  return { kind: "image", service: "main", reference, digest: null, image_config: null };
}

/** Leads back to a snapshot, as far as the start of the restored one. */
export async function restore(
  session: RuntimeSession,
  ref: TargetRef,
  snapshot: string,
  journal: Journal,
): Promise<UpdatePlan> {
  const { snapshots } = session;
  if (snapshots === undefined) throw new Error("An engine has snapshots");
  const plan = await snapshots.planRestore(ref, snapshot);
  await (await snapshots.prepareRestore(plan, snapshot, [], journal)).apply();
  return plan;
}

/**
 * A container that is down, and the snapshot of what stood in its place before: from the older image, which ran or was stopped.
 * The newer one was stopped.
 */
export async function downAfterUpdate(
  engine: TestEngine,
  name: string,
  body: Readonly<Record<string, unknown>>,
  ran = true,
): Promise<string> {
  await using session = await openSession(engine);
  await runContainer(engine, name, body);
  if (!ran) await engine.call("POST", `/containers/${name}/stop?t=0`);
  const snapshot = await session.snapshots?.capture(target(name));
  if (snapshot === undefined) throw new Error("An engine has snapshots");
  await removeContainers(engine, name);
  await runContainer(engine, name, { ...body, Image: images.next });
  // Not killed: Podman's restart policy is for that, too.
  await engine.call("POST", `/containers/${name}/stop?t=0`);
  return snapshot;
}

/**
 * Creates and starts a container as a person would by the command line: of such a one Podman tells everything, and it is updated
 * without consent.
 */
export async function runTyped(engine: TestEngine, name: string, image: string): Promise<string> {
  if (!isPodman(engine.mode)) return await runContainer(engine, name, { Image: image });
  const { Id } = (await engine.call("POST", "/v4.0.0/libpod/containers/create", {
    name,
    image,
    stop_timeout: 1,
    containerCreateCommand: ["podman", "run", "-d", "--name", name, "--stop-timeout=1", image],
  })) as { Id: string };
  await engine.call("POST", `/containers/${name}/start`);
  return Id;
}

/** Creates and starts a container as a person would, over the API; `StopTimeout` keeps a hanging stop short. */
export async function runContainer(
  engine: TestEngine,
  name: string,
  body: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const created = await engine.call("POST", `/containers/create?name=${name}`, {
    Image: images.old,
    StopTimeout: 1,
    ...body,
  });
  await engine.call("POST", `/containers/${name}/start`);
  return (created as { Id: string }).Id;
}

export interface Found {
  name: string;
  state: string;
  image: string;
}

/** Every container whose name begins so, with what it is made from. */
export async function containersNamed(engine: TestEngine, name: string): Promise<readonly Found[]> {
  const listed = (await engine.call("GET", "/containers/json?all=1")) as {
    Names: string[];
    State: string;
    Image: string;
  }[];
  return listed
    .map((each) => ({ name: (each.Names[0] ?? "").slice(1), state: each.State, image: familiar(each.Image) }))
    .filter((each) => each.name === name || each.name.startsWith(`${name}-tidemark-`))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Podman writes every name in full. */
export function familiar(reference: string): string {
  return reference.replace(/^docker\.io\/(library\/)?/, "");
}

export async function inspectContainer(engine: TestEngine, name: string): Promise<Record<string, never>> {
  return (await engine.call("GET", `/containers/${name}/json`)) as Record<string, never>;
}

export async function removeContainers(engine: TestEngine, name: string): Promise<void> {
  for (const each of await containersNamed(engine, name)) {
    await engine.call("DELETE", `/containers/${each.name}?force=1&v=1`);
  }
}
