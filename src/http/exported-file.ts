import type { SnapshotExport } from "../runs/snapshots.ts";

/** An export as a download. It may hold secrets, so nothing may cache it or interpret it as another type. */
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
