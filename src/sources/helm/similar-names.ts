/** Longer names are compared by their start. */
const maxComparedCharacters = 32;
/** In a larger repository, only the first names are compared. */
const maxCompared = 1_000;
const maxSimilar = 5;

/** Insertions, removals and replacements between two texts. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Up to five names similar to `name`, the most similar first. */
export function similarNames(name: string, names: readonly string[]): readonly string[] {
  const wanted = name.toLowerCase().slice(0, maxComparedCharacters);
  return names
    .slice(0, maxCompared)
    .map((other) => {
      const compared = other.toLowerCase().slice(0, maxComparedCharacters);
      const isPart = compared.includes(wanted) || wanted.includes(compared);
      return { other, far: isPart ? 0 : distance(wanted, compared) };
    })
    .filter(({ far }) => far <= Math.max(2, wanted.length / 2))
    .toSorted((a, b) => a.far - b.far || a.other.length - b.other.length || (a.other < b.other ? -1 : 1))
    .slice(0, maxSimilar)
    .map(({ other }) => other);
}
