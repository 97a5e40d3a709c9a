import type { Said } from "../../src/messages/message.ts";
import type { ProviderView } from "../../src/oidc/schema.ts";
import { Confirm } from "../components/dialog.tsx";
import { Link } from "../components/link.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { providerPath } from "./paths.ts";

interface ProviderDeleteProps {
  ctx: PageContext;
  provider: ProviderView;
  error?: Said | undefined;
}

/** The question alone, as htmx asks for it. */
export function ProviderDelete({ ctx, provider, error }: ProviderDeleteProps) {
  const t = texts(ctx).oidc;
  return (
    <Confirm
      ctx={ctx}
      title={t.delete_title(provider.display_name)}
      verb={t.delete}
      kind="danger"
      action={`${providerPath}/delete`}
      cancel_href={providerPath}
      error={error === undefined ? undefined : translateMessage(ctx.language, error)}
    >
      {provider.is_bound ? (
        <p>
          {t.delete_bound}{" "}
          <Link ctx={ctx} href="/account#binding">
            {t.open_binding}
          </Link>
        </p>
      ) : (
        <p>{t.delete_text}</p>
      )}
    </Confirm>
  );
}

/** The same question as a page of its own, without script. */
export function ProviderDeletePage(props: ProviderDeleteProps) {
  return (
    <Layout ctx={props.ctx} title={texts(props.ctx).oidc.delete} section="settings">
      <ProviderDelete {...props} />
    </Layout>
  );
}
