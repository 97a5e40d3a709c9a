import { PluginError } from "../../errors.ts";

/** Parallel lookups of one check: enough to hide latency, few enough for a small registry. */
const lookupsAtOnce = 4;

/** After these errors the next lookup would fail in the same way, or make it worse. */
const endsLookups = ["rate_limited", "unauthorized", "unreachable"];

/** Looks up each item. One that fails does not stop the others, unless the rest would fail too, or it `isFatal`. */
export async function lookUpEach<T>(
  items: readonly T[],
  signal: AbortSignal,
  lookUp: (item: T) => Promise<void>,
  isFatal: (error: PluginError) => boolean = () => false,
): Promise<void> {
  const queue = items.values();
  let isStopped = false;
  const worker = async () => {
    for (const item of queue) {
      if (isStopped) return;
      try {
        await lookUp(item);
      } catch (error) {
        if (signal.aborted || !(error instanceof PluginError) || isFatal(error)) throw error;
        isStopped ||= endsLookups.includes(error.code);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(lookupsAtOnce, items.length) }, worker));
}

/** Which of the broken ones is looked up again in this check: they take turns, so it is the next one after `last`. */
export function nextInTurn(broken: readonly string[], last: string): string | null {
  const ordered = broken.toSorted();
  return ordered.find((each) => each > last) ?? ordered[0] ?? null;
}
