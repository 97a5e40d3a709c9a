import type { ProviderView } from "../../src/oidc/schema.ts";
import { DeleteQuestion, type QuestionProps } from "../components/confirm.tsx";
import { Link } from "../components/link.tsx";
import { texts } from "../texts/texts.ts";
import { providerPath } from "./paths.ts";

export function ProviderDelete({ ctx, provider, error }: QuestionProps<{ provider: ProviderView }>) {
  const t = texts(ctx).oidc;
  return (
    <DeleteQuestion
      ctx={ctx}
      section="settings"
      texts={t}
      name={provider.display_name}
      path={providerPath}
      error={error}
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
    </DeleteQuestion>
  );
}
