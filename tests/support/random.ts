/** A whole number from 0 up to, and without, `below`. */
export type Random = (below: number) => number;

/** Mulberry32: the same numbers in every run, so that a failure can be looked at again. */
export function randomFrom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) % below;
  };
}

export function shuffled<T>(values: readonly T[], random: Random): T[] {
  return values
    .map((value) => ({ value, key: random(1_000_000) }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
}
