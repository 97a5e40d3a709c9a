import { auditRecorder } from "./auth/audit.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import { credentialService } from "./credentials/service.ts";
import type { Database } from "./db/client.ts";
import type { Log } from "./log.ts";
import type { Sealer } from "./secrets/sealed.ts";
import { settingsService } from "./settings/service.ts";

export interface ServiceOptions {
  config: Config;
  db: Database;
  clock: Clock;
  log: Log;
  sealer: Sealer;
  /** Owner of this process's leases; new at each start. */
  instance_id: string;
}

export type Services = Awaited<ReturnType<typeof createServices>>;

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
  const credentials = credentialService({ db, clock, sealer, audit });
  return {
    clock,
    audit,
    settings,
    credentials,
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
  };
}
