import type { DeliveryView, NotifierView } from "../../src/notifications/schema.ts";
import { ActionForm } from "../components/button.tsx";
import { DeleteQuestion, type QuestionProps } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import type { ListProps } from "../components/list-page.tsx";
import { Banner } from "../components/notice.tsx";
import { Columns, EditAndDelete, PageHeader, Section } from "../components/page-header.tsx";
import { SecretProblem } from "../components/secret-problem.tsx";
import { Time } from "../components/time.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Deliveries } from "./deliveries.tsx";
import { eventsText } from "./list.tsx";
import { NotifierState } from "./state.tsx";

interface NotifierPageProps {
  ctx: PageContext;
  notifier: NotifierView;
  deliveries: ListProps<DeliveryView>;
}

export function NotifierPage({ ctx, notifier, deliveries }: NotifierPageProps) {
  const t = texts(ctx).notifiers;
  const path = `/notifiers/${notifier.id}`;
  const kinds: Readonly<Record<string, string>> = t.kinds;
  return (
    <Layout ctx={ctx} title={notifier.name} section="notifiers">
      <PageHeader
        ctx={ctx}
        title={notifier.name}
        parent={{ title: t.title, href: "/notifiers" }}
        state={<NotifierState ctx={ctx} notifier={notifier} solid />}
        lead={notifier.description === "" ? undefined : notifier.description}
        actions={
          <>
            {notifier.is_enabled && notifier.problem === null ? (
              <ActionForm ctx={ctx} action={`${path}/deliveries`} kind="main" icon="send" target="#deliveries">
                {t.send_test}
              </ActionForm>
            ) : null}
            <EditAndDelete ctx={ctx} path={path} />
          </>
        }
      />
      {notifier.is_enabled ? null : (
        <Banner tone="quiet" title={t.disabled_title}>
          {t.disabled_text}
        </Banner>
      )}
      {notifier.stopped_at === null ? null : (
        <Banner tone="failed" title={t.stopped_title}>
          {t.stopped_text}
        </Banner>
      )}
      <SecretProblem ctx={ctx} problem={notifier.problem} title={t.unreadable_title}>
        {t.unreadable_text}
      </SecretProblem>
      <Columns
        aside={
          <Section title={texts(ctx).common.details}>
            <Facts
              items={[
                [texts(ctx).common.kind, kinds[notifier.kind] ?? notifier.kind],
                [t.destination, <code title={t.destination_help}>{notifier.destination}</code>],
                [texts(ctx).events.title, eventsText(ctx, notifier)],
                [t.language, t.languages[notifier.language]],
                notifier.problem === null ? [t.signature, notifier.has_signing_secret ? t.signed : t.unsigned] : null,
                [texts(ctx).common.created_at, <Time ctx={ctx} at={notifier.created_at} form="short" />],
              ]}
            />
          </Section>
        }
      >
        <Section title={t.deliveries}>
          <Deliveries {...deliveries} notifier={notifier} />
        </Section>
      </Columns>
    </Layout>
  );
}

export function NotifierDelete({ ctx, notifier, error }: QuestionProps<{ notifier: NotifierView }>) {
  const t = texts(ctx).notifiers;
  const path = `/notifiers/${notifier.id}`;
  return (
    <DeleteQuestion ctx={ctx} section="notifiers" texts={t} name={notifier.name} path={path} error={error}>
      <p>{t.delete_text}</p>
      {notifier.pending_count === 0 ? null : <p>{t.delete_waiting(notifier.pending_count)}</p>}
    </DeleteQuestion>
  );
}
