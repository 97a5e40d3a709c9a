import type { Catalogue } from "../catalogue.ts";
import type { Rendering } from "../types.ts";
import { addresses } from "./addresses.ts";
import { auth } from "./auth.ts";
import { backups } from "./backups.ts";
import { changelogs } from "./changelogs.ts";
import { charts } from "./charts.ts";
import { checks } from "./checks.ts";
import { compose } from "./compose.ts";
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
import { net } from "./net.ts";
import { notifications } from "./notifications.ts";
import { oidc } from "./oidc.ts";
import { patterns } from "./patterns.ts";
import { phrases } from "./phrases.ts";
import { podman } from "./podman.ts";
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
import { thing } from "./thing.ts";
import { trackers } from "./trackers.ts";

/** 目录中每个句子的中文。 */
export const catalogue = {
  addresses,
  auth,
  backups,
  changelogs,
  charts,
  checks,
  compose,
  connections,
  credentials,
  database,
  engine,
  executors,
  fields,
  files,
  images,
  imports,
  keys,
  net,
  notifications,
  oidc,
  patterns,
  phrases,
  podman,
  probes,
  readiness,
  recovery,
  refusals,
  request,
  restoring,
  runs,
  settings,
  snapshots,
  sources,
  thing,
  trackers,
} satisfies { readonly [A in Exclude<keyof Catalogue, "text">]: Rendering<Catalogue[A]> };
