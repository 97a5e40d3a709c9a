import { BackupInput, BackupView, backupList } from "../../backups/schema.ts";
import { listQuery } from "../../forms/page.ts";
import type { Services } from "../../services.ts";
import { pageOf } from "../openapi.ts";
import { type Route, routesOf } from "./route.ts";

/** No download: a backup has the password's hash, and with its keys every secret. It is copied on the host. */
export function backupRoutes({ backups }: Pick<Services, "backups">): readonly Route[] {
  const route = routesOf("backups");
  return [
    route("GET", "/backups", {
      operation_id: "list_backups",
      summary: "List the backups in the data directory, newest first",
      query: listQuery(backupList),
      answer: { status: 200, description: "A page of backups", schema: pageOf(BackupView) },
      perform: ({ query }) => backups.read().list(query),
    }),
    route("POST", "/backups", {
      operation_id: "create_backup",
      summary: "Make a backup in the data directory while the service runs; backups cannot be downloaded",
      body: BackupInput,
      answer: { status: 201, description: "The backup, complete and checked", schema: BackupView },
      refusals: { 409: "There are already 20, a backup is in progress, or the database is on a server" },
      idempotent: { events: ["backup_created"], again: async ({ id }) => backups.get(id) },
      perform: ({ context, body }) => backups.create(context.get("actor"), body),
    }),
    route("GET", "/backups/{name}", {
      operation_id: "get_backup",
      summary: "Get a backup's details and location, without its content",
      answer: { status: 200, description: "The backup", schema: BackupView },
      perform: async ({ param }) => backups.get(param("name")),
    }),
    route("DELETE", "/backups/{name}", {
      operation_id: "delete_backup",
      summary: "Delete a backup from the data directory",
      answer: { status: 204, description: "Deleted", schema: null },
      perform: ({ context, param }) => backups.delete(context.get("actor"), param("name")),
    }),
  ];
}
