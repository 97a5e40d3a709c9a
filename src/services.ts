import { hostname } from "node:os";
import { setImmediate } from "node:timers";
import * as v from "valibot";
import { adoptionService } from "./adoption/service.ts";
import { apiTokenService } from "./auth/api-tokens.ts";
import { auditRecorder } from "./auth/audit.ts";
import { auditEntryService } from "./auth/audit-entries.ts";
import { systemActor } from "./auth/schema.ts";
import { authService } from "./auth/service.ts";
import { sessionService } from "./auth/sessions.ts";
import { addressKey, createThrottle } from "./auth/throttle.ts";
import { backupService } from "./backups/service.ts";
import { bulkService } from "./bulk/service.ts";
import { trackerBulkService } from "./bulk/trackers.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import { connectionImageService } from "./connections/images.ts";
import { redactedRuntimes } from "./connections/redacted-runtime.ts";
import { connectionService } from "./connections/service.ts";
import { countedTime } from "./counted-time.ts";
import { secretSchemas } from "./credentials/schema.ts";
import { credentialService } from "./credentials/service.ts";
import { type Database, databaseFile } from "./db/client.ts";
import { type DueTime, timeMender } from "./db/due-times.ts";
import { storedCountedTime } from "./db/installation.ts";
import { errorMessage, isWithoutRoom } from "./errors.ts";
import { boundExecutors } from "./executors/bound-queries.ts";
import { executorEvaluator } from "./executors/evaluate.ts";
import { updateDifferences } from "./executors/observation-schema.ts";
import { executorService } from "./executors/service.ts";
import { openingOf } from "./executors/settings.ts";
import { idempotencyService } from "./idempotency/service.ts";
import { securityKeyService } from "./keys/service.ts";
import type { Log } from "./log.ts";
import { logService } from "./logs/service.ts";
import { bareHost, isMetadataAddress } from "./net/address.ts";
import { isMetadataHost, neverAllowed } from "./net/destination.ts";
import { createGuard } from "./net/guarded-fetch.ts";
import { createHttp } from "./net/http.ts";
import type { OutboundAllow } from "./net/outbound-allow.ts";
import { createRateLedger } from "./net/rate-ledger.ts";
import { outageNotices } from "./notifications/outages.ts";
import { createOutbox, NotifierUnreadable, type SendMessage } from "./notifications/outbox.ts";
import { notificationService, storedWebhook } from "./notifications/service.ts";
import { notifiers } from "./notifiers/index.ts";
import { oidcService } from "./oidc/service.ts";
import { probes } from "./probes/index.ts";
import { outsideRequest } from "./request-scope.ts";
import { approvalLinkService } from "./runs/approval-links.ts";
import { runService } from "./runs/service.ts";
import { snapshotService } from "./runs/snapshots.ts";
import { runtimes } from "./runtimes/index.ts";
import type { RuntimeContext, Runtimes } from "./runtimes/runtime.ts";
import type { WorkSource } from "./scheduler/pool.ts";
import { createScheduler } from "./scheduler/scheduler.ts";
import { createApprovalTokens } from "./secrets/approval-tokens.ts";
import { type Keys, keyFilePath } from "./secrets/keys.ts";
import type { Passwords } from "./secrets/password.ts";
import type { Redactor } from "./secrets/redaction.ts";
import type { RotatingSealer } from "./secrets/sealed.ts";
import { createSessionTokens } from "./secrets/tokens.ts";
import type { Settings } from "./settings/schema.ts";
import { settingsService } from "./settings/service.ts";
import { sources } from "./sources/index.ts";
import { statsService } from "./stats/service.ts";
import { trackerService } from "./trackers/service.ts";
import { answerStore, rateStore } from "./trackers/upstreams/stored-responses.ts";

export interface ServiceOptions {
  config: Config;
  db: Database;
  clock: Clock;
  log: Log;
  sealer: RotatingSealer;
  keys: Keys;
  passwords: Passwords;
  redactor: Redactor;
  outboundAllow: OutboundAllow;
  /** Owner of this process's leases; new at each start. */
  instance_id: string;
  /** The available runtimes; tests replace them. */
  runtimes?: Runtimes;
}

export type Services = Awaited<ReturnType<typeof createServices>>;

/** Deadline for connecting, headers and body of a webhook. */
const webhookTimeoutMs = 15_000;
/** Longer than any single timeout of a health check, which ends the attempt first. */
const probeTimeoutMs = 300_000;
/** For one request of a runtime with an HTTP API. */
const runtimeTimeoutMs = 30_000;
/** A slow receiver blocks one place; the others continue. */
const deliveriesAtOnce = 8;
/** How long a stop waits for work that must not be cut short. */
const stopGraceMs = 20_000;

/** Every kind of work declares its due times and leases, with the furthest that each can lie ahead. */
type DueWork = WorkSource & { due_times: readonly DueTime[] };

/** The file, or the server's address without user, password and query. */
function describeDatabase(url: string): string {
  if (url.startsWith("file:")) return url.slice("file:".length);
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/** Builds every service; the only file that knows them all. */
export async function createServices(options: ServiceOptions) {
  const { config, db, clock, log, sealer } = options;
  /** Leases of the previous process expire by themselves: a full disk must not prevent the rest from starting. */
  const unlessFull = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isWithoutRoom(error)) throw error;
      log.error("Unfinished work waits for its leases to expire", { error });
    }
  };
  /** Due work belongs to no request, whoever triggered it. */
  const nudge = () => outsideRequest(() => scheduler.nudge());
  const counted = countedTime(clock, await storedCountedTime(db.read));
  const audit = auditRecorder({
    clock,
    retention: { counted, days: async (tx) => (await settings.within(tx)).audit_retention_days },
  });
  /** What most services need. */
  const parts = { db, clock, counted, log, audit };
  let onSettings = (_current: Settings): void => undefined;
  const settings = await settingsService({
    ...parts,
    environment: { base_url: config.base_url, log_level: config.log_level },
    onChange: (current) => {
      log.setLevel(current.log_level);
      onSettings(current);
    },
  });
  const tokens = createSessionTokens(options.keys.session, clock);
  const throttle = createThrottle(clock);
  const approvalTokens = createApprovalTokens(options.keys.session);
  const auth = authService({ db, clock, counted, log, audit, passwords: options.passwords, tokens, throttle });
  const api_tokens = apiTokenService({ db, clock, audit, tokens, confirmPassword: auth.confirmPassword });
  const sessions = sessionService({ db, clock, log, audit, held: auth.held });
  const audit_entries = auditEntryService({ db, audit });
  const runtimeKinds: Runtimes = redactedRuntimes(options.runtimes ?? runtimes, options.redactor.excerpt);
  const credentials = credentialService({
    ...{ db, clock, sealer, audit },
    judgeSecret: (kind, secret) => runtimeKinds[kind]?.judgeSecret?.(secret),
  });
  const { data_dir } = config;
  const opensData = config.encryption_key === null;
  const backups = backupService({
    ...parts,
    data_dir,
    database_file: databaseFile(config.database_url),
    keys: config.keys_file === null ? { file: keyFilePath(data_dir), opens_data: opensData } : null,
  });
  let listeningPort: number | null = null;
  const guard = createGuard({ clock, allow: options.outboundAllow, ownPort: () => listeningPort });

  const send: SendMessage = async (notifier, message, signal) => {
    const { value, problem } = storedWebhook(sealer, notifier);
    if (problem !== null) throw new NotifierUnreadable(problem);
    const context = guard.open({ purpose: "webhook", timeout_ms: webhookTimeoutMs, signal });
    return await notifiers.webhook.open(value, context).send(message);
  };
  const outbox = createOutbox({
    ...parts,
    instance_id: options.instance_id,
    baseUrl: () => settings.current().base_url,
    send,
    explainByClock: guard.clocks.explain,
    approvalLink: (subject) => {
      const base = settings.current().base_url;
      return base === "" ? null : `${base}/approvals/${subject.run}/${approvalTokens.token(subject)}`;
    },
    excerpt: options.redactor.excerpt,
    // Called within the transaction, which ends in a moment; the next tick finds what this look misses.
    onDue: () => setImmediate(nudge),
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
  const outages = outageNotices({ clock, counted, recordEvent: outbox.recordEvent });
  const notifications = notificationService({
    ...parts,
    sealer,
    audit,
    outbox,
    judgeDestination: (url) => {
      const judgement = guard.judge(url, "webhook");
      return judgement.ok ? null : judgement.reason;
    },
  });

  const ledger = createRateLedger({
    clock,
    store: rateStore({ db, clock, counted }),
    onStoreError: (error) => log.error("Rate limits were not stored", { error }),
  });
  await ledger.load();
  const http = createHttp({ clock, cache: answerStore({ db, clock, counted }), ledger });
  if (config.oidc_allow_loopback_http) {
    log.warning(
      "OIDC_ALLOW_LOOPBACK_HTTP is on: identity providers on this machine may use plain http; for tests only",
    );
  }
  const oidc = oidcService({
    ...parts,
    sealer,
    auth,
    openContext: http.open,
    findClockDifference: (host) => http.clocks.of(host)?.said ?? null,
    baseUrl: () => settings.current().base_url,
    isLoopbackHttpAllowed: config.oidc_allow_loopback_http,
    isRefusedAddress: (url) => isMetadataAddress(bareHost(new URL(url).hostname)),
    clientOf: addressKey,
  });
  const trackers = trackerService({
    ...parts,
    executors: boundExecutors,
    recordEvent: outbox.recordEvent,
    addSourceToEvent: outbox.addSourceToEvent,
    outages,
    credentials,
    sources,
    openContext: http.open,
    rates: ledger.view,
    clocks: http.clocks,
    instance_id: options.instance_id,
    versionHistoryCount: async (read) => (await settings.within(read)).version_history_count,
    excerpt: options.redactor.excerpt,
    nudge,
  });
  // A file has one process: checks claimed at its start belong to the previous one.
  if (config.database_url.startsWith("file:")) await unlessFull(() => trackers.recover());

  const self: RuntimeContext["self"] = {
    hostname: hostname(),
    data_dir,
    helm: config.helm,
    ...(config.service_account === null ? {} : { service_account: config.service_account }),
  };
  const connections = connectionService({
    ...parts,
    instance_id: options.instance_id,
    credentials,
    runtimes: runtimeKinds,
    outages,
    judgeHost: (host) => (isMetadataHost(host) ? neverAllowed : null),
    openFetch: (signal) =>
      http.open({ timeout_ms: runtimeTimeoutMs, credential_id: null, is_unrated: true, signal }).fetch,
    self,
  });
  const timezone = () => settings.current().timezone;
  const executors = executorService({
    ...parts,
    connections,
    releases: trackers,
    openLogin: async (id) => v.parse(secretSchemas.oci, await credentials.openSecret("oci", id)),
    timezone,
    judgeDestination: (destination) => {
      if (destination.purpose === "tcp") return guard.judgeConnect(destination.host, destination.port);
      const judgement = guard.judge(destination.url, destination.purpose);
      return judgement.ok ? null : judgement.reason;
    },
  });
  const runs = runService({
    ...parts,
    sealer,
    instance_id: options.instance_id,
    redact: options.redactor.redact,
    openSecrets: credentials.openAll,
    connections,
    executors,
    recordEvent: outbox.recordEvent,
    snapshotLimit: async (tx) => (await settings.within(tx)).snapshot_history_count,
    openProbe: (kind, probeConfig, { readiness, signal }) =>
      probes[kind].open(probeConfig, {
        ...guard.open({ purpose: "probe", timeout_ms: probeTimeoutMs, signal }),
        readiness,
        connect: guard.connect,
      }),
    onDue: nudge,
  });
  const linkThrottle = createThrottle(clock);
  const approval_links = approvalLinkService({
    ...parts,
    tokens: approvalTokens,
    runs,
    countGuess: (address) => linkThrottle.begin([addressKey(address)]).fail(),
  });
  const snapshots = snapshotService({ db, clock, sealer, audit, connections, executors });
  const logs = logService({
    ...{ db, clock, audit, connections, executors },
    redact: options.redactor.redact,
    openSecrets: credentials.openAll,
  });
  const images = connectionImageService({ db, clock, audit, connections, snapshots });
  const adoption = adoptionService({ ...parts, connections, trackers, executors, nudge });
  const bulk = bulkService({ clock, log, executors, runs, trackers });
  const tracker_bulk = trackerBulkService({ log, trackers });
  const idempotency = idempotencyService({ db, clock, counted, log, sealer });
  const security_keys = securityKeyService({
    ...parts,
    keys: options.keys,
    data_dir,
    environment: {
      session_key: config.session_key !== null,
      encryption_key: config.encryption_key !== null,
      keys_file: config.keys_file !== null,
    },
    sealer,
    session_key_users: [tokens, approvalTokens],
    backups,
    confirmPassword: auth.confirmPassword,
    holds: auth.holds,
    onNewSecret: options.redactor.register,
    removeExpired: async (tx) => {
      await idempotency.removeExpired(tx);
      await oidc.removeExpired(tx);
    },
  });
  const stats = statsService({
    ...{ db, clock, counted, timezone, updateDifferences, openingOf },
    outages: trackers.outages,
  });
  const evaluator = executorEvaluator({
    ...parts,
    instance_id: options.instance_id,
    connections,
    timezone,
    createRun: runs.createAutomatic,
    compare: executors.compare,
    planUpdate: executors.planUpdate,
    reviewWaiting: runs.reviewWaiting,
    withdrawWaiting: runs.withdrawWaiting,
    onRunQueued: nudge,
  });
  let knownTimezone = timezone();
  onSettings = (current) => {
    if (current.timezone === knownTimezone) return;
    knownTimezone = current.timezone;
    executors.timezoneChanged().catch((error: unknown) => {
      log.error("Maintenance windows could not be moved to the new time zone", { error: errorMessage(error) });
    });
  };
  // A file has one process: runs claimed at its start belong to the previous one.
  if (config.database_url.startsWith("file:")) await unlessFull(() => runs.takeOver());

  const work: readonly DueWork[] = [
    {
      name: "deliveries",
      due_times: outbox.due_times,
      concurrency: deliveriesAtOnce,
      per_key: 1,
      due: (now, limit, busyNotifiers) => outbox.due(now, limit, busyNotifiers),
      keyOf: (delivery: { id: string; notifier_id: string }) => delivery.notifier_id,
      perform: (delivery: { id: string }, signal) => outbox.deliver(delivery.id, signal),
    },
    connections.work,
    runs.work,
    evaluator,
    trackers.work.overdue,
    trackers.work.scheduled,
  ];
  const due_times = [...work.flatMap((kind) => kind.due_times), ...auth.due_times];
  const mendTimes = timeMender({ db, clock, counted, due_times });
  const before = async () => {
    // Another process on the same database may have changed them.
    await settings.refresh();
    await security_keys.compareSessionKeys();
    await mendTimes();
  };
  const scheduler = createScheduler({ clock, log, work, before });
  const over = new AbortController();
  const clearLeftovers = (): void => {
    for (const runtime of Object.values(runtimeKinds)) {
      runtime.clearLeftovers?.({ self, clock, signal: over.signal }).catch((error: unknown) => {
        if (over.signal.aborted) return;
        log.warning("Files left by an earlier process could not be removed; they may contain secrets", {
          runtime: runtime.kind,
          error,
        });
      });
    }
  };

  return {
    clock,
    trusted_proxies: config.trusted_proxies,
    /** Where the data is, for people; without credentials. */
    places: { data_dir: config.data_dir, database: describeDatabase(config.database_url) },
    audit,
    auth,
    idempotency,
    api_tokens,
    sessions,
    audit_entries,
    oidc,
    settings,
    security_keys,
    backups,
    credentials,
    notifications,
    outbox,
    trackers,
    connections,
    images,
    executors,
    adoption,
    bulk,
    tracker_bulk,
    runs,
    approval_links,
    snapshots,
    logs,
    stats,
    scheduler,
    /** Rate limits by upstream and credential, for people. */
    rates: () => ledger.view(),
    /** The address of this instance: the setting, else the current request's address. */
    baseUrl: (requestUrl: string): string => settings.current().base_url || new URL(requestUrl).origin,
    /** Whether the database responds. */
    isReady: async (): Promise<boolean> => {
      try {
        await settings.refresh();
        return true;
      } catch (error) {
        log.error("Database does not respond", { error });
        return false;
      }
    },
    /** Begins checks, deliveries and runs; `port` is where this process listens. */
    begin: (port: number): void => {
      listeningPort = port;
      clearLeftovers();
      scheduler.begin();
    },
    stop: async (): Promise<void> => {
      over.abort();
      await scheduler.stop({ grace_ms: stopGraceMs });
      http.close();
    },
  };
}
