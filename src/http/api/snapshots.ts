import { listQuery } from "../../forms/page.ts";
import {
  SnapshotDetailView,
  SnapshotDiffView,
  SnapshotExportQuery,
  SnapshotPatch,
  SnapshotView,
  snapshotList,
} from "../../runs/schema.ts";
import type { Services } from "../../services.ts";
import { exportedFile } from "../exported-file.ts";
import { pageOf } from "../openapi.ts";
import { type Route, routesOf } from "./route.ts";

export function snapshotRoutes({ snapshots }: Pick<Services, "snapshots">): readonly Route[] {
  const route = routesOf("snapshots");
  return [
    route("GET", "/snapshots", {
      operation_id: "list_snapshots",
      summary: "List snapshots, newest first",
      query: listQuery(snapshotList),
      answer: { status: 200, description: "A page of snapshots", schema: pageOf(SnapshotView) },
      perform: ({ query }) => snapshots.list(query),
    }),
    route("GET", "/snapshots/{id}", {
      operation_id: "get_snapshot",
      summary: "Get a snapshot; the values of environment variables are masked",
      answer: { status: 200, description: "The snapshot", schema: SnapshotDetailView },
      perform: ({ param }) => snapshots.get(param("id")),
    }),
    route("GET", "/snapshots/{id}/diff", {
      operation_id: "diff_snapshot",
      summary: "Compare a snapshot with the running configuration; values that look like secrets are masked",
      answer: { status: 200, description: "What restoring it would change", schema: SnapshotDiffView },
      refusals: { 424: "The runtime did not respond" },
      perform: ({ context, param }) => snapshots.diff(param("id"), context.req.raw.signal),
    }),
    route("GET", "/snapshots/{id}/export", {
      operation_id: "export_snapshot",
      summary: "Export a file that restores a snapshot without Tidemark; with secrets only on request",
      access: "full",
      query: SnapshotExportQuery,
      answer: {
        status: 200,
        description: "A shell script, or a compose file",
        schema: null,
        media_type: "text/plain",
      },
      perform: async ({ context, param, query }) =>
        exportedFile(await snapshots.export(context.get("actor"), param("id"), query)),
    }),
    route("PATCH", "/snapshots/{id}", {
      operation_id: "update_snapshot",
      summary: "Lock or unlock a snapshot",
      body: SnapshotPatch,
      answer: { status: 200, description: "The snapshot", schema: SnapshotView },
      perform: ({ context, param, body }) => snapshots.update(context.get("actor"), param("id"), body),
    }),
    route("DELETE", "/snapshots/{id}", {
      operation_id: "delete_snapshot",
      summary: "Delete a snapshot that is not locked",
      answer: { status: 204, description: "Deleted", schema: null },
      refusals: { 409: "It is locked, or a run may still roll back to it" },
      perform: ({ context, param }) => snapshots.remove(context.get("actor"), param("id")),
    }),
  ];
}
