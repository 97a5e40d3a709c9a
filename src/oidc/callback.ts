import type { Session, SignInView } from "../auth/schema.ts";
import type { AuthService, SignInOrigin } from "../auth/service.ts";
import type { Reader } from "../db/client.ts";
import { AppError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import type { Opened } from "../secrets/opened.ts";
import type { Sealer } from "../secrets/sealed.ts";
import type { attempts } from "./attempts.ts";
import { callbackParameters, codeOf, requireSingle, stateOf } from "./callback-response.ts";
import { type Identity, judgeIdToken } from "./id-token.ts";
import type { ProviderDocuments } from "./provider-metadata.ts";
import { callbackUrl, clientSecret } from "./providers.ts";
import {
  type AttemptRow,
  administratorOfSignIn,
  findBinding,
  insertBinding,
  type ProviderRow,
  providerRows,
} from "./queries.ts";
import { Refusal, timeReasons } from "./refusal.ts";
import type { RefusalRecorder } from "./refusal-recorder.ts";
import { exchangeCode } from "./token-request.ts";
import type { Upstream } from "./upstream.ts";

/** A successful callback; everything else throws `oidc_refused`, with one text for all causes. */
export type Completed =
  | { kind: "binding"; provider: string }
  | { kind: "login"; sign_in: SignInView; next: string | null };

export interface CallbackFrom {
  origin: SignInOrigin;
  session: Session | null;
  /** What the browser's cookie holds. */
  browser: string | null;
}

interface CallbackOptions extends Pick<Parts, "db" | "clock" | "audit"> {
  refusals: RefusalRecorder;
  sealer: Sealer;
  auth: Pick<AuthService, "signInWithProvider">;
  attempts: ReturnType<typeof attempts>;
  documents: ProviderDocuments;
  upstream: Upstream;
  baseUrl: () => string;
  /** How far our clock is from a host's, in words; null if there is no difference. */
  findClockDifference: (host: string) => Message | null;
}

function readable<T>({ value, problem }: Opened<T>): T {
  if (problem !== null) throw new Refusal("secret_unreadable");
  return value;
}

/** Handles the provider's redirect: the attempt ends in a session, a binding, or a refusal. */
export function callback(options: CallbackOptions) {
  const { db, clock, sealer, audit, auth, documents, upstream, refusals } = options;

  /** The provider's configuration when the attempt began. */
  const unchangedProvider = async (read: Reader, attempt: AttemptRow): Promise<ProviderRow> => {
    const row = await providerRows.find(read, attempt.provider_id);
    if (row === null || row.revision !== attempt.provider_revision) throw new Refusal("provider_changed");
    if (!row.is_enabled) throw new Refusal("provider_disabled");
    return row;
  };

  const requireOwner = (attempt: AttemptRow, from: CallbackFrom): void => {
    if (clock.now() >= attempt.expires_at) throw new Refusal("attempt_expired");
    if (!options.attempts.isOf(attempt, from.browser)) throw new Refusal("other_browser");
    if (attempt.kind === "binding" && from.session?.id !== attempt.session_id) throw new Refusal("other_session");
  };

  const identify = async (row: ProviderRow, attempt: AttemptRow, parameters: URLSearchParams): Promise<Identity> => {
    const metadata = await documents.metadata(row);
    const code = codeOf(parameters, metadata);
    const redirectUri = callbackUrl(options.baseUrl(), row.slug);
    if (redirectUri === null) throw new Refusal("base_url_missing");
    const { nonce, code_verifier } = readable(options.attempts.secretsOf(attempt));
    const client = { client_id: row.client_id, client_secret: readable(clientSecret(sealer, row, false)) };
    const tokens = await exchangeCode(upstream, {
      metadata,
      ...client,
      redirect_uri: redirectUri,
      code,
      code_verifier,
    });
    const expected = {
      issuer: row.issuer_url,
      client_id: row.client_id,
      algorithms: metadata.algorithms,
      access_token: tokens.access_token,
      code,
      nonce,
      now: clock.now(),
    };
    try {
      return await judgeIdToken(tokens.id_token, expected, (alg, kid, verify) =>
        documents.withKey(row, { alg, kid }, verify),
      );
    } catch (error) {
      if (!(error instanceof Refusal) || !timeReasons.includes(error.reason)) throw error;
      const clock = options.findClockDifference(new URL(metadata.token_endpoint).host);
      throw clock === null ? error : new Refusal(error.reason, { cause: error, clock });
    }
  };

  const bind = async (attempt: AttemptRow, from: CallbackFrom, identity: Identity): Promise<Completed> =>
    await db.write(async (tx) => {
      const row = await unchangedProvider(tx, attempt);
      if ((await findBinding(tx)) !== null) throw new Refusal("already_bound");
      const now = clock.now();
      // Signing out or changing the password ends the session, even during the request to the provider.
      const administratorId =
        attempt.session_id === null ? null : await administratorOfSignIn(tx, attempt.session_id, now);
      if (administratorId === null) throw new Refusal("other_session");
      await insertBinding(tx, {
        provider_id: row.id,
        administrator_id: administratorId,
        issuer: identity.issuer,
        subject: identity.subject,
        bound_at: now,
      });
      await audit(tx, from.origin.actor, {
        event: "oidc_bound",
        outcome: "ok",
        subject: { kind: "oidc_provider", id: row.id, name: row.display_name },
        detail: { issuer: identity.issuer, subject: identity.subject },
      });
      return { kind: "binding", provider: row.display_name };
    });

  const signIn = async (attempt: AttemptRow, from: CallbackFrom, identity: Identity): Promise<Completed> => {
    const signedIn = await auth.signInWithProvider(from.origin, async (tx) => {
      const row = await unchangedProvider(tx, attempt);
      const binding = await findBinding(tx);
      if (binding === null || binding.provider_id !== row.id) throw new Refusal("not_bound");
      const isBound = binding.issuer === identity.issuer && binding.subject === identity.subject;
      if (!isBound) throw new Refusal("subject_not_bound");
      return { administrator_id: binding.administrator_id, detail: { provider: row.display_name } };
    });
    return { kind: "login", sign_in: signedIn, next: attempt.next };
  };

  const judge = async (attempt: AttemptRow | null, from: CallbackFrom, slug: string, query: URLSearchParams) => {
    requireSingle(query);
    if (attempt === null) throw new Refusal("state_unknown");
    requireOwner(attempt, from);
    const row = await unchangedProvider(db.read, attempt);
    if (row.slug !== slug) throw new Refusal("other_provider");
    const identity = await identify(row, attempt, query);
    return attempt.kind === "binding" ? await bind(attempt, from, identity) : await signIn(attempt, from, identity);
  };

  /** `query`: as received, without the question mark. Throws `oidc_refused`; the audit has the reason. */
  return async (from: CallbackFrom, slug: string, query: string): Promise<Completed> => {
    const parameters = callbackParameters(query);
    const state = stateOf(parameters);
    // Consumed by the first response, valid or not; a second one finds nothing.
    const attempt = state === null ? null : await options.attempts.take(state);
    try {
      if (parameters === null) throw new Refusal("malformed_response");
      return await judge(attempt, from, slug, parameters);
    } catch (error) {
      const isGone = error instanceof AppError && error.status === 401;
      const refusal = isGone ? new Refusal("not_bound") : error;
      if (!(refusal instanceof Refusal)) throw error;
      const event = attempt?.kind === "binding" ? "oidc_bound" : "login";
      throw await refusals.tellOfStranger(from.origin.actor, event, slug, refusal);
    }
  };
}
