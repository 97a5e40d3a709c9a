import { LinkButton } from "../components/button.tsx";
import { BareLayout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** Where signing in ends for a page that waits in another tab. */
export function SignedInPage({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx);
  return (
    <BareLayout ctx={ctx} title={t.auth.signed_in_title}>
      <h1>{t.auth.signed_in_title}</h1>
      <p class="lead">{t.auth.signed_in_text}</p>
      <div class="sign-in">
        <LinkButton ctx={ctx} href="/">
          {t.common.errors.to_overview}
        </LinkButton>
      </div>
    </BareLayout>
  );
}
