import { type Platform, parsePlatform } from "../../versions/platform.ts";

// The variant as a number; without one, the base of the architecture.
function variantOf({ architecture, variant }: Platform): number {
  const base = architecture === "arm64" ? 8 : architecture === "arm" ? 7 : 1;
  const number = /^v(\d{1,2})$/.exec(variant)?.[1];
  return number === undefined ? base : Number(number);
}

/**
 * The entry for a platform: the same system and architecture, and the highest variant that is not above the wanted one. For null:
 * linux/amd64, or the first entry.
 */
export function choosePlatform<E extends Platform>(entries: readonly E[], platform: string | null): E | null {
  const wanted = parsePlatform(platform ?? "linux/amd64");
  const [best] = entries
    .filter((entry) => entry.os === wanted.os && entry.architecture === wanted.architecture)
    .filter((entry) => variantOf(entry) <= variantOf(wanted))
    .toSorted((a, b) => variantOf(b) - variantOf(a));
  return best ?? (platform === null ? (entries[0] ?? null) : null);
}
