import type { FieldErrors } from "../../src/errors.ts";
import { Button, Csrf, LinkButton } from "../components/button.tsx";
import { Refusals } from "../components/field.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { BareLayout, Layout } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { PasswordField, PasswordOwner } from "./password-field.tsx";

interface PasswordPageProps {
  ctx: PageContext;
  errors: FieldErrors;
  /** The bootstrap password is still in use: nothing else can be opened. */
  is_forced: boolean;
}

export function PasswordPage(props: PasswordPageProps) {
  const { ctx, is_forced } = props;
  const t = texts(ctx).auth;
  if (is_forced) {
    return (
      <BareLayout ctx={ctx} title={t.forced_title}>
        <h1>{t.forced_title}</h1>
        <p class="lead">{t.forced_lead}</p>
        <PasswordForm {...props} />
        <form class="sign-out" method="post" action={url(ctx, "/logout")}>
          <Csrf ctx={ctx} />
          <button type="submit" class="btn bare small">
            {texts(ctx).common.sign_out}
          </button>
        </form>
      </BareLayout>
    );
  }
  return (
    <Layout ctx={ctx} title={t.change_password}>
      <PageHeader
        ctx={ctx}
        title={t.change_password}
        parent={{ title: texts(ctx).common.user_settings, href: "/account" }}
        lead={t.others_end}
      />
      <PasswordForm {...props} />
    </Layout>
  );
}

function PasswordForm({ ctx, errors, is_forced }: PasswordPageProps) {
  const t = texts(ctx).auth;
  return (
    <form class="sign-in" method="post" action={url(ctx, "/account/password")}>
      <Csrf ctx={ctx} />
      <PasswordOwner ctx={ctx} />
      <Refusals ctx={ctx} errors={errors} shown={["current_password", "new_password"]} />
      <PasswordField
        ctx={ctx}
        name="current_password"
        title={is_forced ? t.one_time_password : t.current_password}
        autocomplete="current-password"
        error={errors.current_password}
        autofocus={errors.new_password === undefined}
      />
      <PasswordField
        ctx={ctx}
        name="new_password"
        title={t.new_password}
        autocomplete="new-password"
        error={errors.new_password}
        help={t.password_rule(12, 256)}
      />
      <div class="sign-in-actions">
        <Button type="submit" kind="main">
          {t.change_password}
        </Button>
        {is_forced ? null : (
          <LinkButton ctx={ctx} href="/account" kind="bare">
            {texts(ctx).common.cancel}
          </LinkButton>
        )}
      </div>
    </form>
  );
}
