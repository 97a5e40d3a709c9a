import type { ConnectionView } from "../../src/connections/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Pagination } from "../components/navigation.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { addressOf } from "./address.ts";
import { ConnectionState } from "./state.tsx";

interface ConnectionsPageProps {
  ctx: PageContext;
  connections: readonly ConnectionView[];
  next_cursor: string | null;
  is_first_page: boolean;
}

export function ConnectionsPage({ ctx, connections, next_cursor, is_first_page }: ConnectionsPageProps) {
  const t = texts(ctx).connections;
  const create = (
    <LinkButton ctx={ctx} href="/connections/new" kind="main" icon="plus">
      {t.new_connection}
    </LinkButton>
  );
  if (connections.length === 0 && is_first_page) {
    return (
      <Layout ctx={ctx} title={t.title} section="connections">
        <PageHeader ctx={ctx} title={t.title} />
        <Empty ctx={ctx} icon="plug" title={t.empty_title} action={create} example={t.empty_example}>
          {t.empty_text}
        </Empty>
      </Layout>
    );
  }
  return (
    <Layout ctx={ctx} title={t.title} section="connections">
      <PageHeader ctx={ctx} title={t.title} lead={t.lead(connections.length)} actions={create} />
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
    </Layout>
  );
}
