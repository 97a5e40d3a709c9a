import type { RecordAudit } from "./auth/audit-schema.ts";
import type { Clock } from "./clock.ts";
import type { CountedTime } from "./counted-time.ts";
import type { Database } from "./db/client.ts";
import type { Log } from "./log.ts";

/** What most services need; each picks its own. */
export interface Parts {
  db: Database;
  clock: Clock;
  counted: CountedTime;
  log: Log;
  audit: RecordAudit;
}
