/** An edge: `from` needs `to` first. */
export interface Need<K> {
  from: K;
  to: K;
}

/** Dependencies come first; otherwise the given order stays. Returns the members of a cycle instead when there is one. */
export function ordered<K>(
  all: readonly K[],
  needs: readonly Need<K>[],
): { order: readonly K[] } | { circle: readonly K[] } {
  const left = new Set(all);
  const order: K[] = [];
  while (left.size > 0) {
    const free = [...left].filter((each) => {
      return !needs.some(({ from, to }) => from === each && to !== each && left.has(to));
    });
    if (free.length === 0) return { circle: circleIn(left, needs) };
    // One at a time, so that the given order stays where nothing else decides.
    const [first] = free;
    if (first === undefined) break;
    order.push(first);
    left.delete(first);
  }
  return { order };
}

/** Follows dependencies until one repeats. */
function circleIn<K>(left: ReadonlySet<K>, needs: readonly Need<K>[]): readonly K[] {
  const path: K[] = [];
  let [at] = left;
  while (at !== undefined && !path.includes(at)) {
    path.push(at);
    const here = at;
    at = needs.find(({ from, to }) => from === here && to !== here && left.has(to))?.to;
  }
  return at === undefined ? [...left] : path.slice(path.indexOf(at));
}

/**
 * Groups of those that are joined, directly or through others. A group comes after the groups its members need; groups that need each other
 * are one. Members keep the given order, which has no cycle.
 */
export function clusters<K>(
  order: readonly K[],
  joined: readonly Need<K>[],
  needs: readonly Need<K>[],
): readonly (readonly K[])[] {
  let groups = joinedGroups(order, joined);
  for (;;) {
    const groupOf = (member: K) => groups.find((group) => group.includes(member));
    const between = needs.flatMap(({ from, to }) => {
      const [source, target] = [groupOf(from), groupOf(to)];
      return source === undefined || target === undefined || source === target ? [] : [{ from: source, to: target }];
    });
    const found = ordered(groups, between);
    if ("order" in found) return found.order;
    const merged = order.filter((member) => found.circle.some((group) => group.includes(member)));
    groups = groups.flatMap((group) =>
      group === found.circle[0] ? [merged] : found.circle.includes(group) ? [] : [group],
    );
  }
}

function joinedGroups<K>(order: readonly K[], joined: readonly Need<K>[]): readonly (readonly K[])[] {
  const rest = new Set(order);
  const groups: (readonly K[])[] = [];
  for (const each of order) {
    if (!rest.has(each)) continue;
    const group = new Set([each]);
    for (const member of group) {
      for (const { from, to } of joined) {
        if (from === member && rest.has(to)) group.add(to);
        if (to === member && rest.has(from)) group.add(from);
      }
    }
    for (const member of group) rest.delete(member);
    groups.push(order.filter((member) => group.has(member)));
  }
  return groups;
}
