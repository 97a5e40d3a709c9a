import * as v from "valibot";
import type { Actor } from "../auth/schema.ts";
import { conflict, invalidInput } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { cursorKey, listAsk, listOperations, type Page, PageQuery, pageSize, toPage } from "../forms/page.ts";
import { viewOf } from "../forms/view.ts";
import { newId } from "../ids.ts";
import { type Message, say, toldAs } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { type Opened, ofUnknownKind, opened, secretProblem, unreadableOf } from "../secrets/opened.ts";
import type { Sealed, Sealer } from "../secrets/sealed.ts";
import { testBody } from "./message.ts";
import type { Outbox } from "./outbox.ts";
import {
  type AttemptRow,
  attemptsOf,
  countPending,
  type DeliveryRow,
  deliveryLists,
  deliveryRows,
  type EventRow,
  everyNotifier,
  listEventsBefore,
  makePendingDue,
  type NotifierRow,
  notifierLists,
  notifierRows,
} from "./queries.ts";
import {
  DeliveryView,
  deliveryList,
  type EventKind,
  type EventView,
  eventKinds,
  NotifierInput,
  NotifierPatch,
  NotifierView,
  notifierList,
  notifierStateOf,
  type TriggerKind,
  triggerKinds,
} from "./schema.ts";

interface NotificationServiceOptions extends Pick<Parts, "db" | "clock" | "audit"> {
  sealer: Sealer;
  outbox: Outbox;
  /** What is wrong with a webhook's URL as far as it shows without DNS; null when nothing is. */
  judgeDestination: (url: string) => Message | null;
}

/** Stored sealed as one value, because a webhook's URL contains its token. */
const StoredWebhook = v.object({ url: v.pipe(v.string(), v.url()), signing_secret: v.optional(v.string()) });

export function storedWebhook(
  sealer: Sealer,
  { name, kind, sealed_config }: Pick<NotifierRow, "name" | "kind" | "sealed_config">,
): Opened<v.InferOutput<typeof StoredWebhook>> {
  if (kind !== "webhook") return ofUnknownKind(say("notifications.kind_unknown", { kind }));
  return opened(
    () => sealer.openJson(StoredWebhook, sealed_config, secretsOf),
    (cause) => say("notifications.unreadable", { name, cause }),
  );
}

export const EventQuery = v.object({
  ...PageQuery.entries,
  kind: v.optional(v.picklist(eventKinds)),
  tracker_id: v.optional(v.pipe(v.string(), v.maxLength(64))),
  executor_id: v.optional(v.pipe(v.string(), v.maxLength(64))),
});

function isEventKind(kind: string): kind is EventKind {
  return eventKinds.some((known) => known === kind);
}

function isTriggerKind(kind: string): kind is TriggerKind {
  return triggerKinds.some((known) => known === kind);
}

function eventView(row: EventRow): EventView {
  if (!isEventKind(row.kind)) throw new Error(`The stored event kind "${row.kind}" is not known`);
  return { ...row, kind: row.kind, facts: { ...row.facts } };
}

function deliveryView(row: DeliveryRow, notifier: string, attempts: readonly AttemptRow[]): DeliveryView {
  const title = row.body.title;
  return viewOf(DeliveryView, {
    ...row,
    notifier,
    title: typeof title === "string" ? title : row.event,
    ...toldAs("last_error", row.last_error),
    attempts: attempts
      .filter((attempt) => attempt.delivery_id === row.id)
      .map(({ delivery_id: _, error, ...attempt }) => ({ ...attempt, ...toldAs("error", error) })),
  });
}

/** Notifiers with their deliveries, and the events they report. */
export function notificationService(options: NotificationServiceOptions) {
  const { db, clock, sealer, audit, outbox } = options;

  /** Returns the host to show. A refusal is recorded, so that attempts to map internal addresses are visible. */
  const checkDestination = async (actor: Actor, name: string | undefined, url: string): Promise<string> => {
    const problem = options.judgeDestination(url);
    if (problem === null) return new URL(url).host;
    await db.write((tx) =>
      // Without the address, which may contain a token.
      audit(tx, actor, {
        event: "destination_blocked",
        outcome: "refused",
        detail: { reason: problem, ...(name === undefined ? {} : { notifier: name }) },
      }),
    );
    throw invalidInput({ url: problem });
  };
  const deliveryViews = async (rows: readonly DeliveryRow[], notifier: string): Promise<DeliveryView[]> => {
    const attempts = await attemptsOf(
      db.read,
      rows.map((row) => row.id),
    );
    return rows.map((row) => deliveryView(row, notifier, attempts));
  };
  const view = async (row: NotifierRow): Promise<NotifierView> => {
    const newest = await deliveryLists.page(db.read, row.id, listAsk(deliveryList, { limit: 1 }));
    const [last] = await deliveryViews(newest.rows, row.name);
    const stored = storedWebhook(sealer, row);
    const problem = secretProblem(stored);
    return viewOf(NotifierView, {
      ...row,
      trigger_events: row.trigger_events.filter(isTriggerKind),
      has_signing_secret: stored.value?.signing_secret !== undefined,
      state: notifierStateOf({ ...row, problem }),
      problem,
      last_delivery: last ?? null,
      pending_count: await countPending(db.read, row.id),
    });
  };

  const unreadable = async () => unreadableOf(await everyNotifier(db.read), (row) => storedWebhook(sealer, row));

  /** A blank URL or secret keeps the stored one; what cannot be read stays sealed until there is another URL. */
  const changedWebhook = (row: NotifierRow, url: string | null, secret: string | null | undefined): Sealed => {
    const { value: stored, ...unread } = storedWebhook(sealer, row);
    if (unread.problem !== null && unread.code === "kind_unknown") {
      if (url !== null || secret === null || secret) throw invalidInput({ url: unread.problem });
      return row.sealed_config;
    }
    const wanted = url ?? stored?.url;
    if (wanted === undefined) {
      if (secret) throw invalidInput({ url: say("notifications.url_wanted") });
      return row.sealed_config;
    }
    const signing_secret = secret === null ? undefined : secret || stored?.signing_secret;
    return sealer.sealJson({ url: wanted, ...(signing_secret ? { signing_secret } : {}) });
  };

  return {
    /** By name. */
    ...listOperations({
      shape: notifierList,
      page: async (ask) => {
        const needsStates = ask.filters.state !== undefined;
        return await notifierLists.page(db.read, needsStates ? await unreadable() : [], ask);
      },
      counts: async (ask) => await notifierLists.counts(db.read, await unreadable(), ask),
      views: (rows) => Promise.all(rows.map(view)),
    }),

    get: async (id: string): Promise<NotifierView> => await view(await notifierRows.get(db.read, id)),

    create: async (actor: Actor, input: unknown): Promise<NotifierView> => {
      const parsed = parseInput(NotifierInput, input);
      const destination = await checkDestination(actor, parsed.name, parsed.url);
      const now = clock.now();
      const id = newId(now);
      const { url, signing_secret, ...fields } = parsed;
      const config = { url, ...(signing_secret ? { signing_secret } : {}) };
      await db.write(async (tx) => {
        await notifierRows.refuseTaken(tx, parsed.name, null);
        await notifierRows.insert(tx, {
          id,
          ...fields,
          trigger_events: [...new Set(parsed.trigger_events)],
          sealed_config: sealer.sealJson(config),
          destination,
          created_at: now,
          updated_at: now,
        });
        await audit(tx, actor, {
          event: "notifier_created",
          outcome: "ok",
          subject: { kind: "notifier", id, name: parsed.name },
          detail: { destination },
        });
      });
      return await view(await notifierRows.get(db.read, id));
    },

    update: async (actor: Actor, id: string, input: unknown): Promise<NotifierView> => {
      const patch = parseInput(NotifierPatch, input);
      const url = patch.url === undefined || patch.url === "" ? null : patch.url;
      const destination = url === null ? null : await checkDestination(actor, patch.name, url);
      await db.write(async (tx) => {
        const row = await notifierRows.get(tx, id);
        const { url: _url, signing_secret: _secret, ...fields } = patch;
        const name = patch.name ?? row.name;
        await notifierRows.refuseTaken(tx, name, id);
        await notifierRows.update(tx, id, {
          ...fields,
          trigger_events: [...new Set(patch.trigger_events ?? row.trigger_events)],
          sealed_config: changedWebhook(row, url, patch.signing_secret),
          destination: destination ?? row.destination,
          // An edit means that the receiver is back.
          stopped_at: null,
          updated_at: clock.now(),
        });
        await audit(tx, actor, {
          event: "notifier_updated",
          outcome: "ok",
          subject: { kind: "notifier", id, name },
          detail: { fields: Object.keys(patch) },
        });
        // They may have waited for it.
        if (url !== null) await makePendingDue(tx, id, clock.now());
      });
      return await view(await notifierRows.get(db.read, id));
    },

    remove: async (actor: Actor, id: string): Promise<void> => {
      await db.write(async (tx) => {
        const row = await notifierRows.get(tx, id);
        await notifierRows.remove(tx, id);
        await audit(tx, actor, {
          event: "notifier_deleted",
          outcome: "ok",
          subject: { kind: "notifier", id, name: row.name },
        });
      });
    },

    /** Those of one notifier, newest first. */
    deliveriesOf: (id: string) =>
      listOperations({
        shape: deliveryList,
        page: (ask) => deliveryLists.page(db.read, id, ask),
        counts: (ask) => deliveryLists.counts(db.read, id, ask),
        views: async (rows) => await deliveryViews(rows, (await notifierRows.get(db.read, id)).name),
      }),

    /** Sends one test message now, without retries, and returns the result. */
    sendTest: async (actor: Actor, id: string, signal: AbortSignal): Promise<DeliveryView> => {
      const now = clock.now();
      const deliveryId = newId(now);
      const name = await db.write(async (tx) => {
        const row = await notifierRows.get(tx, id);
        if (!row.is_enabled) {
          throw conflict(say("notifications.test_of_disabled", { name: row.name }));
        }
        // A test is how to find out whether a receiver that returned 410 is back.
        if (row.stopped_at !== null) await notifierRows.update(tx, id, { stopped_at: null });
        await deliveryRows.insert(tx, {
          id: deliveryId,
          notifier_id: id,
          event_id: null,
          event: "test",
          body: testBody(row.language),
          state: "pending",
          next_attempt_at: now,
          created_at: now,
        });
        await audit(tx, actor, {
          event: "notifier_tested",
          outcome: "ok",
          subject: { kind: "notifier", id, name: row.name },
        });
        return row.name;
      });
      await outbox.deliver(deliveryId, signal);
      const sent = await deliveryRows.get(db.read, deliveryId);
      return deliveryView(sent, name, await attemptsOf(db.read, [deliveryId]));
    },

    /** Newest first. `query`: `cursor`, `limit`, `kind`, `tracker_id`, `executor_id`. */
    listEvents: async (query: unknown): Promise<Page<EventView>> => {
      const parsed = parseInput(EventQuery, query);
      const rows = await listEventsBefore(db.read, cursorKey(parsed), pageSize(parsed), {
        kind: parsed.kind ?? null,
        tracker_id: parsed.tracker_id ?? null,
        executor_id: parsed.executor_id ?? null,
      });
      return toPage(rows, parsed, (row) => row.id, eventView);
    },
  };
}

/** Secrets for the redactor: the URL's path and query contain the token, its host does not. */
function secretsOf(config: v.InferOutput<typeof StoredWebhook>): readonly string[] {
  const url = new URL(config.url);
  const path = `${url.pathname}${url.search}`;
  return [config.url, ...(path.length > 1 ? [path] : []), ...(config.signing_secret ? [config.signing_secret] : [])];
}
