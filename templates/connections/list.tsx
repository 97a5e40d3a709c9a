import type { ConnectionView } from "../../src/connections/schema.ts";
import { adoptPath } from "../adoption/props.ts";
import { LinkButton } from "../components/button.tsx";
import { AddButton, isWhole, type ListBodyProps, ListPage, type ListProps } from "../components/list-page.tsx";
import { texts } from "../texts/texts.ts";
import { addressOf } from "./address.ts";
import { ConnectionState, LastResponse } from "./state.tsx";

export function ConnectionsPage(props: ListProps<ConnectionView>) {
  const { ctx, items: connections } = props;
  const t = texts(ctx).connections;
  return (
    <ListPage
      {...connectionsBody(props)}
      section="connections"
      icon="plug"
      texts={t}
      action={<AddButton ctx={ctx} section="connections" />}
      lead={!isWhole(props) ? undefined : t.lead(connections.length)}
    />
  );
}

/** Filters and rows: replaced by filtering, and followed by an open page. */
export function connectionsBody(props: ListProps<ConnectionView>): ListBodyProps {
  const { ctx, items: connections } = props;
  const t = texts(ctx).connections;
  return {
    ...props,
    id: "connections-list",
    caption: t.title,
    filters: [
      {
        name: "state",
        title: texts(ctx).common.state_title,
        options: Object.entries(t.filter_states),
      },
      { name: "kind", title: texts(ctx).common.kind, options: Object.entries(t.kinds) },
    ],
    table: {
      columns: [
        { key: "name", title: texts(ctx).common.name, grows: true, sort: "name" },
        { key: "kind", title: texts(ctx).common.kind, sort: "kind", wide_only: true },
        { key: "address", title: t.address, clips: true },
        { key: "state", title: texts(ctx).common.state_title, card_label: "none" },
        { key: "seen", title: t.seen, align: "end", sort: "-seen" },
        { key: "users", title: texts(ctx).common.used_by, align: "end" },
      ],
      rows: connections.map((connection) => ({
        id: `connection-${connection.id}`,
        href: `/connections/${connection.id}`,
        muted: !connection.is_enabled,
        shows: connection,
        actions: connection.is_enabled ? (
          <LinkButton
            ctx={ctx}
            href={adoptPath(connection.id)}
            kind="bare"
            small
            icon="plus"
            label={t.adopt_on(connection.name)}
          >
            {texts(ctx).adoption.open}
          </LinkButton>
        ) : undefined,
        cells: {
          name: connection.name,
          kind: t.kinds[connection.kind] ?? connection.kind,
          address: addressOf(connection),
          state: <ConnectionState ctx={ctx} connection={connection} />,
          seen: <LastResponse ctx={ctx} connection={connection} />,
          users:
            connection.executors.length === 0 ? (
              <span class="quiet">{texts(ctx).common.unused}</span>
            ) : (
              <span title={connection.executors.map((executor) => executor.name).join(", ")}>
                {t.count_executors(connection.executors.length)}
              </span>
            ),
        },
      })),
    },
  };
}
