import { createHash } from "node:crypto";
import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { type Message, say, toldAs } from "../../messages/message.ts";
import { withoutSecrets } from "../engine/hide-secrets.ts";
import { containerLogPart, logQuery } from "../engine/log-parts.ts";
import { EngineVersion } from "../engine/objects.ts";
import { namedSecrets } from "../engine/secret-form.ts";
import type { Journal } from "../journal.ts";
import { ofImages } from "../plan.ts";
import { unlessStuck } from "../recovery.ts";
import type { RuntimeContext } from "../runtime.ts";
import type { Prepared, Recovery, RuntimeSession } from "../session.ts";
import type { TargetRef } from "../target.ts";
import { openPortainer, type PortainerAccess, Refused, type StackUpdate } from "./client.ts";
import { readStackFile, secretsOf } from "./compose.ts";
import { describeEnvironment, identifyEnvironment } from "./environment.ts";
import {
  awaitMove,
  doRun,
  endOfMove,
  endOfServices,
  followServices,
  judgeServices,
  type Move,
  type Side,
  type Verdict,
} from "./follow.ts";
import { type PlannedStack, planRestore, planUpdate, StackDetail } from "./plan.ts";
import { readSaved, writeSaved } from "./saved.ts";
import type { Config } from "./schema.ts";
import { type Found, findStack, findStacks, isMarkedAs, marksOf, webhookOf } from "./stacks.ts";
import { stackKind, targetOf } from "./target.ts";

/** The health check asks several times a second whether everything is still running. */
const lookMs = 2_000;
/** How often the page shows the progress of an update. */
const progressMs = 2_000;

/** What an `undo` step keeps: which update of Portainer's it is. */
const UndoFacts = v.object({ from: StackDetail.entries.from, update_date: v.number() });

export function openSession(
  access: PortainerAccess,
  config: Config,
  context: RuntimeContext,
): RuntimeSession<StackDetail> {
  const { clock, signal, self } = context;
  const { endpoint_id } = access;
  const stall_ms = config.update_stall_seconds * 1000;
  const portainer = openPortainer(access, { clock, signal });
  const remembered = { stacks: new Map(), images: new Map() };
  let looked: { at: number; end: Message | null } | null = null;

  const find = ({ kind, id }: TargetRef): Promise<Found> => {
    if (kind !== stackKind) throw new PluginError("not_found", say("portainer.stack_missing", { stack: id }));
    return findStack(portainer, endpoint_id, id, remembered);
  };
  const watching = (ref: TargetRef, stop?: AbortSignal) => ({
    look: () => find(ref),
    ...{ clock, stall_ms, signal: stop === undefined ? signal : AbortSignal.any([signal, stop]) },
  });
  const around = async (ref: TargetRef) => ({ ref, found: await find(ref), self });
  const show =
    (journal: Journal, step: string) =>
    ({ done, total, readiness }: Verdict) =>
      journal.progress({ step, done, total, detail: readiness.detail });

  /** Sends one update and shows its progress; rejects with the reason of `stop`, while Portainer continues. */
  const send = async (
    { ref, detail, side, step }: { ref: TargetRef; detail: StackDetail; side: Side; step: string },
    content: StackUpdate,
    journal: Journal,
    stop: AbortSignal | undefined,
  ): Promise<void> => {
    const over = new AbortController();
    const until = stop === undefined ? over.signal : AbortSignal.any([over.signal, stop]);
    const update = portainer.update(detail.stack_id, content, stall_ms);
    const watch = async () => {
      for (;;) {
        await clock.sleep(progressMs, until);
        const found = await find(ref).catch(() => null);
        if (found !== null) show(journal, step)(judgeServices(found, detail, side, () => 0));
      }
    };
    const watched = watch().catch(() => undefined);
    const stopped = Promise.withResolvers<never>();
    const onStop = () => stopped.reject(stop?.reason);
    stop?.addEventListener("abort", onStop, { once: true });
    try {
      await Promise.race([update, stopped.promise]);
    } finally {
      stop?.removeEventListener("abort", onStop);
      // Left behind by a stop, it ends by its own deadline.
      update.catch(() => undefined);
      over.abort();
      await watched;
    }
  };

  /**
   * Sends the new file and makes certain what became of it. Throws unless Portainer has carried it out, or what it began already runs.
   */
  const deploy = async (
    ref: TargetRef,
    { plan, next, webhook }: PlannedStack,
    journal: Journal,
    stop?: AbortSignal,
  ) => {
    const { detail } = plan;
    /** `end`: `refused` before Portainer did anything, `stuck` if it may still be at work. */
    const failed = async (said: Message, end: "failed" | "refused" | "stuck" = "failed") => {
      await journal.fail("deploy", { ...toldAs("error", said), end });
      return new PluginError("rejected", said);
    };
    /** Whether everything that ran still does, in the previous version. */
    const isUntouched = (found: Found) => doRun(found, detail, "before");
    await journal.begin("deploy", detail);
    try {
      await send({ ref, detail, side: "after", step: "deploy" }, { ...next, webhook, pull: true }, journal, stop);
      await journal.finish("deploy");
      return;
    } catch (error) {
      stop?.throwIfAborted();
      if (!(error instanceof PluginError)) throw error;
      const cause = withoutSecrets(error.said, await secretsOf(next));
      if (error instanceof Refused) {
        // Below 500 Portainer has refused the request before it did anything.
        const isRefused = error.status < 500;
        const isKept = isRefused || isUntouched(await find(ref));
        const said = isKept ? say("portainer.not_deployed", { cause }) : say("portainer.took_down", { cause });
        throw await failed(said, isRefused ? "refused" : "failed");
      }
      const { end, found } = await awaitMove(watching(ref, stop), moveOf(detail));
      if (end === "applied" || (end === "stuck" && doRun(found, detail, "after"))) {
        await journal.finish("deploy", toldAs("lost", cause));
        return;
      }
      if (end === "foreign") throw await failed(say("portainer.changed_meanwhile"));
      if (end === "stuck") throw await failed(say("portainer.unfinished", { cause }), "stuck");
      throw await failed(
        isUntouched(found) ? say("portainer.not_arrived", { cause }) : say("portainer.took_down", { cause }),
      );
    }
  };

  const prepared = (
    { plan, again }: { plan: PlannedStack["plan"]; again: () => Promise<PlannedStack> },
    journal: Journal,
  ): Prepared => ({
    is_noop: plan.is_noop,
    apply: async (stopping) => {
      stopping?.throwIfAborted();
      const planned = await again();
      if (planned.plan.hash !== plan.hash) throw new PluginError("rejected", say("portainer.changed_since_plan"));
      await deploy(plan.ref, planned, journal, stopping);
    },
  });

  /** Sends the saved file and environment, and waits until the previous version runs. */
  const putBack = async (
    ref: TargetRef,
    detail: StackDetail,
    journal: Journal,
    { snapshot, stop }: { snapshot: string | null; stop: AbortSignal | undefined },
  ): Promise<Recovery> => {
    if (snapshot === null) throw new PluginError("rejected", say("portainer.nothing_saved"));
    const { file, env } = readSaved(snapshot);
    const failed = async (said: Message) => {
      await journal.fail("undo", toldAs("error", said));
      return new PluginError("rejected", said);
    };
    const { stack, content } = await find(ref);
    if (content === null) throw new PluginError("rejected", say("portainer.changed_meanwhile"));
    const move: Move = { from: marksOf(content), to: marksOf({ file, env }), update_date: stack.UpdateDate ?? 0 };
    await journal.begin("undo", { ...move });
    try {
      // Without a pull: the previous images are there, and no registry can prevent this.
      await send(
        { ref, detail, side: "before", step: "undo" },
        { file, env, webhook: webhookOf(stack), pull: false },
        journal,
        stop,
      );
    } catch (error) {
      stop?.throwIfAborted();
      if (!(error instanceof PluginError)) throw error;
      const cause = withoutSecrets(error.said, await secretsOf({ file, env }));
      const { end, found } =
        error instanceof Refused
          ? { end: "refused", found: await find(ref) }
          : await awaitMove(watching(ref, stop), move);
      const isBack = doRun(found, detail, "before");
      if (end !== "applied" && !isBack) throw await failed(say("portainer.not_put_back", { cause }));
    }
    return await followBack(ref, detail, journal, stop);
  };
  /** Waits until the previous version runs again. A tag that has moved leads to the new image, whatever the file says. */
  const followBack = async (
    ref: TargetRef,
    detail: StackDetail,
    journal: Journal,
    stop: AbortSignal | undefined,
  ): Promise<Recovery> => {
    const services = detail.services.filter(({ before, after }) => before !== after);
    const wanted = { ...detail, services };
    const { failure } = await followServices(watching(ref, stop), wanted, "before", show(journal, "undo"));
    if (failure !== null) {
      const said = say("portainer.not_put_back", { cause: failure });
      await journal.fail("undo", toldAs("error", said));
      throw new PluginError("rejected", said);
    }
    const isWhole = services.length === detail.services.length;
    const state = isWhole ? "untouched" : "mixed";
    const said = say(isWhole ? "portainer.put_back" : "portainer.tag_moved");
    await journal.finish("undo", { state, ...toldAs("detail", said) });
    return { state, detail: said };
  };

  /** Reads Portainer first; the journal says what was sent, and distinguishes states that look the same there. */
  const recoverOrUndo = async (
    ref: TargetRef,
    journal: Journal,
    { isUndo, snapshot, stop }: { isUndo: boolean; snapshot: string | null; stop: AbortSignal | undefined },
  ): Promise<Recovery> => {
    const detail = deployedBy(journal);
    if (detail === null) return { state: "untouched", detail: say("portainer.not_sent") };
    const undone = undoneBy(journal);
    if (undone?.is_open === true) {
      const { end, found } = await awaitMove(watching(ref, stop), { ...undone.facts, to: detail.from });
      if (end === "applied" || doRun(found, detail, "before")) return await followBack(ref, detail, journal, stop);
    }
    const { end, found } = await endOfDeploy(ref, detail, journal, stop);
    const content = found.content ?? { file: "", env: [] };
    const isFile = { before: isMarkedAs(content, detail.from), after: isMarkedAs(content, detail.to) };
    const isOld = doRun(found, detail, "before");
    const isNew = doRun(found, detail, "after");
    if (end === "foreign" || (end !== "stuck" && !isFile.before && !isFile.after)) {
      return { state: "mixed", detail: say("portainer.changed_meanwhile") };
    }
    if (isFile.before && (isOld || end === "refused"))
      return { state: "untouched", detail: say("portainer.as_before") };
    if (end === "stuck" && isOld) return { state: "mixed", detail: say("portainer.still_working") };
    const isApplied = end === "applied" || end === "deployed" || isNew;
    if (isApplied && !isUndo && undone === null) return { state: "started", detail: say("portainer.deployed") };
    if (isNew && detail.services.every(({ before, after }) => before === after)) {
      return { state: "started", detail: say("portainer.tag_moved") };
    }
    return await putBack(ref, detail, journal, { snapshot, stop });
  };
  /** What became of the update: as the run saw it, or by what Portainer says now. */
  const endOfDeploy = async (ref: TargetRef, detail: StackDetail, journal: Journal, stop: AbortSignal | undefined) => {
    const seen = seenEnd(journal);
    if (seen === null) return await awaitMove(watching(ref, stop), moveOf(detail));
    const found = await find(ref);
    return { end: seen === "stuck" ? endOfMove(found, moveOf(detail)) : seen, found };
  };

  return {
    // Answered by the environment's engine: Portainer itself may respond while its environment is gone.
    ping: async () => {
      await portainer.engine("/version", EngineVersion);
    },
    describe: () => describeEnvironment(portainer, endpoint_id),
    identify: () => identifyEnvironment(portainer, endpoint_id),
    discover: async () => {
      const found = await findStacks(portainer, endpoint_id);
      return await Promise.all(
        found.map(async (each) => {
          const { content, unreadable } = each;
          const lost = unreadable === null ? null : { services: [], refusal: unreadable };
          return targetOf(each, content === null ? lost : await readStackFile(content), self);
        }),
      );
    },
    inspect: async (ref) => {
      const found = await find(ref);
      return targetOf(found, found.content === null ? null : await readStackFile(found.content), self);
    },
    plan: async (ref, changes) => (await planUpdate(await around(ref), ofImages(changes))).plan,
    prepare: async (plan, _auths, journal) => {
      const again = async () => await planUpdate(await around(plan.ref), ofImages(plan.changes));
      const { plan: now } = await again();
      if (now.hash !== plan.hash) throw new PluginError("rejected", say("portainer.changed_since_plan"));
      return prepared({ plan: now, again }, journal);
    },
    settle: async (ref, journal, stopping) => {
      const detail = deployedBy(journal);
      if (detail === null) return null;
      await journal.begin("follow");
      const followed = followServices(watching(ref, stopping), detail, "after", show(journal, "follow"));
      const { failure, detail: said } = await followed.catch((error: unknown) => {
        if (!(error instanceof PluginError && error.code === "not_found")) throw error;
        return { failure: error.said, detail: error.said };
      });
      if (failure === null) await journal.finish("follow", toldAs("detail", said));
      else await journal.fail("follow", toldAs("error", failure));
      return failure;
    },
    undo: (ref, journal, snapshot, stop) => recoverOrUndo(ref, journal, { isUndo: true, snapshot, stop }),
    finish: async () => undefined,
    recover: (ref, journal, snapshot, stop) =>
      unlessStuck(recoverOrUndo(ref, journal, { isUndo: false, snapshot, stop })),
    readiness: async (ref, ranMs, journal) => {
      const found = await find(ref);
      return judgeServices(found, deployedBy(journal) ?? whatRuns(found), "after", () => ranMs).readiness;
    },
    findEnd: async (ref, journal) => {
      if (looked === null || clock.elapsed() - looked.at >= lookMs) {
        const found = await find(ref);
        looked = { at: clock.elapsed(), end: endOfServices(found, deployedBy(journal) ?? whatRuns(found)) };
      }
      return looked.end;
    },
    standing: async (ref, journal, { before, ran_ms }) => {
      const found = await find(ref);
      const marks = found.content === null ? null : marksOf(found.content);
      const content = createHash("sha256").update(JSON.stringify(marks)).digest("hex");
      const detail = deployedBy(journal) ?? whatRuns(found);
      const wanted = { ...detail, services: [] };
      const isChanged = before !== null && before.content !== content;
      return {
        facts: { content },
        changed: isChanged ? say("portainer.changed_meanwhile") : null,
        is_up: endOfServices(found, detail) === null,
        readiness: judgeServices(found, wanted, "before", () => ran_ms).readiness,
      };
    },
    logParts: async (ref) => {
      const { members, content } = await find(ref);
      const secrets = namedSecrets(
        (content?.env ?? []).map(({ name, value }) => [name, value]),
        [],
      );
      return members.map((member) => {
        const path = `/containers/${member.container.Id}/logs`;
        const part = containerLogPart(
          member,
          (reading) => portainer.flow(`${path}?${new URLSearchParams(logQuery(reading))}`, reading.signal),
          (error) => (error instanceof Refused ? error.status : null),
        );
        return { ...part, secrets: [...secrets, ...part.secrets] };
      });
    },
    snapshots: {
      capture: async (ref) => writeSaved(await find(ref)),
      planRestore: async (ref, snapshot) => (await planRestore(await around(ref), readSaved(snapshot))).plan,
      prepareRestore: async (plan, snapshot, _auths, journal) => {
        const again = async () => await planRestore(await around(plan.ref), readSaved(snapshot));
        const { plan: now } = await again();
        if (now.hash !== plan.hash) throw new PluginError("rejected", say("portainer.changed_since_plan"));
        return prepared({ plan: now, again }, journal);
      },
    },
    [Symbol.asyncDispose]: async () => portainer.close(),
  };
}

function moveOf({ from, to, update_date }: StackDetail): Move {
  return { from, to, update_date, pulls: true };
}

/** What the run has sent, by its journal; null if it did not come so far. */
function deployedBy(journal: Journal): StackDetail | null {
  const entry = journal.entries().findLast(({ step, phase }) => step === "deploy" && phase === "begin");
  const parsed = v.safeParse(StackDetail, entry?.facts);
  return parsed.success ? parsed.output : null;
}

/** The last attempt to put the saved file back; `is_open`: nobody has seen its end. Null without one. */
function undoneBy(journal: Journal): { facts: v.InferOutput<typeof UndoFacts>; is_open: boolean } | null {
  const own = journal.entries().filter(({ step }) => step === "undo");
  const parsed = v.safeParse(UndoFacts, own.findLast(({ phase }) => phase === "begin")?.facts);
  return parsed.success ? { facts: parsed.output, is_open: own.at(-1)?.phase === "begin" } : null;
}

/** How the update ended, as far as the run came to see it; null if it did not. */
function seenEnd(journal: Journal): "deployed" | "failed" | "refused" | "stuck" | null {
  const last = journal.entries().findLast(({ step }) => step === "deploy");
  if (last?.phase === "finish") return "deployed";
  if (last?.phase !== "fail") return null;
  const { end } = last.facts;
  return end === "refused" || end === "stuck" ? end : "failed";
}

/** Without a journalled update: everything there is. */
function whatRuns({ members }: Found): Pick<StackDetail, "services" | "running" | "containers"> {
  const running = [...new Set(members.map(({ service }) => service))];
  return { services: [], running, containers: members.map(({ container }) => container.Id) };
}
