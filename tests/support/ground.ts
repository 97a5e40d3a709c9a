import { auditRecorder } from "../../src/auth/audit.ts";
import type { Clock } from "../../src/clock.ts";
import { countedTime } from "../../src/counted-time.ts";
import { credentialService } from "../../src/credentials/service.ts";
import type { Database } from "../../src/db/client.ts";
import { createLog } from "../../src/log.ts";
import type { OutageNotices } from "../../src/notifications/outage-schema.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { createSealer } from "../../src/secrets/sealed.ts";
import { createFakeClock } from "./fake-clock.ts";
import { type TemporaryDatabase, temporaryDatabase } from "./temporary-database.ts";

interface GroundOptions {
  level?: Parameters<typeof createLog>[0]["level"];
  redact?: (text: string) => string;
  /** In place of keeping the lines of the log. */
  write?: (line: string) => void;
  keys?: Parameters<typeof createSealer>[0]["keys"];
  onOpen?: Parameters<typeof createSealer>[0]["onOpen"];
}

/** For services whose outages a test does not look at. */
export const noOutages: OutageNotices = {
  failing: async () => false,
  over: async () => undefined,
  forget: async () => undefined,
};

/** What every service stands on: a log, an audit, sealed secrets and credentials over a database and a clock. */
export function groundOn<C extends Clock>(db: Database, clock: C, options: GroundOptions = {}) {
  const lines: string[] = [];
  const { level = "debug", redact = (text) => text, write = (line) => lines.push(line) } = options;
  const { keys = { primary: generateFernetKey() }, onOpen = () => undefined } = options;
  const log = createLog({ level, format: "text", clock, redact, write });
  const audit = auditRecorder({ clock });
  const sealer = createSealer({ keys, clock, onOpen });
  const credentials = credentialService({ db, clock, sealer, audit, judgeSecret: () => undefined });
  return { db, clock, lines, log, audit, sealer, counted: countedTime(clock, null), credentials };
}

interface TemporaryGroundOptions extends GroundOptions {
  /** Another's database, whose process is over. */
  temporary?: TemporaryDatabase | undefined;
  /** What the clock shows, which stands still. */
  at?: number | undefined;
}

/** The same over a temporary database and a clock that stands still: every test world begins with it. */
export async function temporaryGround({ temporary, at, ...options }: TemporaryGroundOptions = {}) {
  const { db, dir, close } = temporary ?? (await temporaryDatabase());
  return { ...groundOn(db, createFakeClock(at), options), dir, close };
}

export type Ground = ReturnType<typeof groundOn>;
