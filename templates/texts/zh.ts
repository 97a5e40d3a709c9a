import type { Texts } from "./en.ts";
import { audit } from "./zh/audit.ts";
import { auth } from "./zh/auth.ts";
import { backtest } from "./zh/backtest.ts";
import { common } from "./zh/common.ts";
import { connections } from "./zh/connections.ts";
import { credentials } from "./zh/credentials.ts";
import { docs } from "./zh/docs.ts";
import { events } from "./zh/events.ts";
import { executors } from "./zh/executors.ts";
import { imports } from "./zh/imports.ts";
import { backups, keys } from "./zh/keys.ts";
import { notes } from "./zh/notes.ts";
import { notifiers } from "./zh/notifiers.ts";
import { oidc } from "./zh/oidc.ts";
import { overview } from "./zh/overview.ts";
import { runs } from "./zh/runs.ts";
import { settings } from "./zh/settings.ts";
import { images, snapshots } from "./zh/snapshots.ts";
import { trackers } from "./zh/trackers.ts";
import { upstreams } from "./zh/upstreams.ts";

export const zh = {
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
} satisfies Texts;
