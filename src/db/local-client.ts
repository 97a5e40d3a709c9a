import type { Client, InStatement, InValue, ResultSet, Row } from "@libsql/client/sqlite3";
import { LibsqlError } from "@libsql/client/sqlite3";
import Sqlite from "libsql";
import { RecentMap } from "../recent-map.ts";

/** Prepared statements kept per connection: more than the frequent queries of the code, few enough to cost little. */
const maxStatements = 200;

type Connection = InstanceType<typeof Sqlite>;
type Prepared = Sqlite.Statement<[readonly InValue[]]>;

interface Statement {
  prepared: Prepared;
  /** False for statements that only write. */
  returnsRows: boolean;
}

/**
 * A connection with prepared statements. The client of `@libsql/client` prepares each statement again and reads its columns twice, which
 * takes several times as long as running most of ours.
 */
function openConnection(path: string) {
  const connection = new Sqlite(path);
  // Both are per connection; `journal_mode` is per file. 2 is FULL.
  for (const [pragma, value] of [["foreign_keys", 1] as const, ["synchronous", 2] as const]) {
    connection.exec(`PRAGMA ${pragma} = ${value}`);
    const [found] = connection.prepare(`PRAGMA ${pragma}`).raw(true).all([]);
    if (!Array.isArray(found) || found[0] !== value)
      throw new Error(`The database does not take "${pragma} = ${value}"`);
  }
  const statements = new RecentMap<string, Statement>(maxStatements);

  const prepare = (sql: string): Statement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = prepareNew(connection, sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    execute: (statement: InStatement): ResultSet => {
      const sql = typeof statement === "string" ? statement : statement.sql;
      const args = typeof statement === "string" ? [] : positional(statement.args ?? []);
      try {
        const { prepared, returnsRows } = prepare(sql);
        if (returnsRows) return resultOf(prepared.all(args), 0);
        return resultOf([], prepared.run(args).changes);
      } catch (error) {
        statements.delete(sql);
        throw toLibsqlError(error);
      }
    },
    /** Begins and ends transactions without leaving a statement that could be "in progress" at the next commit. */
    control: (sql: "BEGIN IMMEDIATE" | "COMMIT" | "ROLLBACK"): void => {
      try {
        connection.exec(sql);
      } catch (error) {
        throw toLibsqlError(error);
      }
    },
    isInTransaction: () => connection.open && connection.inTransaction,
    close: () => {
      statements.clear();
      if (connection.open) connection.close();
    },
  };
}

function prepareNew(connection: Connection, sql: string): Statement {
  const prepared = connection.prepare<[readonly InValue[]]>(sql);
  try {
    return { prepared: prepared.raw(true), returnsRows: true };
  } catch {
    // How the library reports that a statement returns no rows.
    return { prepared, returnsRows: false };
  }
}

function positional(args: NonNullable<Exclude<InStatement, string>["args"]>): InValue[] {
  if (!Array.isArray(args)) throw new TypeError("Named values are not used here");
  return args.map((value) => {
    if (typeof value === "boolean") return value ? 1 : 0;
    if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError("Only finite numbers can be stored");
    if (value === undefined) throw new TypeError("A value to be stored is undefined");
    return value instanceof ArrayBuffer ? Buffer.from(value) : value;
  });
}

/** Rows by position only: the query builder needs nothing else. */
function resultOf(found: readonly unknown[], rowsAffected: number): ResultSet {
  const rows = found as Row[];
  return { columns: [], columnTypes: [], rows, rowsAffected, lastInsertRowid: undefined, toJSON: () => ({ rows }) };
}

function toLibsqlError(error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error;
  return new LibsqlError(error.message, error.code, error.code, error.rawCode, error);
}

function isBusy(error: unknown): boolean {
  return error instanceof LibsqlError && error.code.startsWith("SQLITE_BUSY");
}

/** A `file:` database over two connections of its own, each with prepared statements. */
export interface LocalDatabase {
  /** Sees committed data only. */
  reading: Client;
  /** Used only within a transaction. */
  writing: Client;
  begin(): void;
  commit(): void;
  /** Harmless when no transaction is open. */
  rollback(): void;
  /** Passes every text written from now on through `rewrite`. */
  rewriteTexts(rewrite: (text: string) => string): void;
  /** False after an error for which the engine itself ended the transaction, such as a full disk. */
  isOpen(): boolean;
  close(): void;
}

/** Opens the two connections; `client` handles everything else. */
export function openLocal(client: Client, path: string): LocalDatabase {
  let reading = openConnection(path);
  let writing = openConnection(path);
  let isBroken = false;
  let rewrite: ((text: string) => string) | null = null;
  const rewritten = (statement: InStatement): InStatement => {
    if (rewrite === null || typeof statement === "string" || !Array.isArray(statement.args)) return statement;
    const change = rewrite;
    return { ...statement, args: statement.args.map((value) => (typeof value === "string" ? change(value) : value)) };
  };

  const read = (statement: InStatement): ResultSet => {
    try {
      return reading.execute(statement);
    } catch (error) {
      // A statement that met a lock stays "in progress" and would keep its view of the database.
      if (isBusy(error)) {
        reading.close();
        reading = openConnection(path);
      }
      throw error;
    }
  };
  const write = (statement: InStatement): ResultSet => {
    if (!writing.isInTransaction()) throw new LibsqlError("The transaction is closed", "TRANSACTION_CLOSED");
    try {
      return writing.execute(rewritten(statement));
    } catch (error) {
      isBroken ||= isBusy(error);
      throw error;
    }
  };
  return {
    reading: clientOver(client, read),
    writing: clientOver(client, write),
    begin: () => writing.control("BEGIN IMMEDIATE"),
    commit: () => {
      isBroken = true;
      writing.control("COMMIT");
      isBroken = false;
    },
    rollback: () => {
      try {
        if (writing.isInTransaction()) writing.control("ROLLBACK");
      } catch (error) {
        isBroken = true;
        throw error;
      } finally {
        // After a lock, or where even this failed, the next commit would fail too.
        if (isBroken) {
          writing.close();
          writing = openConnection(path);
          isBroken = false;
        }
      }
    },
    rewriteTexts: (change) => {
      rewrite = change;
    },
    isOpen: () => writing.isInTransaction(),
    close: () => {
      reading.close();
      writing.close();
    },
  };
}

function clientOver(client: Client, execute: (statement: InStatement) => ResultSet): Client {
  return {
    execute: async (statement: InStatement) => execute(statement),
    transaction: () => Promise.reject(new LibsqlError("Transactions go through the write queue", "NOT_SUPPORTED")),
    batch: (statements, mode) => client.batch(statements, mode),
    migrate: (statements) => client.migrate(statements),
    executeMultiple: (sql) => client.executeMultiple(sql),
    sync: () => client.sync(),
    reconnect: () => client.reconnect(),
    close: () => client.close(),
    get closed() {
      return client.closed;
    },
    protocol: client.protocol,
  };
}
