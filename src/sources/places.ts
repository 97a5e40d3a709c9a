/**
 * The places within a fetch depth, shared among groups of which each has its members in its own order: taken in turns, so that the
 * versions of a busy channel leave the others theirs. At most `limit` in all and `mostEach` of one group, and the first of each group
 * in any case.
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
