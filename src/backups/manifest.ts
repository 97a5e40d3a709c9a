import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { type FileFacts, isSameContent, isThere, writeNewFile } from "../durable-files.ts";
import { AppError } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import { version } from "../version.ts";

/** Beside the files of a backup, with their sizes and checksums. */
export const manifestName = "manifest.json";

const Manifest = v.object({
  format: v.literal(1),
  product: v.literal("tidemark"),
  version: v.string(),
  created_at: v.number(),
  /** How many migrations the database has; null for one put aside unchecked. */
  migrations: v.nullable(v.number()),
  files: v.pipe(v.array(v.object({ name: v.string(), size: v.number(), sha256: v.string() })), v.readonly()),
});
export type Manifest = v.InferOutput<typeof Manifest>;
export type ManifestFile = Manifest["files"][number];

/** Throws `EEXIST`. */
export function writeManifest(path: string, facts: Pick<Manifest, "created_at" | "migrations" | "files">): void {
  const manifest: Manifest = { format: 1, product: "tidemark", version, ...facts };
  writeNewFile(path, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Null for a backup of a version without manifests. */
export function readManifest(folder: string): Manifest | null {
  const path = join(folder, manifestName);
  if (!isThere(path)) return null;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Manifest), readFileSync(path, "utf8"));
  if (parsed.success) return parsed.output;
  throw damagedBackup(say("backups.manifest_unreadable", { path }));
}

/** Throws when a file of a backup differs from what was written. A file missing from the manifest has no checksum. */
export function assertAsWritten(manifest: Manifest, name: string, path: string, facts: FileFacts): void {
  const written = manifest.files.find((file) => file.name === name);
  if (written === undefined || isSameContent(written, facts)) return;
  throw damagedBackup(
    written.size === facts.size
      ? say("backups.checksum_wrong", { path, manifest: manifestName })
      : say("backups.size_wrong", { path, manifest: manifestName, found: facts.size, wanted: written.size }),
  );
}

export function damagedBackup(problem: Message): AppError {
  return new AppError("backup_damaged", 409, say("backups.damaged", { problem }));
}
