/** The platform of an entry of an index; blank if absent. */
export interface PlatformEntry {
  os: string;
  architecture: string;
  variant: string;
}

// Engines report the kernel's names; indexes use Go's.
const architectures: Readonly<Record<string, string>> = {
  x86_64: "amd64",
  aarch64: "arm64",
  i386: "386",
  i686: "386",
  armhf: "arm",
};

/** Parses `linux/arm/v7`; also understands the kernel's names of architectures. */
export function parsePlatform(text: string): PlatformEntry {
  const [os = "", name = "", variant = ""] = text.toLowerCase().split("/");
  const version = /^armv([5-8])/.exec(name)?.[1];
  if (version === "8") return { os, architecture: "arm64", variant };
  if (version !== undefined) return { os, architecture: "arm", variant: `v${version}` };
  return { os, architecture: architectures[name] ?? name, variant };
}

// The variant as a number; without one, the base of the architecture.
function variantOf({ architecture, variant }: PlatformEntry): number {
  const base = architecture === "arm64" ? 8 : architecture === "arm" ? 7 : 1;
  const number = /^v(\d{1,2})$/.exec(variant)?.[1];
  return number === undefined ? base : Number(number);
}

/**
 * The entry for a platform: the same system and architecture, and the highest variant that is not above the wanted one. For null:
 * linux/amd64, or the first entry.
 */
export function choosePlatform<E extends PlatformEntry>(entries: readonly E[], platform: string | null): E | null {
  const wanted = parsePlatform(platform ?? "linux/amd64");
  const [best] = entries
    .filter((entry) => entry.os === wanted.os && entry.architecture === wanted.architecture)
    .filter((entry) => variantOf(entry) <= variantOf(wanted))
    .toSorted((a, b) => variantOf(b) - variantOf(a));
  return best ?? (platform === null ? (entries[0] ?? null) : null);
}
