import { Worker } from "node:worker_threads";
import * as v from "valibot";
import { isDiskFull, withoutRoom } from "../durable-files.ts";
import { AppError } from "../errors.ts";
import { plain, say } from "../messages/message.ts";
import type { CopyFacts } from "./copy-here.ts";

const Answer = v.union([
  v.strictObject({ failed: v.string() }),
  v.strictObject({
    integrity: v.string(),
    encryption_key_id: v.nullable(v.string()),
    migrations: v.number(),
    size: v.number(),
    sha256: v.string(),
  }),
]);

async function askWorker(file: string, target: string): Promise<v.InferOutput<typeof Answer>> {
  const worker = new Worker(new URL("./copy-worker.ts", import.meta.url), { workerData: { file, target } });
  try {
    return await new Promise((resolve, reject) => {
      worker.once("message", (message: unknown) => resolve(v.parse(Answer, message)));
      worker.once("error", reject);
      worker.once("exit", (code) => reject(new Error(`The copy of the database ended with ${code}`)));
    });
  } finally {
    await worker.terminate();
  }
}

/**
 * Copies a database file consistently while others use it, into a new file of mode 0600 that is synced to disk. It runs in its own thread,
 * so that requests are served meanwhile. Throws 507 when the disk is full, and `backup_failed` for a copy that fails its integrity check.
 */
export async function copyDatabase(file: string, target: string): Promise<CopyFacts> {
  const answer = await askWorker(file, target);
  if ("failed" in answer) {
    if (isDiskFull(answer.failed)) throw withoutRoom(answer.failed, say("files.no_room_for_database_copy"));
    throw new AppError("backup_failed", 500, say("backups.copy_failed", { cause: plain(answer.failed) }));
  }
  if (answer.integrity !== "ok") {
    throw new AppError("backup_failed", 500, say("backups.copy_damaged", { problem: answer.integrity }));
  }
  return answer;
}
