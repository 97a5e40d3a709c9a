import { PluginError } from "../errors.ts";
import { inEnglish, withTexts } from "../messages/message.ts";
import type { Runtime, Runtimes } from "../runtimes/runtime.ts";
import { observedSession } from "./observed-session.ts";

type Excerpt = (text: string) => string;

function reworded(fault: unknown, excerpt: Excerpt): unknown {
  if (!(fault instanceof PluginError)) return fault;
  const said = withTexts(fault.said, excerpt);
  if (inEnglish(said) === fault.message) return fault;
  const { code, retry_after_ms, field, remedy } = fault;
  return new PluginError(code, said, { retry_after_ms, field, remedy, cause: fault });
}

/** A runtime whose errors are safe to store and show everywhere: checks, plans, observations, runs, pages. */
function redactedRuntime(runtime: Runtime, excerpt: Excerpt): Runtime {
  return {
    ...runtime,
    open: async (config, secret, context) => {
      try {
        const session = await runtime.open(config, secret, context);
        const onFault = (fault: unknown) => reworded(fault, excerpt);
        return observedSession(session, { onFault, onLogFault: onFault });
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
