import { type NotifierView, triggerKinds } from "../../src/notifications/schema.ts";
import { AddButton, ListPage, type ListProps } from "../components/list-page.tsx";
import { Time } from "../components/time.tsx";
import { formatLabels, formatNumber } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { DeliveryState, eventWord } from "./deliveries.tsx";
import { NotifierState } from "./state.tsx";

export function NotifiersPage(props: ListProps<NotifierView>) {
  const { ctx, items: notifiers } = props;
  const t = texts(ctx).notifiers;
  return (
    <ListPage
      {...props}
      section="notifiers"
      icon="send"
      texts={t}
      action={<AddButton ctx={ctx} section="notifiers" />}
      filters={[
        {
          name: "state",
          title: texts(ctx).common.state_title,
          options: Object.entries(t.filter_states),
        },
      ]}
      table={{
        columns: [
          { key: "name", title: texts(ctx).common.name, grows: true, sort: "name" },
          { key: "destination", title: t.destination, sort: "destination" },
          { key: "events", title: texts(ctx).events.title, clips: true, wide_only: true },
          { key: "last", title: t.last_delivery, card_label: "none" },
          { key: "waiting", title: t.waiting, align: "end" },
        ],
        rows: notifiers.map((notifier) => ({
          id: `notifier-${notifier.id}`,
          href: `/notifiers/${notifier.id}`,
          muted: !notifier.is_enabled,
          cells: {
            name: notifier.name,
            destination: <code>{notifier.destination}</code>,
            events: eventsText(ctx, notifier),
            last: <LastDelivery ctx={ctx} notifier={notifier} />,
            waiting: formatNumber(ctx.language, notifier.pending_count),
          },
        })),
      }}
    />
  );
}

/** "All events", or their names. */
export function eventsText(ctx: PageContext, notifier: NotifierView): string {
  if (triggerKinds.every((kind) => notifier.trigger_events.includes(kind))) return texts(ctx).notifiers.all_events;
  return formatLabels(
    ctx.language,
    notifier.trigger_events.map((kind) => eventWord(ctx, kind)),
  );
}

function LastDelivery({ ctx, notifier }: { ctx: PageContext; notifier: NotifierView }) {
  const t = texts(ctx).notifiers;
  if (notifier.state !== "sending") return <NotifierState ctx={ctx} notifier={notifier} />;
  if (notifier.last_delivery === null) return <span class="quiet">{t.never_sent}</span>;
  return (
    <span>
      <DeliveryState ctx={ctx} delivery={notifier.last_delivery} />{" "}
      <span class="quiet">
        <Time ctx={ctx} at={notifier.last_delivery.created_at} />
      </span>
    </span>
  );
}
