import { type DeliveryView, deliveryStates, eventKinds, type NotifierView } from "../../src/notifications/schema.ts";
import { withCode } from "../components/code.tsx";
import { Icon } from "../components/icon.tsx";
import { isEmpty, ListBody, type ListProps } from "../components/list-page.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { State } from "../components/state.tsx";
import { Duration, Time } from "../components/time.tsx";
import { type PageContext, partsOf, type Tone, url } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

const listId = "deliveries";

/** A delivery's progress: a pending one that failed before says that it will be retried. */
export function DeliveryState({ ctx, delivery }: { ctx: PageContext; delivery: DeliveryView }) {
  const t = texts(ctx).notifiers.states;
  const isRetry = delivery.state === "pending" && delivery.attempt_count > 0;
  const tones: Readonly<Record<DeliveryView["state"], Tone>> = {
    pending: isRetry ? "attention" : "quiet",
    delivered: "current",
    failed: "failed",
  };
  return (
    <State ctx={ctx} tone={tones[delivery.state]}>
      {isRetry ? t.retrying : t[delivery.state]}
    </State>
  );
}

export function eventWord(ctx: PageContext, event: string): string {
  const words: Readonly<Record<string, string>> = texts(ctx).events;
  return words[event] ?? event;
}

interface DeliveriesProps extends ListProps<DeliveryView> {
  notifier: Pick<NotifierView, "id" | "state">;
}

/** Deliveries and their results, newest first. Reloads every five seconds while one is pending. */
export function Deliveries({ notifier, ...list }: DeliveriesProps) {
  const { ctx, items: deliveries } = list;
  const t = texts(ctx).notifiers;
  if (isEmpty(list)) {
    return (
      <p id={listId} class="panel nothing">
        {t.deliveries_empty[notifier.state]}
      </p>
    );
  }
  const { query } = partsOf(ctx.path);
  const address = url(ctx, `/notifiers/${notifier.id}/deliveries`, Object.fromEntries(query));
  const isMoving = list.is_first_page && deliveries.some((delivery) => delivery.state === "pending");
  return (
    <ListBody
      {...list}
      id={listId}
      is_section
      caption={t.deliveries}
      live={isMoving ? { "hx-get": address, "hx-trigger": "every 5s", "hx-swap": "outerMorph" } : undefined}
      filters={[
        {
          name: "state",
          title: texts(ctx).common.state_title,
          options: deliveryStates.map((value) => [value, t.states[value]]),
        },
        {
          name: "event",
          title: texts(ctx).events.title,
          options: [...eventKinds, "test" as const].map((value) => [value, texts(ctx).events[value]]),
          is_long: true,
        },
      ]}
      orders={[
        { title: texts(ctx).common.state_title, sort: "state" },
        { title: t.message, sort: "title" },
        { title: texts(ctx).settings.event, sort: "event" },
        { title: texts(ctx).settings.at, sort: "-time" },
      ]}
      rows={
        <Rows>
          {deliveries.map((delivery) => (
            <Delivery ctx={ctx} delivery={delivery} />
          ))}
        </Rows>
      }
    />
  );
}

function Delivery({ ctx, delivery }: { ctx: PageContext; delivery: DeliveryView }) {
  const t = texts(ctx).notifiers;
  const error = delivery.last_error_data === null ? null : translateMessage(ctx.language, delivery.last_error_data);
  const next =
    delivery.state === "pending" && delivery.next_attempt_at !== null && delivery.attempt_count > 0 ? (
      <>
        {t.next_attempt} <Time ctx={ctx} at={delivery.next_attempt_at} />
      </>
    ) : null;
  return (
    <Row
      ctx={ctx}
      id={`delivery-${delivery.id}`}
      lead={<DeliveryState ctx={ctx} delivery={delivery} />}
      title={delivery.title}
      meta={[
        eventWord(ctx, delivery.event),
        <Time ctx={ctx} at={delivery.created_at} />,
        delivery.last_status === null ? null : t.http_status(delivery.last_status),
        next,
      ]}
    >
      {error === null || delivery.state === "delivered" ? null : <p class="delivery-error">{withCode(error)}</p>}
      {delivery.attempts.length === 0 ? null : <Attempts ctx={ctx} delivery={delivery} />}
    </Row>
  );
}

function Attempts({ ctx, delivery }: { ctx: PageContext; delivery: DeliveryView }) {
  const t = texts(ctx).notifiers;
  return (
    <details class="attempts">
      <summary>
        <Icon name="chevron-right" />
        {t.attempts(delivery.attempts.length)}
      </summary>
      <ol>
        {delivery.attempts.map((attempt) => (
          <li>
            <span class="quiet">{t.attempt(attempt.attempt)}</span> <Time ctx={ctx} at={attempt.at} form="short" />{" "}
            <span>{attempt.status === null ? t.no_answer : t.http_status(attempt.status)}</span>{" "}
            <Duration ctx={ctx} ms={attempt.duration_ms} />
            {attempt.error_data === null ? null : <p>{withCode(translateMessage(ctx.language, attempt.error_data))}</p>}
          </li>
        ))}
      </ol>
    </details>
  );
}
