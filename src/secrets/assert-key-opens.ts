import { AppError } from "../errors.ts";
import { say } from "../messages/message.ts";
import { decryptFernetWithAny, type FernetKey, parseFernetKey } from "./fernet.ts";
import { assertKeyFits, type EncryptionKeys, KeyError, keyId } from "./keys.ts";

/** Whether any of the keys opens a sealed value. */
export function opener(keys: EncryptionKeys): (sealed: string) => boolean {
  const ring: readonly FernetKey[] = [keys.primary, ...(keys.previous ?? [])]
    .map(parseFernetKey)
    .filter((key) => key !== null);
  return (sealed) => {
    try {
      decryptFernetWithAny(ring, sealed);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === "undecryptable") return false;
      throw error;
    }
  };
}

/**
 * Compares the keys with the database, like `assertKeyFits`. A database with secrets but no key id must have a secret that opens: a wrong
 * key must never be stored. Throws `KeyError` when none does.
 */
export async function assertKeyOpens(
  keys: EncryptionKeys,
  storedKeyId: string | null,
  sealed: AsyncIterable<{ readonly value: string }>,
): Promise<void> {
  if (storedKeyId !== null) return assertKeyFits(keys, storedKeyId);
  const opens = opener(keys);
  let count = 0;
  for await (const { value } of sealed) {
    if (opens(value)) return;
    count += 1;
  }
  if (count === 0) return;
  throw new KeyError(say("keys.database_of_unknown_key", { used: keyId(keys.primary) }));
}
