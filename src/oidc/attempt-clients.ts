/** Whose sign-ins are under way, by the hash of their state, in the memory of this process. */
export interface AttemptClients {
  add(stateHash: string, client: string, expiresAt: number): void;
  remove(stateHash: string): void;
  count(): number;
  /**
   * The attempt to forget where there are too many, which is removed; null when none is known. Of the clients without a claim to
   * be kept (`familiar`) it is the oldest of whoever has most, so that one client pushes nobody out but itself.
   */
  takeLeastWorthy(familiar: ReadonlySet<string>): string | null;
}

export function attemptClients(now: () => number): AttemptClients {
  // In the order of their beginning, which is that of their end.
  const known = new Map<string, { client: string; expires_at: number }>();

  const dropExpired = () => {
    for (const [stateHash, { expires_at }] of known) {
      if (expires_at > now()) return;
      known.delete(stateHash);
    }
  };

  return {
    add: (stateHash, client, expiresAt) => {
      dropExpired();
      known.set(stateHash, { client, expires_at: expiresAt });
    },
    remove: (stateHash) => {
      known.delete(stateHash);
    },
    count: () => known.size,
    takeLeastWorthy: (familiar) => {
      const held = new Map<string, number>();
      for (const { client } of known.values()) held.set(client, (held.get(client) ?? 0) + 1);
      // A familiar client stands behind every other, however many it has.
      const rank = (client: string) => (familiar.has(client) ? 0 : (held.get(client) ?? 0));
      let found: { stateHash: string; rank: number } | null = null;
      for (const [stateHash, { client }] of known) {
        if (found === null || rank(client) > found.rank) found = { stateHash, rank: rank(client) };
      }
      if (found === null) return null;
      known.delete(found.stateHash);
      return found.stateHash;
    },
  };
}
