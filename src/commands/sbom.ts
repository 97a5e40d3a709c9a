import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as v from "valibot";

// `bun src/commands/sbom.ts`: prints the shipped dependencies as CycloneDX (1.5) in JSON. Everything comes from the lock file, except
// licences, which are read from what is installed.

const root = fileURLToPath(new URL("../..", import.meta.url));

const Needs = v.object({
  dependencies: v.optional(v.record(v.string(), v.string()), {}),
  optionalDependencies: v.optional(v.record(v.string(), v.string()), {}),
  peerDependencies: v.optional(v.record(v.string(), v.string()), {}),
  optionalPeers: v.optional(v.array(v.string()), []),
});
const Entry = v.pipe(
  v.tuple([v.string(), v.string(), Needs, v.string()]),
  v.transform(([id, , needs, integrity]) => ({ id, needs, integrity })),
);
type Entry = v.InferOutput<typeof Entry>;
const Lock = v.object({
  workspaces: v.object({ "": v.object({ dependencies: v.record(v.string(), v.string()) }) }),
  packages: v.record(v.string(), Entry),
});
const Installed = v.object({ license: v.optional(v.string()) });

interface Component {
  type: "library";
  "bom-ref": string;
  name: string;
  version: string;
  purl: string;
  hashes: readonly { alg: "SHA-512"; content: string }[];
  licenses?: readonly { expression: string }[];
}

/** The lock file is JSON with trailing commas. */
function parseLock(text: string): v.InferOutput<typeof Lock> {
  return v.parse(Lock, JSON.parse(text.replaceAll(/,(\s*[}\]])/g, "$1")));
}

/** The entry that a package resolves a name to: below itself first, then below each of its ancestors. */
function resolveName(packages: Readonly<Record<string, Entry>>, from: string, name: string): string | null {
  for (let place = from; place !== ""; place = place.includes("/") ? place.slice(0, place.lastIndexOf("/")) : "") {
    if (packages[`${place}/${name}`] !== undefined) return `${place}/${name}`;
  }
  return packages[name] === undefined ? null : name;
}

function licenseOf(name: string): string | null {
  const file = join(root, "node_modules", name, "package.json");
  if (!existsSync(file)) return null;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Installed), readFileSync(file, "utf8"));
  return parsed.success ? (parsed.output.license ?? null) : null;
}

function componentOf({ id, integrity }: Entry): Component {
  const at = id.lastIndexOf("@");
  const [name, version] = [id.slice(0, at), id.slice(at + 1)];
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const content = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
  const license = licenseOf(name);
  const licenses = license === null ? {} : { licenses: [{ expression: license }] };
  return { type: "library", "bom-ref": purl, name, version, purl, hashes: [{ alg: "SHA-512", content }], ...licenses };
}

/** Every package that the run-time dependencies need, from the lock file, ordered by name. */
export function billOfMaterials(lockText: string) {
  const { workspaces, packages } = parseLock(lockText);
  const found = new Map<string, Component>();
  const visited = new Set<string>();
  const waiting = Object.keys(workspaces[""].dependencies).map((name) => ({ from: "", name, isOptional: false }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { from, name, isOptional } = next;
    const place = resolveName(packages, from, name);
    const entry = place === null ? undefined : packages[place];
    if (place === null || entry === undefined) {
      if (isOptional) continue;
      throw new Error(`The lock file has no "${name}", which "${from}" needs`);
    }
    if (visited.has(place)) continue;
    visited.add(place);
    const component = componentOf(entry);
    found.set(component.purl, component);
    const { dependencies, optionalDependencies, peerDependencies, optionalPeers } = entry.needs;
    for (const each of Object.keys(dependencies)) waiting.push({ from: place, name: each, isOptional: false });
    for (const each of Object.keys(optionalDependencies)) waiting.push({ from: place, name: each, isOptional: true });
    for (const each of Object.keys(peerDependencies).filter((peer) => !optionalPeers.includes(peer)))
      waiting.push({ from: place, name: each, isOptional: true });
  }
  const components = [...found.values()].toSorted((a, b) => (a.purl < b.purl ? -1 : 1));
  return { bomFormat: "CycloneDX", specVersion: "1.5", version: 1, components } as const;
}

if (import.meta.main) {
  const lock = readFileSync(join(root, "bun.lock"), "utf8");
  process.stdout.write(`${JSON.stringify(billOfMaterials(lock), null, 2)}\n`);
}
