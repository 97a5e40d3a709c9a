import type { ConnectionView } from "../../src/connections/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { ListPage, type ListProps } from "../components/list-page.tsx";
import { Pagination } from "../components/navigation.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { texts } from "../texts/texts.ts";
import { addressOf } from "./address.ts";
import { ConnectionState } from "./state.tsx";

export function ConnectionsPage({ ctx, items: connections, next_cursor, is_first_page }: ListProps<ConnectionView>) {
  const t = texts(ctx).connections;
  const create = (
    <LinkButton ctx={ctx} href="/connections/new" kind="main" icon="plus">
      {t.new_connection}
    </LinkButton>
  );
  return (
    <ListPage
      ctx={ctx}
      section="connections"
      icon="plug"
      texts={t}
      is_empty={connections.length === 0 && is_first_page}
      action={create}
      lead={t.lead(connections.length)}
      actions={create}
    >
      <Table
        ctx={ctx}
        caption={t.title}
        columns={[
          { key: "name", title: texts(ctx).common.name, grows: true },
          { key: "kind", title: t.kind },
          { key: "address", title: t.address, grows: true },
          { key: "state", title: t.state, card_label: "none" },
          { key: "tested", title: t.tested, align: "end" },
          { key: "users", title: t.used_by, align: "end" },
        ]}
        rows={connections.map((connection) => ({
          id: `connection-${connection.id}`,
          href: `/connections/${connection.id}`,
          muted: !connection.is_enabled,
          cells: {
            name: connection.name,
            kind: t.kinds[connection.kind],
            address: <span class="mono">{addressOf(connection)}</span>,
            state: <ConnectionState ctx={ctx} connection={connection} />,
            tested: <Time ctx={ctx} at={connection.last_check?.checked_at ?? null} />,
            users:
              connection.executors.length === 0 ? (
                <span class="quiet">{t.unused}</span>
              ) : (
                <span title={connection.executors.map((executor) => executor.name).join(", ")}>
                  {t.count_executors(connection.executors.length)}
                </span>
              ),
          },
        }))}
      />
      <Pagination ctx={ctx} newer={is_first_page ? null : ""} older={next_cursor} />
    </ListPage>
  );
}
