import type { Clock } from "../clock.ts";
import { tooManyRequests } from "../errors.ts";

// Many times what a person does with several tabs; a program that fills the audit is slowed to one entry a second.
const IN_HAND = 60;
const RECOVERY_MS = 1000;
const MAXIMUM_CLIENTS = 10_000;

/** Bounds what one client can begin or end without being signed in: a bucket of 60 that fills by one a second. */
export function requestLimit(clock: Clock): (client: string) => void {
  const clients = new Map<string, { left: number; at: number }>();
  return (client) => {
    const now = clock.now();
    const before = clients.get(client) ?? { left: IN_HAND, at: now };
    const left = Math.min(IN_HAND, before.left + Math.max(0, now - before.at) / RECOVERY_MS);
    if (left < 1) throw tooManyRequests("Too many sign-ins with the identity provider; try again in a moment", 1);
    clients.delete(client);
    clients.set(client, { left: left - 1, at: now });
    const oldest = clients.size > MAXIMUM_CLIENTS ? clients.keys().next() : null;
    if (oldest !== null && !oldest.done) clients.delete(oldest.value);
  };
}
