import { apiTokenService } from "./auth/api-tokens.ts";
import { auditRecorder } from "./auth/audit.ts";
import { auditEntryService } from "./auth/audit-entries.ts";
import { systemActor } from "./auth/schema.ts";
import { authService } from "./auth/service.ts";
import { createThrottle } from "./auth/throttle.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import { credentialService } from "./credentials/service.ts";
import type { Database } from "./db/client.ts";
import type { Log } from "./log.ts";
import { createGuard } from "./net/guarded-fetch.ts";
import type { OutboundAllow } from "./net/outbound-allow.ts";
import { createOutbox, type SendMessage } from "./notifications/outbox.ts";
import { notificationService, StoredWebhook, secretsOf } from "./notifications/service.ts";
import { notifiers } from "./notifiers/index.ts";
import type { Keys } from "./secrets/keys.ts";
import type { Passwords } from "./secrets/password.ts";
import type { Redactor } from "./secrets/redaction.ts";
import type { Sealer } from "./secrets/sealed.ts";
import { createSessionTokens } from "./secrets/tokens.ts";
import { settingsService } from "./settings/service.ts";

export interface ServiceOptions {
  config: Config;
  db: Database;
  clock: Clock;
  log: Log;
  sealer: Sealer;
  keys: Keys;
  passwords: Passwords;
  redactor: Redactor;
  outboundAllow: OutboundAllow;
  /** Owner of this process's leases; new at each start. */
  instance_id: string;
}

export type Services = Awaited<ReturnType<typeof createServices>>;

/** One total deadline for connecting, headers and body of a webhook. */
const webhookTimeoutMs = 15_000;

/** Builds every service; the only file that knows them all. */
export async function createServices(options: ServiceOptions) {
  const { config, db, clock, log, sealer } = options;
  const audit = auditRecorder({ clock });
  const settings = await settingsService({
    db,
    clock,
    audit,
    environment: { base_url: config.base_url, log_level: config.log_level },
    onChange: (current) => log.setLevel(current.log_level),
  });
  const tokens = createSessionTokens(options.keys.session, clock);
  const throttle = createThrottle(clock);
  const auth = authService({ db, clock, log, audit, passwords: options.passwords, tokens, throttle });
  const api_tokens = apiTokenService({ db, clock, audit, tokens });
  const audit_entries = auditEntryService({ db, audit });
  const credentials = credentialService({ db, clock, sealer, audit });
  const guard = createGuard({ clock, allow: options.outboundAllow });

  const send: SendMessage = async (notifier, message, signal) => {
    const stored = sealer.openJson(StoredWebhook, notifier.sealed_config, secretsOf);
    const context = guard.open({ purpose: "webhook", timeout_ms: webhookTimeoutMs, signal });
    return await notifiers.webhook.open(stored, context).send(message);
  };
  const outbox = createOutbox({
    db,
    clock,
    log,
    instance_id: options.instance_id,
    baseUrl: () => settings.current().base_url,
    send,
    onDue: () => log.debug("Deliveries wait"),
    onBlocked: (notifier) =>
      db.write((tx) =>
        audit(tx, systemActor, {
          event: "destination_blocked",
          outcome: "refused",
          subject: { kind: "notifier", id: notifier.id, name: notifier.name },
          detail: { destination: notifier.destination },
        }),
      ),
  });
  const notifications = notificationService({
    db,
    clock,
    sealer,
    audit,
    outbox,
    judgeDestination: (url) => {
      const judgement = guard.judge(url, "webhook");
      return judgement.ok ? null : judgement.reason;
    },
  });

  return {
    clock,
    trusted_proxies: config.trusted_proxies,
    audit,
    auth,
    api_tokens,
    audit_entries,
    settings,
    credentials,
    notifications,
    outbox,
    /** The address of this instance: the setting, else the address of the request at hand. */
    baseUrl: (requestUrl: string): string => settings.current().base_url || new URL(requestUrl).origin,
    /** Whether the database answers. */
    isReady: async (): Promise<boolean> => {
      try {
        await settings.refresh();
        return true;
      } catch (error) {
        log.error("Database does not answer", { error });
        return false;
      }
    },
    begin: (): void => log.debug("Work begins"),
    stop: async (): Promise<void> => log.debug("Work ends"),
  };
}
