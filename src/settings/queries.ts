import type { Reader, Writer } from "../db/client.ts";
import { rowsOfPrepared } from "../db/prepared.ts";
import { settings } from "../db/tables.ts";

const settingRows = rowsOfPrepared((read) =>
  read.select({ key: settings.key, value: settings.value }).from(settings).limit(100),
);

export async function storedSettings(read: Reader): Promise<Record<string, unknown>> {
  const rows = await settingRows(read);
  return Object.fromEntries(rows.map((row) => [row.key, row.value]));
}

export async function storeSetting(tx: Writer, key: string, value: unknown, now: number): Promise<void> {
  await tx
    .insert(settings)
    .values({ key, value, updated_at: now })
    .onConflictDoUpdate({ target: settings.key, set: { value, updated_at: now } });
}
