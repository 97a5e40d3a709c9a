import { PluginError } from "../errors.ts";
import { inEnglish, withTexts } from "../messages/message.ts";
import type { Prepared, Runtime, RuntimeSession, Runtimes } from "../runtimes/runtime.ts";

type Excerpt = (text: string) => string;

function reworded(fault: unknown, excerpt: Excerpt): unknown {
  if (!(fault instanceof PluginError)) return fault;
  const said = withTexts(fault.said, excerpt);
  if (inEnglish(said) === fault.message) return fault;
  const { code, retry_after_ms, field, remedy } = fault;
  return new PluginError(code, said, { retry_after_ms, field, remedy, cause: fault });
}

/** A runtime's error texts without the secrets it may have received: `excerpt` removes them. */
function redactedSession(session: RuntimeSession, excerpt: Excerpt): RuntimeSession {
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (fault) {
      throw reworded(fault, excerpt);
    }
  };
  const prepared = async (work: Promise<Prepared>): Promise<Prepared> => {
    const { is_noop, apply } = await told(work);
    return { is_noop, apply: (stopping) => told(apply(stopping)) };
  };
  const { nameOfId, isPlainRegistry, unprepare, settle, lastLogs, snapshots, images } = session;
  return {
    describe: () => told(session.describe()),
    discover: () => told(session.discover()),
    inspect: (ref) => told(session.inspect(ref)),
    ...(nameOfId === undefined ? {} : { nameOfId: (id) => told(nameOfId(id)) }),
    ...(isPlainRegistry === undefined ? {} : { isPlainRegistry: (image) => told(isPlainRegistry(image)) }),
    plan: (ref, changes, options) => told(session.plan(ref, changes, options)),
    prepare: (plan, auths, journal) => prepared(session.prepare(plan, auths, journal)),
    ...(unprepare === undefined ? {} : { unprepare: (journal) => told(unprepare(journal)) }),
    ...(settle === undefined ? {} : { settle: (ref, ...rest) => told(settle(ref, ...rest)) }),
    ...(lastLogs === undefined ? {} : { lastLogs: (ref, journal) => told(lastLogs(ref, journal)) }),
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

/** A runtime whose errors are safe to store and show everywhere: checks, plans, observations, runs, pages. */
function redactedRuntime(runtime: Runtime, excerpt: Excerpt): Runtime {
  return {
    ...runtime,
    open: async (config, secret, context) => {
      try {
        return redactedSession(await runtime.open(config, secret, context), excerpt);
      } catch (fault) {
        throw reworded(fault, excerpt);
      }
    },
  };
}

export function redactedRuntimes<R extends Runtimes>(runtimes: R, excerpt: Excerpt): { [K in keyof R]: Runtime } {
  return Object.fromEntries(
    Object.entries(runtimes).map(([kind, runtime]) => [kind, redactedRuntime(runtime, excerpt)]),
  ) as { [K in keyof R]: Runtime };
}
