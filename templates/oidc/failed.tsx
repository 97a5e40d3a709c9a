import { LinkButton } from "../components/button.tsx";
import { BareLayout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/**
 * The only page for a failure on the way to the provider and back: it reveals no reason and repeats nothing from outside. A signed-in user
 * (a binding failed) learns where to find the reason.
 */
export function OidcFailedPage({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).oidc;
  const isSignedIn = ctx.user !== null;
  return (
    <BareLayout ctx={ctx} title={t.failed_title}>
      <h1>{t.failed_title}</h1>
      <p class="lead">{t.failed_text}</p>
      <p class="lead">{isSignedIn ? t.failed_audit : t.failed_password}</p>
      <div class="sign-in sign-in-actions">
        <LinkButton ctx={ctx} href={isSignedIn ? "/account#binding" : "/login"} kind="main">
          {isSignedIn ? t.to_account : t.to_sign_in}
        </LinkButton>
        {isSignedIn ? (
          <LinkButton ctx={ctx} href="/settings/audit?outcome=failed" kind="bare">
            {t.to_audit}
          </LinkButton>
        ) : null}
      </div>
    </BareLayout>
  );
}
