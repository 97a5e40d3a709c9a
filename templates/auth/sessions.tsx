import type { SignInSessionView } from "../../src/auth/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Confirm, type QuestionProps } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import { ListBody, type ListProps } from "../components/list-page.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { Badge } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import { joinSentences } from "../format.ts";
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

interface SessionsPageProps extends ListProps<SignInSessionView> {
  has_others: boolean;
}

export function SessionsPage({ has_others, ...list }: SessionsPageProps) {
  const { ctx } = list;
  const t = texts(ctx).auth;
  const ending = has_others ? (
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
        lead={joinSentences(ctx.language, [t.sessions_lead, t.sessions_note])}
        actions={ending}
      />
      <ListBody
        {...list}
        id="session-list"
        caption={t.sessions}
        filters={[{ name: "method", title: t.session_method, options: Object.entries(t.methods) }]}
        table={{
          columns: [
            { key: "browser", title: t.browser, grows: true },
            { key: "address", title: t.session_address, sort: "address" },
            { key: "method", title: t.session_method, wide_only: true },
            { key: "since", title: t.session_since, align: "end", sort: "-since" },
            { key: "seen", title: t.session_seen, align: "end", leads: true, sort: "-seen" },
          ],
          rows: list.items.map((session) => ({
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
              <LinkButton
                ctx={ctx}
                href={`/account/sessions/${session.id}/end`}
                kind="bare"
                small
                icon="log-out"
                opens_dialog
              >
                {t.end_session}
              </LinkButton>
            ),
          })),
        }}
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
