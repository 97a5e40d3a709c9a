import { chmodSync, cpSync } from "node:fs";
import { join } from "node:path";
import { startServer, temporaryDir } from "./server.ts";

/** The data directory of an installation that was started once and stopped; a template to copy and damage. */
export async function stoppedInstallation(): Promise<string> {
  const server = await startServer();
  await server.kill("SIGTERM");
  return server.data_dir;
}

export function copyOfInstallation(template: string): string {
  const dir = join(temporaryDir(), "data");
  cpSync(template, dir, { recursive: true });
  chmodSync(dir, 0o700);
  return dir;
}

/** The output of a start that must fail. */
export async function refusedStart(dataDir: string, env: Record<string, string> = {}): Promise<string> {
  const started = await startServer({ data_dir: dataDir, env }).catch((error: unknown) => error);
  if (started instanceof Error) return started.message;
  throw new Error("it started");
}
