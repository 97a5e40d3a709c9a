import * as v from "valibot";
import { errorMessage, PluginError } from "../errors.ts";
import { newId } from "../ids.ts";
import { type Message, toldAs, withTexts } from "../messages/message.ts";
import { type LastLog, maxLogs } from "../runtimes/logs.ts";
import { opened, secretProblem } from "../secrets/opened.ts";
import { targetRedactor } from "../secrets/redaction.ts";
import type { Sealer } from "../secrets/sealed.ts";
import type { RunContext, RunnerOptions } from "./context.ts";
import { fence } from "./journal.ts";
import { lastLinesOf } from "./log-lines.ts";
import { logsOfRun, type RunLogRow, storeLog } from "./log-queries.ts";
import type { RunLogView } from "./schema.ts";

/** A failed run waits at most this long for logs: its previous version may be down until it is restored. */
const waitMs = 5_000;

const Lines = v.array(v.string());

type Kept = Pick<RunContext, "deps" | "run" | "lease">;

/** Stores the last lines of a run's failed containers. Logs only explain, so no failure here stops the run. */
export async function captureLogs(context: RunContext): Promise<void> {
  const { deps, run, session, settings, journal, lease } = context;
  if (session.lastLogs === undefined) return;
  const over = new AbortController();
  try {
    const logs = await Promise.race([
      session.lastLogs(settings.target, journal),
      deps.clock.sleep(waitMs, AbortSignal.any([over.signal, lease.signal])).then(() => null),
    ]);
    if (logs === null) deps.log.warning("Logs of failed containers were not read in time", { run: run.id });
    else await keepLogs(context, logs);
  } catch (error) {
    lease.signal.throwIfAborted();
    deps.log.warning("Logs of failed containers could not be read", { run: run.id, error: errorMessage(error) });
  } finally {
    over.abort();
  }
}

/** Receives logs during the run, one after the other. */
export function logKeeper(context: Kept): (logs: readonly LastLog[]) => void {
  const { deps, run, lease } = context;
  let last: Promise<void> = Promise.resolve();
  return (logs) => {
    last = last
      .then(() => keepLogs(context, logs))
      .catch((error: unknown) => {
        if (lease.signal.aborted) return;
        deps.log.warning("Logs of failed containers could not be stored", { run: run.id, error: errorMessage(error) });
      });
  };
}

async function keepLogs({ deps, run, lease }: Kept, logs: readonly LastLog[]): Promise<void> {
  if (logs.length === 0) return;
  const unmaskable = await whyUnmaskable(deps);
  const { clock, sealer } = deps;
  const now = clock.now();
  const rows = logs.map((log) => ({
    id: newId(now),
    run_id: run.id,
    key: log.key,
    pod: log.pod,
    container: log.container,
    is_previous: log.is_previous,
    sealed_lines: sealer.sealJson(unmaskable === null ? linesOf(log, deps.redact) : []),
    why: unmaskable ?? (log.why === null ? null : withTexts(log.why, deps.redact)),
    at: now,
  }));
  await deps.db.write(async (tx) => {
    await fence(tx, lease, now);
    const known = await logsOfRun(tx, run.id);
    let count = known.length;
    for (const row of rows) {
      const earlier = known.find(({ key }) => key === row.key);
      // Lines read while the container crashed are worth more than the reason why they cannot be read now.
      if (earlier !== undefined && earlier.why === null && row.why !== null) continue;
      if (earlier === undefined && ++count > maxLogs) continue;
      await storeLog(tx, row);
    }
  });
  deps.changes.announce(run.id);
}

/** A secret that cannot be read cannot be masked either: no line is kept then, only the reason. */
async function whyUnmaskable({ openSecrets }: RunnerOptions): Promise<Message | null> {
  try {
    await openSecrets();
    return null;
  } catch (error) {
    if (error instanceof PluginError) return error.said;
    throw error;
  }
}

/** `redact` knows the secrets of the product, the log itself those of its container. */
function linesOf({ text, secrets }: LastLog, redact: RunnerOptions["redact"]): readonly string[] {
  if (text === null) return [];
  const own = targetRedactor();
  own.learn(secrets);
  return lastLinesOf(text, (lines) => redact(own.redact(lines)));
}

/** The stored logs of a run, as they may be shown; secrets that became known since are masked, too. */
export function logViews(
  rows: readonly RunLogRow[],
  { sealer, redact }: { sealer: Sealer; redact: RunnerOptions["redact"] },
): RunLogView[] {
  return rows.map(({ id, pod, container, is_previous, sealed_lines, why, at }) => {
    // The lines themselves are not secrets to mask elsewhere.
    const stored = opened(() => sealer.openJson(Lines, sealed_lines, () => []));
    const lines = (stored.value ?? []).map(redact);
    return { id, pod, container, is_previous, lines, ...toldAs("why", why), problem: secretProblem(stored), at };
  });
}
