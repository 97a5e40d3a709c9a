import { randomBytes } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { systemActor } from "../src/auth/schema.ts";
import { type Clock, systemClock } from "../src/clock.ts";
import { readConfig } from "../src/config.ts";
import { openDatabase } from "../src/db/client.ts";
import { migrate } from "../src/db/migrate.ts";
import { createLog } from "../src/log.ts";
import { parseOutboundAllow } from "../src/net/outbound-allow.ts";
import { generateFernetKey } from "../src/secrets/fernet.ts";
import { createPasswords } from "../src/secrets/password.ts";
import { createRedactor } from "../src/secrets/redaction.ts";
import { createSealer } from "../src/secrets/sealed.ts";
import { createServices } from "../src/services.ts";
import { temporaryDatabase } from "../tests/support/temporary-database.ts";

export const actor = systemActor;

/** A data directory that stays, for processes that work on it one after the other. */
export interface Place {
  dir: string;
  encryption_key: string;
}

async function databaseAt({ dir }: Place) {
  const db = await openDatabase({ url: `file:${dir}/tidemark.db` });
  await migrate({ client: db.client, folder: join(import.meta.dir, "../migrations"), now: 0, backup: null });
  return { db, dir, close: () => db.close() };
}

interface BenchOptions {
  /** The real one where it is left out. */
  clock?: Clock;
  /** Environment variables: `OUTBOUND_ALLOW`, … */
  env?: Readonly<Record<string, string>>;
}

/** Every service as the process builds it, on a database file of its own; the log is written to nowhere. */
export async function benchServices(place: Place | null = null, { clock = systemClock, env = {} }: BenchOptions = {}) {
  const { db, dir, close } = place === null ? await temporaryDatabase() : await databaseAt(place);
  const config = readConfig({ DATA_DIR: dir, ...env });
  const redactor = createRedactor();
  const nowhere = openSync("/dev/null", "w");
  const log = createLog({
    level: "info",
    format: "text",
    clock,
    redact: redactor.redact,
    write: (line) => writeSync(nowhere, `${line}\n`),
  });
  const keys = {
    session: randomBytes(32),
    encryption: { primary: place?.encryption_key ?? generateFernetKey(), previous: [] },
    managed_by_environment: { session: false, encryption: false },
  };
  // The process knows its own keys from the start, so they are part of what each log line is searched for.
  redactor.register(keys.encryption.primary);
  redactor.register(keys.session.toString("base64url"));
  const services = await createServices({
    config,
    db,
    clock,
    log,
    sealer: createSealer({ keys: keys.encryption, clock, onOpen: redactor.register }),
    keys,
    passwords: await createPasswords({ memory_kib: 64, passes: 1 }),
    redactor,
    outboundAllow: parseOutboundAllow(config.outbound_allow),
    instance_id: "bench",
  });
  return {
    services,
    db,
    close: async () => {
      await services.stop();
      closeSync(nowhere);
      await close();
    },
  };
}
