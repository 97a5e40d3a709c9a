import { BackupInput, BackupQuery, BackupView } from "../../backups/schema.ts";
import type { BackupService } from "../../backups/service.ts";
import { pageOf } from "../openapi.ts";
import type { Route } from "./route.ts";

/** No download: a backup has the password's hash, and with its keys every secret. It is copied on the host. */
export function backupRoutes(services: { backups: BackupService }): readonly Route[] {
  const { backups } = services;
  const tag = "backups";
  return [
    {
      method: "GET",
      path: "/backups",
      operation_id: "list_backups",
      summary: "List the backups of the data directory, newest first",
      tag,
      access: "read",
      query: BackupQuery,
      answer: { status: 200, description: "A page of backups", schema: pageOf(BackupView) },
      perform: async ({ query }) => backups.list(query),
    },
    {
      method: "POST",
      path: "/backups",
      operation_id: "create_backup",
      summary: "Make a backup in the data directory while everything goes on; its content is never sent by HTTP",
      tag,
      access: "full",
      body: BackupInput,
      answer: { status: 201, description: "The backup, complete and checked", schema: BackupView },
      refusals: { 409: "There are 20 already, another one is being made, or the database is on a server" },
      idempotent: { events: ["backup_created"], again: async ({ id }) => backups.get(id) },
      perform: ({ context, body }) => backups.create(context.get("actor"), body),
    },
    {
      method: "GET",
      path: "/backups/{name}",
      operation_id: "get_backup",
      summary: "Read what a backup is and where; not its content",
      tag,
      access: "read",
      answer: { status: 200, description: "The backup", schema: BackupView },
      perform: async ({ param }) => backups.get(param("name")),
    },
    {
      method: "DELETE",
      path: "/backups/{name}",
      operation_id: "delete_backup",
      summary: "Delete a backup from the data directory",
      tag,
      access: "full",
      answer: { status: 204, description: "Deleted", schema: null },
      perform: ({ context, param }) => backups.delete(context.get("actor"), param("name")),
    },
  ];
}
