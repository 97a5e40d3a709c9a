/**
 * How many of the waiting lines of each log are shown now, of `total` for all: each log gets the same share, and what one does not need goes
 * to the others, so that a chatty one does not hold up the rest.
 */
export function sharesOf(waiting: readonly number[], total: number): readonly number[] {
  const shares = waiting.map(() => 0);
  const order = [...waiting.keys()].toSorted((a, b) => (waiting[a] ?? 0) - (waiting[b] ?? 0));
  let left = total;
  for (const [place, index] of order.entries()) {
    const share = Math.min(waiting[index] ?? 0, Math.floor(left / (order.length - place)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}
