import { join } from "node:path";
import { systemClock } from "../src/clock.ts";
import { openDatabase } from "../src/db/client.ts";
import { type Size, seedRows } from "../tests/support/seeded-rows.ts";
import { firstSignIn, startServer, temporaryDir } from "../tests/support/server.ts";

export const thousandTrackers: Size = { trackers: 1_000, releases_each: 10, executors: 300, runs_each: 10 };

export interface Installation {
  data_dir: string;
  /** Of a session whose password was changed, for the cookie and for Bearer. */
  token: string;
  /** Of one tracker and one run to look at. */
  tracker: string;
  run_id: string;
  executor_id: string;
}

/** An engine that only says that it is there: what is shown of its targets is what was observed last. Lives as long as this process. */
function idleEngine(folder: string): string {
  const unix = join(folder, "engine.sock");
  const version = { Version: "29.0.0", ApiVersion: "1.52", MinAPIVersion: "1.44", Os: "linux", Arch: "amd64" };
  Bun.serve({ unix, fetch: () => Response.json(version) }).unref();
  return unix;
}

/** A data directory that the server itself made, with an administrator who is signed in, and `size` of everything besides. */
export async function createInstallation(size: Size | null): Promise<Installation> {
  const server = await startServer({ data_dir: temporaryDir() });
  const client = await firstSignIn(server);
  await server.kill("SIGTERM");
  const installation = {
    data_dir: server.data_dir,
    token: client.token ?? "",
    tracker: "",
    run_id: "",
    executor_id: "",
  };
  if (size === null) return installation;
  const engine = idleEngine(server.data_dir);
  const db = await openDatabase({ url: `file:${join(server.data_dir, "tidemark.db")}` });
  try {
    const now = systemClock.now();
    return { ...installation, ...(await db.write((tx) => seedRows(tx, { ...size, engine }, now))) };
  } finally {
    await db.close();
  }
}
