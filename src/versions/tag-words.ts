/**
 * The words that tags are made of. A word in none of these sets names a variant, which is a separate family: an unknown word never
 * makes two tags comparable.
 */

/** Words of versions before a release, and of lines that are never released. */
export const prereleaseWords: ReadonlySet<string> = new Set(
  (
    "alpha beta rc cr pre preview prerelease pr-release dev devel develop development nightly canary edge snapshot next unstable " +
    "testing test experimental exp insider insiders ea eap tp wip draft early milestone candidate trunk master main git head " +
    "bleeding prototype daily weekly ci staging"
  ).split(" "),
);

/** Short forms, which count only before a number: `b1`, `a2`, `b.5`, `M3`. */
export const shortPrereleaseWords: ReadonlyMap<string, string> = new Map([
  ["a", "alpha"],
  ["b", "beta"],
  ["m", "m"],
]);

/** Different spellings of one stage. */
export const prereleaseAliases: ReadonlyMap<string, string> = new Map([
  ["cr", "rc"],
  ["candidate", "rc"],
  ["devel", "dev"],
]);

/** Lines that move with every push: with fewer than three numbers and no number of their own they name no version. */
export const movingWords: ReadonlySet<string> = new Set(
  "dev devel develop nightly canary edge snapshot unstable testing test daily weekly master main trunk head".split(" "),
);

/** Words of builds of unfinished work, made on every push or every night. */
export const canaryWords: ReadonlySet<string> = new Set([
  ...movingWords,
  ..."development experimental bleeding insider insiders git ci".split(" "),
]);

/** Words of versions for testers. */
export const betaWords: ReadonlySet<string> = new Set(["beta"]);

/** Rebuilds and repairs of a version: newer than the bare one, ordered by their number. */
export const buildWords: ReadonlySet<string> = new Set(
  "hotfix patch post rev revision build sp update security fix cu refresh".split(" "),
);

/**
 * Build words too short or too common to count without an attached number: `ls289`, `r1`, `k3s1`; `b8` only after another (`8u412-b08`).
 */
export const numberedBuildWords: ReadonlySet<string> = new Set("ls r p u b k3s rke2r v sr pl".split(" "));

/** Words that only mark a release. */
export const neutralWords: ReadonlySet<string> = new Set("final ga release stable official".split(" "));

/** Meaningless words before the number: `v1`, `version/1`, `release-1`. */
export const neutralPrefixWords: ReadonlySet<string> = new Set(
  "v ver version release releases rel tag tags refs".split(" "),
);

/** Words followed by a commit or content hash. */
export const hashWords: ReadonlySet<string> = new Set("sha sha1 sha256 sha512 commit git g pkg hash".split(" "));

/** Words that name a piece of work, not a version: `pr-12`, `sha-…`. */
export const ephemeralWords: ReadonlySet<string> = new Set(
  "sha sha1 sha256 sha512 commit pr pull mr merge issue branch feature feat fix hotfix bugfix renovate dependabot".split(
    " ",
  ),
);

/** Architectures and base systems that are no part of a project's name. */
export const platformWords: ReadonlySet<string> = new Set(
  (
    "amd64 arm64 arm64v8 arm32v5 arm32v6 arm32v7 armhf armv6 armv7 armv7l arm aarch64 x64 x86 x86_64 i386 386 s390x ppc64le riscv64 " +
    "alpine debian ubuntu slim bookworm bullseye trixie jammy noble focal linux windows"
  ).split(" "),
);

/** Bases of an image: with an attached number, alone in front (`alpine3.21`, `php8.3-fpm`), they do not give the project's version. */
export const baseWords: ReadonlySet<string> = new Set(
  "alpine debian ubuntu ubi oraclelinux fedora centos rocky photon php python node pg postgres ltsc".split(" "),
);

/** Names of a distribution's releases, which precede a date in its tags (`bookworm-20250113-slim`). */
export const codenames: ReadonlySet<string> = new Set(
  "bullseye bookworm trixie forky sid focal jammy noble oracular plucky questing".split(" "),
);

/** Build words of a single repair: the version after it has none. */
export const repairWords: ReadonlySet<string> = new Set("hotfix patch post sp security fix update refresh".split(" "));

/** Companions of an application with their own numbers: `helm-chart-4.12.0`, `operator/v0.7.0`. */
export const companionWords: ReadonlySet<string> = new Set("chart charts helm operator crd crds".split(" "));
