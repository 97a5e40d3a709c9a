/**
 * Shares the places of a fetch depth among groups. The groups take turns, so a busy channel leaves places for the others. At most
 * `limit` in all and `mostEach` of one group, but always the first of each group.
 */
export function sharePlaces<T>(groups: readonly (readonly T[])[], limit: number, mostEach = limit): T[] {
  const taken = new Set<T>();
  const longest = Math.min(Math.max(0, ...groups.map((group) => group.length)), Math.max(mostEach, 1));
  for (let turn = 0; turn < longest && (turn === 0 || taken.size < limit); turn += 1) {
    for (const group of groups) {
      const member = group[turn];
      if (member !== undefined && (turn === 0 || taken.size < limit)) taken.add(member);
    }
  }
  return [...taken];
}
