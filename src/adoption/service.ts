import type { Actor } from "../auth/schema.ts";
import type { TargetList, TargetView } from "../connections/schema.ts";
import type { ConnectionService } from "../connections/service.ts";
import { AppError, invalidInput, PluginError, reasonOf } from "../errors.ts";
import type { ExecutorService } from "../executors/service.ts";
import { parseInput } from "../forms/issues.ts";
import { newId } from "../ids.ts";
import { isMessage, type Message, say, says, told, toldEach } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { RecentMap } from "../recent-map.ts";
import { outsideRequest } from "../request-scope.ts";
import type { TrackerService } from "../trackers/service.ts";
import type { KnownHistory } from "../versions/behind.ts";
import { DOCKER_HUB, ImageReferenceError, isImageId, parseImageReference } from "../versions/image-reference.ts";
import { type AdoptionChoices, choicesOf, executorInput, lineKey, trackerInput } from "./inputs.ts";
import { type Newest, newestLooks, newestView, standingOf } from "./newest.ts";
import { type Proposals, type ProposedTarget, type ProposedTracker, type ProposeOptions, propose } from "./propose.ts";
import { executorNames, ignoredOf, ignoredRows } from "./queries.ts";
import {
  AdoptionInput,
  type AdoptionProposalsView,
  AdoptionQuery,
  type AdoptionView,
  IgnoredTargetsInput,
  type IgnoredTargetsView,
  type ProposedTargetView,
  type ProposedTrackerView,
} from "./schema.ts";

interface AdoptionServiceOptions extends Pick<Parts, "db" | "clock" | "log" | "audit"> {
  connections: Pick<ConnectionService, "find" | "get" | "targets" | "plainImages">;
  trackers: Pick<TrackerService, "draft" | "knownChannels" | "knownVersions" | "identityOf" | "preview" | "sourceAt">;
  executors: Pick<ExecutorService, "draft">;
  /** Notifies the scheduler that something is due. */
  nudge: () => void;
}

type NamedTarget = Pick<TargetView, "kind" | "id" | "name">;

type LineOf = NonNullable<ProposeOptions["lineOf"]>;

/** What was last proposed for a connection, for pages that fill in and pages that count. */
interface Remembered {
  proposals: Proposals;
  /** The same with lines that were chosen. */
  withLines: (lineOf: LineOf) => Proposals;
  /** What is known of trackers that exist, by their proposals. */
  histories: ReadonlyMap<ProposedTracker, KnownHistory>;
  list: TargetList;
}

const maxRemembered = 50;

const nameOf = ({ kind, id, name }: NamedTarget): NamedTarget => ({ kind, id, name });
const isSame = (a: Pick<TargetView, "kind" | "id">, b: Pick<TargetView, "kind" | "id">) =>
  a.kind === b.kind && a.id === b.id;

/** Everything behind a connection, as trackers and executors to choose from; and their creation. */
export function adoptionService(options: AdoptionServiceOptions) {
  const { db, clock, audit, log, connections, trackers, executors } = options;
  const remembered = new RecentMap<string, Remembered>(maxRemembered);
  const looks = newestLooks({ clock, preview: trackers.preview, outside: (work) => outsideRequest(work) });
  /** Adoptions wait for each other: the next one sees what the one before created. */
  let turn: Promise<unknown> = Promise.resolve();

  /** The images of registries that use plain http: by a source at the registry, else by the runtime; a cluster does not report it. */
  const plainImages = async (id: string, items: readonly TargetView[], signal: AbortSignal) => {
    const registries = await Promise.all(
      [...onePerRegistry(items).values()].map(async (images) => {
        const [first = ""] = images;
        return { first, images, source: await trackers.sourceAt(first) };
      }),
    );
    const unknown = registries.filter(({ source }) => source === null).map(({ first }) => first);
    const configured = await connections.plainImages(id, unknown, signal);
    return new Set(
      registries
        .filter(({ first, source }) => source?.is_plain ?? configured.has(first))
        .flatMap(({ images }) => images),
    );
  };

  const discover = async (id: string, signal: AbortSignal): Promise<Remembered> => {
    const list = await connections.targets(id, signal);
    const [known, names, ignored, plain] = await Promise.all([
      trackers.knownChannels(),
      executorNames(db.read),
      ignoredOf(db.read, id),
      plainImages(id, list.items, signal),
    ]);
    const options: ProposeOptions = {
      known,
      identityOf: trackers.identityOf,
      executors: names,
      plain,
      isIgnored: ({ kind, id: target }) => ignored.some((row) => row.kind === kind && row.target_id === target),
    };
    const proposals = propose(list.items, options);
    const withLines = (lineOf: LineOf) => propose(list.items, { ...options, lineOf });
    const histories = new Map<ProposedTracker, KnownHistory>();
    for (const tracker of trackersIn(proposals.targets)) {
      if (tracker.existing === null) continue;
      histories.set(tracker, await trackers.knownVersions(tracker.existing.source_id, tracker.existing.channel));
    }
    const found = { proposals, withLines, histories, list };
    remembered.set(id, found);
    return found;
  };

  /** The credential that another source uses for the same registry. */
  const credentialFor = async (tracker: ProposedTracker): Promise<string | null> =>
    tracker.registry === "" ? null : ((await trackers.sourceAt(tracker.watches))?.credential_id ?? null);

  const newestOf = (tracker: ProposedTracker, histories: Remembered["histories"]): Newest => {
    const { existing } = tracker;
    const history = histories.get(tracker) ?? { versions: [], depth: 0, keep: 0 };
    return existing === null ? looks.find(questionOf(tracker)) : { state: "known", tag: existing.latest, history };
  };

  const look = async (proposed: readonly ProposedTracker[]): Promise<void> => {
    const credentials = new Map<string, string | null>();
    const questions = [];
    for (const tracker of proposed) {
      const [source] = tracker.sources;
      if (tracker.existing !== null || source === undefined) continue;
      const { registry: host, settings } = tracker;
      if (!credentials.has(host)) credentials.set(host, await credentialFor(tracker));
      const input = { ...source, ...settings, credential_id: credentials.get(host) ?? null };
      questions.push({ key: questionOf(tracker), host, input });
    }
    looks.request(questions);
  };

  const targetView = (
    { target, services, executor_name, is_ready, hash }: ProposedTarget,
    histories: Remembered["histories"],
  ): ProposedTargetView => {
    const { title, title_data, is_group, namespace, warnings } = target;
    return {
      ...{ ...nameOf(target), title, title_data, is_group, namespace, executor_name, is_ready, hash },
      services: services.map(({ name, image, tag, digest, state, lines, names_line, tracker, reason }) => ({
        ...{ name, image, tag, state, lines: [...lines], names_line, tracker: tracker?.key ?? null },
        reason: reason === null ? null : { code: reason.code, ...told(reason.message) },
        ...standingOf(tracker === null ? { state: "pending" } : newestOf(tracker, histories), { tag, digest }),
      })),
      warnings: [...warnings],
    };
  };
  const trackerView = (
    tracker: ProposedTracker,
    count: number,
    histories: Remembered["histories"],
  ): ProposedTrackerView => {
    const { key, name, existing, watches, registry, line, sources, alternative, remarks, is_ready, repository } =
      tracker;
    const channel = sources[0]?.channels[0];
    return {
      ...{ key, name, is_existing: existing !== null, watches, registry, line, is_ready },
      channel: existing?.channel ?? channel?.name ?? channel?.type ?? "",
      include_pattern: existing?.include_pattern ?? channel?.include_pattern ?? "",
      by_version_pattern: alternative?.sources[0]?.channels[0]?.include_pattern ?? null,
      remarks: [...remarks],
      repository: repository === null ? null : { kind: repository.kind, url: repository.url },
      service_count: count,
      newest: newestView(overHttp(newestOf(tracker, histories), watches)),
    };
  };
  const trackerViews = (
    targets: readonly ProposedTarget[],
    histories: Remembered["histories"],
  ): ProposedTrackerView[] => {
    const used = targets.flatMap(({ services }) => services.flatMap(({ tracker }) => tracker ?? []));
    return [...Map.groupBy(used, ({ key }) => key).values()].flatMap((same) => {
      const [first] = same;
      return first === undefined ? [] : [trackerView(first, same.length, histories)];
    });
  };

  const viewOf = async (
    id: string,
    { proposals, histories, list }: Remembered,
    { search, namespace, limit }: AdoptionQuery,
  ): Promise<AdoptionProposalsView> => {
    const { name } = await connections.get(id);
    const words = (search ?? "")
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    const matching = proposals.targets.filter(({ target, services }) => {
      const text = [target.name, ...services.flatMap((each) => [each.name, each.image])].join(" ").toLowerCase();
      const isThere = namespace === undefined || namespace === "" || target.namespace === namespace;
      return isThere && words.every((word) => text.includes(word));
    });
    const targets = matching.slice(0, limit);
    const ignored = await ignoredOf(db.read, id);
    return {
      connection: { id, name },
      targets: targets.map((target) => targetView(target, histories)),
      matching: matching.length,
      trackers: trackerViews(targets, histories),
      refused: proposals.refused.map(({ target, reasons }) => ({ ...nameOf(target), reasons: toldEach(reasons) })),
      ignored: ignored.map((row) => ({
        ...{ kind: row.kind, id: row.target_id, name: row.name },
        ignored_id: row.id,
        ignored_at: row.created_at,
      })),
      namespaces: [...new Set(proposals.targets.flatMap(({ target }) => target.namespace ?? []))].toSorted(),
      counts: {
        new: proposals.targets.length,
        adopted: proposals.adopted.length,
        refused: proposals.refused.length,
        ignored: ignored.length,
      },
      discovered_at: list.discovered_at,
    };
  };

  /** The target's executor and its new trackers, in one transaction. Returns the names of the new trackers. */
  const adoptOne = async (
    actor: Actor,
    connectionId: string,
    proposed: ProposedTarget,
    choices: AdoptionChoices,
  ): Promise<{ executor: { id: string; name: string }; created: string[] }> => {
    const needed = new Map(
      proposed.services.flatMap(({ tracker }) => (tracker === null ? [] : [[tracker.key, tracker]])),
    );
    const drafts: { key: string; draft: ReturnType<TrackerService["draft"]> }[] = [];
    for (const tracker of needed.values()) {
      if (tracker.existing !== null || choices.created.has(tracker.key)) continue;
      const credential = choices.credentials.get(tracker.registry) ?? (await credentialFor(tracker));
      drafts.push({ key: tracker.key, draft: trackers.draft(trackerInput(tracker, choices, credential)) });
    }
    const { target } = proposed;
    const warnings = target.warnings.map(({ code, message_data }) => ({ code, message: message_data }));
    const services = target.services.map(
      ({ name, containers, artifact, image, image_id, digest, platform, state }) => ({
        ...{ name, containers, state },
        artifact: artifact ?? { kind: "image" as const, reference: image, image_id, digest, platform },
      }),
    );
    const input = executorInput(connectionId, proposed, choices);
    const executor = await executors.draft(actor, input, { services, warnings });
    await db.write(async (tx) => {
      for (const { draft } of drafts) await draft.insert(tx, actor);
      await executor.insert(tx, actor);
    });
    for (const { key, draft } of drafts) choices.created.set(key, draft.name);
    return { executor: { id: executor.id, name: executor.name }, created: drafts.map(({ draft }) => draft.name) };
  };

  const adoptAll = async (
    actor: Actor,
    id: string,
    input: AdoptionInput,
    signal: AbortSignal,
  ): Promise<AdoptionView> => {
    const { proposals, withLines, list } = await discover(id, signal);
    const choices = choicesOf(input);
    const chosen = withLines((target, service) => choices.lines.get(lineKey(target, service)) ?? null);
    const view: AdoptionView = { adopted: [], refused: [], trackers: [] };
    for (const wanted of input.targets) {
      const found = list.items.find((each) => isSame(each, wanted));
      const named = found === undefined ? { kind: wanted.kind, id: wanted.id, name: wanted.id } : nameOf(found);
      const refuse = (code: string, message: Message) => view.refused.push({ ...named, code, ...told(message) });
      const before = view.adopted.find((each) => isSame(each, wanted));
      if (found === undefined) refuse("gone", say("adoption.gone"));
      else if (before !== undefined) continue;
      else if (found.executor !== null) view.adopted.push({ ...named, executor: { ...found.executor }, is_new: false });
      else {
        const proposed = proposals.targets.find(({ target }) => isSame(target, wanted));
        if (proposed === undefined || proposed.hash !== wanted.hash) {
          const reason = proposals.refused.find(({ target }) => isSame(target, wanted))?.reasons[0];
          refuse(reason === undefined ? "changed" : reason.code, reason?.message ?? say("adoption.changed"));
          continue;
        }
        try {
          const unknown = wanted.lines.find(
            ({ service, line }) =>
              !proposed.services.some((each) => each.name === service && each.lines.includes(line)),
          );
          if (unknown !== undefined) throw invalidInput({ lines: say("adoption.no_line", unknown) });
          const narrowed = chosen.targets.find(({ target }) => isSame(target, wanted)) ?? proposed;
          const { executor, created } = await adoptOne(actor, id, narrowed, choices);
          view.adopted.push({ ...named, executor, is_new: true });
          view.trackers.push(...created);
        } catch (error) {
          // The others are adopted nevertheless.
          if (!(error instanceof AppError) && !(error instanceof PluginError)) {
            log.error("A target was not adopted", { error, target: named.id });
          }
          refuse(error instanceof AppError ? error.code : "internal", reasonOf(error));
        }
      }
    }
    remembered.delete(id);
    options.nudge();
    return view;
  };

  return {
    /** Everything behind a connection, and how many targets of it can be adopted. Throws `PluginError`. */
    targets: async (id: string, signal: AbortSignal): Promise<{ list: TargetList; new_count: number }> => {
      const { list, proposals } = await discover(id, signal);
      return { list, new_count: proposals.targets.length };
    },

    /** What adopting would create. Asks the engine once; newest versions arrive later. Throws `PluginError`. */
    proposals: async (id: string, query: unknown, signal: AbortSignal): Promise<AdoptionProposalsView> => {
      const parsed = parseInput(AdoptionQuery, query);
      const found = await discover(id, signal);
      await look([...trackersIn(found.proposals.targets)]);
      return await viewOf(id, found, parsed);
    },

    /** The last proposals, with the versions found since; null if they are too old. Sends no request. */
    remembered: async (id: string, query: unknown): Promise<AdoptionProposalsView | null> => {
      const parsed = parseInput(AdoptionQuery, query);
      const found = remembered.get(id);
      return found === undefined ? null : await viewOf(id, found, parsed);
    },

    /** Connections with new targets, as far as they were listed recently. Sends no request. */
    unadopted: async (): Promise<{ id: string; name: string; count: number }[]> => {
      const found = [...remembered].filter(([, { proposals }]) => proposals.targets.length > 0);
      const views = await Promise.all(found.map(([id]) => connections.find(id)));
      return found.flatMap(([id, { proposals }], place) => {
        const view = views[place];
        return view == null ? [] : [{ id, name: view.name, count: proposals.targets.length }];
      });
    },

    /**
     * Creates the executors of the shown proposals and the trackers that they need. Reports what has changed meanwhile or cannot be
     * created; targets that have an executor are unchanged. Throws `PluginError` if the engine does not respond.
     */
    adopt: async (actor: Actor, id: string, input: unknown, signal: AbortSignal): Promise<AdoptionView> => {
      const parsed = parseInput(AdoptionInput, input);
      const mine = turn.then(() => adoptAll(actor, id, parsed, signal));
      turn = mine.catch(() => undefined);
      return await mine;
    },

    ignored: async (id: string): Promise<IgnoredTargetsView> => {
      await connections.get(id);
      const rows = await ignoredOf(db.read, id);
      return {
        items: rows.map((row) => ({
          ...{ id: row.id, kind: row.kind, target: row.target_id, name: row.name },
          ignored_at: row.created_at,
        })),
      };
    },

    /** These targets are no longer offered. Repeating it changes nothing. */
    ignore: async (actor: Actor, id: string, input: unknown): Promise<void> => {
      const { targets } = parseInput(IgnoredTargetsInput, input);
      const connection = await connections.get(id);
      const known = remembered.get(id)?.list.items ?? [];
      const now = clock.now();
      await db.write(async (tx) => {
        const before = await ignoredOf(tx, id);
        const added: { kind: string; name: string }[] = [];
        for (const target of targets) {
          const isThere = before.some((row) => row.kind === target.kind && row.target_id === target.id);
          if (isThere || added.some((each) => each.kind === target.kind && each.name === target.id)) continue;
          added.push({ kind: target.kind, name: target.id });
          const name = known.find((each) => isSame(each, target))?.name ?? target.id;
          const row = { id: newId(now), connection_id: id, kind: target.kind, target_id: target.id, name };
          await ignoredRows.insert(tx, { ...row, created_at: now });
        }
        if (added.length === 0) return;
        await audit(tx, actor, {
          event: "targets_ignored",
          outcome: "ok",
          subject: { kind: "connection", id, name: connection.name },
          detail: { targets: added },
        });
      });
      remembered.delete(id);
    },

    /** The target is offered again. */
    unignore: async (actor: Actor, id: string, ignoredId: string): Promise<void> => {
      const connection = await connections.get(id);
      await db.write(async (tx) => {
        const row = await ignoredRows.get(tx, ignoredId);
        await ignoredRows.remove(tx, row.id);
        await audit(tx, actor, {
          event: "target_unignored",
          outcome: "ok",
          subject: { kind: "connection", id, name: connection.name },
          detail: { target: { kind: row.kind, name: row.target_id } },
        });
      });
      remembered.delete(id);
    },
  };
}

function trackersIn(targets: readonly ProposedTarget[]): ReadonlySet<ProposedTracker> {
  return new Set(targets.flatMap(({ services }) => services.flatMap(({ tracker }) => tracker ?? [])));
}

/** With another scheme, a registry is queried again at once. */
function questionOf({ key, sources }: ProposedTracker): string {
  return JSON.stringify([key, sources[0]?.config]);
}

/** The advice for a registry that was queried over https but uses http: add a tracker that says so. */
function overHttp(newest: Newest, image: string): Newest {
  if (newest.state !== "failed" || !says(newest.message, "net.request_failed")) return newest;
  const { host, cause } = newest.message.params;
  if (!isMessage(cause) || !says(cause, "net.answers_plain_http")) return newest;
  return { state: "failed", message: say("adoption.registry_over_http", { registry: host, image: `http://${image}` }) };
}

/** Image references by their registry; Docker Hub is never plain. */
function onePerRegistry(items: readonly TargetView[]): ReadonlyMap<string, readonly string[]> {
  const references = new Set(items.flatMap(({ services }) => services.map(({ image }) => image)));
  const byRegistry = Map.groupBy(references, registryOf);
  byRegistry.delete(DOCKER_HUB);
  byRegistry.delete("");
  return byRegistry;
}

function registryOf(image: string): string {
  if (image === "" || isImageId(image)) return "";
  try {
    return parseImageReference(image).registry;
  } catch (error) {
    if (error instanceof ImageReferenceError) return "";
    throw error;
  }
}
