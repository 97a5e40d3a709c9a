import type { Client } from "@libsql/client";
import Sqlite from "libsql";
import { type Message, say } from "../messages/message.ts";
import { knownMigrations, migrationsTable, readMigration } from "./migrate.ts";

/** The definition of each table, index, trigger and view, by kind and name. */
type Schema = ReadonlyMap<string, string>;

// SQLite reserves the names of its internal objects.
const everyDefinition =
  "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

function toSchema(rows: Iterable<ArrayLike<unknown>>): Schema {
  const schema = new Map<string, string>();
  for (const { 0: type, 1: name, 2: table, 3: sql } of rows) {
    schema.set(`${String(type)} "${String(name)}"`, `${String(table)}: ${String(sql).replace(/\s+/g, " ").trim()}`);
  }
  return schema;
}

/** The schema after the first `count` migrations of an empty database. */
function expectedSchema(folder: string, count: number): Schema {
  const database = new Sqlite(":memory:");
  try {
    database.exec(migrationsTable);
    for (const migration of knownMigrations(folder).slice(0, count)) {
      for (const statement of readMigration(folder, migration).statements) database.exec(statement);
    }
    const rows: readonly unknown[] = database.prepare(everyDefinition).raw(true).all([]);
    return toSchema(rows.filter(Array.isArray));
  } finally {
    database.close();
  }
}

/** How a database differs from what its migrations create, such as `table "runs" is missing`; null when it does not. */
export async function schemaDifference(client: Client, folder: string, count: number): Promise<Message | null> {
  const expected = expectedSchema(folder, count);
  const found = toSchema((await client.execute(everyDefinition)).rows);
  for (const [object, definition] of expected) {
    if (!found.has(object)) return say("database.object_missing", { object });
    if (found.get(object) !== definition) return say("database.object_changed", { object });
  }
  for (const object of found.keys()) if (!expected.has(object)) return say("database.object_foreign", { object });
  return null;
}
