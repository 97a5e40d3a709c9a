import type { Random } from "./random.ts";

const prefixes = [
  "",
  "",
  "",
  "",
  "v",
  "v",
  "V",
  "version/",
  "release-",
  "rel/v",
  "chart-",
  "kube-stack-",
  "develop-",
  "nightly-",
];
const platformPrefixes = [
  "amd64-",
  "arm64v8-",
  "go",
  "b",
  "app@",
  "@scope/app@",
  "RELEASE.",
  "libtorrentv1-",
  "pg16-v",
];
const stages = [
  "",
  "",
  "",
  "-rc1",
  "-rc.2",
  "-rc10",
  ".rc1",
  "rc3",
  "-alpha",
  "-alpha.1",
  "a4",
  "b2",
  "-b.12",
  "-beta.x",
  "-M3",
];
const dailies = [
  ".dev20240604",
  ".dev3",
  "-SNAPSHOT",
  "-nightly.20240601",
  "-dev",
  "-0.3.7",
  "-canary.1",
  "-12-gabc1234",
];
const builds = [
  "",
  "",
  "",
  "-ls289",
  "-1",
  "-r3",
  "_7",
  "-hotfix",
  "-hotfix2",
  "-security-01",
  "-20240101",
  "-k3s2",
  "p1",
  "a",
];
const metadata = ["", "", "", "", "+meta", "+security-01", "+k3s2", "+6b0c1a2f"];
const variants = [
  "",
  "",
  "",
  "-alpine",
  "-alpine3.21",
  "-slim-bookworm",
  "-fpm-alpine",
  "-amd64",
  "-windowsservercore-ltsc2022",
];
const moreVariants = [
  "-debian-12",
  "-php8.3-fpm",
  "-nanoserver-1809",
  "-cuda12.4-devel",
  "-management",
  "-ce.4",
  "-ubi9.4",
  "-jdk",
];
const names = [
  "latest",
  "stable",
  "lts",
  "lts-alpine3.21",
  "edge",
  "nightly",
  "develop",
  "main",
  "alpine3.21",
  "php8.3-fpm",
  "rolling",
];
const nameless = [
  "sha-1234abc",
  "pr-12",
  "1a2b3c4d",
  "main-1a2b3c4",
  "",
  "-",
  "..",
  "v",
  "1.2.3\n",
  "\u0000",
  "\ud800",
  "1..2",
  "x-",
];
const dates = [
  "20240604",
  "2024-06-05",
  "2024-06-04T19-20-08Z",
  "20240604.2",
  "1718200000",
  "20240604120000",
  "nightly-2024-10-01",
];

/** A tag of one of the shapes that projects use; its numbers are below `spread`, so that with a small one many are comparable. */
export function tagOfShape(random: Random, spread = 5): string {
  const pick = (...choices: readonly (readonly string[])[]) => {
    const list = choices[random(choices.length)] ?? [];
    return list[random(list.length)] ?? "";
  };
  const kind = random(20);
  if (kind === 0) return pick(names, nameless);
  if (kind === 1) return `${pick(prefixes)}${pick(dates)}${pick(variants)}`;
  const prefix = random(8) === 0 ? pick(platformPrefixes) : pick(prefixes);
  const suffixes = `${pick(stages, stages, dailies)}${pick(builds)}${pick(variants, moreVariants)}`;
  return `${prefix}${numbersOf(random, spread)}${suffixes}${pick(metadata)}`;
}

function numbersOf(random: Random, spread: number): string {
  const parts = Array.from({ length: 1 + random(4) }, () => String(random(spread)));
  const kind = random(10);
  if (kind === 0) parts[0] = String(2020 + random(6));
  if (kind === 1) parts[0] = "8u432";
  if (kind === 2) parts.push(String(random(20_000)));
  if (kind === 3) parts[parts.length - 1] = `0${parts.at(-1) ?? ""}`;
  return parts.join(kind === 4 ? "_" : ".");
}
