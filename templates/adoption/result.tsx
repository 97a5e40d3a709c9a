import type { AdoptionView } from "../../src/adoption/schema.ts";
import type { ConnectionView } from "../../src/connections/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { PageHeader, Section } from "../components/page-header.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { State } from "../components/state.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { adoptPath } from "./props.ts";

interface AdoptedPageProps {
  ctx: PageContext;
  connection: ConnectionView;
  result: AdoptionView;
}

/** What an adoption created, what it did not, and why. */
export function AdoptedPage({ ctx, connection, result }: AdoptedPageProps) {
  const t = texts(ctx).adoption;
  const { adopted, refused, trackers } = result;
  const title = adopted.length === 0 ? t.none_title : t.done_title(adopted.length);
  const created = adopted.filter(({ is_new }) => is_new).length;
  return (
    <Layout ctx={ctx} title={title} section="connections">
      <PageHeader
        ctx={ctx}
        title={title}
        parent={{ title: connection.name, href: `/connections/${connection.id}` }}
        lead={created === 0 ? undefined : t.done_lead(created, trackers.length)}
        actions={
          <>
            <LinkButton ctx={ctx} href={adoptPath(connection.id)}>
              {t.back}
            </LinkButton>
            <LinkButton ctx={ctx} href="/executors" kind="main">
              {t.to_executors}
            </LinkButton>
          </>
        }
      />
      {refused.length === 0 ? null : (
        <Section title={t.not_adopted(refused.length)}>
          <Rows>
            {refused.map(({ name, message_data }) => (
              <Row
                ctx={ctx}
                lead={
                  <State ctx={ctx} tone="attention">
                    {t.left_alone}
                  </State>
                }
                title={name}
                meta={[translateMessage(ctx.language, message_data)]}
              />
            ))}
          </Rows>
        </Section>
      )}
      {adopted.length === 0 ? null : (
        <Section title={t.done_title(adopted.length)}>
          <Rows>
            {adopted.map(({ name, executor, is_new }) => (
              <Row
                ctx={ctx}
                lead={
                  <State ctx={ctx} tone={is_new ? "current" : "quiet"}>
                    {is_new ? t.added : t.already}
                  </State>
                }
                title={executor.name}
                href={`/executors/${executor.id}`}
                meta={executor.name === name ? [] : [name]}
              />
            ))}
          </Rows>
        </Section>
      )}
    </Layout>
  );
}
