import type { Area } from "./types.ts";

/** The names of what the product keeps, as they stand inside a sentence. */
export const thing = {
  api_token: "API token",
  backup: "backup",
  connection: "connection",
  credential: "credential",
  delivery: "delivery",
  executor: "executor",
  identity_provider: "identity provider",
  ignored_target: "ignored target",
  image: "image",
  image_list: "image list of the connection",
  notifier: "notifier",
  page: "page",
  release: "release",
  run: "run",
  run_log: "log of the run",
  session: "session",
  snapshot: "snapshot",
  source: "source",
  tracker: "tracker",
} satisfies Area;
