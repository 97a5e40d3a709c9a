import { Button, Csrf, LinkButton } from "../../templates/components/button.tsx";
import { Empty } from "../../templates/components/empty.tsx";
import { Tabs } from "../../templates/components/navigation.tsx";
import { Banner, Partial, Toast } from "../../templates/components/notice.tsx";
import { PageHeader, Panel, Section } from "../../templates/components/page-header.tsx";
import { Badge, State } from "../../templates/components/state.tsx";
import { BareLayout, Layout } from "../../templates/layout.tsx";
import { type PageContext, url } from "../../templates/page.ts";
import { texts } from "../../templates/texts/texts.ts";

export function EmptySample({ ctx }: { ctx: PageContext }) {
  const notice = { tone: "current" as const, text: "Tracker traefik was created", href: "/trackers/traefik" };
  return (
    <Layout
      ctx={{ ...ctx, notices: [notice, { tone: "failed", text: "The test message was refused with 404" }] }}
      title="Notifiers"
      section="notifiers"
    >
      <PageHeader ctx={ctx} title={texts(ctx).notifiers.title} state={<Badge icon="webhook">webhook</Badge>} />
      <Banner tone="attention" title="The base URL differs from the address in use">
        Links in messages lead to https://old.example.org. <a href={url(ctx, "/settings")}>Change it in the settings</a>
        .
      </Banner>
      <Tabs
        ctx={ctx}
        label="Views"
        items={[
          { title: "All", href: "/notifiers", current: true },
          { title: "Deliveries", href: "/notifiers?tab=deliveries", current: false },
        ]}
      />
      <Empty
        ctx={ctx}
        icon="send"
        title="No notifications set up yet"
        action={
          <LinkButton ctx={ctx} href="/notifiers/new" kind="main" icon="plus">
            {texts(ctx).notifiers.add}
          </LinkButton>
        }
        example={
          <>
            “traefik 3.6.24 is out (stable). 3.6.23 runs on edge.” as JSON to{" "}
            <code>https://ntfy.example.org/updates</code>
          </>
        }
      >
        A notifier sends a message to a webhook when a release appears or a run ends: Slack, Discord, ntfy, Gotify, or
        your own.
      </Empty>
      <Section title="All states">
        <Panel>
          {(["current", "update", "running", "attention", "failed", "unknown", "quiet"] as const).map((tone) => (
            <p>
              <State ctx={ctx} tone={tone} /> <State ctx={ctx} tone={tone} solid />
            </p>
          ))}
        </Panel>
      </Section>
    </Layout>
  );
}

export function SignInSample({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).auth;
  return (
    <BareLayout ctx={{ ...ctx, user: null }} title={t.sign_in}>
      <form class="form" method="post" action={url(ctx, "/login")}>
        <Csrf ctx={ctx} />
        <div>
          <h1>{t.sign_in}</h1>
        </div>
        <div class="field">
          <label for="username">{t.user_name}</label>
          <input class="input" id="username" name="username" autocomplete="username" />
        </div>
        <div class="field">
          <label for="password">{t.password}</label>
          <input class="input" id="password" name="password" type="password" autocomplete="current-password" />
        </div>
        <Button type="submit" kind="main">
          {t.sign_in}
        </Button>
      </form>
    </BareLayout>
  );
}

/** What the sample stream and the sample check answer. */
export function PartialSample({ ctx, text }: { ctx: PageContext; text: string }) {
  return (
    <Partial target="#toasts" swap="beforeend">
      <Toast ctx={ctx} notice={{ tone: "current", text }} />
    </Partial>
  );
}
