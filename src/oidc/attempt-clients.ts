/** Which clients have sign-ins under way, by the hash of their state; in memory. */
export interface AttemptClients {
  add(stateHash: string, client: string, expiresAt: number): void;
  remove(stateHash: string): void;
  count(): number;
  /**
   * Removes and returns the attempt to drop when there are too many; null when none is known. Among unfamiliar clients it is the oldest
   * attempt of the client with the most, so that a client only displaces itself.
   */
  takeLeastWorthy(familiar: ReadonlySet<string>): string | null;
}

export function attemptClients(now: () => number): AttemptClients {
  // In order of their start, which is the order of their expiry.
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
      // A familiar client comes after every other, however many attempts it has.
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
