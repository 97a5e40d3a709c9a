import type { SnapshotExport } from "../runs/snapshots.ts";

/** An export as a file to save: it may hold secrets, so nothing on the way keeps it or shows it as something else. */
export function exportedFile({ file_name, text }: SnapshotExport): Response {
  return new Response(text, {
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Disposition": `attachment; filename="${file_name}"`,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    },
  });
}
