import type { Actor } from "../auth/schema.ts";
import type { ConnectionService } from "../connections/service.ts";
import { AppError, PluginError, tooManyRequests } from "../errors.ts";
import type { ExecutorService } from "../executors/service.ts";
import { parseInput } from "../forms/issues.ts";
import { type Message, say } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { RecentMap } from "../recent-map.ts";
import type { LogPart } from "../runtimes/logs.ts";
import type { RuntimeSession } from "../runtimes/session.ts";
import { followLogs } from "./follow.ts";
import { firstState, viewOfPart } from "./follow-part.ts";
import { type LogMark, markAfter, marksText, readMarks } from "./marks.ts";
import { type LogMasker, logMask } from "./mask.ts";
import { readPresent } from "./reading.ts";
import { defaultLines, type LogNews, LogQuery, type LogView, maxLines, maxParts } from "./schema.ts";

export type LogService = ReturnType<typeof logService>;

interface LogServiceOptions extends Pick<Parts, "db" | "clock" | "audit"> {
  connections: Pick<ConnectionService, "open">;
  executors: Pick<ExecutorService, "get">;
  /** Removes the secrets of the product. */
  redact: (text: string) => string;
  /** Decrypts every stored credential once, so that `redact` knows it. */
  openSecrets: () => Promise<void>;
}

/** Views that are kept up to date: of this process, and of one session. Each holds a connection to the runtime for every container. */
const maxViews = 16;
const maxOwnViews = 4;
/** Readings at once. */
const maxReadings = 8;
/** Of all containers of a target together. */
const maxLinesOfAll = 2_000;
/** One entry of the audit for each person and target in this time. */
const auditEveryMs = 10 * 60_000;
const maxRemembered = 500;

/** The logs of targets, read on request. Nothing of them is stored. */
export function logService({ db, clock, audit, connections, executors, redact, openSecrets }: LogServiceOptions) {
  /** By session. */
  const views = new Map<string, number>();
  let readings = 0;
  const audited = new RecentMap<string, number>(maxRemembered);

  const refusalOf = (session: string): AppError | null => {
    const all = [...views.values()].reduce((sum, count) => sum + count, 0);
    if ((views.get(session) ?? 0) >= maxOwnViews) {
      return tooManyRequests(say("logs.too_many_own", { limit: maxOwnViews }), 5);
    }
    return all >= maxViews ? tooManyRequests(say("logs.too_many", { limit: maxViews }), 5) : null;
  };
  const targetOf = async (id: string) => {
    const { name, connection, target } = await executors.get(id);
    if (!connection.is_enabled) {
      throw new AppError("connection_disabled", 409, say("connections.disabled", { connection: connection.name }));
    }
    return { id, name, connection, ref: { kind: target.kind, id: target.id } };
  };
  type Target = Awaited<ReturnType<typeof targetOf>>;

  const record = async (actor: Actor, { id, name }: Target): Promise<void> => {
    const key = `${actor.name} ${id}`;
    const at = audited.get(key);
    if (at !== undefined && clock.elapsed() - at < auditEveryMs) return;
    const subject = { kind: "executor", id, name };
    await db.write((tx) => audit(tx, actor, { event: "logs_read", outcome: "ok", subject }));
    audited.set(key, clock.elapsed());
  };
  const listerOf = (session: RuntimeSession, { connection, ref }: Target): (() => Promise<readonly LogPart[]>) => {
    const { logParts } = session;
    if (logParts === undefined) {
      throw new AppError("logs_unsupported", 409, say("logs.unsupported", { kind: connection.kind }));
    }
    return () => logParts(ref);
  };

  const readPart = async (part: LogPart, tail: number, show: LogMasker, signal: AbortSignal) => {
    const view = firstState(part);
    if (part.unreadable !== null || part.state === "starting")
      return { ...viewOfPart(part, view), lines: [], mark: null };
    const state = part.state === "running" ? "running" : "stopped";
    try {
      const lines = await readPresent(part, { tail, since: null, signal }, clock);
      const shown = [...(await show(lines, false))];
      return { ...viewOfPart(part, { state, why: null }), lines: shown, mark: markAfter(null, lines) };
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
      return { ...viewOfPart(part, { state: "waiting", why: error.said }), lines: [], mark: null };
    }
  };

  return {
    /** Why no more views can be opened now; null if one can. */
    refusal: (session: string): Message | null => refusalOf(session)?.said ?? null,

    /**
     * The last lines of a target's containers; `query`: `LogQuery`. `marks`: where `follow` continues. `all`: every container that can be
     * chosen, by name. Throws `PluginError` if the runtime does not list them, and 429 if too many logs are being read.
     */
    read: async (
      actor: Actor,
      id: string,
      query: unknown,
      signal: AbortSignal,
    ): Promise<{ view: LogView; marks: string; all: readonly string[] }> => {
      const asked = askedBy(query);
      const target = await targetOf(id);
      if (readings >= maxReadings) throw tooManyRequests(say("logs.too_many", { limit: maxReadings }), 2);
      readings += 1;
      try {
        await using session = await connections.open(target.connection.id, signal);
        const found = await listerOf(session, target)();
        await record(actor, target);
        await openSecrets();
        const chosen = found.filter(asked.isChosen);
        const parts = chosen.slice(0, maxParts);
        const mask = logMask(redact);
        for (const { secrets } of parts) mask.learn(secrets);
        const tail = linesOfEach(asked.lines, parts.length);
        const read = await Promise.all(parts.map((part) => readPart(part, tail, mask.masker(), signal)));
        const marks = new Map(
          read.flatMap(({ name, mark }): [string, LogMark][] => (mark === null ? [] : [[name, mark]])),
        );
        const view = {
          executor: { id, name: target.name },
          containers: read.map(({ mark: _mark, ...shown }) => shown),
          more_containers: chosen.length - parts.length,
          read_at: clock.now(),
        };
        return { view, marks: marksText(marks), all: found.map(({ key }) => key) };
      } finally {
        readings -= 1;
      }
    },

    /**
     * The same kept up to date, from `after` on: the marks of an earlier reading. Throws like `read` before anything is followed. `follow`
     * ends with an `end`, or without one once the signal is aborted.
     */
    open: async (
      actor: Actor,
      session: string,
      id: string,
      { query, after }: { query: unknown; after: string },
    ): Promise<{ follow: (signal: AbortSignal) => AsyncGenerator<{ news: LogNews; marks: string }> }> => {
      const asked = askedBy(query);
      const target = await targetOf(id);
      const refused = refusalOf(session);
      if (refused !== null) throw refused;
      await record(actor, target);
      await openSecrets();
      return { follow: (signal) => follow(target, session, asked, readMarks(after), signal) };
    },
  };

  async function* follow(
    target: Target,
    session: string,
    { lines, isChosen }: ReturnType<typeof askedBy>,
    marks: ReadonlyMap<string, LogMark>,
    signal: AbortSignal,
  ): AsyncGenerator<{ news: LogNews; marks: string }> {
    const refused = refusalOf(session);
    if (refused !== null) return yield { news: { kind: "end", why: refused.said }, marks: marksText(marks) };
    views.set(session, (views.get(session) ?? 0) + 1);
    try {
      await using opened = await connections.open(target.connection.id, signal);
      const parts = listerOf(opened, target);
      // Nothing is read any more once its executor is gone or its connection disabled.
      const list = () => targetOf(target.id).then(parts);
      const following = followLogs({
        ...{ list, isChosen, marks, clock, signal },
        linesOf: (parts) => linesOfEach(lines, parts),
        mask: logMask(redact),
      });
      for await (const news of following.news) yield { news, marks: marksText(following.marks) };
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof PluginError || error instanceof AppError)) throw error;
      yield { news: { kind: "end", why: error.said }, marks: marksText(marks) };
    } finally {
      const left = (views.get(session) ?? 1) - 1;
      if (left > 0) views.set(session, left);
      else views.delete(session);
    }
  }
}

function linesOfEach(wanted: number, parts: number): number {
  return Math.min(wanted, maxLines, Math.max(1, Math.floor(maxLinesOfAll / Math.max(1, parts))));
}

function askedBy(query: unknown): { lines: number; isChosen: (part: Pick<LogPart, "key">) => boolean } {
  const { lines = defaultLines, containers = "" } = parseInput(LogQuery, query);
  const names = new Set(containers.split(",").filter((name) => name !== ""));
  return { lines, isChosen: ({ key }) => names.size === 0 || names.has(key) };
}
