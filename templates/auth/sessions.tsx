import type { SignInSessionView } from "../../src/auth/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Confirm, type QuestionProps } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { Badge } from "../components/state.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** "Firefox 128 on Linux", or the known part of it. */
function browserWords(ctx: PageContext, session: SignInSessionView): string {
  const t = texts(ctx).auth;
  if (session.browser === null) return session.system ?? t.unknown_browser;
  return session.system === null ? session.browser : t.browser_on(session.browser, session.system);
}

function Address({ session }: { session: SignInSessionView }) {
  return session.address === null ? <span class="quiet">–</span> : <code class="address">{session.address}</code>;
}

interface SessionsPageProps {
  ctx: PageContext;
  /** All of them; this one is shown first, the others in their order. */
  sessions: readonly SignInSessionView[];
}

export function SessionsPage({ ctx, sessions }: SessionsPageProps) {
  const t = texts(ctx).auth;
  const hasOthers = sessions.some((session) => !session.is_current);
  const ending = hasOthers ? (
    <LinkButton ctx={ctx} href="/account/sessions/end-others" kind="danger" opens_dialog>
      {t.end_others}
    </LinkButton>
  ) : undefined;
  return (
    <Layout ctx={ctx} title={t.sessions}>
      <PageHeader
        ctx={ctx}
        title={t.sessions}
        parent={{ title: texts(ctx).common.user_settings, href: "/account" }}
        lead={t.sessions_lead}
        actions={ending}
      />
      <p class="section-lead">{t.sessions_note}</p>
      <Table
        ctx={ctx}
        caption={t.sessions}
        columns={[
          { key: "browser", title: t.browser, grows: true },
          { key: "address", title: t.session_address },
          { key: "method", title: t.session_method, wide_only: true },
          { key: "since", title: t.session_since, align: "end" },
          { key: "seen", title: t.session_seen, align: "end" },
        ]}
        rows={sessions
          .toSorted((a, b) => Number(b.is_current) - Number(a.is_current))
          .map((session) => ({
            id: `session-${session.id}`,
            cells: {
              browser: (
                <>
                  <span title={session.user_agent ?? undefined}>{browserWords(ctx, session)}</span>
                  {session.is_current ? (
                    <>
                      {" "}
                      <Badge>{t.this_session}</Badge>
                    </>
                  ) : null}
                </>
              ),
              address: <Address session={session} />,
              method: t.methods[session.method],
              since: <Time ctx={ctx} at={session.created_at} />,
              seen: <Time ctx={ctx} at={session.last_seen_at} />,
            },
            actions: (
              <LinkButton ctx={ctx} href={`/account/sessions/${session.id}/end`} kind="bare" small opens_dialog>
                {t.end_session}
              </LinkButton>
            ),
          }))}
      />
    </Layout>
  );
}

export function SessionEnd({ ctx, session, error }: QuestionProps<{ session: SignInSessionView }>) {
  const t = texts(ctx).auth;
  return (
    <Confirm
      ctx={ctx}
      title={session.is_current ? t.end_own_title : t.end_session_title}
      verb={t.end_session}
      action={`/account/sessions/${session.id}/end`}
      cancel_href="/account/sessions"
      error={error}
    >
      <p>{session.is_current ? t.end_own_text : t.end_session_text}</p>
      <Facts
        items={[
          [t.browser, browserWords(ctx, session)],
          [t.session_address, <Address session={session} />],
          [t.session_method, t.methods[session.method]],
          [t.session_since, <Time ctx={ctx} at={session.created_at} />],
          [t.session_seen, <Time ctx={ctx} at={session.last_seen_at} />],
        ]}
      />
    </Confirm>
  );
}

/** `count`: how many would end. */
export function OthersEnd({ ctx, count, error }: QuestionProps<{ count: number }>) {
  const t = texts(ctx).auth;
  return (
    <Confirm
      ctx={ctx}
      title={t.end_others_title}
      verb={t.end_others}
      action="/account/sessions/end-others"
      cancel_href="/account/sessions"
      error={error}
    >
      <p>{t.end_others_text(count)}</p>
    </Confirm>
  );
}
