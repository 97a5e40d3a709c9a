import type { Clock } from "../clock.ts";
import { tooManyRequests } from "../errors.ts";
import { say } from "../messages/message.ts";
import { RecentMap } from "../recent-map.ts";

// Far more than a person with several tabs needs.
const requests = { in_hand: 60, recovery_ms: 1000 };
const MAXIMUM_CLIENTS = 10_000;

interface Allowance {
  in_hand: number;
  /** Adds one after this time. */
  recovery_ms: number;
}

/** Takes one from the reserve; false when it is empty. */
export function createAllowance(clock: Clock, { in_hand, recovery_ms }: Allowance): () => boolean {
  let left = in_hand;
  let at = clock.elapsed();
  return () => {
    const now = clock.elapsed();
    left = Math.min(in_hand, left + (now - at) / recovery_ms);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

/** Bounds what one client can begin or complete without signing in: 60 at once, one more each second. */
export function requestLimit(clock: Clock): (client: string) => void {
  const clients = new RecentMap<string, () => boolean>(MAXIMUM_CLIENTS);
  return (client) => {
    const take = clients.get(client) ?? createAllowance(clock, requests);
    clients.set(client, take);
    if (!take()) throw tooManyRequests(say("request.too_many_sign_ins"), 1);
  };
}
