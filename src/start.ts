import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { auditRecorder } from "./auth/audit.ts";
import { bootstrapAdministrator } from "./auth/bootstrap.ts";
import { clearLeftovers, completeRestore } from "./backups/place-restored.ts";
import { backupBeforeUpgrade } from "./backups/write-backup.ts";
import { systemClock, toIso } from "./clock.ts";
import { type Config, ConfigError, configSecrets } from "./config.ts";
import { type Database, databaseFile, openDatabase } from "./db/client.ts";
import { findInstallationFact, hasSealedRows } from "./db/installation.ts";
import { lockDataDir } from "./db/lock.ts";
import {
  checkDatabase,
  type FormerUse,
  inspectDatabaseFile,
  migrate,
  refuseEmptied,
  unreadableDatabase,
} from "./db/migrate.ts";
import { everySealedValue } from "./db/sealed-columns.ts";
import { assertWritableFolder, unusableFolder, withoutRoom } from "./durable-files.ts";
import { errorMessage } from "./errors.ts";
import { createApp } from "./http/app.ts";
import { loadAssets, packagedFiles } from "./http/assets.ts";
import { createDoor } from "./http/door.ts";
import { newId } from "./ids.ts";
import { finishEncryptionRotation, finishSessionRotation } from "./keys/finish-rotation.ts";
import { createLog, type Log } from "./log.ts";
import { say } from "./messages/message.ts";
import { type OutboundAllow, parseOutboundAllow } from "./net/outbound-allow.ts";
import { assertKeyOpens } from "./secrets/assert-key-opens.ts";
import { hasKeyFile, type Keys, loadKeys, securePrivateFolder } from "./secrets/keys.ts";
import { createPasswords } from "./secrets/password.ts";
import { createRedactor, type Redactor } from "./secrets/redaction.ts";
import { createSealer } from "./secrets/sealed.ts";
import { createServices } from "./services.ts";
import { startSteps } from "./start-steps.ts";
import { version } from "./version.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Keys are made after the tables, so our own key file proves that there was a database; with keys from elsewhere, the lock's note does.
 */
function formerUse({ data_dir, keys_file, encryption_key }: Config, wasUsed: boolean): FormerUse {
  if (hasKeyFile(data_dir)) return { keys: "key_file", was_used: true };
  return { keys: keys_file === null && encryption_key === null ? null : "given", was_used: wasUsed };
}

/** Opens the database, updates its schema and finds its keys. Checks everything before creating anything. */
async function openInstallation(
  config: Config,
  redactor: Redactor,
  wasUsed: boolean,
): Promise<{ db: Database; keys: Keys }> {
  const file = databaseFile(config.database_url);
  const former = formerUse(config, wasUsed);
  if (file !== null) inspectDatabaseFile(file, former);
  const db = await openDatabase({ url: config.database_url, auth_token: config.database_auth_token }).catch(
    (error: unknown) => {
      throw unreadableDatabase(file, error);
    },
  );
  try {
    await checkDatabase(db.client, file);
    if (file !== null) await refuseEmptied(db.client, file, former);
    const now = systemClock.now();
    const backup = file === null ? null : () => backupBeforeUpgrade(file, config.data_dir, now);
    await migrate({ client: db.client, folder: join(root, "migrations"), now, backup });
    const keys = loadKeys({
      data_dir: config.data_dir,
      keys_file: config.keys_file,
      session_key: config.session_key,
      encryption_key: config.encryption_key,
      has_encrypted_rows: await hasSealedRows(db.read),
    });
    const storedKeyId = await findInstallationFact(db.read, "encryption_key_id");
    await assertKeyOpens(keys.encryption, storedKeyId, everySealedValue(db.client));
    for (const key of [keys.encryption.primary, ...(keys.encryption.previous ?? [])]) redactor.register(key);
    redactor.register(Buffer.from(keys.session).toString("base64url"));
    return { db, keys };
  } catch (error) {
    await db.close();
    throw error;
  }
}

function readOutboundAllow(text: string): OutboundAllow {
  try {
    return parseOutboundAllow(text);
  } catch (error) {
    throw new ConfigError([errorMessage(error)]);
  }
}

/** How long requests may take at the end of the process, without and with changes. */
const stopPatience = { patience_ms: 10_000, limit_ms: 20_000 };

export interface Started {
  /** Responds to one request; `peer_address` is the other end of its connection. */
  answer(request: Request, peer_address: string | null): Promise<Response>;
  log: Log;
  /** Begins checks, deliveries and runs; called once the port is open. */
  begin(port: number): void;
  /** Admits no more requests and ends work in order; resolves when everything is at a safe point and answered. */
  stop(): Promise<void>;
  /** Closes the database and releases the data directory, after the last response. */
  close(): Promise<void>;
}

function prepareDataDir(folder: string): void {
  try {
    securePrivateFolder(folder);
    assertWritableFolder(folder);
  } catch (error) {
    throw unusableFolder(say("files.data_directory", { path: folder }), "DATA_DIR", error);
  }
}

/** Completes an interrupted restore, and removes leftovers of restores and backups that never counted. */
function takeUpRestore({ data_dir, database_url }: Config, log: Log): void {
  const completed = completeRestore(data_dir);
  if (completed !== null) {
    const { source, at, replaced } = completed;
    log.warning("Completed an interrupted restore", { source, begun_at: toIso(at), replaced });
  }
  try {
    clearLeftovers(data_dir, databaseFile(database_url));
  } catch (error) {
    log.warning("Files left by an interrupted restore or backup could not be removed; they may contain keys", {
      error,
    });
  }
}

/** Builds the whole service on its data directory; throws an explanation when it must not start. */
export async function start(config: Config): Promise<Started> {
  return await build(config).catch((error: unknown) => {
    throw withoutRoom(error, say("files.no_room_for_data", { path: config.data_dir }));
  });
}

async function build(config: Config): Promise<Started> {
  const outboundAllow = readOutboundAllow(config.outbound_allow);
  prepareDataDir(config.data_dir);
  const redactor = createRedactor();
  for (const secret of configSecrets(config)) redactor.register(secret);
  // At least "info" until the administrator exists: its first password is logged at that level, whatever LOG_LEVEL says.
  const log = createLog({
    level: config.log_level === "debug" ? "debug" : "info",
    format: config.log_format,
    clock: systemClock,
    redact: redactor.redact,
  });
  const step = startSteps({ clock: systemClock, log });
  const lock = await step("the lock on the data directory", () => lockDataDir(config.data_dir));
  try {
    takeUpRestore(config, log);
    const { db, keys } = await step("the database", () => openInstallation(config, redactor, lock.was_used));
    const passwords = await step("the first password hash", () => createPasswords());
    const audit = auditRecorder({ clock: systemClock });
    const bootstrap = { db, clock: systemClock, log, audit, passwords };
    await step("the administrator's record", () => bootstrapAdministrator(bootstrap));
    if (databaseFile(config.database_url) !== null && !hasKeyFile(config.data_dir)) await lock.noteUse();
    const sealer = createSealer({ keys: keys.encryption, clock: systemClock, onOpen: redactor.register });
    // A start without changes writes nothing, so that it also succeeds on a full disk.
    const encryption = await step("the rotation of a key", async () => {
      const parts = { db, clock: systemClock, log, audit, keys, sealer, data_dir: config.data_dir };
      await finishSessionRotation(parts);
      return await finishEncryptionRotation(parts);
    });
    log.setLevel(config.log_level ?? "info");
    if (outboundAllow.entries.length > 0) {
      log.warning("OUTBOUND_ALLOW opens private destinations to webhooks and HTTP probes", {
        allowed: outboundAllow.entries,
      });
    }
    const instanceId = newId(systemClock.now());
    const services = await step("the settings and what is left of unfinished work", () =>
      createServices({
        config,
        db,
        clock: systemClock,
        log,
        sealer,
        keys: { ...keys, encryption },
        passwords,
        redactor,
        outboundAllow,
        instance_id: instanceId,
      }),
    );
    if (!services.settings.current().base_url.startsWith("https:")) {
      log.warning("The base URL is not https: passwords and session cookies travel unprotected beyond this machine", {
        base_url: services.settings.current().base_url,
      });
    }
    const assets = loadAssets(join(root, "public"), packagedFiles);
    const door = createDoor(systemClock);
    const app = createApp({ services, assets, door, log, version, excerpt: redactor.excerpt });
    return {
      answer: (request, peer_address) => door.through(() => app.fetch(request, { peer_address })),
      log,
      begin: services.begin,
      stop: async () => {
        const [areAnswered] = await Promise.all([door.close(stopPatience), services.stop()]);
        if (!areAnswered) log.warning("Requests did not finish in time", stopPatience);
      },
      close: async () => {
        await db.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
