import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Writer } from "../db/client.ts";
import { randomToken } from "../ids.ts";
import type { Parts } from "../parts.ts";
import { opened } from "../secrets/opened.ts";
import type { Sealer } from "../secrets/sealed.ts";
import { attemptClients } from "./attempt-clients.ts";
import type { ProviderMetadata } from "./provider-metadata.ts";
import {
  type AttemptRow,
  administratorOfSignIn,
  deleteExpiredAttempts,
  deleteSurplusAttempts,
  insertAttempt,
  type ProviderRow,
  providerRows,
  takeAttempt,
} from "./queries.ts";
import { Refusal } from "./refusal.ts";

/** How long the person may take at the provider. */
const ATTEMPT_LIFETIME_MS = 10 * 60_000;
// Anyone can begin a sign-in: beyond this number, about 2 MB, some are dropped (`attempt-clients.ts`). Bindings require the password and
// have a limit of their own.
const MAXIMUM_LOGINS = 2000;
const MAXIMUM_BINDINGS = 20;
const SECRET_BITS = 256;

const Secrets = v.object({ nonce: v.string(), code_verifier: v.string() });

/** A redirect to the provider that has begun. */
export interface StartedAttempt {
  /** Where the browser is sent. */
  authorization_url: string;
  /** For the browser's cookie (`http/oidc-cookie.ts`): the callback is refused without it. */
  browser: string;
  expires_at: number;
}

interface NewAttempt {
  provider: ProviderRow;
  metadata: ProviderMetadata;
  redirect_uri: string;
  /** What the browser's cookie already holds, so that attempts in other tabs continue. */
  browser: string | null;
  purpose: { kind: "login"; next: string | null; client: string } | { kind: "binding"; session_id: string };
  /** More for the same transaction. */
  also?: (tx: Writer) => Promise<void>;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

interface AttemptOptions extends Pick<Parts, "db" | "clock" | "counted"> {
  sealer: Sealer;
  /** Clients whose attempts are dropped last. */
  familiarClients: () => Promise<ReadonlySet<string>>;
  /** For tests. */
  maximum_logins?: number;
}

/** Attempts in the database, keyed by hashes of what the browser carries: reading the database is not enough to answer for the browser. */
export function attempts({ db, clock, counted, sealer, familiarClients, ...options }: AttemptOptions) {
  const maximumLogins = options.maximum_logins ?? MAXIMUM_LOGINS;
  const clients = attemptClients(clock.elapsed);

  /** State read before the password check and the request to the provider; it may change meanwhile. */
  const requireUnchanged = async (tx: Writer, { provider, purpose }: NewAttempt, now: number): Promise<void> => {
    const current = await providerRows.find(tx, provider.id);
    if (current === null) throw new Refusal("no_provider");
    if (current.revision !== provider.revision) throw new Refusal("provider_changed");
    if (purpose.kind === "login") return;
    if ((await administratorOfSignIn(tx, purpose.session_id, now)) === null) throw new Refusal("other_session");
  };

  const removeExpired = (tx: Writer) => deleteExpiredAttempts(tx, counted.before(0));

  return {
    removeExpired,

    /** Throws `Refusal` when the provider or session has changed. */
    begin: async (attempt: NewAttempt): Promise<StartedAttempt> => {
      const { provider, metadata, redirect_uri, purpose } = attempt;
      const now = clock.now();
      const state = randomToken(SECRET_BITS);
      const nonce = randomToken(SECRET_BITS);
      const code_verifier = randomToken(SECRET_BITS);
      const browser =
        attempt.browser !== null && /^[\w-]{43}$/.test(attempt.browser) ? attempt.browser : randomToken(SECRET_BITS);
      const sealedSecrets = sealer.sealJson({ nonce, code_verifier });
      const familiar = purpose.kind === "login" ? await familiarClients() : new Set<string>();
      await db.write(async (tx) => {
        await requireUnchanged(tx, attempt, now);
        await insertAttempt(tx, {
          state_hash: hash(state),
          kind: purpose.kind,
          provider_id: provider.id,
          provider_revision: provider.revision,
          browser_hash: hash(browser),
          session_id: purpose.kind === "binding" ? purpose.session_id : null,
          sealed_secrets: sealedSecrets,
          next: purpose.kind === "login" ? purpose.next : null,
          created_at: now,
          expires_at: now + ATTEMPT_LIFETIME_MS,
        });
        await removeExpired(tx);
        if (purpose.kind === "login") {
          clients.add(hash(state), purpose.client, clock.elapsed() + ATTEMPT_LIFETIME_MS);
          // Rows beyond the known ones predate a restart and are older than all of these.
          const takeNext = () => (clients.count() > maximumLogins ? clients.takeLeastWorthy(familiar) : null);
          await deleteSurplusAttempts(tx, "login", maximumLogins, takeNext);
        } else await deleteSurplusAttempts(tx, "binding", MAXIMUM_BINDINGS, () => null);
        await attempt.also?.(tx);
      });
      const url = new URL(metadata.authorization_endpoint);
      const parameters = {
        response_type: "code",
        client_id: provider.client_id,
        redirect_uri,
        scope: provider.scopes,
        state,
        nonce,
        code_challenge: createHash("sha256").update(code_verifier).digest("base64url"),
        code_challenge_method: "S256",
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return { authorization_url: url.href, browser, expires_at: now + ATTEMPT_LIFETIME_MS };
    },

    /** Returns the attempt of a state, once. */
    take: async (state: string): Promise<AttemptRow | null> => {
      const taken = await db.write((tx) => takeAttempt(tx, hash(state)));
      clients.remove(hash(state));
      return taken;
    },

    isOf: (attempt: AttemptRow, browser: string | null): boolean =>
      browser !== null && attempt.browser_hash === hash(browser),

    secretsOf: (attempt: AttemptRow) => opened(() => sealer.openJson(Secrets, attempt.sealed_secrets)),
  };
}
