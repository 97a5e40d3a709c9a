import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { pageGuard } from "../middleware/page-guard.ts";
import { accountPages } from "./account.tsx";
import { apiTokenPages } from "./api-tokens.tsx";
import { approvalLinkPages } from "./approval-links.tsx";
import { connectionImagePages } from "./connection-images.tsx";
import { connectionPages } from "./connections.tsx";
import { credentialPages } from "./credentials.tsx";
import { docsPages } from "./docs.tsx";
import { executorPages } from "./executors.tsx";
import { notesPages } from "./notes.tsx";
import { notifierPages } from "./notifiers.tsx";
import { overviewPages } from "./overview.tsx";
import type { PageSettings } from "./page-context.ts";
import { preferencePages } from "./preferences.ts";
import { runPages } from "./runs.tsx";
import { searchPages } from "./search.tsx";
import { settingsPages } from "./settings.tsx";
import { signInPages } from "./sign-in.tsx";
import { snapshotPages } from "./snapshots.tsx";
import { trackerImportPages } from "./tracker-import.tsx";
import { trackerPages } from "./trackers.tsx";
import { upstreamPages } from "./upstreams.tsx";

/** Every page, one file per area; what stands above the guard answers without a session. */
export function mountPages(app: App, services: Services, page: PageSettings): void {
  preferencePages(app, page);
  signInPages(app, services, page);
  docsPages(app, services, page);
  approvalLinkPages(app, services, page);
  app.use(pageGuard());
  overviewPages(app, services, page);
  searchPages(app, services, page);
  accountPages(app, services, page);
  apiTokenPages(app, services, page);
  settingsPages(app, services, page);
  executorPages(app, services, page);
  notifierPages(app, services, page);
  runPages(app, services, page);
  snapshotPages(app, services, page);
  connectionImagePages(app, services, page);
  connectionPages(app, services, page);
  trackerImportPages(app, services, page);
  notesPages(app, services, page);
  trackerPages(app, services, page);
  upstreamPages(app, services, page);
  credentialPages(app, services, page);
}
