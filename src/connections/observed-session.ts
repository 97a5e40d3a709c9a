import type { LogPart } from "../runtimes/logs.ts";
import type { Prepared, RuntimeSession } from "../runtimes/session.ts";

interface Observer {
  /** After each call that succeeded. */
  onAnswer?: () => Promise<void>;
  /** Returns what is thrown in place of the fault. */
  onFault: (fault: unknown) => unknown;
  /** The same for a log: one that cannot be read says nothing about the runtime. By default the fault is thrown unchanged. */
  onLogFault?: (fault: unknown) => unknown;
}

/** The same session, with an observer of every response and fault. */
export function observedSession(
  session: RuntimeSession,
  { onAnswer, onFault, onLogFault = (fault) => fault }: Observer,
): RuntimeSession {
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      const answer = await work;
      await onAnswer?.();
      return answer;
    } catch (fault) {
      throw await onFault(fault);
    }
  };
  const prepared = async (work: Promise<Prepared>): Promise<Prepared> => {
    const { is_noop, apply } = await told(work);
    return { is_noop, apply: (stopping) => told(apply(stopping)) };
  };
  const logPart = (part: LogPart): LogPart => ({
    ...part,
    read: async function* (reading) {
      try {
        yield* part.read(reading);
      } catch (fault) {
        throw onLogFault(fault);
      }
    },
  });
  const { identify, nameOfId, isPlainRegistry, unprepare, settle, lastLogs, logParts, snapshots, images } = session;
  return {
    ping: () => told(session.ping()),
    describe: () => told(session.describe()),
    ...(identify === undefined ? {} : { identify: () => told(identify()) }),
    discover: () => told(session.discover()),
    inspect: (ref) => told(session.inspect(ref)),
    ...(nameOfId === undefined ? {} : { nameOfId: (id) => told(nameOfId(id)) }),
    ...(isPlainRegistry === undefined ? {} : { isPlainRegistry: (image) => told(isPlainRegistry(image)) }),
    plan: (ref, changes, options) => told(session.plan(ref, changes, options)),
    prepare: (plan, auths, journal) => prepared(session.prepare(plan, auths, journal)),
    ...(unprepare === undefined ? {} : { unprepare: (journal) => told(unprepare(journal)) }),
    ...(settle === undefined ? {} : { settle: (ref, ...rest) => told(settle(ref, ...rest)) }),
    ...(lastLogs === undefined ? {} : { lastLogs: (ref, journal) => told(lastLogs(ref, journal)) }),
    ...(logParts === undefined ? {} : { logParts: async (ref) => (await told(logParts(ref))).map(logPart) }),
    undo: (ref, journal, snapshot, stopping) => told(session.undo(ref, journal, snapshot, stopping)),
    finish: (ref, journal) => told(session.finish(ref, journal)),
    recover: (ref, journal, snapshot, stopping) => told(session.recover(ref, journal, snapshot, stopping)),
    readiness: (ref, ranMs, journal) => told(session.readiness(ref, ranMs, journal)),
    findEnd: (ref, journal) => told(session.findEnd(ref, journal)),
    standing: (ref, journal, look) => told(session.standing(ref, journal, look)),
    ...(snapshots === undefined
      ? {}
      : {
          snapshots: {
            capture: (ref) => told(snapshots.capture(ref)),
            planRestore: (ref, snapshot, owed) => told(snapshots.planRestore(ref, snapshot, owed)),
            prepareRestore: (plan, snapshot, auths, journal) =>
              prepared(snapshots.prepareRestore(plan, snapshot, auths, journal)),
          },
        }),
    ...(images === undefined
      ? {}
      : {
          images: {
            keep: (ids) => told(images.keep(ids)),
            findPresent: (ids) => told(images.findPresent(ids)),
            listUnused: () => told(images.listUnused()),
            remove: (id) => told(images.remove(id)),
          },
        }),
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
