import { PluginError, SaidError, saidBy } from "../errors.ts";
import { newId } from "../ids.ts";
import { type Message, say, withTexts } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import type { ApprovalSubject } from "../secrets/approval-tokens.ts";
import { bodyToSend, eventBody } from "./message.ts";
import {
  addSourceToEvent,
  claimDelivery,
  countPending,
  type DeliveryRow,
  deleteEventsBefore,
  deliveryDueTimes,
  deliveryRows,
  dueDeliveries,
  insertAttempt,
  insertEvent,
  type NotifierRow,
  notifierRows,
  sendingNotifiers,
  settleDelivery,
} from "./queries.ts";
import { type RecordEvent, triggerOf } from "./schema.ts";

/** Waits before the second to the fifth attempt; a longer `Retry-After` wins, up to a day. */
const retryDelaysMs = [30_000, 120_000, 600_000, 1_800_000];
const maxRetryAfterMs = 86_400_000;
const heldMs = 1_800_000;
/** Longer than any attempt, so that a lease only expires when its owner died. */
const leaseMs = 60_000;
/** A receiver that is down for long must not fill the disk. */
const maxPendingPerNotifier = 1000;
const eventRetentionMs = 400 * 86_400_000;
/** Pruning runs in an event's transaction and must not slow it down; the next event continues. */
const deletedAtOnce = 500;

/** The notifier's URL cannot be read: its messages wait until it is entered again. */
export class NotifierUnreadable extends SaidError {}

/** Sends one message to the notifier's destination; throws `PluginError` and `NotifierUnreadable`. Injected, because features never reach the network. */
export type SendMessage = (
  notifier: NotifierRow,
  message: { id: string; event: string; sent_at: number; body: Readonly<Record<string, unknown>> },
  signal: AbortSignal,
) => Promise<{ status: number; retry_after_ms: number | null }>;

interface OutboxOptions extends Pick<Parts, "db" | "clock" | "counted" | "log"> {
  instance_id: string;
  /** For links; blank when unknown. */
  baseUrl: () => string;
  send: SendMessage;
  /** Adds to a refusal by a host that its clock differs from ours. */
  explainByClock: (reason: Message, host: string) => Message;
  /** Text from a receiver or the network, without secrets and shortened. */
  excerpt: (text: string) => string;
  /** Called after the commit when there is something to send. */
  onDue: () => void;
  onBlocked: (notifier: NotifierRow) => Promise<void>;
  /** The one-time link for approving a run; made when a message is sent and never stored. Null without our own address. */
  approvalLink: (subject: ApprovalSubject) => string | null;
}

interface Verdict {
  state: "delivered" | "failed" | "pending";
  status: number | null;
  error: Message | null;
  next_attempt_at: number | null;
  /** 410: the receiver wants no more messages. */
  stops: boolean;
  /** Nothing was sent, so that it counts as no attempt. */
  is_held?: boolean;
}

/** How a receiver that compares the timestamp with its own clock refuses one that is too far off. */
const refusing: ReadonlySet<number> = new Set([400, 401, 403]);

interface Answered {
  status: number;
  retry_after_ms: number | null;
  /** Adds what may be why the receiver refused. */
  explain: (reason: Message) => Message;
}

function judgeAnswer(
  { status, retry_after_ms: retryAfterMs, explain }: Answered,
  attempt: number,
  isTest: boolean,
  now: number,
): Verdict {
  if (status >= 200 && status < 300) {
    return { state: "delivered", status, error: null, next_attempt_at: null, stops: false };
  }
  if (status >= 300 && status < 400) {
    const error = say("notifications.destination_redirects");
    return { state: "failed", status, error, next_attempt_at: null, stops: false };
  }
  const answered = say("notifications.receiver_answered", { status });
  const error =
    status === 410 ? say("notifications.receiver_gone") : refusing.has(status) ? explain(answered) : answered;
  const delay = retryDelaysMs[attempt - 1];
  if (status === 410 || delay === undefined || isTest) {
    return { state: "failed", status, error, next_attempt_at: null, stops: status === 410 };
  }
  const wait = Math.max(delay, Math.min(retryAfterMs ?? 0, maxRetryAfterMs));
  return { state: "pending", status, error, next_attempt_at: now + wait, stops: false };
}

function judgeFailure(thrown: unknown, error: Message, attempt: number, isTest: boolean, now: number): Verdict {
  const delay = retryDelaysMs[attempt - 1];
  const isFinal = (thrown instanceof PluginError && thrown.code === "rejected") || delay === undefined || isTest;
  return {
    state: isFinal ? "failed" : "pending",
    status: null,
    error,
    next_attempt_at: isFinal ? null : now + delay,
    stops: false,
  };
}

/** Writes events with their deliveries and sends due ones: at least once, and never blocking a check or a run. */
export function createOutbox(options: OutboxOptions) {
  const { db, clock, log, instance_id: owner } = options;

  const recordEvent: RecordEvent = async (tx, event) => {
    const now = clock.now();
    const eventId = newId(now);
    const [before, latest] = [options.counted.before(eventRetentionMs), options.counted.latest()];
    await deleteEventsBefore(tx, { before, latest, at_once: deletedAtOnce });
    await insertEvent(tx, {
      id: eventId,
      kind: event.kind,
      tracker_id: "tracker_id" in event ? event.tracker_id : null,
      executor_id: "executor_id" in event ? event.executor_id : null,
      run_id: "run_id" in event ? event.run_id : null,
      facts: { ...event.facts },
      created_at: now,
    });
    for (const notifier of await sendingNotifiers(tx)) {
      if (!notifier.trigger_events.includes(triggerOf(event.kind))) continue;
      const isFull = (await countPending(tx, notifier.id)) >= maxPendingPerNotifier;
      await deliveryRows.insert(tx, {
        id: newId(now),
        notifier_id: notifier.id,
        event_id: eventId,
        event: event.kind,
        body: eventBody(event, notifier.language, options.baseUrl()),
        state: isFull ? "failed" : "pending",
        next_attempt_at: isFull ? null : now,
        last_error: isFull ? say("notifications.queue_full", { limit: maxPendingPerNotifier }) : null,
        created_at: now,
        ended_at: isFull ? now : null,
      });
    }
    options.onDue();
  };

  const attempt = async (delivery: DeliveryRow, notifier: NotifierRow, signal: AbortSignal): Promise<Verdict> => {
    const number = delivery.attempt_count + 1;
    const isTest = delivery.event === "test";
    try {
      const body = bodyToSend(delivery, notifier.language, options.approvalLink);
      const message = { id: delivery.id, event: delivery.event, sent_at: clock.now(), body };
      const answer = await options.send(notifier, message, signal);
      const explain = (reason: Message) => options.explainByClock(reason, notifier.destination);
      return judgeAnswer({ ...answer, explain }, number, isTest, clock.now());
    } catch (error) {
      if (error instanceof NotifierUnreadable && !isTest) {
        const next_attempt_at = clock.now() + heldMs;
        return { state: "pending", status: null, error: error.said, next_attempt_at, stops: false, is_held: true };
      }
      // Shutting down is no response of the receiver: the lease expires and the next process sends again.
      if (signal.aborted) throw error;
      if (error instanceof PluginError && error.code === "rejected") await options.onBlocked(notifier);
      return judgeFailure(error, withTexts(saidBy(error), options.excerpt), number, isTest, clock.now());
    }
  };

  /** Claims and sends one delivery; does nothing when another process has it. */
  const deliver = async (id: string, signal: AbortSignal): Promise<void> => {
    const startedAt = clock.now();
    const started = clock.elapsed();
    const claimed = await db.write(async (tx) => {
      const delivery = await claimDelivery(tx, id, { owner, now: startedAt, until: startedAt + leaseMs });
      const notifier = delivery === null ? null : await notifierRows.find(tx, delivery.notifier_id);
      if (delivery === null || notifier === null) return null;
      if (notifier.is_enabled && notifier.stopped_at === null) return { delivery, notifier };
      const error = notifier.is_enabled
        ? say("notifications.receiver_was_gone")
        : say("notifications.notifier_disabled");
      await settleDelivery(tx, id, owner, {
        state: "failed",
        last_error: error,
        next_attempt_at: null,
        ended_at: startedAt,
      });
      return null;
    });
    if (claimed === null) return;
    const verdict = await attempt(claimed.delivery, claimed.notifier, signal);
    const endedAt = clock.now();
    const isHeld = verdict.is_held === true;
    const number = claimed.delivery.attempt_count + (isHeld ? 0 : 1);
    await db.write(async (tx) => {
      const isMine = await settleDelivery(tx, id, owner, {
        state: verdict.state,
        attempt_count: number,
        last_status: verdict.status,
        last_error: verdict.error,
        next_attempt_at: verdict.next_attempt_at,
        ended_at: verdict.state === "pending" ? null : endedAt,
      });
      if (!isMine || isHeld) return;
      await insertAttempt(tx, {
        delivery_id: id,
        attempt: number,
        status: verdict.status,
        error: verdict.error,
        duration_ms: clock.elapsed() - started,
        at: startedAt,
      });
      if (verdict.stops) await notifierRows.update(tx, claimed.notifier.id, { stopped_at: endedAt });
    });
    if (verdict.state !== "delivered") {
      log.warning("Delivery not accepted", { delivery: id, notifier: claimed.notifier.name, error: verdict.error });
    }
  };

  return {
    recordEvent,
    addSourceToEvent,
    deliver,
    due_times: deliveryDueTimes({ pause_ms: maxRetryAfterMs, lease_ms: leaseMs }),
    /** Due deliveries, with the notifier they wait for. */
    due: (now: number, limit: number, busyNotifiers: readonly string[] = []) =>
      dueDeliveries(db.read, { now, limit, busy: JSON.stringify(busyNotifiers) }),
  };
}

export type Outbox = ReturnType<typeof createOutbox>;
