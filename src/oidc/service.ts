import type { Actor, Session } from "../auth/schema.ts";
import type { AuthService } from "../auth/service.ts";
import type { Writer } from "../db/client.ts";
import { AppError, conflict, notFound, unauthorized } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { type Message, say } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import type { Sealer } from "../secrets/sealed.ts";
import { attempts, type StartedAttempt } from "./attempts.ts";
import { type CallbackFrom, type Completed, callback } from "./callback.ts";
import { providerDocuments } from "./provider-metadata.ts";
import { callbackUrl, clientSecret, providerService } from "./providers.ts";
import { deleteBinding, findBinding, findProvider, providerRows } from "./queries.ts";
import { Refusal } from "./refusal.ts";
import { refusalRecorder } from "./refusal-recorder.ts";
import { requestLimit } from "./request-limit.ts";
import { type BindingView, type LoginProvider, PasswordConfirmation } from "./schema.ts";
import { createUpstream, type OpenContext } from "./upstream.ts";

interface OidcServiceOptions extends Parts {
  sealer: Sealer;
  auth: Pick<AuthService, "confirmPassword" | "familiarClients" | "signInWithProvider">;
  openContext: OpenContext;
  findClockDifference: (host: string) => Message | null;
  /** As set, without a final slash; blank when not set. */
  baseUrl: () => string;
  /** For tests only: also allows http to this machine's loopback. */
  isLoopbackHttpAllowed: boolean;
  isRefusedAddress: (url: string) => boolean;
  /** The client that an address counts as. */
  clientOf: (address: string | null) => string;
}

/** Provider faults that the administrator sees while binding. */
const unusable = [
  "provider_unreachable",
  "metadata_invalid",
  "metadata_issuer_wrong",
  "endpoint_not_https",
] as const satisfies Refusal["reason"][];

/** Why a binding could not begin, for the administrator who requested it. */
function bindingRefused(reason: Refusal["reason"], provider: { id: string; display_name: string }): AppError {
  if (reason === "no_provider") return notFound("identity_provider", provider.id);
  if (reason === "other_session") return unauthorized();
  if (reason === "provider_changed") {
    return conflict(say("oidc.provider_changed", { name: provider.display_name }));
  }
  const told = unusable.find((known) => known === reason) ?? "provider_unusable";
  return new AppError("provider_unusable", 424, say(`oidc.${told}`));
}

/** OIDC as another way to sign in for the only administrator: provider, binding, and the redirects to and from it. */
export function oidcService(options: OidcServiceOptions) {
  const { db, clock, log, sealer, audit, auth, baseUrl, isLoopbackHttpAllowed } = options;
  const upstream = createUpstream({ clock, openContext: options.openContext, isLoopbackHttpAllowed });
  const documents = providerDocuments({ clock, upstream, isLoopbackHttpAllowed });
  const begun = attempts({ db, clock, counted: options.counted, sealer, familiarClients: auth.familiarClients });
  const refusals = refusalRecorder({ db, clock, log, audit });
  const complete = callback({
    db,
    clock,
    sealer,
    audit,
    auth,
    attempts: begun,
    documents,
    upstream,
    refusals,
    baseUrl,
    findClockDifference: options.findClockDifference,
  });
  const limit = requestLimit(clock);

  const binding = async (): Promise<BindingView> => {
    const found = await findBinding(db.read);
    const row = found === null ? null : await providerRows.find(db.read, found.provider_id);
    if (found === null || row === null) {
      return { is_bound: false, provider: null, issuer: null, subject: null, bound_at: null };
    }
    const { id, slug, display_name, is_enabled } = row;
    const { issuer, subject, bound_at } = found;
    return { is_bound: true, provider: { id, slug, display_name, is_enabled }, issuer, subject, bound_at };
  };

  /** The provider to sign in with. Throws `Refusal`. */
  const requireLoginProvider = async (slug: string) => {
    const row = await findProvider(db.read);
    if (row === null || row.slug !== slug) throw new Refusal("no_provider");
    if (!row.is_enabled) throw new Refusal("provider_disabled");
    if ((await findBinding(db.read))?.provider_id !== row.id) throw new Refusal("not_bound");
    const redirectUri = callbackUrl(baseUrl(), slug);
    if (redirectUri === null) throw new Refusal("base_url_missing");
    if (clientSecret(sealer, row, true).value === null) throw new Refusal("secret_unreadable");
    return { provider: row, redirect_uri: redirectUri };
  };

  const requireBindable = async (providerId: string) => {
    const row = await providerRows.find(db.read, providerId);
    if (row === null) throw notFound("identity_provider", providerId);
    if ((await findBinding(db.read)) !== null) {
      throw new AppError("bound", 409, say("oidc.already_bound"));
    }
    if (!row.is_enabled) {
      throw new AppError("provider_disabled", 409, say("oidc.provider_disabled", { name: row.display_name }));
    }
    const redirectUri = callbackUrl(baseUrl(), row.slug);
    if (redirectUri === null) {
      throw new AppError("base_url_required", 409, say("oidc.base_url_missing"));
    }
    const { problem } = clientSecret(sealer, row, false);
    if (problem !== null) throw new AppError("provider_unusable", 424, problem);
    return { provider: row, redirect_uri: redirectUri };
  };

  return {
    ...providerService(options),
    binding,

    /** Removes the sign-ins and bindings that were not completed in time. */
    removeExpired: begun.removeExpired,

    /** For the sign-in page: the provider when it is enabled and holds the binding, else null. */
    loginProvider: async (): Promise<LoginProvider | null> => {
      const row = await findProvider(db.read);
      if (row === null || !row.is_enabled || baseUrl() === "") return null;
      if ((await findBinding(db.read))?.provider_id !== row.id) return null;
      const { slug, display_name, icon_url } = row;
      return { slug, display_name, icon_url };
    },

    /**
     * Begins a binding for this session. `input`: `current_password`. Throws 403 for API tokens, 404, 409 (`bound`, `provider_disabled`,
     * `base_url_required`, `conflict` when the provider changed meanwhile), 401 when the session ended meanwhile, 422, 429, and 424 when
     * the provider's discovery fails.
     */
    startBinding: async (
      from: { actor: Actor; session: Session; browser: string | null },
      providerId: string,
      input: unknown,
    ): Promise<StartedAttempt> => {
      const { current_password } = parseInput(PasswordConfirmation, input);
      const { provider, redirect_uri } = await requireBindable(providerId);
      await auth.confirmPassword(from.actor, from.session, current_password, "oidc_binding_started");
      try {
        const metadata = await documents.metadata(provider);
        const purpose = { kind: "binding", session_id: from.session.id } as const;
        const subject = { kind: "oidc_provider", id: provider.id, name: provider.display_name };
        const also = (tx: Writer) => audit(tx, from.actor, { event: "oidc_binding_started", outcome: "ok", subject });
        return await begun.begin({ provider, metadata, redirect_uri, browser: from.browser, purpose, also });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        await refusals.tell(from.actor, "oidc_binding_started", provider.slug, error);
        throw bindingRefused(error.reason, provider);
      }
    },

    /**
     * Removes the binding, whether or not the provider responds; open sessions continue. `input`: `current_password`. Throws 403 for API
     * tokens, 409 `not_bound`, 422, 429.
     */
    unbind: async (actor: Actor, session: Session, input: unknown): Promise<BindingView> => {
      const { current_password } = parseInput(PasswordConfirmation, input);
      await auth.confirmPassword(actor, session, current_password, "oidc_unbound");
      await db.write(async (tx) => {
        const found = await findBinding(tx);
        if (found === null) throw new AppError("not_bound", 409, say("oidc.not_bound"));
        const row = await providerRows.find(tx, found.provider_id);
        await deleteBinding(tx);
        const { issuer, subject } = found;
        await audit(tx, actor, {
          event: "oidc_unbound",
          outcome: "ok",
          subject: { kind: "oidc_provider", id: found.provider_id, name: row?.display_name ?? "" },
          detail: { issuer, subject },
        });
      });
      return await binding();
    },

    /** Begins a sign-in. `next`: where it leads, validated by the caller. Throws `oidc_refused`, 429. */
    startLogin: async (
      from: { actor: Actor; browser: string | null },
      slug: string,
      next: string | null,
    ): Promise<StartedAttempt> => {
      const client = options.clientOf(from.actor.address);
      limit(client);
      try {
        const { provider, redirect_uri } = await requireLoginProvider(slug);
        const metadata = await documents.metadata(provider);
        const purpose = { kind: "login", next, client } as const;
        return await begun.begin({ provider, metadata, redirect_uri, browser: from.browser, purpose });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        throw await refusals.tellOfStranger(from.actor, "login", slug, error);
      }
    },

    /** Handles the provider's redirect; `query` is the raw query of the callback. Throws `oidc_refused`, 429. */
    complete: async (from: CallbackFrom, slug: string, query: string): Promise<Completed> => {
      limit(options.clientOf(from.origin.actor.address));
      return await complete(from, slug, query);
    },
  };
}
