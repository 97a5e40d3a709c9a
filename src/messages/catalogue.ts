import { addresses } from "./addresses.ts";
import { adoption } from "./adoption.ts";
import { auth } from "./auth.ts";
import { backups } from "./backups.ts";
import { bulk } from "./bulk.ts";
import { changelogs } from "./changelogs.ts";
import { charts } from "./charts.ts";
import { checks } from "./checks.ts";
import { compose } from "./compose.ts";
import { composeFiles } from "./compose-files.ts";
import { connections } from "./connections.ts";
import { credentials } from "./credentials.ts";
import { database } from "./database.ts";
import { engine } from "./engine.ts";
import { executors } from "./executors.ts";
import { fields } from "./fields.ts";
import { files } from "./files.ts";
import { images } from "./images.ts";
import { imports } from "./imports.ts";
import { keys } from "./keys.ts";
import { kubernetes } from "./kubernetes.ts";
import { logs } from "./logs.ts";
import { net } from "./net.ts";
import { notifications } from "./notifications.ts";
import { oidc } from "./oidc.ts";
import { patterns } from "./patterns.ts";
import { phrases } from "./phrases.ts";
import { podman } from "./podman.ts";
import { portainer } from "./portainer.ts";
import { probes } from "./probes.ts";
import { readiness } from "./readiness.ts";
import { recovery } from "./recovery.ts";
import { refusals } from "./refusals.ts";
import { request } from "./request.ts";
import { restoring } from "./restoring.ts";
import { runs } from "./runs.ts";
import { settings } from "./settings.ts";
import { snapshots } from "./snapshots.ts";
import { sources } from "./sources.ts";
import { steps } from "./steps.ts";
import { text } from "./text.ts";
import { thing } from "./thing.ts";
import { trackers } from "./trackers.ts";
import { addresses as addressesZh } from "./zh/addresses.ts";
import { adoption as adoptionZh } from "./zh/adoption.ts";
import { auth as authZh } from "./zh/auth.ts";
import { backups as backupsZh } from "./zh/backups.ts";
import { bulk as bulkZh } from "./zh/bulk.ts";
import { changelogs as changelogsZh } from "./zh/changelogs.ts";
import { charts as chartsZh } from "./zh/charts.ts";
import { checks as checksZh } from "./zh/checks.ts";
import { compose as composeZh } from "./zh/compose.ts";
import { composeFiles as composeFilesZh } from "./zh/compose-files.ts";
import { connections as connectionsZh } from "./zh/connections.ts";
import { credentials as credentialsZh } from "./zh/credentials.ts";
import { database as databaseZh } from "./zh/database.ts";
import { engine as engineZh } from "./zh/engine.ts";
import { executors as executorsZh } from "./zh/executors.ts";
import { fields as fieldsZh } from "./zh/fields.ts";
import { files as filesZh } from "./zh/files.ts";
import { images as imagesZh } from "./zh/images.ts";
import { imports as importsZh } from "./zh/imports.ts";
import { keys as keysZh } from "./zh/keys.ts";
import { kubernetes as kubernetesZh } from "./zh/kubernetes.ts";
import { logs as logsZh } from "./zh/logs.ts";
import { net as netZh } from "./zh/net.ts";
import { notifications as notificationsZh } from "./zh/notifications.ts";
import { oidc as oidcZh } from "./zh/oidc.ts";
import { patterns as patternsZh } from "./zh/patterns.ts";
import { phrases as phrasesZh } from "./zh/phrases.ts";
import { podman as podmanZh } from "./zh/podman.ts";
import { portainer as portainerZh } from "./zh/portainer.ts";
import { probes as probesZh } from "./zh/probes.ts";
import { readiness as readinessZh } from "./zh/readiness.ts";
import { recovery as recoveryZh } from "./zh/recovery.ts";
import { refusals as refusalsZh } from "./zh/refusals.ts";
import { request as requestZh } from "./zh/request.ts";
import { restoring as restoringZh } from "./zh/restoring.ts";
import { runs as runsZh } from "./zh/runs.ts";
import { settings as settingsZh } from "./zh/settings.ts";
import { snapshots as snapshotsZh } from "./zh/snapshots.ts";
import { sources as sourcesZh } from "./zh/sources.ts";
import { steps as stepsZh } from "./zh/steps.ts";
import { thing as thingZh } from "./zh/thing.ts";
import { trackers as trackersZh } from "./zh/trackers.ts";

/** Every message of the product by area: in English, with renderings of the same keys in the other languages. */
const areas = {
  addresses: { en: addresses, zh: addressesZh },
  adoption: { en: adoption, zh: adoptionZh },
  auth: { en: auth, zh: authZh },
  backups: { en: backups, zh: backupsZh },
  bulk: { en: bulk, zh: bulkZh },
  changelogs: { en: changelogs, zh: changelogsZh },
  charts: { en: charts, zh: chartsZh },
  checks: { en: checks, zh: checksZh },
  compose: { en: compose, zh: composeZh },
  compose_files: { en: composeFiles, zh: composeFilesZh },
  connections: { en: connections, zh: connectionsZh },
  credentials: { en: credentials, zh: credentialsZh },
  database: { en: database, zh: databaseZh },
  engine: { en: engine, zh: engineZh },
  executors: { en: executors, zh: executorsZh },
  fields: { en: fields, zh: fieldsZh },
  files: { en: files, zh: filesZh },
  images: { en: images, zh: imagesZh },
  imports: { en: imports, zh: importsZh },
  keys: { en: keys, zh: keysZh },
  kubernetes: { en: kubernetes, zh: kubernetesZh },
  logs: { en: logs, zh: logsZh },
  net: { en: net, zh: netZh },
  notifications: { en: notifications, zh: notificationsZh },
  oidc: { en: oidc, zh: oidcZh },
  patterns: { en: patterns, zh: patternsZh },
  phrases: { en: phrases, zh: phrasesZh },
  podman: { en: podman, zh: podmanZh },
  portainer: { en: portainer, zh: portainerZh },
  probes: { en: probes, zh: probesZh },
  readiness: { en: readiness, zh: readinessZh },
  recovery: { en: recovery, zh: recoveryZh },
  refusals: { en: refusals, zh: refusalsZh },
  request: { en: request, zh: requestZh },
  restoring: { en: restoring, zh: restoringZh },
  runs: { en: runs, zh: runsZh },
  settings: { en: settings, zh: settingsZh },
  snapshots: { en: snapshots, zh: snapshotsZh },
  sources: { en: sources, zh: sourcesZh },
  steps: { en: steps, zh: stepsZh },
  // Quoted text is the same in every language.
  text: { en: text, zh: text },
  thing: { en: thing, zh: thingZh },
  trackers: { en: trackers, zh: trackersZh },
};

type Areas = typeof areas;
export type Catalogue = { readonly [A in keyof Areas]: Areas[A]["en"] };

function inLanguage<L extends "en" | "zh">(language: L) {
  const entries = Object.entries(areas).map(([area, languages]) => [area, languages[language]]);
  return Object.fromEntries(entries) as { readonly [A in keyof Areas]: Areas[A][L] };
}

export const english: Catalogue = inLanguage("en");
export const chinese = inLanguage("zh");
