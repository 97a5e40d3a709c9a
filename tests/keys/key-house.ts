import { readFileSync } from "node:fs";
import { join } from "node:path";
import { desc } from "drizzle-orm";
import * as v from "valibot";
import type { Actor, Session } from "../../src/auth/schema.ts";
import {
  administrators,
  connections,
  credentials,
  executors,
  idempotency_keys,
  notifiers,
  oidc_attempts,
  oidc_providers,
  run_logs,
  runs,
  sessions,
  snapshots,
} from "../../src/db/tables.ts";
import { keyFilePath, writeKeyFile } from "../../src/secrets/keys.ts";
import { goodPassword, type TestApp, testApp } from "../support/test-app.ts";

export const actor: Actor = { name: "admin", address: "198.51.100.7", request_id: "request-1" };
export const password = { current_password: goodPassword };

const StoredKeys = v.object({
  session: v.string(),
  encryption: v.strictObject({ primary: v.string(), previous: v.optional(v.array(v.string())) }),
});

/** The plain text of each secret that `storeSecrets` stores, by table. */
export const secretTexts = {
  credentials: "canary-credential-0001",
  notifiers: "https://hooks.example/canary-notifier-0002",
  oidc_providers: "canary-client-secret-0003",
  oidc_attempts: "canary-code-verifier-0004",
  snapshots: "canary-snapshot-0005",
  idempotency_keys: "canary-answer-0006",
  run_logs: "canary-log-0007",
} as const;

/** One of each secret that the product stores, straight into its column. */
export async function storeSecrets({ db, sealer }: Pick<TestApp, "db" | "sealer">): Promise<void> {
  const at = { created_at: 1, updated_at: 1 };
  await db.write(async (tx) => {
    await tx.insert(credentials).values({
      ...{ id: "credential-1", name: "registry", kind: "oci" },
      sealed_secret: sealer.sealJson({ username: "ci", password: secretTexts.credentials }),
      ...at,
    });
    await tx.insert(notifiers).values({
      ...{ id: "notifier-1", name: "hook", kind: "webhook", language: "en", trigger_events: [] },
      sealed_config: sealer.sealJson({ url: secretTexts.notifiers }),
      destination: "hooks.example:443",
      ...at,
    });
    await tx.insert(oidc_providers).values({
      ...{
        id: "provider-1",
        slug: "idp",
        display_name: "IdP",
        client_id: "tidemark",
        issuer_url: "https://idp.example",
      },
      sealed_client_secret: sealer.seal(secretTexts.oidc_providers),
      ...{ is_discovery_enabled: true, scopes: "openid", description: "", is_enabled: true },
      ...at,
    });
    await tx.insert(oidc_attempts).values({
      ...{ state_hash: "state-1", kind: "login", provider_id: "provider-1", provider_revision: 1, browser_hash: "b" },
      sealed_secrets: sealer.sealJson({ nonce: "n", code_verifier: secretTexts.oidc_attempts }),
      ...{ created_at: 1, expires_at: 4_000_000_000_000 },
    });
    await tx.insert(idempotency_keys).values({
      key_hash: "key-1",
      sealed_outcome: sealer.sealJson({ answer: { token: secretTexts.idempotency_keys } }),
      created_at: 4_000_000_000_000,
    });
    await tx.insert(connections).values({ id: "connection-1", name: "lab", kind: "docker", config: {}, ...at });
    await tx.insert(executors).values({
      ...{ id: "executor-1", name: "web", connection_id: "connection-1", target_kind: "container", target_id: "web" },
      ...{ trigger: "manual", image_selection: "keep_name", reference_mode: "tag", health_check: {} },
      restore_on_failure: true,
      ...at,
    });
    await tx.insert(runs).values({
      ...{ id: "run-0", executor_id: "executor-1", kind: "update", state: "failed", trigger: "manual" },
      ...{ due_at: 1, created_at: 1, ended_at: 2 },
    });
    await tx.insert(run_logs).values({
      ...{ id: "log-1", run_id: "run-0", key: "web", pod: "", container: "web", is_previous: false, at: 1 },
      sealed_lines: sealer.sealJson([secretTexts.run_logs]),
    });
    await tx.insert(snapshots).values({
      ...{ id: "snapshot-1", executor_id: "executor-1", reference: "web:1", image_id: "sha256:1", size_bytes: 1 },
      sealed_content: sealer.sealJson({ env: [`TOKEN=${secretTexts.snapshots}`], filler: "x".repeat(100_000) }),
      created_at: 1,
    });
  });
}

/** The whole application with its keys in a key file of its own, and one of each secret stored. */
export async function keyHouse(env: Readonly<Record<string, string>> = {}) {
  const app = await testApp({ env });
  const dir = app.services.places.data_dir;
  const path = keyFilePath(dir);
  writeKeyFile(path, {
    format: 1,
    session: Buffer.from(app.keys.session).toString("base64url"),
    encryption: { primary: app.keys.encryption.primary },
  });
  await storeSecrets(app);
  const person = await app.signedIn();
  const rows = await app.db.read.select().from(administrators).limit(1);
  const [newest] = await app.db.read.select().from(sessions).orderBy(desc(sessions.id)).limit(1);
  const session: Session = {
    ...{ id: newest?.id ?? "", kind: "session", scope: "full", via: "cookie", username: "admin" },
    administrator_id: rows[0]?.id ?? "",
    ...{ is_password_change_required: false, expires_at: 4_000_000_000_000 },
  };
  return {
    ...app,
    dir,
    path,
    person,
    session,
    /** What the key file holds now. */
    stored: () => v.parse(StoredKeys, JSON.parse(readFileSync(path, "utf8"))),
    file: (name: string) => join(dir, name),
    audited: async (event: string) => {
      const { items } = await app.services.audit_entries.list({ limit: 100, event });
      return items;
    },
  };
}
