import { plural } from "../../format.ts";

export const snapshots = {
  unreadable_title: "This snapshot cannot be used",
  unreadable_text: "Delete it, or choose another one.",
  title_of: (executor: string) => `Snapshot of ${executor}`,
  diff: "Compared with current",
  diff_lead: "Changes from the running configuration to the snapshot",
  diff_loading: "Comparing with the running configuration",
  diff_show: "Compare",
  diff_failed: "Comparison with the running configuration failed",
  diff_none: "The running configuration matches the snapshot.",
  gone: "The target no longer exists. Restoring the snapshot recreates it.",
  refused: "The snapshot cannot be restored right now",
  images: "Images",
  image_present: "present",
  image_absent: "missing; will be pulled by digest when restored",
  export: "Export",
  export_title: (executor: string) => `Export the snapshot of ${executor}`,
  export_text:
    "A file that recreates the containers without Tidemark. It contains no data: volumes and folders are used as they are.",
  format: "Format",
  script: "Shell script",
  script_text:
    "Requires sh and the docker or podman command. Does not touch an existing container of the same name unless you use `--replace`.",
  compose: "Compose file",
  compose_text: "For docker compose. Networks and volumes must exist.",
  with_secrets: "With secrets in clear text",
  with_secrets_text:
    "Without secrets, values that look like secrets become variables that you must provide. The audit log records whether an export included them.",
  download: "Download",
};

export const images = {
  title: "Unused images",
  lead: (count: number) => plural("en", count, { one: "image", other: "images" }),
  text: "Images that no container uses: those kept for snapshots, those in repositories updated here, and those without a tag. Nothing is removed automatically.",
  others: (count: number) =>
    `${plural("en", count, { one: "other unused image is", other: "other unused images are" })} not related to Tidemark and not listed.`,
  filter_text: "Image, ID or executor",
  looking: "Looking for unused images",
  show: "Find unused images",
  again: "Refresh",
  failed: "The images could not be listed",
  none: "No images to clean up",
  none_text: "Every image related to Tidemark is in use.",
  untagged: "no name",
  age: "Built",
  why: "Reason",
  reasons: {
    kept: "Kept for a deleted snapshot",
    repository: "Repository updated here",
    untagged: "No longer tagged",
    needed: "Needed by a snapshot",
  },
  needed: (count: number) => `${plural("en", count, { one: "snapshot needs", other: "snapshots need" })} it:`,
  remove: "Remove",
  remove_title: (count: number) => `Remove ${plural("en", count, { one: "image", other: "images" })}?`,
  remove_text: "Images that cannot be pulled again are lost. No container or snapshot needs them.",
  nothing_selected: "Select at least one image",
  freed: "Frees up to",
  removed: (count: number) => `Removed ${plural("en", count, { one: "image", other: "images" })}`,
  not_removed: (count: number) => `${plural("en", count, { one: "image", other: "images" })} could not be removed`,
};
