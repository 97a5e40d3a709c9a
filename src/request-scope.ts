import { AsyncLocalStorage } from "node:async_hooks";
import type { Writer } from "./db/client.ts";

/** The changes of one external request: once begun it completes, before that it can be refused. */
export interface RequestScope {
  /** Runs the request's work; every write in it belongs to the request. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** From now on it may not begin a change: the first one throws `reason`. A request with changes completes. */
  giveUp(reason: Error): void;
  /** Rejects with the reason once the request was given up before its first change. */
  readonly given_up: Promise<never>;
  /** The request was answered; remaining work no longer belongs to it. */
  end(): void;
}

/** A change, as recorded in the audit. */
export interface ChangeRecord {
  event: string;
  outcome: "ok" | "failed" | "refused";
  subject?: { kind: string; id: string; name: string } | undefined;
}

/** Called for each change of a request, in its transaction. */
export type OnChange = (tx: Writer, record: ChangeRecord) => Promise<void>;

interface Scope extends RequestScope {
  on_change: OnChange | null;
  change<T>(write: () => Promise<T>): Promise<T>;
  begin(): void;
  isOver(): boolean;
}

const scopes = new AsyncLocalStorage<Scope | undefined>();

export function createRequestScope(): RequestScope {
  const givenUp = Promise.withResolvers<never>();
  // The client may have disconnected.
  givenUp.promise.catch(() => undefined);
  let refusal: Error | null = null;
  let hasChanged = false;
  let writing = 0;
  let isOver = false;
  const begin = () => {
    if (refusal !== null && !hasChanged && writing === 0) throw refusal;
  };
  const scope: Scope = {
    on_change: null,
    run: (work) => scopes.run(scope, work),
    giveUp: (reason) => {
      refusal = reason;
      if (!hasChanged && writing === 0) givenUp.reject(reason);
    },
    given_up: givenUp.promise,
    end: () => {
      // Remaining work of a request that was given up is still refused.
      isOver = refusal === null;
    },
    change: async (write) => {
      begin();
      writing += 1;
      try {
        const result = await write();
        hasChanged = true;
        return result;
      } finally {
        writing -= 1;
        if (refusal !== null && !hasChanged && writing === 0) givenUp.reject(refusal);
      }
    },
    begin: () => {
      begin();
      hasChanged = true;
    },
    isOver: () => isOver,
  };
  return scope;
}

function atHand(): Scope | undefined {
  const scope = scopes.getStore();
  return scope?.isOver() ? undefined : scope;
}

/** Writes as part of the current request. One transaction may hold the work of several requests: each runs in its own scope. */
export function writeInScope<T>(
  write: (work: (tx: Writer) => Promise<T>) => Promise<T>,
  work: (tx: Writer) => Promise<T>,
): Promise<T> {
  const scope = atHand();
  const scoped = (tx: Writer) => scopes.run(scope, () => work(tx));
  return scope === undefined ? write(scoped) : scope.change(() => write(scoped));
}

/**
 * Before a change that no transaction can undo: a file, an engine. Throws when the request was given up; otherwise the request completes.
 */
export function beginChange(): void {
  atHand()?.begin();
}

/** Reports the current request's changes to `onChange`, in the same transaction: both are stored, or neither is. */
export function watchChanges(onChange: OnChange): void {
  const scope = atHand();
  if (scope !== undefined) scope.on_change = onChange;
}

/** Notifies the watcher of the current request; called with every audit entry. */
export async function tellChange(tx: Writer, record: ChangeRecord): Promise<void> {
  await atHand()?.on_change?.(tx, record);
}

/** For work that a request triggers but does not own: it continues whatever happens to the request. */
export function outsideRequest<T>(work: () => T): T {
  return scopes.run(undefined, work);
}
