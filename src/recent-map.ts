/** A map of at most `limit` entries: the least recently used is dropped first. */
export class RecentMap<K, V> extends Map<K, V> {
  constructor(readonly limit: number) {
    super();
  }

  override get(key: K): V | undefined {
    const value = super.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    const oldest = this.size > this.limit ? this.keys().next() : null;
    if (oldest !== null && !oldest.done) this.delete(oldest.value);
    return this;
  }
}
