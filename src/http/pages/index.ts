import type { MiddlewareHandler } from "hono";
import { forbidden, unauthorized } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { Services } from "../../services.ts";
import type { App, AppEnv } from "../context.ts";
import { isApiPath } from "../paths.ts";
import { accountPages } from "./account.tsx";
import { adoptionPages } from "./adoption.tsx";
import { apiTokenPages } from "./api-tokens.tsx";
import { approvalLinkPages } from "./approval-links.tsx";
import { auditPages } from "./audit.tsx";
import { awayPages } from "./away.ts";
import { backupPages } from "./backups.tsx";
import { changePages } from "./changes.tsx";
import { connectionImagePages } from "./connection-images.tsx";
import { connectionPages } from "./connections.tsx";
import { credentialPages } from "./credentials.tsx";
import { designPages } from "./design.tsx";
import { docsPages } from "./docs.tsx";
import { executorPages } from "./executors.tsx";
import { installablePages } from "./installable.ts";
import { logPages } from "./logs.tsx";
import { notesPages } from "./notes.tsx";
import { notifierPages } from "./notifiers.tsx";
import { oidcPages } from "./oidc.tsx";
import { oidcBindingPages } from "./oidc-binding.tsx";
import { oidcProviderPages } from "./oidc-provider.tsx";
import { overviewPages } from "./overview.tsx";
import type { PageSettings } from "./page-context.ts";
import { preferencePages } from "./preferences.ts";
import { runPages } from "./runs.tsx";
import { searchPages } from "./search.tsx";
import { securityKeyPages } from "./security-keys.tsx";
import { sessionPages } from "./sessions.tsx";
import { settingsPages } from "./settings.tsx";
import { signInPages } from "./sign-in.tsx";
import { snapshotPages } from "./snapshots.tsx";
import { trackerImportPages } from "./tracker-import.tsx";
import { trackerPages } from "./trackers.tsx";
import { upstreamPages } from "./upstreams.tsx";

/** Pages that are open before the bootstrap password was changed. */
const beforePasswordChange: readonly string[] = ["/account/password"];

/**
 * Pages are for browsers that signed in; other sessions, such as an API token with a small scope, must use the API, where their scope is
 * checked. Register it before the pages that need a session and after those that do not. Throws 401, or 403 `password_change_required`;
 * `respondToPageError` redirects for both.
 */
function pageGuard(): MiddlewareHandler<AppEnv> {
  return async function pageGuard(c, next) {
    if (isApiPath(c.req.path)) return await next();
    const session = c.get("session");
    if (session === null || session.via !== "cookie" || session.kind !== "session") throw unauthorized();
    if (session.is_password_change_required && !beforePasswordChange.includes(c.req.path)) {
      throw forbidden("password_change_required", say("request.change_password_first"));
    }
    await next();
  };
}

/** Every page, one file per area; those above the guard need no session. */
export function mountPages(app: App, services: Services, page: PageSettings): void {
  installablePages(app, page);
  awayPages(app, page);
  preferencePages(app, page);
  signInPages(app, services, page);
  oidcPages(app, services, page);
  docsPages(app, services, page);
  approvalLinkPages(app, services, page);
  changePages(app, services, page);
  app.use(pageGuard());
  overviewPages(app, services, page);
  searchPages(app, services, page);
  accountPages(app, services, page);
  apiTokenPages(app, services, page);
  sessionPages(app, services, page);
  oidcBindingPages(app, services, page);
  oidcProviderPages(app, services, page);
  settingsPages(app, services, page);
  securityKeyPages(app, services, page);
  backupPages(app, services, page);
  auditPages(app, services, page);
  executorPages(app, services, page);
  logPages(app, services, page);
  notifierPages(app, services, page);
  runPages(app, services, page);
  snapshotPages(app, services, page);
  connectionImagePages(app, services, page);
  adoptionPages(app, services, page);
  connectionPages(app, services, page);
  trackerImportPages(app, services, page);
  notesPages(app, services, page);
  trackerPages(app, services, page);
  upstreamPages(app, services, page);
  designPages(app, page);
  credentialPages(app, services, page);
}
