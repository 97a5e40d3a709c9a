import * as v from "valibot";
import { Instant } from "../forms/inputs.ts";
import type { ListShape } from "../forms/page.ts";

/** Why a copy was made: on request, before a rotation of the encryption key, before an upgrade, or by a restore. */
export const backupKinds = ["manual", "before-key-rotation", "before-upgrade", "replaced"] as const;
export type BackupKind = (typeof backupKinds)[number];

/** Backups kept beside the data. At the limit the next one is refused: the administrator decides which one may go. */
export const maximumBackups = 20;

export const BackupInput = v.strictObject({
  with_keys: v.optional(
    v.pipe(
      v.boolean(),
      v.title("With the keys"),
      v.description(
        "A backup with keys can decrypt all its secrets; a backup without keys needs the key file from elsewhere",
      ),
    ),
    true,
  ),
});

export const BackupView = v.object({
  name: v.string(),
  kind: v.picklist(backupKinds),
  created_at: Instant,
  size_bytes: v.number(),
  has_keys: v.boolean(),
  has_checksums: v.pipe(
    v.boolean(),
    v.description("Whether a manifest has checksums for its files; earlier versions wrote none"),
  ),
  path: v.pipe(v.string(), v.description("Path on the host")),
});
export type BackupView = v.InferOutput<typeof BackupView>;

export const backupList: ListShape = {
  sorts: ["-time", "size"],
  filters: { kind: backupKinds, keys: ["with", "without"] },
  searched: "Part of the name",
};
