import { existsSync } from "node:fs";
import { auditRecorder } from "../auth/audit.ts";
import { requireAdministrator } from "../auth/bootstrap.ts";
import { resetPassword } from "../auth/reset-password.ts";
import { assertNoRestore } from "../backups/place-restored.ts";
import { systemClock } from "../clock.ts";
import { type Config, configSecrets, readProcessConfig } from "../config.ts";
import { type Database, databaseFile, openDatabase } from "../db/client.ts";
import { checkDatabase, inspectDatabaseFile } from "../db/migrate.ts";
import { errorMessage, TerminalError } from "../errors.ts";
import { createPasswords } from "../secrets/password.ts";
import { lastWords } from "../secrets/redaction.ts";
import { createHiddenPrompt, readOneLine } from "./hidden-prompt.ts";

// `bun run reset-password`: uses only the data directory, whether the server is running or stopped. It needs no keys and no HTTP, and takes
// no lock: the server's next request finds its sessions gone.

const usage = `Sets a new password for the administrator and ends all sessions.

  bun run reset-password            prompts twice, without echo
  bun run reset-password --stdin    reads one line from standard input

Uses the same DATA_DIR, DATABASE_URL and DATABASE_AUTH_TOKEN as the server.`;

const USAGE_ERROR = 2;

class UsageError extends Error {}

async function askTwice(): Promise<string> {
  const prompt = createHiddenPrompt(process.stdin, process.stderr);
  if (prompt === null) throw new UsageError("Run this in a terminal, or pass the password with --stdin");
  try {
    const password = await prompt.ask("New password: ");
    if ((await prompt.ask("Repeat: ")) !== password) throw new TerminalError("The passwords do not match");
    return password;
  } finally {
    prompt.close();
  }
}

type Mode = "terminal" | "stdin" | "help";

function parseArguments(args: readonly string[]): Mode {
  const [option, ...more] = args;
  if (option === undefined) return "terminal";
  if (more.length === 0 && option === "--stdin") return "stdin";
  if (more.length === 0 && option === "--help") return "help";
  // Not quoted: it may be the password, and the shell's history already has it.
  throw new UsageError("The password cannot be passed as an argument, where other users of this machine could read it");
}

/** Opens the server's database; never creates a missing file or changes an older or damaged one. */
async function openExisting(config: Config): Promise<Database> {
  assertNoRestore(config.data_dir);
  const file = databaseFile(config.database_url);
  if (file !== null && !existsSync(file)) {
    throw new TerminalError(`There is no database "${file}"; set DATA_DIR to the data directory of the server`);
  }
  // Opening an empty file would create a database and hide the loss of the previous one.
  if (file !== null) inspectDatabaseFile(file, { keys: "key_file", was_used: true });
  const db = await openDatabase({ url: config.database_url, auth_token: config.database_auth_token });
  try {
    await checkDatabase(db.client, file);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function run(mode: Mode): Promise<void> {
  if (mode === "help") {
    console.log(usage);
    return;
  }
  const config = readProcessConfig();
  try {
    await reset(config, mode);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new Error(lastWords(error, configSecrets(config)), { cause: error });
  }
}

async function reset(config: Config, mode: "terminal" | "stdin"): Promise<void> {
  const db = await openExisting(config);
  try {
    // Checked before asking for a password in vain.
    await requireAdministrator(db.read);
    const password = mode === "stdin" ? await readOneLine(process.stdin) : await askTwice();
    const passwords = await createPasswords();
    const audit = auditRecorder({ clock: systemClock });
    const username = await resetPassword({ db, clock: systemClock, audit, passwords }, password);
    console.log(
      `The password of "${username}" is set. All sessions have ended and all API tokens are revoked; sign in again.`,
    );
  } finally {
    await db.close();
  }
}

process.umask(0o077);
try {
  await run(parseArguments(process.argv.slice(2)));
} catch (error) {
  const isUsage = error instanceof UsageError;
  console.error(isUsage ? `${error.message}\n\n${usage}` : `The password was not changed. ${errorMessage(error)}`);
  process.exitCode = isUsage ? USAGE_ERROR : 1;
}
