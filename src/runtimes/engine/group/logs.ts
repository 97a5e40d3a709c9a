import { PluginError } from "../../../errors.ts";
import type { Journal } from "../../journal.ts";
import { type LastLog, type LogPart, lastLogLines, maxLogs } from "../../logs.ts";
import type { TargetRef } from "../../target.ts";
import { type EngineClient, EngineError } from "../client.ts";
import { containerLogPart, secretsOf } from "../log-parts.ts";
import type { ContainerInspect } from "../objects.ts";
import { endOf, findMade } from "../readiness.ts";
import { wasStarted } from "../situation.ts";
import { madeBy } from "./readiness.ts";
import type { Member } from "./target.ts";

/** What the new containers of a run wrote last: those that ended or are not healthy, else all that were started. */
export async function lastLogsOfRun(
  client: EngineClient,
  ref: TargetRef,
  journal: Journal,
): Promise<readonly LastLog[]> {
  const found = await Promise.all(
    madeBy(journal, ref).map(async (made) => {
      const { container } = await findMade(client, made);
      return container === null || !wasStarted(container) ? [] : [{ name: made.name, container }];
    }),
  );
  const started = found.flat();
  const failing = started.filter(({ container }) => isFailing(container));
  const read = failing.length === 0 ? started : failing;
  return await Promise.all(read.slice(0, maxLogs).map(({ name, container }) => readLog(client, name, container)));
}

export function engineLogPart(client: EngineClient, member: Member): LogPart {
  const { Id: id } = member.container;
  const statusOf = (error: unknown) => (error instanceof EngineError ? error.status : null);
  return containerLogPart(member, (reading) => client.flowLog(id, reading), statusOf);
}

function isFailing(container: ContainerInspect): boolean {
  const health = container.State.Health?.Status ?? "";
  return endOf(container) !== null || health === "unhealthy" || health === "starting";
}

async function readLog(client: EngineClient, name: string, container: ContainerInspect): Promise<LastLog> {
  const log = { key: name, pod: "", container: name, is_previous: false, secrets: secretsOf(container) };
  try {
    const bytes = await client.readLog(container.Id, lastLogLines);
    return { ...log, text: textOf(bytes), why: null };
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    return { ...log, text: null, why: error.said };
  }
}

/**
 * Without a terminal, output and errors come as frames: a byte that says which, three zeros, the length in four bytes. Everything else is
 * the text itself.
 */
function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes);
  const pieces: Buffer[] = [];
  let at = 0;
  while (at + 8 <= buffer.length && (buffer[at] ?? 3) < 3 && buffer.readUIntBE(at + 1, 3) === 0) {
    const end = at + 8 + buffer.readUInt32BE(at + 4);
    pieces.push(buffer.subarray(at + 8, end));
    at = end;
  }
  return new TextDecoder().decode(at === 0 ? buffer : Buffer.concat(pieces));
}
