import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { parse } from "yaml";
import { billOfMaterials } from "../src/commands/sbom.ts";

const root = join(import.meta.dir, "..");
const read = (name: string) => readFileSync(join(root, name), "utf8");
const Manifest = v.object({
  dependencies: v.record(v.string(), v.string()),
  devDependencies: v.record(v.string(), v.string()),
  trustedDependencies: v.array(v.string()),
  scripts: v.record(v.string(), v.string()),
});
const manifest = v.parse(v.pipe(v.string(), v.parseJson(), Manifest), read("package.json"));
const lock = read("bun.lock");
/** Every package of the lock file: its name, its version or address, and the hash of its archive. */
const locked = [...lock.matchAll(/^ {4}"[^"]+": \["((?:@[^/"]+\/)?[^@"]+)@([^"]+)", (.*)\],?$/gm)].map(
  ([, name = "", version = "", rest = ""]) => ({ name, version, rest }),
);

describe("dependencies", () => {
  test("have exact versions, and none comes from a repository or an address", () => {
    const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    expect(locked.length).toBeGreaterThan(50);
    expect(locked.filter(({ version }) => !/^\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/.test(version))).toEqual([]);
    expect(lock).not.toMatch(/"(git|github|https?|file|link):|git\+|\.git"/);
  });

  test("are locked with the hash of their archives, the direct ones in the same versions", () => {
    expect(locked.filter(({ rest }) => !/"sha512-[\w+/]+=*"$/.test(rest))).toEqual([]);
    for (const [name, version] of Object.entries(manifest.dependencies)) {
      expect(locked).toContainEqual(expect.objectContaining({ name, version }));
    }
  });

  test("run no script of their own when they are installed", () => {
    expect(manifest.trustedDependencies).toEqual([]);
    expect(read("Dockerfile")).toMatch(/bun install .*--ignore-scripts/);
  });

  test("are installed as they are locked, wherever that happens", () => {
    const places = [read("Dockerfile"), read(".ci/run"), ...Object.values(manifest.scripts)];
    const installs = places.flatMap((text) => text.match(/bun (install|i|add)\b[^\n&]*/g) ?? []);
    expect(installs.length).toBeGreaterThanOrEqual(3);
    for (const line of installs) expect(line).toContain("--frozen-lockfile");
  });

  test("at run time are twenty at most, each with its reason in the documentation", () => {
    const names = Object.keys(manifest.dependencies);
    expect(names.length).toBeLessThanOrEqual(20);
    const documentation = read("docs/dependencies.md");
    expect(names.filter((name) => !documentation.includes(`\`${name}\``))).toEqual([]);
  });
});

test("the bill of materials names every package that is shipped", () => {
  const { components } = billOfMaterials(lock);
  const named = new Map(components.map(({ name, version }) => [`${name}@${version}`, true]));
  for (const [name, version] of Object.entries(manifest.dependencies))
    expect(named.has(`${name}@${version}`)).toBe(true);
  // What they need in turn, and nothing that only development needs.
  expect(components.length).toBeGreaterThan(Object.keys(manifest.dependencies).length);
  expect(components.filter(({ name }) => name in manifest.devDependencies)).toEqual([]);
  for (const { purl, hashes } of components) {
    expect(purl).toMatch(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+/);
    expect(hashes[0]?.content).toMatch(/^[0-9a-f]{128}$/);
  }
});

const Compose = v.object({
  services: v.object({
    tidemark: v.object({
      ports: v.array(v.string()),
      volumes: v.array(v.string()),
      group_add: v.array(v.string()),
      user: v.string(),
      read_only: v.boolean(),
      cap_drop: v.array(v.string()),
      security_opt: v.array(v.string()),
    }),
  }),
});

describe("the image and its compose file", () => {
  const { tidemark } = v.parse(Compose, parse(read("compose.yaml"))).services;
  const dockerfile = read("Dockerfile");

  test("run as nobody special, with nothing to write to but the data, and no way to more rights", () => {
    expect(tidemark).toMatchObject({ user: "1000:1000", read_only: true, cap_drop: ["ALL"] });
    expect(tidemark.security_opt).toContain("no-new-privileges:true");
    expect(tidemark.volumes.filter((each) => !each.startsWith("/var/run/docker.sock:"))).toEqual(["data:/data"]);
    expect(JSON.stringify(tidemark)).not.toMatch(/privileged|cap_add|network_mode|"pid"/);
  });

  test("are reached from this machine alone, and get at the engine's socket by a group", () => {
    expect(tidemark.ports).toEqual(["127.0.0.1:8080:8080"]);
    expect(tidemark.group_add.length).toBe(1);
  });

  test("are built in stages, without a shell's history of secrets, and tell how they are", () => {
    expect(dockerfile.match(/^FROM /gm)?.length).toBeGreaterThan(1);
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK .*/m);
    expect(dockerfile).not.toMatch(/^(ARG|ENV) .*(KEY|PASSWORD|SECRET|TOKEN)/m);
    const last = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
    expect(last).not.toMatch(/COPY \. |npm|bun install/);
  });
});
