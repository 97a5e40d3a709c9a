import { sql } from "drizzle-orm";
import { listsOfValues } from "../db/listing.ts";
import type { BackupView } from "./schema.ts";

/** Of files, each with its name as its id. */
export const backupLists = listsOfValues<BackupView & { id: string }>({
  sorts: { time: "listed.value ->> 'created_at'", size: "listed.value ->> 'size_bytes'" },
  filters: {
    kind: sql`listed.value ->> 'kind'`,
    keys: { with: sql`listed.value ->> 'has_keys'`, without: sql`not (listed.value ->> 'has_keys')` },
  },
  searched: [sql`listed.value ->> 'name'`],
});
