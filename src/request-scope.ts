import { AsyncLocalStorage } from "node:async_hooks";
import type { Writer } from "./db/client.ts";

/** One request from outside, as far as it changes things: what is begun is ended, what is not can still be refused. */
export interface RequestScope {
  /** Runs what the request asks for; every write in it is the request's. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** From now on it begins no change: the first one throws `reason`. What has changed something goes on to its end. */
  giveUp(reason: Error): void;
  /** Rejects with the reason once the request was given up before it changed anything. */
  readonly given_up: Promise<never>;
  /** The request was answered; what goes on in its name is nobody's any more. */
  end(): void;
}

/** What was changed, as the audit has it. */
export interface ChangeRecord {
  event: string;
  outcome: "ok" | "failed" | "refused";
  subject?: { kind: string; id: string; name: string } | undefined;
}

/** Told of each change of a request, in the transaction that makes it. */
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
  // Nobody may be waiting for it any more.
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
      // What goes on of one that was given up is still refused.
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

/** Writes as a part of the request at hand. One transaction may hold the works of several requests: each runs in its own scope. */
export function writeInScope<T>(
  write: (work: (tx: Writer) => Promise<T>) => Promise<T>,
  work: (tx: Writer) => Promise<T>,
): Promise<T> {
  const scope = atHand();
  const scoped = (tx: Writer) => scopes.run(scope, () => work(tx));
  return scope === undefined ? write(scoped) : scope.change(() => write(scoped));
}

/** Before a change that no transaction takes back: a file, an engine. Throws when the request was given up, else it goes on to its end. */
export function beginChange(): void {
  atHand()?.begin();
}

/** What the request at hand changes from now on is told to `onChange`, in the same transaction: both are stored, or neither is. */
export function watchChanges(onChange: OnChange): void {
  const scope = atHand();
  if (scope !== undefined) scope.on_change = onChange;
}

/** Tells whoever watches the request at hand; called with every audit entry. */
export async function tellChange(tx: Writer, record: ChangeRecord): Promise<void> {
  await atHand()?.on_change?.(tx, record);
}

/** For work that a request sets off and that is not its own: whatever becomes of the request, it goes on. */
export function outsideRequest<T>(work: () => T): T {
  return scopes.run(undefined, work);
}
