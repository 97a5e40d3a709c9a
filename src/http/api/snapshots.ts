import {
  SnapshotDetailView,
  SnapshotDiffView,
  SnapshotExportQuery,
  SnapshotPatch,
  SnapshotView,
} from "../../runs/schema.ts";
import { SnapshotQuery, type SnapshotService } from "../../runs/snapshots.ts";
import { exportedFile } from "../exported-file.ts";
import { pageOf } from "../openapi.ts";
import type { Route } from "./route.ts";

export function snapshotRoutes(services: { snapshots: SnapshotService }): readonly Route[] {
  const { snapshots } = services;
  const tag = "snapshots";
  return [
    {
      method: "GET",
      path: "/snapshots",
      operation_id: "list_snapshots",
      summary: "List snapshots, the newest first",
      tag,
      access: "read",
      query: SnapshotQuery,
      answer: { status: 200, description: "A page of snapshots", schema: pageOf(SnapshotView) },
      perform: ({ query }) => snapshots.list(query),
    },
    {
      method: "GET",
      path: "/snapshots/{id}",
      operation_id: "get_snapshot",
      summary: "Read a snapshot; the values of environment variables are masked",
      tag,
      access: "read",
      answer: { status: 200, description: "The snapshot", schema: SnapshotDetailView },
      perform: ({ param }) => snapshots.get(param("id")),
    },
    {
      method: "GET",
      path: "/snapshots/{id}/diff",
      operation_id: "diff_snapshot",
      summary: "Compare a snapshot with what runs now; values that look like secrets are masked",
      tag,
      access: "read",
      answer: { status: 200, description: "What restoring it would change", schema: SnapshotDiffView },
      refusals: { 424: "The runtime did not answer" },
      perform: ({ context, param }) => snapshots.diff(param("id"), context.req.raw.signal),
    },
    {
      method: "GET",
      path: "/snapshots/{id}/export",
      operation_id: "export_snapshot",
      summary: "Write what restores a snapshot without Tidemark; secrets only on request",
      tag,
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
    },
    {
      method: "PATCH",
      path: "/snapshots/{id}",
      operation_id: "update_snapshot",
      summary: "Lock or unlock a snapshot",
      tag,
      access: "full",
      body: SnapshotPatch,
      answer: { status: 200, description: "The snapshot", schema: SnapshotView },
      perform: ({ context, param, body }) => snapshots.update(context.get("actor"), param("id"), body),
    },
    {
      method: "DELETE",
      path: "/snapshots/{id}",
      operation_id: "delete_snapshot",
      summary: "Delete a snapshot that is not locked",
      tag,
      access: "full",
      answer: { status: 204, description: "Deleted", schema: null },
      refusals: { 409: "It is locked, or a run goes back to it" },
      perform: ({ context, param }) => snapshots.remove(context.get("actor"), param("id")),
    },
  ];
}
