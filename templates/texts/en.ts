import { audit } from "./en/audit.ts";
import { auth } from "./en/auth.ts";
import { backtest } from "./en/backtest.ts";
import { common } from "./en/common.ts";
import { connections } from "./en/connections.ts";
import { credentials } from "./en/credentials.ts";
import { docs } from "./en/docs.ts";
import { events } from "./en/events.ts";
import { executors } from "./en/executors.ts";
import { imports } from "./en/imports.ts";
import { backups, keys } from "./en/keys.ts";
import { notes } from "./en/notes.ts";
import { notifiers } from "./en/notifiers.ts";
import { oidc } from "./en/oidc.ts";
import { overview } from "./en/overview.ts";
import { runs } from "./en/runs.ts";
import { settings } from "./en/settings.ts";
import { images, snapshots } from "./en/snapshots.ts";
import { trackers } from "./en/trackers.ts";
import { upstreams } from "./en/upstreams.ts";

/** The English texts, and by their type the keys that every language must have. */
export const en = {
  common,
  auth,
  audit,
  overview,
  trackers,
  executors,
  runs,
  connections,
  credentials,
  notifiers,
  settings,
  events,
  docs,
  imports,
  backtest,
  upstreams,
  notes,
  snapshots,
  oidc,
  images,
  keys,
  backups,
};

export type Texts = typeof en;
