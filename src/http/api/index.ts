import type { Services } from "../../services.ts";
import { accountRoutes } from "./account.ts";
import { apiTokenRoutes } from "./api-tokens.ts";
import { auditEntryRoutes } from "./audit-entries.ts";
import { backupRoutes } from "./backups.ts";
import { credentialRoutes } from "./credentials.ts";
import { executorRoutes } from "./executors.ts";
import { notifierRoutes } from "./notifiers.ts";
import { oidcProviderRoutes } from "./oidc-providers.ts";
import type { Route } from "./route.ts";
import { runRoutes } from "./runs.ts";
import { runtimeConnectionRoutes } from "./runtime-connections.ts";
import { securityKeyRoutes } from "./security-keys.ts";
import { sessionRoutes } from "./session.ts";
import { sessionsRoutes } from "./sessions.ts";
import { settingsRoutes } from "./settings.ts";
import { snapshotRoutes } from "./snapshots.ts";
import { statsRoutes } from "./stats.ts";
import { trackerRoutes } from "./trackers.ts";

/** Every operation of the API, in the order of the documentation. */
export function apiRoutes(services: Services): readonly Route[] {
  return [
    ...sessionRoutes(services),
    ...sessionsRoutes(services),
    ...accountRoutes(services),
    ...apiTokenRoutes(services),
    ...oidcProviderRoutes(services),
    ...settingsRoutes(services),
    ...securityKeyRoutes(services),
    ...backupRoutes(services),
    ...credentialRoutes(services),
    ...runtimeConnectionRoutes(services),
    ...trackerRoutes(services),
    ...executorRoutes(services),
    ...runRoutes(services),
    ...snapshotRoutes(services),
    ...notifierRoutes(services),
    ...auditEntryRoutes(services),
    ...statsRoutes(services),
  ];
}
