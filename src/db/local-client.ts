import type { Client, InStatement, InValue, ResultSet, Row, Transaction } from "@libsql/client";
import { LibsqlError } from "@libsql/client";
import Sqlite from "libsql";

/** Prepared statements kept for each connection: more than the code has that are asked often, few enough to cost little. */
const maxStatements = 200;

type Connection = InstanceType<typeof Sqlite>;
type Prepared = Sqlite.Statement<[readonly InValue[]]>;

interface Statement {
  prepared: Prepared;
  /** False for what only writes. */
  returnsRows: boolean;
}

/**
 * One connection with its prepared statements. The client of `@libsql/client` prepares each statement anew and asks for its
 * columns twice, which takes several times as long as most of ours take to run.
 */
function openConnection(path: string) {
  const connection = new Sqlite(path);
  // Both are per connection; `journal_mode` is the file's.
  for (const pragma of ["foreign_keys = ON", "synchronous = FULL"]) connection.exec(`PRAGMA ${pragma}`);
  const statements = new Map<string, Statement>();

  const prepare = (sql: string): Statement => {
    const known = statements.get(sql);
    // The least recently used is the first.
    statements.delete(sql);
    const statement = known ?? prepareNew(connection, sql);
    statements.set(sql, statement);
    if (statements.size > maxStatements) {
      const [oldest] = statements.keys();
      if (oldest !== undefined) statements.delete(oldest);
    }
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
    /** For what begins and ends transactions: it leaves no statement behind that could be "in progress" at the next commit. */
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
    // That is how the library says that it returns no rows.
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

/** Rows by position alone: the query builder asks for nothing else. */
function resultOf(found: readonly unknown[], rowsAffected: number): ResultSet {
  const rows = found.map((values): Row => {
    const row: Row = { length: 0 };
    if (!Array.isArray(values)) return row;
    row.length = values.length;
    for (let index = 0; index < values.length; index += 1) row[index] = values[index];
    return row;
  });
  return { columns: [], columnTypes: [], rows, rowsAffected, lastInsertRowid: undefined, toJSON: () => ({ rows }) };
}

function toLibsqlError(error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error;
  return new LibsqlError(error.message, error.code, error.code, error.rawCode, error);
}

function isBusy(error: unknown): boolean {
  return error instanceof LibsqlError && error.code.startsWith("SQLITE_BUSY");
}

/**
 * `client` with a faster way for queries and transactions of a `file:` database: a connection for reading and one for writing, each
 * with its prepared statements. One write transaction at a time is open, as the write queue has it anyway.
 */
export function localClient(client: Client, path: string): Client {
  let reading = openConnection(path);
  let writing = openConnection(path);
  let isTaken = false;

  const read = (statement: InStatement): ResultSet => {
    try {
      return reading.execute(statement);
    } catch (error) {
      // What met a lock stays "in progress" and would hold its view of the database.
      if (isBusy(error)) {
        reading.close();
        reading = openConnection(path);
      }
      throw error;
    }
  };

  const transaction = async (): Promise<Transaction> => {
    if (isTaken) throw new LibsqlError("Another write transaction is open", "TRANSACTION_ACTIVE");
    writing.control("BEGIN IMMEDIATE");
    isTaken = true;
    let isOpen = true;
    let isBroken = false;
    const write = (statement: InStatement): ResultSet => {
      requireOpen();
      try {
        return writing.execute(statement);
      } catch (error) {
        isBroken ||= isBusy(error);
        throw error;
      }
    };
    const requireOpen = () => {
      if (!isOpen || !writing.isInTransaction())
        throw new LibsqlError("The transaction is closed", "TRANSACTION_CLOSED");
    };
    const rollback = () => {
      if (!isOpen) return;
      [isOpen, isTaken] = [false, false];
      try {
        if (writing.isInTransaction()) writing.control("ROLLBACK");
      } catch (error) {
        isBroken = true;
        throw error;
      } finally {
        // After a lock was met, or where not even this worked, the next commit would fail too.
        if (isBroken) {
          writing.close();
          writing = openConnection(path);
        }
      }
    };
    const own: Transaction = {
      execute: async (statement: InStatement) => write(statement),
      batch: async (statements) => statements.map((statement) => write(statement)),
      executeMultiple: async () => {
        throw new LibsqlError("Several statements at once are not used here", "NOT_SUPPORTED");
      },
      commit: async () => {
        requireOpen();
        isBroken = true;
        writing.control("COMMIT");
        [isOpen, isTaken, isBroken] = [false, false, false];
      },
      rollback: async () => rollback(),
      close: rollback,
      get closed() {
        return !isOpen;
      },
    };
    return own;
  };

  return {
    execute: async (statement: InStatement) => read(statement),
    transaction,
    batch: (statements, mode) => client.batch(statements, mode),
    migrate: (statements) => client.migrate(statements),
    executeMultiple: (sql) => client.executeMultiple(sql),
    sync: () => client.sync(),
    reconnect: () => client.reconnect(),
    close: () => {
      reading.close();
      writing.close();
    },
    get closed() {
      return client.closed;
    },
    protocol: client.protocol,
  };
}
