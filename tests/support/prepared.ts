import type { EngineTransport } from "../../src/runtimes/engine/transport.ts";
import type { Journal } from "../../src/runtimes/journal.ts";
import type { UpdatePlan } from "../../src/runtimes/plan.ts";
import type { Prepared, RuntimeSession } from "../../src/runtimes/session.ts";

/** Images that a suite imported are in no registry: a pull of one is answered as if it had brought what is there. */
export function withImportedImages(transport: EngineTransport): EngineTransport {
  return {
    ...transport,
    stream: async (request, onChunk) => {
      const isImported = !/^(127\.0\.0\.1|localhost)\b/.test(String(request.query?.fromImage ?? "127.0.0.1"));
      if (!isImported) return await transport.stream(request, onChunk);
      onChunk('{"status":"Image is up to date"}\n');
      return { status: 200, contentType: "application/json", text: "" };
    },
  };
}

/** Prepares an update to imported images without a word in the journal, whose writes then count from `apply` on. */
export async function prepared(session: RuntimeSession, plan: UpdatePlan, journal: Journal): Promise<Prepared> {
  let isPreparing = true;
  const unlessPreparing =
    (write: Journal["begin"]): Journal["begin"] =>
    async (step, facts) => {
      if (!isPreparing) await write(step, facts);
    };
  const { begin, finish, fail } = journal;
  const quiet = {
    ...journal,
    begin: unlessPreparing(begin),
    finish: unlessPreparing(finish),
    fail: unlessPreparing(fail),
  };
  const ready = await session.prepare(plan, [], quiet);
  isPreparing = false;
  return ready;
}

export async function apply(session: RuntimeSession, plan: UpdatePlan, journal: Journal): Promise<void> {
  await (await prepared(session, plan, journal)).apply();
}
