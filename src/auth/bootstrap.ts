import { randomInt } from "node:crypto";
import type { Reader } from "../db/client.ts";
import { isInUse } from "../db/installation.ts";
import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Log } from "../log.ts";
import { type Message, say } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import type { Passwords } from "../secrets/password.ts";
import { firstAdministrators, insertAdministrator, storedAdministratorId } from "./queries.ts";
import { systemActor } from "./schema.ts";

const FIRST_USERNAME = "admin";
// No look-alike letters and digits: people read it from a log and may type it. 26 of 32 symbols are 130 bits.
const ALPHABET = "abcdefghjkmnpqrstuvwxyz023456789";
const PASSWORD_CHARACTERS = 26;

interface BootstrapOptions extends Pick<Parts, "db" | "clock" | "audit"> {
  /** Must let INFO lines pass, whatever the stored log level: the password appears in one of them and nowhere else. */
  log: Log;
  passwords: Passwords;
}

function startError(message: Message): AppError {
  return new AppError("administrator_unusable", 500, message);
}

function newPassword(): string {
  return Array.from({ length: PASSWORD_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}

/** The administrator's id, or null on a fresh installation. Throws for any inconsistent state. */
async function judge(read: Reader): Promise<string | null> {
  const storedId = await storedAdministratorId(read);
  const [administrator, second] = await firstAdministrators(read);
  if (second !== undefined) throw startError(say("auth.administrator_doubled"));
  if (administrator === undefined) {
    // Creating the record writes the first audit entry. If entries or anything later exist without a record, it was lost.
    if (storedId === null && !(await isInUse(read))) return null;
    throw startError(say("auth.administrator_missing"));
  }
  if (storedId !== administrator.id) {
    throw startError(say("auth.administrator_other", { id: administrator.id, stored: storedId }));
  }
  return storedId;
}

/** The id, for commands that change the administrator. Throws when the record is missing, duplicated or not the stored one. */
export async function requireAdministrator(read: Reader): Promise<string> {
  const id = await judge(read);
  if (id === null) {
    throw startError(say("auth.administrator_not_created"));
  }
  return id;
}

/**
 * Creates the administrator on a fresh installation and logs its password once, after the commit. Otherwise asserts that the only record is
 * the stored one; when it is not, throws an error with recovery steps and creates nothing. Returns the id.
 */
export async function bootstrapAdministrator(options: BootstrapOptions): Promise<string> {
  const { db, clock, log, audit, passwords } = options;
  const existing = await judge(db.read).catch(async (error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    // Another process may create the record between two reads; a transaction gives one consistent view.
    return await db.write((tx) => judge(tx));
  });
  if (existing !== null) return existing;

  const password = newPassword();
  const hash = await passwords.hash(password);
  const now = clock.now();
  const id = newId(now);
  const created = await db.write(async (tx) => {
    // Another instance on the same database may have been faster; its password counts.
    const other = await judge(tx);
    if (other !== null) return other;
    await insertAdministrator(tx, {
      id,
      username: FIRST_USERNAME,
      password_hash: hash,
      is_password_change_required: true,
      created_at: now,
      updated_at: now,
    });
    await audit(tx, systemActor, {
      event: "administrator_created",
      outcome: "ok",
      subject: { kind: "administrator", id, name: FIRST_USERNAME },
    });
    return id;
  });
  if (created === id) log.info(`Created the administrator "${FIRST_USERNAME}" with the bootstrap password ${password}`);
  return created;
}
