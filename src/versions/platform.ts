/** The platform of an image; blank if absent. */
export interface Platform {
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
export function parsePlatform(text: string): Platform {
  const [os = "", name = "", variant = ""] = text.toLowerCase().split("/");
  const version = /^armv([5-8])/.exec(name)?.[1];
  if (version === "8") return { os, architecture: "arm64", variant };
  if (version !== undefined) return { os, architecture: "arm", variant: `v${version}` };
  return { os, architecture: architectures[name] ?? name, variant };
}

/** `linux/amd64`, `linux/arm/v7`: in Go's names, with the variant only where it tells images apart; null if it is not known. */
export function platformName({ os, architecture, variant }: Platform): string | null {
  if (!/^[a-z0-9._-]{1,32}$/.test(os) || !/^[a-z0-9._-]{1,32}$/.test(architecture)) return null;
  return architecture === "arm" && /^v\d{1,2}$/.test(variant) ? `${os}/arm/${variant}` : `${os}/${architecture}`;
}
