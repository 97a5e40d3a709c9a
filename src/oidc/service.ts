import type { Actor, Session, SignInView } from "../auth/schema.ts";
import type { SignInOrigin } from "../auth/service.ts";
import type { Page } from "../forms/page.ts";
import type { BindingView, LoginProvider, ProviderView } from "./schema.ts";

/** A way to the provider that was begun. */
export interface StartedAttempt {
  /** Where the browser has to go. */
  authorization_url: string;
  /** For the browser's cookie (`http/oidc-cookie.ts`): without it the callback is refused. */
  browser: string;
  expires_at: number;
}

/** How a callback ended well; everything else throws `oidc_refused`, with one text for all causes. */
export type Completed =
  | { kind: "binding"; provider: string }
  | { kind: "login"; sign_in: SignInView; next: string | null };

export interface OidcService {
  /** At most one. */
  list(query: unknown): Promise<Page<ProviderView>>;
  get(id: string): Promise<ProviderView>;
  /** Throws 409 `conflict` when there is one already, 422. */
  create(actor: Actor, input: unknown): Promise<ProviderView>;
  /** A blank or missing client secret keeps the stored one. Throws 409 `bound`, 422. */
  update(actor: Actor, id: string, input: unknown): Promise<ProviderView>;
  /** Throws 409 `bound`. */
  remove(actor: Actor, id: string): Promise<void>;
  /** What the sign-in page offers: the provider when it is enabled and holds the binding, else null. */
  loginProvider(): Promise<LoginProvider | null>;
  binding(): Promise<BindingView>;
  /**
   * Begins a binding for this very session. `input`: `current_password`; `browser`: what the browser's cookie holds already.
   * Throws 403 for API tokens, 404, 409 (`bound`, `provider_disabled`, `base_url_required`), 422, 429, 502.
   */
  startBinding(
    from: { actor: Actor; session: Session; browser: string | null },
    providerId: string,
    input: unknown,
  ): Promise<StartedAttempt>;
  /** Works while the provider is down. Throws 403 for API tokens, 409 `not_bound`, 422, 429. */
  unbind(actor: Actor, session: Session, input: unknown): Promise<BindingView>;
  /** Throws `oidc_refused`, 429. */
  startLogin(
    from: { actor: Actor; browser: string | null },
    slug: string,
    next: string | null,
  ): Promise<StartedAttempt>;
  /** Judges what the provider sent back: `query` is the raw query of the callback. Throws `oidc_refused`, 429. */
  complete(
    from: { origin: SignInOrigin; session: Session | null; browser: string | null },
    slug: string,
    query: string,
  ): Promise<Completed>;
}
