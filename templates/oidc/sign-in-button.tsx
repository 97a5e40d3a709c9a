import type { LoginProvider } from "../../src/oidc/schema.ts";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** The initials of the first two words; the first letter of a single word. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s_-]+/).filter((word) => word !== "");
  return words
    .slice(0, 2)
    .map((word) => [...word][0] ?? "")
    .join("")
    .toLocaleUpperCase("en");
}

/**
 * The provider's initials, covered by its icon when there is one. The administrator sets the address; only https becomes an image, like in
 * the content security policy.
 */
export function ProviderMark({ display_name, icon_url }: Pick<LoginProvider, "display_name" | "icon_url">) {
  return (
    <span class="provider-mark" aria-hidden="true">
      <span>{initialsOf(display_name)}</span>
      {icon_url?.startsWith("https://") === true ? (
        <span>
          <img src={icon_url} alt="" referrerpolicy="no-referrer" />
        </span>
      ) : null}
    </span>
  );
}

interface ProviderButtonProps {
  ctx: PageContext;
  provider: LoginProvider;
  /** Where to go afterwards, below the base path; "" for the Overview. */
  next: string;
}

/**
 * The other way to sign in. A link, because the policy's `form-action` also applies to redirects of a form's response, and the provider is
 * another origin.
 */
export function ProviderButton({ ctx, provider, next }: ProviderButtonProps) {
  const t = texts(ctx).oidc;
  return (
    <>
      <p class="or">
        <span>{t.or}</span>
      </p>
      <a class="btn provider" href={url(ctx, `/auth/oidc/${encodeURIComponent(provider.slug)}/start`, { next })}>
        <ProviderMark {...provider} />
        <span>{t.sign_in_with(provider.display_name)}</span>
      </a>
    </>
  );
}
