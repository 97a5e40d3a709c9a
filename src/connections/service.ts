import * as v from "valibot";
import type { Actor } from "../auth/schema.ts";
import type { CredentialService } from "../credentials/service.ts";
import type { Writer } from "../db/client.ts";
import { AppError, inUse, invalidInput, notFound, PluginError, saidBy } from "../errors.ts";
import { valuesOf } from "../forms/fields.ts";
import { judgeInput, parseInput } from "../forms/issues.ts";
import { listOperations } from "../forms/page.ts";
import { viewOf } from "../forms/view.ts";
import { newId } from "../ids.ts";
import { type Message, plain, say, told, toldAs, toldEach } from "../messages/message.ts";
import type { OutageNotices } from "../notifications/outage-schema.ts";
import type { Parts } from "../parts.ts";
import type { PluginContext } from "../plugin.ts";
import { splitConfig } from "../runtimes/config.ts";
import type { Runtime, RuntimeContext, Runtimes, SecretChoices, SnapshotReader } from "../runtimes/runtime.ts";
import type { RegistryAuth, RuntimeSession } from "../runtimes/session.ts";
import type { Target } from "../runtimes/target.ts";
import type { TargetKind } from "../runtimes/target-kind.ts";
import { connectionLooks, type SessionOptions } from "./looks.ts";
import { identityOf, type Place, placeTaken, placeWarnings, twinsOf } from "./places.ts";
import {
  type ConnectionRow,
  connectionLists,
  connectionPlaces,
  connectionRows,
  connectionsChecked,
  makeExecutorsDue,
  namesOfCredentials,
  usersOfConnections,
  usersOfPlace,
} from "./queries.ts";
import { connectionStateOf, neverLooked } from "./reach.ts";
import {
  type ConnectionCheckView,
  ConnectionPatch,
  ConnectionView,
  connectionInput,
  connectionList,
  lastCheckOf,
  newCredential,
  reachOf,
  serviceView,
  type TargetList,
} from "./schema.ts";

export type ConnectionService = ReturnType<typeof connectionService>;

/** What decides where a connection leads. */
type Led = Pick<ConnectionRow, "kind" | "config" | "credential_id" | "is_enabled">;

interface ConnectionServiceOptions extends Pick<Parts, "db" | "clock" | "audit" | "log"> {
  /** The owner of this process's leases. */
  instance_id: string;
  runtimes: Runtimes;
  credentials: Pick<CredentialService, "draft" | "judge" | "openSecret" | "requireKind">;
  /** Checks the host that a connection names; null when it is allowed, else the reason. */
  judgeHost: (host: string) => Message | null;
  /** The guarded HTTP client of the runtimes' sessions. */
  openFetch: (signal: AbortSignal) => PluginContext["fetch"];
  outages: OutageNotices;
  /** Recognises targets that run this very service. */
  self: RuntimeContext["self"];
}

/** Stands for a stored kind that this version does not have: it is listed and can be deleted, and everything else is refused. */
function unknownRuntime(kind: string): Runtime {
  return {
    kind,
    title: kind,
    Config: v.record(v.string(), v.unknown()),
    target_kinds: [],
    open: () => Promise.reject(new PluginError("rejected", say("connections.kind_unknown", { kind }))),
    place: (config) => `${kind} ${JSON.stringify(config)}`,
    warnings: () => [{ code: "kind_unknown", message: say("connections.kind_unknown", { kind }) }],
  };
}

function unknownTargetKind(kind: string): TargetKind {
  return {
    kind,
    title: plain(kind),
    is_group: false,
    is_declarative: false,
    artifact: "image",
    steps: [],
    parts: () => [],
  };
}

/** Connections to runtimes: stored, tested, opened for runs, and listed with their targets. */
export function connectionService(options: ConnectionServiceOptions) {
  const { db, clock, audit, credentials, self } = options;
  const Input = connectionInput(options.runtimes);
  const runtimes = new Map(Object.entries(options.runtimes));
  const targetKinds = new Map([...runtimes.values()].flatMap((each) => each.target_kinds.map((of) => [of.kind, of])));

  const runtimeOf = ({ kind }: Pick<ConnectionRow, "kind">): Runtime => runtimes.get(kind) ?? unknownRuntime(kind);
  const targetKind = (kind: string): TargetKind => targetKinds.get(kind) ?? unknownTargetKind(kind);
  const isGroup = ({ ref }: Pick<Target, "ref">): boolean => targetKind(ref.kind).is_group;
  /** The group of a container, or the containers of a group. */
  const relatedTo = (target: Target, all: readonly Target[]): readonly Target[] => {
    const names = (group: Target) => group.services.flatMap((service) => service.containers);
    const own = names(target);
    return isGroup(target)
      ? all.filter((each) => !isGroup(each) && own.includes(each.ref.id))
      : all.filter((each) => isGroup(each) && names(each).includes(target.ref.id));
  };
  const parseConfig = (runtime: Runtime, config: unknown): Record<string, unknown> =>
    parseInput(v.object({ config: runtime.Config }), { config }).config;

  /** Refusals are recorded, so that attempts to map internal addresses are visible. */
  const refuseDestination = async (
    actor: Actor,
    { name, kind, config }: Pick<ConnectionRow, "name" | "kind" | "config">,
  ): Promise<void> => {
    const destination = runtimeOf({ kind }).destination?.(config) ?? null;
    const reason = destination === null ? null : options.judgeHost(destination.host);
    if (destination === null || reason === null) return;
    const detail = { reason, connection: name };
    await db.write((tx) => audit(tx, actor, { event: "destination_blocked", outcome: "refused", detail }));
    throw invalidInput({ [`config.${destination.field}`]: reason });
  };
  const mergedConfig = (row: ConnectionRow, changes: Readonly<Record<string, unknown>> | undefined) => {
    const runtime = runtimeOf(row);
    // What another version of Tidemark stored and no form shows is kept for it.
    const { own, foreign } = splitConfig(runtime.Config, row.config);
    const merged = Object.entries({ ...own, ...changes }).filter(([, value]) => value !== null);
    const kept = Object.entries(foreign).filter(([name]) => changes?.[name] !== null);
    return { ...Object.fromEntries(kept), ...parseConfig(runtime, Object.fromEntries(merged)) };
  };

  /** What the address of an unknown kind means is not known here, so that it stays as it is. Throws 422 for another one. */
  const withoutAddress = (
    { kind, credential_id: own }: ConnectionRow,
    patch: v.InferOutput<typeof ConnectionPatch>,
  ) => {
    const { config = {}, credential_id = own, ...others } = patch;
    const changed = [
      ...(Object.keys(config).length === 0 ? [] : ["config"]),
      ...(credential_id === own ? [] : ["credential_id"]),
    ];
    const said = say("connections.kind_unknown", { kind });
    if (changed.length > 0) throw invalidInput(Object.fromEntries(changed.map((field) => [field, said])));
    return others;
  };

  const views = async (rows: readonly ConnectionRow[]): Promise<ConnectionView[]> => {
    const ids = rows.map((row) => row.id);
    const now = clock.now();
    const users = await usersOfConnections(db.read, ids);
    const places = await connectionPlaces(db.read);
    const names = await namesOfCredentials(
      db.read,
      rows.flatMap((row) => (row.credential_id === null ? [] : [row.credential_id])),
    );
    return rows.map((row) =>
      viewOf(ConnectionView, {
        ...row,
        config: { ...row.config },
        credential: row.credential_id === null ? null : (names.get(row.credential_id) ?? null),
        warnings: toldEach([
          ...runtimeOf(row).warnings(row.config),
          ...placeWarnings(row, twinsOf(row, places, runtimeOf(row))),
        ]),
        last_check: lastCheckOf(row),
        reach: reachOf(row, now),
        executors: users.filter((user) => user.connection_id === row.id).map(({ id, name }) => ({ id, name })),
      }),
    );
  };
  const listContext = async () => {
    const now = clock.now();
    const groups = Map.groupBy(await connectionsChecked(db.read), (row) =>
      connectionStateOf({ ...row, reach: reachOf(row, now), last_check: lastCheckOf(row) }),
    );
    return {
      inState: new Map([...groups].map(([key, rows]) => [key, rows.map(({ id }) => id)])),
    };
  };
  const get = async (id: string): Promise<ConnectionView> => {
    const [view] = await views([await connectionRows.get(db.read, id)]);
    if (view === undefined) throw notFound("connection", id);
    return view;
  };
  const looks = connectionLooks({
    ...options,
    open: async (row, signal, session) => {
      const secret = await credentials.openSecret(row.kind, row.credential_id);
      const fetch = options.openFetch(signal);
      return await runtimeOf(row).open(row.config, secret, { fetch, signal, clock, self, ...session });
    },
  });

  const describe = async (
    row: ConnectionRow,
    signal: AbortSignal,
  ): Promise<{ found: ConnectionCheckView; identity?: string | null | undefined }> => {
    const checked_at = clock.now();
    try {
      await using session = await looks.open(row, signal);
      const facts = await session.describe();
      const { version, api_version, platform, identity = null, warnings, remedy = null } = facts;
      const said = told(say("connections.answered", { runtime: runtimeOf(row).title, version }));
      const found = {
        ...{ ok: true, code: null, ...said, version, api_version, platform, identity },
        ...{ warnings: toldEach(warnings), remedy, checked_at },
      };
      return { found, identity: await identityOf(session, signal) };
    } catch (error) {
      // A failed test is a result to store, unless the fault is our own or nobody waits for the result.
      if (signal.aborted || !(error instanceof PluginError)) throw error;
      const found = {
        ...{ ok: false, code: error.code, ...told(saidBy(error)), version: null, api_version: null, platform: null },
        ...{ identity: null, warnings: [], remedy: error.remedy, checked_at },
      };
      return { found };
    }
  };

  /**
   * What a secret offers to choose from, and why it cannot be used with this configuration, as far as the runtime knows without being
   * asked.
   */
  const judgeSecret = async (
    kind: string,
    config: unknown,
    secret: unknown,
  ): Promise<{ choices: SecretChoices; problem: PluginError | null }> => {
    const runtime = runtimeOf({ kind });
    const { signal } = new AbortController();
    let choices: SecretChoices = {};
    try {
      choices = runtime.choices?.(secret) ?? {};
      runtime.judgeSecret?.(secret);
      const session = await runtime.open(config, secret, { fetch: options.openFetch(signal), signal, clock, self });
      await session[Symbol.asyncDispose]();
      return { choices, problem: null };
    } catch (error) {
      if (error instanceof PluginError) return { choices, problem: error };
      throw error;
    }
  };
  /** The place that a configuration leads to, for saving it; null while it is unknown, as when the runtime does not respond. */
  const identify = async (row: Led, openSecret: () => Promise<unknown>): Promise<string | null> => {
    const never = new AbortController().signal;
    try {
      return await looks.inTime(never, async (signal) => {
        const secret = await openSecret();
        const context = { fetch: options.openFetch(signal), signal, clock, self };
        await using session = await runtimeOf(row).open(row.config, secret, context);
        return (await identityOf(session, signal)) ?? null;
      });
    } catch (error) {
      if (error instanceof PluginError || error instanceof AppError) return null;
      throw error;
    }
  };
  const identifyStored = async (row: Led): Promise<string | null> =>
    row.is_enabled ? await identify(row, () => credentials.openSecret(row.kind, row.credential_id)) : null;
  /** It is requested again at the next check, which follows at once. */
  const identified = (place_id: string | null) => ({ place_id, identified_at: null, has_moved: false });
  /** Not those that `before` has: of what is stored, an administrator is only warned. */
  const refuseTwins = async (tx: Writer, row: Place, before: Place | null): Promise<void> => {
    const runtime = runtimeOf(row);
    const all = await connectionPlaces(tx);
    const isSamePlace = before !== null && before.place === row.place;
    // The only news may be that its runtime was asked.
    const former =
      before === null ? [] : twinsOf(isSamePlace ? { ...before, place_id: row.place_id } : before, all, runtime);
    const twin = twinsOf(row, all, runtime).find(({ id }) => former.every((each) => each.id !== id));
    if (twin !== undefined) throw placeTaken(twin, runtime);
  };
  const insert = async (
    tx: Writer,
    actor: Actor,
    id: string,
    parsed: v.InferOutput<typeof Input>,
    place_id: string | null,
  ): Promise<void> => {
    const now = clock.now();
    await connectionRows.refuseTaken(tx, parsed.name, null);
    const place = runtimeOf(parsed).place(parsed.config, parsed.credential_id);
    const row = { id, ...parsed, place, ...identified(place_id) };
    await refuseTwins(tx, row, null);
    await connectionRows.insert(tx, { ...row, created_at: now, updated_at: now });
    await audit(tx, actor, {
      event: "connection_created",
      outcome: "ok",
      subject: { kind: "connection", id, name: parsed.name },
      detail: { kind: parsed.kind },
    });
  };

  return {
    /** Checks connections, for the scheduler. */
    work: looks.work,
    isGroup: (kind: string): boolean => targetKinds.get(kind)?.is_group ?? false,
    /** What targets of a kind are called; null for one that no runtime has any more. */
    titleOfTargets: (kind: string): Message | null => targetKinds.get(kind)?.title ?? null,
    /** The runtime's declaration of a target kind; throws for an unknown one. */
    targetKind,
    /** The target kinds of a connection kind. */
    targetKindsOf: (kind: string): readonly TargetKind[] => runtimes.get(kind)?.target_kinds ?? [],
    /** The schema of a new connection, for the API's documentation and the form. */
    Input,
    /** Warnings about an address before it is stored, for the form; none for an unusable one. */
    warningsOf: (kind: unknown, config: unknown): ConnectionView["warnings"] => {
      const known = typeof kind === "string" ? runtimes.get(kind) : undefined;
      return known === undefined ? [] : toldEach(known.warnings(config));
    },

    /** Null for a kind whose secret is optional; false for a configuration that uses none. */
    needsSecret: (kind: string, config: unknown): boolean | null => runtimes.get(kind)?.needsSecret?.(config) ?? null,
    /** Whether secrets of this kind have values for fields of the configuration. */
    hasChoices: (kind: string): boolean => runtimes.get(kind)?.choices !== undefined,
    /** For the form of a new connection, before its secret is stored: see `judgeSecret`. */
    judgeSecret,
    /** The choices that a stored credential has for fields of the configuration; none if it cannot be read. */
    choicesOf: async (kind: string, credentialId: string): Promise<SecretChoices> => {
      try {
        return runtimeOf({ kind }).choices?.(await credentials.openSecret(kind, credentialId)) ?? {};
      } catch (error) {
        if (error instanceof PluginError || error instanceof AppError) return {};
        throw error;
      }
    },

    /** By name. */
    ...listOperations({
      shape: connectionList([...runtimes.keys()]),
      page: async (ask) => await connectionLists.page(db.read, await listContext(), ask),
      counts: async (ask) => await connectionLists.counts(db.read, await listContext(), ask),
      views,
    }),
    get,
    /** Those that are there, in the given order. */
    byIds: async (ids: readonly string[]): Promise<ConnectionView[]> =>
      await views(await connectionRows.byIds(db.read, ids)),
    /** Null if it was deleted. */
    find: async (id: string): Promise<Pick<ConnectionRow, "id" | "name"> | null> =>
      await connectionRows.find(db.read, id),

    create: async (actor: Actor, input: unknown): Promise<ConnectionView> => {
      const parsed = parseInput(Input, input);
      await refuseDestination(actor, parsed);
      const placeId = await identifyStored(parsed);
      const id = newId(clock.now());
      await db.write(async (tx) => {
        await credentials.requireKind(tx, parsed.kind, parsed.credential_id, "credential_id");
        await insert(tx, actor, id, parsed, placeId);
      });
      return await get(id);
    },

    /**
     * Stores `secret` as a credential with the connection's name and kind, and the connection that uses it: both or neither. Unlike
     * `create` it refuses a secret that the runtime cannot use.
     */
    createWithSecret: async (actor: Actor, input: unknown, secret: unknown): Promise<ConnectionView> => {
      const { output: parsed, errors } = judgeInput(Input, input);
      if (errors !== null) {
        const wrong = credentials.judge({ name: newCredential, kind: valuesOf(input).kind, secret }).errors;
        throw invalidInput({ ...wrong, ...errors });
      }
      const { name, kind, config } = parsed;
      await refuseDestination(actor, parsed);
      const credential = credentials.draft({ name, kind, secret });
      const { choices, problem } = await judgeSecret(kind, config, credential.secret);
      const unchosen = Object.entries(choices).flatMap(([field, { options }]) => {
        if (options.length < 2 || (config[field] ?? "") !== "") return [];
        const names = options.map(({ value }) => value);
        return [[`config.${field}`, say("connections.choose_one", { options: names })] as const];
      });
      if (unchosen.length > 0) throw invalidInput(Object.fromEntries(unchosen));
      if (problem !== null) throw invalidInput({ [problem.field ?? "secret"]: problem.said });
      const placeId = parsed.is_enabled ? await identify(parsed, async () => credential.secret) : null;
      const id = newId(clock.now());
      await db.write(async (tx) => {
        await credential.insert(tx, actor);
        await insert(tx, actor, id, { ...parsed, credential_id: credential.id }, placeId);
      });
      return await get(id);
    },

    /** Members left out keep their values, including those of `config`; a member of `config` set to null returns to its default. */
    update: async (actor: Actor, id: string, input: unknown): Promise<ConnectionView> => {
      const sent = parseInput(ConnectionPatch, input);
      const before = await connectionRows.get(db.read, id);
      const patch: typeof sent = runtimes.has(before.kind) ? sent : withoutAddress(before, sent);
      const isSameAddress = patch.config === undefined && patch.credential_id === undefined;
      const changedRow = (row: ConnectionRow) => {
        const { name = row.name, is_enabled = row.is_enabled } = patch;
        if (isSameAddress) return { ...row, name, is_enabled };
        const config = mergedConfig(row, patch.config);
        const credential_id = patch.credential_id === undefined ? row.credential_id : patch.credential_id;
        return { ...row, name, is_enabled, config, credential_id, place: runtimeOf(row).place(config, credential_id) };
      };
      const asked = changedRow(before);
      if (!isSameAddress) await refuseDestination(actor, asked);
      const placeId = isSameAddress ? null : await identifyStored(asked);
      await db.write(async (tx) => {
        const row = await connectionRows.get(tx, id);
        const { name, config, credential_id, place } = changedRow(row);
        await connectionRows.refuseTaken(tx, name, id);
        await credentials.requireKind(tx, row.kind, credential_id, "credential_id");
        const known = place === row.place ? row.place_id : null;
        const led = isSameAddress ? {} : identified(place === asked.place ? (placeId ?? known) : null);
        await refuseTwins(tx, { ...row, ...led, config, place }, row);
        await connectionRows.update(tx, id, {
          ...patch,
          config,
          place,
          ...led,
          // Results for another address do not apply to this one.
          ...(isSameAddress ? {} : { last_check: null, last_checked_at: null, ...neverLooked }),
          next_look_at: null,
          updated_at: clock.now(),
        });
        await makeExecutorsDue(tx, id, clock.now());
        await options.outages.forget(tx);
        await audit(tx, actor, {
          event: "connection_updated",
          outcome: "ok",
          subject: { kind: "connection", id, name },
          detail: { fields: Object.keys(patch) },
        });
      });
      return await get(id);
    },

    /** Refused with the names of the executors that use it. */
    remove: async (actor: Actor, id: string): Promise<void> => {
      await db.write(async (tx) => {
        const row = await connectionRows.get(tx, id);
        const users = await usersOfConnections(tx, [id]);
        if (users.length > 0) {
          throw inUse(
            "connection",
            row.name,
            users.map(({ name }) => say("request.named", { what: say("thing.executor"), name })),
          );
        }
        await connectionRows.remove(tx, id);
        await options.outages.forget(tx);
        await audit(tx, actor, {
          event: "connection_deleted",
          outcome: "ok",
          subject: { kind: "connection", id, name: row.name },
        });
      });
    },

    /**
     * Tests the connection and stores the result; an unreachable runtime is a result, not an error. An aborted test throws and keeps the
     * previous result.
     */
    check: async (actor: Actor, id: string, signal: AbortSignal): Promise<ConnectionCheckView> => {
      const row = await connectionRows.get(db.read, id);
      const { found, identity } = await describe(row, signal);
      await db.write(async (tx) => {
        await connectionRows.update(tx, id, { last_check: found, last_checked_at: found.checked_at });
        const now = await connectionRows.get(tx, id);
        if (identity !== undefined && now.place === row.place) await looks.storeIdentity(tx, now, identity);
        await audit(tx, actor, {
          event: "connection_checked",
          outcome: found.ok ? "ok" : "failed",
          subject: { kind: "connection", id, name: row.name },
          detail: { code: found.code },
        });
      });
      return found;
    },

    /** Everything behind the connection, including what cannot be updated, with the reason. Throws `PluginError`. */
    targets: async (id: string, signal: AbortSignal): Promise<TargetList> => {
      const row = await connectionRows.get(db.read, id);
      if (!row.is_enabled) {
        throw new AppError("connection_disabled", 409, say("connections.disabled", { connection: row.name }));
      }
      await using session = await looks.open(row, signal);
      const found = await session.discover();
      const users = await usersOfPlace(db.read, id);
      const items = found.map((target) => {
        const related = relatedTo(target, found);
        const user = users.find((each) =>
          [target, ...related].some(({ ref }) => each.target_kind === ref.kind && each.target_id === ref.id),
        );
        return {
          ...target.ref,
          name: target.name,
          namespace: target.namespace ?? null,
          ...toldAs("owner", target.owner ?? null),
          ...toldAs("condition", target.condition ?? null),
          ...toldAs("title", targetKind(target.ref.kind).title),
          is_group: isGroup(target),
          group: isGroup(target) ? null : (related[0]?.ref.id ?? null),
          services: target.services.map(serviceView),
          refusals: toldEach(target.refusals),
          warnings: toldEach(target.warnings),
          labels: { ...target.labels },
          executor: user === undefined ? null : { id: user.id, name: user.name },
        };
      });
      return { items, discovered_at: clock.now() };
    },

    /** Those of these images that the runtime is configured to pull over plain HTTP. Throws `PluginError`. */
    plainImages: async (id: string, images: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> => {
      await using session = await looks.open(await connectionRows.get(db.read, id), signal);
      const plain = new Set<string>();
      for (const image of images) if ((await session.isPlainRegistry?.(image)) === true) plain.add(image);
      return plain;
    },

    /** Reads the snapshots of the connection's runtime; null for a kind without snapshots. */
    snapshotReader: async (id: string): Promise<SnapshotReader | null> =>
      runtimeOf(await connectionRows.get(db.read, id)).snapshots ?? null,

    /** The login of the connection's credential for an image's registry; null without one. */
    registryLogin: async (id: string, image: string): Promise<(RegistryAuth & { credential_id: string }) | null> => {
      const row = await connectionRows.get(db.read, id);
      const { credential_id, config, kind } = row;
      const { registryLogin } = runtimeOf(row);
      if (credential_id === null || registryLogin === undefined) return null;
      const login = registryLogin(config, await credentials.openSecret(kind, credential_id), image);
      return login === null ? null : { credential_id, ...login };
    },

    /** For runs and plans; close it with `await using`. Opens a disabled connection too: the caller must check. */
    open: async (id: string, signal: AbortSignal, session?: SessionOptions): Promise<RuntimeSession> =>
      await looks.open(await connectionRows.get(db.read, id), signal, session),
  };
}
