import { setImmediate } from "node:timers";
import type { Reader, Writer } from "../db/client.ts";
import {
  listSealedValues,
  type SealedColumn,
  type SealedValue,
  sealedColumns,
  storeSealedValue,
} from "../db/sealed-columns.ts";
import type { RotatingSealer } from "../secrets/sealed.ts";
import { CorruptSecretError, type UnreadableSecret } from "./schema.ts";

/** Secrets per batch, with a pause for others between batches. Snapshots can have a megabyte each. */
const valuesAtOnce = 16;

async function walk(read: Reader, column: SealedColumn, visit: (found: SealedValue) => Promise<void>): Promise<void> {
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const values = await listSealedValues(read, column, after, valuesAtOnce);
    for (const found of values) await visit(found);
    const last = values.at(-1);
    if (last === undefined || values.length < valuesAtOnce) return;
    after = last.rowid;
    // Lets requests through meanwhile; other writes wait for the end of the transaction.
    await new Promise<void>((go) => setImmediate(go));
  }
}

const placeOf = ({ table_name, column }: SealedColumn, { id, name, owner }: SealedValue): UnreadableSecret => ({
  ...{ table: table_name, id, column: column.name },
  ...{ name, owner },
});

const corrupt = (column: SealedColumn, found: SealedValue) => new CorruptSecretError(placeOf(column, found));

type Ring = Pick<RotatingSealer, "toPrimary" | "isPrimary">;

/** Throws `CorruptSecretError` for the first secret that the sealer's primary key does not open. */
export async function assertAllPrimary(read: Reader, sealer: Ring): Promise<void> {
  for (const column of sealedColumns) {
    await walk(read, column, async (found) => {
      if (!sealer.isPrimary(found.value)) throw corrupt(column, found);
    });
  }
}

/** Throws `CorruptSecretError` with all secrets that no key of the sealer opens. Changes nothing. */
export async function assertAllReadable(read: Reader, sealer: Ring): Promise<void> {
  const unreadable: UnreadableSecret[] = [];
  for (const column of sealedColumns) {
    await walk(read, column, async (found) => {
      if (!sealer.isPrimary(sealer.toPrimary(found.value))) unreadable.push(placeOf(column, found));
    });
  }
  const [first, ...others] = unreadable;
  if (first !== undefined) throw new CorruptSecretError(first, others);
}

interface ReencryptOptions {
  sealer: Ring;
  /** Skips secrets that no key opens instead of throwing. */
  skips_corrupt: boolean;
  /** Called after each column. */
  onColumn: (table: string, column: string) => void;
}

/** Seals every secret of every table under the primary key and verifies each; returns how many it wrote. */
export async function reencryptAll(tx: Writer, { sealer, skips_corrupt, onColumn }: ReencryptOptions): Promise<number> {
  let written = 0;
  for (const column of sealedColumns) {
    await walk(tx, column, async (found) => {
      const value = sealer.toPrimary(found.value);
      if (!sealer.isPrimary(value)) {
        if (skips_corrupt) return;
        throw corrupt(column, found);
      }
      if (value === found.value) return;
      await storeSealedValue(tx, column, found.rowid, value);
      written += 1;
    });
    onColumn(column.table_name, column.column.name);
  }
  if (!skips_corrupt) await assertAllPrimary(tx, sealer);
  return written;
}
