/**
 * Asks again until `look` returns something that is not null, undefined or false, and returns it. It waits for a condition,
 * not for a time: the limit only ends a test that would otherwise hang, and is far beyond what any machine needs.
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  limitMs = 120_000,
): Promise<T> {
  const endsAt = performance.now() + limitMs;
  let last: unknown;
  while (performance.now() < endsAt) {
    try {
      const found = await look();
      if (found !== null && found !== undefined && found !== false) return found;
      last = found;
    } catch (error) {
      last = error;
    }
    await Bun.sleep(50);
  }
  throw new Error(`Waited in vain for ${what}; last: ${last instanceof Error ? last.message : JSON.stringify(last)}`);
}
